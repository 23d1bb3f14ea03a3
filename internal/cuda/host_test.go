package cuda

import (
	"syscall"
	"testing"
	"unsafe"
)

// realHost is a program's memory that has, beside what tests make, all addresses
// of this process.
type realHost struct{ Host }

func (h realHost) Bytes(addr, n uint64) []byte {
	if h.Host != nil && addr >= stack && addr < stack+1<<16 || addr >= deviceTop && addr < sharedTop {
		return h.Host.Bytes(addr, n)
	}
	p := uintptr(addr)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// unmapped returns an address of this process where memory ends.
func unmapped(t *testing.T) uint64 {
	t.Helper()
	const half = 1 << 17
	b, err := syscall.Mmap(-1, 0, 2*half, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		t.Cleanup(func() { _ = syscall.Munmap(b) })
		err = syscall.Mprotect(b[half:], syscall.PROT_NONE)
	}
	if err != nil {
		t.Skip(err)
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) + half
}
