package libs

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Memory is what an object of a library holds on the device. A reset of the device drops
// it, and then its addresses may be those of something else.
type Memory struct {
	resets uint64
	list   []uint64
}

// NewMemory holds nothing yet.
func NewMemory(t *cuda.Thread) Memory { return Memory{resets: t.Resets()} }

// Lost reports whether the device was reset.
func (m *Memory) Lost(t *cuda.Thread) bool { return m.resets != t.Resets() }

// Hold adds allocations.
func (m *Memory) Hold(addrs ...uint64) { m.list = append(m.list, addrs...) }

// Free frees those of some allocations that it holds. What cannot be freed, such as during
// a capture, it still holds. The first error is returned.
func (m *Memory) Free(t *cuda.Thread, addrs ...uint64) (err cuda.Error) {
	m.list = slices.DeleteFunc(m.list, func(addr uint64) bool {
		if !slices.Contains(addrs, addr) {
			return false
		}
		e := t.Free(addr)
		if err == cuda.Success {
			err = e
		}
		return e == cuda.Success
	})
	return err
}

// FreeAll frees all.
func (m *Memory) FreeAll(t *cuda.Thread) cuda.Error { return m.Free(t, m.list...) }
