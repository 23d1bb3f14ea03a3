package ptx

//go:generate go run ./opgen

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: moves, comparisons, selection, predicate logic, carries.

func init() {
	families["mov"] = decodeMov
	families["setp"] = decodeSetp
	families["set"] = decodeSet
	families["selp"] = decodeSelp
	families["slct"] = decodeSlct
	families["lop3"] = decodeLop3
	for _, op := range []string{"and", "or", "xor", "not"} {
		families[op] = decodeLogic
	}
	for _, op := range []string{"add", "sub", "mad"} {
		families[op] = decodeCarryOut
	}
	for _, op := range []string{"addc", "subc", "madc"} {
		families[op] = decodeCarry
	}
}

// cmpEntry is a row of the generated table of comparisons.
type cmpEntry struct {
	sig  string
	unit isa.Unit
	run  func(w *warp, in *inst, m uint32) uint32
}

func add16x2(a, b uint32) uint32 {
	return (a+b)&0xffff | (a>>16+b>>16)<<16
}

func minU16x2(a, b uint32) uint32 {
	return min(a&0xffff, b&0xffff) | min(a>>16, b>>16)<<16
}

func maxU16x2(a, b uint32) uint32 {
	return max(a&0xffff, b&0xffff) | max(a>>16, b>>16)<<16
}

func pack16x2(lo, hi int16) uint32 { return uint32(uint16(lo)) | uint32(uint16(hi))<<16 }

func minS16x2(a, b uint32, relu bool) uint32 {
	lo, hi := min(int16(a), int16(b)), min(int16(a>>16), int16(b>>16))
	if relu {
		lo, hi = max(lo, 0), max(hi, 0)
	}
	return pack16x2(lo, hi)
}

func maxS16x2(a, b uint32, relu bool) uint32 {
	lo, hi := max(int16(a), int16(b)), max(int16(a>>16), int16(b>>16))
	if relu {
		lo, hi = max(lo, 0), max(hi, 0)
	}
	return pack16x2(lo, hi)
}

// cnot is 1 for zero and 0 otherwise.
func cnot[T uint16 | uint32 | uint64](a T) T {
	if a == 0 {
		return 1
	}
	return 0
}

// boolOp is the operation that combines a comparison with a predicate.
type boolOp uint8

const (
	boolNone boolOp = iota
	boolAnd
	boolOr
	boolXor
)

func boolOpOf(in *ptx.Inst) boolOp {
	switch {
	case in.Has("and"):
		return boolAnd
	case in.Has("or"):
		return boolOr
	case in.Has("xor"):
		return boolXor
	}
	return boolNone
}

func (o boolOp) apply(a, b uint32) uint32 {
	switch o {
	case boolAnd:
		return a & b
	case boolOr:
		return a | b
	case boolXor:
		return a ^ b
	}
	return a
}

// comparison is a decoded comparison, kept in extra.any.
type comparison struct {
	run  func(w *warp, in *inst, m uint32) uint32
	op   boolOp
	pred ref // combined with, none if op is boolNone
	neg  bool
	q    ref // second destination, none if absent
	one  uint32
}

// combine runs the comparison for lanes m; r is its result combined with the
// predicate, and nr the same with the comparison's complement.
func (c *comparison) combine(w *warp, in *inst, m uint32) (r, nr uint32) {
	r = c.run(w, in, m)
	nr = ^r
	if c.op != boolNone {
		p := w.pr[c.pred]
		if c.neg {
			p = ^p
		}
		r, nr = c.op.apply(r, p), c.op.apply(nr, p)
	}
	return r, nr
}

var cmpNames = map[string]bool{}

func init() {
	for _, c := range []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"} {
		cmpNames[c] = true
	}
}

