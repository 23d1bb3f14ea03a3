package device

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// File holds device memory in a file, so that the operating system can write it there when the
// computer runs out of memory. Several memories may share one.
type File struct {
	mu    sync.Mutex
	store *store
}

// NewFile makes a file for device memory at a path where there is none. It has no name from then
// on, and so is gone, with its space, when the process ends.
func NewFile(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot make the file for device memory, which must not be there yet: %w", err)
	}
	defer f.Close()
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return &File{store: &store{fd: fd, ranges: map[*byte]uintptr{}}}, nil
}

// allocate returns n zeroed bytes of the file, nil if the file system has less room than all bytes of
// the file would take. That room is not reserved: if others take it meanwhile, a write ends the process.
func (f *File) allocate(r *region, n uint64) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	page := uint64(os.Getpagesize())
	size := (n + page - 1) &^ (page - 1)
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(f.store.fd, &fs) == nil && unix.Fstat(f.store.fd, &st) == nil {
		const block = 512 // of Stat_t.Blocks
		if free := fs.Bavail*uint64(fs.Bsize) + uint64(st.Blocks)*block; f.store.size+size > free {
			return nil
		}
	}
	at, err := f.store.grow(size)
	if err != nil {
		return nil
	}
	b, err := unix.Mmap(f.store.fd, int64(at), int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	_ = madvise(b, unix.MADV_DONTFORK) // a child's writes would be the parent's
	r.pages, r.file, r.at = b, f, at
	r.cleanup = runtime.AddCleanup(r, func(b []byte) { _ = unix.Munmap(b) }, b) // it was mapped
	return b[:n]
}

// discard gives the space of bytes back.
func (f *File) discard(at, size uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.store.discard(at, size) // a file system that cannot keeps them until the end
}

// written returns which of the bytes of a range of the file are not zeros, counted from its start.
func (f *File) written(at, size uint64) []span { return f.store.pages(at, size) }
