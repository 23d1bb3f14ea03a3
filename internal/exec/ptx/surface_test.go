package ptx_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec/texture"
)

// surfShape is a geometry with the sizes of a test surface.
type surfShape struct {
	geom           string
	w, h, d, layer int
}

var surfShapes = []surfShape{{"1d", 24, 1, 1, 1}, {"2d", 12, 5, 1, 1}, {"3d", 8, 3, 4, 1}, {"a1d", 16, 1, 1, 3}, {"a2d", 8, 4, 1, 3}}

// texture is the shape with texels of a format.
func (s surfShape) texture(format string, channels int) texture.Texture {
	t := texture.Texture{Format: format, Channels: channels, Width: s.w}
	switch s.geom {
	case "2d":
		t.Height = s.h
	case "3d":
		t.Height, t.Depth = s.h, s.d
	case "a1d":
		t.Layers = s.layer
	case "a2d":
		t.Height, t.Layers = s.h, s.layer
	}
	return t
}

// row gives an access's coordinates as instruction words, %x0 on.
func (s surfShape) row(x, y, z, l int) []uint32 {
	u := func(v ...int) (r []uint32) {
		for _, v := range v {
			r = append(r, uint32(int32(v)))
		}
		return r
	}
	switch s.geom {
	case "1d":
		return u(x)
	case "2d":
		return u(x, y)
	case "3d":
		return u(x, y, z, 0)
	case "a1d":
		return u(l, x)
	}
	return u(l, x, y, 0)
}

