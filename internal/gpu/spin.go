package gpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: runs whose warps execute for ever without getting anywhere, as
// those of a barrier over the grid do if not all of its blocks can be resident.

// spinWatch is the search for such a state. It costs time only in runs in which
// no block begins or ends for long, and changes no result.
type spinWatch struct {
	on     bool
	blocks uint64 // begun and ended up to since
	since  uint64
	window uint64 // cycles without one before the search begins
	tries  int    // see simt.Core.WatchSpin
}

// firstWindow is how many core cycles pass without a block that begins or ends
// before anything is suspected; the time doubles with every search in vain.
const firstWindow = 1 << 16

// watchSpin looks for a state that nothing can end.
func (g *GPU) watchSpin() error {
	w := &g.spin
	if n := g.blocks + g.blocksEnd; n != w.blocks || w.window == 0 || g.latent() {
		g.endSpin()
		*w = spinWatch{blocks: n, since: g.now, window: firstWindow, tries: 16}
		return nil
	}
	if !w.on {
		if g.now-w.since >= w.window {
			for _, c := range g.cores {
				c.WatchSpin(w.tries)
			}
			w.on = true
		}
		return nil
	}
	all := true
	for _, c := range g.cores {
		yes, ended := c.Spinning()
		if ended {
			g.endSpin()
			w.since, w.window = g.now, 2*w.window
			w.tries = min(2*w.tries, 1<<16)
			return nil
		}
		all = all && yes
	}
	if !all {
		return nil
	}
	return g.spinning()
}

func (g *GPU) endSpin() {
	if !g.spin.on {
		return
	}
	for _, c := range g.cores {
		c.EndSpin()
	}
	g.spin.on = false
}

// spinning describes a run that goes round for ever.
func (g *GPU) spinning() error {
	err := g.stuck()
	g.endSpin()
	if e, ok := err.(*exec.StuckError); ok {
		list := []string{"every warp that can run repeats the same instructions with the same values, and none changes memory"}
		for _, k := range g.slots {
			if k != nil && k.next < k.total {
				list = append(list, fmt.Sprintf("kernel %s: %d of its %d blocks find no room on an SM until others end; blocks that wait for them wait in vain",
					k.Name, k.total-k.next, k.total))
			}
		}
		e.Waits = append(list, e.Waits...)
	}
	return err
}
