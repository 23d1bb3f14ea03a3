package compile

import (
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: wmma. The machine has products of 16×8 and 8×8 results only; the fragments of wmma are those of one
// or several such products side by side (exec/ptx, known of hardware since sm_75 for 16×16×16). What a fragment has
// more registers for than it needs are the same elements again.

// wmmaShapes are the sizes that consist of the machine's products: rows, columns, and depth.
var wmmaShapes = map[string][3]int{
	"m16n16k16": {16, 16, 16}, "m32n8k16": {32, 8, 16}, "m16n16k8": {16, 16, 8}, "m8n8k4": {8, 8, 4}, "m8n8k32": {8, 8, 32}, "m8n8k128": {8, 8, 128},
}

// piece is where a part of a fragment is in the matrix, beside where the lane's part begins: that many lines
// and elements away. Lines are rows of a matrix stored by rows.
type piece struct{ line, elem int }

// wmma is wmma.load, wmma.mma and wmma.store.
func (b *builder) wmma() {
	in := b.inst
	size, known := [3]int{}, false
	if in.Has("m8n32k16") {
		b.inst = turned(in)
		defer func() { b.inst = in }()
		in = b.inst
	}
	for _, m := range in.Mods {
		if s, ok := wmmaShapes[m]; ok {
			size, known = s, true
		}
	}
	if !known {
		stop(in.FullName(), notYet)
	}
	switch in.Mods[0] {
	case "load":
		b.wmmaLoad(size)
	case "store":
		b.wmmaStore(size)
	default:
		b.wmmaProduct(size)
	}
}

// turned is an instruction of 8×32×16 as one of 32×8×16: of the product of the matrices turned over the diagonal in
// the other order.
func turned(in *ptx.Inst) *ptx.Inst {
	out := *in
	out.Mods, out.Args = slices.Clone(in.Mods), slices.Clone(in.Args)
	other := map[string]string{"m8n32k16": "m32n8k16", "row": "col", "col": "row"}
	switch in.Mods[0] {
	case "load":
		other["a"], other["b"] = "b", "a"
	case "mma":
		out.Args[1], out.Args[2] = in.Args[2], in.Args[1]
	}
	for i, m := range out.Mods {
		if x := other[m]; x != "" {
			out.Mods[i] = x
		}
	}
	return &out
}

// fragment is how the registers of a wmma fragment hold elements of a type. Elements of less than a byte count as
// bytes of them.
type fragment struct {
	bytes    int  // of an element
	share    int  // how many share a byte, 1 if it has a byte or more
	per      int  // elements of a register
	distinct int  // registers with different elements
	straight bool // the elements of a register, or of two accumulators, follow each other in memory
	places   []piece
	accum    bool
}

// fragmentOf describes the fragment that an instruction loads or stores.
func (b *builder) fragmentOf(size [3]int) fragment {
	in := b.inst
	bits := storedBits(b.typeOf())
	f := fragment{share: max(1, 8/bits), bytes: max(1, bits/8)}
	f.per = max(1, 4/f.bytes)
	rows := in.Has("row")
	if f.accum = !in.Has("a") && !in.Has("b"); f.accum {
		f.straight = rows
		for i := 0; i < size[0]*size[1]/32; i += f.per {
			row, col := i%4/2*8, i%2
			if size[1] > 8 {
				col += i / 4 * 8
			} else {
				row += i / 4 * 16
			}
			if !rows {
				row, col = col, row
			}
			f.places = append(f.places, piece{row, col})
		}
		f.distinct = len(f.places)
		return f
	}
	dim := size[0]
	if in.Has("b") {
		dim = size[1]
	}
	depth := size[2] / f.share
	chunks := depth / (4 * f.per) // registers along k
	f.straight = in.Has("a") == rows
	f.distinct = dim * depth / (32 * f.per)
	for r := range f.distinct {
		across, along := r/chunks*8, r%chunks
		if in.Has("a") {
			across, along = r/(2*chunks)*16+r%2*8, r%(2*chunks)/2
		}
		p := piece{across, along * 4 * f.per}
		if !f.straight {
			p = piece{p.elem, p.line}
		}
		f.places = append(f.places, p)
	}
	return f
}

// fragmentAddress makes addresses of a fragment's pieces.
type fragmentAddress struct {
	b      *builder
	size   int // bytes of an element
	space  ptx.StateSpace
	base   ir.Arg
	first  *ir.Value // the lane's first element
	stride ir.Arg    // elements of a line
	lines  map[int]ir.Arg
}

// addressesOf begins with the addresses of a fragment.
func (b *builder) addressesOf(o *ptx.Operand, stride *ptx.Operand, f fragment, size [3]int) *fragmentAddress {
	x := &fragmentAddress{b: b, size: f.bytes, space: b.spaceOf(o), lines: map[int]ir.Arg{}}
	x.base = b.address(o, x.space != ptx.SpaceShared)
	switch {
	case stride == nil:
		x.stride = ir.I(uint32(b.tight(size) / f.share))
	case f.share > 1:
		bytes := b.f.NewValue(ir.GPR)
		b.free("SHF.R.U32.HI", ir.D(bytes), ir.RZ(), ir.I(uint32(mathbits.TrailingZeros(uint(f.share)))), ir.R(b.value(b.source(stride, "u32", 0))))
		x.stride = ir.R(bytes)
	default:
		x.stride = b.source(stride, "u32", 0)
	}
	width := f.per
	if f.accum {
		width = 2
	}
	lane, group, within := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)
	b.free("S2R", ir.D(lane), ir.T("SR_LANEID"))
	b.free("SHF.R.U32.HI", ir.D(group), ir.RZ(), ir.I(2), ir.R(lane))
	b.free("LOP3.LUT", ir.D(within), ir.R(lane), ir.I(3), ir.RZ(), ir.T("0xc0"), ir.Pr(nil, true))
	scaled := b.f.NewValue(ir.GPR)
	b.free("IMAD", ir.D(scaled), ir.R(within), ir.I(uint32(width)), ir.RZ())
	x.first = b.f.NewValue(ir.GPR)
	if f.straight {
		b.free("IMAD", ir.D(x.first), ir.R(group), x.stride, ir.R(scaled))
	} else {
		b.free("IMAD", ir.D(x.first), ir.R(scaled), x.stride, ir.R(group))
	}
	return x
}

