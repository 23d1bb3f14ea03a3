package ptx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

var le = binary.LittleEndian

func init() {
	families["ld"] = decodeLoad
	families["ldu"] = decodeLoad
	families["st"] = decodeStore
	families["cvta"] = decodeCvta
	families["isspacep"] = decodeIsspacep
	for _, op := range []string{"prefetch", "prefetchu", "applypriority", "discard"} {
		families[op] = decodeHint
	}
}

// memElem is one element of a load or store: its register and how it is extended.
type memElem struct {
	r     ref
	class regClass
	bits  int // of the register
	skip  bool
}

// memOp is the shape of a load or store, kept in extra.any.
type memOp struct {
	elems  []memElem
	size   int // bytes per element
	total  int
	signed bool
}

// spaceOf maps an instruction's state space modifier.
func spaceOf(in *ptx.Inst) isa.Space {
	for _, m := range in.Mods {
		switch m {
		case "global":
			return isa.Global
		case "shared", "shared::cta", "shared::cluster":
			return isa.Shared
		case "local":
			return isa.Local
		case "const":
			return isa.Const
		case "param", "param::entry", "param::func":
			return isa.Param
		}
	}
	return isa.Generic
}

// ordering records what an access means for other threads: whether blocks can
// communicate through it, and whether it may be part of a wait.
func (d *dec) ordering(in *ptx.Inst, o *inst, space isa.Space, load bool) {
	strong := false
	for _, m := range in.Mods {
		switch m {
		case "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cv", "sc":
			strong = true
		case "cg":
			d.global(o, load)
		}
	}
	if !strong {
		return
	}
	o.flags |= fVolatile
	if load {
		o.flags |= fSpin
	}
	if (space == isa.Global || space == isa.Generic) && !in.Has("cta") {
		d.im.ordered = true
		if load {
			d.im.spins = true
		}
	}
}

// global records an access that bypasses the L1 cache. Before ordered accesses
// existed, blocks communicated through such loads and stores, and libraries still do;
// loads or stores alone are only a cache hint.
func (d *dec) global(o *inst, load bool) {
	if load {
		o.flags |= fSpin
		d.im.globalLoads = true
	} else {
		d.im.globalStores = true
	}
}

// low32 reports whether a space has 32-bit addresses. Only the low half of a wider
// register counts then: addresses are truncated to the width of their space (PTX
// manual, ld and st).
func low32(space isa.Space) bool {
	return space == isa.Shared || space == isa.Local || space == isa.Param
}

// memAddress decodes an address operand: o.a is the base register or none, o.imm the
// offset. It returns the space, taking the symbol's into account.
func (d *dec) memAddress(a *ptx.Operand, o *inst, space isa.Space) (isa.Space, error) {
	space, err := d.memOperand(a, o, space)
	if low32(space) {
		o.flags |= fLow32
		if o.a == none {
			o.imm = int64(uint32(o.imm))
		}
	}
	return space, err
}

func (d *dec) memOperand(a *ptx.Operand, o *inst, space isa.Space) (isa.Space, error) {
	o.a, o.imm = none, 0
	if a.Kind != ptx.OpAddr || len(a.List) == 0 {
		// An address without brackets, as in `ld.param.u32 %r, param`.
		if a.Kind != ptx.OpSym && a.Kind != ptx.OpReg {
			return space, errors.New("needs an address")
		}
		return d.memBase(a, o, space)
	}
	o.imm = a.Offset
	if len(a.List) > 1 {
		return space, errors.New("has an unsupported form of address")
	}
	return d.memBase(&a.List[0], o, space)
}