// compare decodes the comparison of setp or set: operator, type t, and the
// sources args.
func (d *dec) compare(in *ptx.Inst, o *inst, t ptx.Type, args []ptx.Operand) (*comparison, error) {
	op := ""
	for _, m := range in.Mods {
		if cmpNames[m] {
			op = m
		}
	}
	c := &comparison{op: boolOpOf(in), pred: none, q: none}
	want := 2
	if c.op != boolNone {
		want = 3
	}
	if len(args) != want {
		return nil, fmt.Errorf("compares %d sources, not %d", want, len(args))
	}
	k := op + "." + string(t)
	if in.Has("ftz") {
		k = "ftz." + k
	}
	var err error
	e, ok := cmpTable[k]
	if ok {
		d.info.Unit = e.unit
		c.run = e.run
		if o.a, err = d.srcClass(&args[0], e.sig[0], t); err != nil {
			return nil, err
		}
		if o.b, err = d.srcClass(&args[1], e.sig[1], t); err != nil {
			return nil, err
		}
	} else if c.run = halfCompare(op, t, in.Has("ftz")); c.run != nil {
		d.info.Unit = isa.UnitFP32
		if o.a, err = d.src32(&args[0], t); err != nil {
			return nil, err
		}
		if o.b, err = d.src32(&args[1], t); err != nil {
			return nil, err
		}
	} else {
		return nil, errUnsupported
	}
	if c.op != boolNone {
		if c.pred, c.neg, err = d.srcPred(&args[2]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// halfCompare returns the comparison of the low halves of f16 and bf16 registers.
func halfCompare(op string, t ptx.Type, ftz bool) func(w *warp, in *inst, m uint32) uint32 {
	c, ok := halfCmps[op]
	if !ok || t != "f16" && t != "bf16" {
		return nil
	}
	cmp := num.CmpF16
	if t == "bf16" {
		cmp = num.CmpBF16
	}
	return func(w *warp, in *inst, m uint32) uint32 {
		a, b := w.u32(in.a), w.u32(in.b)
		r := uint32(0)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			x, y := uint16(a[i]), uint16(b[i])
			if ftz {
				x, y = num.FTZF16(x), num.FTZF16(y)
			}
			if cmp(c, x, y) {
				r |= 1 << i
			}
		}
		return r
	}
}

var halfCmps = map[string]num.Cmp{
	"eq": num.EQ, "ne": num.NE, "lt": num.LT, "le": num.LE, "gt": num.GT, "ge": num.GE,
	"equ": num.EQU, "neu": num.NEU, "ltu": num.LTU, "leu": num.LEU, "gtu": num.GTU, "geu": num.GEU,
	"num": num.NUM, "nan": num.NAN,
}

// setpDests decodes `p`, `p|q` or `_`.
func (d *dec) setpDests(a *ptx.Operand) (p, q ref, err error) {
	q = none
	if a.Kind != ptx.OpPair {
		p, err = d.dstPred(a)
		return p, q, err
	}
	if p, err = d.dstPred(&a.List[0]); err == nil {
		q, err = d.dstPred(&a.List[1])
	}
	return p, q, err
}

func decodeSetp(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) < 3 {
		return errors.New("needs a destination and two sources")
	}
	types := in.Types()
	t := types[len(types)-1]
	if t == "f16x2" || t == "bf16x2" {
		return d.setpHalf2(in, o, t)
	}
	c, err := d.compare(in, o, t, in.Args[1:])
	if err != nil {
		return err
	}
	if o.d, c.q, err = d.setpDests(&in.Args[0]); err != nil {
		return err
	}
	o.x = &extra{any: c}
	if c.op == boolNone && c.q == none {
		o.run = func(w *warp, in *inst, m uint32) {
			w.setPred(in.d, in.x.any.(*comparison).run(w, in, m), m)
		}
		return nil
	}
	o.run = func(w *warp, in *inst, m uint32) {
		c := in.x.any.(*comparison)
		r, nr := c.combine(w, in, m)
		w.setPred(in.d, r, m)
		w.setPred(c.q, nr, m)
	}
	return nil
}

// setpHalf2 is setp on packed halves: p gets the result of the low halves, q that of
// the high halves.
func (d *dec) setpHalf2(in *ptx.Inst, o *inst, t ptx.Type) error {
	elem := t.Elem()
	c, err := d.compare(in, o, elem, in.Args[1:])
	if err != nil {
		return err
	}
	if o.d, c.q, err = d.setpDests(&in.Args[0]); err != nil {
		return err
	}
	hi := halfHigh(c.run)
	o.x = &extra{any: c}
	o.run = func(w *warp, in *inst, m uint32) {
		c := in.x.any.(*comparison)
		lo, _ := c.combine(w, in, m)
		high := hi(w, in, m)
		if c.op != boolNone {
			p := w.pr[c.pred]
			if c.neg {
				p = ^p
			}
			high = c.op.apply(high, p)
		}
		w.setPred(in.d, lo, m)
		w.setPred(c.q, high, m)
	}
	return nil
}

// highRows names the first two constants as operands.
var highRows = inst{a: ^ref(0), b: ^ref(1)}

// halfHigh runs a comparison of low halves on the high halves, through two
// scratch rows of the warp.
func halfHigh(cmp func(w *warp, in *inst, m uint32) uint32) func(w *warp, in *inst, m uint32) uint32 {
	return func(w *warp, in *inst, m uint32) uint32 {
		a, b := w.u32(in.a), w.u32(in.b)
		for i := range a {
			w.scratch[0][i], w.scratch[1][i] = a[i]>>16, b[i]>>16
		}
		// Constants are addressed by negative refs: point two of them at the rows.
		k := w.k32
		w.k32 = w.scratch[:]
		r := cmp(w, &highRows, m)
		w.k32 = k
		return r
	}
}

// decodeSet writes all ones or 1.0 if the comparison holds, else zero.
func decodeSet(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(types) != 2 || len(in.Args) < 3 {
		return errors.New("needs two types, a destination and two sources")
	}
	dt, st := types[0], types[1]
	half2 := st == "f16x2" || st == "bf16x2"
	t := st
	if half2 {
		t = st.Elem()
	}
	c, err := d.compare(in, o, t, in.Args[1:])
	if err != nil {
		return err
	}
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	o.x = &extra{any: c}
	ones := map[ptx.Type]uint32{"u32": full, "s32": full, "f32": 0x3f800000, "u16": 0xffff, "s16": 0xffff,
		"f16": 0x3c00, "bf16": 0x3f80, "f16x2": 0x3c00, "bf16x2": 0x3f80}
	one, ok := ones[dt]
	if !ok {
		return errUnsupported
	}
	c.one = one
	if !half2 {
		o.run = func(w *warp, in *inst, m uint32) {
			c := in.x.any.(*comparison)
			r, _ := c.combine(w, in, m)
			d := &w.r32[in.d]
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				d[i] = c.one & -(r >> i & 1)
			}
		}
		return nil
	}
	if dt.Bits() == 32 && !dt.Float() {
		c.one = 0xffff
	}
	hi := halfHigh(c.run)
	o.run = func(w *warp, in *inst, m uint32) {
		c := in.x.any.(*comparison)
		r, _ := c.combine(w, in, m)
		h := hi(w, in, m)
		if c.op != boolNone {
			p := w.pr[c.pred]
			if c.neg {
				p = ^p
			}
			h = c.op.apply(h, p)
		}
		d := &w.r32[in.d]
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = c.one&-(r>>i&1) | c.one<<16&-(h>>i&1)
		}
	}
	return nil
}

