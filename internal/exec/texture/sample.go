package texture

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/num"
)

// This file: how a texture is read.

// Form is the form in which a texel reaches registers.
type Form uint8

const (
	Bits  Form = iota // four 32-bit registers
	F16               // four 16-bit registers
	F16x2             // two registers with two halves each
)

// Lod is how a mipmap level is selected.
type Lod uint8

const (
	LodNone  Lod = iota // below all levels: see noLevel
	LodZero             // level 0, to which bias and range apply
	LodBase             // always the first level
	LodLevel            // from the instruction
	LodGrad             // from the derivatives of the coordinates
)

// noLevel is the level of detail of an instruction that gives none. Compute threads have no neighbours
// for derivatives; NVIDIA's compiler makes such an access one of this level (compiled kernel for sm_75),
// so that no bias lifts it above the lowest level that the range allows.
const noLevel = -32

// Op is how an instruction reads a texture.
type Op struct {
	Dims    int // coordinates within a layer; 3 for cubes, a direction
	Cube    bool
	Flat    bool // of two coordinates, a texture of one dimension takes the first
	Integer bool // coordinates are integers: texels are fetched, not sampled
	Form    Form
	Gather  int // channel that is gathered from four texels, -1 to read a texel
	Lod     Lod
}

// Access is one execution of an instruction: where memory is, and its operands, 32 lanes
// each. What an instruction lacks is nil.
type Access struct {
	View *device.View
	Addr *[32]uint64 // gets the addresses of the texels, the last of several

	Coord, Offset               [3]*[32]uint32
	Layer, Sample, Lod, Compare *[32]uint32
	Grad                        [2][3]*[32]uint32
	Out                         [4]*[32]uint32 // gets the texels

	Fault *Fault // why the access failed
}

// Fault is why a lane's access failed.
type Fault struct {
	Kind exec.FaultKind
	Lane int
	Text string
}

// failf records a fault of a lane.
func (x *Access) failf(kind exec.FaultKind, lane int, format string, args ...any) {
	if x.Fault == nil {
		x.Fault = &Fault{kind, lane, fmt.Sprintf(format, args...)}
	}
}

// failAt records an access of a lane that device memory rejects.
func (x *Access) failAt(lane int, f *device.Fault, format string, args ...any) {
	kind := exec.BadAddress
	if f.Kind == device.Misaligned {
		kind = exec.Misaligned
	}
	x.failf(kind, lane, format, append(args, f)...)
}

// Separate is the sampler with which a texture is read that has another handle: the settings of
// a sampler reference, or of another texture.
func (s *Slot) Separate(texture *Slot) Sampler {
	smp := s.smp
	if s.kind == IsSampler {
		smp.normalized = texture.tex.smp.normalized && s.smp.normalized
	}
	return smp
}

// Sampler is how the texture is sampled unless the instruction names a sampler.
func (s *Slot) Sampler() Sampler { return s.tex.smp }

// Read reads the texels of lanes m. find returns the texture and the sampler of a lane, or a nil
// texture after a fault of its own; one says that they are the same for all lanes. Read reports
// whether it could; if find has not failed, x.Fault says why not.
func (op *Op) Read(x *Access, m uint32, one bool, find func(lane int) (*Slot, Sampler)) bool {
	var slot *Slot
	var smp Sampler
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if slot == nil || !one {
			if slot, smp = find(i); slot == nil {
				return false
			}
			switch {
			case op.Cube && !slot.tex.cube:
				x.failf(exec.IllegalInst, i, "%s is read as a cube, but it is not one", slot.name)
				return false
			case !op.Cube && slot.tex.cube:
				x.failf(exec.IllegalInst, i, "%s is a cube, but it is not read as one", slot.name)
				return false
			case x.Compare != nil && !slot.tex.format.Float():
				x.failf(exec.IllegalInst, i, "%s cannot be compared with a depth: its texels are integers", slot.name)
				return false
			}
			if t := &slot.tex; one && op.plain(x) && len(t.levels) == 1 && t.samples == 1 && (!smp.linear || op.Integer || !t.format.Float()) {
				return op.nearest(x, slot, &smp, m)
			}
		}
		p := point{x: x, slot: slot, t: &slot.tex, smp: &smp, lane: i, cmp: x.Compare != nil}
		v, ok := op.sample(&p)
		if !ok {
			return false
		}
		op.put(x, slot.tex.format, i, v)
	}
	return true
}

