package cuda

import (
	"syscall"
	"testing"
	"unsafe"
)

// realHost is a program's memory that includes all addresses of this process,
// besides the pieces that tests create.
type realHost struct{ Host }

func (h realHost) Bytes(addr, n uint64) []byte {
	if m, ok := h.Host.(*memory); ok && m.has(addr) {
		return m.Bytes(addr, n)
	}
	p := uintptr(addr)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// has reports whether a test created memory at an address.
func (m *memory) has(addr uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for base, b := range m.pieces {
		if addr >= base && addr-base < uint64(len(b)) {
			return true
		}
	}
	return false
}

// Map is limited to what tests need.
func (h realHost) Map(addr, n uint64) error {
	if n > 1<<26 {
		return syscall.ENOMEM
	}
	return h.Host.Map(addr, n)
}

// Call does nothing: tests have no functions there.
func (h realHost) Call(fn, data uint64) {}

// unmapped returns an address of this process where mapped memory ends.
func unmapped(t *testing.T) uint64 {
	t.Helper()
	const half = 1 << 17
	b, err := syscall.Mmap(-1, 0, 2*half, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		t.Cleanup(func() { _ = syscall.Munmap(b) })
		err = syscall.Mprotect(b[half:], syscall.PROT_NONE)
	}
	if err != nil {
		t.Skip(err)
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) + half
}
