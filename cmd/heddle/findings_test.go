package main

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/report"
)

// TestJudgeAll: the report of a CUDA program counts findings after those that are allowed.
func TestJudgeAll(t *testing.T) {
	left := []*check.Finding{{Rule: &check.Rule{Checker: "memory"}, Level: check.Error}, {Rule: &check.Rule{Checker: "init"}, Level: check.Note}}
	for _, c := range []struct {
		name    string
		results int
		list    []*check.Finding
		failed  *report.Failure
		found   uint64 // of memory
		ok      bool
	}{
		{"all are allowed", 1, nil, nil, 0, true},
		{"one is left, and a note", 1, left, nil, 1, false},
		{"all are allowed, the run failed", 1, nil, &report.Failure{}, 0, false},
		{"several programs, all are allowed", 2, nil, nil, 0, true},
		{"several programs, one is left: nobody knows of which", 2, left, nil, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []*report.Run
			for range c.results {
				all = append(all, &report.Run{Error: c.failed, Checkers: []report.Checker{{Checker: "memory", Found: 3}, {Checker: "init", OK: true}}})
			}
			texts, err := judgeAll(all, c.list, make([][]byte, c.results))
			if err != nil {
				t.Fatal(err)
			}
			for i, res := range all {
				if res.Checkers[0].Found != c.found || res.OK != c.ok || !res.Checkers[1].OK {
					t.Errorf("result %d: %+v, ok %v; want %d found, ok %v", i, res.Checkers, res.OK, c.found, c.ok)
				}
				if text := string(texts[i]); c.ok && !strings.Contains(text, `"ok": true`) {
					t.Errorf("the JSON result says %s", text)
				}
			}
		})
	}
}
