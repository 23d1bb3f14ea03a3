package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: bulk copies of boxes of tensors (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor) and
// the instructions that write tensor maps (tensormap). A map is read at each copy, so that the fences
// of its proxy have nothing to do. Copies complete when they issue, like all others.

func init() { families["tensormap"] = decodeTensorMap }

// tensorOp is a decoded copy of a box, kept in extra.any.
type tensorOp struct {
	at      *inst // address of the map
	rank    int
	coords  [5]ref
	shared  *inst
	store   bool
	reduce  string // the operation; "": none
	im2col  bool
	offsets []ref // of im2col
	mbar    *inst
	pair    bool    // .cta_group::2: another block of the pair may be signalled
	copy    *copyOp // its mask, for multicast
}

// decodeTensor decodes copies of boxes.
func decodeTensor(d *dec, in *ptx.Inst, o *inst) error {
	for _, m := range []string{"tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128"} {
		if in.Has(m) {
			return errUnsupported
		}
	}
	op := &tensorOp{im2col: in.Has("im2col") || in.Has("im2col_no_offs"), store: in.Has("bulk_group"), copy: &copyOp{mask: none}, pair: in.Has("cta_group::2")}
	for n := 1; n <= 5; n++ {
		if in.Has(fmt.Sprintf("%dd", n)) {
			op.rank = n
		}
	}
	if in.Has("reduce") {
		op.reduce = rmwName(in)
		d.im.ordered = true
	}
	args := in.Args
	prefetch := in.Has("prefetch")
	if !op.store && !prefetch {
		if len(args) < 3 {
			return errors.New("needs a target, a tensor map and an mbarrier")
		}
		var err error
		if op.shared, err = d.address2(&args[0], isa.Shared); err != nil {
			return err
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("needs a tensor map")
	}
	if err := d.tensorMap(&args[0], op); err != nil {
		return err
	}
	args = args[1:]
	if op.store {
		if len(args) == 0 {
			return errors.New("needs a source")
		}
		var err error
		if op.shared, err = d.address2(&args[0], isa.Shared); err != nil {
			return err
		}
		args = args[1:]
	}
	if err := d.tensorOptions(in, op, args); err != nil {
		return err
	}
	o.kind, o.x, o.run = kMem, &extra{any: op}, tensorCopy
	if prefetch {
		o.run = func(*warp, *inst, uint32) {}
		return nil
	}
	d.describe(isa.Global, 0, !op.store, op.store)
	d.im.hopper = "cp.async.bulk.tensor"
	d.info.Async = isa.Async{Does: isa.AsyncStart, Done: isa.ByMbarrier}
	if op.store {
		d.info.Async.Done = isa.ByBulk
	}
	return nil
}

// tensorMap decodes the operand [map, {coordinates}].
func (d *dec) tensorMap(a *ptx.Operand, op *tensorOp) error {
	base, _, coords, err := texParts(a)
	if err != nil {
		return errors.New("needs an operand of the form [tensor map, {coordinates}]")
	}
	op.at = &inst{d: none, a: none, b: none, c: none, e: none, guard: none}
	if base.Kind != ptx.OpAddr { // without an offset
		base = &ptx.Operand{Kind: ptx.OpAddr, List: []ptx.Operand{*base}}
	}
	space, err := d.memAddress(base, op.at, isa.Generic)
	if err != nil {
		return err
	}
	op.at.mode = uint8(space)
	list, err := d.texVector(coords, op.rank)
	if err != nil {
		return err
	}
	for i := range op.rank {
		if op.coords[i], err = d.src32(&list[i], "s32"); err != nil {
			return err
		}
	}
	return nil
}

// tensorOptions decodes what follows: an mbarrier, offsets, a mask, a policy.
func (d *dec) tensorOptions(in *ptx.Inst, op *tensorOp, args []ptx.Operand) error {
	var err error
	if in.Has("mbarrier::complete_tx::bytes") {
		if len(args) == 0 {
			return errors.New("needs the address of an mbarrier")
		}
		if op.mbar, err = d.address2(&args[0], isa.Shared); err != nil {
			return err
		}
		args = args[1:]
	}
	if in.Has("im2col") {
		if len(args) == 0 || op.rank < 3 {
			return errors.New("needs three dimensions and offsets")
		}
		list, err := d.texVector(&args[0], op.rank-2)
		if err != nil {
			return err
		}
		for i := range op.rank - 2 {
			r, err := d.src32(&list[i], "u16")
			if err != nil {
				return err
			}
			op.offsets = append(op.offsets, r)
		}
		args = args[1:]
	}
	if op.copy.multi = in.Has("multicast::cluster"); op.copy.multi {
		if len(args) == 0 {
			return errors.New("needs a mask")
		}
		if op.copy.mask, err = d.src32(&args[0], "u16"); err != nil {
			return err
		}
		args = args[1:]
	}
	return d.policy(in, args)
}

// tensorBox is a box that a lane copies.
type tensorBox struct {
	m       exec.TensorMap
	at      [5]int64
	offsets [3]int64
	op      *tensorOp
	lane    int
	row     [256 * 8]byte // the largest row
	wide    [8 * 16]byte  // the largest one that is spread
}

// mapOf reads and checks lane i's tensor map; false after a fault.
func (w *warp) mapOf(op *tensorOp, m *exec.TensorMap, i int) bool {
	w.addresses(op.at, 1<<i)
	at := w.addr[i&31]
	if at%64 != 0 {
		w.failAs(exec.Misaligned, 1<<i, "tensor map at %#x: the address must be a multiple of 64", at)
		return false
	}
	p := w.lane(isa.Space(op.at.mode), i, exec.TensorMapBytes, false)
	if p == nil {
		return false
	}
	err := m.Decode((*[exec.TensorMapBytes]byte)(p))
	switch {
	case err == nil && m.Rank != op.rank:
		err = fmt.Errorf("it has %d dimensions, the instruction %d", m.Rank, op.rank)
	case err == nil && m.Im2col != op.im2col:
		err = errors.New("map and instruction differ in their mode, tiles or im2col")
	case err == nil:
		if err = m.Unpack(); err == nil {
			err = m.Check()
		}
	}
	if row := int(m.Box[0]); err == nil && m.Swizzle != 0 && row*m.Slot() < m.Width() {
		err = fmt.Errorf("rows of %d bytes are narrower than the swizzle of %d, which is not supported", row*m.Slot(), m.Width())
	}
	if err != nil {
		w.failf(1<<i, "tensor map at %#x: %v", at, err)
	}
	return err == nil
}

func tensorCopy(w *warp, in *inst, m uint32) {
	op := in.x.any.(*tensorOp)
	w.wrote = true
	all := m
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if !w.tensorLane(op, i, all&(1<<i-1)) {
			return
		}
	}
}

