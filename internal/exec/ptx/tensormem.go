package ptx

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: tensor memory of Blackwell's data-centre GPUs (tcgen05): its allocation, loads, stores, copies into it,
// and what orders them. An address is a lane in its upper half and a column in its lower one (PTX manual, tensor
// memory addressing). Each block has all columns of its SM for itself: blocks that share an SM on hardware have parts
// of them. All is complete when it issues, so that waits and fences have nothing to do.

const (
	tmemLanes   = 128
	tmemColumns = 512
	tmemUnit    = 32 // columns that are allocated at a time (PTX manual, tcgen05.alloc)
)

// tensorMemory is the tensor memory of a block.
type tensorMemory struct {
	cell  [tmemLanes][tmemColumns]uint32
	taken uint32 // units, a bit for each
}

func init() { families["tcgen05"] = decodeTcgen }

func decodeTcgen(d *dec, in *ptx.Inst, o *inst) error {
	d.im.hopper = "tcgen05"
	d.info.Unit = isa.UnitTensor
	o.kind = kMem
	name, _, _ := strings.Cut(in.Mods[0], "::")
	switch name {
	case "alloc":
		d.together(o)
		return d.tmemAlloc(in, o)
	case "dealloc":
		d.together(o)
		return d.tmemDealloc(in, o)
	case "ld", "st":
		d.together(o)
		return d.tmemMove(in, o, name == "st")
	case "relinquish_alloc_permit":
		d.together(o)
		o.run = func(w *warp, in *inst, m uint32) { w.needAll(in, m) }
		return nil
	case "wait":
		d.together(o)
		by := isa.ByTensorLoad
		if strings.HasSuffix(in.Mods[0], "st") {
			by = isa.ByTensorStore
		}
		o.run = func(w *warp, in *inst, m uint32) {
			if w.needAll(in, m) {
				w.seenWait(by)
			}
		}
		return nil
	case "fence":
		o.run = func(*warp, *inst, uint32) {}
		return nil
	case "commit":
		return d.tmemCommit(in, o)
	case "cp":
		return d.tmemCopy(in, o)
	case "mma":
		return d.tcgenMMA(in, o)
	}
	return errUnsupported
}

// tensorMemory returns the block's tensor memory.
func (b *block) tensorMemory() *tensorMemory {
	if b.tmem == nil {
		b.tmem = new(tensorMemory)
	}
	return b.tmem
}

func (d *dec) tmemAlloc(in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes an address in shared memory and a number of columns")
	}
	to, err := d.address2(&in.Args[0], isa.Shared)
	if err != nil {
		return err
	}
	if o.a, err = d.src32(&in.Args[1], "u32"); err != nil {
		return err
	}
	o.run = func(w *warp, in *inst, m uint32) {
		if !w.needAll(in, m) {
			return
		}
		n := w.u32(in.a)[0]
		units, ok := w.units(n)
		if !ok {
			return
		}
		t := w.blk.tensorMemory()
		for at := 0; at+units <= tmemColumns/tmemUnit; at++ {
			want := (uint32(1)<<units - 1) << at
			if t.taken&want != 0 {
				continue
			}
			t.taken |= want
			w.addresses(to, 1)
			if p := w.lane(isa.Space(to.mode), 0, 4, true); p != nil {
				le.PutUint32(p, uint32(at*tmemUnit))
				if w.blk.probe != nil {
					w.seen(isa.Space(to.mode), 1, 4, false, true, &w.addr)
				}
			}
			return
		}
		w.failf(full, "tcgen05.alloc of %d columns waits for ever: the block has %d of %d columns of tensor memory, and nobody else can free some", n, bits.OnesCount32(t.taken)*tmemUnit, tmemColumns)
	}
	return nil
}

// units is the number of units of an allocation of n columns; false after a fault.
func (w *warp) units(n uint32) (int, bool) {
	if n < tmemUnit || n > tmemColumns || n&(n-1) != 0 {
		w.failf(full, "%s of %d columns: want a power of two from %d to %d", w.info().Op, n, tmemUnit, tmemColumns)
		return 0, false
	}
	return int(n / tmemUnit), true
}

func (d *dec) tmemDealloc(in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes an address in tensor memory and a number of columns")
	}
	var err error
	if o.a, err = d.src32(&in.Args[0], "u32"); err != nil {
		return err
	}
	if o.b, err = d.src32(&in.Args[1], "u32"); err != nil {
		return err
	}
	o.run = func(w *warp, in *inst, m uint32) {
		if !w.needAll(in, m) {
			return
		}
		at, n := w.u32(in.a)[0], w.u32(in.b)[0]
		units, ok := w.units(n)
		if !ok {
			return
		}
		t := w.blk.tensorMemory()
		want := (uint32(1)<<units - 1) << (at / tmemUnit & 31)
		if at%tmemUnit != 0 || at+n > tmemColumns || t.taken&want != want {
			w.failf(full, "tcgen05.dealloc of %d columns at %#x of tensor memory, which are not allocated", n, at)
			return
		}
		t.taken &^= want
		w.seenColumns(int(at), int(n))
	}
	return nil
}

