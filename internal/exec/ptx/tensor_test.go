package ptx_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
)

// boxCase is a tensor and a box of it.
type boxCase struct {
	m       exec.TensorMap
	at      [5]int64
	offsets [3]int64
	bytes   int // of the tensor
}

// randomBox makes a valid map and coordinates, many of them outside of the tensor.
func randomBox(rnd *rand.Rand, im2col bool) (c boxCase) {
	m := &c.m
	m.Type = exec.TensorType(rnd.IntN(13))
	size := m.Type.Bytes()
	m.Rank = 1 + rnd.IntN(5)
	if im2col {
		m.Rank, m.Im2col = 3+rnd.IntN(3), true
	}
	m.NaN = m.Type.Float() && rnd.IntN(2) == 0
	if m.Swizzle = uint8(rnd.IntN(4)); m.Swizzle == 3 {
		m.Atom = uint8(rnd.IntN(2))
	}
	if m.Swizzle > 0 {
		m.Box[0] = uint32(m.Width() / size)
	} else {
		m.Box[0] = uint32(16 * (1 + rnd.IntN(12)) / size)
	}
	m.Strides[0] = uint64(size)
	room := 8192 / (int(m.Box[0]) * size)
	for i := range 5 {
		m.Steps[i] = 1
		m.Dims[i] = 1
		if i >= m.Rank {
			m.Box[i] = uint32(rnd.IntN(2))
			continue
		}
		m.Dims[i] = uint64(1 + rnd.IntN(9))
		m.Steps[i] = uint32(1 + rnd.IntN(3))
		if i == 0 {
			m.Dims[0] = uint64(1 + rnd.IntN(2*int(m.Box[0])))
			c.at[0] = int64(rnd.IntN(2*int(m.Box[0])+int(m.Dims[0]))) - int64(m.Box[0])
			continue
		}
		least := (m.Strides[i-1]*m.Dims[i-1] + 15) / 16 * 16
		m.Strides[i] = least + 16*uint64(rnd.IntN(3))
		if !im2col {
			m.Box[i] = uint32(1 + rnd.IntN(max(1, min(room, 12))))
			room /= int(m.Box[i])
		}
		c.at[i] = int64(rnd.IntN(int(m.Dims[i])+6)) - 3
	}
	c.bytes = int(m.Strides[m.Rank-1] * m.Dims[m.Rank-1])
	if im2col {
		m.Box[1] = uint32(1 + rnd.IntN(max(1, min(room, 60))))
		for d := range m.Rank - 2 {
			m.Lower[d] = int16(rnd.IntN(5) - 2)
			m.Upper[d] = int16(rnd.IntN(5) - 2)
			if int64(m.Dims[1+d])-1+int64(m.Upper[d]) < int64(m.Lower[d]) {
				m.Upper[d] = m.Lower[d]
			}
			span := int64(m.Dims[1+d]) + int64(m.Upper[d]) - int64(m.Lower[d])
			c.at[1+d] = int64(m.Lower[d]) + rnd.Int64N(span)
			c.offsets[d] = int64(rnd.IntN(4))
		}
		c.at[m.Rank-1] = int64(rnd.IntN(int(m.Dims[m.Rank-1])))
	}
	return c
}