func (d *dec) memBase(base *ptx.Operand, o *inst, space isa.Space) (isa.Space, error) {
	switch base.Kind {
	case ptx.OpImm:
		o.imm += int64(base.Imm.Bits)
		return d.localParam(space), nil
	case ptx.OpReg:
		r, c, t, err := d.reg(base, false)
		if err != nil {
			return space, err
		}
		o.a = r
		d.info.Bases |= 1 << (len(d.info.Srcs) - 1)
		switch c {
		case c32:
			o.flags |= fAddr32
		case c64:
		default:
			return space, fmt.Errorf("has an address in %s, which has type .%s", base.Name, t)
		}
		return d.localParam(space), nil
	case ptx.OpSym:
		a, local, err := d.address(base)
		if err != nil {
			return space, err
		}
		if base.Var != nil && space == isa.Generic {
			// The symbol knows its space; a generic access to it is resolved here.
			switch base.Var.Space {
			case ptx.SpaceShared:
				space = isa.Shared
				if base.Generic {
					a -= isa.SharedWindow
				}
			case ptx.SpaceLocal:
				space = isa.Local
			case ptx.SpaceParam:
				space = isa.Param
			case ptx.SpaceGlobal, ptx.SpaceConst:
				space = isa.Global
			}
		}
		if local {
			if base.Generic {
				a -= isa.LocalWindow
			}
			o.a = d.sregSlot(sregLocal, true, int64(a), c32)
			return isa.Local, nil
		}
		o.imm += int64(a)
		return space, nil
	}
	return space, fmt.Errorf("has an unsupported form of address: %q", base.Name)
}

// localParam turns the param space of a function, which lies in its frame, into local
// space; a kernel's parameters stay in param space.
func (d *dec) localParam(space isa.Space) isa.Space {
	if space == isa.Param && !d.ast.Entry {
		return isa.Local
	}
	return space
}

// memElems decodes the register operand of a load or store.
func (d *dec) memElems(in *ptx.Inst, arg *ptx.Operand, dst bool) (*memOp, error) {
	types := in.Types()
	if len(types) == 0 {
		return nil, errors.New("has no type")
	}
	t := types[len(types)-1]
	op := &memOp{size: t.Bytes(), signed: t.Signed()}
	list := []ptx.Operand{*arg}
	if arg.Kind == ptx.OpVec {
		list = arg.List
	}
	want := 1
	for _, m := range in.Mods {
		switch m {
		case "v2":
			want = 2
		case "v4":
			want = 4
		case "v8":
			want = 8
		}
	}
	// A whole vector register stands for its elements.
	if len(list) == 1 && want > 1 && list[0].Kind == ptx.OpReg && list[0].Var != nil && list[0].Var.Vec == want && list[0].Elem == "" {
		whole := list[0]
		list = nil
		for i := range want {
			e := whole
			e.Elem = string("xyzw"[i])
			list = append(list, e)
		}
	}
	if len(list) != want {
		return nil, fmt.Errorf("moves %d elements but names %d registers", want, len(list))
	}
	for i := range list {
		a := &list[i]
		e := memElem{r: none, bits: t.Bits()}
		switch {
		case a.Kind == ptx.OpSink:
			e.skip = true
		case a.Kind == ptx.OpReg || dst:
			r, c, rt, err := d.reg(a, dst)
			if err != nil {
				return nil, err
			}
			if c == cPred {
				return nil, fmt.Errorf("cannot move predicate %s", a.Name)
			}
			if rt.Bits() < t.Bits() {
				return nil, fmt.Errorf("moves %d bits but %s has %d", t.Bits(), a.Name, rt.Bits())
			}
			e.r, e.class, e.bits = r, c, rt.Bits()
		default:
			r, wide, err := d.src(a, t)
			if err != nil {
				return nil, err
			}
			e.r = r
			if wide {
				e.class = c64
			}
		}
		op.elems = append(op.elems, e)
	}
	op.total = op.size * want
	return op, nil
}

func decodeLoad(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) < 2 {
		return errors.New("needs a register and an address")
	}
	op, err := d.memElems(in, &in.Args[0], true)
	if err != nil {
		return err
	}
	space, err := d.memAddress(&in.Args[1], o, spaceOf(in))
	if err != nil {
		return err
	}
	o.kind = kMem
	o.x = &extra{any: op}
	o.size = uint8(op.total)
	o.mode = uint8(space)
	d.describe(space, op.total, true, false)
	d.ordering(in, o, space, true)
	simple := len(op.elems) == 1 && !op.elems[0].skip && (!op.signed || op.elems[0].bits == 8*op.size)
	o.d = op.elems[0].r
	switch {
	case simple && op.size == 4 && op.elems[0].class == c32 && space == isa.Global:
		o.run = load32Global
	case simple && op.size == 8 && op.elems[0].class == c64 && space == isa.Global:
		o.run = load64Global
	case simple && op.size == 4 && op.elems[0].class == c32 && space == isa.Shared:
		o.run = load32Shared
	case space == isa.Param && o.a == none && simple && op.size >= 4 && op.size <= 8 && (op.elems[0].class == c64) == (op.size == 8):
		o.run = loadParam1
	case space == isa.Param && o.a == none:
		o.run = loadParam
	default:
		o.run = loadAny
	}
	return nil
}