// repeats reports whether lane i stores what one of some lanes before it has stored. Libraries let a whole warp
// store a box, which NVIDIA's machine code does once; a probe sees it once.
func (w *warp) repeats(op *tensorOp, i int, before uint32) bool {
	own := w.addr
	defer func() { w.addr = own }()
	w.addresses(op.at, before|1<<i)
	maps := w.addr
	w.addresses(op.shared, before|1<<i)
	for ; before != 0; before &= before - 1 {
		k := bits.TrailingZeros32(before) & 31
		same := maps[k] == maps[i] && w.addr[k] == w.addr[i]
		for _, r := range op.coords[:op.rank] {
			same = same && w.u32(r)[k] == w.u32(r)[i]
		}
		for _, r := range op.offsets {
			same = same && w.u32(r)[k] == w.u32(r)[i]
		}
		if same {
			return true
		}
	}
	return false
}

// tensorLane copies the box of lane i, after those of some lanes before it. It reports whether there was no fault.
func (w *warp) tensorLane(op *tensorOp, i int, before uint32) bool {
	b := &tensorBox{op: op, lane: i}
	if !w.mapOf(op, &b.m, i) {
		return false
	}
	for d := range op.rank {
		b.at[d] = int64(int32(w.u32(op.coords[d])[i]))
	}
	per := int64(b.m.Per())
	switch {
	case b.at[0]%per != 0:
		w.failf(1<<i, "coordinate %d of a tensor whose elements are packed: it must be a multiple of %d", b.at[0], per)
		return false
	case op.store && b.m.Slot() != b.m.Bytes():
		w.failf(1<<i, "store of a box whose elements lie spread in shared memory, which is not supported")
		return false
	}
	b.at[0] /= per
	for d, r := range op.offsets {
		b.offsets[d] = int64(uint16(w.u32(r)[i]))
	}
	w.addresses(op.shared, 1<<i)
	image := w.addr[i]
	if space, a := isa.Resolve(image); space == isa.Shared {
		image = a
	}
	align := uint64(128)
	if b.m.Swizzle == 0 {
		align = 16
	}
	if image%align != 0 {
		w.failAs(exec.Misaligned, 1<<i, "box of a tensor at shared address %#x: the address must be a multiple of %d", image, align)
		return false
	}
	n := int64(b.m.BoxBytes())
	w.tensorNote(b)
	switch {
	case op.store:
		if !w.tensorStore(b, image) {
			return false
		}
		if w.blk.probe != nil && (op.reduce != "" || !w.repeats(op, i, before)) {
			w.tensorSeen(b, image, isa.ByBulk, 0)
		}
		return true
	case !op.copy.multi:
		return w.tensorLoad(b, image) && w.tensorLoaded(b, image, n)
	}
	if mask, count := w.u32(op.copy.mask)[i]&0xffff, w.blk.launch.ClusterSize().Count(); mask>>count != 0 {
		w.failf(1<<i, "multicast to the blocks %#x of a cluster that has %d", mask, count)
		return false
	}
	w.multicast(op.copy, i, image, func(to uint64, rank int) bool {
		signalled := w.pairRank(op, i, rank)
		ok := w.tensorLoad(b, to) && w.completeIn(op.mbar, i, signalled, n)
		if ok && w.blk.probe != nil {
			w.tellMulticast(op.mbar, i, signalled, to, int(n), func(mbarrier uint64) { w.tensorRows(b, isa.ByMbarrier, mbarrier) })
		}
		return ok
	})
	return w.fault == nil
}

