package ptx_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// TestStrayReads: where they are tolerated, reads a little outside of every
// allocation give what there is, and zeros; the first of each block is told, in
// the order of blocks. Far away, in bulk, and for writes there is a fault.
func TestStrayReads(t *testing.T) {
	data := make([]byte, 60)
	for i := range data {
		data[i] = 1
	}
	for _, c := range []struct{ name, body, want, told string }{
		{"in front", "ld.global.u32 %r0, [%in0+-4];\ncvt.u64.u32 %a0, %r0;", "0", "4 bytes before"},
		{"behind", "ld.global.u64 %a0, [%in0+64];", "0", "4 bytes past the end"},
		{"across the end", "ld.global.u64 %a0, [%in0+56];", "1010101", "reaching 4 bytes past the end"},
		{"inside", "ld.global.u64 %a0, [%in0+48];", "101010101010101", ""},
		{"far away", "ld.global.u32 %r0, [%in0+0x400000];", "out-of-bounds read of 4 bytes", ""},
		{"write", "st.global.u32 [%in0+64], 1;", "out-of-bounds write of 4 bytes", ""},
		{"atomic", "atom.global.add.u32 %r0, [%in0+64], 1;", "out-of-bounds write of 4 bytes", ""},
		{"null", "mov.u64 %a0, 0;\nld.global.u32 %r0, [%a0];", "null-pointer", ""},
	} {
		for _, stepped := range []bool{false, true} {
			var told []string
			stray := func(f *exec.Fault) { told = append(told, f.What) }
			o := bodyOpts{block: 1, grid: 3, stepped: stepped, stray: stray}
			got, err := tryBody(t, o, regs, c.body+"\nst.global.u64 [%out], %a0;", [][]byte{data}, 8)
			result := ""
			if err != nil {
				result = err.Error()
			} else if x := binary.LittleEndian.Uint64(got); x < 1<<62 {
				result = fmt.Sprintf("%x", x)
			}
			if !strings.HasPrefix(result, c.want) {
				t.Errorf("%s: %q, want %q", c.name, result, c.want)
			}
			if blocks := 3; c.told != "" && (len(told) != blocks || !strings.Contains(told[0], c.told)) || c.told == "" && len(told) > 0 {
				t.Errorf("%s: told %q, want %q of %d blocks", c.name, told, c.told, blocks)
			}
		}
	}
}
