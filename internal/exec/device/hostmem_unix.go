//go:build unix

package device

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Sizes at which memory is treated differently, our choice.
const (
	// tried: Go's allocator ends the process if the operating system refuses, so larger
	// requests are tried first; the trial touches no page.
	tried = 64 << 20
	// unpromised: larger allocations are made without a promise of the operating system, so
	// that a program may allocate more than this computer has if it does not use it all.
	unpromised = 1 << 30
)

// hostMemory returns n zeroed bytes, nil if there are none. Pages exist once they are
// written.
func hostMemory(r *region, n uint64) []byte {
	if n < tried {
		return make([]byte, n)
	}
	flags := unix.MAP_ANON | unix.MAP_PRIVATE
	if n >= unpromised {
		flags |= unix.MAP_NORESERVE
	}
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil
	}
	unmap := func(b []byte) { _ = unix.Munmap(b) } // it was mapped
	if n < unpromised {
		unmap(b)
		return make([]byte, n)
	}
	r.pages = b
	r.cleanup = runtime.AddCleanup(r, unmap, b)
	return b
}

// discard gives the pages of a freed allocation back before the garbage collector does.
func (r *region) discard() {
	switch {
	case r.file != nil:
		r.file.discard(r.at, uint64(len(r.pages)))
	case r.pages != nil:
		_ = unix.Madvise(r.pages, unix.MADV_DONTNEED) // it is mapped
	}
}

// unmap ends the mapping of a freed allocation, and reports whether there was one.
func (r *region) unmap() bool {
	if r.pages == nil {
		return false
	}
	r.cleanup.Stop()
	if r.file != nil {
		r.file.discard(r.at, uint64(len(r.pages)))
	}
	_ = unix.Munmap(r.pages) // it is mapped
	r.pages = nil
	return true
}
