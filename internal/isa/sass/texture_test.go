package sass

import (
	"math/bits"
	"testing"
)

// TestTexRegisters compares what Tex says of a texture instruction with the numbers of its registers in
// NVIDIA's words: several in a row begin at a multiple of their number, rounded up to a power of two.
// Where the words have an odd number, one register must be there.
func TestTexRegisters(t *testing.T) {
	all, odd := 0, 0
	for _, arch := range []Arch{75, 80, 86} {
		for _, p := range readPairs(t, arch) {
			in, err := decodeBody(arch, p.words, p.addr)
			if err != nil {
				continue
			}
			d, ok := in.Tex()
			if !ok {
				continue
			}
			all++
			check := func(what string, o *Operand, n int) {
				if o == nil || o.Reg == RZ || n == 0 {
					return
				}
				if o.Reg&1 != 0 {
					odd++
				}
				if align := uint8(1) << bits.Len(uint(n-1)); o.Reg%align != 0 {
					t.Errorf("%s: %s: %s has %d registers from R%d", arch, p.text, what, n, o.Reg)
				}
			}
			first, second, results := in.Find(A), in.Find(B), in.Find(Rd)
			if in.Op == OpSULD || in.Op == OpSUST {
				first = in.Find(Addr)
			}
			check("the first operand", first, len(d.First))
			if in.Op == OpSUST {
				check("the value", second, d.Channels())
				continue
			}
			check("the second operand", second, len(d.Second))
			check("the result", results, min(2, d.Channels()))
			if second != nil && second.Reg != RZ && len(d.Second) == 0 {
				t.Errorf("%s: %s: nothing is known of the second operand", arch, p.text)
			}
		}
	}
	if all < 800 || odd < 100 {
		t.Errorf("%d words, %d registers with odd numbers", all, odd)
	}
	t.Logf("%d words, %d registers with odd numbers", all, odd)
}
