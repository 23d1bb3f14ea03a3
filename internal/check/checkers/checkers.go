// Package checkers lists the checkers by name.
package checkers

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/leaks"
	"github.com/heddle-sim/heddle/internal/check/memory"
	"github.com/heddle-sim/heddle/internal/check/races"
	"github.com/heddle-sim/heddle/internal/check/sync"
	"github.com/heddle-sim/heddle/internal/check/unset"
	"github.com/heddle-sim/heddle/internal/near"
)

// All is the name for all checkers.
const All = "all"

// table lists the checkers in the order in which they see what happens.
var table = []struct {
	name string
	make func() check.Checker
}{
	{races.Name, races.New},
	{memory.Name, memory.New},
	{leaks.Name, leaks.New},
	{sync.Name, sync.New},
	{unset.Name, unset.New},
}

// Names returns the names of all checkers.
func Names() (list []string) {
	for _, x := range table {
		list = append(list, x.name)
	}
	return list
}

// New makes the set of the named checkers; All stands for every one.
func New(names []string) (*check.Set, error) {
	for _, n := range names {
		if n != All && !slices.Contains(Names(), n) {
			return nil, fmt.Errorf("there is no checker %q%s", n, near.Suggest(n, append(Names(), All), "checkers"))
		}
	}
	set := check.NewSet()
	for _, x := range table {
		if slices.Contains(names, All) || slices.Contains(names, x.name) {
			set.Add(x.name, x.make())
		}
	}
	return set, nil
}