// dims is the number of coordinates that locate a texel within a layer.
func (op *Op) dims(t *image) int {
	if op.Flat && op.Dims == 2 && t.h == 0 {
		return 1
	}
	return op.Dims
}

// plain reports whether an access has nothing but coordinates, and possibly a layer and a level.
func (op *Op) plain(x *Access) bool {
	return op.Gather < 0 && op.Lod != LodGrad && x.Compare == nil && x.Sample == nil && !op.Cube && x.Offset == [3]*[32]uint32{}
}

// put writes the texel of lane i.
func (op *Op) put(x *Access, f Format, i int, v [4]uint32) {
	if op.Form != Bits {
		for k := range v {
			if f.Float() {
				v[k] = uint32(num.F32ToF16(v[k], num.RN))
			} else {
				v[k] &= 0xffff
			}
		}
		if op.Form == F16x2 {
			v[0], v[1] = v[0]|v[1]<<16, v[2]|v[3]<<16
		}
	}
	for k, r := range x.Out {
		if r != nil {
			r[i] = v[k]
		}
	}
}

// point is one lane's access.
type point struct {
	x     *Access
	slot  *Slot
	t     *image
	smp   *Sampler
	lane  int
	cmp   bool    // texels are compared with ref
	ref   float32 // depth
	layer int     // or face
	samp  int
}

func toFloat(v uint32) float64 { return float64(math.Float32frombits(v)) }

// number returns a coordinate or a level of detail.
func (op *Op) number(v uint32) float64 {
	if op.Integer {
		return float64(int32(v))
	}
	return toFloat(v)
}

// sample reads one lane's texel, or blends several.
func (op *Op) sample(p *point) (v [4]uint32, ok bool) {
	x, i, t := p.x, p.lane, p.t
	if x.Compare != nil {
		p.ref = math.Float32frombits(x.Compare[i])
	}
	layer := uint32(0)
	if x.Layer != nil {
		layer = x.Layer[i]
	}
	perLayer := 1
	if op.Cube {
		perLayer = 6
	}
	// Layers out of range give the last one (CUDA programming guide).
	p.layer = t.first + int(min(layer, uint32(t.layers/perLayer-1)))*perLayer
	if x.Sample != nil {
		p.samp = int(x.Sample[i])
		if p.samp >= t.samples {
			x.failf(exec.IllegalInst, i, "sample %d of %s, which has %d", p.samp, p.slot.name, t.samples)
			return v, false
		}
	}
	var c [3]float64
	var g [2][3]float64
	for k := range op.Dims {
		c[k] = op.number(x.Coord[k][i])
		if op.Lod == LodGrad {
			g[0][k], g[1][k] = toFloat(x.Grad[0][k][i]), toFloat(x.Grad[1][k][i])
		}
	}
	dims := op.dims(t)
	if op.Cube {
		face := cubeFace(&c, &g)
		p.layer += face
		dims = 2
	}
	var off [3]int
	for k, r := range x.Offset {
		if r != nil {
			off[k] = int(int32(r[i]))
		}
	}
	if op.Gather >= 0 {
		return op.gather4(p, &c, &off)
	}
	lod := 0.0
	if len(t.levels) > 1 {
		switch op.Lod {
		case LodNone:
			lod = noLevel
		case LodLevel:
			lod = op.number(x.Lod[i])
		case LodGrad:
			lod = p.gradLevel(&g, dims, op.Cube)
		}
	}
	l0, l1, frac := 0, 0, 0.0
	if op.Lod != LodBase {
		l0, l1, frac = p.levelsAt(lod)
	}
	if v, ok = op.read(p, l0, &c, &off, dims); !ok || frac == 0 {
		return v, ok
	}
	u, ok := op.read(p, l1, &c, &off, dims)
	if !ok {
		return v, false
	}
	for k := range v {
		a, b := float64(math.Float32frombits(v[k])), float64(math.Float32frombits(u[k]))
		v[k] = math.Float32bits(float32((1-frac)*a + frac*b))
	}
	return v, true
}

