package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: tex, tld4, txq and istypep. Filtering follows the CUDA programming guide,
// "Texture Fetching": coordinates are scaled exactly, weights have 8 bits of fraction.
// Choices that the guide leaves open are documented where they are made.

func init() {
	families["tex"] = decodeTex
	families["tld4"] = decodeTex
	families["txq"] = decodeTexQuery
	families["suq"] = decodeTexQuery
	families["istypep"] = decodeIstypep
}

// texOut is the form in which a texel is written to the registers.
type texOut uint8

const (
	outBits  texOut = iota // four 32-bit registers
	outF16                 // four 16-bit registers
	outF16x2               // two registers with two halves each
)

// lodMode is how a mipmap level is selected.
type lodMode uint8

const (
	lodNone  lodMode = iota // level 0, to which bias and range apply: compute threads have no neighbours for derivatives
	lodBase                 // always the first level
	lodLevel                // from the instruction
	lodGrad                 // from the derivatives of the coordinates
)

// texOp is a decoded tex or tld4, kept in extra.any.
type texOp struct {
	tex, smp texSource
	ownSmp   bool // smp is there
	texCoords
	integer bool // coordinates are s32: texels are fetched, not sampled
	out     texOut
	dst     [4]ref // none for a sink
	res     ref    // predicate: the texels are resident; none if absent
	gather  int    // component of tld4, -1 for tex
	lod     lodMode
	lodR    ref
	grad    [2][3]ref
	off     [3]ref // none without an offset
	cmp     ref    // depth to compare with, none if absent
	plain   bool   // only coordinates, and possibly a layer
}

func decodeTex(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(types) != 2 || len(in.Args) < 2 {
		return errors.New("needs a type of result, a type of coordinates, a destination and an address")
	}
	op := &texOp{res: none, gather: -1, lodR: none, cmp: none, integer: types[1] == "s32"}
	for i := range op.off {
		op.off[i] = none
		op.grad[0][i], op.grad[1][i] = none, none
	}
	var err error
	tex, smp, at, err := texParts(&in.Args[1])
	if err != nil {
		return err
	}
	if op.tex, err = d.texSource(tex, isTexture); err != nil {
		return err
	}
	if smp != nil {
		op.ownSmp = true
		if op.smp, err = d.texSource(smp, isSampler); err != nil {
			return err
		}
	}
	if op.texCoords, err = d.coords(in, at, types[1]); err != nil {
		return err
	}
	if err := op.result(d, in, types[0]); err != nil {
		return err
	}
	if in.Op == "tld4" {
		for k, c := range []string{"r", "g", "b", "a"} {
			if in.Has(c) {
				op.gather = k
			}
		}
		if op.gather < 0 || op.integer || op.dims < 2 || op.dims == 3 && !op.cube {
			return errUnsupported
		}
	}
	rest, err := op.detail(d, in, types[1])
	if err != nil {
		return err
	}
	if len(rest) > 0 && op.offsetFirst(&rest[0], len(rest)) {
		if op.cube {
			return errors.New("cannot have an offset on a cube, whose faces have no common directions")
		}
		if err := d.texRefs(&rest[0], op.off[:op.dims], "s32"); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		if op.cmp, err = d.src32(&rest[0], "f32"); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return errors.New("has too many operands")
	}
	op.plain = op.gather < 0 && op.lod != lodGrad && op.cmp == none && op.sampR == none && !op.cube && op.off == [3]ref{none, none, none}
	o.kind, o.run, o.x = kMem, texAny, &extra{any: op}
	d.describe(isa.Texture, 16, true, false)
	d.info.Unit = isa.UnitTex
	return nil
}

// detail decodes how the level of detail is chosen, and returns the operands after that.
func (op *texOp) detail(d *dec, in *ptx.Inst, coords ptx.Type) ([]ptx.Operand, error) {
	rest := in.Args[2:]
	var err error
	switch {
	case in.Has("base"):
		op.lod = lodBase
	case in.Has("level"):
		if len(rest) == 0 {
			return nil, errors.New("needs a level of detail")
		}
		op.lod = lodLevel
		op.lodR, err = d.src32(&rest[0], coords)
		rest = rest[1:]
	case in.Has("grad"):
		if len(rest) < len(op.grad) {
			return nil, errors.New("needs two derivatives")
		}
		op.lod = lodGrad
		for k := range op.grad {
			if err = d.texRefs(&rest[k], op.grad[k][:op.dims], "f32"); err != nil {
				return nil, err
			}
		}
		rest = rest[len(op.grad):]
	}
	return rest, err
}

