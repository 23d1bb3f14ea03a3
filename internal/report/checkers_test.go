package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checked is a run of two instructions whose first one waits too little.
func checked() *Run {
	a := Instruction{File: "a/k.sass", Line: 7, PC: 1, Text: "FADD R1, R2, R3", Control: "[B------:R-:W-:-:S01]"}
	b := Instruction{File: "a/k.sass", Line: 8, PC: 2, Text: "FFMA R5, R1, R1, R1", Control: "[B------:R-:W-:-:S05]"}
	fixA, fixB := a, b
	fixA.Control, fixB.Control = "[B------:R-:W0:-:S02]", "[B0-----:R-:W-:-:S05]"
	r := timedSample()
	r.Kernels = r.Kernels[:1]
	line := func(i Instruction, issues, cycles uint64) Line {
		return Line{File: i.File, Line: i.Line, PC: i.PC, Text: i.Text, Control: i.Control, Issues: issues, WarpCycles: cycles,
			Stalls: map[string]uint64{"selected": issues, "wait": cycles - issues}}
	}
	r.Kernels[0].Lines = []Line{line(a, 10, 400), line(b, 20, 9600)}
	r.Checkers = []Checker{{Checker: "hazards", NotWatched: []int{1}, Hazards: []Hazard{
		{Kind: "read_after_write", Kernel: "first", Block: 3, Warp: 1, Lane: 16, Instruction: b, Producer: a, Register: "R1", Short: 3, Times: 1200,
			Fixes: []Instruction{fixA, fixB}},
		{Kind: "write_after_write", Kernel: "first", Launch: 2, Instruction: a, Producer: b, Register: "P0", Times: 1, Fixes: []Instruction{}},
	}}}
	r.OK = false
	return r
}

// text returns the part of a report from a line on that begins so.
func text(t *testing.T, r *Run, begin string) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(b.String(), "\n"+begin)
	if !ok {
		t.Fatalf("no line begins with %q in:\n%s", begin, b.String())
	}
	return begin + after
}

// A short program with control codes is printed whole, in its order, and what
// checkers found after it.
func TestCheckersText(t *testing.T) {
	want := `line      instruction                                 issues  warp cycles   share  waiting for
k.sass:7  [B------:R-:W-:-:S01]  FADD R1, R2, R3          10          400   4.0 %  wait 98 %
k.sass:8  [B------:R-:W-:-:S05]  FFMA R5, R1, R1, R1      20        9,600  96.0 %  wait 100 %

--check hazards: 2 hazards

register              instruction                       after                          first at                               too early by    times  control code that fixes it
R1 read after write   k.sass:8     FFMA R5, R1, R1, R1  k.sass:7  FADD R1, R2, R3      first launch 0 block 3 warp 1 lane 16  up to 3 cycles  1,200  k.sass:7 [B------:R-:W0:-:S02]
                                                                                                                                                     k.sass:8 [B0-----:R-:W-:-:S05]
P0 write after write  k.sass:7     FADD R1, R2, R3      k.sass:8  FFMA R5, R1, R1, R1  first launch 2 block 0 warp 0 lane 0   not waited for      1  other instructions in between
1 launch was not checked: guarded by scoreboards, not control bits

done in 2.0 ms, 2.0 million cycles and 600.0 thousand warp instructions a second; the job has no checks; 2 hazards FOUND
`
	if d := cmp.Diff(want, text(t, checked(), "line ")); d != "" {
		t.Error(d)
	}
}

func TestCheckersSilent(t *testing.T) {
	r := checked()
	r.Checkers = []Checker{{Checker: "hazards", OK: true}}
	want := "--check hazards: nothing found\n\ndone in 2.0 ms, 2.0 million cycles and 600.0 thousand warp instructions a second; the job has no checks\n"
	if d := cmp.Diff(want, text(t, r, "--check")); d != "" {
		t.Error(d)
	}
}

// A long program shows its hottest lines only, and a long list its beginning.
func TestCheckersLong(t *testing.T) {
	r := checked()
	lines, c := &r.Kernels[0].Lines, &r.Checkers[0]
	for i := len(*lines); i <= mostProgram; i++ {
		l := (*lines)[0]
		l.PC, l.Line = i+1, i+7
		*lines = append(*lines, l)
	}
	for i := len(c.Hazards); i < mostHazards+1234; i++ {
		h := c.Hazards[0]
		h.Register = fmt.Sprintf("R%d", i)
		c.Hazards = append(c.Hazards, h)
	}
	c.LeftOut = 5
	got := text(t, r, "hottest lines")
	for _, want := range []string{
		"k.sass:8       [B------:R-:W-:-:S05]  FFMA R5, R1, R1, R1      20  96.0 %  wait 100 %\n",
		"\nR19 read", "\nand 1,234 more; --json has them all\nothers occurred 5 times but were not kept; fix these first\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "R20 read") {
		t.Error("too many hazards are shown")
	}
}