// tight is the length of a line where the instruction names none.
func (b *builder) tight(size [3]int) int {
	in := b.inst
	switch rows := in.Has("row"); {
	case in.Has("a") && rows, in.Has("b") && !rows:
		return size[2]
	case in.Has("a"), !in.Has("b") && !rows:
		return size[0]
	}
	return size[1]
}

// at is the address of an element, by its distance in lines and elements from the lane's first one.
func (x *fragmentAddress) at(p piece) ir.Arg {
	b := x.b
	m, known := x.lines[p.line]
	if !known {
		index := x.first
		if p.line > 0 {
			index = b.f.NewValue(ir.GPR)
			b.free("IMAD", ir.D(index), ir.R(b.value(x.stride)), ir.I(uint32(p.line)), ir.R(x.first))
		}
		m = ir.Arg{Kind: ir.Mem, Imm: x.base.Imm}
		lo := b.f.NewValue(ir.GPR)
		if x.space == ptx.SpaceShared {
			from := ir.RZ()
			if len(x.base.Vals) > 0 {
				from = ir.R(x.base.Vals[0])
			}
			b.free("IMAD", ir.D(lo), ir.R(index), ir.I(uint32(x.size)), from)
			m.Vals = []*ir.Value{lo}
		} else {
			hi := b.f.NewValue(ir.GPR)
			b.free("IMAD.WIDE.U32", ir.D(lo, hi), ir.R(index), ir.I(uint32(x.size)), ir.R(slices.Clone(x.base.Vals)...))
			m.Vals = []*ir.Value{lo, hi}
		}
		x.lines[p.line] = m
	}
	m.Vals = slices.Clone(m.Vals) // an operand has values of its own
	if m.Imm += int64(p.elem * x.size); m.Imm >= farthest {
		b.far(&m)
	}
	if x.space != ptx.SpaceShared {
		m = b.global(m)
	}
	return m
}

// memoryName is the name of a load or a store in a space.
func (x *fragmentAddress) memoryName(op string, bytes int) string {
	switch x.space {
	case ptx.SpaceShared:
		return op + "S" + sizeOf(bytes, false)
	case ptx.SpaceGlobal:
		return op + "G.E" + sizeOf(bytes, false)
	case ptx.SpaceNone:
		return op + ".E" + sizeOf(bytes, false)
	}
	stop(x.b.inst.FullName(), notYet)
	return ""
}

