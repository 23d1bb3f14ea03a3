package step_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	xkasm "github.com/heddle-sim/heddle/internal/exec/kasm"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/work/kcase"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// everything is the state of a core as a program can see it, and how far its
// warps have come.
type everything struct {
	cycle  uint64
	warps  [kepler.Warps]string
	regs   [kepler.Warps][kasm.Registers]xkasm.Vector
	preds  [kepler.Warps][kasm.Predicates]uint32
	shared [kepler.SharedBytes / 4]uint32
	memory map[uint32]uint32
	queues string
	counts kepler.Counters
}

func stateOf(k *kepler.Core) *everything {
	s := &everything{cycle: k.Cycle(), memory: map[uint32]uint32{}, queues: fmt.Sprint(k.Queues()), counts: *k.Counters()}
	for w := range kepler.Warps {
		s.warps[w] = fmt.Sprintf("%+v", k.View(w))
		for r := range s.regs[w] {
			s.regs[w][r] = k.Register(w, r)
		}
		for p := range s.preds[w] {
			s.preds[w][p] = k.Predicate(w, p)
		}
	}
	for i := range s.shared {
		s.shared[i] = k.Shared(i)
	}
	k.Words(func(addr, v uint32) { s.memory[addr] = v })
	return s
}

// same says what differs.
func (s *everything) same(o *everything) error {
	switch {
	case s.cycle != o.cycle:
		return fmt.Errorf("cycle %d and %d", s.cycle, o.cycle)
	case s.warps != o.warps:
		return fmt.Errorf("warps %v and %v", s.warps, o.warps)
	case s.regs != o.regs:
		return errors.New("registers differ")
	case s.preds != o.preds:
		return errors.New("predicates differ")
	case s.shared != o.shared:
		return errors.New("shared memory differs")
	case !maps.Equal(s.memory, o.memory):
		return errors.New("memory differs")
	case s.queues != o.queues:
		return fmt.Errorf("pipelines %v and %v", s.queues, o.queues)
	case s.counts != o.counts:
		return errors.New("counters differ")
	}
	return nil
}

// A scripted walk to the end and back, by cycles and by instructions, restores
// every register and every word of memory: at the start, at the end, and at
// places between. The states to come back to are those of cores that were
// stepped there and never went back.
func TestWalkRestoresEverything(t *testing.T) {
	for _, name := range []string{"test_app_matmul", "test_wireframe_cube", "test_memory_system", "test_control_flow_diverge"} {
		text, err := os.ReadFile("../../work/kcase/testdata/programs/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		c, err := kcase.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		progs, err := c.Assemble(name, func(file string) (string, error) {
			b, err := os.ReadFile("../../work/kcase/testdata/programs/" + file)
			return string(b), err
		})
		if err != nil {
			t.Fatal(err)
		}
		for level := range kepler.Datasheet + 1 {
			start := func() (*krun.Run, error) {
				k, err := c.Core(kepler.ConfigFor(level), progs)
				return &krun.Run{Name: name, Core: k, Programs: progs}, err
			}
			// walk does commands and returns the state in which they end.
			walk := func(script string) *everything {
				var out bytes.Buffer
				s := step.New(context.Background(), strings.NewReader(script), &out, false)
				r, err := s.RunKepler(start)
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %v: %v\n%s", name, level, err, out.String())
				}
				if strings.Contains(out.String(), "error:") {
					t.Fatalf("%s\n%s", script, out.String())
				}
				return stateOf(r.Core)
			}
			straight := func(cycles uint64) *everything {
				r, err := start()
				if err != nil {
					t.Fatal(err)
				}
				for range cycles {
					r.Core.Step()
				}
				return stateOf(r.Core)
			}
			r, err := start()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Do(context.Background()); err != nil {
				t.Fatal(err)
			}
			end, want := r.Core.Cycle(), stateOf(r.Core)
			for _, test := range []struct {
				script string
				want   *everything
			}{
				{fmt.Sprintf("run\nback %d\nquit\n", end), straight(0)},
				{fmt.Sprintf("run\nback %d\nrun\nquit\n", end), want},
				{fmt.Sprintf("run\nback %d\nstep %d\nback 1\nquit\n", end/2, end/4), straight(end - end/2 + end/4 - 1)},
				{fmt.Sprintf("until cycle 72\nstepi 3\nbacki 3\nback %d\nquit\n", 1), nil},
				{"run\nbacki 1\nrun\nquit\n", want},
			} {
				got := walk(test.script)
				if test.want == nil {
					test.want = straight(got.cycle)
				}
				if err := got.same(test.want); err != nil {
					t.Errorf("%s, %v: %q: %v", name, level, test.script, err)
				}
			}
		}
	}
}

