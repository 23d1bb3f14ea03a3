package libs

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Memory is what an object of a library holds on the device that was current when it was
// made. A reset of that device drops it.
type Memory struct {
	life cuda.Life
	list []uint64
}

// NewMemory holds nothing yet.
func NewMemory(t *cuda.Thread) Memory { return Memory{life: t.Life()} }

// Lost reports whether the device was reset.
func (m *Memory) Lost(t *cuda.Thread) bool {
	_, reset := t.Since(m.life)
	return reset
}

// Elsewhere reports whether another device is current than that of the memory.
func (m *Memory) Elsewhere(t *cuda.Thread) bool { return m.life.Device() != t.Life().Device() }

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
