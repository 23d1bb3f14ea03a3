package gpu

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/core/modern"
)

// This file: the hazard checkers of all SMs as one.

// Hazard is a dependence that a program does not wait for, as an SM found it.
type Hazard struct {
	SM int
	modern.Hazard
}

// CheckHazards has every SM look for hazards in programs with control bits.
// Only modern cores have any; others find nothing. It has to be called before
// the first cycle.
func (g *GPU) CheckHazards() {
	g.checked = true
	g.watched()
}

// Hazards returns what was found so far, SM by SM, each in the order in which
// it happened first there; the same dependence may stand in the list for
// several SMs. left is how often something happened that had no room.
func (g *GPU) Hazards() (list []Hazard, left uint64) {
	list, left = slices.Clone(g.found), g.foundLeft
	for i, c := range g.cores {
		x, ok := c.(modernCore)
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