// tensorLoaded signals the mbarrier of a box of n bytes that has been loaded, if there is one.
func (w *warp) tensorLoaded(b *tensorBox, image uint64, n int64) bool {
	op, i := b.op, b.lane
	if op.mbar == nil {
		return true
	}
	own := int(w.blk.rank())
	rank := w.pairRank(op, i, own)
	switch {
	case rank == own && !w.completeTx(op.mbar, 1<<i, n), rank != own && !w.completeIn(op.mbar, i, rank, n):
		return false
	case w.blk.probe == nil:
		return true
	}
	w.addresses(op.mbar, 1<<i)
	mbarrier := w.addr[i&31]
	if rank != own {
		_, a := isa.Resolve(mbarrier)
		mbarrier = ofRank(a, uint64(rank))
	}
	w.tensorSeen(b, image, isa.ByMbarrier, mbarrier)
	w.tellArrived(i, mbarrier)
	return true
}

// pairRank is the block of the cluster whose mbarrier lane i's copy to the one with a rank signals: with .cta_group::2
// that block or the other of its pair, whichever is even if the mbarrier of the instruction is in an even block, and odd
// otherwise (PTX manual, cp.async.bulk.tensor). See pairAddress for how an address says so.
func (w *warp) pairRank(op *tensorOp, i, rank int) int {
	if !op.pair {
		return rank
	}
	own := w.addr
	defer func() { w.addr = own }()
	w.addresses(op.mbar, 1<<i)
	space, a := isa.Resolve(w.addr[i&31])
	of, _, ok := inCluster(a)
	if !ok && space == isa.Shared {
		of = w.blk.rank()
	}
	return rank&^1 | int(of&1)
}

// tensorSeen tells the probe of the copy of a box between the tensor and shared memory.
func (w *warp) tensorSeen(b *tensorBox, image uint64, by isa.Completion, mbarrier uint64) {
	if !b.op.store {
		w.tensorRows(b, by, mbarrier)
	}
	w.tellFlight(b.lane, isa.Shared, image, b.m.BoxBytes(), b.op.store, !b.op.store, by, mbarrier) // swizzles leave it the same bytes
	if b.op.store {
		w.tensorRows(b, by, mbarrier)
	}
}

