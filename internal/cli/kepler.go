package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/work/input"
	"github.com/heddle-sim/heddle/internal/work/kcase"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// keplerFlags refuses flags that do not apply to this core, and turns the others
// into options; the machine and its settings are handled elsewhere.
func (c *runCmd) keplerFlags(kind run.Kind) (run.Options, error) {
	var o run.Options
	switch {
	case c.Mode == "functional":
		return o, usage("--mode functional: the Kepler-style core always counts cycles; remove --mode")
	case c.GPU != "" && !config.IsKepler(c.GPU):
		if _, err := os.Stat(c.GPU); err != nil && filepath.Ext(c.GPU) == ".toml" {
			return o, usage("--gpu: %w", err)
		}
		return o, usage("--gpu %s: %s runs only on %s, or on a file with extends = %q; remove --gpu", c.GPU, c.Input, kepler.Name, kepler.Name)
	case c.Core != "" && c.Core != "kepler":
		return o, usage("--core %s: %s runs only on the kepler core; remove --core", c.Core, c.Input)
	}
	return c.options(kind)
}

// keplerOptions returns the machine for a program or a recorded case.
func (c *runCmd) keplerOptions(isCase bool) (kepler.Config, error) {
	var cfg kepler.Config
	if _, err := c.keplerFlags(run.KeplerCore); err != nil {
		return cfg, err
	}
	switch {
	case len(c.Dump) > 0:
		return cfg, usage("--dump: %s has no buffers", c.Input)
	case c.Kernels != "":
		return cfg, usage("--kernels: %s has no launches", c.Input)
	}
	m := config.NewKepler()
	if c.GPU != "" {
		var err error
		if m, err = config.LoadKepler(c.GPU); err != nil {
			return cfg, usage("--gpu: %w", err)
		}
	}
	if isCase {
		if err := m.Put(kepler.LevelKey, kepler.RTL.String(), "a recorded case"); err != nil {
			return cfg, err
		}
	}
	if err := m.Set(c.Set...); err != nil {
		return cfg, usage("%w", err)
	}
	switch {
	case isCase && m.Level != kepler.RTL:
		return cfg, usage("-C %s=%v: recorded cases are compared at level rtl; single differences are keys of %s", kepler.LevelKey, m.Level, kepler.SwitchTable)
	case isCase && m.Chip.Wanted():
		return cfg, usage("%s: the recording is of one SM without caches; remove kepler.sms, kepler.l1.on and kepler.l2.on", c.Input)
	}
	return m.Config, nil
}

// runKepler runs a program or a recorded case of the Kepler-style core.
func (c *runCmd) runKepler(e env) error {
	isCase := input.IsCase(c.Input)
	cfg, err := c.keplerOptions(isCase)
	if err != nil {
		return err
	}
	if err := c.alone(&cfg); err != nil {
		return err
	}
	text, err := readProgram(c.Input)
	if err != nil {
		return err
	}
	r, recorded, err := c.keplerCore(cfg, text, isCase)
	if err != nil {
		return err
	}
	var o run.Options
	return c.observed(e, &o, func(to *sinks) (*report.Run, string, error) {
		r.Timeline, r.Series = o.Timeline, o.Series
		begin := time.Now()
		err := error(nil)
		if c.Step {
			r, err = step.New(e.ctx, e.stdin, to.text, isTerminal(e)).RunKepler(func() (*krun.Run, error) {
				r, _, err := c.keplerCore(cfg, text, isCase)
				return r, err
			})
			if r == nil {
				return nil, "", err
			}
			if err == nil && r.Err() != nil {
				err = r.Err()
			}
		} else {
			if o.Progress != nil {
				r.Progress = func(cycle uint64) {
					o.Progress(run.Progress{Input: c.Input, GPU: cfg.Name, Each: "launch", Kernel: filepath.Base(c.Input), Launches: 1, Cycles: cycle, WarpInsts: r.Core.Stats().Executed})
				}
			}
			err = r.Do(e.ctx)
		}
		res := r.Result(strings.TrimSuffix(filepath.Base(c.Input), filepath.Ext(c.Input)))
		res.Seconds = time.Since(begin).Seconds()
		more := ""
		if recorded != nil {
			if more, err = c.compareCase(recorded, r, res, err); more == "" {
				return nil, "", err
			}
		} else if !c.Quiet {
			res.State = keplerState(r.Core)
		}
		if err != nil {
			res.OK, res.Error = false, run.Failure(err, nil)
		}
		return res, more, err
	})
}

// compareCase compares a core that has run with its recording, and returns the
// differences as text. The error is that of the run, unless the recording includes
// it.
func (c *runCmd) compareCase(recorded *kcase.Case, r *krun.Run, res *report.Run, err error) (string, error) {
	diffs, n := recorded.Compare(r.Core)
	if n == 0 {
		return "", usage("%s has no recording under \"rtl\" to compare with", c.Input)
	}
	res.Checks = []report.Check{{Buffer: "everything recorded", Against: "rtl", OK: len(diffs) == 0, Elements: int64(n), Mismatches: int64(len(diffs))}}
	res.OK = len(diffs) == 0
	var ended *krun.Error
	if errors.As(err, &ended) { // how the hardware ended is recorded too
		err = nil
	}
	var more strings.Builder
	for _, d := range diffs {
		fmt.Fprintf(&more, "%v\n", d)
	}
	if len(diffs) == 0 {
		fmt.Fprintf(&more, "%s: all %s values are equal to what was recorded\n", c.Input, report.Count(uint64(n)))
	} else {
		fmt.Fprintf(&more, "%s: %s of %s values differ from what was recorded\n", c.Input, report.Count(uint64(len(diffs))), report.Count(uint64(n)))
	}
	return more.String(), err
}

// keplerCore sets up a core; recorded is nil for a program.
func (c *runCmd) keplerCore(cfg kepler.Config, text string, isCase bool) (*krun.Run, *kcase.Case, error) {
	r := &krun.Run{Name: c.Input, Limit: c.MaxCycles}
	if !isCase {
		prog, err := kasm.Assemble(c.Input, text, kasm.RTL)
		if err != nil {
			return nil, nil, &exitError{code: exitUsage, err: err}
		}
		r.Core, r.Programs = kepler.New(cfg), []*kasm.Program{prog}
		if err := errors.Join(r.Core.Load(prog.Words, 0), r.Core.Start(0, 0, ^uint32(0))); err != nil {
			return nil, nil, usage("%s: %w", c.Input, err)
		}
		return r, nil, nil
	}
	recorded, err := kcase.Parse([]byte(text))
	if err != nil {
		return nil, nil, usage("%s: %w", c.Input, err)
	}
	progs, err := recorded.Assemble(c.Input, func(file string) (string, error) {
		if !filepath.IsLocal(file) {
			return "", usage("%s: asm_file %q leads out of the case's folder", c.Input, file)
		}
		return readProgram(filepath.Join(filepath.Dir(c.Input), file))
	})
	if err != nil {
		return nil, nil, &exitError{code: exitUsage, err: err}
	}
	r.Programs = progs
	if r.Core, err = recorded.Core(cfg, progs); err != nil {
		return nil, nil, usage("%s: %w", c.Input, err)
	}
	if r.Limit == 0 {
		r.Limit = recorded.Limit()
	}
	r.Core.Trace(true)
	r.Whole = true // as the hardware ran
	return r, recorded, nil
}

// mostWords bounds the memory that a report shows.
const mostWords = 64

// keplerState describes the registers, predicates and memory that are not zero.
func keplerState(k *kepler.Core) string {
	b := new(strings.Builder)
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
	return b.String()
}
