package modern

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
)

// wild makes a random program with random control bits. Right or wrong, it must end, and
// with the same counters whether the core sleeps or not.
func wild(r *rand.Rand) *program {
	n := 10 + r.IntN(40)
	var code []*inst
	reg := func() int { return 2 + r.IntN(24) }
	copyOf := func() *inst {
		in := ld(isa.Global, 32<<r.IntN(3), 8, reg())
		in.Op, in.Class, in.Dsts = "LDGSTS.E", isa.ClassCopy, nil
		in.Async = asyncStart
		return in
	}
	atomic := func(sp isa.Space) *inst {
		in := ld(sp, 32, reg(), reg())
		in.Op, in.Class, in.Atomic, in.Store = "ATOM.E.ADD", isa.ClassAtomic, true, true
		return in
	}
	for len(code) < n {
		var in *inst
		switch r.IntN(22) {
		case 0, 1:
			in = ffma(reg(), reg(), reg(), reg())
		case 2:
			in = hadd2(reg(), reg(), reg())
		case 3:
			in = mk("IMAD", isa.ClassIMAD, reg(), reg(), reg()).does(func([]float64) float64 { return 0 })
		case 4:
			in = mufu(reg(), reg())
		case 5:
			in = fp64(reg(), reg(), reg())
		case 6:
			in = ld(isa.Global, 32<<r.IntN(3), reg(), reg())
		case 7:
			in = ld(isa.Shared, 32<<r.IntN(3), reg(), -1)
		case 8:
			in = st(isa.Global, 32<<r.IntN(3), reg(), reg())
		case 9:
			in = st(isa.Shared, 32<<r.IntN(3), -1, reg())
		case 10:
			in = ldc(reg(), reg())
		case 11:
			in = withConst(iadd3(reg(), reg()), r.IntN(2048))
		case 12:
			in = waitSB(r.IntN(6), r.IntN(3))
			in.Depbar.Zero = uint8(r.IntN(64))
		case 13:
			in = mk("MEMBAR.SC.GPU", isa.ClassFence, -1)
		case 14:
			in = copyOf()
		case 15:
			in = closeGroup()
		case 16:
			in = atomic(isa.Global)
		case 17:
			in = atomic(isa.Shared)
		case 18:
			in = mk("S2R", isa.ClassMio, reg())
		case 19:
			in = mk("ERRBAR", isa.ClassMiscQ, -1)
		case 20:
			in = bra(max(0, len(code)-r.IntN(6)), 1+r.IntN(3))
		case 21:
			in = bar()
			if r.IntN(2) == 0 {
				in = clock(reg())
			}
		}
		if in.addr != nil {
			in.addr = strided(uint64(r.IntN(1<<14))&^127, uint64(4<<r.IntN(6)))
		}
		if r.IntN(4) == 0 && !in.Barrier && in.Flow == isa.FlowNext {
			in.dead = isa.LaneMask(r.Uint32())
			if r.IntN(2) == 0 {
				in.dead = isa.FullMask
			}
		}
		c := in.Control
		c.Stall, c.Yield, c.Wait = uint8(r.IntN(16)), r.IntN(3) == 0, uint8(r.IntN(64)&r.IntN(64))
		for _, p := range []*uint8{&c.Write, &c.Read} {
			if r.IntN(2) == 0 {
				*p = uint8(r.IntN(6))
			}
		}
		code = append(code, in)
	}
	p := prog(append(code, exit())...)
	p.warps, p.smem, p.blocks = 1+r.IntN(9), 4096, uint64(1+r.IntN(3))
	return p
}

func TestRandomPrograms(t *testing.T) {
	n := 150
	if !alltests.On() {
		n = 30
	}
	for seed := range n {
		var first *Core
		mode := Dependences(1 + seed%2)
		for _, awake := range []bool{false, true} {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			p := wild(r)
			cfg := Ampere()
			if seed%3 == 0 {
				cfg = Turing()
			}
			cfg.Dependences, cfg.Consumers = mode, 1+r.IntN(4)
			cfg.Ports, cfg.RFC, cfg.Prefetch = r.IntN(3), r.IntN(2) == 0, r.IntN(9)
			cfg.PRT, cfg.L1D.Entries, cfg.L1D.Merge, cfg.ResponseQueue = 1+r.IntN(4), 1+r.IntN(8), 1+r.IntN(3), 1+r.IntN(3)
			g := newRig(t, cfg)
			g.delay, g.every = uint64(1+r.IntN(500)), uint64(r.IntN(4))
			if awake {
				g.core.KeepAwake()
			} else {
				g.core.CheckHazards() // changes nothing
			}
			g.run(p, 400_000)
			for range 3000 {
				g.tick()
			}
			g.core.Sync()
			st := &g.core.Stats
			sum := uint64(0)
			for _, x := range st.States {
				sum += x
			}
			if sum != st.WarpLife || g.pool.Live != 0 || g.core.Busy() {
				t.Fatalf("seed %d: states %d, lifetimes %d, requests left %d, busy %v\n%s", seed, sum, st.WarpLife, g.pool.Live, g.core.Busy(), dump(p))
			}
			if first == nil {
				first = g.core
			} else if !reflect.DeepEqual(first.Stats, *st) {
				t.Fatalf("seed %d: asleep %+v\nawake %+v", seed, first.Stats, *st)
			}
		}
	}
}
