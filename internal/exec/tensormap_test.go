package exec

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTensorMapBytes reads random bytes as a map: what Check accepts is encoded to the same bytes again.
func TestTensorMapBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	good := TensorMap{Address: 64, Type: TensorF16, Rank: 3, Dims: [5]uint64{64, 4, 1 << 32, 1, 1}, Strides: [5]uint64{2, 128, 512}, Box: [5]uint32{64, 2, 8}, Steps: [5]uint32{1, 1, 1, 1, 1}}
	var base [TensorMapBytes]byte
	good.Encode(&base)
	accepted := 0
	for range 20000 {
		raw := base
		for range rnd.IntN(4) {
			raw[rnd.IntN(96)] = byte(rnd.Uint32())
		}
		var m TensorMap
		if m.Decode(&raw) != nil || m.Check() != nil {
			continue
		}
		accepted++
		n := 0
		m.Rows([5]int64{}, [3]int64{}, func(r *TensorRow) bool {
			n += r.N * m.Type.Bytes()
			return r.Lo <= r.Hi && r.Hi <= r.N
		})
		if n != m.BoxBytes() {
			t.Fatalf("%+v: rows of %d bytes, want %d", m, n, m.BoxBytes())
		}
		var again [TensorMapBytes]byte
		var x TensorMap
		m.Encode(&again)
		if err := x.Decode(&again); err != nil || x != m {
			t.Fatalf("%+v becomes %+v, %v", m, x, err)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d maps are valid", accepted)
	}
}

func TestTensorMapChecks(t *testing.T) {
	for _, c := range []struct {
		edit func(m *TensorMap)
		says string
	}{
		{func(m *TensorMap) { m.Type = 13 }, "type 13"},
		{func(m *TensorMap) { m.Rank = 6 }, "rank 6"},
		{func(m *TensorMap) { m.Address = 8 }, "multiple of 16"},
		{func(m *TensorMap) { m.Swizzle = 4 }, "swizzle 4"},
		{func(m *TensorMap) { m.NaN = true }, "integers"},
		{func(m *TensorMap) { m.Dims[1] = 1<<32 + 1 }, "dimension 1"},
		{func(m *TensorMap) { m.Strides[1] = 1 << 40 }, "below 2^40"},
		{func(m *TensorMap) { m.Steps[1] = 9 }, "element stride 9"},
		{func(m *TensorMap) { m.Box[1] = 0 }, "box of 0"},
		{func(m *TensorMap) { m.Box[0] = 3 }, "row of the box has 12 bytes"},
		{func(m *TensorMap) { m.Im2col, m.Rank = true, 3; m.Box[1] = 1025 }, "1025 pixels"},
		{func(m *TensorMap) { m.Im2col, m.Rank = true, 3; m.Lower[0] = -1 << 15 }, ""},
		{func(m *TensorMap) { m.Im2col, m.Rank = true, 4; m.Lower[1] = -129 }, "want -128 to 127 in each of 2 dimensions"},
		{func(m *TensorMap) { m.Im2col, m.Rank = true, 5; m.Upper[2] = 16 }, "want -16 to 15 in each of 3 dimensions"},
		{func(*TensorMap) {}, ""},
	} {
		m := TensorMap{Type: TensorU32, Rank: 2, Dims: [5]uint64{8, 8, 8, 1, 1}, Strides: [5]uint64{4, 32, 256, 256, 256}, Box: [5]uint32{8, 8, 1}, Steps: [5]uint32{1, 1, 1, 1, 1}}
		c.edit(&m)
		switch err := m.Check(); {
		case c.says == "" && err != nil:
			t.Error(err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("got %v, want %q", err, c.says)
		}
	}
}