// elements calls f for all elements of the box in the order of the image: where they are in the tensor,
// -1 for outside.
func (c *boxCase) elements(f func(n, at int)) {
	m := &c.m
	place := func(x [5]int64) int {
		at := int64(0)
		for d := range m.Rank {
			if x[d] < 0 || x[d] >= int64(m.Dims[d]) {
				return -1
			}
			at += x[d] * int64(m.Strides[d])
		}
		return int(at)
	}
	n := 0
	if m.Im2col {
		// The pixels of the batch's bounding boxes, as a list, from the first one on.
		var list [][5]int64
		lo, hi, step := [3]int64{}, [3]int64{}, [3]int64{1, 1, 1}
		for d := range m.Rank - 2 {
			lo[d], hi[d], step[d] = int64(m.Lower[d]), int64(m.Dims[1+d])-1+int64(m.Upper[d]), int64(m.Steps[1+d])
		}
		first := true
		for img := c.at[m.Rank-1]; img < int64(m.Dims[m.Rank-1])+80; img++ {
			start := lo
			for d := range m.Rank - 2 {
				if first {
					start[d] = c.at[1+d]
				}
			}
			for z := start[2]; z <= hi[2]; z += step[2] {
				for y := start[1]; y <= hi[1]; y += step[1] {
					for x := start[0]; x <= hi[0]; x += step[0] {
						p := [5]int64{}
						q := [3]int64{x, y, z}
						for d := range m.Rank - 2 {
							p[1+d] = q[d] + c.offsets[d]
						}
						p[m.Rank-1] = img
						list = append(list, p)
					}
					start[0] = lo[0]
				}
				start[1] = lo[1]
			}
			first = false
			if len(list) > 2000 {
				break
			}
		}
		for p := range int(m.Box[1]) {
			x := list[p]
			for i := range int(m.Box[0]) {
				x[0] = c.at[0] + int64(i)
				f(n, place(x))
				n++
			}
		}
		return
	}
	var loop func(d int, x [5]int64)
	loop = func(d int, x [5]int64) {
		if d < 0 {
			f(n, place(x))
			n++
			return
		}
		step := int64(m.Steps[d])
		if d == 0 {
			step = 1
		}
		for i := int64(0); i < int64(m.Box[d]); i += step {
			y := x
			y[d] += i
			loop(d-1, y)
		}
	}
	loop(m.Rank-1, c.at)
}

// place is the offset in shared memory of a byte of the image: 16 bytes of a row of 128 change places
// with others, by the number of the row (CUDA programming guide, swizzles), or 32.
func (c *boxCase) place(a int) int {
	if c.m.Atom == 1 {
		row, chunk := a/128, a/32%4
		return row*128 + (chunk^row%4)*32 + a%32
	}
	row, chunk := a/128, a/16%8
	return row*128 + (chunk^row%[4]int{1, 2, 4, 8}[c.m.Swizzle])*16 + a%16
}

// unpacked is the map with elements of whole bytes.
func (c *boxCase) unpacked() *exec.TensorMap {
	m := c.m
	if err := m.Unpack(); err != nil {
		panic(err)
	}
	return &m
}

// converted is what a load makes of an element.
func converted(t exec.TensorType, v []byte) []byte {
	out := bytes.Clone(v)
	if t < exec.TensorF32FTZ {
		return out
	}
	x := math.Float32frombits(le.Uint32(v))
	switch {
	case t != exec.TensorTF32 && le.Uint32(v)&0x7f800000 == 0:
		x = float32(math.Copysign(0, float64(x)))
		le.PutUint32(out, math.Float32bits(x))
	}
	if b := le.Uint32(out); t != exec.TensorF32FTZ && b&0x7f800000 != 0x7f800000 { // infinities and NaN stay
		bits := formats["tf32"].round(formats["f32"].decode(uint64(b&0x7fffffff)), "rn", 0)
		le.PutUint32(out, uint32(bits)<<13|b&0x80000000)
	}
	return out
}

const boxDecls = ".reg .b32 %r<12>;\n.reg .b16 %h<4>;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n"

