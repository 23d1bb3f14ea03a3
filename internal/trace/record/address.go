package record

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// compress writes the addresses of some lanes as the tracer does: base and stride
// if at least two lanes, consecutive, have equal steps; otherwise base and
// differences. A step that does not fit 32 bits is written as a difference too.
func compress(mask isa.LaneMask, addr *[32]uint64, deltas []int64) (trace.Mem, []int64) {
	first := mask.First() & 31
	m := trace.Mem{Mode: trace.BaseDelta, Base: addr[first]}
	run := uint32(mask) >> first
	if n := mask.Count(); n >= 2 && run&(run+1) == 0 {
		step := addr[first+1] - addr[first]
		same := int64(step) >= math.MinInt32 && int64(step) <= math.MaxInt32
		for i := first + 2; i < first+n && same; i++ {
			same = addr[i]-addr[i-1] == step
		}
		if same {
			m.Mode, m.Stride = trace.BaseStride, int32(step)
			return m, deltas
		}
	}
	m.First = int32(len(deltas))
	last := m.Base
	for l := uint32(mask) & (uint32(mask) - 1); l != 0; l &= l - 1 {
		a := addr[bits.TrailingZeros32(l)&31]
		deltas = append(deltas, int64(a-last))
		last = a
		m.N++
	}
	return m, deltas
}
