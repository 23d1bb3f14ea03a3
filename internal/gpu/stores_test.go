package gpu_test

import (
	"fmt"
	"testing"
)

// storePTX stores a word in each lane, some bytes apart, and waits until all are acknowledged.
const storePTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 step)
{
 .reg .b64 %rd<3>;
 .reg .b32 %r<3>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [step];
 mov.u32 %r2, %tid.x;
 mul.wide.u32 %rd2, %r1, %r2;
 add.u64 %rd1, %rd1, %rd2;
 st.global.u32 [%rd1], %r2;
 membar.gl;
 exit;
}
`

// With modern.store_lines a warp's store is a packet for each line and has one answer for it, otherwise for
// each sector.
func TestStoreLines(t *testing.T) {
	for _, c := range []struct {
		name                 string
		step, sectors, lines uint64
		set                  []string
	}{
		{"a line", 4, 4, 1, nil},
		{"half of the words of two lines", 8, 8, 2, nil},
		{"a word of each sector", 32, 32, 8, nil},
		{"a word of each line", 128, 32, 32, nil},
		{"a line in several slices", 4, 4, 4, []string{"partition.indexing=consecutive", "partition.mapping=dramid@6;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for set, want := range map[string]uint64{"true": c.lines, "false": c.sectors} {
				m := newMicro(t, "h100-pcie", append([]string{"modern.store_lines=" + set}, c.set...)...).zeros("out", 2048)
				m.files["micro.ptx"] = []byte(storePTX)
				m.launch("store", 1, 32, fmt.Sprintf(`{ buffer = "out" }, { u32 = %d }`, c.step))
				n := m.run()[0].Memory.Network
				if n.RequestPackets != want || n.ReplyPackets != want {
					t.Errorf("modern.store_lines=%s: %d packets and %d answers, want %d", set, n.RequestPackets, n.ReplyPackets, want)
				}
			}
		})
	}
}
