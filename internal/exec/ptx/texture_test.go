package ptx_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
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
	case "border":
		return 0, false
	}
	if i.Sign() < 0 {
		return 0, true
	}
	return n - 1, true
}

// refPlace is where a coordinate falls, as the CUDA programming guide has it:
// the indices of two texels and the weight of the second.
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
		fl := floorRat(r)
		frac := new(big.Rat).Sub(r, new(big.Rat).SetInt(fl))
		switch {
		case mode == "wrap", mode == "mirror" && fl.Bit(0) == 0:
			r = frac
		case mode == "mirror":
			r = new(big.Rat).Sub(big.NewRat(1, 1), frac)
		}
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

func (c texCase) build(rng *rand.Rand, mode [3]string, linear, normalized bool) (xptx.Texture, []byte, *refTexture) {
	w, h, d, l := c.size[0], max(1, c.size[1]), max(1, c.size[2]), max(1, c.layers)
	data, vals := texelBytes(rng, c.format, c.norm, w*h*d*l*c.channels)
	tex := xptx.Texture{Format: c.format, Channels: c.channels, Width: c.size[0], Height: c.size[1], Depth: c.size[2], Layers: c.layers,
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
					continue // the sign of zero is no part of the definition
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