// tmemCells returns the part of a lane from a column on; nil after a fault.
func (w *warp) tmemCells(b *block, lane, column, n int) []uint32 {
	t := b.tensorMemory()
	if lane >= tmemLanes || column+n > tmemColumns {
		w.failf(full, "%s at lane %d, columns %d to %d of tensor memory, which has %d lanes and %d columns", w.info().Op, lane, column, column+n-1, tmemLanes, tmemColumns)
		return nil
	}
	for c := column / tmemUnit; c <= (column+n-1)/tmemUnit; c++ {
		if t.taken>>c&1 == 0 {
			w.failf(full, "%s at column %d of tensor memory, which is not allocated", w.info().Op, max(column, c*tmemUnit))
			return nil
		}
	}
	return t.cell[lane][column : column+n]
}

// tmemShape is a shape of tcgen05.ld and st: registers of a thread for each repetition, and where thread t has
// register r, as lanes and columns from the address on (PTX manual, data movement shapes; half is the offset of the
// second half of 16x32bx2).
type tmemShape struct {
	per int
	at  func(t, r, half int) (lane, column int)
}

var tmemShapes = map[string]tmemShape{
	"32x32b":   {1, func(t, r, _ int) (int, int) { return t, r }},
	"16x64b":   {1, func(t, r, _ int) (int, int) { return t%2*8 + t/4, t/2%2 + 2*r }},
	"16x128b":  {2, func(t, r, _ int) (int, int) { return t/4 + 8*(r%2), t%4 + 4*(r/2) }},
	"16x256b":  {4, func(t, r, _ int) (int, int) { return t/4 + 8*(r/2%2), t%4*2 + r%2 + 8*(r/4) }},
	"16x32bx2": {1, func(t, r, half int) (int, int) { return t % 16, r + t/16*half }},
}

// tmemForm returns the shape that an instruction names, and how often it repeats it.
func tmemForm(mods []string) (shape tmemShape, n int) {
	for _, m := range mods {
		if s, ok := tmemShapes[m]; ok {
			shape = s
		} else if x, ok := strings.CutPrefix(m, "x"); ok {
			n, _ = strconv.Atoi(x)
		}
	}
	return shape, n
}

// tmemMove decodes tcgen05.ld and st.
func (d *dec) tmemMove(in *ptx.Inst, o *inst, store bool) error {
	shape, n := tmemForm(in.Mods)
	packed := in.Has("pack::16b") || in.Has("unpack::16b")
	if shape.at == nil || n == 0 || in.Has("red") {
		return errUnsupported
	}
	args, half := slices.Clone(in.Args), 0
	if in.Has("16x32bx2") {
		at := len(args) - 1
		if store {
			at = 1
		}
		if len(args) != 3 || args[at].Kind != ptx.OpImm {
			return errors.New("takes registers, an address in tensor memory and the offset of the second half")
		}
		half = int(min(args[at].Imm.Bits, tmemColumns))
		args = slices.Delete(args, at, at+1)
	}
	if len(args) != 2 {
		return errors.New("takes registers and an address in tensor memory")
	}
	if store {
		args[0], args[1] = args[1], args[0]
	}
	regs, err := d.fragRegs(&args[0], n*shape.per, false, !store)
	if err != nil {
		return err
	}
	at, err := d.address2(&args[1], isa.Shared)
	if err != nil {
		return err
	}
	whole, step := in.Has("32x32b"), 16 // whether the shape has all lanes of a warp
	if whole {
		step = 32
	}
	words := 1
	if packed {
		words = 2
	}
	o.run = func(w *warp, in *inst, m uint32) {
		if !w.needAll(in, m) {
			return
		}
		w.addresses(at, full)
		lane, column := int(w.addr[0]>>16&0xffff), int(w.addr[0]&0xffff)
		if lane/32 != w.id%exec.GroupWarps || lane%32 != 0 && (whole || lane%32 != 16) {
			w.failf(full, "%s at lane %d of tensor memory: warp %d of the block reaches lanes %d to %d, from a multiple of %d on", w.info().Op, lane, w.id, w.id%exec.GroupWarps*32, w.id%exec.GroupWarps*32+31, step)
			return
		}
		for r, reg := range regs {
			for t := range 32 {
				l, c := shape.at(t, r, half)
				cells := w.tmemCells(w.blk, lane+l, column+c*words, words)
				if cells == nil {
					return
				}
				x := &w.u32(reg)[t]
				switch {
				case store && packed:
					cells[0], cells[1] = *x&0xffff, *x>>16
				case store:
					cells[0] = *x
				case packed:
					*x = cells[0]&0xffff | cells[1]<<16
				default:
					*x = cells[0]
				}
			}
		}
		w.seenMove(shape, lane, column, len(regs), words, half, whole, store)
	}
	return nil
}