// offsetFirst reports whether the next of n optional operands is the offset rather than
// the depth to compare with.
func (op *texOp) offsetFirst(a *ptx.Operand, n int) bool {
	switch {
	case n > 1 || a.Kind == ptx.OpVec:
		return true
	case op.dims > 1 && !(a.Kind == ptx.OpReg && a.Var != nil && a.Var.Vec > 1 && a.Elem == ""):
		return false
	case a.Kind == ptx.OpImm:
		return a.Imm.Kind == ptx.ImmInt || a.Imm.Kind == ptx.ImmUint
	case a.Kind == ptx.OpReg && a.Var != nil:
		return a.Var.Type != "f32"
	}
	return true
}

// texRefs decodes the elements of a vector operand into refs.
func (d *dec) texRefs(a *ptx.Operand, refs []ref, t ptx.Type) error {
	list, err := d.texVector(a, len(refs))
	if err != nil {
		return err
	}
	for k := range refs {
		if refs[k], err = d.src32(&list[k], t); err != nil {
			return err
		}
	}
	return nil
}

// result decodes the destination: a vector, and possibly a predicate.
func (op *texOp) result(d *dec, in *ptx.Inst, t ptx.Type) error {
	n := 4
	switch t {
	case "f16":
		op.out = outF16
	case "f16x2":
		op.out, n = outF16x2, 2
	}
	a := &in.Args[0]
	if a.Kind == ptx.OpPair {
		var err error
		if op.res, err = d.dstPred(&a.List[1]); err != nil {
			return err
		}
		a = &a.List[0]
	}
	list, err := d.texVector(a, n)
	if err != nil {
		return err
	}
	if len(list) > n {
		return fmt.Errorf("has %d destinations for %d values", len(list), n)
	}
	op.dst = [4]ref{none, none, none, none}
	for k := range list {
		if list[k].Kind == ptx.OpSink {
			continue
		}
		if op.dst[k], err = d.dst32(&list[k]); err != nil {
			return err
		}
	}
	return nil
}

// texAny is tex and tld4 of any form.
func texAny(w *warp, in *inst, m uint32) {
	op := in.x.any.(*texOp)
	var slot *texSlot
	var smp sampler
	one := op.tex.uniform(w, m) && (!op.ownSmp || op.smp.uniform(w, m))
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if slot == nil || !one {
			if slot = w.slot(&op.tex, i); slot == nil {
				return
			}
			smp = slot.tex.smp
			if op.ownSmp {
				s := w.slot(&op.smp, i)
				if s == nil {
					return
				}
				normalized := smp.normalized
				smp = s.smp
				if s.kind == isSampler {
					smp.normalized = normalized && s.smp.normalized
				}
			}
			if op.cube != slot.tex.cube {
				if op.cube {
					w.failf(1<<i, "%s is read as a cube, but it is not one", slot.name)
				} else {
					w.failf(1<<i, "%s is a cube, but it is not read as one", slot.name)
				}
				return
			}
			if op.cmp != none && !slot.tex.format.float() {
				w.failf(1<<i, "%s cannot be compared with a depth: its texels are integers", slot.name)
				return
			}
			if t := &slot.tex; op.plain && one && len(t.levels) == 1 && t.samples == 1 && (!smp.linear || op.integer || !t.format.float()) {
				op.nearest(w, slot, &smp, m)
				return
			}
		}
		p := texPoint{w: w, slot: slot, t: &slot.tex, smp: &smp, lane: i, cmp: op.cmp != none}
		v, ok := op.sample(&p)
		if !ok {
			return
		}
		op.put(w, slot.tex.format, i, v)
	}
	w.setPred(op.res, full, m)
}

