package config

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
)

// This file: the core model of a GPU, and the source of its parameters.

// Cores are the core models that a GPU can have.
func Cores() []string { return slices.Clone(keyAt("core").Enum) }

// hasCore reports whether a GPU has parameters for a core model.
func (g *GPU) hasCore(core string) bool {
	for i := range keys() {
		if n := keys()[i].Name; strings.HasPrefix(n, core+".") && !strings.HasPrefix(g.sources[n], byDefault) {
			return true
		}
	}
	return false
}

// SetCore selects another core model. A GPU without parameters for it takes those
// of a built-in GPU: one of the same architecture, else of the nearest compute
// capability; among several, the one with the nearest number of SMs.
func (g *GPU) SetCore(name string) error {
	if !slices.Contains(Cores(), name) {
		return fmt.Errorf("unknown core %q; want one of %s", name, strings.Join(Cores(), ", "))
	}
	if name == g.Core {
		return nil
	}
	g.borrowed = g.lender(name)
	if !g.hasCore(name) {
		from, err := g.nearestWith(name)
		if err != nil {
			return err
		}
		if from != nil {
			g.borrow(core.ModelOf(name), from)
		}
	}
	g.Core = name
	g.sources["core"] = "chosen for this run"
	return nil
}

// borrow takes over the parameters of a core model from another GPU.
func (g *GPU) borrow(m *core.Model, from *GPU) {
	for i := range keys() {
		k := &keys()[i]
		if table, _, _ := strings.Cut(k.Name, "."); table == m.Name || slices.Contains(m.Tables, table) {
			g.at(k).Set(from.at(k))
			g.takeOver(k.Name, from)
		}
	}
	g.borrowed = from.Name
}

// CoreFrom names the GPU from which SetCore took the core's parameters, if it is a
// different one; else "".
func (g *GPU) CoreFrom() string { return g.borrowed }

// lender names the GPU from which all of a GPU's parameters for a core were taken;
// "" if it has some of its own.
func (g *GPU) lender(core string) string {
	lender := ""
	for i := range keys() {
		n := keys()[i].Name
		if s := g.sources[n]; strings.HasPrefix(n, core+".") && !strings.HasPrefix(s, byDefault) {
			if g.lent[n] == "" {
				return ""
			}
			lender = g.lent[n]
		}
	}
	return lender
}

// nearestWith returns the built-in GPU most similar to this one among those with
// parameters for a core; nil if there is none and the core needs none.
func (g *GPU) nearestWith(name string) (*GPU, error) {
	var best *GPU
	least := math.Inf(1)
	for _, n := range Names() {
		x, err := loadTOML(n, "", nil)
		if err != nil {
			return nil, err
		}
		if !x.hasCore(name) || x.lender(name) != "" {
			continue
		}
		// Generations first, then SMs.
		d := math.Abs(float64(x.SMs() - g.SMs()))
		if x.Architecture != g.Architecture {
			d += float64(maxSMs) * (1 + math.Abs(capability(x)-capability(g)))
		}
		if d < least {
			best, least = x, d
		}
	}
	if best == nil && !core.ModelOf(name).Whole {
		return nil, fmt.Errorf("no GPU has parameters for the core %q", name)
	}
	return best, nil
}

// capability is the compute capability as a number, such as 8.6.
func capability(g *GPU) float64 {
	var major, minor int
	if _, err := fmt.Sscanf(g.ComputeCapability, "%d.%d", &major, &minor); err != nil {
		return 0
	}
	return float64(major) + float64(minor)/10
}