// run executes a copy: op and the operands before and after the map and the coordinates. The tensor lies
// at base, shared memory begins as image, and ends in the second result.
func (c *boxCase) run(t *testing.T, inst string, store bool, tensor, image []byte) (after, shared []byte) {
	t.Helper()
	raw := new([exec.TensorMapBytes]byte)
	c.m.Encode(raw)
	coords := make([]byte, 32)
	for i := range 5 {
		le.PutUint32(coords[4*i:], uint32(int32(c.at[i])))
	}
	for i := range 3 {
		le.PutUint16(coords[20+2*i:], uint16(c.offsets[i]))
	}
	var list []string
	for i := range c.m.Rank {
		list = append(list, fmt.Sprintf("%%r%d", i))
	}
	inst = strings.ReplaceAll(inst, "MAP", "[%in0, {"+strings.Join(list, ", ")+"}]")
	inst = strings.ReplaceAll(inst, "OFFSETS", "{"+strings.Join([]string{"%h0", "%h1", "%h2"}[:max(0, c.m.Rank-2)], ", ")+"}")
	body := `
	mov.u64 %a0, %out;
	setp.ne.u32 %p0, %t, 0;
	mov.u32 %r6, 0; mul.lo.u32 %r7, %t, 16; mov.u32 %r8, s; add.u32 %r8, %r8, %r7; cvt.u64.u32 %a1, %r7; add.u64 %a1, %a1, %in1;
fill:
	ld.global.v2.b64 {%a2, %a3}, [%a1]; st.shared.v2.b64 [%r8], {%a2, %a3};
	add.u64 %a1, %a1, 512; add.u32 %r8, %r8, 512; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 32; @%p1 bra fill;
	bar.sync 0;
	@%p0 bra copied;
	tensormap.replace.tile.global_address.global.b1024.b64 [%in0], %a0;
	fence.proxy.tensormap::generic.release.gpu;
	ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in2]; ld.global.u32 %r4, [%in2+16];
	ld.global.u16 %h0, [%in2+20]; ld.global.u16 %h1, [%in2+22]; ld.global.u16 %h2, [%in2+24];
	mbarrier.init.shared.b64 [bar], 1;
` + fmt.Sprintf("mbarrier.arrive.expect_tx.shared.b64 _, [bar], %d;\n", map[bool]int{false: c.unpacked().BoxBytes()}[store]) + inst + `
wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra wait;
copied:
	bar.sync 0;
	mov.u32 %r6, 0; mov.u32 %r8, s; add.u32 %r8, %r8, %r7; cvt.u64.u32 %a1, %r7; add.u64 %a1, %a1, %in1;
save:
	ld.shared.v2.b64 {%a2, %a3}, [%r8]; st.global.v2.b64 [%a1], {%a2, %a3};
	add.u64 %a1, %a1, 512; add.u32 %r8, %r8, 512; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 32; @%p1 bra save;
	bar.sync 0;
	@%p0 bra end;
	// The tensor comes from in3, and the results go to out: first the tensor, then the image.
end:`
	n := (len(tensor) + 15) / 16 * 16
	data := append(bytes.Clone(tensor), make([]byte, n-len(tensor))...)
	load := fmt.Sprintf(`
	mov.u32 %%r6, %%t;
load: setp.ge.u32 %%p1, %%r6, %[1]d; @%%p1 bra loaded;
	mul.wide.u32 %%a1, %%r6, 16; add.u64 %%a2, %%a1, %%in3; ld.global.v2.b64 {%%a2, %%a3}, [%%a2]; add.u64 %%a1, %%a1, %%out; st.global.v2.b64 [%%a1], {%%a2, %%a3};
	add.u32 %%r6, %%r6, 32; bra load;
loaded: bar.sync 0;
`, n/16)
	finish := fmt.Sprintf(`
	bar.sync 0; mov.u32 %%r6, %%t;
give: setp.ge.u32 %%p1, %%r6, 1024; @%%p1 bra given;
	mul.wide.u32 %%a1, %%r6, 16; add.u64 %%a2, %%a1, %%in1; ld.global.v2.b64 {%%a2, %%a3}, [%%a2]; add.u64 %%a1, %%a1, %%out; st.global.v2.b64 [%%a1+%[1]d], {%%a2, %%a3};
	add.u32 %%r6, %%r6, 32; bra give;
given:`, n)
	got := runBody(t, bodyOpts{version: "8.3", target: "sm_90a"}, boxDecls, load+body+finish, [][]byte{raw[:], image, coords, data}, n+16384)
	return got[:len(tensor)], got[n:]
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// TestTensorLoads copies random boxes of random tensors, tiled and im2col, into shared memory.
func TestTensorLoads(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := range alltests.Count(300, 5000) {
		c := randomBox(rnd, n%3 == 0)
		tensor, image := randomBytes(rnd, c.bytes), randomBytes(rnd, 16384)
		for i := 3; i < len(tensor) && n%2 == 0; i += 4 * (1 + rnd.IntN(3)) { // more subnormal numbers
			tensor[i], tensor[i-1] = 0, 0
		}
		mode, offsets := "", ""
		if c.m.Im2col {
			mode, offsets = ".im2col", ", OFFSETS"
		} else if n%2 == 0 {
			mode = ".tile"
		}
		inst := fmt.Sprintf("cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes [s], MAP, [bar]%s;", c.m.Rank, mode, offsets)
		_, shared := c.run(t, inst, false, tensor, image)
		want := bytes.Clone(image)
		size := c.m.Type.Bytes()
		c.elements(func(k, at int) {
			v := make([]byte, size)
			switch {
			case at >= 0:
				v = converted(c.m.Type, tensor[at:at+size])
			case c.m.NaN:
				v = bytes.Repeat([]byte{0xff}, size)
				v[size-1] = 0x7f
			}
			for i, b := range v {
				want[c.place(k*size+i)] = b
			}
		})
		if !bytes.Equal(shared, want) {
			for i := range want {
				if shared[i] != want[i] {
					t.Fatalf("case %d, %+v at %v: byte %d is %#x, want %#x", n, c.m, c.at, i, shared[i], want[i])
				}
			}
		}
	}
}

// TestPackedTensors copies random boxes of two dimensions with elements of 4 and 6 bits into shared memory, where 16 of
// them are dense, or at the start of 16 bytes.
func TestPackedTensors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for n := range alltests.Count(60, 1000) {
		c := boxCase{m: exec.TensorMap{Type: exec.TensorU4 + exec.TensorType(n%3), Rank: 2, Steps: [5]uint32{1, 1, 1, 1, 1}, Dims: [5]uint64{1, 1, 1, 1, 1}, Box: [5]uint32{128, uint32(1 + rnd.IntN(9)), 1, 1, 1}}}
		m := &c.m
		width, spread := 4, m.Type != exec.TensorU4
		if m.Type == exec.TensorU6Spread {
			width = 6
		}
		m.Dims[0], m.Dims[1] = uint64(128*(1+rnd.IntN(3))), uint64(1+rnd.IntN(12))
		c.at[0], c.at[1] = int64(16*rnd.IntN(20)-32), int64(rnd.IntN(16)-3)
		if !spread {
			m.Dims[0], m.Box[0] = uint64(2*(1+rnd.IntN(200))), uint32(32*(1+rnd.IntN(8)))
			c.at[0] = int64(2*rnd.IntN(200) - 40)
		}
		if rnd.IntN(2) == 0 {
			m.Swizzle = 3
			if !spread {
				m.Box[0] = 256
			}
		}
		m.Strides[1] = (m.Dims[0]*uint64(width)/8+31)/32*32 + 32*uint64(rnd.IntN(2))
		tensor, image := randomBytes(rnd, int(m.Strides[1]*m.Dims[1])), randomBytes(rnd, 16384)
		_, shared := c.run(t, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], MAP, [bar];", false, tensor, image)
		want := bytes.Clone(image)
		copied := make([]byte, c.unpacked().BoxBytes())
		set := func(b []byte, bit int, v byte) { b[bit/8] |= v << (bit % 8) }
		for y := range int(m.Box[1]) {
			for x := range int(m.Box[0]) {
				gx, gy := int(c.at[0])+x, int(c.at[1])+y
				at := (y*int(m.Box[0]) + x) * width
				if spread {
					at = (y*int(m.Box[0])+x)/16*128 + x%16*width
				}
				for k := range width {
					if gx >= 0 && gy >= 0 && gx < int(m.Dims[0]) && gy < int(m.Dims[1]) {
						bit := gy*int(m.Strides[1])*8 + gx*width + k
						set(copied, at+k, tensor[bit/8]>>(bit%8)&1)
					}
				}
			}
		}
		for i, b := range copied {
			want[c.place(i)] = b
		}
		if !bytes.Equal(shared, want) {
			t.Fatalf("case %d, %+v at %v: another box", n, c.m, c.at)
		}
	}
}

