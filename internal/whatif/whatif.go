// Package whatif runs a piece of work again on idealised machines, one change at a time, and
// reports what each saves. Runs are made in parallel and kept in the user's cache, by the
// content of everything that they depend on; the result depends on neither.
//
// It does not know what the work is: its caller runs it.
package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/whatif"
	"github.com/heddle-sim/heddle/internal/run"
)

// Options describe a question.
type Options struct {
	Input   string      // its name in the result
	Machine *config.GPU // as it is, with the user's settings
	// Only are the names of the idealisations to try; nil: all that the machine can have.
	Only []string
	// Line, if not "", is FILE:LINE, whose loads then hit the L1 in one more run.
	Line string
	// Launches are those whose cycles count; nil: the whole run.
	Launches *run.Selection
	Workers  int // runs at a time
	// Run makes a run with assignments to keys of the machine. It is called concurrently.
	// Printed is what kernels and program printed, or its digest; "" if that is nothing.
	Run func(ctx context.Context, set []string) (res *report.Run, printed string, err error)
	// Digest identifies everything that runs depend on except the machine; with "", none
	// is kept. Cache is the folder in which they are kept.
	Digest, Cache string
	// Progress, which may be nil, is called when a run has ended.
	Progress func(done, all int)
}

// lineName is the name of the run in which the loads of a line hit.
const lineName = "line"

// trial is a run to be made.
type trial struct {
	config.Idealisation
	set []string // assignments
	out *outcome
	err error
}

// Explore makes all runs. The error is that of the baseline, or about the options.
func Explore(ctx context.Context, o Options) (*whatif.Result, error) {
	trials, missing, err := plan(&o)
	if err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	e := &explorer{Options: o, all: len(trials) + 1}
	e.perform(ctx, trials[:1]) // alone: if it fails, so do the others
	base := trials[0]
	if err := cmp.Or(base.err, ctx.Err()); err != nil {
		return nil, err
	}
	if err := base.out.selected(o.Launches); err != nil {
		return nil, err
	}
	if o.Line != "" {
		if err := base.out.loadsAt(o.Line); err != nil {
			return nil, err
		}
	}
	e.perform(ctx, trials[1:])
	res := &whatif.Result{
		Heddle: report.Version, Input: o.Input, GPU: o.Machine.Name, Core: o.Machine.Core,
		Cycles: base.out.Cycles, Checks: base.out.Checks, Printed: base.out.Printed != "", Missing: missing, Ideals: []whatif.Ideal{},
	}
	if o.Launches != nil {
		res.Launches = o.Launches.String()
	}
	for _, t := range trials[1:] {
		res.Ideals = append(res.Ideals, t.compare(base.out))
	}
	order := map[string]int{}
	for i, x := range res.Ideals {
		order[x.Name] = i
		if x.Name != lineName { // a part of l1
			res.SumPercent += max(0, x.SavedPercent)
		}
	}
	slices.SortStableFunc(res.Ideals, func(a, b whatif.Ideal) int {
		return cmp.Or(cmp.Compare(b.SavedCycles, a.SavedCycles), cmp.Compare(order[a.Name], order[b.Name]))
	})
	two := slices.DeleteFunc(slices.Clone(res.Ideals), func(x whatif.Ideal) bool { return x.Name == lineName })
	if len(two) > 1 && two[1].SavedCycles > 0 {
		res.Pair = e.pair(ctx, base.out, two, trials)
	}
	return res, ctx.Err()
}

// plan lists the runs, the baseline first, and what is not tried.
func plan(o *Options) ([]*trial, []whatif.Missing, error) {
	all := o.Machine.Idealisations()
	trials := []*trial{{}}
	var missing []whatif.Missing
	var names []string
	for _, x := range all {
		names = append(names, x.Name)
		wanted := slices.Contains(o.Only, x.Name)
		switch {
		case wanted && x.Missing != "":
			return nil, nil, fmt.Errorf("%s: %s", x.Name, x.Missing)
		case x.Missing != "":
			missing = append(missing, whatif.Missing{Name: x.Name, Why: x.Missing})
		case wanted || o.Only == nil:
			trials = append(trials, &trial{Idealisation: x, set: []string{x.Key + "=true"}})
		}
	}
	for _, n := range o.Only {
		if !slices.Contains(names, n) {
			return nil, nil, fmt.Errorf("no idealisation is called %q%s", n, near.Suggest(n, names, "there are"))
		}
	}
	if o.Line != "" {
		trials = append(trials, &trial{set: []string{config.LineKey + "=" + o.Line}, Idealisation: config.Idealisation{
			Name: lineName, Key: config.LineKey + " = " + o.Line, What: "the loads of " + o.Line + " hit the L1",
			Optimistic: "data must come from somewhere; loads that go past the L1 (atomics, ld.cg, ld.cv) are not changed",
		}})
	}
	return trials, missing, nil
}

