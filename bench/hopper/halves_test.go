package hopper

import "testing"

// chase follows pointers through a number of KiB, one in each line, and times the second round.
func chase(gpu string, kib int, set ...string) probe {
	return probe{gpu: gpu, set: set, in: kib << 10, body: fill(`
	mov.u64 %a1, %in;
	mov.u32 %r0, 0;
build:
	add.u64 %a2, %a1, 128;
	add.u32 %r0, %r0, 1;
	setp.eq.u32 %p0, %r0, $1;
	@%p0 mov.u64 %a2, %in;
	@%first st.global.u64 [%a1], %a2;
	mov.u64 %a1, %a2;
	@!%p0 bra build;
	membar.gl;
	mov.u32 %r1, 0;
twice:
	mov.u32 %r0, 0;
	mov.u64 %c0, %clock64;
next:
	ld.global.cg.u64 %a1, [%a1];
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p0, %r0, $1;
	@%p0 bra next;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p0, %r1, 2;
	@%p0 bra twice;
`+stop, kib*8)}
}

// A pointer chase sees the two halves of the L2: the near latency up to half of its size, the far one up
// to all of it, then the DRAM (gpu-benches: 265, 475 and 650 cycles on an H100 PCIe, AIK: 294, 637 to 662 and 824 to 859 on a B200, 12 of them in the
// L1, which these loads pass by; bench/h100 has the chases of that size). Here the L2 is reduced to 800 KiB and 1 MiB.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		name, gpu, sets string
		kib             int
		low, high       float64
	}{
		{"a quarter", "h100-pcie", "2", 200, 248, 270},
		{"almost a half", "h100-pcie", "2", 350, 248, 270},
		{"more than a half", "h100-pcie", "2", 450, 450, 490},
		{"more than all", "h100-pcie", "2", 1300, 620, 670},
		{"B200, almost a half", "b200", "1", 450, 279, 285},
		{"B200, more than a half", "b200", "1", 750, 625, 650},
		{"B200, more than all", "b200", "1", 2100, 812, 847},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := chase(c.gpu, c.kib, "l2.sets="+c.sets)
			if got := p.run(t)[0] / float64(8*c.kib); got < c.low || got > c.high {
				t.Errorf("a load takes %.1f cycles, want %g to %g", got, c.low, c.high)
			}
		})
	}
}