// levelsAt returns the mipmap level for a level of detail, or the two to blend and the
// weight of the second.
func (p *point) levelsAt(lod float64) (l0, l1 int, frac float64) {
	last := float64(len(p.t.levels) - 1)
	if lod != lod { // NaN counts as 0
		lod = 0
	}
	lod = min(max(lod+p.smp.bias, p.smp.minLevel), p.smp.maxLevel, last)
	if !(lod > 0) {
		return 0, 0, 0
	}
	if !p.smp.mipLinear || !p.t.format.Float() {
		l := int(math.Floor(lod + 0.5))
		return l, l, 0
	}
	fl := math.Floor(lod)
	frac = fixedWeight(lod - fl)
	l0 = int(fl)
	return l0, min(l0+1, len(p.t.levels)-1), frac
}

// gradLevel is the level of detail for two derivatives of the coordinates: the
// logarithm of the longer one in texels, as graphics APIs define it.
func (p *point) gradLevel(g *[2][3]float64, dims int, cube bool) float64 {
	lv := &p.t.levels[0]
	size := [3]float64{float64(lv.w), float64(lv.h), float64(lv.d)}
	most := 0.0
	for k := range g {
		sum := 0.0
		for c := range dims {
			x := g[k][c]
			if p.smp.normalized || cube {
				x *= size[c]
			}
			sum += x * x
		}
		most = max(most, sum)
	}
	return math.Log2(most) / 2
}

// cubeFace converts a direction, and its derivatives, to a face and coordinates on it
// (CUDA programming guide, "Cubemap Textures"). If two axes are equally long, x comes
// before y and y before z.
func cubeFace(c *[3]float64, g *[2][3]float64) int {
	x, y, z := math.Abs(c[0]), math.Abs(c[1]), math.Abs(c[2])
	major := 2
	switch {
	case x >= y && x >= z:
		major = 0
	case y >= z:
		major = 1
	}
	face := 2 * major
	if math.Signbit(c[major]) {
		face++
	}
	pick := func(v *[3]float64) (s, t, m float64) {
		switch face {
		case 0:
			return -v[2], -v[1], v[0]
		case 1:
			return v[2], -v[1], -v[0]
		case 2:
			return v[0], v[2], v[1]
		case 3:
			return v[0], -v[2], -v[1]
		case 4:
			return v[0], -v[1], v[2]
		}
		return -v[0], -v[1], -v[2]
	}
	s, t, m := pick(c)
	for k := range g {
		ds, dt, dm := pick(&g[k])
		g[k] = [3]float64{(ds*m - s*dm) / (2 * m * m), (dt*m - t*dm) / (2 * m * m)}
	}
	*c = [3]float64{(s/m + 1) / 2, (t/m + 1) / 2}
	return face
}

// fixedWeight rounds a weight to 8 bits of fraction, 1 included. The guide does not
// say which way. Rounding to nearest agrees best with the rotated picture that comes
// with NVIDIA's sample simpleTexture, made by a GPU: 600 of its 262144 bytes differ, by
// one; 1837 with weights rounded down, 1162 with 9 bits, 1150 without rounding.
func fixedWeight(a float64) float64 { return math.Floor(a*256+0.5) / 256 }

// Indices of missing texels: the border, and what a fetch beyond the end of a row
// reads, which is zero.
const (
	outside = -1
	missing = -2
)

// axis is the position of one coordinate: texel i0, or between i0 and i1 with the
// weight w for i1.
type axis struct {
	i0, i1 int
	w      float64
}

