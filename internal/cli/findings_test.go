package cli

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/report"
)

// TestJudgeAll: the reports of CUDA programs have and count the findings that are reported, each
// program its own.
func TestJudgeAll(t *testing.T) {
	left := []*check.Finding{{Rule: &check.Rule{ID: "oob-global", Checker: "memory"}, Level: check.Error}, {Rule: &check.Rule{ID: "uninit-global", Checker: "init"}, Level: check.Note}}
	for _, c := range []struct {
		name    string
		lists   [][]*check.Finding
		settled bool // in a new baseline
		failed  *report.Failure
		found   []uint64 // of memory
		ok      []bool
	}{
		{"all are allowed", [][]*check.Finding{nil}, false, nil, []uint64{0}, []bool{true}},
		{"one is left, and a note", [][]*check.Finding{left}, false, nil, []uint64{1}, []bool{false}},
		{"in a new baseline", [][]*check.Finding{left}, true, nil, []uint64{0}, []bool{true}},
		{"all are allowed, the run failed", [][]*check.Finding{nil}, false, &report.Failure{}, []uint64{0}, []bool{false}},
		{"several programs, all are allowed", [][]*check.Finding{nil, nil}, false, nil, []uint64{0, 0}, []bool{true, true}},
		{"several programs, one is left", [][]*check.Finding{nil, left}, false, nil, []uint64{0, 1}, []bool{true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []*report.Run
			for range c.lists {
				all = append(all, &report.Run{Error: c.failed, Checkers: []report.Checker{{Checker: "memory", Found: 3}, {Checker: "init", OK: true}}})
			}
			judgeAll(all, c.lists, !c.settled)
			for i, res := range all {
				if res.Checkers[0].Found != c.found[i] || res.OK != c.ok[i] || !res.Checkers[1].OK {
					t.Errorf("result %d: %+v, ok %v; want %d found, ok %v", i, res.Checkers, res.OK, c.found[i], c.ok[i])
				}
				if len(res.Found.Findings) != len(c.lists[i]) {
					t.Errorf("result %d has %d findings, want %d", i, len(res.Found.Findings), len(c.lists[i]))
				}
			}
		})
	}
}
