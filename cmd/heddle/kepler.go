package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/job"
	"github.com/heddle-sim/heddle/internal/kcase"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sm/kepler"
)

// keplerGPU is the machine of the Kepler-style core.
const keplerGPU = "kepler-edu"

// keplerMaxCycles ends a run that no flag ends, so that a program that never
// exits is told so.
const keplerMaxCycles = 20_000_000

// isKepler reports whether INPUT is a program or a recorded case of the
// Kepler-style core.
func isKepler(path string) (isCase, ok bool) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".kasm" && ext != ".json" {
		return false, false
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false, false
	}
	if ext == ".kasm" {
		return false, true
	}
	text, err := job.ReadFile(path) // the format may stand anywhere in it
	return true, err == nil && bytes.Contains(text, []byte("heddle-kepler-case"))
}

// keplerOptions checks the flags that mean something to this core, and refuses
// the others.
func (c *runCmd) keplerOptions(isCase bool) (kepler.Config, error) {
	cfg := kepler.ConfigFor(kepler.Datasheet)
	if isCase {
		cfg = kepler.ConfigFor(kepler.RTL)
	}
	if err := oneOf("--mode", c.Mode, "timing", "functional"); err != nil {
		return cfg, err
	}
	switch {
	case c.Mode == "functional":
		return cfg, usage("--mode functional: programs and recorded cases of the Kepler-style core compute as they count cycles; leave --mode out")
	case c.GPU != "" && c.GPU != keplerGPU:
		return cfg, usage("--gpu %s: %s runs on %s only; leave --gpu out", c.GPU, c.Input, keplerGPU)
	case c.Core != "" && c.Core != "kepler":
		return cfg, usage("--core %s: %s runs on the kepler core only; leave --core out", c.Core, c.Input)
	case len(c.Dump) > 0:
		return cfg, usage("--dump: %s has no buffers", c.Input)
	case c.Kernels != "":
		return cfg, usage("--kernels: %s has no launches", c.Input)
	case c.AccelSim:
		return cfg, usage("--accel-sim-stats: these counters are not those of the Kepler-style core; see --json")
	}
	for _, s := range c.Set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return cfg, usage("-C %s: write KEY=VALUE", s)
		}
		if key != "kepler.conform" {
			hint := "the key is kepler.conform"
			if n := job.Nearest(key, []string{"kepler.conform"}); n != "" {
				hint = "did you mean kepler.conform?"
			}
			return cfg, usage("-C: %s has no %q; %s", keplerGPU, key, hint)
		}
		level, err := kepler.LevelByName(value)
		if err != nil {
			return cfg, usage("-C %s: %w", s, err)
		}
		if isCase && level != kepler.RTL {
			return cfg, usage("-C %s: recorded cases are compared at level rtl", s)
		}
		cfg = kepler.ConfigFor(level)
	}
	return cfg, nil
}

// keplerCounters are the counters of the Kepler-style core in the JSON result.
type keplerCounters struct {
	Conform      string            `json:"conform"`
	DualIssues   uint64            `json:"dual_issue_cycles"`
	SingleIssues uint64            `json:"single_issue_cycles"`
	Squashed     uint64            `json:"squashed_instructions"`
	Branches     uint64            `json:"branches_taken"`
	Transactions uint64            `json:"memory_transactions"`
	Replays      uint64            `json:"split_transactions"`
	Conflicts    uint64            `json:"shared_conflict_cycles"`
	ExitCycle    map[string]uint64 `json:"exit_cycle"` // by warp
}

