// Package check is what checkers share: what a finding is, the rules that findings follow,
// and the set of checkers of a run, which sees launches, what the host does, and in which
// order both happen.
//
// Checkers are observers. They change nothing about a run, and a run without them pays
// nothing. Each has a package of its own below this one; package checkers lists them.
package check

import (
	"cmp"
	"errors"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Level is how serious a finding is.
type Level uint8

// The levels. Errors and warnings make a run fail; notes do not.
const (
	Note Level = iota
	Warning
	Error
)

func (l Level) String() string { return [...]string{"note", "warning", "error"}[l] }

// Rule is a kind of finding. Its ID never changes: baselines, suppressions and code scanning
// rely on it.
type Rule struct {
	ID      string // such as race-shared-interwarp
	Checker string // races, memory, init, sync, leaks
	Level   Level
	Short   string // what it means, one sentence
	Full    string // what happens and why it is wrong, a paragraph
	Mend    string // how to mend it, a paragraph
	Tags    []string
}

// Place is a place in a program's text. File is "" if nothing is known but the function.
type Place struct {
	File     string // as the compiler was given it
	Line     int
	Function string // readable name
	// PC and Inst are the instruction, for code of a device.
	PC   int
	Inst string
	// Library marks a place in a header of the SDK: a finding does not begin there.
	Library bool
}

// Step is a place with what happens there: the second access of a race, an allocation, a
// call on the way, a launch.
type Step struct {
	Role  Role
	Text  string // what happens there: "write of 4 bytes by thread (3,0,0) of block (0,0,0)"
	Place Place
	Chain []Place // callers, the innermost first
}

// Role is what a step is for a finding.
type Role string

// The roles.
const (
	First      Role = "access" // what the finding is about
	Other      Role = "other access"
	Allocation Role = "allocation"
	Freed      Role = "free"
	Launched   Role = "launch"
	Called     Role = "call" // by the host
)

// Finding is an error that a checker has found, once for each rule and pair of places.
type Finding struct {
	Rule    *Rule
	Level   Level  // the rule's, or less
	Message string // one or two sentences, without places
	Steps   []Step // the first is where the finding is
	Kernel  string // readable name; "" for the host's
	Launch  int    // number of its launch in the run, from 0; -1 for the host's
	Count   uint64 // how often: pairs of bytes for races, accesses, leaked allocations
	Cause   string // why, for a race: scope-too-narrow, fence-missing, copy-not-waited-for, plain-beside-atomic, mixed-size, none
	Order   string // the order of blocks, warps and lanes under which it was found
	// Details are further facts by name: address, bytes, block, thread, values.
	Details map[string]string
}

// At is the finding's place.
func (f *Finding) At() Place {
	if len(f.Steps) == 0 {
		return Place{}
	}
	return f.Steps[0].Place
}

// Launch is a launch as checkers see it.
type Launch struct {
	Number int
	Stream int64   // its key in clocks: that of the stream, or of the node of a graph
	At     Clock   // what happened before it began
	Host   []Place // the host's call, the innermost first; nil if unknown
}

// Checker finds errors of one kind. It is used by one goroutine at a time.
type Checker interface {
	// Launch returns the probe of a launch that begins, nil if it need not see it.
	Launch(l *Launch) exec.Probe
	// Host is called for what the host does.
	Host(e *HostEvent)
	// Findings returns what was found so far, in the order in which it was.
	Findings() []*Finding
}

// Set is the checkers of a run.
type Set struct {
	names []string
	list  []Checker
	order order
	told  map[any]bool // faults and the like that Failed was called for
	// saw says for a checker's number and a launch's whether the checker's probe was shown the
	// launch; it has no entry if the checker wanted none.
	saw map[[2]int]*bool
}

// NewSet makes an empty set.
func NewSet() *Set { return &Set{order: newOrder(), told: map[any]bool{}, saw: map[[2]int]*bool{}} }

// Add adds a checker under a name: its Rules' Checker.
func (s *Set) Add(name string, c Checker) { s.names, s.list = append(s.names, name), append(s.list, c) }

// Names returns the names of the checkers.
func (s *Set) Names() []string { return s.names }

// Launch returns the probe of a launch on a stream; nil if no checker wants one.
func (s *Set) Launch(number int, stream int64, host []Place) exec.Probe {
	l := &Launch{Number: number, Stream: s.order.lane(stream), Host: host, At: s.order.submit(stream)}
	var probes many
	for i, c := range s.list {
		if p := c.Launch(l); p != nil {
			begun := new(bool)
			s.saw[[2]int{i, number}] = begun
			probes = append(probes, seeing{p, begun})
		}
	}
	switch len(probes) {
	case 0:
		return nil
	case 1:
		return probes[0]
	}
	return probes
}

// seeing is a probe that notes that a launch was shown to it.
type seeing struct {
	exec.Probe
	begun *bool
}

// Follows is as in exec.Follower.
func (s seeing) Follows() bool { return exec.Follows(s.Probe) }

// OfMachineCode is as in exec.MachineProbe.
func (s seeing) OfMachineCode() exec.Probe {
	if p := exec.OfMachineCode(s.Probe); p != nil {
		return seeing{p, s.begun}
	}
	return nil
}

func (s seeing) Begin(l *exec.Launch, code []*isa.Inst, source func(int) exec.Where, text func(int) string) {
	*s.begun = true
	s.Probe.Begin(l, code, source, text)
}

// Blind reports whether a checker wanted to see a launch and was not shown it: not all
// checkers understand machine code (exec.MachineProbe).
func (s *Set) Blind(checker string, launch int) bool {
	begun := s.saw[[2]int{slices.Index(s.names, checker), launch}]
	return begun != nil && !*begun
}

// Host tells all checkers what the host does, and notes what it orders.
func (s *Set) Host(e *HostEvent) {
	e.At = s.order.host(e)
	e.Stream = s.order.lane(e.Stream)
	for _, c := range s.list {
		c.Host(e)
	}
}

// Failer is a Checker that explains why a launch ended early: by a *exec.Fault or a
// *exec.StuckError.
type Failer interface {
	Failed(launch int, err error)
}

// Failed tells the checkers why a launch ended early; of one error it tells once. A program
// that resets its device may go on, and have others.
func (s *Set) Failed(launch int, err error) {
	var fault *exec.Fault
	var stuck *exec.StuckError
	var which any // nil for others, which come at the end
	if errors.As(err, &fault) {
		which = fault
	} else if errors.As(err, &stuck) {
		which = stuck
	}
	if s.told[which] {
		return
	}
	s.told[which] = true
	for _, c := range s.list {
		if f, ok := c.(Failer); ok {
			f.Failed(launch, err)
		}
	}
}

// Outsider is a Checker that sees accesses that leave the variable or allocation of their
// address: see exec.Launch.Outside.
type Outsider interface {
	Outside(launch int, f *exec.Fault)
}

// Outside returns what a launch calls for such accesses; nil if no checker looks at them.
func (s *Set) Outside(launch int) func(*exec.Fault) {
	for _, c := range s.list {
		if o, ok := c.(Outsider); ok {
			return func(f *exec.Fault) { o.Outside(launch, f) }
		}
	}
	return nil
}

// Findings returns what all checkers found, in the order of Sort.
func (s *Set) Findings() []*Finding {
	var all []*Finding
	for _, c := range s.list {
		all = append(all, c.Findings()...)
	}
	Sort(all)
	return all
}

// Sort puts findings in order: errors first, then by rule, launch and place.
func Sort(list []*Finding) {
	slices.SortStableFunc(list, func(a, b *Finding) int {
		return cmp.Or(-cmp.Compare(a.Level, b.Level), cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Launch, b.Launch),
			cmp.Compare(a.At().File, b.At().File), cmp.Compare(a.At().Line, b.At().Line), cmp.Compare(a.At().PC, b.At().PC))
	})
}