func decodeStore(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) < 2 {
		return errors.New("needs an address and a register")
	}
	// st.async and st.bulk have their own forms.
	if in.Has("async") || in.Has("bulk") {
		return decodeStoreAsync(d, in, o)
	}
	op, err := d.memElems(in, &in.Args[1], false)
	if err != nil {
		return err
	}
	space, err := d.memAddress(&in.Args[0], o, spaceOf(in))
	if err != nil {
		return err
	}
	if space == isa.Const || space == isa.Param {
		return fmt.Errorf("cannot write .%s memory", space)
	}
	o.kind = kMem
	o.x = &extra{any: op}
	o.size = uint8(op.total)
	o.mode = uint8(space)
	d.describe(space, op.total, false, true)
	d.ordering(in, o, space, false)
	o.d = op.elems[0].r
	simple := len(op.elems) == 1 && !op.elems[0].skip
	switch {
	case simple && op.size == 4 && op.elems[0].class == c32 && space == isa.Global:
		o.run = store32Global
	case simple && op.size == 4 && op.elems[0].class == c32 && space == isa.Shared:
		o.run = store32Shared
	default:
		o.run = storeAny
	}
	return nil
}

// describe fills the memory part of an instruction's description.
func (d *dec) describe(space isa.Space, width int, load, store bool) {
	d.info.Unit, d.info.Space, d.info.Width = isa.UnitLSU, space, uint8(min(width, 255))
	d.info.Load, d.info.Store = load, store
}

// addresses computes the addresses of lanes m into w.addr and returns the bitwise or
// of all, for alignment checks.
func (w *warp) addresses(in *inst, m uint32) (or uint64) {
	off, keep := uint64(in.imm), ^uint64(0)
	if in.flags&fLow32 != 0 {
		keep = 1<<32 - 1
	}
	switch {
	case in.a == none:
		for i := range w.addr {
			w.addr[i] = off
		}
		return off
	case in.flags&fAddr32 != 0:
		a := w.u32(in.a)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			v := uint64(a[i&31] + uint32(off))
			w.addr[i&31] = v
			or |= v
		}
	case m == full:
		a := w.u64(in.a)
		for i := range a {
			v := (a[i] + off) & keep
			w.addr[i] = v
			or |= v
		}
	default:
		a := w.u64(in.a)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			v := (a[i&31] + off) & keep
			w.addr[i&31] = v
			or |= v
		}
	}
	return or
}

// contiguous reports whether all 32 lanes access consecutive elements.
func (w *warp) contiguous(size uint64) bool {
	a := w.addr[0]
	if w.addr[31] != a+31*size {
		return false
	}
	for i := range w.addr {
		if w.addr[i] != a+uint64(i)*size {
			return false
		}
	}
	return true
}

// misaligned records the fault of the first misaligned lane.
func (w *warp) misaligned(m uint32, size int, what string) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if w.addr[i]&uint64(size-1) != 0 {
			w.failAs(exec.Misaligned, 1<<i, "misaligned %s of %d bytes at %#x: the address must be a multiple of %d", what, size, w.addr[i], size)
			w.accused(&device.Fault{Kind: device.Misaligned, Addr: w.addr[i], Size: uint64(size), Write: what != "read"})
			return
		}
	}
}

// globalFault records why lane i's access to global memory failed.
func (w *warp) globalFault(i, size int, write bool) {
	w.failAt(1<<i, w.blk.View.Fault(w.addr[i], size, write), "%v")
}

func (w *warp) sharedFault(i int, addr uint64, size int, what string) {
	w.failAs(exec.BadAddress, 1<<i, "out-of-bounds %s of %d bytes at shared address %#x: the block has %d bytes of shared memory", what, size, addr, len(w.blk.Shared))
	w.accused(&device.Fault{Addr: addr, Size: uint64(size), Write: what == "write", Space: isa.Shared})
}