// put writes the texel of lane i.
func (op *texOp) put(w *warp, f texFormat, i int, v [4]uint32) {
	if op.out != outBits {
		for k := range v {
			if f.float() {
				v[k] = uint32(num.F32ToF16(v[k], num.RN))
			} else {
				v[k] &= 0xffff
			}
		}
		if op.out == outF16x2 {
			v[0], v[1] = v[0]|v[1]<<16, v[2]|v[3]<<16
		}
	}
	for k, r := range op.dst {
		if r != none {
			w.r32[r][i] = v[k]
		}
	}
}

// texPoint is one lane's access.
type texPoint struct {
	w     *warp
	slot  *texSlot
	t     *boundTex
	smp   *sampler
	lane  int
	cmp   bool    // texels are compared with ref
	ref   float32 // depth
	layer int     // or face
	samp  int
}

func (w *warp) f32(r ref, i int) float64 {
	return float64(math.Float32frombits(w.u32(r)[i&31]))
}

// coordinate returns lane i's value of a coordinate register.
func (op *texOp) coordinate(w *warp, r ref, i int) float64 {
	if op.integer {
		return float64(int32(w.u32(r)[i&31]))
	}
	return w.f32(r, i)
}

// sample reads one lane's texel, or blends several.
func (op *texOp) sample(p *texPoint) (v [4]uint32, ok bool) {
	w, i, t := p.w, p.lane, p.t
	if op.cmp != none {
		p.ref = float32(w.f32(op.cmp, i))
	}
	layer := uint32(0)
	if op.layerR != none {
		layer = w.u32(op.layerR)[i]
	}
	perLayer := 1
	if op.cube {
		perLayer = 6
	}
	// Layers out of range give the last one (CUDA programming guide).
	p.layer = t.first + int(min(layer, uint32(t.layers/perLayer-1)))*perLayer
	if op.sampR != none {
		p.samp = int(w.u32(op.sampR)[i])
		if p.samp >= t.samples {
			w.failf(1<<i, "sample %d of %s, which has %d", p.samp, p.slot.name, t.samples)
			return v, false
		}
	}
	var c [3]float64
	var g [2][3]float64
	for k := range op.dims {
		c[k] = op.coordinate(w, op.r[k], i)
		if op.lod == lodGrad {
			g[0][k], g[1][k] = w.f32(op.grad[0][k], i), w.f32(op.grad[1][k], i)
		}
	}
	dims := op.dims
	if op.cube {
		face := cubeFace(&c, &g)
		p.layer += face
		dims = 2
	}
	var off [3]int
	for k, r := range op.off {
		if r != none {
			off[k] = int(int32(w.u32(r)[i]))
		}
	}
	if op.gather >= 0 {
		return op.gather4(p, &c, &off)
	}
	lod := 0.0
	if len(t.levels) > 1 {
		switch op.lod {
		case lodLevel:
			lod = op.coordinate(w, op.lodR, i)
		case lodGrad:
			lod = p.gradLevel(&g, dims, op.cube)
		}
	}
	l0, l1, frac := 0, 0, 0.0
	if op.lod != lodBase {
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
func (p *texPoint) levelsAt(lod float64) (l0, l1 int, frac float64) {
	last := float64(len(p.t.levels) - 1)
	if lod != lod { // NaN counts as 0
		lod = 0
	}
	lod = min(max(lod+p.smp.bias, p.smp.minLevel), p.smp.maxLevel, last)
	if !(lod > 0) {
		return 0, 0, 0
	}
	if !p.smp.mipLinear || !p.t.format.float() {
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
func (p *texPoint) gradLevel(g *[2][3]float64, dims int, cube bool) float64 {
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
func (s *sampler) along(x float64, n int, mode addressMode, off int, linear bool) axis {
	if x != x {
		x = 0
	}
	size := float64(n)
	if s.normalized {
		x *= size
	} else if mode == modeWrap || mode == modeMirror {
		mode = modeClamp // the others need normalised coordinates (CUDA runtime API)
	}
	x += float64(off)
	switch mode {
	case modeWrap:
		if math.IsInf(x, 0) {
			x = 0
		}
		if x = math.Mod(x, size); x < 0 {
			x = min(x+size, math.Nextafter(size, 0))
		}
	case modeMirror:
		if math.IsInf(x, 0) {
			x = 0
		}
		if x = math.Mod(x, 2*size); x < 0 {
			x = min(x+2*size, math.Nextafter(2*size, 0))
		}
	case modeClampOGL:
		x = max(0, min(x, size))
		if linear {
			mode = modeBorder
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
func index(i, n int, mode addressMode) int {
	if i >= 0 && i < n {
		return i
	}
	switch mode {
	case modeWrap:
		return (i%n + n) % n
	case modeMirror:
		if i = (i%(2*n) + 2*n) % (2 * n); i >= n {
			i = 2*n - 1 - i
		}
		return i
	case modeBorder:
		return outside
	}
	return max(0, min(i, n-1))
}

// read reads one level: one texel, or the blend of the two, four or eight nearest.
func (op *texOp) read(p *texPoint, level int, c *[3]float64, off *[3]int, dims int) (v [4]uint32, ok bool) {
	lv := &p.t.levels[level]
	size := [3]int{lv.w, lv.h, lv.d}
	linear := p.smp.linear && p.t.format.float() && !op.integer
	var ax [3]axis
	for k := range dims {
		switch {
		case op.integer && !op.cube:
			ax[k] = op.fetchAxis(p, c[k]+float64(off[k]), size[k], k)
		case op.cube:
			// Faces are not blended with each other: each ends at its edge.
			s := sampler{normalized: true}
			ax[k] = s.along(c[k], size[k], modeClamp, 0, linear)
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
func (p *texPoint) add(lv *texLevel, at *[3]int, weight float64, sum *[4]float64) bool {
	t := p.t
	if at[0] < 0 || at[1] < 0 || at[2] < 0 || p.cmp || t.srgb || t.format != fmtF32 && t.format != fmtU8Norm {
		return false
	}
	a := lv.addr + uint64(p.layer)*lv.layer + uint64(at[2])*lv.slice + uint64(at[1])*lv.row + uint64(at[0]*t.size) // samples are not filtered
	b := p.w.blk.View.ReadSpan(a, t.size)
	if b == nil {
		return false
	}
	p.w.addr[p.lane] = a
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
func (op *texOp) fetchAxis(p *texPoint, x float64, n, k int) axis {
	i := int(x)
	if i < 0 || i >= n {
		if op.name == "1d" {
			i = missing
		} else if p.smp.mode[k] == modeBorder {
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
func (f texFormat) border(s *sampler, k int) uint32 {
	c := s.border[k]
	switch {
	case f.float():
		return math.Float32bits(c)
	case c != c:
		return 0
	case f.signed():
		return uint32(int32(max(math.MinInt32, min(float64(c), math.MaxInt32))))
	}
	return uint32(max(0, min(float64(c), math.MaxUint32)))
}

// texel reads one texel as register bits: the border outside the image; for channels
// that the format lacks, one for alpha and zero for the others (as OpenCL defines its
// channel orders, which PTX refers to).
func (p *texPoint) texel(lv *texLevel, x, y, z int) (v [4]uint32, ok bool) {
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
		p.w.addr[p.lane] = a
		b := p.w.blk.View.ReadSpan(a, t.size)
		if b == nil {
			p.w.failAt(1<<p.lane, p.w.blk.View.Fault(a, t.size, false), "texel (%d,%d,%d) of %s: %v", x, y, z, p.slot.name)
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
func (t *boundTex) decode(b []byte, v *[4]uint32) {
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
		step := t.format.bytes()
		for k := range t.channels {
			v[k] = t.format.decode(b[k*step:])
		}
	}
}

// nearest is texAny for the most common case: all lanes read the nearest texel of one
// image, or fetch it by index. It does what sample does, but looks up what is common to
// all lanes only once.
func (op *texOp) nearest(w *warp, slot *texSlot, smp *sampler, m uint32) {
	t, lv := &slot.tex, &slot.tex.levels[0]
	size, step := [3]int{lv.w, lv.h, lv.d}, [3]uint64{uint64(t.size), lv.row, lv.slice}
	p := texPoint{w: w, slot: slot, t: t, smp: smp}
	res := m
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p.layer = t.first
		if op.layerR != none {
			p.layer += int(min(w.u32(op.layerR)[i], uint32(t.layers-1)))
		}
		at := [3]int{}
		addr, inside := lv.addr+uint64(p.layer)*lv.layer, true
		for k := range op.dims {
			bits := w.u32(op.r[k])[i]
			n := size[k]
			switch {
			case op.integer:
				at[k] = op.fetchAxis(&p, float64(int32(bits)), n, k).i0
			case !smp.normalized && smp.mode[k] != modeBorder:
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
			b = w.blk.View.ReadSpan(addr, t.size)
		}
		if b != nil {
			w.addr[i] = addr
			t.decode(b, &v)
		} else { // the border, or a fault
			p.lane = i
			var ok bool
			if v, ok = p.texel(lv, at[0], at[1], at[2]); !ok {
				return
			}
		}
		op.put(w, t.format, i, v)
	}
	w.setPred(op.res, full, res)
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
func (op *texOp) gather4(p *texPoint, c *[3]float64, off *[3]int) (v [4]uint32, ok bool) {
	lv := &p.t.levels[0]
	size := [2]int{lv.w, lv.h}
	var ax [2]axis
	for k := range ax {
		if op.cube {
			s := sampler{normalized: true}
			ax[k] = s.along(c[k], size[k], modeClamp, 0, true)
		} else {
			ax[k] = p.smp.along(c[k], size[k], p.smp.mode[k], off[k], true)
		}
	}
	for k, at := range [4][2]int{{ax[0].i0, ax[1].i1}, {ax[0].i1, ax[1].i1}, {ax[0].i1, ax[1].i0}, {ax[0].i0, ax[1].i0}} {
		t, ok := p.texel(lv, at[0], at[1], 0)
		if !ok {
			return v, false
		}
		v[k] = t[op.gather]
	}
	return v, true
}

// Enumerants of channel_order and channel_data_type: those of OpenCL, which
// the PTX manual refers to.
var (
	channelOrders = map[int]uint32{1: 0x10B0, 2: 0x10B2, 4: 0x10B5} // R, RG, RGBA
	channelTypes  = [...]uint32{
		fmtU8: 0x10DA, fmtS8: 0x10D7, fmtU16: 0x10DB, fmtS16: 0x10D8, fmtU32: 0x10DC, fmtS32: 0x10D9,
		fmtF16: 0x10DD, fmtF32: 0x10DE,
		fmtU8Norm: 0x10D2, fmtS8Norm: 0x10D0, fmtU16Norm: 0x10D3, fmtS16Norm: 0x10D1,
	}
)

// texQuery is a decoded txq or suq, kept in extra.any.
type texQuery struct {
	src   texSource
	level ref // none for level 0
	get   func(s *texSlot, lv *texLevel) uint32
}

// texQueries are the attributes that can be queried. Those of the sampling state also
// apply to a sampler reference; the others need a texture or surface.
var texQueries = map[string]struct {
	sampling bool
	get      func(s *texSlot, lv *texLevel) uint32
}{
	"width":  {get: func(_ *texSlot, lv *texLevel) uint32 { return uint32(lv.w) }},
	"height": {get: func(s *texSlot, lv *texLevel) uint32 { return present(s.tex.h, lv.h) }},
	"depth":  {get: func(s *texSlot, lv *texLevel) uint32 { return present(s.tex.d, lv.d) }},
	"channel_data_type": {get: func(s *texSlot, _ *texLevel) uint32 {
		return channelTypes[s.tex.format]
	}},
	"channel_order":     {get: func(s *texSlot, _ *texLevel) uint32 { return channelOrders[s.tex.channels] }},
	"normalized_coords": {get: func(s *texSlot, _ *texLevel) uint32 { return b2u(s.tex.smp.normalized) }},
	"num_mipmap_levels": {get: func(s *texSlot, _ *texLevel) uint32 { return uint32(len(s.tex.levels)) }},
	"num_samples":       {get: func(s *texSlot, _ *texLevel) uint32 { return uint32(s.tex.samples) }},
	"array_size": {get: func(s *texSlot, _ *texLevel) uint32 {
		if !s.tex.layered {
			return 0
		}
		if s.tex.cube {
			return uint32(s.tex.layers / 6)
		}
		return uint32(s.tex.layers)
	}},
	"memory_layout":             {get: func(*texSlot, *texLevel) uint32 { return 1 }}, // linear, as all of ours are
	"force_unnormalized_coords": {sampling: true, get: func(s *texSlot, _ *texLevel) uint32 { return b2u(!s.sampling().normalized) }},
	"filter_mode":               {sampling: true, get: func(s *texSlot, _ *texLevel) uint32 { return b2u(s.sampling().linear) }},
	"addr_mode_0":               {sampling: true, get: func(s *texSlot, _ *texLevel) uint32 { return uint32(s.sampling().mode[0]) }},
	"addr_mode_1":               {sampling: true, get: func(s *texSlot, _ *texLevel) uint32 { return uint32(s.sampling().mode[1]) }},
	"addr_mode_2":               {sampling: true, get: func(s *texSlot, _ *texLevel) uint32 { return uint32(s.sampling().mode[2]) }},
}

// sampling is the sampling state of a sampler reference or of a texture.
func (s *texSlot) sampling() *sampler {
	if s.kind == isSampler {
		return &s.smp
	}
	return &s.tex.smp
}

// present is the size of a level, 0 for a dimension that the texture lacks.
func present(given, size int) uint32 {
	if given == 0 {
		return 0
	}
	return uint32(size)
}

// decodeTexQuery decodes txq and suq.
func decodeTexQuery(d *dec, in *ptx.Inst, o *inst) error {
	q := &texQuery{level: none}
	want := isTexture
	if in.Op == "suq" {
		want = isSurface
	}
	for _, m := range in.Mods {
		if e, ok := texQueries[m]; ok {
			q.get = e.get
			if e.sampling {
				want = isSampler
			}
		}
	}
	if q.get == nil {
		return errUnsupported
	}
	if n := 2 + int(b2u(in.Has("level"))); len(in.Args) != n {
		return fmt.Errorf("takes %d operands", n)
	}
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	if q.src, err = d.texSource(&in.Args[1], want); err != nil {
		return err
	}
	q.src.query = true
	if len(in.Args) > 2 {
		if q.level, err = d.src32(&in.Args[2], "u32"); err != nil {
			return err
		}
	}
	d.info.Unit = isa.UnitTex
	o.kind, o.x = kMem, &extra{any: q}
	o.run = func(w *warp, in *inst, m uint32) {
		q := in.x.any.(*texQuery)
		d := &w.r32[in.d]
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			s := w.slot(&q.src, i)
			if s == nil {
				return
			}
			var lv *texLevel
			if len(s.tex.levels) > 0 { // samplers have none
				l := uint32(0)
				if q.level != none {
					if l = w.u32(q.level)[i]; l >= uint32(len(s.tex.levels)) {
						w.failf(1<<i, "level %d of %s, which has %d", l, s.name, len(s.tex.levels))
						return
					}
				}
				lv = &s.tex.levels[l]
			}
			d[i] = q.get(s, lv)
		}
	}
	return nil
}

// decodeIstypep tests what a handle refers to. A texture object counts as a texture and
// a surface, since it can be used as both.
func decodeIstypep(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes two operands")
	}
	var err error
	if o.d, err = d.dstPred(&in.Args[0]); err != nil {
		return err
	}
	want, object := isTexture, true
	switch {
	case in.Has("samplerref"):
		want, object = isSampler, false
	case in.Has("surfref"):
		want = isSurface
	}
	src, err := d.src64(&in.Args[1], "b64")
	if err != nil {
		return err
	}
	o.a = src
	o.run = func(w *warp, in *inst, m uint32) {
		r := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if s := w.blk.im.m.tex.slotOf(w.u64(in.a)[i]); s != nil && (s.kind == want || s.kind == isObject && object) {
				r |= 1 << i
			}
		}
		w.setPred(in.d, r, m)
	}
	return nil
}
