package blas

import (
	"maps"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// scratch is memory of a context for what kernels pass to each other: an area for each
// stream.
type scratch struct {
	sync.Mutex
	areas map[uint64]area
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
	size = max(size, leastScratch)
	at, err := c.t.Malloc(uint64(size))
	if err != cuda.Success {
		return 0, StatusOf(err)
	}
	if a.at != 0 {
		c.t.Free(a.at) // waits until kernels no longer use it
	}
	c.scratch.areas[c.Stream] = area{at, size}
	return at, Success
}

// free frees all of it.
func (s *scratch) free(t *cuda.Thread) (err cuda.Error) {
	s.Lock()
	defer s.Unlock()
	for _, stream := range slices.Sorted(maps.Keys(s.areas)) {
		if e := t.Free(s.areas[stream].at); err == cuda.Success {
			err = e
		}
	}
	clear(s.areas)
	return err
}
