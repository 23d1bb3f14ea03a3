package sass

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: matrices spread over a warp. D = A·B + C with A of M×K, B of K×N and C, D of
// M×N elements. With e elements per register, register r of lane i holds: of A, row
// i/4 + 8·(r mod 2) (M = 16) from column e·(i mod 4) + 4·e·(r/2) on; of B, column i/4 from
// row e·(i mod 4) + 4·e·r on; of C and D, the two elements of row i/4 (+ 8) and columns
// 2·(i mod 4), +1 (PTX manual, mma: the fragments of the corresponding instructions).
//
// With .SP, two of every four elements of a row of A are not zero (same manual, mma.sp). A
// comes packed, as a matrix of half as many columns, and a fifth operand gives the places
// of the elements, see places.
//
// Products are exact. How the tensor cores round their sums is not public; see num's dot
// products. Integers are exact.

func init() {
	put(decodeMMA, sass.OpHMMA, sass.OpIMMA, sass.OpBMMA, sass.OpDMMA, sass.OpQMMA, sass.OpOMMA)
	put(decodeMOVM, sass.OpMOVM)
}

// matrix is the shape of a matrix instruction.
type matrix struct {
	m, k     int
	bits     int // of an element of A and B
	a, b, c  int // registers
	from     int // first source that is C
	ka       int // columns of A as stored: k, or half of that
	meta     int // source with the places of A's elements
	first    int // lane of each four that holds the first places
	aSigned  bool
	bSigned  bool
	half     bool // D has binary16
	bf16     bool
	na, nb   num.Narrow // formats of A and B, if they have at most eight bits
	scales   int        // for each row of A and column of B, 0 if there are none
	and, sat bool
	round    num.Round
	pa, pb   []int16 // places of the first elements of A's and B's registers, each for 32 lanes
}

// floatTile and intTile hold the elements of A by rows and of B by columns; c is C, then D.
// They live on the stack: in a timing run the blocks of many SMs take turns, and what each
// kept for itself would not stay in the host's caches.
type floatTile struct {
	a     [16 * 64]float32
	b     [8 * 64]float32
	panel num.FloatPanel
	c     [16][num.Columns]uint32
}

type intTile struct {
	a     [16 * 64]int32
	b     [8 * 64]int32
	panel num.IntPanel
	c     [16][num.Columns]uint32
}

func decodeMMA(d *dec) error {
	x := &matrix{}
	if x.m, _, x.k = d.in.Shape(); x.k == 0 {
		return errForm
	}
	if err := d.elements(x); err != nil {
		return err
	}
	sparse, mostB := d.in.Has("SP"), 2
	x.ka = x.k
	if sparse {
		x.ka, mostB = x.k/2, 4
		if x.m != 16 || x.bits != 16 && x.bits != 8 || x.ka*x.bits != 256 {
			return errForm
		}
	}
	x.a, x.b, x.c = x.m*x.ka*x.bits/1024, 8*x.k*x.bits/1024, x.m*8/32
	if x.half {
		x.c /= 2
	}
	if x.bits == 64 {
		x.c = 4
	}
	if x.a == 0 || x.b == 0 || x.a > 4 || x.b > mostB || x.k*x.bits > 1024 {
		return errForm
	}
	x.lay()
	d.o.mma = x
	d.o.run = matrixRuns[d.in.Op]
	if sparse {
		d.o.run = opSparse
	}
	return d.fragments(x, sparse)
}

// matrixRuns are the operations of matrices that are not sparse.
var matrixRuns = map[sass.Op]func(*warp, *inst, *pending, uint32){
	sass.OpHMMA: opHMMA, sass.OpQMMA: opHMMA, sass.OpOMMA: opHMMA, sass.OpIMMA: opIMMA, sass.OpBMMA: opBMMA, sass.OpDMMA: opDMMA,
}

