package ptx

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// sreg is a value that is fixed when a frame is made: a special register that does not
// change while a warp runs, or the address of a local variable.
type sreg uint8

const (
	sregZero  sreg = iota
	sregTrue       // the predicate that always holds
	sregLocal      // address of a local variable: base of the frame plus off
	sregTidX
	sregTidY
	sregTidZ
	sregNtidX
	sregNtidY
	sregNtidZ
	sregCtaidX
	sregCtaidY
	sregCtaidZ
	sregNctaidX
	sregNctaidY
	sregNctaidZ
	sregLane
	sregWarp
	sregNwarp
	sregSM
	sregNSM
	sregGrid
	sregLaneEQ
	sregLaneLE
	sregLaneLT
	sregLaneGE
	sregLaneGT
	sregOne
	sregDynShared
	sregTotalShared
	sregExplicit // the predicate that the launch has clusters
	sregClusterX // the cluster's place in the grid
	sregClusterY
	sregClusterZ
	sregNclusterX // clusters of the grid
	sregNclusterY
	sregNclusterZ
	sregInX // the block's place in its cluster
	sregInY
	sregInZ
	sregSizeX // blocks of a cluster
	sregSizeY
	sregSizeZ
	sregRank
	sregSize
	sregSpaceHigh // address of a cooperative launch's workspace
	sregSpaceLow
)

// smCount is the value of %nsmid, and %smid is the block's index modulo it: the 84 SMs
// of an RTX A6000, the default machine. (Assumed for functional runs, which have no
// SMs.)
const smCount = 84

// sregs maps special registers that stay constant while a warp runs. Performance monitors read
// zero, as do environment registers except those for the workspace of a cooperative launch.
// Without clusters each block is one.
var sregs = map[string]sreg{
	"%tid.x": sregTidX, "%tid.y": sregTidY, "%tid.z": sregTidZ, "%tid.w": sregZero,
	"%ntid.x": sregNtidX, "%ntid.y": sregNtidY, "%ntid.z": sregNtidZ, "%ntid.w": sregZero,
	"%ctaid.x": sregCtaidX, "%ctaid.y": sregCtaidY, "%ctaid.z": sregCtaidZ, "%ctaid.w": sregZero,
	"%nctaid.x": sregNctaidX, "%nctaid.y": sregNctaidY, "%nctaid.z": sregNctaidZ, "%nctaid.w": sregZero,
	"%laneid": sregLane, "%warpid": sregWarp, "%nwarpid": sregNwarp, "%smid": sregSM, "%nsmid": sregNSM, "%gridid": sregGrid,
	"%lanemask_eq": sregLaneEQ, "%lanemask_le": sregLaneLE, "%lanemask_lt": sregLaneLT, "%lanemask_ge": sregLaneGE, "%lanemask_gt": sregLaneGT,
	"%clusterid.x": sregClusterX, "%clusterid.y": sregClusterY, "%clusterid.z": sregClusterZ, "%clusterid.w": sregZero,
	"%nclusterid.x": sregNclusterX, "%nclusterid.y": sregNclusterY, "%nclusterid.z": sregNclusterZ, "%nclusterid.w": sregZero,
	"%cluster_ctaid.x": sregInX, "%cluster_ctaid.y": sregInY, "%cluster_ctaid.z": sregInZ, "%cluster_ctaid.w": sregZero,
	"%cluster_nctaid.x": sregSizeX, "%cluster_nctaid.y": sregSizeY, "%cluster_nctaid.z": sregSizeZ, "%cluster_nctaid.w": sregZero,
	"%cluster_ctarank": sregRank, "%cluster_nctarank": sregSize,
	"%dynamic_smem_size": sregDynShared, "%total_smem_size": sregTotalShared, "%aggr_smem_size": sregTotalShared,
	"%reserved_smem_offset_begin": sregZero, "%reserved_smem_offset_end": sregZero, "%reserved_smem_offset_cap": sregZero,
	"%reserved_smem_offset_0": sregZero, "%reserved_smem_offset_1": sregZero,
	"%current_graph_exec": sregZero,
}