// stepping is a program that draws: lane n sets word n, and every second one
// of the next row.
const stepping = `        TID   R1
        SHL   R2, R1, R63, 2
        MOV   R3, R63, 255
        STR   [R2 + 0x1000], R3
        AND   R4, R1, R63, 1
        CALL  half
        BRA   next              # what stands behind a jump is fetched before it is taken
        NOP
        NOP
        NOP
        NOP
        NOP
        NOP
        NOP
next:   NOP
again:  ADD   R5, R5, R63, 1
        BNE   R5, R6, again
        EXIT
        NOP
        NOP
        NOP
        NOP
        NOP
        NOP
half:   BEQ   R4, R63, even     # the other lanes never come back
        RET
        NOP
        NOP
        NOP
        NOP
        NOP
        NOP
even:   MOV   R7, R63, 64
        STR   [R2 + 0x1080], R7
        RET
`

// TestTeaching uses what only this core has.
func TestTeaching(t *testing.T) {
	script := strings.Join([]string{
		"changed",              // 0
		"break label again",    // 1
		"break line 34",        // 2
		"break cycle 80",       // 3
		"break",                // 4
		"run",                  // 5: cycle 80
		"changed 0.0",          // 6
		"run",                  // 7: line 34
		"warp 0.0",             // 8
		"pipeline",             // 9
		"delete 2", "delete 2", // 10, 11
		"run",                  // 12: again
		"fb 0x1000 32 2",       // 13
		"fb 0x1000 32 2 ascii", // 14
		"display changed",      // 15
		"stepi 2",              // 16
		"backi 2",              // 17
		"display", "delete",    // 18, 19
		"until label half",          // 20: never again
		"fb 0x1002 2 2", "fb 0 0 1", // 21, 22
		"break somewhere 3", "break label nowhere", "delete 7", "until label nowhere", "backi 99999", "display run", // 23…28
		"mem 0x1000 2",       // 29
		"fb 0x1000 128 2 u8", // 30: bytes of words
		"fb 0x1080 64 3 bit", // 31: 8 bytes a row, of which one is 64 where a lane has drawn
		"fb 0 1 1 u16",       // 32
	}, "\n") + "\n"
	out, _, err := walkKepler(t, stepping, script)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("%v\n%s", err, out)
	}
	a := answers(out)
	for i, want := range map[int][]string{
		0:  {"the run has not advanced yet"},
		4:  {"1: label again", "2: line 34", "3: cycle 80"},
		5:  {"break 3: cycle 80\ncycle 80: "},
		6:  {"since cycle 0\n", "R1 lanes 1-31: 00000001 to 0000001f by 1, was 00000000"},
		7:  {"break 2: warp 0.0 has reached pc 33 STR [R2 + 4224], R7 (e.kasm:34)"},
		8:  {"lanes 55555555", "divergence stack 0: pc 25, lanes ", "call 0 returns to pc 6"},
		9:  {"fetch in the previous cycle: ", "  fetched ", "  operand collectors ", "  integer queue ", "  write port 1 "},
		12: {"break 1: warp 0.0 has reached pc 15 ADD R5, R5, R63, 1 (e.kasm:16)"},
		13: {"  |" + strings.Repeat("█▀", 16) + "|"},
		14: {"  |" + strings.Repeat("@", 32) + "|\n  |" + strings.Repeat(": ", 16) + "|"},
		15: {"warp 0.0, since cycle "},
		16: {"warp 0.0, since cycle "},
		17: {"warp 0.0, since cycle "},
		20: {"the run ended before this goal: until label half"},
		21: {"error: 0x1002 is not a word"}, 22: {"error: a picture has 1 to 1024"},
		23: {"error: break needs a place"}, 24: {"error: no program has a label \"nowhere\""}, 25: {"error: no breakpoint 7"},
		26: {"error: the run has ended"}, 27: {"error: warp 0.0 has selected "}, 28: {"error: display cannot execute run at every stop"},
		29: {"0x1000: 000000ff 000000ff"},
		30: {"  |" + strings.Repeat("█   ▀   ", 16) + "|"},
		31: {"  |      █" + strings.Repeat(" ", 57) + "|\n  |      ▀" + strings.Repeat(" ", 57) + "|"},
		32: {"error: unexpected \"u16\"; the format of a picture is bit, u8 or rgb"},
	} {
		for _, w := range want {
			if i >= len(a) || !strings.Contains(a[i], w) {
				t.Errorf("answer %d has no %q:\n%s", i, w, a[min(i, len(a)-1)])
			}
		}
	}
}