func load32Global(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "read")
		return
	}
	d := &w.r32[in.d]
	v := w.blk.View
	if m == full && w.contiguous(4) {
		if b := v.ReadSpan(w.addr[0], 128); b != nil {
			b = b[:128]
			for i := range d {
				d[i] = le.Uint32(b[4*i:])
			}
			return
		}
	}
	var base uint64
	var span []byte
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		a := w.addr[i&31]
		if off := a - base; off < uint64(len(span)) && off+4 <= uint64(len(span)) {
			d[i&31] = le.Uint32(span[off:])
			continue
		}
		if span = v.ReadSpan(a, 4); span == nil {
			if span = w.stray(i, 4, false); span == nil {
				return
			}
		}
		base = a
		d[i&31] = le.Uint32(span)
	}
}

func load64Global(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&7 != 0 {
		w.misaligned(m, 8, "read")
		return
	}
	d := &w.r64[in.d]
	v := w.blk.View
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b := v.ReadSpan(w.addr[i&31], 8)
		if b == nil {
			if b = w.stray(i&31, 8, false); b == nil {
				return
			}
		}
		d[i&31] = le.Uint64(b)
	}
}

func store32Global(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "write")
		return
	}
	s := w.u32(in.d)
	v := w.blk.View
	if m == full && w.contiguous(4) {
		if b := v.WriteSpan(w.addr[0], 128); b != nil {
			b = b[:128]
			for i := range s {
				le.PutUint32(b[4*i:], s[i])
			}
			return
		}
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b := v.WriteSpan(w.addr[i&31], 4)
		if b == nil {
			if b = w.stray(i&31, 4, true); b == nil {
				return
			}
		}
		le.PutUint32(b, s[i&31])
	}
}

func load32Shared(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "read")
		return
	}
	d := &w.r32[in.d]
	b := w.blk.Shared
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		a := w.addr[i&31]
		if a >= uint64(len(b)) || a+4 > uint64(len(b)) {
			p := w.distributed(i, a, 4, false)
			if p == nil {
				return
			}
			d[i&31] = le.Uint32(p)
			continue
		}
		d[i&31] = le.Uint32(b[a:])
	}
}

func store32Shared(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "write")
		return
	}
	s := w.u32(in.d)
	b := w.blk.Shared
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		a := w.addr[i&31]
		if a >= uint64(len(b)) || a+4 > uint64(len(b)) {
			p := w.distributed(i, a, 4, true)
			if p == nil {
				return
			}
			le.PutUint32(p, s[i&31])
			continue
		}
		le.PutUint32(b[a:], s[i&31])
	}
}

// lane returns the bytes of lane i's access to a space, nil after a fault.
func (w *warp) lane(space isa.Space, i, size int, write bool) []byte {
	a := w.addr[i]
	if space == isa.Generic {
		space, a = isa.Resolve(a)
	}
	var mem []byte
	switch space {
	case isa.Shared:
		mem = w.blk.Shared
		if a >= isa.SharedWindow && a < isa.SharedWindow+isa.WindowSize {
			a -= isa.SharedWindow // a shared::cluster address of the block itself
		}
	case isa.Local:
		mem = w.local[i]
	case isa.Param:
		if write {
			w.failAs(exec.BadAddress, 1<<i, "write of %d bytes to the kernel's parameters at offset %#x, which are read-only", size, a)
			return nil
		}
		mem = w.blk.params
	default:
		var b []byte
		if write {
			b = w.blk.View.WriteSpan(a, size)
		} else {
			b = w.blk.View.ReadSpan(a, size)
		}
		if b == nil {
			b = w.stray(i, size, write)
		}
		return b
	}
	if n := uint64(len(mem)); a >= n || a+uint64(size) > n {
		what := "read"
		if write {
			what = "write"
		}
		if space == isa.Shared {
			return w.distributed(i, a, size, write)
		} else {
			w.failAs(exec.BadAddress, 1<<i, "out-of-bounds %s of %d bytes at %s address %#x: there are %d bytes", what, size, space, a, n)
			w.accused(&device.Fault{Addr: a, Size: uint64(size), Write: write, Space: space})
		}
		return nil
	}
	return mem[a : a+uint64(size)]
}

// loadAny is a load of any shape from any space.
func loadAny(w *warp, in *inst, m uint32) {
	if size := int(in.size); size&(size-1) == 0 && w.addresses(in, m)&uint64(size-1) != 0 {
		w.misaligned(m, size, "read")
		return
	}
	op := in.x.any.(*memOp)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b := w.lane(isa.Space(in.mode), i, op.total, false)
		if b == nil {
			return
		}
		w.giveLane(op, b, i)
	}
}