func init() {
	for i := range 8 {
		sregs[fmt.Sprintf("%%pm%d", i)] = sregZero
		sregs[fmt.Sprintf("%%pm%d_64", i)] = sregZero
	}
	for i := range 32 {
		sregs[fmt.Sprintf("%%envreg%d", i)] = sregZero
	}
	sregs["%envreg1"], sregs["%envreg2"] = sregSpaceHigh, sregSpaceLow
}

// clocks are the special registers that change while a warp runs. If a timing model
// has set the time (work.SetTime), %clock counts core cycles and %globaltimer
// nanoseconds. In a functional run, time is the number of instructions that the warp's
// block has issued: it moves forward, and it is the same in every run.
var clocks = map[string]func(w *warp) uint64{
	"%clock":          func(w *warp) uint64 { return w.now() & 0xffffffff },
	"%clock_hi":       func(w *warp) uint64 { return w.now() >> 32 },
	"%clock64":        (*warp).now,
	"%globaltimer":    (*warp).nanoseconds,
	"%globaltimer_lo": func(w *warp) uint64 { return w.nanoseconds() & 0xffffffff },
	"%globaltimer_hi": func(w *warp) uint64 { return w.nanoseconds() >> 32 },
}

// now is the time in cycles, or the block's instruction count.
func (w *warp) now() uint64 {
	w.asked = true
	if x := w.blk.work; x != nil && x.Cycles != nil {
		return *x.Cycles
	}
	n := uint64(0)
	for i := range w.blk.warps {
		n += w.blk.warps[i].insts
	}
	return n
}

// nanoseconds is the time in nanoseconds, or the block's instruction count.
func (w *warp) nanoseconds() uint64 {
	n := w.now()
	x := w.blk.work
	if x == nil || x.Cycles == nil || x.Hertz == 0 {
		return n
	}
	sec, rest := n/x.Hertz, n%x.Hertz
	hi, lo := bits.Mul64(rest, 1e9)
	ns, _ := bits.Div64(hi, lo, x.Hertz)
	return sec*1e9 + ns
}

// sregName returns a special register operand's full name.
func sregName(o *ptx.Operand) string {
	if o.Elem != "" {
		return o.Name + "." + o.Elem
	}
	return o.Name
}

// special resolves a constant special register as a source.
func (d *dec) special(o *ptx.Operand, wide bool) (ref, error) {
	name := sregName(o)
	if s, ok := sregs[name]; ok {
		if s == sregSpaceHigh || s == sregSpaceLow {
			d.im.workspace = true
		}
		return d.sregSlot(s, wide, 0, c32), nil
	}
	if f, ok := clocks[name]; ok {
		d.info.Time = true
		c := c32
		if wide {
			c = c64
		}
		s := sum{d: d.scratch(c), wide: wide, clock: f}
		d.sums = append(d.sums, s)
		return s.d, nil
	}
	return none, fmt.Errorf("reads %s, which is not supported", name)
}

// sregSlot returns the slot that is filled with a value when a frame is made.
func (d *dec) sregSlot(s sreg, wide bool, off int64, c regClass) ref {
	k := sregKey{s, wide, off}
	r, ok := d.sregAt[k]
	if !ok {
		if wide {
			c = c64
		}
		r = d.scratch(c)
		d.sregAt[k] = r
		d.f.sregs = append(d.f.sregs, sregSlot{slot: r, wide: wide, kind: s, off: off})
	}
	return r
}