// runKepler runs a program or a recorded case of the Kepler-style core.
func (c *runCmd) runKepler(e env, isCase bool) error {
	cfg, err := c.keplerOptions(isCase)
	if err != nil {
		return err
	}
	text, err := readProgram(c.Input)
	if err != nil {
		return err
	}
	k, recorded, progs, err := c.keplerCore(cfg, text, isCase)
	if err != nil {
		return err
	}
	out, jsonOut := e.stdout, io.Writer(nil)
	switch c.JSON {
	case "":
	case "-":
		out, jsonOut = e.stderr, e.stdout
	default:
		f, err := os.Create(c.JSON)
		if err != nil {
			return usage("--json: %w", err)
		}
		defer f.Close()
		jsonOut = f
	}

	limit := c.MaxCycles
	if limit == 0 {
		limit = keplerMaxCycles
		if recorded != nil {
			limit = recorded.Limit()
		}
	}
	begin := time.Now()
	var left error // the user has
	if c.Step {
		if k, left = c.walkKepler(e, out, cfg, text, limit, isCase); k == nil {
			return left
		}
	}
	runErr := left
	if left == nil {
		runErr = c.keplerRun(e, k, progs, limit, recorded != nil)
	}
	res := c.keplerResult(k, time.Since(begin), progs)
	var diffs []kcase.Diff
	if recorded != nil {
		var n int
		if diffs, n = recorded.Compare(k); n == 0 {
			return usage("%s: nothing is recorded under \"rtl\", so there is nothing to compare", c.Input)
		}
		res.Checks = []report.Check{{Buffer: "everything recorded", Against: "rtl", OK: len(diffs) == 0, Elements: int64(n), Mismatches: int64(len(diffs))}}
		res.OK = len(diffs) == 0
		runErr = nil // how the hardware ended is among what is compared
		if e.ctx.Err() != nil {
			runErr = e.ctx.Err()
		}
	}
	if left != nil {
		runErr = left
	}
	if runErr != nil {
		res.OK = false
		kind := failureKind(e, k)
		if left != nil {
			kind = "interrupted"
		}
		res.Error = &report.Failure{Kind: kind, Message: runErr.Error()}
	}
	if jsonOut != nil {
		enc := json.NewEncoder(jsonOut)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(struct {
			*report.Run
			Kepler keplerCounters `json:"kepler"`
		}{res, counters(k)}); err != nil {
			runErr = errors.Join(runErr, usage("--json: %w", err))
		}
	}
	var b strings.Builder
	if !c.Quiet {
		keplerText(&b, k, res, recorded != nil)
	}
	for _, d := range diffs {
		fmt.Fprintf(&b, "%v\n", d)
	}
	switch {
	case recorded == nil:
		fmt.Fprintln(&b, res.Summary())
	case len(diffs) == 0:
		fmt.Fprintf(&b, "%s: all %s values are equal to what was recorded\n", c.Input, report.Count(uint64(res.Checks[0].Elements)))
	default:
		fmt.Fprintf(&b, "%s: %s of %s values differ from what was recorded\n", c.Input, report.Count(uint64(len(diffs))), report.Count(uint64(res.Checks[0].Elements)))
	}
	if _, err := io.WriteString(out, b.String()); err != nil && runErr == nil {
		return usage("writing the report: %w", err)
	}
	if runErr == nil && !res.OK {
		return &exitError{code: exitCheck}
	}
	return runErr
}

func failureKind(e env, k *kepler.Core) string {
	switch {
	case e.ctx.Err() != nil:
		return "interrupted"
	case k.Fault() != nil:
		return "fault"
	case k.Stuck():
		return "stuck"
	}
	return "limit"
}

// keplerCore sets a core up; recorded is nil for a program.
func (c *runCmd) keplerCore(cfg kepler.Config, text string, isCase bool) (*kepler.Core, *kcase.Case, kcase.Assembled, error) {
	if !isCase {
		prog, err := kasm.Assemble(c.Input, text, kasm.RTL)
		if err != nil {
			return nil, nil, nil, &exitError{code: exitUsage, err: err}
		}
		k := kepler.New(cfg)
		if err := errors.Join(k.Load(prog.Words, 0), k.Start(0, 0, ^uint32(0))); err != nil {
			return nil, nil, nil, usage("%s: %w", c.Input, err)
		}
		return k, nil, kcase.Assembled{prog}, nil
	}
	recorded, err := kcase.Parse([]byte(text))
	if err != nil {
		return nil, nil, nil, usage("%s: %w", c.Input, err)
	}
	progs, err := recorded.Assemble(c.Input, func(file string) (string, error) {
		if !filepath.IsLocal(file) {
			return "", usage("%s: asm_file %q leads out of the case's folder", c.Input, file)
		}
		return readProgram(filepath.Join(filepath.Dir(c.Input), file))
	})
	if err != nil {
		return nil, nil, nil, &exitError{code: exitUsage, err: err}
	}
	k, err := recorded.Core(cfg, progs)
	if err != nil {
		return nil, nil, nil, usage("%s: %w", c.Input, err)
	}
	k.Trace(true)
	return k, recorded, progs, nil
}

