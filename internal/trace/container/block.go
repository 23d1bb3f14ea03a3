package container

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// coder holds the predictions for a part. Writing and reading go through the same
// states, so both directions are here, side by side in each file.
type coder struct {
	path   path
	active masks // in traces that distinguish active masks; else of all
	within masks // masks within active ones
	counts []int16
	count  hits
	addr   addresses
	both   bool // active masks are distinguished

	code []trace.Static
	ends []bool // by instruction: it ends the lanes that execute it
}

var coders sync.Pool

func newCoder(k *trace.Kernel) *coder {
	c, ok := coders.Get().(*coder)
	if !ok {
		c = &coder{}
	}
	c.code = k.Code
	c.ends, c.counts = c.ends[:0], c.counts[:0]
	for i := range k.Code {
		c.ends = append(c.ends, k.Code[i].Op == "EXIT" || strings.HasPrefix(k.Code[i].Op, "EXIT."))
		c.counts = append(c.counts, 0)
	}
	return c
}

// free returns a coder for reuse.
func (c *coder) free() {
	c.code = nil
	coders.Put(c)
}

// reset clears everything, at the start of a part.
func (c *coder) reset(flags byte) {
	c.both, c.addr.all = flags&flagBoth != 0, flags&flagAll != 0
	c.path.reset(len(c.code))
	c.active.reset(len(c.code))
	if c.both {
		c.within.reset(len(c.code))
	}
	c.addr.reset(len(c.code))
	for i := range c.counts {
		c.counts[i] = 1
		if c.code[i].Width == 0 {
			c.counts[i] = 0
		}
	}
	c.count = hits{}
}

// Properties of a whole part.
const (
	flagBoth   byte = 1 << iota // active masks are distinguished
	flagAll                     // addresses are written in full
	flagInline                  // the part is stored in the index
	flagsKnown = flagBoth | flagAll | flagInline
)

// flagsOf returns the flags of a block.
func flagsOf(b *trace.Block) (flags byte) {
	for i := range b.Insts {
		if b.Insts[i].Active != b.Insts[i].Mask {
			flags |= flagBoth
			break
		}
	}
	if len(b.Mems) > 0 && b.Mems[0].Mode == trace.ListAll {
		flags |= flagAll
	}
	return flags
}

// Limits of the format, our own choice; larger values are refused in both
// directions.
const (
	maxBlockInsts = 1 << 26 // records of a block: 1.3 GB when read
	maxWarps      = 1 << 12 // of a block; hardware has at most 32
	maxMems       = 8       // accesses of a record; tracers write at most two
)

// begin starts a warp.
func (c *coder) begin() {
	c.path.begin()
	c.active.begin()
	if c.both {
		c.within.begin()
	}
	c.addr.begin()
}

// lead gives the masks within active ones their first prediction.
func (c *coder) lead(active isa.LaneMask) {
	w := &c.within
	if w.mru[0] != active {
		w.mru = [mruSize]isa.LaneMask{active, w.mru[0] & active, active &^ w.mru[0]}
	}
}

// put writes a block.
func (c *coder) put(cols *[columns][]byte, b *trace.Block) error {
	if len(b.Warps) > maxWarps || len(b.Insts) > maxBlockInsts {
		return fmt.Errorf("it has %d warps and %d instructions; a container holds at most %d and %d per block", len(b.Warps), len(b.Insts), maxWarps, maxBlockInsts)
	}
	cols[colWarps] = uvarint(cols[colWarps], uint64(len(b.Warps)))
	before, upto := int32(-1), int32(0)
	for i := range b.Warps {
		w := &b.Warps[i]
		if w.ID <= before || w.From != upto || w.Upto < w.From || int(w.Upto) > len(b.Insts) {
			return errors.New("its warps are not in ascending order, or their instructions are not contiguous")
		}
		upto = w.Upto
		cols[colWarps] = uvarint(cols[colWarps], uint64(w.ID-before-1))
		before = w.ID
		c.begin()
		for j := range b.Insts[w.From:w.Upto] {
			if err := c.inst(cols, b, &b.Insts[int(w.From)+j]); err != nil {
				return err
			}
		}
		c.path.put(cols, c.path.code)
	}
	if int(upto) != len(b.Insts) {
		return errors.New("it has instructions that belong to no warp")
	}
	return nil
}

