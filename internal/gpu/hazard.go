package gpu

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
)

// This file: the hazard checkers of all SMs as one.

// Hazard is a dependence that a program does not wait for, found by an SM.
type Hazard struct {
	SM int
	core.Hazard
}

// CheckHazards makes every SM look for hazards in programs with control bits, and
// reports whether its model can do so. It must be called before the first cycle.
func (g *GPU) CheckHazards() bool {
	_, g.checked = g.cores[0].(core.HazardChecker)
	g.watched()
	return g.checked
}

// Hazards returns the hazards found so far, SM by SM, in the order of their first
// occurrence; several SMs may list the same dependence. left counts occurrences for
// which there was no room.
func (g *GPU) Hazards() (list []Hazard, left uint64) {
	list, left = slices.Clone(g.found), g.foundLeft
	for i, c := range g.cores {
		x, ok := c.(core.HazardChecker)
		if !ok {
			continue
		}
		for _, h := range x.Hazards() {
			list = append(list, Hazard{i, h})
		}
		left += x.HazardsLeft()
	}
	return list, left
}
