package check_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// TestPlaceOf: a line of a header gives way to the line into which it was inlined.
func TestPlaceOf(t *testing.T) {
	const header = "/home/me/.cache/heddle/sdk-1a2b/include/cooperative_groups.h"
	for _, c := range []struct {
		name string
		at   exec.Where
		want check.Place
	}{
		{"the program's line", exec.Where{SrcFile: "a.cu", SrcLine: 3, Kernel: "_Z1kPf", PC: 7}, check.Place{File: "a.cu", Line: 3, Function: "k", PC: 7}},
		{"a header's, inlined", exec.Where{SrcFile: header, SrcLine: 166, Inlined: "C:/a.cu:9", Kernel: "k"}, check.Place{File: "C:/a.cu", Line: 9, Function: "k"}},
		{"a header's, inlined into a header", exec.Where{SrcFile: header, SrcLine: 166, Inlined: header + ":9", Kernel: "k"}, check.Place{File: header, Line: 166, Function: "k", Library: true}},
		{"a header's", exec.Where{SrcFile: header, SrcLine: 166, Kernel: "k", Function: "f"}, check.Place{File: header, Line: 166, Function: "f", Library: true}},
		{"made of several lines", exec.Where{Near: "a.cu:8", Kernel: "k", File: "a.ptx", Pos: isa.Pos{Line: 70}}, check.Place{File: "a.cu", Line: 8, Function: "k"}},
		{"no line at all", exec.Where{Kernel: "k", File: "a.ptx", Pos: isa.Pos{Line: 70}}, check.Place{File: "a.ptx", Line: 70, Function: "k"}},
		{"a header of the program's own", exec.Where{SrcFile: "include/sum.cuh", SrcLine: 2, Kernel: "k"}, check.Place{File: "include/sum.cuh", Line: 2, Function: "k"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := check.PlaceOf(c.at); got != c.want {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
}
