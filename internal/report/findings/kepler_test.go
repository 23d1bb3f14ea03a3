package findings_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// keplerCase is a program of the Kepler-style core on some warps. R1 is the number of the
// lane, R2 its byte address of a word, R14 the number of the warp. R60 is 40, R63 zero.
type keplerCase struct {
	body  string
	warps int
	mask  uint32   // of lanes; 0: all
	set   []string // configuration
}

// again repeats instructions 40 times; it uses R3 and P0.
func again(body string) string {
	return "again:\n" + body + "\nADD R3, R3, R63, 1\nISETP.LT P0, R3, R60\n@P0 BRA again\n"
}

func (c keplerCase) run(t *testing.T) *report.Run {
	t.Helper()
	cfg := kepler.ConfigFor(kepler.Datasheet)
	for _, s := range c.set {
		key, value, _ := strings.Cut(s, "=")
		if err := cfg.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	p, err := kasm.Assemble("k.kasm", "TID R1\nSHL R2, R1, R63, 2\n"+c.body+"\nEXIT", kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(cfg)
	var warps []int
	for w := range c.warps {
		warps = append(warps, w)
	}
	if err := k.Load(p.Words, warps...); err != nil {
		t.Fatal(err)
	}
	mask := c.mask
	if mask == 0 {
		mask = ^uint32(0)
	}
	for _, w := range warps {
		if err := errors.Join(k.SetRegister(w, 14, -1, uint32(w)), k.SetRegister(w, 60, -1, 40), k.Start(w, 0, mask)); err != nil {
			t.Fatal(err)
		}
	}
	r := &krun.Run{Name: "k.kasm", Core: k, Programs: []*kasm.Program{p}, Limit: 500_000}
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.Result("k")
}

// independent is arithmetic in which nothing waits, of one unit and of two.
var (
	independent = times(8, "ADD R2$, R1, R1")
	mixed       = times(8, "ADD R2$, R1, R1\nFADD R3$, R1, R1")
)

// arithmetic is a program that fetches most of the time.
var arithmetic = keplerCase{body: times(12, independent), warps: 24}

// Each rule for the Kepler-style core, with a program in which it finds its cause and one in
// which it does not.
var keplerCases = []struct {
	rule      string
	line      string // part of the instruction that costs most; "" if the rule names no lines
	with, not keplerCase
}{
	{"memory-latency", "ADD", keplerCase{body: times(20, "LDR R5, [R2]\nADD R2, R2, R5"), warps: 1}, arithmetic},
	{"shared-memory-latency", "ADD", keplerCase{body: times(20, "LDS R5, [R2]\nADD R2, R2, R5"), warps: 1}, arithmetic},
	{"dependent-instructions", "ADD", keplerCase{body: times(40, "ADD R5, R5, R1"), warps: 1}, arithmetic},
	{"few-warps", "", keplerCase{body: times(40, "ADD R5, R5, R1"), warps: 2}, keplerCase{body: times(40, "ADD R5, R5, R1"), warps: 24}},
	{
		"split-accesses", "LDR",
		keplerCase{body: "SHL R4, R1, R63, 7\n" + times(8, "LDR R5, [R4]\nADD R6, R6, R5"), warps: 2},
		keplerCase{body: times(8, "LDR R5, [R2]\nADD R6, R6, R5"), warps: 2},
	},
	{
		"bank-conflicts", "LDS",
		keplerCase{body: "SHL R4, R1, R63, 7\n" + times(8, "LDS R5, [R4]\nADD R6, R6, R5"), warps: 2},
		keplerCase{body: times(8, "LDS R5, [R2]\nADD R6, R6, R5"), warps: 2},
	},
	{"collectors", "", arithmetic, keplerCase{body: times(40, "ADD R5, R5, R1"), warps: 1}},
	{
		"too-many-loads", "LDR",
		keplerCase{body: "SHL R4, R1, R63, 4\n" + times(10, "LDR R1$, [R4]\nLDR R2$, [R4]\nLDR R4$, [R4]\nLDR R5$, [R4]\nADD R31, R1, R1\nADD R32, R1, R1\nADD R33, R1, R1\nADD R34, R1, R1"), warps: 1, set: []string{"kepler.memory.delay=400"}},
		arithmetic,
	},
	{"branches", "BRA", keplerCase{body: again("NOP"), warps: 24}, arithmetic},
	{"divergence", "", keplerCase{body: arithmetic.body, warps: 24, mask: 0xff}, arithmetic},
	{
		"barriers", "BAR",
		keplerCase{body: "ISETP.EQ P1, R14, R63\n@!P1 BRA wait\n" + times(40, "ADD R5, R5, R1") + "wait:\nBAR\nADD R6, R6, R1", warps: 8},
		arithmetic,
	},
	{"drain", "", keplerCase{body: "SHL R4, R1, R63, 7\nSTR [R4], R1\nSTR [R4 + 4096], R1", warps: 1}, arithmetic},
	{
		"uneven-warps", "",
		keplerCase{body: "ISETP.EQ P1, R14, R63\n@!P1 BRA end\n" + again("ADD R5, R5, R1") + "end:", warps: 8},
		arithmetic,
	},
	{
		"uneven-sms", "",
		keplerCase{body: arithmetic.body, warps: 1, set: []string{"kepler.sms=4"}},
		keplerCase{body: arithmetic.body, warps: 4, set: []string{"kepler.sms=4"}},
	},
	{"single-issue", "", arithmetic, keplerCase{body: times(6, mixed), warps: 24}},
	{"squashed-instructions", "", keplerCase{body: again(""), warps: 24}, keplerCase{body: again(times(16, independent)), warps: 1}},
}

func TestKeplerRules(t *testing.T) {
	for _, c := range keplerCases {
		t.Run(c.rule, func(t *testing.T) {
			found := func(k keplerCase) *report.Finding {
				r := k.run(t)
				if i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Rule == c.rule }); i >= 0 {
					return &r.Findings[i]
				}
				var b strings.Builder
				for _, f := range r.Findings {
					fmt.Fprintf(&b, "%s %.0f %%: %s\n", f.Rule, 100*f.Share, f.Seen)
				}
				t.Logf("%v\n%v\n%+v\n%s", r.Kernels[0].Stalls, r.Kernels[0].SlotStalls, *r.Kepler, b.String())
				return nil
			}
			switch f := found(c.with); {
			case f == nil:
				t.Error("is not found")
			case c.line != "" && (len(f.Lines) == 0 || !strings.Contains(f.Lines[0].Instruction, c.line)):
				t.Errorf("costs most at %+v, want %s", f.Lines, c.line)
			}
			if f := found(c.not); f != nil {
				t.Errorf("is found where it is not: %.0f %%, %s", 100*f.Share, f.Seen)
			}
		})
	}
	for _, r := range findings.KeplerRules() {
		if !slices.ContainsFunc(keplerCases, func(c struct {
			rule, line string
			with, not  keplerCase
		}) bool {
			return c.rule == r.Name
		}) {
			t.Errorf("no program for %s", r.Name)
		}
	}
}

// Shares of the states of fetch cannot add up to more than the time.
func TestKeplerShares(t *testing.T) {
	states := []string{"memory-latency", "shared-memory-latency", "dependent-instructions", "bank-conflicts", "collectors", "too-many-loads", "branches", "drain", "uneven-sms"}
	for _, c := range keplerCases {
		sum := 0.0
		r := c.with.run(t)
		for _, f := range r.Findings {
			if slices.Contains(states, f.Rule) {
				sum += f.Share
			}
		}
		if idle := 1 - float64(r.Kepler.SingleIssues+r.Kepler.DualIssues)/float64(r.Cycles)/float64(r.SMs); sum > idle+1e-9 {
			t.Errorf("%s: findings of %.3f of the time, but fetch is idle for %.3f", c.rule, sum, idle)
		}
	}
}
