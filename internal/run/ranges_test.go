package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
)

// TestRanges: a launch counts in its ranges and all outer ones, and ranges of one name
// within the same ones are one.
func TestRanges(t *testing.T) {
	s := NewSession(CUDA, "app", Options{})
	launch := func(ranges ...*Range) {
		s.List(report.Kernel{WarpInstructions: 10, ThreadInstructions: 320}, ranges...)
	}
	outer := s.Enter(nil, "outer")
	launch(outer)
	for range 3 {
		launch(s.Enter(outer, "inner"))
	}
	launch(s.Enter(nil, "inner"), outer)
	launch(s.Enter(nil, "step"), s.Enter(nil, "step")) // two open intervals of one name
	launch()
	s.Enter(outer, "empty")
	res, err := s.End(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var walk func(list []*report.Range, path string)
	walk = func(list []*report.Range, path string) {
		for _, r := range list {
			got = append(got, fmt.Sprintf("%s%s: %d times, %d launches, %d and %d instructions", path, r.Name, r.Times, r.Launches, r.WarpInstructions, r.ThreadInstructions))
			walk(r.Ranges, path+r.Name+"/")
		}
	}
	walk(res.Ranges, "")
	want := []string{
		"outer: 1 times, 5 launches, 50 and 1600 instructions",
		"outer/inner: 3 times, 3 launches, 30 and 960 instructions",
		"outer/empty: 1 times, 0 launches, 0 and 0 instructions",
		"inner: 1 times, 1 launches, 10 and 320 instructions",
		"step: 2 times, 1 launches, 10 and 320 instructions",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestRangeNames: whatever bytes a program gives as the name of a range or a stream, it is a
// line of printable text.
func TestRangeNames(t *testing.T) {
	long := strings.Repeat("abc", 1<<20)
	for name, want := range map[string]string{
		"plain α": "plain α", "two\nlines\r\n": "two lines  ", "tab\t\v": "tab  ", "red \x1b[31m": "red �[31m", "\xffbad\xc3": "�bad�",
		"next\u0085line\u2028": "next line ", "\u202eturned": "�turned", "zero\x00": "zero�", "": "",
		long: long[:99] + "…" + long[len(long)-99:],
	} {
		s := NewSession(CUDA, "app", Options{})
		s.Enter(nil, name)
		s.NameStream(7, name)
		if got := s.Res.Ranges[0].Name; got != want {
			t.Errorf("the range %.20q is %q, want %q", name, got, want)
		}
		if got := s.tracks["stream 7"]; got != "stream 7: "+want {
			t.Errorf("the stream %.20q is %q, want %q", name, got, want)
		}
	}
}

// TestManyRanges: a name of its own for every iteration does not fill the report.
func TestManyRanges(t *testing.T) {
	s := NewSession(CUDA, "app", Options{})
	const n = 3 * mostRanges
	outer := s.Enter(nil, "outer")
	for i := range n {
		s.List(report.Kernel{}, s.Enter(nil, fmt.Sprint("iteration ", i)))
		s.List(report.Kernel{}, s.Enter(outer, fmt.Sprint("iteration ", i)))
	}
	sum := 0
	for _, r := range s.Res.Ranges {
		sum += r.Launches
	}
	if len(s.Res.Ranges)+len(s.Res.Ranges[0].Ranges) > mostRanges+2 || sum != 2*n || s.Res.Ranges[0].Launches != n {
		t.Errorf("%d ranges and %d within one hold %d of %d launches", len(s.Res.Ranges), len(s.Res.Ranges[0].Ranges), sum, 2*n)
	}
}

// TestRangeSpans: on one track, spans lie within each other or apart.
func TestRangeSpans(t *testing.T) {
	interval := func(name string, start, end uint64) *Range {
		return &Range{of: &report.Range{Name: name}, begun: true, start: start, end: end}
	}
	got := rangeSpans([]*Range{
		{of: &report.Range{Name: "without launches"}},
		interval("inner", 10, 20), interval("outer", 0, 30), interval("overlaps outer", 25, 40), interval("later", 30, 50), interval("overlaps both", 28, 45),
	})
	want := []timeline.Span{
		{Name: "outer", Track: "ranges", Start: 0, End: 30},
		{Name: "inner", Track: "ranges", Start: 10, End: 20},
		{Name: "overlaps outer", Track: "ranges 2", Start: 25, End: 40},
		{Name: "overlaps both", Track: "ranges 3", Start: 28, End: 45},
		{Name: "later", Track: "ranges", Start: 30, End: 50},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v; want %+v", got, want)
	}
}
