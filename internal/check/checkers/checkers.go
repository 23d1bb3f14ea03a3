// Package checkers lists the checkers by name.
package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/leaks"
	"github.com/heddle-sim/heddle/internal/check/lint"
	"github.com/heddle-sim/heddle/internal/check/memory"
	"github.com/heddle-sim/heddle/internal/check/perf"
	"github.com/heddle-sim/heddle/internal/check/races"
	"github.com/heddle-sim/heddle/internal/check/sync"
	"github.com/heddle-sim/heddle/internal/check/unset"
	"github.com/heddle-sim/heddle/internal/near"
)

// All is the name for all checkers of errors; those that give hints run only if they are named.
const All = "all"

// Options are options of checkers.
type Options struct {
	// KeepGoing leaves out what faults, and lets kernels run on. It needs the checker memory.
	KeepGoing bool
	// InitReads reports reads of unset memory where they are, whatever is done with what was
	// read. It is about the checker init.
	InitReads bool

	lint bool // it is asked for by its name
}

// table lists the checkers in the order in which they see what happens.
var table = []struct {
	name  string
	make  func(o Options) check.Checker
	rules func() []*check.Rule
	hints bool // All does not stand for it
}{
	{races.Name, func(Options) check.Checker { return races.New() }, races.Rules, false},
	{memory.Name, func(o Options) check.Checker { return memory.New(o.KeepGoing) }, memory.Rules, false},
	{leaks.Name, func(Options) check.Checker { return leaks.New() }, leaks.Rules, false},
	{sync.Name, func(Options) check.Checker { return sync.New() }, sync.Rules, false},
	{unset.Name, func(o Options) check.Checker { return unset.New(o.InitReads) }, unset.Rules, false},
	{lint.Name, func(o Options) check.Checker { return lint.New(o.lint) }, lint.Rules, false},
	{perf.Name, func(Options) check.Checker { return perf.New() }, perf.Rules, true},
}

// Rules returns the IDs of the rules of all checkers.
func Rules() (list []string) {
	for _, x := range table {
		for _, r := range x.rules() {
			list = append(list, r.ID)
		}
	}
	return list
}

// Names returns the names of all checkers.
func Names() (list []string) {
	for _, x := range table {
		list = append(list, x.name)
	}
	return list
}

// New makes the set of the named checkers; All stands for every one that looks for errors.
func New(names []string, o Options) (*check.Set, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("no checker is named; want %s, or some of %s", All, strings.Join(Names(), ", "))
	}
	for _, n := range names {
		if n != All && !slices.Contains(Names(), n) {
			return nil, fmt.Errorf("there is no checker %q%s", n, near.Suggest(n, append(Names(), All), "checkers"))
		}
	}
	if o.KeepGoing && !slices.Contains(names, All) && !slices.Contains(names, memory.Name) {
		return nil, fmt.Errorf("to keep going after faults is an option of the checker %s, which is not among %s", memory.Name, strings.Join(names, ", "))
	}
	if o.InitReads && !slices.Contains(names, All) && !slices.Contains(names, unset.Name) {
		return nil, fmt.Errorf("to report reads of unset memory is an option of the checker %s, which is not among %s", unset.Name, strings.Join(names, ", "))
	}
	o.lint = slices.Contains(names, lint.Name)
	set := check.NewSet()
	for _, x := range table {
		if slices.Contains(names, All) && !x.hints || slices.Contains(names, x.name) {
			set.Add(x.name, x.make(o))
		}
	}
	return set, nil
}
