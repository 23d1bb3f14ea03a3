package gpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: detecting runs whose warps execute forever without progress, such as a
// barrier over the grid when not all of its blocks can be resident.

// spinWatch is the search for such a state. It costs time only in runs in which no
// block begins or ends for a long time, and changes no result.
type spinWatch struct {
	on     bool
	blocks uint64 // begun and ended up to since
	since  uint64
	window uint64 // cycles without a block that begins or ends before the search starts
	tries  int    // see simt.Core.WatchSpin
}

// firstWindow is the number of core cycles without a block that begins or ends
// after which the search starts; it doubles with every search without a result.
const firstWindow = 1 << 16

// watchSpin looks for a loop that nothing can end.
func (g *GPU) watchSpin() error {
	w := &g.spin
	if n := g.blocks + g.blocksEnd; n != w.blocks || w.window == 0 || g.latent() {
		g.endSpin()
		g.loops = false
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
			g.loops = false
			g.endSpin()
			w.since, w.window = g.now, 2*w.window
			w.tries = min(2*w.tries, 1<<16)
			return nil
		}
		all = all && yes
	}
	if g.loops = all; !all || !g.alone() {
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

// spinning describes a run that loops forever.
func (g *GPU) spinning() error {
	err := g.stuck()
	g.endSpin()
	if e, ok := err.(*exec.StuckError); ok {
		list := []string{"every warp that can run repeats the same instructions with the same values, and none changes memory"}
		for _, k := range g.slots {
			if k != nil && k.next < k.total {
				list = append(list, fmt.Sprintf("kernel %s: %d of its %d blocks cannot start until others end; blocks that wait for them wait forever",
					k.Name, k.total-k.next, k.total))
			}
		}
		e.Waits = append(list, e.Waits...)
	}
	return err
}
