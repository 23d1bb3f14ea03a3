package modern

import "github.com/heddle-sim/heddle/internal/isa"

// This file: how long a program waits for its results, by its stall counters alone.

// Distance is what lies between an instruction of fixed latency and one that reads its result.
type Distance struct {
	Producer, At int32   // the two, by place in the code
	Reg          isa.Reg // what the second reads
	Guard        bool    // it decides in which lanes the second executes
	Cycles       int     // between their issues at the least
	Need         int     // after which the core lets the second read it
	Waits        bool    // an instruction after the first, up to the second, waits for a counter
}

// Distances calls f for all such pairs on straight paths: those that take no branch.
func (k *Kernel) Distances(f func(Distance)) {
	type write struct {
		at         int32
		now, waits int
	}
	last := map[uint16]write{}
	now, waits := 0, 0
	for i := range k.ops {
		o := &k.ops[i]
		if o.ctl == nil {
			return
		}
		if o.ctl.Wait != 0 {
			waits++
		}
		for _, n := range o.src {
			w, ok := last[n]
			if !ok || k.ops[w.at].late {
				continue
			}
			by, r := &k.ops[w.at], k.register(n)
			f(Distance{Producer: w.at, At: int32(i), Reg: r, Guard: o.decided(r), Cycles: now - w.now, Need: int(k.need(by, o, n)), Waits: w.waits != waits})
		}
		for _, n := range o.dst {
			last[n] = write{int32(i), now, waits}
		}
		now += int(o.stall)
		if o.inst.Flow != isa.FlowNext && !o.inst.Guarded {
			clear(last) // nothing follows
		}
	}
}
