package kepler

// This file: an optional record of every instruction's path through the pipeline.

// Way is an instruction's path: the cycle in which it entered each stage. If a branch
// overtook it, or it was in the pipeline at the end, the stages that it did not reach
// have the cycle in which it was dropped.
type Way struct {
	Fetch   uint64 // selected
	Decode  uint64
	Collect uint64 // decoded, for a collector
	Read    uint64 // in a collector, for its operands and its turn
	Queue   uint64 // before its unit
	Execute uint64 // in its unit, or in memory
	Write   uint64 // the result goes to the register file, or there is none

	Warp, Program, PC int
	Lanes             uint32 // on which it executed
	Squashed          bool   // overtaken by a branch, or lost
}

// Record makes the core call f for every instruction that ends, in that order. Call
// Record before the first cycle. Record(nil) ends this, after calling f for the
// instructions still in the pipeline. F must not keep its argument.
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

// wayEntry is an entry of Core.ways.
type wayEntry struct {
	Way
	idle bool
}

// newWay starts the record of an instruction.
func (k *Core) newWay(w, pc uint8) uint16 {
	n := uint16(len(k.ways))
	if f := len(k.freeWays); f > 0 {
		n = k.freeWays[f-1]
		k.freeWays = k.freeWays[:f-1]
	} else if len(k.ways) == 1<<16-1 {
		return 0 // more than the pipeline holds: lost instructions of a stuck core
	} else {
		k.ways = append(k.ways, wayEntry{})
	}
	k.ways[n] = wayEntry{Way: Way{Fetch: k.cycle, Warp: int(w), Program: int(k.program[w]), PC: int(pc)}}
	return n
}

// againWay starts a second record for an instruction that was allocated again during a
// stall.
func (k *Core) againWay(n uint16) uint16 {
	if n == 0 {
		return 0
	}
	w := k.ways[n].Way
	m := k.newWay(uint8(w.Warp), uint8(w.PC))
	k.ways[m].Way = w
	return m
}

// dropWay ends the record of an instruction that is dropped.
func (k *Core) dropWay(n uint16) {
	if n != 0 {
		k.endWay(n, k.cycle, 0, true)
	}
}

// endWay ends a record and passes it on.
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

// collectWay notes that an instruction has been allocated a collector.
func (k *Core) collectWay(e *slot) {
	if k.ways[e.way].Read != 0 {
		e.way = k.againWay(e.way)
	}
	k.ways[e.way].Read = k.cycle + 1
}

// answerWay ends the record of an access to global memory when it is answered.
func (k *Core) answerWay(n uint16) { k.endWay(n, k.cycle+1, k.ways[n].Lanes, false) }

// endAccess ends the record of an access to shared memory, or of one that a branch has
// overtaken.
func (k *Core) endAccess() {
	if k.record == nil {
		return
	}
	n := k.lsu.way
	k.endWay(n, k.cycle+1, k.ways[n].Lanes, k.ways[n].Squashed)
}