func decodeSelp(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 4 || len(types) != 1 {
		return errors.New("takes a destination, two sources and a predicate")
	}
	wide, err := d.operands(in, o, types[0], 2)
	if err != nil {
		return err
	}
	if o.run = selp32; wide {
		o.run = selp64
	}
	neg := false
	if o.c, neg, err = d.srcPred(&in.Args[3]); neg {
		o.flags |= fNegC
	}
	if n := len(d.info.Srcs); in.Args[3].Kind == ptx.OpReg && err == nil { // which of them are registers
		n--
		if in.Args[2].Kind == ptx.OpReg {
			n--
			d.info.Else = 1 << n
		}
		if in.Args[1].Kind == ptx.OpReg {
			d.info.Then = 1 << (n - 1)
		}
		if neg {
			d.info.Then, d.info.Else = d.info.Else, d.info.Then
		}
	}
	return err
}

func selp32(w *warp, in *inst, m uint32) {
	d, a, b, p := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.pr[in.c]
	if in.flags&fNegC != 0 {
		p = ^p
	}
	for k := m & p; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = a[i]
	}
	for k := m &^ p; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = b[i]
	}
}

func selp64(w *warp, in *inst, m uint32) {
	d, a, b, p := &w.r64[in.d], w.u64(in.a), w.u64(in.b), w.pr[in.c]
	if in.flags&fNegC != 0 {
		p = ^p
	}
	for k := m & p; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = a[i]
	}
	for k := m &^ p; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = b[i]
	}
}

