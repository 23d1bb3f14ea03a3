package sass

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: textures and surfaces. What the registers of an instruction hold is in isa/sass
// (Inst.Tex), how texels are read in package texture.
//
// The texture unit gets the lower half of a handle: from a word of a constant bank, a uniform
// register, or a general one. The word is a kernel's parameter, or a reference's, which the machine
// fills at launch.

func init() {
	put(decodeTexture, sass.OpTEX, sass.OpTLD, sass.OpTLD4, sass.OpTXD)
	put(decodeTXQ, sass.OpTXQ)
	put(decodeSurface, sass.OpSULD, sass.OpSUST)
}

// texel is a decoded texture or surface instruction. Numbers of sources are -1 for what it lacks.
type texel struct {
	op     texture.Op
	coord  [3]int
	grad   [2][3]int
	handle int
	layer  int // in the lower half
	sample int
	lod    int
	depth  int // to compare with
	offset int
	bits   int    // of each coordinate's offset
	from   int    // the lowest of them
	out    [4]int // channel's result, -1 for those that reach no register

	queries [4]*texture.Query // TXQ: by channel

	surface texture.Surface
	store   bool
	signed  bool
	value   int // first source of a store's values
	values  int // registers of a surface's data
}

// textured begins the decoding of all texture and surface instructions.
func (d *dec) textured() (*texel, sass.Tex, error) {
	shape, _ := d.in.Tex()
	x := &texel{op: texture.Op{Dims: shape.Dims, Cube: shape.Cube, Gather: -1}, handle: -1, layer: -1, sample: -1, lod: -1, depth: -1, offset: -1, out: [4]int{-1, -1, -1, -1}}
	x.coord, x.grad = [3]int{-1, -1, -1}, [2][3]int{{-1, -1, -1}, {-1, -1, -1}}
	if d.k.text.Arch >= firstNewLayout {
		return nil, shape, fmt.Errorf("%s: the words of %s are not known: those of sm_75 to sm_89 are", d.in.Op, d.k.text.Arch)
	}
	if shape.Unsure != "" {
		return nil, shape, fmt.Errorf("%s in this form: it is not known %s", d.in.Op, shape.Unsure)
	}
	d.o.mem = &access{}
	d.o.tex = x
	return x, shape, nil
}

// part enters source n as what it holds.
func (x *texel) part(p sass.TexPart, n int) {
	switch p {
	case sass.TexCoord:
		for k := range x.coord {
			if x.coord[k] < 0 {
				x.coord[k] = n
				return
			}
		}
	case sass.TexGrad:
		for k := range x.coord {
			for g := range x.grad {
				if x.grad[g][k] < 0 {
					x.grad[g][k] = n
					return
				}
			}
		}
	case sass.TexHandle:
		x.handle = n
	case sass.TexLayer:
		x.layer = n
	case sass.TexSample:
		x.sample = n
	case sass.TexLod:
		x.lod = n
	case sass.TexOffset:
		x.offset = n
	case sass.TexCompare:
		x.depth = n
	}
}

// registers adds the sources of an operand; o may be RZ or absent if there are none.
func (d *dec) registers(x *texel, o *sass.Operand, parts []sass.TexPart) error {
	if len(parts) == 0 {
		if o != nil && o.Reg != sass.RZ {
			return fmt.Errorf("%s in this form: it is not known what %v holds", d.in.Op, o)
		}
		return nil
	}
	if o == nil {
		return errForm
	}
	for i, p := range parts {
		r := d.literal(0)
		if o.Reg != sass.RZ {
			var err error
			if r, err = d.general(int(o.Reg) + i); err != nil {
				return err
			}
		}
		x.part(p, int(d.o.nsrc))
		if err := d.add(plain(r)); err != nil {
			return err
		}
	}
	return nil
}

