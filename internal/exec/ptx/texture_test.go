package ptx_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// refTexture is an image for the reference: values in float64, by x, y, z,
// layer, channel. It computes with fractions of big integers where the
// executor computes with floating point.
type refTexture struct {
	size       [3]int
	channels   int
	at         func(x, y, z, layer, c int) float64
	mode       [3]string
	normalized bool
	linear     bool
	one        float64 // an absent alpha channel
}

// floorRat is the integer part of r, towards minus infinity.
func floorRat(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	_ = m // Denom is positive, so that Euclidean division is floor
	return q
}

// refIndex applies the address mode to an index of an axis of n texels; false
// is the border.
func refIndex(i *big.Int, n int, mode string) (int, bool) {
	size := big.NewInt(int64(n))
	if i.Sign() >= 0 && i.Cmp(size) < 0 {
		return int(i.Int64()), true
	}
	switch mode {
	case "wrap":
		return int(new(big.Int).Mod(i, size).Int64()), true
	case "mirror":
		// Every second copy of the image runs backwards.
		copies, at := new(big.Int).DivMod(i, size, new(big.Int))
		if copies.Bit(0) == 1 {
			return n - 1 - int(at.Int64()), true
		}
		return int(at.Int64()), true
	case "border":
		return 0, false
	}
	if i.Sign() < 0 {
		return 0, true
	}
	return n - 1, true
}

// refPlace is where a coordinate falls: the indices of two texels and the
// weight of the second, a multiple of 1/256.
func refPlace(x float32, n int, mode string, normalized, linear bool) (idx [2]int, in [2]bool, alpha *big.Rat) {
	if !normalized && (mode == "wrap" || mode == "mirror") {
		mode = "clamp"
	}
	r := new(big.Rat)
	if x == x && !math.IsInf(float64(x), 0) {
		r.SetFloat64(float64(x))
	} else if math.IsInf(float64(x), 0) && mode != "wrap" && mode != "mirror" {
		r.SetFloat64(math.Copysign(1e30, float64(x)))
	}
	if normalized {
		r = new(big.Rat).Mul(r, big.NewRat(int64(n), 1))
	}
	if linear {
		r = new(big.Rat).Sub(r, big.NewRat(1, 2))
	}
	i := floorRat(r)
	alpha = new(big.Rat)
	if linear {
		f := new(big.Rat).Sub(r, new(big.Rat).SetInt(i))
		f.Mul(f, big.NewRat(256, 1))
		alpha.SetFrac(floorRat(f.Add(f, big.NewRat(1, 2))), big.NewInt(256))
	}
	idx[0], in[0] = refIndex(i, n, mode)
	idx[1], in[1] = refIndex(new(big.Int).Add(i, big.NewInt(1)), n, mode)
	return idx, in, alpha
}

// sample gives a channel of the texture at coordinates c, rounded to f32 once.
func (t *refTexture) sample(c []float32, layer, ch int) float32 {
	if ch >= t.channels {
		if ch == 3 {
			return float32(t.one)
		}
		return 0
	}
	sum := new(big.Rat)
	var idx [3][2]int
	var in [3][2]bool
	var al [3]*big.Rat
	for k := range c {
		idx[k], in[k], al[k] = refPlace(c[k], t.size[k], t.mode[k], t.normalized, t.linear)
	}
	for corner := range 1 << len(c) {
		weight := big.NewRat(1, 1)
		var p [3]int
		inside := true
		for k := range c {
			b := corner >> k & 1
			p[k] = idx[k][b]
			inside = inside && in[k][b]
			if b == 1 {
				weight.Mul(weight, al[k])
			} else {
				weight.Mul(weight, new(big.Rat).Sub(big.NewRat(1, 1), al[k]))
			}
		}
		if inside && weight.Sign() != 0 {
			v := new(big.Rat).SetFloat64(t.at(p[0], p[1], p[2], layer, ch))
			sum.Add(sum, v.Mul(v, weight))
		}
	}
	f, _ := sum.Float32()
	return f
}

