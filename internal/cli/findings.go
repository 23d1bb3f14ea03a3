package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/allow"
	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/check/leaks"
	"github.com/heddle-sim/heddle/internal/check/lint"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/check/perf"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// findingFlags are the flags for what becomes of findings.
type findingFlags struct {
	SARIF         string   `name:"sarif" placeholder:"FILE" help:"Write the findings of checkers as SARIF 2.1.0, for code scanning (- is standard output)."`
	Compat        string   `placeholder:"TOOL" help:"Print findings in the words of another tool: compute-sanitizer."`
	Allow         []string `sep:"none" placeholder:"FILE" help:"Do not report what this file allows: TOML with [[allow]] tables of rule, file, kernel and reason (repeatable)."`
	Baseline      string   `placeholder:"FILE" help:"Do not report the findings of this file again."`
	WriteBaseline string   `placeholder:"FILE" help:"Write the findings to this file for --baseline, and end with 0 in spite of them."`
}

// sanitizer is the tool whose words --compat knows.
const sanitizer = "compute-sanitizer"

// check returns what is wrong with the flags of a run with these checkers, which may be nil.
func (f *findingFlags) check(checks *check.Set) error {
	for _, x := range []struct {
		flag string
		used bool
	}{{"--sarif", f.SARIF != ""}, {"--compat", f.Compat != ""}, {"--allow", len(f.Allow) > 0}, {"--baseline", f.Baseline != ""}, {"--write-baseline", f.WriteBaseline != ""}} {
		if x.used && checks == nil {
			return usage("%s is about what checkers find, and no checker runs: add --check all", x.flag)
		}
	}
	if f.Compat != "" {
		if err := oneOf("--compat", f.Compat, sanitizer); err != nil {
			return err
		}
	}
	if err := writable("--sarif", f.SARIF); err != nil {
		return err
	}
	if err := writable("--write-baseline", f.WriteBaseline); err != nil {
		return err
	}
	_, err := f.allowed()
	return err
}

// writable returns an error if a file, which is written after the run, cannot be written.
func writable(flag, file string) error {
	if file == "" || file == "-" {
		return nil
	}
	st, err := os.Stat(file)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err == nil && !st.Mode().IsRegular() && !st.IsDir() { // a pipe's reader takes closing for the end
		return nil
	}
	x, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = x.Close()
		if fresh {
			_ = os.Remove(file) // made anew when there is something to write
		}
	}
	if err != nil {
		return usage("%s: %w", flag, err)
	}
	return nil
}

// allowed reads what is not to be reported.
func (f *findingFlags) allowed() (*allow.List, error) {
	l := allow.List{Rules: checkers.Rules()}
	for _, file := range f.Allow {
		if err := l.ReadFile(file); err != nil {
			return nil, usage("--allow: %w", err)
		}
	}
	if f.Baseline != "" {
		if err := l.ReadBaseline(f.Baseline); err != nil {
			return nil, usage("--baseline: %w", err)
		}
	}
	return &l, nil
}

// show prints findings on standard error and writes their files, without those that are
// allowed. It returns what is left, and whether that makes the run fail.
func (f *findingFlags) show(e env, list []*check.Finding, checked, roots []string) ([]*check.Finding, bool, error) {
	known, err := f.allowed()
	if err != nil {
		return nil, false, err
	}
	src := &output.Sources{Roots: roots}
	list, left := known.Keep(list, src)
	if list == nil { // which would mean that nothing is known
		list = []*check.Finding{}
	}
	if f.Compat == sanitizer {
		err = output.WriteCompat(e.stderr, list)
	} else {
		err = output.WriteText(e.stderr, list, src, checked)
	}
	for _, s := range left.Wrong {
		fmt.Fprintf(e.stderr, "heddle: %s\n", s)
	}
	if s := left.String(); s != "" && err == nil {
		_, err = fmt.Fprintf(e.stderr, "heddle: not reported: %s\n", s)
	}
	if f.SARIF != "" { // after the text, which is there in any case
		var b bytes.Buffer
		werr := output.WriteSARIF(&b, list, src, output.Repository("."), report.Version)
		if werr == nil {
			werr = writeTo(e, f.SARIF, b.Bytes())
		}
		if werr != nil {
			err = cmp.Or(err, usage("--sarif: %w", werr))
		}
	}
	if f.WriteBaseline == "" {
		return list, output.Failing(list), err
	}
	if werr := allow.WriteBaseline(f.WriteBaseline, list, src); werr != nil {
		err = cmp.Or(err, usage("--write-baseline: %w", werr))
	}
	return list, false, err
}

