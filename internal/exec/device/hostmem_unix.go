//go:build unix

package device

import "syscall"

// hostHas reports whether the operating system would map size more bytes. Go's
// allocator ends the process if it cannot, so large requests are tried first; the
// trial touches no page.
func hostHas(size uint64) bool {
	const small = 64 << 20
	if size < small {
		return true
	}
	trial, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	return syscall.Munmap(trial) == nil
}
