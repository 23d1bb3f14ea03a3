package kepler_test

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
)

// An endless loop is detected whatever else it does; a loop that ends, however late, is
// not mistaken for one.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ends       bool
	}{
		{"jump to itself", "loop: BRA loop", false},
		{"shared memory and special functions", "loop: LDS R1, [R2]\nSTS [R2 + 4], R1\nSIN R4, R1\nISETP.EQ P1, R1, R4 rd=57\n@!P7 ADD R5, R5, R63, 1\nBRA loop", false},
		{"polling", "loop: LDR R1, [R2 + 64]\nBEQ R1, R63, loop\nEXIT", false},
		{"calls and divergence", "TID R1\nAND R2, R1, R63, 1\nloop: CALL f\nBRA loop\nf: SSY end\nBEQ R2, R63, then\nJOIN\nthen: JOIN\nend: RET", false},
		{"a long count", "MOV R1, R63, 0x7fff\nMOV R2, R63, 9\nloop: SUB R1, R1, R63, 1\nBNE R1, R63, loop\nEXIT", true},
		{"a count in shared memory", "MOV R2, R63, 0x4fff\nloop: LDS R1, [R63 + 64]\nADD R1, R1, R63, 1\nSTS [R63 + 64], R1\nBNE R1, R2, loop\nEXIT", true},
		{"a count in memory", "MOV R2, R63, 0x1fff\nloop: LDR R1, [R63 + 64]\nADD R1, R1, R63, 1\nSTR [R63 + 64], R1\nBNE R1, R2, loop\nEXIT", true},
	} {
		k := start(t, kepler.Datasheet, c.text, 0, 5)
		k.Trace(false)
		k.Watch(true)
		done := k.Run(3_000_000)
		at, period := k.Repeats()
		if done != c.ends || (period > 0) == c.ends || k.Stuck() == c.ends {
			t.Errorf("%s: done %v in cycle %d, state of cycle %d again after %d", c.name, done, k.Cycle(), at, period)
		}
		if c.ends {
			if k.Cycle() < 1<<17 {
				t.Errorf("%s ends in cycle %d: too early for the test", c.name, k.Cycle())
			}
			continue
		}
		// The state repeats once more after the same time: registers, pcs and
		// pipeline.
		was := stateText(k)
		for range period {
			k.Step()
		}
		if is := stateText(k); is != was {
			t.Errorf("%s: after another %d cycles\n%s\nwas\n%s", c.name, period, is, was)
		}
	}
}

// stateText returns the visible state of a core except for running counters.
func stateText(k *kepler.Core) string {
	s := fmt.Sprint(k.Queues())
	for w := range kepler.Warps {
		v := k.View(w)
		v.Issued = 0
		s += fmt.Sprintf("\n%+v", v)
		for r := range 64 {
			s += fmt.Sprint(k.Register(w, r))
		}
	}
	return s
}