// along maps a coordinate to an axis of n texels. NaN counts as 0, as in conversions to
// integers.
func (s *Sampler) along(x float64, n int, mode Mode, off int, linear bool) axis {
	if x != x {
		x = 0
	}
	size := float64(n)
	if s.normalized {
		x *= size
	} else if mode == Wrap || mode == Mirror {
		mode = Clamp // the others need normalised coordinates (CUDA runtime API)
	}
	x += float64(off)
	switch mode {
	case Wrap:
		if math.IsInf(x, 0) {
			x = 0
		}
		if x = math.Mod(x, size); x < 0 {
			x = min(x+size, math.Nextafter(size, 0))
		}
	case Mirror:
		if math.IsInf(x, 0) {
			x = 0
		}
		if x = math.Mod(x, 2*size); x < 0 {
			x = min(x+2*size, math.Nextafter(2*size, 0))
		}
	case ClampOGL:
		x = max(0, min(x, size))
		if linear {
			mode = Border
		}
	default:
		x = max(-4, min(x, size+4)) // values beyond are equivalent, and this fits an int
	}
	if !linear {
		i := index(int(math.Floor(x)), n, mode)
		return axis{i, i, 0}
	}
	x -= 0.5
	fl := math.Floor(x)
	i := int(fl)
	return axis{index(i, n, mode), index(i+1, n, mode), fixedWeight(x - fl)}
}

// index applies an address mode to the index of a texel. Mirroring reflects texels, as
// Vulkan and Direct3D define it. The guide's formula, 1 - frac(x), agrees everywhere
// except for the nearest texel of a coordinate on the edge between two, where it gives
// the other one, or one past the last.
func index(i, n int, mode Mode) int {
	if i >= 0 && i < n {
		return i
	}
	switch mode {
	case Wrap:
		return (i%n + n) % n
	case Mirror:
		if i = (i%(2*n) + 2*n) % (2 * n); i >= n {
			i = 2*n - 1 - i
		}
		return i
	case Border:
		return outside
	}
	return max(0, min(i, n-1))
}

// read reads one level: one texel, or the blend of the two, four or eight nearest.
func (op *Op) read(p *point, level int, c *[3]float64, off *[3]int, dims int) (v [4]uint32, ok bool) {
	lv := &p.t.levels[level]
	size := [3]int{lv.w, lv.h, lv.d}
	linear := p.smp.linear && p.t.format.Float() && !op.Integer
	var ax [3]axis
	for k := range dims {
		switch {
		case op.Integer && !op.Cube:
			ax[k] = op.fetchAxis(p, c[k]+float64(off[k]), size[k], k)
		case op.Cube:
			// Faces are not blended with each other: each ends at its edge.
			s := Sampler{normalized: true}
			ax[k] = s.along(c[k], size[k], Clamp, 0, linear)
		default:
			ax[k] = p.smp.along(c[k], size[k], p.smp.mode[k], off[k], linear)
		}
	}
	if !linear {
		return p.texel(lv, ax[0].i0, ax[1].i0, ax[2].i0)
	}
	// Products of weights and texels are exact in f64; the sum is rounded once to f32.
	// Texels of weight 0 do not count, not even infinities. A channel that the format
	// lacks is constant, except in comparisons.
	var sum [4]float64
	channels := p.t.channels
	if p.cmp {
		channels = 4
	}
	for corner := range 1 << dims {
		weight := 1.0
		var at [3]int
		for k := range dims {
			if corner>>k&1 != 0 {
				weight *= ax[k].w
				at[k] = ax[k].i1
			} else {
				weight *= 1 - ax[k].w
				at[k] = ax[k].i0
			}
		}
		if weight == 0 {
			continue
		}
		if p.add(lv, &at, weight, &sum) {
			continue
		}
		t, ok := p.texel(lv, at[0], at[1], at[2])
		if !ok {
			return v, false
		}
		for k := range channels {
			sum[k] += weight * float64(math.Float32frombits(t[k]))
		}
	}
	v[3] = p.t.format.one()
	for k := range channels {
		v[k] = math.Float32bits(float32(sum[k]))
	}
	return v, true
}