// operands decodes a destination and n sources of type t, which are wide if t has 64
// bits.
func (d *dec) operands(in *ptx.Inst, o *inst, t ptx.Type, n int) (wide bool, err error) {
	get, dst := d.src32, d.dst32
	if wide = t.Bits() == 64; wide {
		get, dst = d.src64, d.dst64
	}
	if o.d, err = dst(&in.Args[0]); err != nil {
		return wide, err
	}
	for i, r := range []*ref{&o.a, &o.b, &o.c}[:n] {
		if *r, err = get(&in.Args[1+i], t); err != nil {
			return wide, err
		}
	}
	return wide, nil
}

// decodeSlct selects by the sign of the third source.
func decodeSlct(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 4 || len(types) != 2 {
		return errors.New("takes a destination and three sources")
	}
	wide, err := d.operands(in, o, types[0], 2)
	if err != nil {
		return err
	}
	if o.c, err = d.src32(&in.Args[3], types[1]); err != nil {
		return err
	}
	float, ftz := types[1] == "f32", in.Has("ftz")
	o.run = func(w *warp, in *inst, m uint32) {
		c := w.u32(in.c)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			v := c[i]
			var first bool
			if float {
				if ftz {
					v = num.FTZF32(v)
				}
				first = num.CmpF32(num.GE, v, 0)
			} else {
				first = int32(v) >= 0
			}
			src := in.b
			if first {
				src = in.a
			}
			if wide {
				w.r64[in.d][i] = w.u64(src)[i]
			} else {
				w.r32[in.d][i] = w.u32(src)[i]
			}
		}
	}
	return nil
}

// decodeLogic is and, or, xor, not on predicates; other types are in the table.
func decodeLogic(d *dec, in *ptx.Inst, o *inst) error {
	if types := in.Types(); len(types) != 1 || types[0] != "pred" {
		return d.tableOp(in, o)
	}
	var err error
	if o.d, err = d.dstPred(&in.Args[0]); err != nil {
		return err
	}
	var na, nb bool
	if o.a, na, err = d.srcPred(&in.Args[1]); err != nil {
		return err
	}
	if in.Op == "not" {
		na = !na
		o.run = func(w *warp, in *inst, m uint32) { w.setPred(in.d, w.pr[in.a]^uint32(in.imm), m) }
	} else {
		if len(in.Args) != 3 {
			return errors.New("takes a destination and two sources")
		}
		if o.b, nb, err = d.srcPred(&in.Args[2]); err != nil {
			return err
		}
		o.mode = uint8(map[string]boolOp{"and": boolAnd, "or": boolOr, "xor": boolXor}[in.Op])
		o.run = func(w *warp, in *inst, m uint32) {
			a, b := w.pr[in.a]^uint32(in.imm), w.pr[in.b]^uint32(in.imm>>32)
			w.setPred(in.d, boolOp(in.mode).apply(a, b), m)
		}
	}
	if na {
		o.imm |= 0xffffffff
	}
	if nb {
		o.imm |= -1 << 32
	}
	return nil
}

