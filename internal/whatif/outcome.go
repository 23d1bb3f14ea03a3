package whatif

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/whatif"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/cuda/cache"
)

// outcome is what is kept of a run.
type outcome struct {
	Cycles   uint64
	Checks   int
	Printed  string
	Launches []launch
	Ran      []launch // all launches, if none of them counts
	Lines    []line   // of the launches that count, by place
}

// launch is a launch that counts.
type launch struct {
	Number int
	Name   string
	Cycles uint64
}

// line is an instruction, and what warps waited for at it.
type line struct {
	whatif.Line
	Loads  bool              // it has loaded from global or local memory
	Stalls map[string]uint64 // by state, without issues
}

// place identifies a line in all runs.
type place struct {
	file, function string
	line, pc       int
}

func (l *line) place() place { return place{l.File, l.Function, l.Line.Line, l.PC} }

// issues is the state of a warp that issues.
const issues = "selected"

// outcomeOf takes what is kept from a result.
func (o *Options) outcomeOf(res *report.Run, printed string) *outcome {
	out := &outcome{Cycles: res.Timing.Cycles, Checks: len(res.Checks), Printed: printed}
	if o.Launches != nil {
		out.Cycles = 0
	}
	at := map[place]*line{}
	for i := range res.Kernels {
		k := &res.Kernels[i]
		if k.KernelTiming == nil {
			continue
		}
		out.Ran = append(out.Ran, launch{k.Launch, k.Name, k.Cycles})
		if !o.Launches.Has(k.Launch, k.Name) {
			continue
		}
		out.Launches = append(out.Launches, launch{k.Launch, k.Name, k.Cycles})
		if o.Launches != nil {
			out.Cycles += k.Cycles
		}
		for j := range k.Lines {
			x := &k.Lines[j]
			key := place{x.File, x.Function, x.Line, x.PC}
			l := at[key]
			if l == nil {
				l = &line{Stalls: map[string]uint64{}, Line: whatif.Line{
					File: x.File, Line: x.Line, PC: x.PC, Function: x.Function, Instruction: x.Instruction, SourceFile: x.SourceFile, SourceLine: x.SourceLine,
				}}
				at[key] = l
			}
			l.Loads = l.Loads || x.Accesses != nil && x.Requests > 0 && loads(x.Instruction)
			for state, n := range x.Stalls {
				if state != issues {
					l.Stalls[state] += n
				}
			}
		}
	}
	if len(out.Launches) > 0 {
		out.Ran = nil
	}
	for _, l := range at {
		out.Lines = append(out.Lines, *l)
	}
	slices.SortFunc(out.Lines, func(a, b line) int { return a.place().compare(b.place()) })
	return out
}

// loads reports whether an instruction that accesses global or local memory loads from it,
// and is no atomic operation.
func loads(instruction string) bool {
	name := strings.ToLower(instruction)
	for _, other := range []string{"st", "red", "atom", "sust", "sured", "wmma.store", "multimem"} {
		if strings.HasPrefix(name, other) {
			return false
		}
	}
	return true
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.function, q.function), cmp.Compare(p.line, q.line), cmp.Compare(p.pc, q.pc))
}

// lessWaiting returns the lines at which warps waited less than in the baseline.
func lessWaiting(base, now *outcome) []whatif.Line {
	after := map[place]map[string]uint64{}
	for i := range now.Lines {
		after[now.Lines[i].place()] = now.Lines[i].Stalls
	}
	var list []whatif.Line
	for i := range base.Lines {
		l := &base.Lines[i]
		x, most := l.Line, uint64(0)
		rest := after[l.place()]
		for _, state := range slices.Sorted(maps.Keys(l.Stalls)) {
			n := l.Stalls[state]
			x.Before += n
			if n > rest[state] && n-rest[state] > most {
				x.State, most = state, n-rest[state]
			}
		}
		for _, n := range rest {
			x.After += n
		}
		if x.Before > x.After {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b whatif.Line) int { return cmp.Compare(b.Before-b.After, a.Before-a.After) })
	return list[:min(len(list), whatif.MostLines)]
}

// selected returns an error unless a launch of a selection has run.
func (out *outcome) selected(s *run.Selection) error {
	if s == nil || len(out.Launches) > 0 {
		return nil
	}
	const most = 10 // as many as a message can have (our choice)
	var names []string
	for i, l := range out.Ran {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(out.Ran)-most))
			break
		}
		names = append(names, fmt.Sprintf("%d %s", l.Number, l.Name))
	}
	return fmt.Errorf("no launch is among %s; the run has %s", s, cmp.Or(strings.Join(names, ", "), "none"))
}

// loadsAt returns an error unless a load of FILE:LINE has run.
func (out *outcome) loadsAt(text string) error {
	file, n, ok := core.SplitLine(text)
	if !ok {
		return fmt.Errorf("%q is no line; want FILE:LINE, such as kernel.cu:42", text)
	}
	if len(out.Lines) > 0 && !slices.ContainsFunc(out.Lines, func(l line) bool { return l.File != "" || l.SourceFile != "" }) {
		return fmt.Errorf("%s: the input names no lines, as is so of traces; only the loads of a job or a CUDA program can be chosen by line", text)
	}
	example := ""
	for i := range out.Lines {
		l := &out.Lines[i]
		if !l.Loads {
			continue
		}
		if l.Line.Line == n && core.SameFile(l.File, file) || l.SourceLine == n && core.SameFile(l.SourceFile, file) {
			return nil
		}
		if example == "" {
			example = fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line.Line)
			if l.SourceFile != "" {
				example = fmt.Sprintf("%s:%d", filepath.Base(l.SourceFile), l.SourceLine)
			}
		}
	}
	if example == "" {
		return fmt.Errorf("%s: nothing that ran loads from global or local memory", text)
	}
	return fmt.Errorf("%s: no load from global or local memory has run there; %s has one", text, example)
}

// kept is the name of an outcome in its folder of the cache.
const kept = "outcome.json"

// outcome makes a run, or takes it from the cache.
func (o *Options) outcome(ctx context.Context, set []string) (*outcome, error) {
	fresh := func() (*outcome, error) {
		res, printed, err := o.Run(ctx, set)
		if err := failed(res, err); err != nil {
			return nil, err
		}
		return o.outcomeOf(res, printed), nil
	}
	if o.Digest == "" || o.Cache == "" {
		return fresh()
	}
	key, err := o.key(set)
	if err != nil {
		return nil, err
	}
	var out *outcome
	var ran error
	dir, err := cache.Folder(ctx, o.Cache, "whatif", key, func(dir string) error {
		if out, ran = fresh(); ran != nil {
			return ran
		}
		text, err := json.Marshal(out)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, kept), text, 0o666)
	})
	if out != nil || ran != nil {
		return out, ran // whether it could be kept or not
	}
	if err == nil {
		out = &outcome{}
		if text, rerr := os.ReadFile(filepath.Join(dir, kept)); rerr == nil && json.Unmarshal(text, out) == nil {
			return out, nil
		}
	}
	return fresh() // the cache cannot be used
}

// key identifies a run by everything that its outcome depends on.
func (o *Options) key(set []string) (string, error) {
	var machine bytes.Buffer
	if err := o.Machine.WriteTOML(&machine); err != nil {
		return "", err
	}
	launches := "all"
	if o.Launches != nil {
		launches = "only " + o.Launches.String()
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q", o.Digest, machine.String(), launches, set)
	return fmt.Sprintf("%x", h.Sum(nil)[:16]), nil
}
