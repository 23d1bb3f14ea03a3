package cuda

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestDeviceProp: the struct of each release has the right size, and fields common
// to all releases are at the right offsets. Sizes and offsets follow from the order
// of fields and the rules of C; those of 11.0 are from driver_types.h.
func TestDeviceProp(t *testing.T) {
	b := start(t, func(o *Options) { o.GPU = "rtx-a6000" })
	for _, c := range []struct {
		release                         Release
		size, memory, sms, major, optIn int
	}{
		{90, 672, 256, 356, 328, 664},
		{91, 672, 256, 356, 328, 664},
		{92, 680, 256, 356, 328, 664},
		{100, 712, 288, 388, 360, 696},
		{102, 712, 288, 388, 360, 696},
		{110, 728, 288, 388, 360, 696},
		{118, 728, 288, 388, 360, 696},
		{120, 1032, 288, 388, 360, 696},
		{129, 1032, 288, 388, 360, 696},
		{130, 1008, 288, 384, 360, 672},
	} {
		p, err := b.DeviceProp(0, c.release)
		if err != Success || len(p) != c.size {
			t.Fatalf("%d: %d bytes, %v", c.release, len(p), err)
		}
		if name, _, _ := bytes.Cut(p, []byte{0}); string(name) != "rtx-a6000" {
			t.Errorf("%d: its name is %q", c.release, name)
		}
		if id := b.r.props.UUID(); c.release >= Release10 && !bytes.Equal(p[256:272], id[:]) {
			t.Errorf("%d: its identifier is %q", c.release, p[256:272])
		}
		le := binary.LittleEndian
		if m, s, v, o := le.Uint64(p[c.memory:]), le.Uint32(p[c.sms:]), le.Uint32(p[c.major:]), le.Uint64(p[c.optIn:]); m != b.r.Properties().Memory || s != 84 || v != 8 || o != 99<<10 {
			t.Errorf("%d: %d bytes of memory, %d SMs, compute capability %d, %d bytes of shared memory", c.release, m, s, v, o)
		}
	}
}