// wmmaLoad loads a fragment.
func (b *builder) wmmaLoad(size [3]int) {
	in := b.inst
	f := b.fragmentOf(size)
	var stride *ptx.Operand
	if len(in.Args) > 2 {
		stride = &in.Args[2]
	}
	x := b.addressesOf(&in.Args[1], stride, f, size)
	load := func(bytes int, p piece) []*ir.Value {
		list := b.fresh(max(1, bytes/4))
		b.emit(x.memoryName("LD", bytes), ir.D(slices.Clone(list)...), x.at(p))
		return list
	}
	var words []*ir.Value
	for _, p := range f.places {
		if f.straight || f.per == 1 {
			words = append(words, load(max(4, x.size), p)...)
			continue
		}
		var parts []*ir.Value
		for e := range f.per {
			parts = append(parts, load(x.size, piece{p.line + e, p.elem})...)
		}
		for len(parts) > 1 {
			sel := uint32(0x5410)
			if len(parts) == 4 {
				sel = 0x40
			}
			var pairs []*ir.Value
			for i := 0; i < len(parts); i += 2 {
				v := b.f.NewValue(ir.GPR)
				b.emit("PRMT", ir.D(v), ir.R(parts[i]), ir.I(sel), ir.R(parts[i+1]))
				pairs = append(pairs, v)
			}
			parts = pairs
		}
		words = append(words, parts[0])
	}
	for i, e := range elements(&in.Args[0]) {
		_, n := ofElement(b.typeOf())
		for part := range n {
			b.assign(e, part, words[i%f.distinct*n+part])
		}
	}
}

// wmmaStore stores a fragment of results.
func (b *builder) wmmaStore(size [3]int) {
	in := b.inst
	f := b.fragmentOf(size)
	var stride *ptx.Operand
	if len(in.Args) > 2 {
		stride = &in.Args[2]
	}
	list := elements(&in.Args[1])
	if len(list) != f.distinct {
		stop(in.FullName(), notYet)
	}
	x := b.addressesOf(&in.Args[0], stride, f, size)
	for i, p := range f.places {
		words := b.words(list[i], b.typeOf())
		if f.straight || f.per == 1 {
			b.effect(x.memoryName("ST", max(4, x.size)), x.at(p), words)
			continue
		}
		v := words.Vals[0]
		for e := range f.per {
			part := v
			if e > 0 {
				part = b.f.NewValue(ir.GPR)
				b.free("SHF.R.U32.HI", ir.D(part), ir.RZ(), ir.I(uint32(e*32/f.per)), ir.R(v))
			}
			b.effect(x.memoryName("ST", x.size), x.at(piece{p.line + e, p.elem}), ir.R(part))
		}
	}
}

// wmmaProduct is wmma.mma: one of the machine's products for each part of the result.
func (b *builder) wmmaProduct(size [3]int) {
	in := b.inst
	types := in.Types()
	if len(types) == 2 {
		types = []ptx.Type{types[0], "f16", "f16", types[1]}
	}
	rows := min(size[0], 16)
	mods := []string{fmt.Sprintf("m%dn8k%d", rows, size[2])}
	for _, t := range types {
		mods = append(mods, string(t))
	}
	for _, m := range in.Mods {
		if m == "satfinite" || m == "xor" || m == "and" || directed[m].mod != "" {
			mods = append(mods, m)
		}
	}
	name, sum := productName(mods)
	if name == "" || types[1] != types[2] {
		stop(in.FullName(), notYet)
	}
	x, y, z := b.words(&in.Args[1], types[1]).Vals, b.words(&in.Args[2], types[2]).Vals, b.sums(&in.Args[3], types[3], sum)
	na, nb := rows*size[2]*storedBits(types[1])/32/32, 8*size[2]*storedBits(types[1])/32/32
	nc := rows * 8 * storedBits(sum) / 32 / 32
	d := b.fresh(len(z))
	if len(z) != size[0]*size[1]/(rows*8)*nc || len(x) < size[0]/rows*na || len(y) < size[1]/8*nb {
		stop(in.FullName(), "with fragments of other sizes "+notYet)
	}
	for i := range size[0] / rows {
		for j := range size[1] / 8 {
			k := (i*(size[1]/8) + j) * nc
			b.multiply(name, d[k:k+nc], x[i*na:(i+1)*na], y[j*nb:(j+1)*nb], z[k:k+nc])
		}
	}
	b.assignSums(&in.Args[0], d, sum, types[0])
}
