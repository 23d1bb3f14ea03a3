package ptx_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// TestSequence lists blocks, warps and the sides of a branch in the order in which they
// take tickets.
func TestSequence(t *testing.T) {
	const decls = ".reg .b64 %a<2>; .reg .b32 %r<4>; .reg .pred %p0;"
	const body = `
		mov.u32 %r0, %ctaid.x;
		mad.lo.u32 %r0, %r0, 64, %t; // the thread's number
		and.b32 %r1, %t, 31;
		setp.eq.u32 %p0, %r1, 1;
		@%p0 bra TICKET;
		setp.ne.u32 %p0, %r1, 0;
		@%p0 bra DONE;
		TICKET:
		atom.global.add.u32 %r2, [%out], 1;
		mul.wide.u32 %a0, %r2, 4;
		add.u64 %a0, %a0, %out;
		st.global.u32 [%a0+4], %r0;
		DONE:
	`
	for _, c := range []struct{ order, want string }{
		{"forward", "[0 1 32 33 64 65 96 97]"},
		{"reverse", "[97 96 65 64 33 32 1 0]"},
		{"seed=3", "[96 97 64 65 0 1 32 33]"},
	} {
		t.Run(c.order, func(t *testing.T) {
			order, err := exec.ParseSequence(c.order)
			if err != nil {
				t.Fatal(err)
			}
			out := runBody(t, bodyOpts{block: 64, grid: 2, order: order}, decls, body, nil, 36)
			var got []uint32
			for i := range 8 {
				got = append(got, binary.LittleEndian.Uint32(out[4+4*i:]))
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("tickets went to %v, want %s", got, c.want)
			}
		})
	}
}
