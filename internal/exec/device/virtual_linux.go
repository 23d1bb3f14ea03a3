package device

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// store is the memory of all handles: a file without a name, whose pages the operating
// system provides when they are first read or written through a mapping. Forked children
// inherit no mapping: the memory is the device's, not part of the program.
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

// pages returns which bytes of a range have pages, counted from its begin: the others are
// zeros.
func (s *store) pages(at, size uint64) (list []span) {
	for next := at; next < at+size; {
		lo, err := unix.Seek(s.fd, int64(next), unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) || err == nil && uint64(lo) >= at+size {
			return list // only zeros follow
		}
		end := int64(at + size)
		if err == nil {
			end, err = unix.Seek(s.fd, lo, unix.SEEK_HOLE)
		}
		if err != nil { // a system that does not know: all have
			return []span{{0, size}}
		}
		next = min(uint64(end), at+size)
		list = append(list, span{uint64(lo) - at, next - at})
	}
	return list
}

// touched returns which bytes of memory that belongs to this process alone have pages, as
// /proc/self/pagemap says: the two highest bits of a page's 64 say that it is in memory or
// swapped out (proc(5)). The others are zeros.
func touched(b []byte) (list []span) {
	all := []span{{0, uint64(len(b))}}
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return all
	}
	defer f.Close()
	page := uint64(os.Getpagesize())
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) / page * 8
	entries := make([]byte, 1<<16)
	for lo := uint64(0); lo < uint64(len(b)); {
		left := (uint64(len(b)) - lo + page - 1) / page * 8
		n, err := f.ReadAt(entries[:min(left, uint64(len(entries)))], int64(at+lo/page*8))
		if err != nil || n == 0 {
			return all
		}
		for i := 0; i < n; i += 8 {
			end := min(lo+page, uint64(len(b)))
			if last := len(list) - 1; entries[i+7]>>6 == 0 {
			} else if last >= 0 && list[last].end == lo {
				list[last].end = end
			} else {
				list = append(list, span{lo, end})
			}
			lo = end
		}
	}
	return list
}

// mapTo maps bytes of the store, or bytes that nobody may touch, at an address or, with
// 0, anywhere.
func (s *store) mapTo(p unsafe.Pointer, size uint64, at int64, prot, flags int) (unsafe.Pointer, error) {
	fd := s.fd
	if flags&unix.MAP_ANON != 0 {
		fd = -1
	}
	if p != nil {
		flags |= unix.MAP_FIXED
	}
	p, err := unix.MmapPtr(fd, at, p, uintptr(size), prot, flags)
	if err != nil {
		return nil, err
	}
	err = madvise(unsafe.Slice((*byte)(p), size), unix.MADV_DONTFORK)
	if err != nil && flags&unix.MAP_FIXED == 0 { // else it is part of a reservation, which ends it
		_ = unix.MunmapPtr(p, uintptr(size)) // it is mapped
	}
	return p, err
}

// madvise is replaced by tests.
var madvise = unix.Madvise

const (
	untouchable = unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_NORESERVE
	usable      = unix.PROT_READ | unix.PROT_WRITE
)

// reserve returns bytes that nobody may touch.
func (s *store) reserve(size uint64) ([]byte, error) {
	p, err := s.mapTo(nil, size, 0, unix.PROT_NONE, untouchable)
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
	_, err := s.mapTo(unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b)), int64(at), usable, unix.MAP_SHARED)
	return err
}

// clear ends what place did. At the system's limit of mappings, which counts even for
// fewer of them, the old one stays until another takes its place or the reservation ends:
// Memory lets nobody reach it.
func (s *store) clear(b []byte) error {
	_, err := s.mapTo(unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b)), 0, unix.PROT_NONE, untouchable)
	if errors.Is(err, unix.ENOMEM) {
		return nil
	}
	return err
}

// close gives everything back, also if a forked child still has the file open.
func (s *store) close() {
	for p, n := range s.ranges {
		_ = unix.MunmapPtr(unsafe.Pointer(p), n) // it was mapped by reserve
	}
	_ = unix.Ftruncate(s.fd, 0) // its size was set by grow
	_ = unix.Close(s.fd)
}