// keplerRun simulates to the end, and says why if there is none.
func (c *runCmd) keplerRun(e env, k *kepler.Core, progs kcase.Assembled, limit uint64, isCase bool) error {
	const stretch = 1 << 16
	for !k.Done() && !k.Stuck() && k.Fault() == nil && k.Cycle() < limit && e.ctx.Err() == nil {
		k.Run(min(limit, k.Cycle()+stretch))
	}
	switch {
	case e.ctx.Err() != nil:
		return e.ctx.Err()
	case k.Fault() != nil:
		return &exitError{code: exitFault, err: fmt.Errorf("%s%w", sourceLine(progs, k.Fault().PC, isCase), k.Fault())}
	case k.Done():
		return nil
	case k.Stuck():
		return &exitError{code: exitLimit, err: fmt.Errorf("%s: no forward progress after cycle %d:\n  %s", c.Input, k.Cycle(), strings.Join(k.Waits(), "\n  "))}
	}
	err := &exec.LimitError{Limit: limit, What: "cycles"}
	var where []string
	for w := range kepler.Warps {
		if s := k.Status(w); !k.Started(w) || s == kepler.Exited {
			continue
		}
		pc := int(k.PC(w) % kasm.ProgramWords)
		where = append(where, fmt.Sprintf("%swarp %d is at pc %d", sourceLine(progs, pc, isCase), w, pc))
	}
	return &exitError{code: exitLimit, err: fmt.Errorf("%s: %w (--max-cycles); the program does not exit?\n  %s", c.Input, err, strings.Join(where, "\n  "))}
}

// sourceLine is the place of an instruction in the text of a program, for the
// start of a message; "" if there are several programs or no line.
func sourceLine(progs kcase.Assembled, pc int, isCase bool) string {
	if len(progs) != 1 || isCase {
		return ""
	}
	n, _ := progs[0].Line(pc)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", progs[0].File, n)
}

func counters(k *kepler.Core) keplerCounters {
	s := k.Stats()
	r := keplerCounters{Conform: k.Level().String(), DualIssues: s.DualIssues, SingleIssues: s.SingleIssues, Squashed: s.Squashed, Branches: s.Branches,
		Transactions: s.Transactions, Replays: s.Replays, Conflicts: s.Conflicts, ExitCycle: map[string]uint64{}}
	for w := range kepler.Warps {
		if c := k.ExitCycle(w); c > 0 {
			r.ExitCycle[fmt.Sprint(w)] = c
		}
	}
	return r
}

// keplerResult is the run in the form that all results have.
func (c *runCmd) keplerResult(k *kepler.Core, d time.Duration, progs kcase.Assembled) *report.Run {
	s := k.Stats()
	cycles := k.DoneCycle()
	if !k.Done() {
		cycles = k.Cycle()
	}
	warps := 0
	for w := range kepler.Warps {
		if k.Started(w) {
			warps++
		}
	}
	res := &report.Run{
		Heddle: report.Version, Input: c.Input, GPU: keplerGPU, Mode: "timing", OK: k.Done(),
		Conditions:       map[string]any{"kepler.conform": k.Level().String()},
		Timing:           &report.Timing{Core: "kepler", SMs: 1, Cycles: cycles},
		WarpInstructions: s.Executed, ThreadInstructions: s.Threads, Seconds: d.Seconds(),
		Checks: []report.Check{},
	}
	for _, p := range progs {
		res.Programs = append(res.Programs, p.File)
	}
	res.Kernels = []report.Kernel{{
		Name: strings.TrimSuffix(filepath.Base(c.Input), filepath.Ext(c.Input)), Grid: [3]int64{1, 1, 1}, Block: [3]int64{int64(warps * kasm.Lanes), 1, 1},
		Registers: kasm.Registers, SharedBytes: kepler.SharedBytes, Blocks: 1, WarpInstructions: s.Executed, ThreadInstructions: s.Threads,
		KernelTiming: &report.KernelTiming{EndCycle: cycles, Cycles: cycles, IPC: float64(s.Executed) / float64(max(cycles, 1))},
	}}
	return res
}