// tensorRows tells the probe of what the copy of a box accesses in the tensor.
func (w *warp) tensorRows(b *tensorBox, by isa.Completion, mbarrier uint64) {
	size := b.m.Bytes()
	b.m.Rows(b.at, b.offsets, func(r *exec.TensorRow) bool {
		if n := (r.Hi - r.Lo) * size; n > 0 {
			w.tellFlight(b.lane, isa.Global, r.Global+uint64(r.Lo*size), n, !b.op.store || b.op.reduce != "", b.op.store, by, mbarrier)
		}
		return true
	})
}

// pieces calls use for the parts of bytes of shared memory from a on, which lie together: f is where a
// part begins among them. It stops after a fault.
func (w *warp) pieces(b *tensorBox, a uint64, n int, write bool, use func(f int, p []byte)) bool {
	step := bulkStep
	if b.m.Swizzle != 0 {
		step = 16
	}
	for f := 0; f < n; f += step {
		x := b.m.Swizzled(a + uint64(f))
		p := w.bytesOf(isa.Shared, b.lane, x, min(step, n-f), write)
		if p == nil {
			return false
		}
		use(f, p)
	}
	return true
}

// within calls use for the parts of a row that are in the tensor, as pieces does.
func (w *warp) within(b *tensorBox, r *exec.TensorRow, write bool, use func(f int, p []byte)) bool {
	size := b.m.Bytes()
	for f, end := r.Lo*size, r.Hi*size; f < end; f += bulkStep {
		n := min(bulkStep, end-f)
		p := w.bytesOf(isa.Global, b.lane, r.Global+uint64(f), n, write)
		if p == nil {
			return false
		}
		use(f, p[:n]) // a span may be longer
	}
	return true
}

// tensorLoad copies a box into shared memory.
func (w *warp) tensorLoad(b *tensorBox, image uint64) bool {
	b.m.Rows(b.at, b.offsets, func(r *exec.TensorRow) bool {
		row := b.row[:r.N*b.m.Bytes()]
		b.fill(row)
		if !w.within(b, r, false, func(f int, p []byte) { copy(row[f:], p) }) {
			return false
		}
		b.convert(row[r.Lo*b.m.Bytes() : r.Hi*b.m.Bytes()])
		row = b.spread(row)
		return w.pieces(b, image+uint64(r.Image), len(row), true, func(f int, p []byte) { copy(p, row[f:]) })
	})
	return w.fault == nil
}

// fill fills a row with what elements outside of the tensor read as.
func (b *tensorBox) fill(row []byte) {
	clear(row)
	if !b.m.NaN {
		return
	}
	size := b.m.Bytes()
	for i := range row { // quiet, all bits but the sign (assumed)
		if row[i] = 0xff; i%size == size-1 {
			row[i] = 0x7f
		}
	}
}

// spread puts the elements of a row where they lie in shared memory.
func (b *tensorBox) spread(row []byte) []byte {
	size, slot := b.m.Bytes(), b.m.Slot()
	if size == slot {
		return row
	}
	n := len(row) / size
	to := b.wide[:n*slot]
	clear(to)
	for i := range n {
		copy(to[i*slot:], row[i*size:][:size])
	}
	return to
}

// convert changes elements as types with a conversion ask for.
func (b *tensorBox) convert(row []byte) {
	t := b.m.Type
	ftz := t == exec.TensorF32FTZ || t == exec.TensorTF32FTZ
	tf32 := t == exec.TensorTF32 || t == exec.TensorTF32FTZ
	if !ftz && !tf32 {
		return
	}
	for p := row; len(p) >= 4; p = p[4:] {
		v := le.Uint32(p)
		if ftz {
			v = num.FTZF32(v)
		}
		if tf32 {
			v = roundTF32(v)
		}
		le.PutUint32(p, v)
	}
}

// roundTF32 rounds to the ten fraction bits of tf32, to nearest even (PTX manual, tensor maps). Infinities
// and NaN stay (assumed).
func roundTF32(v uint32) uint32 {
	if v&0x7f800000 == 0x7f800000 {
		return v
	}
	return (v + 0xfff + v>>13&1) &^ 0x1fff
}