// handle adds the source of the handle, unless a register of the operands has it.
func (d *dec) handle(x *texel) error {
	if x.handle >= 0 {
		return nil
	}
	x.handle = int(d.o.nsrc)
	var numbers []*sass.Operand
	for i := range d.in.Operands {
		o := &d.in.Operands[i]
		switch {
		case o.Kind == sass.UReg:
			r, err := d.word(o, 0)
			if err != nil {
				return err
			}
			if n := d.in.Operands[i+1].Imm; n != 0 {
				return fmt.Errorf("%s with number %d after %v is not supported: only 0 is known", d.in.Op, n, o)
			}
			return d.add(plain(r))
		case o.Role == sass.C && o.Kind == sass.Reg:
			return d.addWords(o, 1)
		case o.Kind == sass.Imm:
			numbers = append(numbers, o)
		}
	}
	if len(numbers) < 2 {
		return errForm
	}
	bank, word := numbers[0].Imm, numbers[1].Imm
	if bank >= sass.ConstBanks {
		return fmt.Errorf("%s: there is no constant bank %d", d.in.Op, bank)
	}
	return d.add(plain(d.constant(int(bank), 4*word)))
}

// channels makes the results of the channels in mask: two in Rd, the others in Rd2.
func (d *dec) channels(x *texel, mask uint8) error {
	n := 0
	for c := range x.out {
		if mask>>c&1 != 0 {
			x.out[c] = n
			n++
		}
	}
	if err := d.result(min(n, 2)); err != nil {
		return err
	}
	if n > 2 {
		return d.resultAt(&d.in.Operands[0], n-2)
	}
	return nil
}

// batches are modifiers that do not affect values: which instructions the texture unit may take
// together.
var batches = []string{"SCR", "BATCH_START", "BATCH_TILE", "BATCH_END"}

func decodeTexture(d *dec) error {
	x, shape, err := d.textured()
	if err != nil {
		return err
	}
	known := append([]string{"B", "AOFFI"}, batches...)
	x.bits = 4
	switch d.in.Op {
	case sass.OpTEX:
		// NVIDIA's compiler makes tex1D an access of two dimensions whose second is 0 (sm_75).
		x.op.Flat = true
		known = append(known, "LZ", "LL", "DC")
		if !d.in.Has("LZ") && !d.in.Has("LL") {
			if err := d.only(append(known, "NDV")...); err != nil {
				return err
			}
			return errors.New("TEX without .LZ or .LL chooses a level by the coordinates of adjacent threads, which is not supported")
		}
	case sass.OpTLD:
		known = append(known, "LZ", "LL", "MS")
		x.op.Integer = true
	case sass.OpTLD4:
		known = append(known, "R", "G", "A", "DC")
		x.bits = 8
		for c, name := range []string{"R", "G", "B", "A"} {
			if d.in.Has(name) {
				x.op.Gather = c
				if name != "B" {
					break
				}
			}
		}
		if shape.Dims < 2 || shape.Dims == 3 && !shape.Cube {
			return fmt.Errorf("TLD4 in this form: four texels of %d dimensions", shape.Dims)
		}
	}
	if err := d.only(known...); err != nil {
		return err
	}
	if shape.Cube && d.in.Has("AOFFI") {
		return errors.New("an offset on a cube, whose faces have no common directions, is not supported")
	}
	switch {
	case d.in.Op == sass.OpTXD:
		x.op.Lod = texture.LodGrad
	case d.in.Has("LL"):
		x.op.Lod = texture.LodLevel
	case d.in.Op == sass.OpTEX:
		x.op.Lod = texture.LodZero
	}
	if err := d.registers(x, d.in.Find(sass.A), shape.First); err != nil {
		return err
	}
	if err := d.registers(x, d.in.Find(sass.B), shape.Second); err != nil {
		return err
	}
	if d.in.Op == sass.OpTXD && d.in.Has("AOFFI") {
		x.offset, x.from = x.layer, 16
	}
	if !shape.Array {
		x.layer = -1
	}
	if err := d.handle(x); err != nil {
		return err
	}
	d.o.run = opTexture
	return d.channels(x, shape.Mask)
}

