package core

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// counting is a warp whose registers count its iterations.
type counting struct {
	exec.Warp
	n uint64
}

func (w *counting) Digest() (uint64, bool) { return w.n, true }

func TestSpin(t *testing.T) {
	var search SpinWatch
	w := &counting{}
	var quiet exec.Effects
	search.WatchSpin(2)
	p := search.Spin
	for i := range 3 {
		p.Issued(5, w, 7, true, true, &quiet)
		if got := p.looping; (got == 1<<5) != (i > 0) || p.broken {
			t.Errorf("visit %d: looping %#x, broken %v", i, got, p.broken)
		}
	}
	// If the registers differ each time, the search ends, but not at once.
	search.WatchSpin(2)
	for i := range 5 {
		w.n++
		p.Issued(5, w, 7, true, true, &quiet)
		p.Issued(5, w, 8, true, true, &quiet) // another instruction is ignored
		if p.broken != (i > 2) || p.looping != 0 {
			t.Errorf("visit %d: broken %v, looping %#x", i, p.broken, p.looping)
		}
	}
	for name, e := range map[string]exec.Effects{"a store": {Wrote: true}, "the time": {Timed: true}, "an exit": {Exited: 1}} {
		search.WatchSpin(2)
		if p.Issued(0, w, 1, true, true, &e); !p.broken {
			t.Errorf("%s does not end the search", name)
		}
	}
	for name, want := range map[string]bool{"ld.volatile.global.u32": true, "st.global.u32": false, "LDG.E.64": true, "STG.E": false, "bar.warp.sync": true, "BAR.SYNC": false} {
		if Calm(name) != want {
			t.Errorf("Calm(%s) is not %v", name, want)
		}
	}
}