func (s surfShape) words() int {
	return map[string]int{"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4}[s.geom]
}

// limits is one past the last x (of n places), y, z and layer.
func (s surfShape) limits(n int) [4]int {
	l := [4]int{n, s.h, s.d, s.layer}
	return l
}

// points makes coordinates of which about a third leave the surface, unless
// inside is set. x comes in steps.
func (s surfShape) points(rng *rand.Rand, n, places, step int, inside bool) (in [][4]int) {
	for range n {
		var p [4]int
		for k, lim := range s.limits(places) {
			p[k] = rng.Intn(lim)
			used := map[string]string{"1d": "x", "2d": "xy", "3d": "xyz", "a1d": "xl", "a2d": "xyl"}[s.geom]
			if !strings.Contains(used, "xyzl"[k:k+1]) {
				p[k] = 0
				continue
			}
			if !inside && rng.Intn(5) == 0 {
				p[k] = []int{-1, lim, lim + 3, -100, math.MaxInt32 / 32, math.MinInt32 / 32}[rng.Intn(6)]
			}
		}
		p[0] *= step
		in = append(in, p)
	}
	return in
}

// settle applies .clamp or .zero to coordinates; false means nothing there.
// lim[0] counts steps of x.
func settle(p [4]int, lim [4]int, step int, mode string) ([4]int, bool) {
	for k := range p {
		m := 1
		if k == 0 {
			m = step
		}
		if p[k] >= 0 && p[k] < lim[k]*m {
			continue
		}
		if mode != "clamp" {
			return p, false
		}
		if p[k] < 0 && k != 3 { // layers are unsigned
			p[k] = 0
		} else {
			p[k] = (lim[k] - 1) * m
		}
	}
	return p, true
}

// TestSurfaceBytes loads and stores bytes of every geometry, width, vector and
// bounds mode.
func TestSurfaceBytes(t *testing.T) {
	rng := rand.New(rand.NewSource(11))
	for _, s := range surfShapes {
		for _, size := range []int{1, 2, 4, 8} {
			for _, vec := range []int{1, 2, 4} {
				for _, mode := range []string{"", "trap", "clamp", "zero"} {
					const bytesPerTexel = 8 // u16x4
					total := size * vec
					row := s.w * bytesPerTexel
					places := row / total
					tex := s.texture("u16", 4)
					data := make([]byte, row*s.h*s.d*s.layer)
					rng.Read(data)
					inside := mode == "" || mode == "trap"
					pts := s.points(rng, 40, places, total, inside)
					var in [][]uint32
					for _, p := range pts {
						r := s.row(p[0], p[1], p[2], p[3])
						for range 8 {
							r = append(r, rng.Uint32())
						}
						in = append(in, r)
					}
					at := func(p [4]int) int { return ((p[3]*s.d+p[2])*s.h+p[1])*row + p[0] }
					dot := ""
					if mode != "" {
						dot = "." + mode
					}
					vecDot := map[int]string{1: "", 2: ".v2", 4: ".v4"}[vec]
					regs := fmt.Sprintf(".reg .b%d %%v<4>;\n.reg .b32 %%h<2>;", max(16, size*8))
					var names, move, pack string
					for k := range vec {
						if names += fmt.Sprintf(",%%v%d", k); size == 8 {
							move += fmt.Sprintf("mov.b64 {%%y%d,%%y%d}, %%v%d;\n", 2*k, 2*k+1, k)
							pack += fmt.Sprintf("mov.b64 %%v%d, {%%x%d,%%x%d};\n", k, s.words()+2*k, s.words()+2*k+1)
						} else {
							move += fmt.Sprintf("cvt.u32.u%d %%y%d, %%v%d;\nmov.b32 %%y%d, 0;\n", max(16, 8*size), 2*k, k, 2*k+1)
							pack += fmt.Sprintf("cvt.u%d.u32 %%v%d, %%x%d;\n", max(16, 8*size), k, s.words()+2*k)
						}
					}
					for k := vec; k < 4; k++ {
						move += fmt.Sprintf("mov.b32 %%y%d, 0;\nmov.b32 %%y%d, 0;\n", 2*k, 2*k+1)
					}
					addr := "[surf, " + fold(0, s.words()) + "]"
					surf := []texBinding{{name: "surf", tex: tex, data: data}}
					name := fmt.Sprintf("%s%s.b%d%s", s.geom, vecDot, 8*size, dot)
					out, same := texProgram{decls: ".global .surfref surf;", regs: regs, nOut: 8, objects: surf,
						body: fmt.Sprintf("suld.b.%s%s.b%d%s {%s}, %s;\n%s", s.geom, vecDot, 8*size, dot, names[1:], addr, move)}.mustRun(t, in)
					if !bytes.Equal(same[0], data) {
						t.Fatalf("%s: a load changed the surface", name)
					}
					for i, p := range pts {
						p, there := settle(p, s.limits(places), total, mode)
						for k := range vec {
							var want [8]byte
							if there {
								copy(want[:size], data[at(p)+k*size:])
							}
							got := uint64(out[i][2*k]) | uint64(out[i][2*k+1])<<32
							if got != binary.LittleEndian.Uint64(want[:]) {
								t.Fatalf("suld.b.%s at %v, element %d: %#x, want bytes %x", name, pts[i], k, got, want)
							}
						}
					}
					// Stores: lanes come in order, one warp after the other.
					_, stored := texProgram{decls: ".global .surfref surf;", regs: regs, nOut: 1, objects: surf,
						body: fmt.Sprintf("%s\nsust.b.%s%s.b%d%s %s, {%s};", pack, s.geom, vecDot, 8*size, dot, addr, names[1:])}.mustRun(t, in)
					want := bytes.Clone(data)
					for i, p := range pts {
						p, there := settle(p, s.limits(places), total, mode)
						if !there {
							continue
						}
						for k := range vec {
							var w [8]byte
							binary.LittleEndian.PutUint32(w[:], in[i][s.words()+2*k])
							binary.LittleEndian.PutUint32(w[4:], in[i][s.words()+2*k+1])
							copy(want[at(p)+k*size:][:size], w[:])
						}
					}
					if !bytes.Equal(stored[0], want) {
						t.Fatalf("sust.b.%s stored other bytes than it should", name)
					}
				}
			}
		}
	}
}

// storedTexel is what one channel of a formatted store leaves in memory,
// computed with big steps in float64 and int64.
func storedTexel(format string, norm bool, typ string, word uint32) uint64 {
	size := map[string]int{"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "f16": 16, "f32": 32}[format]
	signed := format[0] == 's'
	switch {
	case format == "f32":
		return uint64(word)
	case format == "f16":
		return uint64(nearestHalf(float64(math.Float32frombits(word))))
	case norm:
		f := float64(math.Float32frombits(word))
		lo, scale := 0.0, math.Pow(2, float64(size))-1
		if signed {
			lo, scale = -1, math.Pow(2, float64(size-1))-1
		}
		if f != f {
			f = 0
		}
		f = math.Min(math.Max(f, lo), 1) * scale
		return uint64(int64(math.RoundToEven(f))) & (1<<size - 1)
	}
	v := int64(word)
	if typ == "s32" || typ == "b32" && signed {
		v = int64(int32(word))
	}
	lo, hi := int64(0), int64(1)<<size-1
	if signed {
		lo, hi = -(int64(1) << (size - 1)), int64(1)<<(size-1)-1
	}
	return uint64(min(max(v, lo), hi)) & (1<<size - 1)
}

// nearestHalf finds the half next to f by trying all of them.
func nearestHalf(f float64) uint16 {
	best, dist := uint16(0), math.Inf(1)
	for h := range uint16(0x7c00) {
		d := math.Abs(halfValue(h) - math.Abs(f))
		if d < dist || d == dist && h&1 == 0 {
			best, dist = h, d
		}
	}
	if math.Abs(f) >= 65520 {
		best = 0x7c00
	}
	if math.Signbit(f) {
		best |= 0x8000
	}
	return best
}

// TestSurfaceTexels loads and stores formatted texels.
func TestSurfaceTexels(t *testing.T) {
	rng := rand.New(rand.NewSource(12))
	for _, s := range surfShapes[:3] {
		for _, f := range []struct {
			name string
			norm bool
			typ  string
		}{{"u8", false, "u32"}, {"s8", false, "s32"}, {"u16", false, "b32"}, {"s16", false, "b32"}, {"u32", false, "u32"}, {"s32", false, "s32"},
			{"u8", true, "f32"}, {"s8", true, "f32"}, {"u16", true, "f32"}, {"s16", true, "b32"}, {"f16", false, "f32"}, {"f32", false, "f32"},
			{"u8", false, "s32"}, {"s16", false, "u32"}, {"u32", false, "s32"}, {"s32", false, "u32"}} {
			for _, vec := range []int{1, 2, 4} {
				for _, mode := range []string{"trap", "clamp", "zero"} {
					channels := []int{1, 2, 4}[rng.Intn(3)]
					tex := s.texture(f.name, channels)
					tex.ReadNormalized = f.norm
					data, vals := texelBytes(rng, f.name, f.norm, s.w*s.h*s.d*channels)
					pts := s.points(rng, 33, s.w, 1, mode == "trap")
					var in [][]uint32
					for _, p := range pts {
						r := s.row(p[0], p[1], p[2], p[3])
						for range 4 {
							w := rng.Uint32()
							if f.norm || f.name[0] == 'f' {
								w = math.Float32bits(float32(rng.NormFloat64()))
							} else if rng.Intn(2) == 0 {
								w = uint32(int32(rng.Intn(1<<18) - 1<<17))
							}
							r = append(r, w)
						}
						in = append(in, r)
					}
					vecDot := map[int]string{1: "", 2: ".v2", 4: ".v4"}[vec]
					ys, xs := "%y0,%y1,%y2,%y3"[:4*vec-1], fold(s.words(), vec)
					addr := "[%obj0, " + fold(0, s.words()) + "]"
					surf := []texBinding{{tex: tex, data: data}}
					name := fmt.Sprintf("%s%s.%s.%s on %sx%d norm=%t", s.geom, vecDot, f.typ, mode, f.name, channels, f.norm)
					out, _ := texProgram{nOut: 4, objects: surf, body: fmt.Sprintf("suld.p.%s%s.%s.%s {%s}, %s;", s.geom, vecDot, f.typ, mode, ys, addr)}.mustRun(t, in)
					texel := func(p [4]int) int { return ((p[2]*s.h+p[1])*s.w + p[0]) * channels }
					float := f.norm || f.name[0] == 'f'
					for i, p := range pts {
						p, there := settle(p, s.limits(s.w), 1, mode)
						for k := range vec {
							v := 0.0
							switch {
							case !there:
							case k < channels:
								v = vals[texel(p)+k]
							case k == 3:
								v = 1
							}
							want := uint32(int64(v))
							if float {
								want = math.Float32bits(float32(v))
							}
							if got := out[i][k]; got != want && (!float || got<<1 != 0 || want<<1 != 0) {
								t.Fatalf("suld.p.%s at %v, element %d: %#x, want %#x", name, pts[i], k, got, want)
							}
						}
					}
					_, stored := texProgram{nOut: 1, objects: surf, body: fmt.Sprintf("sust.p.%s%s.%s.%s %s, %s;", s.geom, vecDot, f.typ, mode, addr, xs)}.mustRun(t, in)
					want := bytes.Clone(data)
					size := len(data) / len(vals)
					for i, p := range pts {
						p, there := settle(p, s.limits(s.w), 1, mode)
						for k := range min(vec, channels) {
							if there {
								var b [8]byte
								binary.LittleEndian.PutUint64(b[:], storedTexel(f.name, f.norm, f.typ, in[i][s.words()+k]))
								copy(want[(texel(p)+k)*size:][:size], b[:])
							}
						}
					}
					if !bytes.Equal(stored[0], want) {
						t.Fatalf("sust.p.%s stored other texels than it should", name)
					}
				}
			}
		}
	}
}

// TestSurfaceReduce compares the sum, minimum and so on of what all threads of
// several blocks add to few texels.
func TestSurfaceReduce(t *testing.T) {
	rng := rand.New(rand.NewSource(13))
	shape := surfShapes[1]
	for _, tc := range []struct{ form, op, typ, format string }{
		{"b", "add", "u32", "u32"}, {"b", "add", "s32", "s32"}, {"b", "add", "u64", "u32"},
		{"b", "min", "u32", "u32"}, {"b", "min", "s32", "u32"}, {"b", "min", "u64", "u32"}, {"b", "min", "s64", "u32"},
		{"b", "max", "u32", "s32"}, {"b", "max", "s32", "s32"}, {"b", "max", "u64", "s32"}, {"b", "max", "s64", "s32"},
		{"b", "and", "b32", "u32"}, {"b", "or", "b32", "u32"}, {"b", "and", "b64", "u32"}, {"b", "or", "b64", "u32"},
		{"p", "add", "b32", "u32"}, {"p", "min", "b32", "u32"}, {"p", "max", "b32", "u32"}, {"p", "min", "b32", "s32"}, {"p", "max", "b32", "s32"},
		{"p", "and", "b32", "s32"}, {"p", "or", "b32", "u32"},
	} {
		for _, mode := range []string{"trap", "clamp", "zero"} {
			size := map[string]int{"32": 4, "64": 8}[tc.typ[1:]]
			tex := shape.texture(tc.format, 2)
			data := make([]byte, shape.w*shape.h*8)
			rng.Read(data)
			step := size
			if tc.form == "p" {
				step = 1
			}
			places := 4 // only the first few, so that threads meet
			if mode != "trap" {
				places = shape.w * 8 / size
				if tc.form == "p" {
					places = shape.w
				}
			}
			pts := shape.points(rng, 600, places, step, mode == "trap")
			var in [][]uint32
			for _, p := range pts {
				v := rng.Uint64() >> rng.Intn(40)
				if rng.Intn(2) == 0 {
					v = -v
				}
				in = append(in, append(shape.row(p[0], p[1], p[2], p[3]), uint32(v), uint32(v>>32)))
			}
			val := "%x2"
			if size == 8 {
				val = "%v"
			}
			// Threads beyond the input (the last block is whole) do nothing.
			body := fmt.Sprintf("setp.ge.u32 %%q, %%t, %d;\n@%%q ret;\nmov.b64 %%v, {%%x2,%%x3};\nsured.%s.%s.2d.%s.%s [%%obj0, {%%x0,%%x1}], %s;", len(in), tc.form, tc.op, tc.typ, mode, val)
			_, got := texProgram{nOut: 1, regs: ".reg .b64 %v;\n.reg .pred %q;", objects: []texBinding{{tex: tex, data: data}}, body: body}.mustRun(t, in)
			want := bytes.Clone(data)
			signed := tc.typ[0] == 's' || tc.form == "p" && tc.format[0] == 's'
			for i, p := range pts {
				p, there := settle(p, shape.limits(places), step, mode)
				if !there {
					continue
				}
				at := p[1]*shape.w*8 + p[0]
				if tc.form == "p" {
					at = (p[1]*shape.w + p[0]) * 8
				}
				v := uint64(in[i][2]) | uint64(in[i][3])<<32
				old := binary.LittleEndian.Uint64(append(bytes.Clone(want[at:at+size]), make([]byte, 8-size)...))
				if size == 4 {
					v &= math.MaxUint32
				}
				less := v < old
				if signed && size == 4 {
					less = int32(v) < int32(old)
				} else if signed {
					less = int64(v) < int64(old)
				}
				switch tc.op {
				case "add":
					old += v
				case "and":
					old &= v
				case "or":
					old |= v
				case "min":
					if less {
						old = v
					}
				case "max":
					if !less {
						old = v
					}
				}
				var b [8]byte
				binary.LittleEndian.PutUint64(b[:], old)
				copy(want[at:at+size], b[:])
			}
			if !bytes.Equal(got[0], want) {
				t.Fatalf("%+v %s: the surface differs", tc, mode)
			}
		}
	}
}

// TestSurfaceTexture writes through a surface and reads it as a texture in the
// same thread, through one object.
func TestSurfaceTexture(t *testing.T) {
	tex := texture.Texture{Format: "u8", Channels: 4, Width: 8, Height: 8}
	var in [][]uint32
	for i := range uint32(64) {
		in = append(in, []uint32{i % 8, i / 8, i * 0x01020408})
	}
	out, _ := texProgram{nOut: 4, regs: ".reg .b32 %b;", objects: []texBinding{{tex: tex, data: make([]byte, 256)}}, body: `
shl.b32 %b, %x0, 2;
sust.b.2d.b32.trap [%obj0, {%b,%x1}], %x2;
tex.2d.v4.u32.s32 {%y0,%y1,%y2,%y3}, [%obj0, {%x0,%x1}];`}.mustRun(t, in)
	for i, r := range in {
		for k := range 4 {
			if want := r[2] >> (8 * k) & 255; out[i][k] != want {
				t.Fatalf("texel %d, channel %d: %d, want %d", i, k, out[i][k], want)
			}
		}
	}
}

// TestSurfaceUnevenRows: if rows are not a multiple of an access, .clamp goes to the last
// aligned place.
func TestSurfaceUnevenRows(t *testing.T) {
	tex := texture.Texture{Format: "u8", Channels: 2, Width: 5, Height: 2}
	data := make([]byte, 20)
	for i := range data {
		data[i] = byte(i + 1)
	}
	out, _ := texProgram{nOut: 1, objects: []texBinding{{tex: tex, data: data}}, body: "suld.b.2d.b32.clamp {%y0}, [%obj0, {%x0,%x1}];"}.mustRun(t,
		[][]uint32{{0, 0}, {4, 0}, {8, 0}, {12, 1}})
	for i, want := range []uint32{0x04030201, 0x08070605, 0x08070605, 0x1211100f} {
		if out[i][0] != want {
			t.Errorf("access %d: %#x, want %#x", i, out[i][0], want)
		}
	}
}

// TestSurfaceFaults: errors are reported with their place.
func TestSurfaceFaults(t *testing.T) {
	tex := texture.Texture{Format: "u8", Channels: 4, Width: 8, Height: 4, Layers: 2}
	vol := texture.Texture{Format: "f32", Channels: 1, Width: 2, Height: 4, Depth: 2}
	for _, tc := range []struct {
		tex        texture.Texture
		body, want string
		x          []uint32
	}{
		{tex, "suld.b.2d.b32.trap {%y0}, [%obj0, {%x0,%x1}];", "byte offset x is 32; want at least 0 and below 29", []uint32{32, 0}},
		{tex, "suld.b.2d.b32 {%y0}, [%obj0, {%x0,%x1}];", "y is 4; want at least 0 and below 4", []uint32{0, 4}},
		{tex, "sust.b.2d.b32.trap [%obj0, {%x0,%x1}], %x0;", "y is -1;", []uint32{0, math.MaxUint32}},
		{tex, "sust.b.a2d.b32.trap [%obj0, {%x0,%x1,%x1,%x1}], %x0;", "layer is 2;", []uint32{2, 0}},
		{vol, "sust.p.3d.f32.trap [%obj0, {%x0,%x0,%x1,%x1}], %x0;", "z is 2;", []uint32{0, 2}},
		{vol, "sust.p.3d.f32.trap [%obj0, {%x1,%x0,%x0,%x1}], %x0;", "x is 2;", []uint32{0, 2}},
		{tex, "suld.b.2d.b32.trap {%y0}, [%obj0, {%x0,%x1}];", "misaligned suld of 4 bytes", []uint32{2, 0}},
		{tex, "suld.p.2d.f32.trap {%y0}, [%obj0, {%x0,%x1}];", "suld.p.f32 on texture object 0, whose texels are unsigned integers of 8 bits", []uint32{0, 0}},
		{vol, "sust.p.2d.u32.trap [%obj0, {%x0,%x1}], %x0;", "whose texels are floats", []uint32{0, 0}},
		{tex, "sured.p.add.2d.b32.trap [%obj0, {%x0,%x1}], %x0;", "whose texels are unsigned integers of 8 bits", []uint32{0, 0}},
		{vol, "suld.b.2d.v4.b32.clamp {%y0,%y0,%y0,%y0}, [%obj0, {%x0,%x1}];", "suld of 16 bytes on texture object 0, whose rows have 8", []uint32{0, 0}},
	} {
		_, _, err := texProgram{nOut: 1, objects: []texBinding{{tex: tc.tex, data: make([]byte, 512)}}, body: tc.body}.run(t, [][]uint32{tc.x})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.body, err, tc.want)
		}
	}
}
