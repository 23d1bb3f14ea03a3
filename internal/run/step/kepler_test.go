package step_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

const educational = `        TID   R1
        SHL   R2, R1, R63, 2
        ISETP.LT P1, R1, R2 rd=57
loop:   ADD   R3, R3, R63, 1
        STR   [R2 + 0x100], R3
        LDR   R4, [R2 + 0x100]
        ADD   R5, R4, R1
        EXIT
`

// walkKepler runs a program on one warp with commands.
func walkKepler(t *testing.T, text, script string) (string, *kepler.Core, error) {
	t.Helper()
	prog, err := kasm.Assemble("e.kasm", text, kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := step.New(context.Background(), strings.NewReader(script), &out, false)
	r, err := s.RunKepler(func() (*krun.Run, error) {
		k := kepler.New(kepler.Config{})
		r := &krun.Run{Name: "e.kasm", Core: k, Programs: []*kasm.Program{prog}, Limit: 100_000}
		return r, errors.Join(k.Load(prog.Words, 0), k.Start(0, 0, ^uint32(0)))
	})
	return out.String(), r.Core, err
}

// TestKeplerBack walks forward and back and compares what is printed, and the
// end with that of a run at once.
func TestKeplerBack(t *testing.T) {
	plain, want, err := walkKepler(t, educational, "run\n")
	if err != nil || !want.Done() {
		t.Fatalf("%v\n%s", err, plain)
	}
	end := want.Cycle()
	const look = "warp 0.0; where; warps; regs; regs 5; mem 0x100 8; queues; caches\n"
	n := strings.Count(look, ";") + 1
	for at := 1; at < int(end); at += 9 {
		out, k, _ := walkKepler(t, educational, fmt.Sprintf("until cycle %d\n%sback 1\nstep\n%srun\nback %d\n%srun\n", at, look, look, int(end)-at, look))
		a := answers(out)
		for i := range n {
			first, second, third := a[1+i], a[1+n+2+i], a[1+2*n+4+i]
			if first != second || first != third {
				t.Fatalf("cycle %d, command %d:\n%s\nthen\n%s\nthen\n%s", at, i, first, second, third)
			}
		}
		if k.Cycle() != end || k.Stats() != want.Stats() || k.Register(0, 5) != want.Register(0, 5) {
			t.Fatalf("walked over cycle %d, the run ends otherwise", at)
		}
	}
	for l, v := range want.Register(0, 5) {
		if v != uint32(l+1) {
			t.Errorf("lane %d has %d", l, v)
		}
	}
}

// TestKeplerPlaces stops at instructions and lines, and looks.
func TestKeplerPlaces(t *testing.T) {
	out, _, err := walkKepler(t, educational, "until pc 3\nuntil line 6\nstepi 2 0.0\nuntil block 1\nuntil pc x\nuntil line 99\nwarps 1\nregs 0.0 R64\nregs 0.30\nmem 2\nmem x\nmem 0 9999\nstep 40\nwarp 0.0\nrun\nmem 0x100 3; regs R1 R5 P0\n")
	if err != nil {
		t.Fatal(err)
	}
	a := answers(out)
	for i, want := range []string{
		"warp 0.0 has reached pc 3 ADD R3, R3, R63, 1 (e.kasm:4)", "warp 0.0 has reached pc 5 LDR R4, [R2 + 256] (e.kasm:6)",
		"warp 0.0 has selected pc 6 ADD R5, R4, R1 (e.kasm:7)",
		"error: this core has warps, but no blocks", "error: \"x\" is not an instruction", "error: no instruction on line 99", "error: no SM 1; the only SM is 0",
		"error: unknown register \"R64\"", "error: an SM has warp slots 0 to 23, not 30", "error: 0x2 is not a word", "error: \"x\" is not an address", "error: 9999 values exceed",
		"cycle ", "warp 0.0: ", "the run has ended", "  0x100: 00000001 00000001 00000001", "R5  .b32   0-31: 0x00000001 to 0x00000020 by 1",
	} {
		if !strings.Contains(a[i], want) {
			t.Errorf("answer %d is %q, want %q", i, a[i], want)
		}
	}
}

// TestKeplerLoop leaves a program that never ends.
func TestKeplerLoop(t *testing.T) {
	out, k, err := walkKepler(t, "        ADD R1, R2, R63, 1\nagain:  BRA again\n", "until cycle 400\nback 100\nwarp 0.0; where\nquit\n")
	if !errors.Is(err, context.Canceled) || k == nil {
		t.Errorf("got %v", err)
	}
	if a := answers(out); cycle(t, a[1]) != "300" || !strings.Contains(a[3], "warp 0.0: ready, next pc ") {
		t.Errorf("got\n%s", out)
	}
}