// unseen says which checkers did not see all kernels. If one of errors saw none at all, or no checker
// saw any, that nothing was found means nothing: then it returns an error. Leaks of the host are seen
// without kernels.
func unseen(e env, results ...*report.Run) error {
	kernels, missed, all := 0, map[string]int{}, map[string]bool{}
	for _, res := range results {
		kernels += len(res.Kernels)
		for _, c := range res.Checkers {
			if c.Checker == run.Hazards || c.Checker == leaks.Name {
				continue
			}
			all[c.Checker] = true
			if n := len(c.NotWatched); n > 0 {
				missed[c.Checker] += n
			}
		}
	}
	if kernels == 0 {
		fmt.Fprintln(e.stderr, "heddle: no kernel ran: only what the host does was checked")
	}
	if len(missed) == 0 {
		return nil
	}
	most, errs := 0, 0
	for name, n := range missed {
		most = max(most, n)
		if n == kernels && name != lint.Name && name != perf.Name {
			errs++
		}
	}
	names := strings.Join(slices.Sorted(maps.Keys(missed)), ", ")
	switch {
	case most < kernels:
	case errs > 0:
		return usage("not checked by %s: all kernels ran as machine code, of which memory, races, sync and init see functional runs (--mode functional), and other checkers nothing; or run the program's PTX with --code ptx, or build it with PTX", names)
	case len(missed) == len(all):
		return usage("not checked by %s: all kernels ran as machine code, and these checkers see PTX; run the program's PTX with --code ptx, or build it with PTX", names)
	}
	fmt.Fprintf(e.stderr, "heddle: %d of %s ran as machine code and were not checked by %s\n", most, report.Plural(kernels, "launch", "launches"), names)
	return nil
}

// writeTo writes a file; - is standard output.
func writeTo(e env, file string, b []byte) error {
	if file == "-" {
		_, err := e.stdout.Write(b)
		return err
	}
	return os.WriteFile(file, b, 0o666)
}

// ordered notes in findings under which order of blocks and warps they were made.
func ordered(list []*check.Finding, order string) []*check.Finding {
	for _, f := range list {
		f.Order = order
	}
	return list
}

// foundIn returns what the checkers of each program have found, under an order of blocks and warps.
func foundIn(results []*report.Run, order string) (lists [][]*check.Finding, err error) {
	for _, res := range results {
		if res.Found == nil && res.Error == nil {
			return nil, usage("the CUDA runtime does not say what it has checked: its source is not that of this heddle; build heddle again, with the source as it is now")
		}
		list, err := output.Of(res.Found)
		if err != nil {
			return nil, usage("the report cannot be read: %w", err)
		}
		lists = append(lists, ordered(list, order))
	}
	return lists, nil
}

// judge leaves in a result only the findings that are reported, and counts them if they make the run
// fail. ok says whether the run itself went well.
func judge(res *report.Run, list []*check.Finding, fails, ok bool) {
	res.Found = output.Document(list)
	res.OK = ok && !slices.ContainsFunc(res.Checks, func(c report.Check) bool { return !c.OK })
	for i := range res.Checkers {
		c := &res.Checkers[i]
		if c.Checker != run.Hazards {
			c.Found = 0
			for _, f := range list {
				if fails && f.Rule.Checker == c.Checker && f.Level > check.Note {
					c.Found++
				}
			}
			c.OK = c.Found == 0
		}
		res.OK = res.OK && c.OK
	}
}

// judgeAll is judge for the results of a program and of the programs that it has run, each with its
// own findings.
func judgeAll(all []*report.Run, lists [][]*check.Finding, fails bool) {
	for i, res := range all {
		judge(res, lists[i], fails, res.Error == nil)
	}
}
