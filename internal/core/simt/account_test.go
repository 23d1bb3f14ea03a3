package simt

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
)

// busy is a script whose warps encounter every kind of wait: loads, shared memory, an
// SFU, a barrier, a fence and stores that are acknowledged late.
func busy(blocks uint64) *script {
	s := &script{n: blocks, smem: 1024}
	s.code = []*isa.Inst{
		load(isa.Global, 4, 1, 2), sin(3, 1), alu(4, 3, 3), load(isa.Shared, 4, 5, 4), fma(6, 5, 5, 5), bar(),
		store(isa.Global, 4, 2, 6), fenceInst(), mov(7, 6), exit(),
	}
	for w := range 5 {
		var list []step
		for pc, in := range s.code {
			st := step{pc: pc}
			if in.Load || in.Store {
				st.addr = strided(uint64(0x1000*(w+1)), 64)
			}
			list = append(list, st)
		}
		s.warps = append(s.warps, list)
	}
	return s
}

// Every resident warp is in exactly one state at any time, so a warp's states add up to
// its lifetime; the totals equal the sums over instructions.
func TestStatesAddUp(t *testing.T) {
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480, "qv100": qv100} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, cfg(t))
			c := g.core
			c.KeepPlaces(core.NewLedger())
			s := busy(12)
			s.regs = 16
			k, err := NewKernel(c.Config(), s, core.KernelOptions{})
			if err != nil {
				t.Fatal(err)
			}
			sum := k.NewPlaces()
			for next := uint64(0); g.ended < int(s.n); {
				if g.cycle > 100_000 {
					t.Fatal("no end")
				}
				g.tick()
				for slot := range c.Slots() {
					if st := WarpState(c.acct.Of(slot)); st >= WarpStates {
						t.Fatalf("cycle %d: warp %d has state %d", g.cycle, slot, st)
					}
				}
				if next < s.n && c.CanTake(k) {
					c.Launch(k, s.Block(next))
					next++
				}
				if g.cycle%97 == 0 {
					c.Settle()
				}
			}
			c.TakePlaces(k, sum)
			var states, issues, lanes uint64
			by := [core.MaxStates]uint64{}
			for _, n := range c.Stats.States {
				states += n
			}
			for i := range sum {
				issues += sum[i].Issues
				lanes += sum[i].Lanes
				for st, n := range sum[i].States[:WarpStates] {
					by[st] += n
				}
				if want := s.n * uint64(len(s.warps)); sum[i].Issues != want {
					t.Errorf("instruction %d: %d issues, want %d", i, sum[i].Issues, want)
				}
			}
			if states != c.Stats.WarpLife || states != c.Stats.WarpCycles {
				t.Errorf("states add up to %d, lifetimes to %d, resident warps over cycles to %d", states, c.Stats.WarpLife, c.Stats.WarpCycles)
			}
			if by != c.Stats.States {
				t.Errorf("by instruction %v, in total %v", by, c.Stats.States)
			}
			if issues != c.Stats.WarpInsts || lanes != c.Stats.ThreadInsts {
				t.Errorf("%d issues and %d lanes by instruction, %d and %d in total", issues, lanes, c.Stats.WarpInsts, c.Stats.ThreadInsts)
			}
			for _, w := range []struct {
				at    int
				state WarpState
			}{{1, LongScoreboard}, {2, ShortScoreboard}, {4, ShortScoreboard}, {5, Barrier}, {9, Drain}} {
				if sum[w.at].States[w.state] == 0 {
					t.Errorf("no warp waited before instruction %d in state %v: %v", w.at, w.state, sum[w.at].States)
				}
			}
		})
	}
}
