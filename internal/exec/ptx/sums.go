package ptx

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what floating-point atomics add, for a probe that looks (exec.SumProbe).

// float is a format in which atomics add.
type float struct {
	bytes, digits int
	least         float64 // the smallest number with all digits
	value         func(uint64) float64
}

var (
	floatF32  = float{4, 24, 0x1p-126, func(b uint64) float64 { return float64(math.Float32frombits(uint32(b))) }}
	floatF64  = float{8, 53, 0x1p-1022, math.Float64frombits}
	floatF16  = float{2, 11, 0x1p-14, func(b uint64) float64 { return float64(math.Float32frombits(num.F16ToF32(uint16(b)))) }}
	floatBF16 = float{2, 8, 0x1p-126, func(b uint64) float64 { return float64(math.Float32frombits(num.BF16ToF32(uint16(b)))) }}
)

// floatAdds are the operations that add floating-point numbers.
var floatAdds = map[rmw]*float{
	rmwAddF32: &floatF32, rmwAddF32Flush: &floatF32, rmwAddF64: &floatF64, rmwAddF16: &floatF16, rmwAddF16x2: &floatF16, rmwAddBF16: &floatBF16, rmwAddBF16x2: &floatBF16,
}

// sums is where a block has what it shows to a SumProbe.
type sums struct {
	sum        exec.Sum
	addr       [32]uint64
	old, value [32]float64
}

// watchSums returns what runs an instruction and, if it adds floating-point numbers, shows the probe
// before what it adds.
func watchSums(o *inst, run runFunc) runFunc {
	a, ok := o.x.any.(*atomicOp)
	if !ok || floatAdds[a.op] == nil {
		return run
	}
	f := floatAdds[a.op]
	return func(w *warp, in *inst, m uint32) {
		if w.blk.sums != nil {
			for at := 0; at < a.total; at += f.bytes {
				w.showSum(in, a, f, at, m)
			}
		}
		run(w, in, m)
	}
}

// showSum shows the probe what lanes m add to the number at some bytes from their addresses.
func (w *warp) showSum(in *inst, a *atomicOp, f *float, at int, m uint32) {
	b := w.blk
	if b.summed == nil {
		b.summed = &sums{}
	}
	s := b.summed
	w.addresses(in, m)
	var lanes [2]isa.LaneMask // in shared and in global memory
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		p := w.bytesAt(isa.Space(in.mode), i, a.total)
		if p == nil {
			continue // a fault
		}
		var old uint64
		for n := range f.bytes {
			old |= uint64(p[at+n]) << (8 * n)
		}
		value := w.value(a.b, at/a.size, i) >> (8 * (at % a.size))
		s.old[i], s.value[i], s.addr[i] = f.value(old), f.value(value), w.addr[i]+uint64(at)
		space := isa.Space(in.mode)
		if space == isa.Generic {
			space, s.addr[i] = isa.Resolve(s.addr[i])
		}
		if space == isa.Shared {
			lanes[0] |= 1 << i
		} else {
			lanes[1] |= 1 << i
		}
	}
	for i, space := range [...]isa.Space{isa.Shared, isa.Global} {
		if lanes[i] != 0 {
			s.sum = exec.Sum{Warp: w.id, Site: w.site(), Lanes: lanes[i], Space: space, Addr: &s.addr, Bytes: f.bytes, Digits: f.digits, Least: f.least, Old: &s.old, Value: &s.value}
			b.sums.Sum(&s.sum)
		}
	}
}