// texAccess gives the operands of an access.
func (w *warp) texAccess(in *inst, p *pending) texture.Access {
	t := in.tex
	a := texture.Access{View: w.blk.View, Addr: &w.addr}
	row := func(n int) *[32]uint32 {
		if n < 0 {
			return nil
		}
		return p.s[n]
	}
	for k := range t.coord {
		a.Coord[k], a.Grad[0][k], a.Grad[1][k] = row(t.coord[k]), row(t.grad[0][k]), row(t.grad[1][k])
	}
	a.Sample, a.Lod, a.Compare = row(t.sample), row(t.lod), row(t.depth)
	if t.layer >= 0 {
		a.Layer = &w.tmp[0]
		for i, v := range p.s[t.layer] {
			a.Layer[i] = v & 0xffff
		}
	}
	if t.offset >= 0 {
		for k := range t.op.Dims {
			a.Offset[k] = &w.tmp[1+k]
			for i, v := range p.s[t.offset] {
				a.Offset[k][i] = uint32(int32(v<<(32-t.bits*(k+1)-t.from)) >> (32 - t.bits))
			}
		}
	}
	w.addr = [32]uint64{}
	return a
}

// texAccessed notes which lanes have accessed memory, and makes a fault of an access the warp's.
func (w *warp) texAccessed(in *inst, p *pending, a *texture.Access) {
	p.at = 0
	for m := p.mask; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; w.addr[i] != 0 {
			p.at |= 1 << i
		}
	}
	if f := a.Fault; f != nil {
		w.failAs(f.Kind, in, 1<<f.Lane, "%s", f.Text)
	}
}

// target finds what lane i's handle stands for, nil after a fault.
func (w *warp) target(in *inst, p *pending, i int, want texture.Kind) *texture.Slot {
	s, err := w.blk.im.m.tex.Get(uint64(p.s[in.tex.handle][i]), want, false)
	if err != nil {
		w.failf(in, 1<<i, "%v", err)
	}
	return s
}

// same reports whether lanes m have the same value in a row.
func same(row *[32]uint32, m uint32) bool {
	v := row[bits.TrailingZeros32(m)&31]
	for ; m != 0; m &= m - 1 {
		if row[bits.TrailingZeros32(m)&31] != v {
			return false
		}
	}
	return true
}

func opTexture(w *warp, in *inst, p *pending, m uint32) {
	t := in.tex
	a := w.texAccess(in, p)
	for c, n := range t.out {
		if n >= 0 {
			a.Out[c] = p.d[n]
		}
	}
	t.op.Read(&a, m, same(p.s[t.handle], m), func(i int) (*texture.Slot, texture.Sampler) {
		s := w.target(in, p, i, texture.IsTexture)
		if s == nil {
			return nil, texture.Sampler{}
		}
		return s, s.Sampler()
	})
	w.texAccessed(in, p, &a)
}

// dimension are the attributes that TXQ gives by channel, of all but cubes (Mesa asks for these
// channels); zero where the texture has no such dimension, as PTX has it.
var dimension = [4]string{"width", "height", "", "num_mipmap_levels"}

func decodeTXQ(d *dec) error {
	x, shape, err := d.textured()
	if err != nil {
		return err
	}
	if err := d.only(append([]string{"B"}, batches...)...); err != nil {
		return err
	}
	what := ""
	for i := range d.in.Operands {
		if o := &d.in.Operands[i]; o.Kind == sass.Word {
			what = o.Suffix
		}
	}
	names := dimension
	switch {
	case what == "TEX_HEADER_TEXTURE_TYPE" && shape.Mask == 1<<2:
		names = [4]string{2: "num_samples"}
	case what != "TEX_HEADER_DIMENSION":
		return fmt.Errorf("TXQ of %s with mask %#x is not supported: only TEX_HEADER_DIMENSION is, and the samples in channel 2 of TEX_HEADER_TEXTURE_TYPE", what, shape.Mask)
	}
	for c, name := range names {
		if q, ok := texture.Queries[name]; ok {
			x.queries[c] = &q
		}
	}
	if err := d.registers(x, d.in.Find(sass.A), shape.First); err != nil {
		return err
	}
	if err := d.handle(x); err != nil {
		return err
	}
	d.o.mem, d.o.run = nil, opTXQ
	return d.channels(x, shape.Mask)
}

func opTXQ(w *warp, in *inst, p *pending, m uint32) {
	t := in.tex
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := w.target(in, p, i, texture.IsTexture)
		if s == nil {
			return
		}
		for c, n := range t.out {
			if n < 0 {
				continue
			}
			q := t.queries[c]
			if q == nil {
				if s.Cube() {
					w.failf(in, 1<<i, "%s is a cube: what TXQ gives for its layers is not known", s.Name())
					return
				}
				q = &depth
				if s.Layered() {
					q = &layers
				}
			}
			v, err := q.Of(s, p.s[t.lod][i])
			if err != nil {
				w.failf(in, 1<<i, "%v", err)
				return
			}
			p.d[n][i] = v
		}
	}
}