// tmemCommit decodes tcgen05.commit: what the thread has issued is over, so that it arrives at once, unless a core model
// says when.
func (d *dec) tmemCommit(in *ptx.Inst, o *inst) error {
	if len(in.Args) == 0 {
		return errors.New("needs the address of an mbarrier")
	}
	at, err := d.address2(&in.Args[0], isa.Shared)
	if err != nil {
		return err
	}
	d.info.Atomic, d.info.Load, d.info.Store, d.info.Space = true, true, true, isa.Shared
	if !in.Has("multicast::cluster") {
		o.run = func(w *warp, _ *inst, m uint32) {
			if w.blk.postpones {
				w.done = 0
				w.addresses(at, m)
				w.signal(exec.SignalProducts, m)
				for ; m != 0; m &= m - 1 {
					w.arriveLater(at, bits.TrailingZeros32(m)&31, -1)
				}
				return
			}
			w.eachMbar(at, m, func(b *mbar, i int) bool { return w.arriveMbar(b, i, 1) })
			w.signal(exec.SignalProducts, m)
		}
		return nil
	}
	if len(in.Args) < 2 {
		return errors.New("needs a mask")
	}
	mask, err := d.src32(&in.Args[1], "u16")
	if err != nil {
		return err
	}
	o.run = func(w *warp, _ *inst, m uint32) {
		for ; m != 0 && w.fault == nil; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			of := w.u32(mask)[i] & 0xffff
			if count := w.blk.launch.ClusterSize().Count(); of>>count != 0 {
				w.failf(1<<i, "multicast to the blocks %#x of a cluster that has %d", of, count)
				return
			}
			w.addresses(at, 1<<i)
			_, a := isa.Resolve(w.addr[i])
			for ; of != 0; of &= of - 1 {
				if w.blk.postpones {
					w.done = 0
					w.addr[i] = ofRank(a, uint64(bits.TrailingZeros32(of)))
					w.signal(exec.SignalProducts, 1<<i)
					w.arriveLater(at, i, bits.TrailingZeros32(of))
					continue
				}
				w.addr[i] = ofRank(a, uint64(bits.TrailingZeros32(of)))
				if !w.changeMbar(at, i, func(b *mbar) bool { return w.arriveMbar(b, i, 1) }) {
					return
				}
				w.signal(exec.SignalProducts, 1<<i)
			}
		}
	}
	return nil
}

// tmemSpread says to which groups of 32 lanes a copy brings its groups of 32 rows: row group g goes to all lane groups
// that list it (PTX manual, tcgen05.cp).
var tmemSpread = map[string][exec.GroupWarps]int{
	"128":              {0, 1, 2, 3},
	"64.warpx2::02_13": {0, 1, 0, 1},
	"64.warpx2::01_23": {0, 0, 1, 1},
	"32.warpx4":        {0, 0, 0, 0},
}

// tmemCopy decodes tcgen05.cp: rows of a matrix in shared memory go to lanes.
func (d *dec) tmemCopy(in *ptx.Inst, o *inst) error {
	rows, width, spread := 0, 0, ""
	for _, m := range in.Mods {
		if n, _ := fmt.Sscanf(m, "%dx%db", &rows, &width); n == 2 {
			spread = strconv.Itoa(rows) + spread
		} else if strings.HasPrefix(m, "warpx") {
			spread += "." + m
		} else if strings.HasPrefix(m, "b8x16") {
			return errUnsupported
		}
	}
	to, ok := tmemSpread[spread]
	if !ok || len(in.Args) != 2 {
		return errUnsupported
	}
	width /= 128
	at, err := d.address2(&in.Args[0], isa.Shared)
	if err != nil {
		return err
	}
	desc, err := d.src64(&in.Args[1], "b64")
	if err != nil {
		return err
	}
	pair := in.Has("cta_group::2")
	o.run = func(w *warp, _ *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if w.blk.postpones {
				b := w.bulk.begin()
				b.Operands, b.Pair = b.Operands+rows*width*16, pair
			}
			md, ok := w.tcgenDescriptor(w.u64(desc)[i], "copy")
			if !ok {
				return
			}
			w.addresses(at, 1<<i)
			lane, column := int(w.addr[i]>>16&0xffff), int(w.addr[i]&0xffff)
			for _, b := range w.ctaGroup(pair) {
				var reads chunks
				for l := range tmemLanes {
					row := to[l/32]*32 + l%32
					for c := range width {
						reads = append(reads, md.chunkAt(row, c, false))
						p := w.chunkOf(b, md.chunkAt(row, c, false), "copy")
						cells := w.tmemCells(b, lane+l, column+4*c, 4)
						if p == nil || cells == nil {
							return
						}
						for k := range cells {
							cells[k] = le.Uint32(p[4*k:])
						}
					}
				}
				if w.blk.probe != nil {
					reads.see(w, b, i)
					w.seenCells(b, i, lanesFrom(lane, tmemLanes), column, 4*width, false, true)
				}
			}
		}
	}
	return nil
}

// ctaGroup returns the blocks that an instruction of .cta_group::2, or ::1, is about: a pair by ranks, or the block.
func (w *warp) ctaGroup(pair bool) []*block {
	b := w.blk
	if !pair {
		return []*block{b}
	}
	if b.team == nil || len(b.team.blocks)%2 != 0 {
		w.failf(full, "%s needs a cluster of pairs of blocks", w.info().Op)
		return nil
	}
	first := b.rank() &^ 1
	return b.team.blocks[first : first+2]
}
