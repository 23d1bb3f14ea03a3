package blas

import (
	"sync"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// scratch is memory of a context for what kernels pass to each other: an area for each
// stream. Areas that became too small stay until the context ends, because graphs may use
// them.
type scratch struct {
	sync.Mutex
	areas map[uint64]area
	all   []uint64
}

type area struct {
	at   uint64
	size int64
}

// leastScratch is the size of an area, unless more is asked for. Our choice.
const leastScratch = 64 << 10

// Scratch is memory for kernels in the context's stream. It is the same at each call,
// unless a larger one is asked for.
func (c Call) Scratch(size int64) (uint64, Status) {
	c.scratch.Lock()
	defer c.scratch.Unlock()
	a := c.scratch.areas[c.Stream]
	if a.size >= size {
		return a.at, Success
	}
	size = max(size, 2*a.size, leastScratch)
	// The stream may be capturing, which would not survive an ordinary allocation.
	mode, err := c.t.ExchangeCaptureMode(cuda.CaptureRelaxed)
	if err != cuda.Success {
		return 0, StatusOf(err)
	}
	defer c.t.ExchangeCaptureMode(mode)
	at, err := c.t.Malloc(uint64(size))
	if err != cuda.Success {
		return 0, StatusOf(err)
	}
	c.scratch.areas[c.Stream] = area{at, size}
	c.scratch.all = append(c.scratch.all, at)
	return at, Success
}

// free frees all of it.
func (s *scratch) free(t *cuda.Thread) (err cuda.Error) {
	s.Lock()
	defer s.Unlock()
	for _, at := range s.all {
		if e := t.Free(at); err == cuda.Success {
			err = e
		}
	}
	s.all = nil
	clear(s.areas)
	return err
}