// decodeMov is mov in all its forms: registers, literals, addresses, special
// registers, vectors packed into and unpacked from wider registers.
func decodeMov(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 2 || len(types) != 1 {
		return errors.New("takes a destination and a source")
	}
	t, dst, src := types[0], &in.Args[0], &in.Args[1]
	if t == "pred" {
		var err error
		if o.d, err = d.dstPred(dst); err != nil {
			return err
		}
		var neg bool
		if o.a, neg, err = d.srcPred(src); err != nil {
			return err
		}
		if neg {
			o.imm = 0xffffffff
		}
		o.run = func(w *warp, in *inst, m uint32) { w.setPred(in.d, w.pr[in.a]^uint32(in.imm), m) }
		return nil
	}
	vec := 0
	for _, m := range in.Mods {
		switch m {
		case "v2":
			vec = 2
		case "v4":
			vec = 4
		case "v8":
			vec = 8
		}
	}
	if vec == 0 && isVector(dst) {
		if isVector(src) && src.Var.Vec == dst.Var.Vec {
			vec = dst.Var.Vec
		} else {
			dst = wholeVector(dst)
		}
	}
	if vec > 0 {
		return d.movVector(o, t, vec, dst, src)
	}
	if isVector(src) {
		src = wholeVector(src)
	}
	if dst.Kind == ptx.OpVec || src.Kind == ptx.OpVec {
		return d.movPack(o, t, dst, src)
	}
	if t.Bits() == 128 {
		r, c, _, err := d.reg(dst, true)
		if err != nil {
			return err
		}
		s, c2, _, err := d.reg(src, false)
		if err != nil {
			return err
		}
		if c != c128 || c2 != c128 {
			return errors.New("needs 128-bit registers")
		}
		o.d, o.a = r, s
		o.run = func(w *warp, in *inst, m uint32) {
			mov64(w, in, m)
			mov64(w, &inst{d: in.d + 1, a: in.a + 1}, m)
		}
		return nil
	}
	var err error
	if t.Bits() == 64 {
		if o.d, err = d.dst64(dst); err == nil {
			o.a, err = d.src64(src, t)
		}
		o.run = mov64
		return err
	}
	if o.d, err = d.dst32(dst); err == nil {
		o.a, err = d.src32(src, t)
	}
	o.run = mov32
	if t.Bits() < 32 && src.Kind == ptx.OpSpecial {
		o.run = mov16
	}
	return err
}

func mov32(w *warp, in *inst, m uint32) {
	d, a := &w.r32[in.d], w.u32(in.a)
	if m == full {
		*d = *a
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]
	}
}

func mov16(w *warp, in *inst, m uint32) {
	d, a := &w.r32[in.d], w.u32(in.a)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] & 0xffff
	}
}

func mov64(w *warp, in *inst, m uint32) {
	d, a := &w.r64[in.d], w.u64(in.a)
	if m == full {
		*d = *a
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]
	}
}

// movElem is one element of a packed move.
type movElem struct {
	r    ref
	wide bool
	skip bool
	bits int
}

func (w *warp) getElem(e *movElem, i int) uint64 {
	if e.wide {
		return w.u64(e.r)[i]
	}
	return uint64(w.u32(e.r)[i])
}

func (w *warp) setElem(e *movElem, i int, v uint64) {
	if e.wide {
		w.r64[e.r][i] = v
	} else {
		w.r32[e.r][i] = uint32(v)
	}
}

// isVector reports whether an operand is a vector register as a whole.
func isVector(o *ptx.Operand) bool {
	return o.Kind == ptx.OpReg && o.Var != nil && o.Var.Vec > 1 && o.Elem == ""
}

// wholeVector writes a vector register as the list of its elements.
func wholeVector(o *ptx.Operand) *ptx.Operand {
	v := &ptx.Operand{Kind: ptx.OpVec, Pos: o.Pos}
	for i := range o.Var.Vec {
		e := *o
		e.Elem = string("xyzw"[min(i, 3)])
		v.List = append(v.List, e)
	}
	return v
}