// unsignedFraction is the fraction for each byte.
var unsignedFraction = func() (list [256]float64) {
	for i := range list {
		list[i] = float64(math.Float32frombits(fmtU8Norm.decode([]byte{byte(i)})))
	}
	return list
}()

// add adds the weighted channels of a texel of the most common formats to a sum. It
// reports whether it could: the texel has such a format, exists, and is not compared.
func (p *point) add(lv *level, at *[3]int, weight float64, sum *[4]float64) bool {
	t := p.t
	if at[0] < 0 || at[1] < 0 || at[2] < 0 || p.cmp || t.srgb || t.format != fmtF32 && t.format != fmtU8Norm {
		return false
	}
	a := lv.addr + uint64(p.layer)*lv.layer + uint64(at[2])*lv.slice + uint64(at[1])*lv.row + uint64(at[0]*t.size) // samples are not filtered
	b := p.x.View.ReadSpan(a, t.size)
	if b == nil {
		return false
	}
	p.x.Addr[p.lane] = a
	if t.format == fmtU8Norm {
		for k := range t.channels {
			sum[k&3] += weight * unsignedFraction[b[k]]
		}
		return true
	}
	for k := range t.channels {
		sum[k&3] += weight * float64(math.Float32frombits(le.Uint32(b[4*k:])))
	}
	return true
}

// fetchAxis is the position of an integer coordinate. One-dimensional textures read
// zero out of range, as tex1Dfetch does; the others follow the address mode, of which
// only border and clamp apply.
func (op *Op) fetchAxis(p *point, x float64, n, k int) axis {
	i := int(x)
	if i < 0 || i >= n {
		if op.Dims == 1 && p.x.Layer == nil {
			i = missing
		} else if p.smp.mode[k] == Border {
			i = outside
		} else {
			i = max(0, min(i, n-1))
		}
	}
	return axis{i, i, 0}
}

// linearOf is the linear value of each byte of sRGB, as f32 (IEC 61966-2-1).
var linearOf = func() (list [256]uint32) {
	for i := range list {
		c := float64(i) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		list[i] = math.Float32bits(float32(c))
	}
	return list
}()

// border is a channel of the border colour, as register bits. The colour is given in
// floats; for integer texels it is their value, rounded to zero. (Assumed: CUDA does
// not say.)
func (f Format) border(s *Sampler, k int) uint32 {
	c := s.border[k]
	switch {
	case f.Float():
		return math.Float32bits(c)
	case c != c:
		return 0
	case f.Signed():
		return uint32(int32(max(math.MinInt32, min(float64(c), math.MaxInt32))))
	}
	return uint32(max(0, min(float64(c), math.MaxUint32)))
}

// texel reads one texel as register bits: the border outside the image; for channels
// that the format lacks, one for alpha and zero for the others (as OpenCL defines its
// channel orders, which PTX refers to).
func (p *point) texel(lv *level, x, y, z int) (v [4]uint32, ok bool) {
	t := p.t
	v[3] = t.format.one()
	in := x >= 0 && y >= 0 && z >= 0
	switch {
	case x == missing:
		clear(v[:t.channels])
	case !in:
		for k := range t.channels {
			v[k] = t.format.border(p.smp, k)
		}
	default:
		a := lv.addr + uint64(p.layer)*lv.layer + uint64(z)*lv.slice + uint64(y)*lv.row + uint64(x*t.samples+p.samp)*uint64(t.size)
		p.x.Addr[p.lane] = a
		b := p.x.View.ReadSpan(a, t.size)
		if b == nil {
			p.x.failAt(p.lane, p.x.View.Fault(a, t.size, false), "texel (%d,%d,%d) of %s: %v", x, y, z, p.slot.name)
			return v, false
		}
		t.decode(b, &v)
	}
	if p.cmp {
		// The comparison is "reference is not above" in every channel. (Assumed:
		// PTX has no place for another; it is the default of shadow maps.)
		for k := range v {
			pass := p.ref <= math.Float32frombits(v[k])
			v[k] = 0
			if pass {
				v[k] = 0x3f800000
			}
		}
	}
	return v, true
}