// loadParam is a load of a kernel parameter at a fixed offset.
func loadParam(w *warp, in *inst, m uint32) {
	op := in.x.any.(*memOp)
	off := uint64(in.imm)
	if n := uint64(len(w.blk.params)); off >= n || off+uint64(op.total) > n {
		w.failAs(exec.BadAddress, m, "out-of-bounds read of %d bytes at offset %d of the kernel's parameters, which have %d bytes", op.total, int64(off), n)
		return
	}
	b := w.blk.params[off:]
	for ; m != 0; m &= m - 1 {
		w.giveLane(op, b, bits.TrailingZeros32(m))
	}
}

// loadParam1 is loadParam of one register as wide as the element: the same value for
// every lane.
func loadParam1(w *warp, in *inst, m uint32) {
	off, size := uint64(in.imm), uint64(in.size)
	b := w.blk.params
	if n := uint64(len(b)); off >= n || off+size > n {
		loadParam(w, in, m) // for its error message
		return
	}
	if size == 4 {
		v, d := le.Uint32(b[off:]), &w.r32[in.d]
		if m == full {
			for i := range d {
				d[i] = v
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			d[bits.TrailingZeros32(m)&31] = v
		}
		return
	}
	v, d := le.Uint64(b[off:]), &w.r64[in.d]
	if m == full {
		for i := range d {
			d[i] = v
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)&31] = v
	}
}

// giveLane writes the elements in b to lane i's registers.
func (w *warp) giveLane(op *memOp, b []byte, i int) {
	for k := range op.elems {
		e := &op.elems[k]
		if e.skip {
			continue
		}
		p := b[k*op.size:]
		var v uint64
		switch op.size {
		case 1:
			v = uint64(p[0])
			if op.signed {
				v = uint64(int64(int8(v)))
			}
		case 2:
			v = uint64(le.Uint16(p))
			if op.signed {
				v = uint64(int64(int16(v)))
			}
		case 4:
			v = uint64(le.Uint32(p))
			if op.signed {
				v = uint64(int64(int32(v)))
			}
		case 8:
			v = le.Uint64(p)
		case 16:
			w.r64[e.r][i&31], w.r64[e.r+1][i&31] = le.Uint64(p), le.Uint64(p[8:])
			continue
		}
		switch {
		case e.class == c32:
			w.r32[e.r][i&31] = uint32(v) & uint32(1<<e.bits-1)
		default:
			w.r64[e.r][i&31] = v
		}
	}
}

// storeAny is a store of any shape to any space.
func storeAny(w *warp, in *inst, m uint32) {
	if size := int(in.size); size&(size-1) == 0 && w.addresses(in, m)&uint64(size-1) != 0 {
		w.misaligned(m, size, "write")
		return
	}
	op := in.x.any.(*memOp)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b := w.lane(isa.Space(in.mode), i, op.total, true)
		if b == nil {
			return
		}
		for k := range op.elems {
			e := &op.elems[k]
			p := b[k*op.size:]
			var v uint64
			switch e.class {
			case c128:
				le.PutUint64(p, w.r64[e.r][i&31])
				le.PutUint64(p[8:], w.r64[e.r+1][i&31])
				continue
			case c64:
				v = w.u64(e.r)[i&31]
			default:
				v = uint64(w.u32(e.r)[i&31])
			}
			putBytes(p, op.size, v)
		}
	}
}

// putBytes writes the low size bytes of v: 1, 2, 4 or 8.
func putBytes(p []byte, size int, v uint64) {
	switch size {
	case 1:
		p[0] = byte(v)
	case 2:
		le.PutUint16(p, uint16(v))
	case 4:
		le.PutUint32(p, uint32(v))
	case 8:
		le.PutUint64(p, v)
	}
}

