package output_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/report/found"
)

var race = &check.Rule{
	ID: "race-shared-interwarp", Checker: "races", Level: check.Error, Short: "Two warps access shared memory, and nothing orders them.",
	Full: "One of them writes.", Mend: "Put a barrier between them.", Tags: []string{"cuda", "race"},
}

var leak = &check.Rule{ID: "leak", Checker: "leaks", Level: check.Warning, Short: "Memory is never freed."}

// findings are one of a kernel and one of the host, with every field in use.
func findings() []*check.Finding {
	at := func(line int) check.Place {
		return check.Place{File: "src/sum.cu", Line: line, Function: "sum(float*)", PC: line * 16, Inst: "ld.shared.f32 %f1, [%r1]"}
	}
	inner := at(7)
	inner.Library = true
	return []*check.Finding{
		{
			Rule: race, Level: check.Error, Message: "Threads of two warps access the same bytes, and nothing orders them.", Kernel: "sum(float*)", Launch: 3, Count: 508, Cause: "none", Order: "forward",
			Steps: []check.Step{
				{Role: check.First, Text: "read of 4 bytes by thread (0,0,0)", Place: at(12), Chain: []check.Place{inner, at(30)}},
				{Role: check.Other, Text: "write of 4 bytes by thread (32,0,0)", Place: at(10)},
				{Role: check.Launched, Text: "the launch", Place: check.Place{File: "src/main.cu", Line: 40, Function: "main"}},
			},
			Details: map[string]string{"block": "(0,0,0)", "address": "0x0"},
		},
		{
			Rule: leak, Level: check.Warning, Message: "1,024 bytes are never freed.", Launch: -1, Count: 1,
			Steps: []check.Step{{Role: check.Allocation, Text: "cudaMalloc of 1,024 bytes", Place: check.Place{File: "src/main.cu", Line: 20}}},
		},
	}
}

// TestEncode: what is decoded is what was encoded, and encodes to the same bytes.
func TestEncode(t *testing.T) {
	for name, list := range map[string][]*check.Finding{"none": nil, "some": findings()} {
		t.Run(name, func(t *testing.T) {
			b, err := output.Encode(list)
			if err != nil {
				t.Fatal(err)
			}
			var doc found.Document
			if err := json.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			got, err := output.Of(&doc)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(list, got); d != "" {
				t.Error(d)
			}
			if again, err := output.Encode(got); err != nil || string(again) != string(b) {
				t.Errorf("%v, a second encoding differs:\n%s\n%s", err, b, again)
			}
		})
	}
}

func TestOfRefuses(t *testing.T) {
	for _, x := range []struct{ name, text, want string }{
		{"another version", `{"version": 7}`, "have version 7; this version of heddle reads 1"},
		{"a rule that is missing", `{"version": 1, "findings": [{"rule": "leak", "level": "note"}]}`, `has the rule "leak", which is not among the rules`},
		{"a level of no name", `{"version": 1, "rules": [{"id": "leak", "level": "note"}], "findings": [{"rule": "leak", "level": "severe"}]}`, `there is no level "severe"`},
		{"a rule's level of no name", `{"version": 1, "rules": [{"id": "leak", "level": "bad"}]}`, `there is no level "bad"`},
	} {
		t.Run(x.name, func(t *testing.T) {
			var doc found.Document
			if err := json.Unmarshal([]byte(x.text), &doc); err != nil {
				t.Fatal(err)
			}
			_, err := output.Of(&doc)
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("error %v, want one with %q", err, x.want)
			}
		})
	}
}

// TestDivide: programs keep what they have found themselves of what is kept, with their own counts.
func TestDivide(t *testing.T) {
	all := findings()
	once := *all[0]
	once.Count = 1
	for _, c := range []struct {
		name     string
		kept     []*check.Finding
		programs [][]*check.Finding
		want     [][]*check.Finding
	}{
		{"one program", all, [][]*check.Finding{all}, [][]*check.Finding{all}},
		{"each its own", all, [][]*check.Finding{all[:1], all[1:]}, [][]*check.Finding{all[:1], all[1:]}},
		{"both the same", all[:1], [][]*check.Finding{{&once}, all[:1]}, [][]*check.Finding{{&once}, all[:1]}},
		{"what is allowed", all[1:], [][]*check.Finding{all, nil}, [][]*check.Finding{all[1:], nil}},
		{"of another order", all, [][]*check.Finding{all[:1], nil}, [][]*check.Finding{all[:1], all[1:]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, output.Divide(c.kept, c.programs...)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestMergeRuns: runs in other orders find a race with its accesses swapped, with another cause
// or more serious; it is one finding. Findings that one run tells apart stay apart.
func TestMergeRuns(t *testing.T) {
	found := func(rule *check.Rule, level check.Level, cause string, count uint64, lines ...int) *check.Finding {
		f := &check.Finding{Rule: rule, Level: level, Cause: cause, Count: count}
		for i, n := range lines {
			f.Steps = append(f.Steps, check.Step{Role: []check.Role{check.First, check.Other}[i], Place: check.Place{File: "a.cu", Line: n}})
		}
		return f
	}
	first := found(race, check.Error, "none", 4, 1, 2)
	note := found(race, check.Note, "none", 9, 1, 2)
	for _, c := range []struct {
		name string
		runs [][]*check.Finding
		want []*check.Finding
	}{
		{"the same", [][]*check.Finding{{first}, {first}}, []*check.Finding{first}},
		{"seen more often", [][]*check.Finding{{first}, {found(race, check.Error, "none", 7, 1, 2)}}, []*check.Finding{found(race, check.Error, "none", 7, 1, 2)}},
		{"swapped", [][]*check.Finding{{first}, {found(race, check.Error, "none", 3, 2, 1)}}, []*check.Finding{first}},
		{"with another cause", [][]*check.Finding{{first}, {found(race, check.Error, "fence-missing", 4, 1, 2)}}, []*check.Finding{first}},
		{"with two causes in one run", [][]*check.Finding{{first, found(race, check.Error, "mixed-size", 1, 1, 2)}}, []*check.Finding{first, found(race, check.Error, "mixed-size", 1, 1, 2)}},
		{"less serious at first", [][]*check.Finding{{note}, {first}}, []*check.Finding{found(race, check.Error, "none", 9, 1, 2)}},
		{"less serious later", [][]*check.Finding{{first}, {note}}, []*check.Finding{found(race, check.Error, "none", 9, 1, 2)}},
		{"at other lines", [][]*check.Finding{{first}, {found(race, check.Error, "none", 4, 1, 3)}}, []*check.Finding{first, found(race, check.Error, "none", 4, 1, 3)}},
		{"a read and its use, and the reverse", [][]*check.Finding{{found(leak, check.Error, "", 1, 1, 2)}, {found(leak, check.Error, "", 1, 2, 1)}},
			[]*check.Finding{found(leak, check.Error, "", 1, 1, 2), found(leak, check.Error, "", 1, 2, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, output.MergeRuns(c.runs...)); d != "" {
				t.Error(d)
			}
		})
	}
}