func (c *coder) inst(cols *[columns][]byte, b *trace.Block, in *trace.Inst) error {
	if in.At < 0 || int(in.At) >= len(c.code) || in.Mask&^in.Active != 0 || in.NMems > maxMems {
		return errors.New("an instruction is not in its launch's code, or has lanes that are not active, or too many accesses")
	}
	c.path.put(cols, in.At)
	c.active.put(cols, colMaskRun, in.At, in.Active)
	if c.both {
		c.lead(in.Active)
		c.within.put(cols, colSubRun, in.At, in.Mask)
	} else if in.Active != in.Mask {
		return errBoth
	}
	if c.ends[in.At] {
		c.active.leave(in.Mask)
	}
	if int16(in.NMems) == c.counts[in.At] {
		c.count.n++
	} else {
		cols[colCountRun] = c.count.miss(cols[colCountRun])
		cols[colCountNew] = append(cols[colCountNew], in.NMems)
		c.counts[in.At] = int16(in.NMems)
	}
	if in.NMems == 0 {
		return nil
	}
	if in.Mem < 0 || int(in.Mem)+int(in.NMems) > len(b.Mems) {
		return errors.New("an instruction lacks its accesses")
	}
	for i := range in.NMems {
		m := &b.Mems[in.Mem+int32(i)]
		if m.First < 0 || int(m.First)+int(m.N) > len(b.Deltas) {
			return errors.New("an access lacks its addresses")
		}
		c.addr.put(cols, b, in.At, i, in.Mask, m)
	}
	return nil
}

// errBoth means that a part must be restarted with active masks distinguished.
var errBoth = errors.New("active masks are distinguished")

// end ends the runs of a part.
func (c *coder) end(cols *[columns][]byte) {
	cols[colPathRun] = c.path.run.miss(cols[colPathRun])
	cols[colMaskRun] = c.active.run.miss(cols[colMaskRun])
	if c.both {
		cols[colSubRun] = c.within.run.miss(cols[colSubRun])
	}
	cols[colCountRun] = c.count.miss(cols[colCountRun])
	cols[colAddrRun] = c.addr.run.miss(cols[colAddrRun])
}

// open starts reading a part.
func (c *coder) open(cols *[columns]reader) {
	c.path.run.begin(&cols[colPathRun])
	c.active.run.begin(&cols[colMaskRun])
	if c.both {
		c.within.run.begin(&cols[colSubRun])
	}
	c.count.begin(&cols[colCountRun])
	c.addr.run.begin(&cols[colAddrRun])
}

// get reads a block into b, whose slices it reuses. Most is the largest number of
// records allowed.
func (c *coder) get(cols *[columns]reader, b *trace.Block, most uint64) error {
	b.Warps, b.Insts, b.Mems, b.Deltas = b.Warps[:0], b.Insts[:0], b.Mems[:0], b.Deltas[:0]
	warps := cols[colWarps].below(maxWarps + 1)
	before := int64(-1)
	most = min(most, maxBlockInsts)
	for range warps {
		id := before + 1 + int64(cols[colWarps].below(1<<31))
		if id > 1<<31-1 {
			return errDamaged
		}
		before = id
		w := trace.Warp{ID: int32(id), From: int32(len(b.Insts))}
		c.begin()
		for {
			at := c.path.get(cols)
			if at == c.path.code {
				break
			}
			if uint64(len(b.Insts)) == most || cols[colPathRun].bad || cols[colPathNew].bad {
				return errDamaged
			}
			in := trace.Inst{At: at, Mem: -1}
			in.Active = c.active.get(cols, colMaskRun, at)
			in.Mask = in.Active
			if c.both {
				c.lead(in.Active)
				if in.Mask = c.within.get(cols, colSubRun, at); in.Mask&^in.Active != 0 {
					return errDamaged
				}
			}
			if c.ends[at] {
				c.active.leave(in.Mask)
			}
			if !c.count.next(&cols[colCountRun]) {
				c.counts[at] = int16(cols[colCountNew].below(maxMems + 1))
			}
			if n := uint8(c.counts[at]); n > 0 {
				in.Mem, in.NMems = int32(len(b.Mems)), n
				for i := range n {
					c.addr.get(cols, b, at, i, in.Mask)
				}
				if len(b.Mems) != int(in.Mem)+int(n) {
					return errDamaged
				}
			}
			b.Insts = append(b.Insts, in)
		}
		w.Upto = int32(len(b.Insts))
		b.Warps = append(b.Warps, w)
	}
	for i := range cols {
		if cols[i].bad {
			return errDamaged
		}
	}
	return nil
}