// decodeCvta converts between generic addresses and those of one space.
func decodeCvta(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes two operands")
	}
	var shift uint64
	switch spaceOf(in) {
	case isa.Shared:
		shift = isa.SharedWindow
	case isa.Local:
		shift = isa.LocalWindow
	case isa.Param:
		shift = isa.ParamWindow
		if !d.ast.Entry {
			shift = isa.LocalWindow // parameters of functions lie in the frame
		}
	}
	to := slices.Contains(in.Mods, "to")
	if to {
		shift = -shift
	}
	within := d.im.pairs && spaceOf(in) == isa.Shared // addresses in the space have the window already
	if within && to {
		shift = 0
	}
	types := in.Types()
	t := types[len(types)-1]
	var err error
	if t.Bits() == 64 {
		if o.d, err = d.dst64(&in.Args[0]); err == nil {
			o.a, err = d.src64(d.plainAddress(&in.Args[1]), t)
		}
		o.flags |= fA64
		o.run = cvta64
	} else {
		if o.d, err = d.dst32(&in.Args[0]); err == nil {
			o.a, err = d.src32(d.plainAddress(&in.Args[1]), t)
		}
		o.run = cvta32
	}
	if o.imm = int64(shift); within && !to {
		o.run = cvtaWithin
	}
	return err
}

// plainAddress strips the generic() of a symbol, which cvta applies itself.
func (d *dec) plainAddress(o *ptx.Operand) *ptx.Operand {
	if o.Kind == ptx.OpSym && o.Generic {
		p := *o
		p.Generic = false
		return &p
	}
	return o
}

// cvta64 adds or subtracts the base of a window. The address in the window's space has 32 bits. That of
// a null pointer is 0, as on hardware since compute capability 7.0, where the window of shared memory
// begins at a multiple of 2^32 (a special register has its upper half); CUTLASS asserts the alignment
// of such an address.
func cvta64(w *warp, in *inst, m uint32) {
	keep, to, from := ^uint64(0), max(in.imm, 0), min(in.imm, 0)
	if in.imm != 0 {
		keep = 1<<32 - 1
	}
	d, a := &w.r64[in.d], w.u64(in.a)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if v := a[i]; v != 0 || from == 0 {
			d[i] = (v+uint64(from))&keep + uint64(to)
		} else {
			d[i] = 0
		}
	}
}

func cvta32(w *warp, in *inst, m uint32) {
	d, a := &w.r32[in.d], w.u32(in.a)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if v := a[i]; v != 0 || in.imm >= 0 {
			d[i] = v + uint32(in.imm)
		} else {
			d[i] = 0
		}
	}
}

// cvtaWithin adds the base of a window where an address lacks it.
func cvtaWithin(w *warp, in *inst, m uint32) {
	wide := in.flags&fA64 != 0
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := w.at(in.a, wide, i)
		if v&^(isa.WindowSize-1) != uint64(in.imm) {
			v = v&(1<<32-1) + uint64(in.imm)
		}
		if wide {
			w.r64[in.d][i] = v
		} else {
			w.r32[in.d][i] = uint32(v)
		}
	}
}

// decodeIsspacep tests whether a generic address lies in a space.
func decodeIsspacep(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes two operands")
	}
	var err error
	if o.d, err = d.dstPred(&in.Args[0]); err != nil {
		return err
	}
	var wide bool
	if o.a, wide, err = d.src(&in.Args[1], "b64"); err != nil {
		return err
	}
	if !wide {
		o.flags |= fAddr32
	}
	o.mode = uint8(spaceOf(in))
	own := !in.Has("shared::cluster") // .shared is .shared::cta (PTX manual, isspacep)
	o.run = func(w *warp, in *inst, m uint32) {
		w.addresses(in, m)
		r := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k)
			is, at := isa.Resolve(w.addr[i])
			if is == isa.Shared && own && !w.blk.owns(at) {
				is = isa.Generic // of another block
			}
			if is == isa.Global {
				if al, ok := w.blk.im.m.mem.Find(w.addr[i]); ok && al.ReadOnly() {
					is = isa.Const
				}
			}
			if is == isa.Space(in.mode) {
				r |= 1 << i
			}
		}
		w.setPred(in.d, r, m)
	}
	return nil
}

// decodeHint accepts instructions that only affect caches. As on hardware, their
// address is not checked.
func decodeHint(d *dec, in *ptx.Inst, o *inst) error {
	for i := range in.Args {
		if in.Args[i].Kind == ptx.OpAddr {
			space, err := d.memAddress(&in.Args[i], o, spaceOf(in))
			if err != nil {
				return err
			}
			d.describe(space, 0, false, false)
		}
	}
	o.run = func(*warp, *inst, uint32) {}
	return nil
}
