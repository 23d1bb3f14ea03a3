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
	if addr >= stack && addr < stack+1<<16 || addr >= deviceTop && addr < sharedTop {
		return h.Host.Bytes(addr, n)
	}
	p := uintptr(addr)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// unmapped returns an address of this process where nothing is.
func unmapped(t *testing.T) uint64 {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, 1<<16, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
