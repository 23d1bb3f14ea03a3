package blas

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Scratch calls f with memory for kernels in the context's stream. It comes from the pool of
// that stream, to which it returns when they have run. Each call has its own, since threads
// may share a context. Graphs run at any time and in any stream: what a call uses while its
// stream is captured stays until the context ends.
func (c Call) Scratch(size int64, f func(at uint64) Status) Status {
	info, err := c.t.CaptureInfo(c.Stream)
	if err != cuda.Success {
		return StatusOf(err)
	}
	if info.Status != cuda.CaptureNone {
		at, s := c.keep(size)
		if s != Success {
			return s
		}
		return f(at)
	}
	at, err := c.t.MallocAsync(uint64(max(1, size)), 0, c.Stream)
	if err != cuda.Success {
		return StatusOf(err)
	}
	s := f(at)
	if err := c.t.FreeAsync(at, c.Stream); s == Success {
		s = StatusOf(err)
	}
	return s
}

// keep allocates memory until the context ends.
func (c Call) keep(size int64) (uint64, Status) {
	// An ordinary allocation would end the capture.
	mode, err := c.t.ExchangeCaptureMode(cuda.CaptureRelaxed)
	if err != cuda.Success {
		return 0, StatusOf(err)
	}
	defer c.t.ExchangeCaptureMode(mode)
	at, err := c.t.Malloc(uint64(max(1, size)))
	if err != cuda.Success {
		return 0, StatusOf(err)
	}
	contexts.Lock()
	defer contexts.Unlock()
	c.of.kept = append(c.of.kept, at)
	return at, Success
}

// Bytes is the product of sizes, or the largest number if that is too small: no device has
// so much memory.
func Bytes(sizes ...int64) int64 {
	n := uint64(1)
	for _, size := range sizes {
		high, low := bits.Mul64(n, uint64(size))
		if high != 0 || low > math.MaxInt64 {
			return math.MaxInt64
		}
		n = low
	}
	return int64(n)
}