// vecElems resolves the elements of a vector operand: a list, or a whole vector
// register.
func (d *dec) vecElems(a *ptx.Operand, n int, t ptx.Type, dst bool) ([]movElem, error) {
	var list []ptx.Operand
	switch {
	case a.Kind == ptx.OpVec:
		list = a.List
	case (a.Kind == ptx.OpReg || a.Kind == ptx.OpSpecial) && a.Elem == "":
		for i := range n {
			e := *a
			e.Elem = string("xyzw"[min(i, 3)])
			list = append(list, e)
		}
	default:
		return nil, errors.New("needs a vector")
	}
	if n > 0 && len(list) != n {
		return nil, fmt.Errorf("needs %d elements, not %d", n, len(list))
	}
	var out []movElem
	for i := range list {
		e := movElem{bits: t.Bits()}
		if list[i].Kind == ptx.OpSink {
			e.skip = true
			out = append(out, e)
			continue
		}
		var err error
		if dst {
			var b int
			e.r, e.wide, b, err = d.dst(&list[i])
			e.bits = min(e.bits, b)
		} else {
			e.r, e.wide, err = d.src(&list[i], t)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// movVector is mov.v2, .v4: element by element, as if all were read first.
func (d *dec) movVector(o *inst, t ptx.Type, n int, dst, src *ptx.Operand) error {
	de, err := d.vecElems(dst, n, t, true)
	if err != nil {
		return err
	}
	se, err := d.vecElems(src, n, t, false)
	if err != nil {
		return err
	}
	o.run = func(w *warp, in *inst, m uint32) {
		var v [8]uint64
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			for k := range se {
				v[k] = w.getElem(&se[k], i)
			}
			for k := range de {
				if !de[k].skip {
					w.setElem(&de[k], i, v[k])
				}
			}
		}
	}
	return nil
}

// movPack packs a vector into one register of its whole width, or unpacks it.
func (d *dec) movPack(o *inst, t ptx.Type, dst, src *ptx.Operand) error {
	width := t.Bits()
	if dst.Kind == ptx.OpVec && src.Kind == ptx.OpVec {
		return d.movVector(o, ptx.Type(fmt.Sprintf("b%d", width/len(dst.List))), len(dst.List), dst, src)
	}
	vec := src
	if dst.Kind == ptx.OpVec {
		vec = dst
	}
	n := len(vec.List)
	if n == 0 || width%n != 0 {
		return fmt.Errorf("cannot split %d bits into %d elements", width, n)
	}
	each := width / n
	et := ptx.Type(fmt.Sprintf("b%d", each))
	elems, err := d.vecElems(vec, n, et, vec == dst)
	if err != nil {
		return err
	}
	whole := func(a *ptx.Operand, isDst bool) ([]movElem, error) {
		if width <= 64 {
			var e movElem
			var err error
			if isDst {
				e.r, e.wide, _, err = d.dst(a)
			} else {
				e.r, e.wide, err = d.src(a, t)
			}
			return []movElem{e}, err
		}
		r, c, _, err := d.reg(a, isDst)
		if err == nil && c != c128 {
			err = errors.New("needs a 128-bit register")
		}
		return []movElem{{r: r, wide: true}, {r: r + 1, wide: true}}, err
	}
	mask := ^uint64(0) >> (64 - min(each, 64))
	if vec == dst {
		ws, err := whole(src, false)
		if err != nil {
			return err
		}
		o.run = func(w *warp, in *inst, m uint32) {
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				var v [2]uint64
				for k := range ws {
					v[k] = w.getElem(&ws[k], i)
				}
				for k := range elems {
					if !elems[k].skip {
						bit := k * each
						w.setElem(&elems[k], i, v[bit/64]>>(bit%64)&mask)
					}
				}
			}
		}
		return nil
	}
	ws, err := whole(dst, true)
	if err != nil {
		return err
	}
	o.run = func(w *warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var v [2]uint64
			for k := range elems {
				bit := k * each
				v[bit/64] |= w.getElem(&elems[k], i) & mask << (bit % 64)
			}
			for k := range ws {
				w.setElem(&ws[k], i, v[k])
			}
		}
	}
	return nil
}

// decodeLop3 is lop3.b32, also with a predicate result.
func decodeLop3(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	op := boolOpOf(in)
	want := 5
	if op != boolNone {
		want = 6
	}
	if len(args) != want || args[4].Kind != ptx.OpImm {
		return errors.New("takes a destination, three sources and a literal table")
	}
	x := &extra{}
	var err error
	p := none
	dst := &args[0]
	if op != boolNone {
		if dst.Kind != ptx.OpPair {
			return errors.New("needs a destination d|p")
		}
		if p, err = d.dstPred(&dst.List[1]); err != nil {
			return err
		}
		dst = &dst.List[0]
	}
	if o.d, err = d.dst32(dst); err != nil {
		return err
	}
	for i, r := range []*ref{&o.a, &o.b, &o.c} {
		if *r, err = d.src32(&args[1+i], "b32"); err != nil {
			return err
		}
	}
	lut := uint8(args[4].Imm.Bits)
	q, neg := none, false
	if op != boolNone {
		if q, neg, err = d.srcPred(&args[5]); err != nil {
			return err
		}
	}
	o.x = x
	o.run = func(w *warp, in *inst, m uint32) {
		dd, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
		r := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v := num.Lop3(a[i], b[i], c[i], lut)
			dd[i] = v
			if v != 0 {
				r |= 1 << i
			}
		}
		if op != boolNone {
			qv := w.pr[q]
			if neg {
				qv = ^qv
			}
			w.setPred(p, op.apply(r, qv), m)
		}
	}
	return nil
}