// explorer makes the runs of a question.
type explorer struct {
	Options

	mu        sync.Mutex
	done, all int
}

// perform makes runs, several at a time.
func (e *explorer) perform(ctx context.Context, trials []*trial) {
	var wg sync.WaitGroup
	next := make(chan *trial)
	for range max(1, min(e.Workers, len(trials))) {
		wg.Go(func() {
			for t := range next {
				t.out, t.err = e.outcome(ctx, t.set)
				e.mu.Lock()
				e.done++
				e.Progress(e.done, e.all)
				e.mu.Unlock()
			}
		})
	}
	for _, t := range trials {
		if ctx.Err() != nil {
			t.err = ctx.Err()
			continue
		}
		next <- t
	}
	close(next)
	wg.Wait()
}

// compare describes a run next to the baseline.
func (t *trial) compare(base *outcome) whatif.Ideal {
	x := whatif.Ideal{Name: t.Name, Key: t.Key, What: t.What, Optimistic: t.Optimistic, Launches: []whatif.Launch{}, Lines: []whatif.Line{}}
	if t.err != nil {
		x.Error, x.WrongValues = failure(t.err)
		return x
	}
	x.Cycles, x.SameOutput = t.out.Cycles, t.out.Printed == base.Printed
	x.SavedCycles, x.SavedPercent = saving(base.Cycles, x.Cycles)
	for i, l := range base.Launches {
		if i < len(t.out.Launches) {
			x.Launches = append(x.Launches, whatif.Launch{Launch: l.Number, Name: l.Name, Before: l.Cycles, After: t.out.Launches[i].Cycles})
		}
	}
	x.Lines = append(x.Lines, lessWaiting(base, t.out)...)
	return x
}

// saving returns what a number of cycles saves of the baseline.
func saving(base, now uint64) (cycles int64, percent float64) {
	cycles = int64(base) - int64(now)
	if base > 0 {
		percent = 100 * float64(cycles) / float64(base)
	}
	return cycles, percent
}

// pair makes the run with the two largest savings.
func (e *explorer) pair(ctx context.Context, base *outcome, list []whatif.Ideal, trials []*trial) *whatif.Pair {
	p := &whatif.Pair{Names: [2]string{list[0].Name, list[1].Name}, SumCycles: list[0].SavedCycles + list[1].SavedCycles}
	t := &trial{}
	for _, name := range p.Names {
		i := slices.IndexFunc(trials, func(t *trial) bool { return t.Name == name })
		t.set = append(t.set, trials[i].set...)
	}
	e.perform(ctx, []*trial{t})
	if t.err != nil {
		p.Error, p.WrongValues = failure(t.err)
		return p
	}
	p.Cycles, p.SameOutput = t.out.Cycles, t.out.Printed == base.Printed
	p.SavedCycles, p.SavedPercent = saving(base.Cycles, p.Cycles)
	p.InteractionCycles = p.SavedCycles - p.SumCycles
	return p
}

// ValuesError says which checks of a run's values did not pass.
type ValuesError struct {
	Names []string // of buffers and symbols
}

func (e *ValuesError) Error() string {
	return fmt.Sprintf("the values of %s are wrong", strings.Join(e.Names, ", "))
}

// failure describes why a run counts for nothing.
func failure(err error) (text string, wrongValues bool) {
	var values *ValuesError
	return err.Error(), errors.As(err, &values)
}

// failed returns why a run counts for nothing, nil if it counts.
func failed(res *report.Run, err error) error {
	switch {
	case err != nil:
		return err
	case res == nil || res.Timing == nil:
		return errors.New("the run has no cycles")
	case res.Error != nil:
		return errors.New(res.Error.Message)
	}
	var wrong []string
	for _, c := range res.Checks {
		if !c.OK {
			wrong = append(wrong, cmp.Or(c.Buffer, c.Symbol))
		}
	}
	if len(wrong) > 0 {
		return &ValuesError{wrong}
	}
	return nil
}
