package device

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// store is the memory of all handles: a file without a name, whose pages the operating
// system provides when they are first written.
type store struct {
	fd     int
	size   uint64
	ranges map[*byte]uintptr // reserved, by their first byte
}

func newStore() (*store, error) {
	fd, err := unix.MemfdCreate("device memory", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &store{fd: fd, ranges: map[*byte]uintptr{}}, nil
}

// grow appends zeroed bytes, and returns where they are.
func (s *store) grow(size uint64) (at uint64, err error) {
	at = s.size
	if err := unix.Ftruncate(s.fd, int64(at+size)); err != nil {
		return 0, err
	}
	s.size += size
	return at, nil
}

// discard gives the pages of bytes back.
func (s *store) discard(at, size uint64) error {
	return unix.Fallocate(s.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(at), int64(size))
}

// reserve returns bytes that nobody may touch.
func (s *store) reserve(size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	s.ranges[(*byte)(p)] = uintptr(size)
	return unsafe.Slice((*byte)(p), size), nil
}

func (s *store) unreserve(b []byte) error {
	delete(s.ranges, unsafe.SliceData(b))
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)))
}

// place lets bytes of reserve be those of the store.
func (s *store) place(b []byte, at uint64) error {
	_, err := unix.MmapPtr(s.fd, int64(at), unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// clear ends what place did.
func (s *store) clear(b []byte) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE|unix.MAP_FIXED)
	return err
}

// close gives everything back.
func (s *store) close() {
	for p, n := range s.ranges {
		_ = unix.MunmapPtr(unsafe.Pointer(p), n) // it was mapped by reserve
	}
	_ = unix.Close(s.fd)
}