// The third channel of TEX_HEADER_DIMENSION: the depth, or the number of layers.
var depth, layers = texture.Queries["depth"], texture.Queries["array_size"]

func decodeSurface(d *dec) error {
	x, shape, err := d.textured()
	if err != nil {
		return err
	}
	known := []string{"P", "R", "RG", "U8", "S8", "U16", "S16", "64", "128", "IGN", "TRAP", "CTA", "SM", "GPU", "SYS", "STRONG.CTA", "STRONG.SM", "STRONG.GPU", "STRONG.SYS", "STRONG", "CONSTANT", "PRIVATE", "MMIO", "1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY"}
	if d.in.Has("D") {
		if !d.in.Has("BA") {
			return fmt.Errorf("%s.D without .BA, which counts texels, is not supported", d.in.Op)
		}
		known = append(known, "D", "BA")
	}
	if err := d.only(known...); err != nil {
		return err
	}
	x.store, x.values = d.in.Op == sass.OpSUST, shape.Channels()
	x.surface = texture.Surface{Dims: shape.Dims, Name: d.in.Op.String(), Formatted: d.in.Has("P"), Bounds: texture.ClampEdge, Size: 4 * x.values}
	if !x.surface.Formatted {
		x.surface.Size, x.signed = d.in.Bytes(), d.signedData()
	}
	switch {
	case d.in.Has("IGN"):
		x.surface.Bounds = texture.Zero
	case d.in.Has("TRAP"):
		x.surface.Bounds = texture.Trap
	}
	if err := d.registers(x, d.in.Find(sass.Addr), shape.First); err != nil {
		return err
	}
	if err := d.handle(x); err != nil {
		return err
	}
	if x.store {
		x.value = int(d.o.nsrc)
		d.o.run = opSUST
		return d.addWords(d.in.Find(sass.B), x.values)
	}
	d.o.run = opSULD
	return d.result(x.values)
}

func opSULD(w *warp, in *inst, p *pending, m uint32) {
	t := in.tex
	a := w.texAccess(in, p)
	for ; m != 0 && a.Fault == nil; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := w.target(in, p, i, texture.IsSurface)
		if s == nil {
			return
		}
		var v [4]uint32
		if t.surface.Formatted {
			v, _ = t.surface.Load(&a, s, i)
		} else if b := t.surface.Bytes(&a, s, i, t.surface.Size, false); b != nil {
			switch t.surface.Size {
			case 1:
				v[0] = uint32(b[0])
				if t.signed {
					v[0] = uint32(int8(b[0]))
				}
			case 2:
				v[0] = uint32(le.Uint16(b))
				if t.signed {
					v[0] = uint32(int16(le.Uint16(b)))
				}
			default:
				for k := range t.values {
					v[k] = le.Uint32(b[4*k:])
				}
			}
		}
		for k := range t.values {
			p.d[k][i] = v[k]
		}
	}
	w.texAccessed(in, p, &a)
}

func opSUST(w *warp, in *inst, p *pending, m uint32) {
	t := in.tex
	a := w.texAccess(in, p)
	w.wrote = true
	for ; m != 0 && a.Fault == nil; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := w.target(in, p, i, texture.IsSurface)
		if s == nil {
			return
		}
		if t.surface.Formatted {
			t.surface.Store(&a, s, i, t.values, s.Format().Signed(), func(c int) uint32 { return p.s[t.value+c][i] })
			continue
		}
		b := t.surface.Bytes(&a, s, i, t.surface.Size, true)
		if b == nil {
			continue
		}
		switch t.surface.Size {
		case 1:
			b[0] = byte(p.s[t.value][i])
		case 2:
			le.PutUint16(b, uint16(p.s[t.value][i]))
		default:
			for k := range t.values {
				le.PutUint32(b[4*k:], p.s[t.value+k][i])
			}
		}
	}
	w.texAccessed(in, p, &a)
}
