package device

import (
	"fmt"
	"maps"
	"slices"
)

// This file: the contents of a memory as plain data, for checkpoints.

// Image is what a memory holds. Its bytes are those of the memory until that changes.
type Image struct {
	Regions []RegionImage
	Slack   map[uint64][]byte // pages between allocations, by address
	Heap    *HeapImage        // nil if no kernel has used it
	Next    uint64
	Top     uint64
	Live    uint64
}

// RegionImage is an allocation; its other bytes are zeros.
type RegionImage struct {
	Addr, Size uint64
	Flags      Flag
	Pieces     []Piece
}

// Piece is a range of bytes, from an offset on.
type Piece struct {
	At    uint64
	Bytes []byte
}

// HeapImage is the device heap.
type HeapImage struct {
	Free   []run
	Live   map[uint64]uint64
	Freed  map[uint64]bool
	Starts []uint64
	High   uint64
}

// imagePage is the unit in which zeros are left out (our choice).
const imagePage = 4096

// mostOfPiece is the largest number of bytes of a piece (our choice): readers of checkpoints refuse
// lists of billions, and take a piece at a time.
const mostOfPiece = 16 << 20

// pieces returns the bytes of some spans without pages of zeros.
func pieces(b []byte, from []span) (list []Piece) {
	var zeros [imagePage]byte
	for _, s := range from {
		for at := s.lo; at < s.end; {
			n := min(imagePage-at%imagePage, s.end-at)
			if string(b[at:at+n]) == string(zeros[:n]) {
				at += n
				continue
			}
			if last := len(list) - 1; last >= 0 && list[last].At+uint64(len(list[last].Bytes)) == at && len(list[last].Bytes) < mostOfPiece {
				list[last].Bytes = b[list[last].At : at+n]
			} else {
				list = append(list, Piece{at, b[at : at+n]})
			}
			at += n
		}
	}
	return list
}

// held returns which bytes of a region may be other than zeros, found without a look at them.
func (r *region) held() []span {
	if r.pages == nil {
		return []span{{0, r.reach}}
	}
	var list []span
	if r.file != nil {
		list = r.file.written(r.at, uint64(len(r.pages))) // pages may be there and not in memory
	} else {
		list = touched(r.pages)
	}
	for i := range list {
		list[i].lo, list[i].end = min(list[i].lo, r.reach), min(list[i].end, r.reach)
	}
	return list
}

// Image returns the contents. The error says what no image can hold: memory that is shared with the host or with other
// devices, or was mapped, which only CUDA programs have.
func (m *Memory) Image() (*Image, error) {
	x := &Image{Slack: map[uint64][]byte{}, Next: m.next, Top: m.top, Live: m.live}
	for _, r := range m.regions {
		if r.Freed || r.Dormant || r.Flags&(adopted|reserved) != 0 {
			return nil, fmt.Errorf("%v is not like those of jobs", r.Allocation)
		}
		x.Regions = append(x.Regions, RegionImage{Addr: r.Addr, Size: r.Size, Flags: r.Flags, Pieces: pieces(r.data[:r.reach], r.held())})
	}
	for at, r := range m.slack {
		x.Slack[at] = r.data
	}
	if h := m.heap; h != nil {
		x.Heap = &HeapImage{Free: h.free, Live: h.live, Freed: h.freed, Starts: h.starts, High: h.high}
	}
	return x, nil
}

// Restore gives a memory with the same allocations, but for the device heap, the contents of an image.
func (m *Memory) Restore(x *Image) error {
	if x.Heap != nil && m.heap == nil && !m.makeHeap() {
		return fmt.Errorf("there is no room for the device heap")
	}
	if len(x.Regions) != len(m.regions) {
		return fmt.Errorf("it has %d allocations of device memory, and this run %d", len(x.Regions), len(m.regions))
	}
	for i, r := range m.regions {
		y := &x.Regions[i]
		if y.Addr != r.Addr || y.Size != r.Size || y.Flags != r.Flags {
			return fmt.Errorf("it has %d bytes of device memory at 0x%x, and this run %v", y.Size, y.Addr, r.Allocation)
		}
		for _, s := range r.held() {
			clear(r.data[s.lo:s.end:r.reach])
		}
		for _, p := range y.Pieces {
			if p.At > r.reach || uint64(len(p.Bytes)) > r.reach-p.At {
				return fmt.Errorf("it has bytes outside of %v", r.Allocation)
			}
			copy(r.data[p.At:r.reach], p.Bytes)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(x.Slack)) {
		copy(m.slackPage(at&^(pageSize-1)).data, x.Slack[at])
	}
	if h := x.Heap; h != nil {
		if len(h.Starts) != len(m.heap.starts) {
			return fmt.Errorf("its device heap has another size")
		}
		m.heap = (&heap{r: m.heap.r, free: h.Free, live: h.Live, freed: h.Freed, starts: h.Starts, high: h.High}).clone()
	}
	m.next, m.top, m.live = x.Next, x.Top, x.Live
	m.changed()
	return nil
}
