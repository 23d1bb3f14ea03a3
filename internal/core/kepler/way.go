package kepler

// This file: the way of every instruction through the pipeline, for who asks.

// Way is an instruction's way: the cycle in which it came into each stage. One
// that a branch overtakes, or that is still on its way at the end, leaves the
// stages that it did not come to in the cycle in which it was dropped.
type Way struct {
	Fetch   uint64 // selected
	Decode  uint64
	Collect uint64 // decoded, for a collector
	Read    uint64 // in a collector, for its operands and its turn
	Queue   uint64 // before its unit
	Execute uint64 // in it, or in memory
	Write   uint64 // the result is handed to the register file, or there is none

	Warp, Program, PC int
	Lanes             uint32 // on which it executed
	Squashed          bool   // overtaken by a branch, or lost
}

// Record has f told of every instruction that comes to its end, in the order in
// which they do. It is to be called before the first cycle. With nil f is told
// of those that are still on their way, and of no more. What f is given is its
// own only until it returns.
func (k *Core) Record(f func(*Way)) {
	if f == nil && k.record != nil {
		for n := range k.ways {
			if n > 0 && !k.ways[n].idle {
				k.dropWay(uint16(n))
			}
		}
	}
	k.record = f
	k.ways, k.freeWays = nil, nil
	if f != nil {
		k.ways = make([]wayEntry, 1, 256) // 0 is none
	}
}

// wayEntry is a place for a way.
type wayEntry struct {
	Way
	idle bool
}

// newWay begins a way.
func (k *Core) newWay(w, pc uint8) uint16 {
	n := uint16(len(k.ways))
	if f := len(k.freeWays); f > 0 {
		n = k.freeWays[f-1]
		k.freeWays = k.freeWays[:f-1]
	} else if len(k.ways) == 1<<16-1 {
		return 0 // more than the pipeline holds: lost ones of a core that gets stuck
	} else {
		k.ways = append(k.ways, wayEntry{})
	}
	k.ways[n] = wayEntry{Way: Way{Fetch: k.cycle, Warp: int(w), Program: int(k.program[w]), PC: int(pc)}}
	return n
}

// againWay is the way of an instruction that a stall has allocated once more.
func (k *Core) againWay(n uint16) uint16 {
	if n == 0 {
		return 0
	}
	w := k.ways[n].Way
	m := k.newWay(uint8(w.Warp), uint8(w.PC))
	k.ways[m].Way = w
	return m
}

// dropWay ends the way of an instruction that comes no further.
func (k *Core) dropWay(n uint16) {
	if n != 0 {
		k.endWay(n, k.cycle, 0, true)
	}
}

// endWay ends a way.
func (k *Core) endWay(n uint16, write uint64, lanes uint32, squashed bool) {
	if n == 0 || k.ways[n].idle {
		return
	}
	w := &k.ways[n].Way
	w.Write, w.Lanes, w.Squashed = max(write, w.Fetch), lanes, squashed
	for _, at := range [...]*uint64{&w.Decode, &w.Collect, &w.Read, &w.Queue, &w.Execute} {
		if *at == 0 || *at > w.Write {
			*at = w.Write
		}
	}
	k.record(w)
	k.ways[n].idle = true
	k.freeWays = append(k.freeWays, n)
}

// decodeWay notes that an instruction is decoded, or that a branch has
// overtaken it.
func (k *Core) decodeWay(d *slot) {
	if !d.valid {
		k.dropWay(d.way)
		return
	}
	k.ways[d.way].Decode, k.ways[d.way].Collect = k.cycle, k.cycle+1
}

// collectWay notes that an instruction has a collector.
func (k *Core) collectWay(e *slot) {
	if k.ways[e.way].Read != 0 {
		e.way = k.againWay(e.way)
	}
	k.ways[e.way].Read = k.cycle + 1
}

// answerWay ends the way of an access to global memory that is answered.
func (k *Core) answerWay(n uint16) { k.endWay(n, k.cycle+1, k.ways[n].Lanes, false) }

// endAccess ends the way of an access to shared memory, or of one that a branch
// has overtaken.
func (k *Core) endAccess() {
	if k.record == nil {
		return
	}
	n := k.lsu.way
	k.endWay(n, k.cycle+1, k.ways[n].Lanes, k.ways[n].Squashed)
}