// keplerText writes the report for a person; of a program's run also what it
// left in registers and memory.
func keplerText(b *strings.Builder, k *kepler.Core, res *report.Run, isCase bool) {
	s := k.Stats()
	fmt.Fprintf(b, "heddle %s  %s  %s at level %v\n\n", res.Heddle, res.Input, keplerGPU, k.Level())
	t := report.NewTable("<", "")
	t.Row("cycles", report.Count(res.Cycles))
	t.Row("instructions executed", report.Count(s.Executed))
	t.Row("per cycle", fmt.Sprintf("%.3f", res.Kernels[0].IPC))
	t.Row("lanes of 32 on average", fmt.Sprintf("%.1f", float64(s.Threads)/float64(max(s.Executed, 1))))
	t.Row("cycles that selected two", report.Count(s.DualIssues))
	t.Row("cycles that selected one", report.Count(s.SingleIssues))
	t.Row("squashed by branches", report.Count(s.Squashed))
	t.Row("branches taken", report.Count(s.Branches))
	t.Row("memory transactions", report.Count(s.Transactions))
	t.Row("of them from splits", report.Count(s.Replays))
	t.Row("bank conflict cycles", report.Count(s.Conflicts))
	t.Write(b)
	b.WriteString("\n")
	for w := range kepler.Warps {
		if c := k.ExitCycle(w); c > 0 {
			fmt.Fprintf(b, "warp %d exited in cycle %s\n", w, report.Count(c))
		}
	}
	if !isCase {
		b.WriteString("\n")
		keplerState(b, k)
	}
	b.WriteString("\n")
}

// mostWords bounds how much of memory a report shows.
const mostWords = 64

// keplerState writes registers, predicates and memory that are not zero.
func keplerState(b *strings.Builder, k *kepler.Core) {
	for r := range kasm.Registers {
		v := k.Register(0, r)
		switch first := v[0]; {
		case !slices.ContainsFunc(v[:], func(x uint32) bool { return x != 0 }):
		case !slices.ContainsFunc(v[:], func(x uint32) bool { return x != first }):
			fmt.Fprintf(b, "R%-3d %08x in all lanes\n", r, first)
		default:
			var words []string
			for _, x := range v {
				words = append(words, fmt.Sprintf("%08x", x))
			}
			for i := 0; i < len(words); i += 8 {
				name := fmt.Sprintf("R%-3d", r)
				if i > 0 {
					name = "    "
				}
				fmt.Fprintf(b, "%s %s\n", name, strings.Join(words[i:i+8], " "))
			}
		}
	}
	for p := range kasm.Predicates {
		if m := k.Predicate(0, p); m != 0 {
			fmt.Fprintf(b, "P%-3d lanes %08x\n", p, m)
		}
	}
	type word struct{ at, v uint32 }
	var global, shared []word
	k.Words(func(addr, v uint32) { global = append(global, word{addr, v}) })
	for i := range kepler.SharedBytes / 4 {
		if v := k.Shared(i); v != 0 {
			shared = append(shared, word{uint32(i) * 4, v})
		}
	}
	slices.SortFunc(global, func(x, y word) int { return int(int64(x.at) - int64(y.at)) })
	for _, m := range []struct {
		name  string
		words []word
	}{{"memory", global}, {"shared", shared}} {
		for i, w := range m.words {
			if i == mostWords {
				fmt.Fprintf(b, "%s: %s more words are not zero\n", m.name, report.Count(uint64(len(m.words)-i)))
				break
			}
			fmt.Fprintf(b, "%s %08x: %08x\n", m.name, w.at, w.v)
		}
	}
}
