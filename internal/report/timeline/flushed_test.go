package timeline_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/report/timeline"
)

// What is dropped on its way is marked as flushed in both formats, and nothing
// else is.
func TestFlushed(t *testing.T) {
	r := timeline.New(0)
	p := r.AddProgram(timeline.Program{Kernel: "k", Insts: []string{"add", "sub"}, Places: []string{"", ""}})
	r.Add(timeline.Inst{At: [timeline.MaxStages]uint64{5, 6, 7, 8, 9, 10, 11}, Program: p, Index: 0})
	r.Add(timeline.Inst{At: [timeline.MaxStages]uint64{6, 7, 8, 8, 8, 8, 8}, Program: p, Index: 1, Flushed: true})
	var kanata, perfetto bytes.Buffer
	if err := r.WriteKanata(&kanata); err != nil {
		t.Fatal(err)
	}
	if err := r.WritePerfetto(&perfetto); err != nil {
		t.Fatal(err)
	}
	if s := kanata.String(); !strings.Contains(s, "\nR\t1\t0\t1\n") || !strings.Contains(s, "\nR\t0\t1\t0\n") {
		t.Errorf("got\n%s", s)
	}
	if n := strings.Count(perfetto.String(), "flushed"); n != 1 {
		t.Errorf("%d slices are marked, want 1", n)
	}
}
