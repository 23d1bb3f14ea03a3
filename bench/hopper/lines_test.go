package hopper

import "testing"

// lines times a load from the L1 whose lanes read words some bytes apart.
func lines(stride int, set ...string) probe {
	return probe{gpu: "h100-pcie", set: set, in: 8192, body: fill(`
	mul.wide.u32 %a1, %t, $1;
	add.u64 %a1, %a1, %in;
	ld.global.u32 %r1, [%a1];
	`, stride) + used("%r1") + start + "ld.global.u32 %r1, [%a1];\n" + used("%r1") + stop}
}

// A sub-core needs two cycles for each line of a load. Rows of 192 bytes begin in two banks of the L1
// in turn, so that two of them are one step.
func TestLines(t *testing.T) {
	base := lines(4).run(t)[0]
	for _, c := range []struct {
		name   string
		stride int
		set    []string
		more   float64
	}{
		{"a line for each lane", 128, nil, 2 * 31},
		{"in one cycle", 128, []string{"modern.line_cycles=1"}, 31},
		{"in two banks", 192, nil, 2 * 15},
		{"banks not known", 192, []string{"modern.line_banks=false"}, 2 * 31},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := lines(c.stride, c.set...)
			if got := p.run(t)[0] - base; got != c.more {
				t.Errorf("takes %g cycles more than a load of one line, want %g", got, c.more)
			}
		})
	}
}