// texelBytes makes n channels of a format and gives their values.
func texelBytes(rng *rand.Rand, format string, norm bool, n int) (data []byte, values []float64) {
	le16 := func(v uint16) { data = append(data, byte(v), byte(v>>8)) }
	le32 := func(v uint32) { data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
	for range n {
		var v float64
		r := rng.Uint32()
		switch format {
		case "u8", "s8":
			b := byte(r)
			if r>>8%8 == 0 {
				b = [4]byte{0, 255, 128, 127}[r>>16&3]
			}
			data = append(data, b)
			if v = float64(b); format == "s8" {
				v = float64(int8(b))
			}
			if norm {
				v = map[string]float64{"u8": v / 255, "s8": math.Max(v/127, -1)}[format]
			}
		case "u16", "s16":
			h := uint16(r)
			if r>>16%8 == 0 {
				h = [4]uint16{0, 65535, 32768, 32767}[r>>20&3]
			}
			le16(h)
			if v = float64(h); format == "s16" {
				v = float64(int16(h))
			}
			if norm {
				v = map[string]float64{"u16": v / 65535, "s16": math.Max(v/32767, -1)}[format]
			}
		case "u32":
			le32(r)
			v = float64(r)
		case "s32":
			le32(r)
			v = float64(int32(r))
		case "f16":
			e, f := r>>10&31%31, r&1023
			if e == 31 {
				e = 30
			}
			le16(uint16(r>>31<<15 | e<<10 | f))
			if v = math.Ldexp(1+float64(f)/1024, int(e)-15); e == 0 {
				v = math.Ldexp(float64(f)/1024, -14)
			}
			if r>>31 == 1 {
				v = -v
			}
		case "f32":
			f := float32(rng.NormFloat64() * math.Pow(10, float64(rng.Intn(7)-3)))
			le32(math.Float32bits(f))
			v = float64(f)
		}
		if norm {
			v = float64(float32(v)) // texels are f32 before they are blended
		}
		values = append(values, v)
	}
	return data, values
}

// coordinates of one axis of n texels: texel edges and centres inside and
// outside of the image, points next to them, random ones, and the extremes.
func axisPoints(rng *rand.Rand, n int, normalized bool) []float32 {
	scale := 1.0
	if normalized {
		scale = 1 / float64(n)
	}
	var out []float32
	for i := -2*n - 2; i <= 4*n+2; i++ {
		v := float32(float64(i) / 2 * scale)
		out = append(out, v, math.Nextafter32(v, 1e9), math.Nextafter32(v, -1e9))
	}
	for range 40 {
		out = append(out, float32((rng.Float64()*6-2)*float64(n)*scale))
	}
	inf := float32(math.Inf(1))
	return append(out, inf, -inf, float32(math.NaN()), 1e30, -1e30, 1e9, -1e9, 3e-45, -3e-45, 16777217, float32(math.Copysign(0, -1)))
}

func f32words(c []float32) []uint32 {
	var w []uint32
	for _, v := range c {
		w = append(w, math.Float32bits(v))
	}
	return w
}

// texCase is an image of a size and how it is read.
type texCase struct {
	geom     string
	size     [3]int
	layers   int
	channels int
	format   string
	norm     bool
}

func (c texCase) build(rng *rand.Rand, mode [3]string, linear, normalized bool) (texture.Texture, []byte, *refTexture) {
	w, h, d, l := c.size[0], max(1, c.size[1]), max(1, c.size[2]), max(1, c.layers)
	data, vals := texelBytes(rng, c.format, c.norm, w*h*d*l*c.channels)
	tex := texture.Texture{Format: c.format, Channels: c.channels, Width: c.size[0], Height: c.size[1], Depth: c.size[2], Layers: c.layers,
		Linear: linear, Address: mode, Normalized: normalized, ReadNormalized: c.norm}
	ref := &refTexture{size: [3]int{w, h, d}, channels: c.channels, mode: mode, normalized: normalized, linear: linear, one: 1,
		at: func(x, y, z, layer, ch int) float64 {
			return vals[(((layer*d+z)*h+y)*w+x)*c.channels+ch]
		}}
	return tex, data, ref
}

// TestTexSampling compares tex with float coordinates against the reference
// for every geometry, filter, address mode and format.
func TestTexSampling(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	cases := []texCase{
		{geom: "1d", size: [3]int{7}}, {geom: "2d", size: [3]int{5, 4}}, {geom: "3d", size: [3]int{4, 3, 5}},
		{geom: "a1d", size: [3]int{6}, layers: 3}, {geom: "a2d", size: [3]int{3, 6}, layers: 4},
	}
	formats := []struct {
		name string
		norm bool
	}{{"f32", false}, {"f16", false}, {"u8", true}, {"s8", true}, {"u16", true}, {"s16", true},
		{"u8", false}, {"s8", false}, {"u16", false}, {"s16", false}, {"u32", false}, {"s32", false}}
	n := 0
	for _, c := range cases {
		for _, f := range formats {
			for _, mode := range []string{"clamp", "border", "wrap", "mirror"} {
				for _, linear := range []bool{false, true} {
					for _, normalized := range []bool{false, true} {
						c.format, c.norm, c.channels = f.name, f.norm, []int{1, 2, 4}[rng.Intn(3)]
						float := f.norm || f.name[0] == 'f'
						if linear && !float {
							continue
						}
						if n++; !alltests.On() && n%3 > 0 {
							continue // every third
						}
						name := fmt.Sprintf("%s/%sx%d/norm=%t/%s/linear=%t/normalized=%t", c.geom, f.name, c.channels, f.norm, mode, linear, normalized)
						// Other axes get another mode now and then.
						modes := [3]string{mode, mode, mode}
						if rng.Intn(2) == 0 {
							modes[1], modes[2] = "wrap", "border"
						}
						c.check(t, rng, name, modes, linear, normalized, float)
					}
				}
			}
		}
	}
}

func (c texCase) check(t *testing.T, rng *rand.Rand, name string, mode [3]string, linear, normalized, float bool) {
	t.Helper()
	tex, data, ref := c.build(rng, mode, linear, normalized)
	dims := int(c.geom[len(c.geom)-2] - '0')
	var axes [3][]float32
	for k := range dims {
		axes[k] = axisPoints(rng, ref.size[k], normalized)
	}
	var in [][]uint32
	var coords [][]float32
	var layers []int
	n := 256
	if dims == 1 {
		n = len(axes[0])
	}
	for i := range n {
		var p []float32
		for k := range dims {
			j := i
			if dims > 1 {
				j = rng.Intn(len(axes[k]))
			}
			p = append(p, axes[k][j])
		}
		layer := 0
		row := f32words(p)
		if c.layers > 0 {
			word := uint32(rng.Intn(c.layers + 2))
			if i == 0 {
				word = math.MaxUint32
			}
			layer = int(min(word, uint32(c.layers-1)))
			row = append([]uint32{word}, row...)
		}
		in, coords, layers = append(in, row), append(coords, p), append(layers, layer)
	}
	dtype := "f32"
	if !float {
		dtype = map[byte]string{'u': "u32", 's': "s32"}[c.format[0]]
	}
	var names []string
	for i := range in[0] {
		names = append(names, fmt.Sprintf("%%x%d", i))
	}
	if len(names) == 3 {
		names = append(names, "%x2")
	}
	prog := texProgram{nOut: 4, objects: []texBinding{{tex: tex, data: data}},
		body: fmt.Sprintf("tex.%s.v4.%s.f32 {%%y0,%%y1,%%y2,%%y3}, [%%obj0, {%s}];", c.geom, dtype, strings.Join(names, ","))}
	out, _, err := prog.run(t, in)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range out {
		for ch := range 4 {
			var want uint32
			if float {
				want = math.Float32bits(ref.sample(coords[i], layers[i], ch))
				if want<<1 == 0 && out[i][ch]<<1 == 0 {
					continue // the sign of zero is not part of the definition
				}
			} else {
				want = uint32(int64(ref.sample64(coords[i], layers[i], ch)))
			}
			if out[i][ch] != want {
				t.Fatalf("%s: at %v layer %d, channel %d: %#x (%v), want %#x (%v)", name, coords[i], layers[i], ch,
					out[i][ch], math.Float32frombits(out[i][ch]), want, math.Float32frombits(want))
			}
		}
	}
}

// sample64 is sample for point filtering, without rounding to f32.
func (t *refTexture) sample64(c []float32, layer, ch int) float64 {
	if ch >= t.channels {
		if ch == 3 {
			return t.one
		}
		return 0
	}
	var p [3]int
	for k := range c {
		idx, in, _ := refPlace(c[k], t.size[k], t.mode[k], t.normalized, false)
		if !in[0] {
			return 0
		}
		p[k] = idx[0]
	}
	return t.at(p[0], p[1], p[2], layer, ch)
}

// TestTexFetch reads texels by integer coordinates.
func TestTexFetch(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	for _, c := range []texCase{
		{geom: "1d", size: [3]int{9}, channels: 1, format: "f32"},
		{geom: "1d", size: [3]int{9}, channels: 4, format: "u8"},
		{geom: "1d", size: [3]int{9}, channels: 2, format: "s32"},
		{geom: "2d", size: [3]int{5, 7}, channels: 2, format: "s16"},
		{geom: "3d", size: [3]int{3, 4, 2}, channels: 1, format: "u32"},
		{geom: "a2d", size: [3]int{3, 4}, layers: 3, channels: 4, format: "f16"},
	} {
		for _, mode := range []string{"clamp", "border"} {
			// Linear filtering does not apply to integer coordinates.
			float := c.format[0] == 'f'
			tex, data, ref := c.build(rng, [3]string{mode, mode, mode}, float, false)
			ref.linear = false
			dims := int(c.geom[len(c.geom)-2] - '0')
			var in [][]uint32
			for range 200 {
				var row []uint32
				if c.layers > 0 {
					row = append(row, uint32(rng.Intn(c.layers)))
				}
				for k := range dims {
					v := rng.Intn(2*ref.size[k]+2) - ref.size[k]/2 - 1
					switch rng.Intn(40) {
					case 0:
						v = math.MaxInt32
					case 1:
						v = math.MinInt32
					}
					row = append(row, uint32(int32(v)))
				}
				in = append(in, row)
			}
			names := "%x0"
			for i := 1; i < len(in[0]); i++ {
				names += fmt.Sprintf(",%%x%d", i)
			}
			if len(in[0]) == 3 {
				names += ",%x0"
			}
			dtype := map[byte]string{'u': "u32", 's': "s32", 'f': "f32"}[c.format[0]]
			prog := texProgram{nOut: 4, decls: ".global .texref image;", objects: []texBinding{{name: "image", tex: tex, data: data}},
				body: fmt.Sprintf("tex.%s.v4.%s.s32 {%%y0,%%y1,%%y2,%%y3}, [image, {%s}];", c.geom, dtype, names)}
			out, _ := prog.mustRun(t, in)
			for i, row := range in {
				layer := 0
				if c.layers > 0 {
					layer, row = int(row[0]), row[1:]
				}
				inside := true
				var p [3]int
				for k, w := range row {
					v := int(int32(w))
					if v < 0 || v >= ref.size[k] {
						inside = inside && mode == "clamp" && c.geom != "1d"
						v = max(0, min(v, ref.size[k]-1))
					}
					p[k] = v
				}
				for ch := range 4 {
					v := 0.0
					switch {
					case ch >= c.channels && ch == 3:
						v = 1
					case ch < c.channels && inside:
						v = ref.at(p[0], p[1], p[2], layer, ch)
					}
					want := uint32(int64(v))
					if float {
						want = math.Float32bits(float32(v))
					}
					if out[i][ch] != want {
						t.Fatalf("%+v %s: at %v (layer %d), channel %d: %#x, want %#x", c, mode, p, layer, ch, out[i][ch], want)
					}
				}
			}
		}
	}
}

// fold names words of a row as a vector operand.
func fold(from, n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("%%x%d", from+i))
	}
	return "{" + strings.Join(s, ",") + "}"
}