// decodeCarryOut is add.cc, sub.cc and mad.cc; without .cc the table has them.
func decodeCarryOut(d *dec, in *ptx.Inst, o *inst) error {
	if !in.Has("cc") {
		if in.Op != "mad" && mixedFloat(in) {
			return decodeMixed(d, in, o)
		}
		err := d.tableOp(in, o)
		if err == nil && in.Op == "mad" && in.Has("wide") && in.Args[3].Kind == ptx.OpImm && in.Types()[0].Bits() == 16 {
			o.c = d.const32(uint32(in.Args[3].Imm.Bits)) // it has 32 bits, not 16
		}
		return err
	}
	return d.carry(in, o, false)
}

// decodeCarry is addc, subc and madc.
func decodeCarry(d *dec, in *ptx.Inst, o *inst) error { return d.carry(in, o, true) }

// carry decodes extended-precision arithmetic. CC.CF of each lane is a bit of
// frame.cc. After a subtraction it is the carry of a + ^b + 1, which is set if nothing
// was borrowed, as on hardware (conformance case subc_cc_s32), and subc adds it back
// the same way.
func (d *dec) carry(in *ptx.Inst, o *inst, use bool) error {
	types := in.Types()
	if len(types) != 1 {
		return errors.New("needs one type")
	}
	t := types[0]
	n := 2
	mad := in.Op == "mad" || in.Op == "madc"
	if mad {
		n = 3
	}
	if len(in.Args) != n+1 {
		return fmt.Errorf("takes a destination and %d sources", n)
	}
	wide, err := d.operands(in, o, t, n)
	if err != nil {
		return err
	}
	set, hi, sub, signed := in.Has("cc"), in.Has("hi"), in.Op == "sub" || in.Op == "subc", t.Signed()
	o.run = func(w *warp, in *inst, m uint32) {
		cc, out := w.fr.cc, uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			cin := uint32(0)
			if use {
				cin = cc >> i & 1
			}
			var cout uint32
			if wide {
				a, b := w.u64(in.a)[i], w.u64(in.b)[i]
				if mad {
					switch {
					case hi && signed:
						a = uint64(num.MulHiS64(int64(a), int64(b)))
					case hi:
						a = num.MulHiU64(a, b)
					default:
						a *= b
					}
					b = w.u64(in.c)[i]
				}
				var v uint64
				if sub {
					v, cout = num.AddC64(a, ^b, subIn(use, cin))
				} else {
					v, cout = num.AddC64(a, b, cin)
				}
				w.r64[in.d][i] = v
			} else {
				a, b := w.u32(in.a)[i], w.u32(in.b)[i]
				if mad {
					switch {
					case hi && signed:
						a = uint32(num.MulHiS32(int32(a), int32(b)))
					case hi:
						a = num.MulHiU32(a, b)
					default:
						a *= b
					}
					b = w.u32(in.c)[i]
				}
				var v uint32
				if sub {
					v, cout = num.AddC32(a, ^b, subIn(use, cin))
				} else {
					v, cout = num.AddC32(a, b, cin)
				}
				w.r32[in.d][i] = v
			}
			out |= cout << i
		}
		if set {
			w.fr.cc = cc&^m | out&m
		}
	}
	return nil
}

// subIn is the carry into a subtraction done as a + ^b + carry.
func subIn(use bool, cin uint32) uint32 {
	if use {
		return cin
	}
	return 1
}