// tensorStore copies a box from shared memory, or reduces it into the tensor.
func (w *warp) tensorStore(b *tensorBox, image uint64) bool {
	size := b.m.Bytes()
	op, ok := rmw(0), true
	if b.op.reduce != "" {
		if op, ok = tensorReduction(b.op.reduce, b.m.Type); !ok {
			w.failf(1<<b.lane, "reduction .%s of a tensor whose elements have type %d, which have none", b.op.reduce, b.m.Type)
			return false
		}
	}
	b.m.Rows(b.at, b.offsets, func(r *exec.TensorRow) bool {
		row := b.row[:r.N*size]
		if !w.pieces(b, image+uint64(r.Image), len(row), false, func(f int, p []byte) { copy(row[f:], p) }) {
			return false
		}
		return w.within(b, r, true, func(f int, p []byte) {
			if b.op.reduce == "" {
				copy(p, row[f:])
				return
			}
			for k := 0; k < len(p); k += size {
				updateAt(p[k:], size, op, element(row[f+k:], size), 0)
			}
		})
	})
	return w.fault == nil
}

// element reads an element of a number of bytes.
func element(p []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(le.Uint16(p))
	case 4:
		return uint64(le.Uint32(p))
	}
	return le.Uint64(p)
}

// tensorTypes are the types of elements in reductions; the others have none.
var tensorTypes = map[exec.TensorType]ptx.Type{
	exec.TensorU32: "u32", exec.TensorS32: "s32", exec.TensorU64: "u64", exec.TensorS64: "s64", exec.TensorF16: "f16", exec.TensorBF16: "bf16",
	exec.TensorF32: "f32", exec.TensorF32FTZ: "f32", exec.TensorF64: "f64",
}

// tensorReduction returns the operation of a reduction. Sums of f32 flush subnormals, as in global
// memory.
func tensorReduction(name string, t exec.TensorType) (rmw, bool) {
	typ, ok := tensorTypes[t]
	if !ok {
		return 0, false
	}
	op, ok := rmwOf(name, typ)
	if op == rmwAddF32 {
		op = rmwAddF32Flush
	}
	return op, ok && (name == "add" || name == "min" || name == "max" || !typ.Float())
}

// replacedTypes are the types by the numbers that tensormap.replace has.
var replacedTypes = [...]exec.TensorType{exec.TensorU8, exec.TensorU16, exec.TensorU32, exec.TensorS32, exec.TensorU64, exec.TensorS64, exec.TensorF16, exec.TensorF32,
	exec.TensorF32FTZ, exec.TensorF64, exec.TensorBF16, exec.TensorTF32, exec.TensorTF32FTZ, exec.TensorU4, exec.TensorU4Spread, exec.TensorU6Spread}

// decodeTensorMap decodes tensormap.replace and tensormap.cp_fenceproxy.
func decodeTensorMap(d *dec, in *ptx.Inst, o *inst) error {
	if in.Has("cp_fenceproxy") {
		return d.fenceProxyCopy(in, o)
	}
	if len(in.Args) < 2 || len(in.Mods) < 3 {
		return errors.New("takes an address and a value")
	}
	field, value := in.Mods[2], &in.Args[len(in.Args)-1]
	ord := uint64(0)
	if len(in.Args) == 3 {
		if in.Args[1].Kind != ptx.OpImm || in.Args[1].Imm.Bits > 4 {
			return errors.New("needs a dimension from 0 to 4")
		}
		ord = in.Args[1].Imm.Bits
	}
	space, err := d.memAddress(&in.Args[0], o, spaceOf(in))
	if err != nil {
		return err
	}
	if space != isa.Global && space != isa.Shared && space != isa.Generic {
		return fmt.Errorf("needs an address in global or shared memory, not in .%s", space)
	}
	o.mode, o.kind = uint8(space), kMem
	wide := in.Has("b64")
	if wide {
		o.b, err = d.src64(value, "b64")
	} else {
		o.b, err = d.src32(value, "b32")
	}
	if err != nil {
		return err
	}
	// It is a weak write of the whole map (PTX manual, tensormap.replace).
	d.describe(space, exec.TensorMapBytes, false, true)
	d.im.hopper = "tensormap.replace"
	o.run = func(w *warp, in *inst, m uint32) {
		w.addresses(in, m)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			v := w.at(in.b, wide, i)
			if !w.replaceField(space, i, field, int(ord), v) {
				return
			}
		}
	}
	return nil
}