// openFrame prepares fr for lanes m: it fills the slots of special registers, and
// allocates and clears local memory.
func (w *warp) openFrame(fr *frame, m uint32) {
	f := fr.f
	fr.top, fr.sp = fr.base+f.local, nil
	if f.local > 0 {
		for ; m != 0; m &= m - 1 {
			w.growLocal(bits.TrailingZeros32(m), fr.base, fr.top)
		}
	}
	for _, s := range f.sregs {
		switch s.kind {
		case sregTrue:
			fr.pr[s.slot] = full
			continue
		case sregExplicit:
			fr.pr[s.slot] = -b2u(w.blk.launch.Cluster != exec.Dim3{})
			continue
		}
		all, each := w.sregValue(s, fr)
		if s.wide {
			dst := &fr.r64[s.slot]
			for i := range dst {
				if each != nil {
					all = uint64(each[i])
				}
				dst[i] = all
			}
			continue
		}
		dst := &fr.r32[s.slot]
		if each != nil {
			*dst = *each
			continue
		}
		for i := range dst {
			dst[i] = uint32(all)
		}
	}
}

// Special registers whose values depend on the lane alone.
var sregLanes = func() (t struct{ id, eq, le, lt, ge, gt [32]uint32 }) {
	for i := range 32 {
		t.id[i], t.eq[i] = uint32(i), 1<<i
		t.le[i], t.lt[i] = 2<<i-1, 1<<i-1
		t.ge[i], t.gt[i] = 0xffffffff<<i, 0xfffffffe<<i
	}
	return t
}()

// sregValue is the value of a special register in fr: one for all lanes or, where each is not
// nil, one for each.
func (w *warp) sregValue(s sregSlot, fr *frame) (all uint64, each *[32]uint32) {
	b := w.blk
	switch s.kind {
	case sregLocal:
		all = uint64(int64(fr.base) + s.off)
	case sregTidX, sregTidY, sregTidZ:
		each = &w.tid[s.kind-sregTidX]
	case sregNtidX:
		all = uint64(b.Dim.X)
	case sregNtidY:
		all = uint64(b.Dim.Y)
	case sregNtidZ:
		all = uint64(b.Dim.Z)
	case sregCtaidX:
		all = uint64(b.Idx.X)
	case sregCtaidY:
		all = uint64(b.Idx.Y)
	case sregCtaidZ:
		all = uint64(b.Idx.Z)
	case sregNctaidX:
		all = uint64(b.Grid.X)
	case sregNctaidY:
		all = uint64(b.Grid.Y)
	case sregNctaidZ:
		all = uint64(b.Grid.Z)
	case sregLane:
		each = &sregLanes.id
	case sregWarp:
		all = uint64(w.id)
	case sregNwarp:
		all = uint64(len(b.warps))
	case sregSM:
		all = b.N % smCount
	case sregNSM:
		all = smCount
	case sregGrid:
		all = b.launch.grid
	case sregLaneEQ:
		each = &sregLanes.eq
	case sregLaneLE:
		each = &sregLanes.le
	case sregLaneLT:
		each = &sregLanes.lt
	case sregLaneGE:
		each = &sregLanes.ge
	case sregLaneGT:
		each = &sregLanes.gt
	case sregOne:
		all = 1
	case sregDynShared:
		all = uint64(b.launch.Shared)
	case sregTotalShared:
		all = uint64(len(b.Shared))
	case sregClusterX, sregClusterY, sregClusterZ, sregNclusterX, sregNclusterY, sregNclusterZ, sregInX, sregInY, sregInZ, sregSizeX, sregSizeY, sregSizeZ:
		all = uint64(b.clusterValue(s.kind))
	case sregRank:
		all = b.rank()
	case sregSize:
		all = b.launch.ClusterSize().Count()
	case sregSpaceHigh:
		all = b.launch.workspace >> 32
	case sregSpaceLow:
		all = b.launch.workspace & 0xffffffff
	}
	return all, each
}

// growLocal extends lane l's local memory to top, and clears [base, top).
func (w *warp) growLocal(l, base, top int) {
	mem := w.local[l]
	if cap(mem) < top {
		bigger := make([]byte, top, max(top, 2*cap(mem)))
		copy(bigger, mem)
		mem = bigger
	}
	if len(mem) < top {
		mem = mem[:top]
	}
	clear(mem[base:top])
	w.local[l] = mem
}
