package gpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: detecting runs whose warps execute forever without progress, such as a
// barrier over the grid when not all of its blocks can be resident.

// spinWatch is the search for such a state, on one chip or on several that depend on each
// other. It costs time only in runs in which no block begins or ends for a long time, and
// changes no result.
type spinWatch struct {
	on     bool
	events uint64 // blocks that began or ended, and copies that ended, up to since
	since  uint64
	window uint64 // cycles without an event before the search starts; 0: not watching
	tries  int    // see core.SpinWatch
}

// firstWindow is the number of core cycles without a block that begins or ends
// after which the search starts; it doubles with every search without a result.
const firstWindow = 1 << 16

// look reports whether the chips loop forever, at a time that is the same for all of them.
// They do if all their warps have returned to the same state since the search began on all
// of them, and none has changed memory since then.
func (w *spinWatch) look(chips []*GPU) (forever bool) {
	now, events, moves := chips[0].now, uint64(0), false
	for _, g := range chips {
		events += g.blocks + g.blocksEnd + g.copied
		moves = moves || g.latent() || len(g.arrived) > 0
	}
	if moves || events != w.events || w.window == 0 {
		w.end(chips)
		*w = spinWatch{events: events, since: now, window: firstWindow, tries: 16}
		return false
	}
	if !w.on {
		if now-w.since >= w.window {
			for _, g := range chips {
				for _, c := range g.cores {
					c.WatchSpin(w.tries)
				}
			}
			w.on = true
		}
		return false
	}
	forever = true
	for _, g := range chips {
		if g.running == 0 { // what is left of a run that ended early will do nothing
			continue
		}
		for _, c := range g.cores {
			yes, ended := c.Spinning()
			if ended {
				w.end(chips)
				*w = spinWatch{events: events, since: now, window: 2 * w.window, tries: min(2*w.tries, 1<<16)}
				return false
			}
			forever = forever && yes
		}
	}
	if forever && unblock(chips) {
		w.drop(chips)
		return false
	}
	return forever
}

// unblock lets lanes go on that wait for others of their warp, in the first block that has some, as
// all that can run loops for ever. It reports whether there is one.
func unblock(chips []*GPU) bool {
	for _, g := range chips {
		if g.running == 0 {
			continue
		}
		for _, c := range g.cores {
			if c.Unblock() {
				return true
			}
		}
	}
	return false
}

// end ends the search.
func (w *spinWatch) end(chips []*GPU) {
	if w.on {
		for _, g := range chips {
			for _, c := range g.cores {
				c.EndSpin()
			}
		}
	}
	w.on = false
}

// spinning describes a run that loops forever.
func (g *GPU) spinning() error {
	err := g.stuck()
	if e, ok := err.(*exec.StuckError); ok {
		list := []string{"every warp that can run repeats the same instructions with the same values, and none changes memory"}
		for _, k := range g.slots {
			if k != nil && k.next < k.total {
				list = append(list, fmt.Sprintf("kernel %s: %d of its %d blocks cannot start until others end; blocks that wait for them wait forever",
					k.Name, k.total-k.next, k.total))
			}
		}
		e.Waits = append(list, e.Waits...)
		e.Standstill.Loops = true
	}
	return err
}

// drop ends the search, and forgets when the last event was.
func (w *spinWatch) drop(chips []*GPU) {
	w.end(chips)
	*w = spinWatch{}
}