// replacedRanges are the values that tensormap.replace may give to fields. Those of box_dim, global_dim and
// element_stride are the limits of cuTensorMapEncodeTiled.
var replacedRanges = map[string][2]uint64{
	"rank":              {0, 4}, // less one
	"box_dim":           {1, 256},
	"global_dim":        {1, math.MaxUint32},
	"element_stride":    {1, 8},
	"elemtype":          {0, uint64(len(replacedTypes)) - 1},
	"interleave_layout": {0, 0}, // others are not supported
	"swizzle_atomicity": {0, 1}, // others are not supported
	"swizzle_mode":      {0, 3},
	"fill_mode":         {0, 1},
}

// replaceField changes a field of lane i's tensor map at w.addr.
func (w *warp) replaceField(space isa.Space, i int, field string, ord int, v uint64) bool {
	p := w.lane(space, i, exec.TensorMapBytes, true)
	if p == nil {
		return false
	}
	raw := (*[exec.TensorMapBytes]byte)(p)
	var t exec.TensorMap
	if err := t.Decode(raw); err != nil {
		w.failf(1<<i, "tensor map at %#x: %v", w.addr[i], err)
		return false
	}
	if r, limited := replacedRanges[field]; limited && (v < r[0] || v > r[1]) {
		w.failf(1<<i, "tensormap.replace of %s by %d, but it must be %d to %d", field, v, r[0], r[1])
		return false
	}
	switch field {
	case "global_address":
		t.Address = v
	case "rank":
		t.Rank = int(v) + 1
	case "box_dim":
		t.Box[ord] = uint32(v)
	case "global_dim":
		t.Dims[ord] = v
	case "global_stride":
		if ord == 4 {
			w.failf(1<<i, "tensormap.replace of global_stride of dimension 4, which is not supported: want 0 to 3")
			return false
		}
		t.Strides[ord+1] = v
	case "element_stride":
		t.Steps[ord] = uint32(v)
	case "elemtype":
		t.Type = replacedTypes[v]
	case "swizzle_mode":
		t.Swizzle = uint8(v)
	case "swizzle_atomicity":
		t.Atom = uint8(v)
	case "fill_mode":
		t.NaN = v == 1
	}
	t.Encode(raw)
	return true
}

// fenceProxyCopy decodes tensormap.cp_fenceproxy: a warp copies a map from shared to global memory.
func (d *dec) fenceProxyCopy(in *ptx.Inst, o *inst) error {
	if len(in.Args) != 3 || in.Args[2].Kind != ptx.OpImm || in.Args[2].Imm.Bits != exec.TensorMapBytes {
		return errors.New("takes two addresses and a size of 128")
	}
	space, err := d.memAddress(&in.Args[0], o, isa.Global)
	if err != nil {
		return err
	}
	from, err := d.address2(&in.Args[1], isa.Shared)
	if err != nil {
		return err
	}
	d.together(o)
	// Core models see its write alone (assumed: the read of shared memory before it takes no time of its own).
	d.describe(isa.Global, exec.TensorMapBytes, false, true)
	d.im.hopper = "tensormap.cp_fenceproxy"
	o.run = func(w *warp, in *inst, m uint32) {
		if !w.needAll(in, m) {
			return
		}
		// All lanes have the same addresses.
		w.addresses(from, m)
		src := w.lane(isa.Shared, 0, exec.TensorMapBytes, false)
		if src == nil {
			return
		}
		var buf [exec.TensorMapBytes]byte
		copy(buf[:], src)
		w.addresses(in, m)
		if to := w.lane(space, 0, exec.TensorMapBytes, true); to != nil {
			copy(to, buf[:])
		}
	}
	return nil
}