// decode reads the channels of a texel as register bits.
func (t *image) decode(b []byte, v *[4]uint32) {
	switch {
	case t.format == fmtF32 || t.format == fmtU32 || t.format == fmtS32:
		for k := range t.channels {
			v[k] = le.Uint32(b[4*k:])
		}
	case t.srgb:
		for k := range t.channels {
			v[k] = linearOf[b[k]]
		}
		if t.channels == 4 {
			v[3] = t.format.decode(b[3:])
		}
	default:
		step := t.format.Bytes()
		for k := range t.channels {
			v[k] = t.format.decode(b[k*step:])
		}
	}
}

// nearest is Read for the most common case: all lanes read the nearest texel of one
// image, or fetch it by index. It does what sample does, but looks up what is common to
// all lanes only once.
func (op *Op) nearest(x *Access, slot *Slot, smp *Sampler, m uint32) bool {
	t, lv := &slot.tex, &slot.tex.levels[0]
	size, step := [3]int{lv.w, lv.h, lv.d}, [3]uint64{uint64(t.size), lv.row, lv.slice}
	p := point{x: x, slot: slot, t: t, smp: smp}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p.layer = t.first
		if x.Layer != nil {
			p.layer += int(min(x.Layer[i], uint32(t.layers-1)))
		}
		at := [3]int{}
		addr, inside := lv.addr+uint64(p.layer)*lv.layer, true
		for k := range op.dims(t) {
			bits := x.Coord[k][i]
			n := size[k]
			switch {
			case op.Integer:
				at[k] = op.fetchAxis(&p, float64(int32(bits)), n, k).i0
			case !smp.normalized && smp.mode[k] != Border:
				at[k] = clampedTexel(math.Float32frombits(bits), n)
			default:
				at[k] = smp.along(float64(math.Float32frombits(bits)), n, smp.mode[k], 0, false).i0
			}
			if at[k] < 0 {
				inside = false
				break
			}
			addr += uint64(at[k]) * step[k]
		}
		v := [4]uint32{3: t.format.one()}
		var b []byte
		if inside {
			b = x.View.ReadSpan(addr, t.size)
		}
		if b != nil {
			x.Addr[i] = addr
			t.decode(b, &v)
		} else { // the border, or a fault
			p.lane = i
			var ok bool
			if v, ok = p.texel(lv, at[0], at[1], at[2]); !ok {
				return false
			}
		}
		op.put(x, t.format, i, v)
	}
	return true
}

// clampedTexel is the texel at a coordinate that counts texels, of n of them, or the
// one at the edge.
func clampedTexel(x float32, n int) int {
	switch {
	case !(x > 0): // and NaN
		return 0
	case float64(x) >= float64(n):
		return n - 1
	}
	return int(x)
}

// gather4 reads one channel of the four texels that linear filtering would
// blend, counter-clockwise from the lower left (y points down).
func (op *Op) gather4(p *point, c *[3]float64, off *[3]int) (v [4]uint32, ok bool) {
	lv := &p.t.levels[0]
	size := [2]int{lv.w, lv.h}
	var ax [2]axis
	for k := range ax {
		if op.Cube {
			s := Sampler{normalized: true}
			ax[k] = s.along(c[k], size[k], Clamp, 0, true)
		} else {
			ax[k] = p.smp.along(c[k], size[k], p.smp.mode[k], off[k], true)
		}
	}
	for k, at := range [4][2]int{{ax[0].i0, ax[1].i1}, {ax[0].i1, ax[1].i1}, {ax[0].i1, ax[1].i0}, {ax[0].i0, ax[1].i0}} {
		t, ok := p.texel(lv, at[0], at[1], 0)
		if !ok {
			return v, false
		}
		v[k] = t[op.Gather]
	}
	return v, true
}