// elements decodes the formats of the elements.
func (d *dec) elements(x *matrix) error {
	in := d.in
	switch in.Op {
	case sass.OpHMMA:
		if err := d.only("1684", "1688", "16816", "16832", "SP", "F16", "F32", "BF16", "TF32"); err != nil {
			return err
		}
		x.bits, x.half, x.bf16 = 16, !in.Has("F32"), in.Has("BF16")
		if in.Has("TF32") {
			x.bits = 32
		}
		if (x.bf16 || x.bits == 32) && x.half {
			return errForm
		}
	case sass.OpIMMA:
		x.sat = in.Has("SAT")
		return x.integers(in.Mods)
	case sass.OpQMMA, sass.OpOMMA:
		x.bits, x.half = 8, in.Has("F16")
		for _, m := range in.Mods {
			if n, ok := narrows[m]; ok {
				x.na, x.nb = x.nb, n
			}
		}
		if in.Op == sass.OpOMMA {
			x.bits, x.scales = 4, 2
			if in.Has("4X") {
				x.scales = 4
			}
			if in.Has("E8") == in.Has("UE4M3") || in.Has("UE4M3") != in.Has("4X") || in.Has("SP") {
				return errForm
			}
		}
	case sass.OpBMMA:
		x.bits, x.and = 1, in.Has("AND")
	case sass.OpDMMA:
		if err := d.only("884", "8x8x4", "RN", "RM", "RP", "RZ"); err != nil {
			return err
		}
		x.bits, x.round = 64, d.rounding()
	}
	return nil
}

// integers decodes the formats of A and B among the modifiers: S8, U4.
func (x *matrix) integers(mods []string) error {
	signs := 0
	for _, m := range mods {
		if t := strings.TrimLeft(m, "US"); len(m) != 2 || t != "8" && t != "4" {
			continue
		}
		x.bits = int(m[1] - '0')
		if signs == 0 {
			x.aSigned = m[0] == 'S'
		} else {
			x.bSigned = m[0] == 'S'
		}
		signs++
	}
	if signs != 2 {
		return errForm
	}
	return nil
}