// TestPackedRefusals: what packed types do not permit.
func TestPackedRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(m *exec.TensorMap)
		says string
	}{
		{"odd", func(m *exec.TensorMap) { m.Type, m.Dims[0] = exec.TensorU4, 129 }, "want even numbers"},
		{"short box", func(m *exec.TensorMap) { m.Box[0] = 64 }, "want a multiple of 128, and 128"},
		{"address", func(m *exec.TensorMap) { m.Address = 16 }, "not a multiple of 32"},
		{"stride", func(m *exec.TensorMap) { m.Strides[1] = 80 }, "want a multiple of 32"},
		{"NaN", func(m *exec.TensorMap) { m.NaN = true }, "integers"},
		{"none", func(*exec.TensorMap) {}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := exec.TensorMap{Type: exec.TensorU6Spread, Rank: 2, Steps: [5]uint32{1, 1}, Dims: [5]uint64{128, 4}, Strides: [5]uint64{0, 96}, Box: [5]uint32{128, 4}}
			c.edit(&m)
			err := m.Unpack()
			if err == nil {
				err = m.Check()
			}
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestTensorStores writes random boxes, and reduces into tensors.
func TestTensorStores(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for n := range alltests.Count(300, 3000) {
		c := randomBox(rnd, n%4 == 0)
		op := []string{"", "add", "min", "max", "inc", "dec", "and", "or", "xor"}[rnd.IntN(9)]
		types := []exec.TensorType{exec.TensorU32, exec.TensorS32, exec.TensorU64, exec.TensorS64}
		if op == "inc" || op == "dec" {
			types = types[:1]
		}
		if op == "add" {
			types = append(types, exec.TensorF16, exec.TensorBF16, exec.TensorF32)
		}
		if op != "" {
			c.m.Type = types[rnd.IntN(len(types))]
			c.m.NaN = false
		}
		size := c.m.Type.Bytes()
		// The type may have changed the size of an element.
		c.m.Strides[0] = uint64(size)
		row := 16 * (1 + rnd.IntN(8))
		if c.m.Swizzle > 0 {
			row = c.m.Width()
		}
		c.m.Box[0] = uint32(row / size)
		for i := 1; i < c.m.Rank; i++ {
			c.m.Strides[i] = (c.m.Strides[i-1]*c.m.Dims[i-1] + 15) / 16 * 16
		}
		c.bytes = int(c.m.Strides[c.m.Rank-1] * c.m.Dims[c.m.Rank-1])
		if c.m.Check() != nil || c.m.BoxBytes() > 16384 || c.m.Im2col && c.offsets != [3]int64{} {
			continue
		}
		tensor, image := randomBytes(rnd, c.bytes), randomBytes(rnd, 16384)
		name, tail := "cp.async", ""
		if op != "" {
			name, tail = "cp.reduce.async", "."+op
		}
		if c.m.Im2col {
			tail += ".im2col_no_offs"
		}
		inst := fmt.Sprintf("%s.bulk.tensor.%dd.global.shared::cta%s.bulk_group MAP, [s];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;", name, c.m.Rank, tail)
		after, _ := c.run(t, inst, true, tensor, image)
		want := bytes.Clone(tensor)
		c.elements(func(k, at int) {
			if at < 0 {
				return
			}
			v := make([]byte, 8)
			for i := range size {
				v[i] = image[c.place(k*size+i)]
			}
			var old [8]byte
			copy(old[:], want[at:at+size])
			le.PutUint64(v, reduced(op, c.m.Type, le.Uint64(old[:]), le.Uint64(v)))
			copy(want[at:at+size], v)
		})
		if !bytes.Equal(after, want) {
			t.Fatalf("case %d, %s of %+v at %v differs", n, op, c.m, c.at)
		}
	}
}

// reduced is the plain meaning of a reduction.
func reduced(op string, t exec.TensorType, a, b uint64) uint64 {
	signed := t == exec.TensorS32 || t == exec.TensorS64
	x, y := int64(a), int64(b)
	if t == exec.TensorS32 {
		x, y = int64(int32(a)), int64(int32(b))
	}
	less := a < b
	if signed {
		less = x < y
	}
	switch op {
	case "add":
		switch t {
		case exec.TensorF16:
			return uint64(num.AddF16(uint16(a), uint16(b)))
		case exec.TensorBF16:
			return uint64(num.AddBF16(uint16(a), uint16(b)))
		case exec.TensorF32:
			return uint64(num.FTZF32(num.AddF32(num.FTZF32(uint32(a)), num.FTZF32(uint32(b)), num.RN)))
		}
		return a + b
	case "min":
		if less {
			return a
		}
		return b
	case "max":
		if less {
			return b
		}
		return a
	case "inc":
		if a >= b {
			return 0
		}
		return a + 1
	case "dec":
		if a == 0 || a > b {
			return b
		}
		return a - 1
	case "and":
		return a & b
	case "or":
		return a | b
	case "xor":
		return a ^ b
	}
	return b
}

// TestTensorMulticast sends a swizzled box to several blocks of a cluster.
func TestTensorMulticast(t *testing.T) {
	m := exec.TensorMap{Type: exec.TensorU16, Rank: 2, Swizzle: 2, Dims: [5]uint64{32, 8, 1, 1, 1}, Strides: [5]uint64{2, 64}, Box: [5]uint32{32, 8}, Steps: [5]uint32{1, 1, 1, 1, 1}}
	raw := new([exec.TensorMapBytes]byte)
	m.Encode(raw)
	tensor := randomBytes(rand.New(rand.NewPCG(7, 8)), 512)
	body := number(128) + `
	setp.ne.u32 %p0, %t, 0; mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p2, %r0, 2;
	@!%p0 mbarrier.init.shared.b64 [bar], 1;
	@!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
	barrier.cluster.arrive; barrier.cluster.wait;
	setp.ne.or.u32 %p1, %r0, 3, %p0;
	@%p1 bra sent;
	tensormap.replace.tile.global_address.global.b1024.b64 [%in0], %in1;
	mov.u16 %h0, 11; mov.u32 %r1, 0;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [s], [%in0, {%r1, %r1}], [bar], %h0;
sent:
	@%p2 bra met; // the mask leaves block 2 out
wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra wait;
met:
	mul.lo.u32 %r2, %t, 16; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; ld.shared.v2.b64 {%a2, %a3}, [%r3];
	mul.wide.u32 %a1, %t, 16; add.u64 %a1, %a1, %row; st.global.v2.b64 [%a1], {%a2, %a3};
	barrier.cluster.arrive; barrier.cluster.wait;`
	got := runBody(t, bodyOpts{version: "8.3", target: "sm_90a", grid: 4, cluster: exec.Dim3{X: 4, Y: 1, Z: 1}}, boxDecls, body, [][]byte{raw[:], tensor}, 4*512)
	c := boxCase{m: m}
	for b := range 4 {
		want := make([]byte, 512)
		for i := range want {
			if b != 2 {
				want[c.place(i)] = tensor[i]
			}
		}
		if !bytes.Equal(got[512*b:512*(b+1)], want) {
			t.Errorf("block %d has another box", b)
		}
	}
}

// TestTensorMaps replaces every field of a map, copies it through shared memory, and compares it with
// the encoded one.
func TestTensorMaps(t *testing.T) {
	from := exec.TensorMap{Type: exec.TensorU8, Rank: 1, Dims: [5]uint64{1, 1, 1, 1, 1}, Steps: [5]uint32{1, 1, 1, 1, 1}}
	to := exec.TensorMap{Address: 0x12340, Type: exec.TensorBF16, Rank: 4, Swizzle: 3, NaN: true, Dims: [5]uint64{64, 7, 9, 5, 3}, Strides: [5]uint64{2, 128, 1024, 1 << 33, 1 << 34}, Box: [5]uint32{64, 7, 3, 2, 5}, Steps: [5]uint32{1, 2, 3, 4, 5}}
	raw, want := new([exec.TensorMapBytes]byte), new([exec.TensorMapBytes]byte)
	from.Encode(raw)
	to.Encode(want)
	body := "mov.u32 %r0, s; mul.lo.u32 %r1, %t, 4; add.u32 %r0, %r0, %r1; mul.wide.u32 %a1, %t, 4; add.u64 %a1, %a1, %in0; ld.global.u32 %r2, [%a1]; st.shared.u32 [%r0], %r2; bar.warp.sync -1;\n" +
		"mov.u64 %a0, s; setp.ne.u32 %p0, %t, 0; @%p0 bra done;\n"
	set := func(field, typ, rest string, v uint64) {
		body += fmt.Sprintf("tensormap.replace.tile.%s.shared::cta.b1024.%s [%%a0]%s, %d;\n", field, typ, rest, v)
	}
	set("global_address", "b64", "", to.Address)
	set("rank", "b32", "", 3)
	set("elemtype", "b32", "", 10)
	set("interleave_layout", "b32", "", 0)
	set("swizzle_mode", "b32", "", 3)
	set("fill_mode", "b32", "", 1)
	for i := range 5 {
		ord := fmt.Sprintf(", %d", i)
		set("box_dim", "b32", ord, uint64(to.Box[i]))
		set("global_dim", "b32", ord, to.Dims[i])
		set("element_stride", "b32", ord, uint64(to.Steps[i]))
		if i < 4 {
			set("global_stride", "b64", ord, to.Strides[i+1])
		}
	}
	body += "done: bar.warp.sync -1;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [%a0], 128;\nfence.proxy.tensormap::generic.acquire.gpu [%out], 128;"
	got := runBody(t, bodyOpts{version: "8.3", target: "sm_90a"}, boxDecls, body, [][]byte{raw[:]}, 128)
	if !bytes.Equal(got, want[:]) {
		t.Errorf("the map is\n%x, want\n%x", got, want[:])
	}
}

// TestTensorMapRanges: a value that a map cannot hold is a fault.
func TestTensorMapRanges(t *testing.T) {
	m := exec.TensorMap{Type: exec.TensorU8, Rank: 1, Dims: [5]uint64{16, 1, 1, 1, 1}, Box: [5]uint32{16}, Steps: [5]uint32{1, 1, 1, 1, 1}}
	raw := new([exec.TensorMapBytes]byte)
	m.Encode(raw)
	for _, c := range []struct{ field, typ, args, says string }{
		{"box_dim", "b32", "0, 65540", "box_dim by 65540, but it must be 1 to 256"},
		{"box_dim", "b32", "0, 0", "box_dim by 0, but it must be 1 to 256"},
		{"box_dim", "b32", "0, 256", ""},
		{"element_stride", "b32", "0, 257", "element_stride by 257, but it must be 1 to 8"},
		{"element_stride", "b32", "0, 8", ""},
		{"global_dim", "b32", "0, 0", "global_dim by 0, but it must be 1 to 4294967295"},
		{"global_dim", "b32", "0, 0xffffffff", ""},
		{"rank", "b32", "5", "rank by 5, but it must be 0 to 4"},
		{"rank", "b32", "4", ""},
		{"global_stride", "b64", "4, 16", "dimension 4, which is not supported"},
		{"swizzle_mode", "b32", "4", "swizzle_mode by 4, but it must be 0 to 3"},
		{"elemtype", "b32", "16", "elemtype by 16, but it must be 0 to 15"},
	} {
		t.Run(c.field+" "+c.args, func(t *testing.T) {
			body := fmt.Sprintf("setp.ne.u32 %%p0, %%t, 0; @%%p0 bra end; tensormap.replace.tile.%s.global.b1024.%s [%%in0], %s;\nend:", c.field, c.typ, c.args)
			_, err := tryBody(t, bodyOpts{version: "8.3", target: "sm_90a"}, boxDecls, body, [][]byte{raw[:]}, 4)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestTensorFaults: maps and copies that are wrong.
func TestTensorFaults(t *testing.T) {
	good := exec.TensorMap{Type: exec.TensorU32, Rank: 2, Swizzle: 1, Dims: [5]uint64{8, 8, 1, 1, 1}, Strides: [5]uint64{4, 32}, Box: [5]uint32{8, 8}, Steps: [5]uint32{1, 1, 1, 1, 1}}
	const load = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%in0, {%r0, %r0}], [bar];"
	for _, c := range []struct {
		name, inst string
		edit       func(m *exec.TensorMap)
		says       string
	}{
		{"no map", strings.Replace(load, "%in0", "%in1", 1), nil, "its bytes are no tensor map"},
		{"misaligned map", strings.Replace(load, "%in0", "%in0+16", 1), nil, "must be a multiple of 64"},
		{"rank", load, func(m *exec.TensorMap) { m.Rank = 3 }, "it has 3 dimensions, the instruction 2"},
		{"mode", load, func(m *exec.TensorMap) { m.Im2col = true }, "differ in their mode"},
		{"stride", load, func(m *exec.TensorMap) { m.Strides[1] = 36 }, "stride 36 of dimension 1"},
		{"box", load, func(m *exec.TensorMap) { m.Box[1] = 257 }, "box of 257 elements"},
		{"row", load, func(m *exec.TensorMap) { m.Box[0] = 6 }, "a row of the box has 24 bytes"},
		{"wide row", load, func(m *exec.TensorMap) { m.Box[0] = 16 }, "more than the 32 of the swizzle"},
		{"narrow row", load, func(m *exec.TensorMap) { m.Swizzle = 3 }, "narrower than the swizzle"},
		{"memory", load, func(m *exec.TensorMap) { m.Address = 0x7000000000 }, "0x7000000000"},
		{"image", strings.Replace(load, "[s]", "[s+64]", 1), nil, "must be a multiple of 128"},
		{"shared memory", strings.Replace(load, "[s]", "[s+16256]", 1), func(m *exec.TensorMap) { m.Address = 0 }, "shared address"},
		{"reduction", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%in0, {%r0, %r0}], [s];", func(m *exec.TensorMap) { m.Type = exec.TensorU8; m.Box[0] = 32 }, "which have none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, raw := good, new([exec.TensorMapBytes]byte)
			if c.edit != nil {
				c.edit(&m)
			}
			m.Encode(raw)
			body := "mov.u32 %r0, 100; setp.ne.u32 %p0, %t, 0; @%p0 bra end; mbarrier.init.shared.b64 [bar], 1;\n" + c.inst + "\nend:"
			if c.name == "memory" {
				body = strings.Replace(body, "mov.u32 %r0, 100;", "mov.u32 %r0, 0;", 1)
			}
			_, err := tryBody(t, bodyOpts{version: "8.3", target: "sm_90a"}, boxDecls, body, [][]byte{raw[:], make([]byte, 128)}, 4)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