// TestTexForms reads the same image through every way of naming textures and
// samplers, and into every kind of destination.
func TestTexForms(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	c := texCase{geom: "2d", size: [3]int{4, 5}, channels: 4, format: "f32"}
	tex, data, ref := c.build(rng, [3]string{"clamp", "clamp", "clamp"}, false, true)
	linear := tex
	linear.Linear, linear.Address = true, [3]string{"wrap", "mirror", ""}
	linRef := *ref
	linRef.linear, linRef.mode = true, linear.Address
	var in [][]uint32
	for range 64 {
		in = append(in, f32words([]float32{rng.Float32()*3 - 1, rng.Float32()*3 - 1}))
	}
	const samplers = `
.global .samplerref smooth = { filter_mode = linear, addr_mode_0 = wrap, addr_mode_1 = mirror };
.global .samplerref sharp = { addr_mode_0 = clamp_to_edge, filter_mode = nearest };
.global .samplerref raw = { force_unnormalized_coords = 1, addr_mode_0 = wrap };
.global .samplerref host;`
	unnorm := *ref
	unnorm.normalized = false
	for _, tc := range []struct {
		name, decls, body string
		regs, target      string
		obj               []texBinding
		ref               *refTexture
		outs              int // words; less than 4: halves in pairs
	}{
		{name: "object", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, {%x0,%x1}];", obj: []texBinding{{tex: tex, data: data}}, ref: ref},
		{name: "linear object", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, {%x0,%x1}];", obj: []texBinding{{tex: linear, data: data}}, ref: &linRef},
		{name: "reference", decls: ".global .texref tr;", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [tr, {%x0,%x1}];", obj: []texBinding{{name: "tr", tex: tex, data: data}}, ref: ref},
		{name: "old declaration", decls: ".tex .u64 tr;", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [tr, {%x0,%x1,%x1,%x1}];", obj: []texBinding{{name: "tr", tex: tex, data: data}}, ref: ref},
		{name: "handle of a reference", decls: ".visible .global .texref tr;", body: "mov.u64 %obj0, tr;\ntex.base.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, {%x0,%x1}];", obj: []texBinding{{name: "tr", tex: tex, data: data}}, ref: ref},
		{name: "parameter", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [image, {%x0,%x1}];", obj: []texBinding{{name: "image", param: true, tex: tex, data: data}}, ref: ref},
		{name: "vector register", regs: ".reg .v4 .f32 %v;\n.reg .v2 .f32 %c;", body: "mov.b32 %c.x, %x0; mov.b32 %c.y, %x1;\ntex.2d.v4.f32.f32 {%v.x,%v.y,%v.z,%v.w}, [%obj0, {%c.x,%c.y}];\nmov.b32 %y0,%v.x; mov.b32 %y1,%v.y; mov.b32 %y2,%v.z; mov.b32 %y3,%v.w;", obj: []texBinding{{tex: tex, data: data}}, ref: ref},
		{name: "sampler of the program", decls: ".global .texref tr;" + samplers, target: "sm_90, texmode_independent", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [tr, smooth, {%x0,%x1}];", obj: []texBinding{{name: "tr", tex: tex, data: data}}, ref: &linRef},
		{name: "sampler against the texture's own", decls: samplers, target: "sm_90, texmode_independent", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, sharp, {%x0,%x1}];", obj: []texBinding{{tex: linear, data: data}}, ref: ref},
		{name: "unnormalised by the sampler", decls: samplers, target: "sm_90, texmode_independent", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, raw, {%x0,%x1}];", obj: []texBinding{{tex: linear, data: data}}, ref: &unnorm},
		{name: "sampler bound by the host", decls: samplers, target: "sm_90, texmode_independent", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, host, {%x0,%x1}];", obj: []texBinding{{tex: tex, data: data}, {name: "host", tex: linear, data: data}}, ref: &linRef},
		{name: "object as sampler", target: "sm_90, texmode_independent", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, %obj1, {%x0,%x1}];", obj: []texBinding{{tex: tex, data: data}, {tex: linear, data: data}}, ref: &linRef},
		{name: "initialised reference", decls: ".global .texref tr = { filter_mode = linear, addr_mode_0 = wrap, addr_mode_1 = mirror, normalized_coords = 1 };", body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [tr, {%x0,%x1}];",
			obj: []texBinding{{name: "tr", tex: texture.Texture{Format: "f32", Channels: 4, Width: 4, Height: 5}, data: data}}, ref: &linRef},
		{name: "resident", regs: ".reg .pred %r;", body: "mov.b32 %y0, 1; setp.ne.u32 %r, %y0, 1;\ntex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}|%r, [%obj0, {%x0,%x1}];\n@!%r mov.b32 %y0, -1;", obj: []texBinding{{tex: tex, data: data}}, ref: ref},
		{name: "halves", regs: ".reg .b16 %h<4>;", body: "tex.2d.v4.f16.f32 {%h0,%h1,%h2,%h3}, [%obj0, {%x0,%x1}];\nmov.b32 %y0, {%h0,%h1};\nmov.b32 %y1, {%h2,%h3};", obj: []texBinding{{tex: tex, data: data}}, ref: ref, outs: 2},
		{name: "packed halves", body: "tex.2d.v2.f16x2.f32 {%y0,%y1}, [%obj0, {%x0,%x1}];", obj: []texBinding{{tex: tex, data: data}}, ref: ref, outs: 2},
	} {
		if tc.outs == 0 {
			tc.outs = 4
		}
		out, _, err := texProgram{target: tc.target, decls: tc.decls, regs: tc.regs, body: tc.body, objects: tc.obj, nOut: tc.outs}.run(t, in)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for i, row := range in {
			p := []float32{math.Float32frombits(row[0]), math.Float32frombits(row[1])}
			for ch := range 4 {
				want := tc.ref.sample(p, 0, ch)
				if tc.outs == 2 {
					h := uint16(out[i][ch/2] >> (16 * (ch % 2)))
					if got := halfValue(h); math.Abs(got-float64(want)) > math.Abs(float64(want))/2048+1.0/(1<<25) {
						t.Fatalf("%s: at %v, channel %d: %v, want %v", tc.name, p, ch, got, want)
					}
					continue
				}
				if got := math.Float32frombits(out[i][ch]); got != want {
					t.Fatalf("%s: at %v, channel %d: %v, want %v", tc.name, p, ch, got, want)
				}
			}
		}
	}
}

func halfValue(h uint16) float64 {
	e, f := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(1+f/1024, e-15)
	if e == 0 {
		v = math.Ldexp(f/1024, -14)
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

// TestTexOffsets adds texel offsets to sampled and fetched coordinates.
func TestTexOffsets(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	for _, tc := range []struct {
		c      texCase
		offset string
		words  int
	}{
		{texCase{geom: "1d", size: [3]int{8}}, "%x1", 2},
		{texCase{geom: "2d", size: [3]int{8, 4}}, fold(2, 2), 4},
		{texCase{geom: "3d", size: [3]int{4, 4, 2}}, "{%x3,%x4,%x5,%x5}", 6},
	} {
		for _, mode := range []string{"clamp", "border", "wrap", "mirror"} {
			for _, linear := range []bool{false, true} {
				tc.c.channels, tc.c.format = 1, "f32"
				tex, data, ref := tc.c.build(rng, [3]string{mode, mode, mode}, linear, true)
				dims := tc.words / 2
				var in [][]uint32
				for range 100 {
					var row []uint32
					for k := range dims {
						// Multiples of 1/64 texel, so that shifted coordinates are exact.
						row = append(row, math.Float32bits(float32(rng.Intn(64*3*ref.size[k]))/float32(64*ref.size[k])-1))
					}
					for range dims {
						row = append(row, uint32(int32(rng.Intn(16)-8)))
					}
					in = append(in, row)
				}
				coord := fold(0, dims)
				if dims == 3 {
					coord = "{%x0,%x1,%x2,%x2}"
				}
				out, _ := texProgram{nOut: 4, objects: []texBinding{{tex: tex, data: data}},
					body: fmt.Sprintf("tex.%s.v4.f32.f32 {%%y0,%%y1,%%y2,%%y3}, [%%obj0, %s], %s;", tc.c.geom, coord, tc.offset)}.mustRun(t, in)
				for i, row := range in {
					var p []float32
					for k := range dims {
						p = append(p, math.Float32frombits(row[k])+float32(int32(row[dims+k]))/float32(ref.size[k]))
					}
					if got, want := math.Float32frombits(out[i][0]), ref.sample(p, 0, 0); got != want {
						t.Fatalf("%s %s linear=%t: at %v: %v, want %v", tc.c.geom, mode, linear, p, got, want)
					}
				}
			}
		}
	}
}

// TestTexCompare compares depths before it filters.
func TestTexCompare(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	c := texCase{geom: "2d", size: [3]int{6, 6}, channels: 1, format: "u8", norm: true}
	for _, linear := range []bool{false, true} {
		tex, data, depth := c.build(rng, [3]string{"border", "border", "border"}, linear, false)
		var in [][]uint32
		for range 128 {
			// Multiples of 1/512, so that moving by 7 below is exact. Some depths
			// are just that of the texel.
			x, y := rng.Intn(8*512), rng.Intn(8*512)
			f := rng.Float32()*1.2 - 0.1
			if rng.Intn(2) == 0 && x >= 512 && x < 7*512 && y >= 512 && y < 7*512 {
				f = float32(depth.at(x/512-1, y/512-1, 0, 0, 0))
			}
			in = append(in, f32words([]float32{float32(x)/512 - 1, float32(y)/512 - 1, f}))
		}
		out, _ := texProgram{nOut: 4, objects: []texBinding{{tex: tex, data: data}}, body: "tex.2d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, {%x0,%x1}], %x2;", regs: ""}.mustRun(t, in)
		for i, row := range in {
			f := math.Float32frombits(row[2])
			pass := func(v float64) float64 {
				if float64(f) <= v {
					return 1
				}
				return 0
			}
			// An image of the outcomes, with a ring of what the border gives.
			ring := *depth
			ring.size = [3]int{20, 20, 1}
			ring.at = func(x, y, _, _, _ int) float64 {
				if x -= 7; x < 0 || x >= 6 {
					return pass(0)
				}
				if y -= 7; y < 0 || y >= 6 {
					return pass(0)
				}
				return pass(depth.at(x, y, 0, 0, 0))
			}
			p := []float32{math.Float32frombits(row[0]) + 7, math.Float32frombits(row[1]) + 7}
			if got, want := math.Float32frombits(out[i][0]), ring.sample(p, 0, 0); got != want {
				t.Fatalf("linear=%t: at %v against %v: %v, want %v", linear, p, f, got, want)
			}
		}
	}
}

// TestTexGather compares tld4 with the four texels around the point.
func TestTexGather(t *testing.T) {
	rng := rand.New(rand.NewSource(6))
	for _, geom := range []string{"2d", "a2d"} {
		for ch, comp := range []string{"r", "g", "b", "a"} {
			for _, mode := range []string{"clamp", "border", "wrap", "mirror"} {
				c := texCase{geom: geom, size: [3]int{5, 3}, channels: 4, format: "s16"}
				if geom == "a2d" {
					c.layers = 3
				}
				tex, data, ref := c.build(rng, [3]string{mode, mode, mode}, false, true)
				var in [][]uint32
				for range 64 {
					row := f32words([]float32{rng.Float32()*3 - 1, rng.Float32()*3 - 1})
					if c.layers > 0 {
						row = append([]uint32{uint32(rng.Intn(3))}, row...)
					}
					in = append(in, row)
				}
				at := fold(0, len(in[0]))
				if len(in[0]) == 3 {
					at = "{%x0,%x1,%x2,%x2}"
				}
				out, _ := texProgram{nOut: 4, objects: []texBinding{{tex: tex, data: data}},
					body: fmt.Sprintf("tld4.%s.%s.v4.s32.f32 {%%y0,%%y1,%%y2,%%y3}, [%%obj0, %s];", comp, geom, at)}.mustRun(t, in)
				for i, row := range in {
					layer := 0
					if c.layers > 0 {
						layer, row = int(row[0]), row[1:]
					}
					ix, inX, _ := refPlace(math.Float32frombits(row[0]), 5, mode, true, true)
					iy, inY, _ := refPlace(math.Float32frombits(row[1]), 3, mode, true, true)
					for k, at := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
						want := 0.0
						if inX[at[0]] && inY[at[1]] {
							want = ref.at(ix[at[0]], iy[at[1]], 0, layer, ch)
						}
						if got := float64(int32(out[i][k])); got != want {
							t.Fatalf("%s %s %s: at %v, texel %d: %v, want %v", geom, comp, mode, row, k, got, want)
						}
					}
				}
			}
		}
	}
}

// TestTexCube looks in directions whose face and place are known: from a
// point on a face, the direction is computed by the inverse of what the CUDA
// programming guide's table says.
func TestTexCube(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	const n = 4
	for _, layers := range []int{0, 3} {
		vals := make([]float64, 6*n*n*max(1, layers))
		var data []byte
		for i := range vals {
			vals[i] = float64(i)
			b := math.Float32bits(float32(i))
			data = append(data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
		}
		for _, linear := range []bool{false, true} {
			var in [][]uint32
			var want []float32
			for range 250 {
				face, layer := rng.Intn(6), rng.Intn(max(1, layers))
				// Odd multiples of 1/32 on a face at distance 1 or 2; all exact.
				s := float32(2*rng.Intn(32)-31) / 32
				u := float32(2*rng.Intn(32)-31) / 32
				dir := [6][3]float32{{1, -u, -s}, {-1, -u, s}, {s, 1, u}, {s, -1, -u}, {s, -u, 1}, {-s, -u, -1}}[face]
				if rng.Intn(2) == 0 {
					for k := range dir {
						dir[k] *= 2
					}
				}
				ref := refTexture{size: [3]int{n, n, 1}, channels: 1, mode: [3]string{"clamp", "clamp", "clamp"}, normalized: true, linear: linear,
					at: func(x, y, _, _, _ int) float64 { return vals[((layer*6+face)*n+y)*n+x] }}
				want = append(want, ref.sample([]float32{(s + 1) / 2, (u + 1) / 2}, 0, 0))
				row := f32words(dir[:])
				if layers > 0 {
					row = append([]uint32{uint32(layer)}, row...)
				}
				in = append(in, row)
			}
			geom, at := "cube", "{%x0,%x1,%x2,%x2}"
			if layers > 0 {
				geom, at = "acube", fold(0, 4)
			}
			tex := texture.Texture{Format: "f32", Channels: 1, Width: n, Height: n, Cube: true, Layers: layers, Linear: linear, Address: [3]string{"wrap", "wrap", "wrap"}}
			out, _ := texProgram{nOut: 4, objects: []texBinding{{tex: tex, data: data}},
				body: fmt.Sprintf("tex.%s.v4.f32.f32 {%%y0,%%y1,%%y2,%%y3}, [%%obj0, %s];", geom, at)}.mustRun(t, in)
			for i := range out {
				if got := math.Float32frombits(out[i][0]); got != want[i] {
					t.Fatalf("%s linear=%t: in direction %v: %v, want %v", geom, linear, in[i], got, want[i])
				}
			}
		}
	}
}

// TestTexLevels reads mipmap levels by number and by derivatives. Every texel
// of level l is 100·l plus its place, so that the level can be seen.
func TestTexLevels(t *testing.T) {
	const w, h, levels = 16, 8, 5
	var data []byte
	for l := range levels {
		for y := range max(1, h>>l) {
			for x := range max(1, w>>l) {
				b := math.Float32bits(float32(1000*l + 20*y + x))
				data = append(data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
			}
		}
	}
	texel := func(l int, x, y float32) float64 {
		lw, lh := max(1, w>>l), max(1, h>>l)
		px := min(max(int(math.Floor(float64(x)*float64(lw))), 0), lw-1)
		py := min(max(int(math.Floor(float64(y)*float64(lh))), 0), lh-1)
		return float64(1000*l + 20*py + px)
	}
	rng := rand.New(rand.NewSource(8))
	for _, blend := range []bool{false, true} {
		tex := texture.Texture{Format: "f32", Channels: 1, Width: w, Height: h, Levels: levels, MipLinear: blend, Normalized: true}
		var in [][]uint32
		for i := range 200 {
			lod := float32(rng.Intn(64))/8 - 1
			switch i {
			case 0:
				lod = float32(math.NaN())
			case 1:
				lod = float32(math.Inf(1))
			case 2:
				lod = float32(math.Inf(-1))
			}
			// Derivatives that are powers of two texels long, in one direction.
			row := f32words([]float32{rng.Float32(), rng.Float32(), lod, 0, 0, 0, 0})
			d := rng.Intn(7) - 1
			k := rng.Intn(4)
			row[3+k] = math.Float32bits(float32(math.Ldexp(1, d)) / [2]float32{w, h}[k%2])
			in = append(in, append(row, uint32(int32(d))))
		}
		out, _ := texProgram{nOut: 4, regs: ".reg .b32 %s<4>;", objects: []texBinding{{tex: tex, data: data}}, body: `
tex.level.2d.v4.f32.f32 {%y0,%s1,%s2,%s3}, [%obj0, {%x0,%x1}], %x2;
tex.grad.2d.v4.f32.f32 {%y1,_,_,_}, [%obj0, {%x0,%x1}], {%x3,%x4}, {%x5,%x6};
tex.base.2d.v4.f32.f32 {%y2,_,_,_}, [%obj0, {%x0,%x1}];
tex.2d.v4.f32.f32 {%y3,_,_,_}, [%obj0, {%x0,%x1}];`}.mustRun(t, in)
		for i, row := range in {
			x, y, lod := math.Float32frombits(row[0]), math.Float32frombits(row[1]), float64(math.Float32frombits(row[2]))
			if lod != lod {
				lod = 0
			}
			lod = math.Min(math.Max(lod, 0), levels-1)
			want := texel(int(math.Round(lod)), x, y)
			if blend { // lod is a multiple of 1/8, so the weight is exact
				l := int(lod)
				want = texel(l, x, y)*(1-(lod-float64(l))) + texel(min(l+1, levels-1), x, y)*(lod-float64(l))
			}
			grad := min(max(int(int32(row[7])), 0), levels-1)
			for k, want := range []float64{want, texel(grad, x, y), texel(0, x, y), texel(0, x, y)} {
				if got := math.Float32frombits(out[i][k]); float64(got) != float64(float32(want)) {
					t.Fatalf("blend=%t, instruction %d: at (%v,%v), level %v, derivative 2^%d: %v, want %v", blend, k, x, y, lod, int32(row[7]), got, want)
				}
			}
		}
	}
}

// TestTexSamples reads the samples of multisampled textures.
func TestTexSamples(t *testing.T) {
	const w, h, samples, layers = 3, 4, 4, 2
	data := make([]byte, w*h*samples*layers)
	for i := range data {
		data[i] = byte(i)
	}
	var in [][]uint32
	for l := range uint32(layers) {
		for s := range uint32(samples) {
			for y := range uint32(h) {
				for x := range uint32(w) {
					in = append(in, []uint32{l, s, x, y})
				}
			}
		}
	}
	tex := texture.Texture{Format: "u8", Channels: 1, Width: w, Height: h, Samples: samples, Layers: layers}
	out, _ := texProgram{nOut: 2, objects: []texBinding{{tex: tex, data: data}}, body: `
tex.a2dms.v4.u32.s32 {%y0,_,_,_}, [%obj0, {%x0,%x1,%x2,%x3}];
tex.2dms.v4.u32.s32 {%y1,_,_,_}, [%obj0, {%x1,%x2,%x3,%x3}];`}.mustRun(t, in)
	for i, r := range in {
		at := func(l uint32) uint32 { return (((l*h+r[3])*w + r[2]) * samples) + r[1] }
		if out[i][0] != at(r[0]) || out[i][1] != at(0) {
			t.Fatalf("layer %d, sample %d, (%d,%d): %v", r[0], r[1], r[2], r[3], out[i])
		}
	}
}

// TestTexPitch reads a texture whose rows are not contiguous, and one that begins inside an
// allocation.
func TestTexPitch(t *testing.T) {
	data := make([]byte, 4+10*5)
	for i := range data {
		data[i] = byte(i)
	}
	var in [][]uint32
	for y := range uint32(5) {
		for x := range uint32(7) {
			in = append(in, []uint32{x, y})
		}
	}
	tex := texture.Texture{Addr: 4, Format: "u8", Channels: 1, Width: 7, Height: 5, Pitch: 10}
	out, _ := texProgram{nOut: 1, objects: []texBinding{{tex: tex, data: data}},
		body: "tex.2d.v4.u32.s32 {%y0,_,_,_}, [%obj0, {%x0,%x1}];"}.mustRun(t, in)
	for i, r := range in {
		if want := 4 + 10*r[1] + r[0]; out[i][0] != want {
			t.Fatalf("(%d,%d): %d, want %d", r[0], r[1], out[i][0], want)
		}
	}
}

// TestTexQueries queries every attribute of textures, samplers and surfaces.
func TestTexQueries(t *testing.T) {
	tex := texture.Texture{Format: "f16", Channels: 2, Width: 12, Height: 6, Levels: 3, Layers: 5, Linear: true, Address: [3]string{"wrap", "mirror", "border"}, Normalized: true}
	vol := texture.Texture{Format: "s8", Channels: 4, Width: 3, Height: 5, Depth: 7, ReadNormalized: true}
	data := make([]byte, 12*6*4*5*2)
	obj := []texBinding{{tex: tex, data: data}, {name: "vol", tex: vol, data: data}, {name: "surf", tex: vol, data: data}}
	decls := ".global .texref vol;\n.global .surfref surf;\n.global .samplerref smp = { filter_mode = linear, addr_mode_1 = clamp_ogl, force_unnormalized_coords = 1 };"
	for _, q := range []struct {
		text string
		want uint32
	}{
		{"txq.width.b32 %y0, [%obj0]", 12}, {"txq.height.b32 %y0, [%obj0]", 6}, {"txq.depth.b32 %y0, [%obj0]", 0},
		{"txq.level.width.b32 %y0, [%obj0], 2", 3}, {"txq.level.height.b32 %y0, [%obj0], 2", 1}, {"txq.level.depth.b32 %y0, [vol], 0", 7},
		{"txq.channel_data_type.b32 %y0, [%obj0]", 0x10DD}, {"txq.channel_order.b32 %y0, [%obj0]", 0x10B2},
		{"txq.normalized_coords.b32 %y0, [%obj0]", 1}, {"txq.force_unnormalized_coords.b32 %y0, [%obj0]", 0},
		{"txq.num_mipmap_levels.b32 %y0, [%obj0]", 3}, {"txq.num_samples.b32 %y0, [%obj0]", 1}, {"txq.array_size.b32 %y0, [%obj0]", 5},
		{"txq.filter_mode.b32 %y0, [%obj0]", 1}, {"txq.addr_mode_0.b32 %y0, [%obj0]", 0}, {"txq.addr_mode_1.b32 %y0, [%obj0]", 1}, {"txq.addr_mode_2.b32 %y0, [%obj0]", 4},
		{"txq.filter_mode.b32 %y0, [smp]", 1}, {"txq.addr_mode_0.b32 %y0, [smp]", 3}, {"txq.addr_mode_1.b32 %y0, [smp]", 2}, {"txq.force_unnormalized_coords.b32 %y0, [smp]", 1},
		{"txq.width.b32 %y0, [vol]", 3}, {"txq.depth.b32 %y0, [vol]", 7}, {"txq.array_size.b32 %y0, [vol]", 0}, {"txq.filter_mode.b32 %y0, [vol]", 0},
		{"suq.width.b32 %y0, [surf]", 3}, {"suq.height.b32 %y0, [surf]", 5}, {"suq.depth.b32 %y0, [surf]", 7}, {"suq.array_size.b32 %y0, [surf]", 0},
		{"suq.channel_order.b32 %y0, [surf]", 0x10B5}, {"suq.channel_data_type.b32 %y0, [surf]", 0x10D0}, {"suq.memory_layout.b32 %y0, [surf]", 1},
		{"mov.u64 %p3, smp; istypep.samplerref %q, %p3; selp.b32 %y0, 1, 0, %q", 1},
		{"mov.u64 %p3, smp; istypep.texref %q, %p3; selp.b32 %y0, 1, 0, %q", 0},
		{"istypep.texref %q, vol; selp.b32 %y0, 1, 0, %q", 1},
		{"istypep.surfref %q, vol; selp.b32 %y0, 1, 0, %q", 0},
		{"istypep.surfref %q, surf; selp.b32 %y0, 1, 0, %q", 1},
		{"istypep.texref %q, %obj0; selp.b32 %y0, 1, 0, %q", 1},
		{"istypep.texref %q, %p3; selp.b32 %y0, 1, 0, %q", 0},
	} {
		out, _, err := texProgram{decls: decls, regs: ".reg .pred %q; .reg .b64 %o;", nOut: 1, objects: obj, body: "mov.u64 %o, %p2;\n" + strings.ReplaceAll(q.text, "%p3", "%o") + ";"}.run(t, [][]uint32{{0}})
		if err != nil {
			t.Errorf("%s: %v", q.text, err)
		} else if out[0][0] != q.want {
			t.Errorf("%s: %#x, want %#x", q.text, out[0][0], q.want)
		}
	}
}

// TestTexFaults: errors are reported.
func TestTexFaults(t *testing.T) {
	img := texBinding{name: "image", tex: texture.Texture{Format: "u8", Channels: 1, Width: 4, Height: 4}, data: make([]byte, 16)}
	unbound := img
	unbound.absent = true
	obj := img
	obj.name = ""
	for _, tc := range []struct {
		name, decls, body, want string
		obj                     texBinding
	}{
		{"unbound", ".global .texref image;", "tex.1d.v4.u32.s32 {%y0,_,_,_}, [image, {%x0}];", "texture reference image", unbound},
		{"unbound surface", ".global .surfref image;", "suld.b.1d.b8.trap {%h}, [image, {%x0}];", "surface reference image", unbound},
		{"no handle", "", "mov.u64 %obj0, 5; tex.1d.v4.u32.s32 {%y0,_,_,_}, [%obj0, {%x0}];", "0x5 is not the handle of a texture", obj},
		{"beyond the handles", "", "add.u64 %obj0, %obj0, 1600; tex.1d.v4.u32.s32 {%y0,_,_,_}, [%obj0, {%x0}];", "is not the handle of a texture", obj},
		{"sampler as texture", ".global .samplerref s;", "tex.1d.v4.u32.s32 {%y0,_,_,_}, [s, {%x0}];", "s is a sampler reference; want a texture reference", obj},
		{"not a cube", "", "tex.cube.v4.u32.f32 {%y0,_,_,_}, [%obj0, {%x0,%x0,%x0,%x0}];", "but it is not one", obj},
		{"sample", "", "tex.2dms.v4.u32.s32 {%y0,_,_,_}, [%obj0, {%y1,%x0,%x0,%x0}];", "sample 7", obj},
		{"depth of integers", "", "tex.2d.v4.u32.f32 {%y0,_,_,_}, [%obj0, {%x0,%x0}], %x0;", "its texels are integers", obj},
		{"bad initialiser", ".global .texref image = { filter_mode = cubic };", "tex.1d.v4.u32.s32 {%y0,_,_,_}, [image, {%x0}];", "invalid filter_mode = cubic; want nearest or linear", unbound},
		{"level", "", "txq.level.width.b32 %y0, [%obj0], 3;", "level 3 of", obj},
	} {
		_, _, err := texProgram{decls: tc.decls, regs: ".reg .b16 %h;", nOut: 2, objects: []texBinding{tc.obj}, body: "mov.b32 %y1, 7;\n" + tc.body}.run(t, [][]uint32{{0}})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestTexBinding: inconsistent descriptions are rejected.
func TestTexBinding(t *testing.T) {
	good := texture.Texture{Format: "f32", Channels: 1, Width: 4, Height: 4}
	for _, tc := range []struct {
		name   string
		change func(*texture.Texture)
		want   string
	}{
		{"format", func(x *texture.Texture) { x.Format = "f64" }, `format "f64"`},
		{"channels", func(x *texture.Texture) { x.Channels = 3 }, "not 3"},
		{"normalised floats", func(x *texture.Texture) { x.ReadNormalized = true }, "cannot be read as normalised"},
		{"filtered integers", func(x *texture.Texture) { x.Format, x.Linear = "u32", true }, "linear filtering needs"},
		{"size", func(x *texture.Texture) { x.Width = 0 }, "cannot be 0 by 4"},
		{"negative size", func(x *texture.Texture) { x.Height = -1 }, "cannot be"},
		{"huge", func(x *texture.Texture) { x.Width, x.Height = 1<<30, 1<<30 }, "more than"},
		{"huge pitch", func(x *texture.Texture) { x.Pitch = 1 << 62 }, "larger than the address space"},
		{"depth alone", func(x *texture.Texture) { x.Height, x.Depth = 0, 2 }, "needs a height"},
		{"address mode", func(x *texture.Texture) { x.Address[1] = "around" }, `"around"`},
		{"pitch", func(x *texture.Texture) { x.Pitch = 15 }, "too small for rows of 16"},
		{"cube", func(x *texture.Texture) { x.Cube, x.Height = true, 3 }, "squares"},
		{"layers and depth", func(x *texture.Texture) { x.Layers, x.Depth = 2, 2 }, "cannot have a depth"},
		{"levels", func(x *texture.Texture) { x.Levels = 4 }, "at most 3 levels"},
		{"samples", func(x *texture.Texture) { x.Samples, x.Levels = 2, 2 }, "multisampled"},
		{"too small a buffer", func(x *texture.Texture) { x.Height = 400 }, "ends before"},
		{"no buffer", func(x *texture.Texture) { x.Addr = 1 << 40 }, "no memory is allocated"},
	} {
		tex := good
		tc.change(&tex)
		_, _, err := texProgram{nOut: 1, objects: []texBinding{{tex: tex, data: make([]byte, 64)}}}.run(t, [][]uint32{{0}})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	_, _, err := texProgram{nOut: 1, objects: []texBinding{{name: "nobody", tex: good, data: make([]byte, 64)}}}.run(t, [][]uint32{{0}})
	if err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("unknown name: %v", err)
	}
}

// TestTexDivergent lets every lane choose its texture and its sampler.
func TestTexDivergent(t *testing.T) {
	rng := rand.New(rand.NewSource(9))
	c := texCase{geom: "2d", size: [3]int{4, 4}, channels: 1, format: "f32"}
	var obj []texBinding
	var refs [2][2]*refTexture // image, filter
	for k := range 2 {
		tex, data, ref := c.build(rng, [3]string{"clamp", "clamp", "clamp"}, k == 1, false)
		obj = append(obj, texBinding{tex: tex, data: data})
		for f := range 2 {
			r := *ref
			r.linear = f == 1
			refs[k][f] = &r
		}
	}
	var in [][]uint32
	for range 96 {
		in = append(in, append(f32words([]float32{rng.Float32() * 4, rng.Float32() * 4}), rng.Uint32()&1, rng.Uint32()&1))
	}
	out, _ := texProgram{target: "sm_90, texmode_independent", nOut: 1, objects: obj, regs: ".reg .pred %q; .reg .b64 %a, %b;", body: `
setp.eq.u32 %q, %x2, 0; selp.b64 %a, %obj0, %obj1, %q;
setp.eq.u32 %q, %x3, 0; selp.b64 %b, %obj0, %obj1, %q;
tex.2d.v4.f32.f32 {%y0,_,_,_}, [%a, %b, {%x0,%x1}];`}.mustRun(t, in)
	for i, r := range in {
		p := []float32{math.Float32frombits(r[0]), math.Float32frombits(r[1])}
		if got, want := math.Float32frombits(out[i][0]), refs[r[2]][r[3]].sample(p, 0, 0); got != want {
			t.Fatalf("image %d, filter %d, at %v: %v, want %v", r[2], r[3], p, got, want)
		}
	}
}

// TestTexLinked binds a reference that one module defines and another uses.
func TestTexLinked(t *testing.T) {
	head := ".version 8.0\n.target sm_80\n.address_size 64\n"
	var mods []*ptx.Module
	for i, text := range []string{
		".visible .global .texref shared_tex;\n",
		`.extern .global .texref shared_tex;
.visible .entry k(.param .u64 out) {
.reg .b64 %p; .reg .b32 %t, %v; ld.param.u64 %p, [out]; mov.u32 %t, %tid.x;
tex.1d.v4.u32.s32 {%v,_,_,_}, [shared_tex, {%t}];
mad.wide.u32 %p, %t, 4, %p; st.global.u32 [%p], %v; ret; }`,
	} {
		m, err := ptx.Parse(fmt.Sprintf("m%d.ptx", i), []byte(head+text))
		if err != nil {
			t.Fatal(err)
		}
		mods = append(mods, m)
	}
	for _, order := range [][]*ptx.Module{{mods[0], mods[1]}, {mods[1], mods[0]}} {
		prog, err := xptx.Link(order...)
		if err != nil {
			t.Fatal(err)
		}
		mem := device.New(device.Config{})
		m, err := xptx.NewMachine(prog, mem)
		if err != nil {
			t.Fatal(err)
		}
		texels, _ := mem.Alloc(8, "texels")
		out, _ := mem.Alloc(32, "out")
		if err := mem.Write(texels, []byte{9, 8, 7, 6, 5, 4, 3, 2}); err != nil {
			t.Fatal(err)
		}
		if err := m.BindTexture("shared_tex", texture.Texture{Addr: texels, Format: "u8", Channels: 1, Width: 8}); err != nil {
			t.Fatal(err)
		}
		k, _ := prog.Kernel("k")
		l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 8, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, out)}
		if _, err := m.Run(context.Background(), l, xptx.Options{Threads: 1}); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 32)
		if err := mem.Read(out, got); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if v := binary.LittleEndian.Uint32(got[4*i:]); v != uint32(9-i) {
				t.Errorf("texel %d: %d, want %d", i, v, 9-i)
			}
		}
	}
}

// texLoop is a program that samples an image n times in every thread.
func texLoop(n int) texProgram {
	tex := texture.Texture{Format: "u8", Channels: 4, Width: 64, Height: 64, ReadNormalized: true, Linear: true}
	return texProgram{nOut: 4, regs: ".reg .b32 %i; .reg .pred %q;", objects: []texBinding{{tex: tex, data: make([]byte, 64*64*4)}}, body: fmt.Sprintf(`
mov.b32 %%i, 0;
loop:
tex.2d.v4.f32.f32 {%%y0,%%y1,%%y2,%%y3}, [%%obj0, {%%x0,%%x1}];
add.u32 %%i, %%i, 1;
setp.lt.u32 %%q, %%i, %d;
@%%q bra loop;`, n)}
}

// TestTexAllocations: sampling allocates nothing per instruction.
func TestTexAllocations(t *testing.T) {
	in := make([][]uint32, 32)
	for i := range in {
		in[i] = f32words([]float32{float32(i) * 1.7, float32(i) * 0.9})
	}
	count := func(n int) float64 { return testing.AllocsPerRun(1, func() { texLoop(n).mustRun(t, in) }) }
	if few, many := count(10), count(2010); many > few+200 {
		t.Errorf("2000 more instructions allocate %v times more", many-few)
	}
}

func BenchmarkTexNearest2D(b *testing.B) {
	p := texLoop(b.N)
	p.objects[0].tex.Linear = false
	in := make([][]uint32, 32)
	for i := range in {
		in[i] = f32words([]float32{float32(i) * 1.7, float32(i) * 0.9})
	}
	p.mustRun(b, in)
	b.ReportMetric(32*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

func BenchmarkTexLinear2D(b *testing.B) {
	in := make([][]uint32, 32)
	for i := range in {
		in[i] = f32words([]float32{float32(i) * 1.7, float32(i) * 0.9})
	}
	texLoop(b.N).mustRun(b, in)
	b.ReportMetric(32*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}