// fragments decodes the operands.
func (d *dec) fragments(x *matrix, sparse bool) error {
	if err := d.result(x.c); err != nil {
		return err
	}
	v := d.values()
	want := 3
	switch {
	case sparse:
		want = 5
	case x.scales > 0:
		want = 6
	}
	if len(v) != want {
		return errForm
	}
	for i, n := range []int{x.a, x.b, x.c} {
		o := v[i]
		if i == 2 {
			x.from = int(d.o.nsrc)
		}
		if o.Suffix != "" && o.Suffix != "ROW" && o.Suffix != "COL" || i == 2 && (o.Neg || o.Abs) {
			return errForm
		}
		if err := d.addElements(o, n, x); err != nil {
			return err
		}
	}
	if sparse {
		return d.places(v[3], v[4], x)
	}
	if x.scales > 0 {
		if v[5].Reg != sass.URZ { // which bytes and lanes hold the scales
			return errForm
		}
		for _, o := range v[3:5] {
			if err := d.addWords(o, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// addElements appends n words of a fragment; signs apply to its elements.
func (d *dec) addElements(o *sass.Operand, n int, x *matrix) error {
	for i := range n {
		r, err := d.word(o, i)
		if err != nil {
			return err
		}
		sign := uint32(1 << 31)
		switch {
		case x.bits == 64 && i%2 == 0: // a lower half
			sign = 0
		case x.bits == 16:
			sign = 0x80008000
		case x.bits < 16 && (o.Neg || o.Abs):
			return errForm
		}
		if err := d.add(floatSource(r, o, sign)); err != nil {
			return err
		}
	}
	return nil
}

// places decodes the location of the places of a sparse A's elements: a register, and which
// lanes of each four hold them.
func (d *dec) places(meta, sel *sass.Operand, x *matrix) error {
	lanes := x.ka * 2 / 16 // of each four that hold places
	if meta.Kind != sass.Reg || sel.Kind != sass.Imm || sel.Imm < 0 || sel.Imm >= int64(4/lanes) {
		return errForm
	}
	x.meta, x.first = int(d.o.nsrc), int(sel.Imm)*lanes
	return d.addWords(meta, 1)
}

// sparseMax is the maximum number of elements in a row of a sparse A.
const sparseMax = 32

// places finds the column of each element of a row of a packed A. Each element is one of a
// group of four columns and has two bits. For 16-bit elements, two of each four lanes 4g to
// 4g+3 hold the bits of row g in their lower halves and those of row g+8 in their upper
// halves. For 8-bit elements, the first and the third hold those of row g, the others those
// of row g+8. Two elements in the same column, which the manual leaves undefined, are a
// fault.
func (w *warp) places(in *inst, p *pending, row int, at *[sparseMax]uint8) bool {
	x, g, high := in.mma, row&7, row>>3
	for i := range x.ka {
		bit := 2 * i
		lane, shift := 4*g+x.first+bit/16, 16*high+bit%16
		if x.bits == 8 {
			lane, shift = 4*g+bit/32*2+high, bit%32
		}
		v := p.s[x.meta][lane&31]
		at[i&(sparseMax-1)] = uint8(i/2*4) + uint8(v>>shift&3)
		if i%2 == 1 && at[i] == at[i-1] {
			w.failf(in, 1<<lane, "sparse matrix places %#08x: bits %d to %d select the same element of a group twice", v, shift-2, shift+1)
			return false
		}
	}
	return true
}

// all reports whether all lanes take part; otherwise the result of a matrix instruction is
// undefined.
func (w *warp) all(in *inst, m uint32) bool {
	if m != full {
		w.failf(in, m, "matrix instruction with only lanes %#08x active; all 32 must take part", m)
	}
	return m == full
}

// element returns bits n·e to n·e+e-1 of a register.
func element(v uint32, n, e int) uint32 { return v >> (n * e) & uint32(uint64(1)<<e-1) }

// widen is an element of other than 16 bits as a binary32; n is its format if it has at
// most eight bits. In a byte, those of four bits are in the middle (PTX manual,
// .kind::f8f6f4).
func (x *matrix) widen(v uint32, n num.Narrow) float32 {
	switch {
	case x.bits == 8 && n == num.E2M1:
		return f32(num.NarrowToF32(uint8(v>>2), n))
	case x.bits <= 8:
		return f32(num.NarrowToF32(uint8(v), n))
	}
	return f32(num.TF32ToF32(v))
}

// per is the number of elements in a register.
func (x *matrix) per() int { return max(1, 32/x.bits) }

// lay fills pa and pb.
func (x *matrix) lay() {
	per := x.per()
	for r := range x.a {
		for lane := range 32 {
			row, half := lane/4, r
			if x.m == 16 {
				row, half = row+8*(r&1), r/2
			}
			x.pa = append(x.pa, int16(row*x.ka+per*(lane%4)+4*per*half))
		}
	}
	for r := range x.b {
		for lane := range 32 {
			x.pb = append(x.pb, int16(lane/4*x.k+per*(lane%4)+4*per*r))
		}
	}
}

func opHMMA(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	x := in.mma
	var t floatTile
	x.widenAll(t.a[:], x.pa, p.s[:x.a], x.na)
	x.widenAll(t.b[:], x.pb, p.s[x.a:x.a+x.b], x.nb)
	if x.scales > 0 {
		x.scale(&t, p.s[x.from+x.c], p.s[x.from+x.c+1])
	}
	t.panel.Fill(t.b[:], x.k)
	x.takeC(&t.c, p)
	for row := range x.m {
		if a := t.a[row*x.k:][:x.k]; x.half {
			t.panel.RowF16(&t.c[row], a)
		} else {
			t.panel.RowF32(&t.c[row], a)
		}
	}
	x.giveD(&t.c, p)
}

// takeC gathers the accumulator C from its registers.
func (x *matrix) takeC(to *[16][num.Columns]uint32, p *pending) {
	for r := range x.c {
		for lane, v := range p.s[x.from+r] {
			row, col := lane/4, lane%4*2
			if x.half {
				c := &to[row+8*(r&1)]
				c[col], c[col+1] = v&0xffff, v>>16
			} else {
				to[row+8*(r>>1&1)][col+r&1] = v
			}
		}
	}
}

// giveD writes the result D.
func (x *matrix) giveD(from *[16][num.Columns]uint32, p *pending) {
	for r := range x.c {
		d := p.d[r]
		for lane := range d {
			row, col := lane/4, lane%4*2
			if x.half {
				c := &from[row+8*(r&1)]
				d[lane] = c[col] | c[col+1]<<16
			} else {
				d[lane] = from[row+8*(r>>1&1)][col+r&1]
			}
		}
	}
}

// scale multiplies the elements of A and B by their scales, one for each part of a row of A and
// of a column of B: two powers of two or four numbers of E4M3 without signs. Lane 4g has those
// of row g, lane 4g+1 those of row g+8, lane 4g those of column g, from the lowest byte on (PTX
// manual, mma with .block_scale, the selectors being 0). A product of an element with its scale
// that exceeds binary32 is infinite (assumed).
func (x *matrix) scale(t *floatTile, a, b *[32]uint32) {
	per := x.k / x.scales
	part := func(line []float32, bytes uint32) {
		for i := range line {
			v := uint8(bytes >> (8 * (i / per)))
			if x.scales == 4 {
				line[i] *= f32(num.NarrowToF32(v&0x7f, num.E4M3))
			} else {
				line[i] *= f32(num.BF16ToF32(num.UE8M0ToBF16(v)))
			}
		}
	}
	for row := range x.m {
		part(t.a[row*x.k:row*x.k+x.k], a[row%8*4+row/8])
	}
	for col := range 8 {
		part(t.b[col*x.k:col*x.k+x.k], b[4*col])
	}
}

// dotFloat returns element i of a lane's part of D: that of C plus the sum of a·b.
func (x *matrix) dotFloat(p *pending, lane, i int, a, b []float32) {
	if !x.half {
		p.d[i][lane] = num.DotF32(p.s[x.from+i][lane], a, b)
		return
	}
	h := uint32(num.DotF32F16(uint16(p.s[x.from+i/2][lane]>>(i%2*16)), a, b))
	if i%2 == 0 {
		p.d[i/2][lane] = h
	} else {
		p.d[i/2][lane] |= h << 16
	}
}

// opSparse is HMMA.SP and IMMA.SP: only those elements of B's columns contribute that pair
// with one of A's.
func opSparse(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	x := in.mma
	var f floatTile
	var t intTile
	if x.bits == 16 {
		x.widenAll(f.a[:], x.pa, p.s[:x.a], x.na)
		x.widenAll(f.b[:], x.pb, p.s[x.a:x.a+x.b], x.nb)
	} else {
		x.unpackAll(t.a[:], x.pa, p.s[:x.a], x.aSigned)
		x.unpackAll(t.b[:], x.pb, p.s[x.a:x.a+x.b], x.bSigned)
	}
	var at [sparseMax]uint8
	for row := range x.m {
		if !w.places(in, p, row, &at) {
			return
		}
		for col := range 8 {
			lane, i := row%8*4+col/2, row/8*2+col%2
			if x.bits == 16 {
				var b [sparseMax]float32
				for k, c := range at[:x.ka] {
					b[k] = f.b[col*x.k+int(c)]
				}
				x.dotFloat(p, lane, i, f.a[row*x.ka:row*x.ka+x.ka], b[:x.ka])
				continue
			}
			var b [sparseMax]int32
			for k, c := range at[:x.ka] {
				b[k] = t.b[col*x.k+int(c)]
			}
			x.dotInt(p, lane, i, t.a[row*x.ka:row*x.ka+x.ka], b[:x.ka])
		}
	}
}

// dotInt adds a row times a column to the lane's accumulator i.
func (x *matrix) dotInt(p *pending, lane, i int, a, b []int32) {
	p.d[i][lane] = uint32(num.DotInt(int32(p.s[x.from+i][lane]), a, b, x.sat))
}

// widenAll puts the elements of registers into their places as binary32.
func (x *matrix) widenAll(dst []float32, at []int16, regs []*[32]uint32, format num.Narrow) {
	per := x.per()
	for r, reg := range regs {
		at := at[32*r:][:32]
		for lane, v := range reg {
			d := dst[at[lane]:]
			switch {
			case x.bits != 16:
				for n := range per {
					d[n] = x.widen(element(v, n, x.bits), format)
				}
			case x.bf16:
				d[0], d[1] = f32(v<<16), f32(v&0xffff0000)
			default:
				d[0], d[1] = f32(num.F16ToF32(uint16(v))), f32(num.F16ToF32(uint16(v>>16)))
			}
		}
	}
}

// unpackAll puts the elements of registers into their places as integers.
func (x *matrix) unpackAll(dst []int32, at []int16, regs []*[32]uint32, signed bool) {
	for r, reg := range regs {
		at := at[32*r:][:32]
		for lane, v := range reg {
			if d := dst[at[lane]:]; x.bits == 8 {
				num.Unpack8((*[4]int32)(d), v, signed)
			} else {
				num.Unpack4((*[8]int32)(d), v, signed)
			}
		}
	}
}

func opIMMA(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	x := in.mma
	var t intTile
	x.unpackAll(t.a[:], x.pa, p.s[:x.a], x.aSigned)
	x.unpackAll(t.b[:], x.pb, p.s[x.a:x.a+x.b], x.bSigned)
	t.panel.Fill(t.b[:], x.k, x.aSigned || x.bSigned)
	x.takeC(&t.c, p)
	for row := range x.m {
		t.panel.Row(&t.c[row], t.a[row*x.k:][:x.k], x.sat)
	}
	x.giveD(&t.c, p)
}

func opBMMA(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	x, words := in.mma, in.mma.k/32
	var a [16 * 8]uint32
	var b [8 * 8]uint32
	for lane := range 32 {
		for r := range x.a {
			row, half := lane/4, r
			if x.m == 16 {
				row, half = row+8*(r&1), r/2
			}
			a[row*words+lane%4+4*half] = p.s[r][lane]
		}
		for r := range x.b {
			b[lane/4*words+lane%4+4*r] = p.s[x.a+r][lane]
		}
	}
	for lane := range 32 {
		for i := range x.m / 4 {
			row, col := lane/4+i/2*8, lane%4*2+i%2
			p.d[i][lane] = uint32(num.DotB1(int32(p.s[x.from+i][lane]), a[row*words:row*words+words], b[col*words:col*words+words], x.and))
		}
	}
}

// opDMMA is a chain of fused multiply-adds in the order of K (assumed).
func opDMMA(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	x := in.mma
	var a, b [8 * 4]uint64
	for lane := range 32 {
		a[lane] = p.pair(0, lane) // row lane/4, k lane%4
		b[lane] = p.pair(2, lane) // column lane/4
	}
	for lane := range 32 {
		for i := range 2 {
			row, col := lane/4, lane%4*2+i
			p.setPair(2*i, lane, num.DotF64(p.pair(x.from+2*i, lane), a[4*row:4*row+4], b[4*col:4*col+4], x.round))
		}
	}
}

// decodeMOVM: transposes a matrix of 8 × 8 half words, two per lane as LDSM returns them.
func decodeMOVM(d *dec) error {
	if err := d.only("16", "MT88"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.o.run = opMOVM
	return d.sources(1)
}

func opMOVM(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	a := p.s[0]
	at := func(r, c int) uint32 { return a[r*4+c/2] >> (c % 2 * 16) & 0xffff }
	for i := range 32 {
		r, c := i/4, i%4*2
		p.d[0][i] = at(c, r) | at(c+1, r)<<16
	}
}
