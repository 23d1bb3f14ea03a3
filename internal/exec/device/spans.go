package device

import (
	"slices"
	"sort"
)

// span is a range of addresses, up to and without end.
type span struct{ lo, end uint64 }

// spans is a set of addresses: ranges in ascending order, no two of which touch.
type spans []span

// after returns the index of the first range that ends at an address or after it.
func (s spans) after(addr uint64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].end >= addr })
}

// beyond returns the index of the first range that begins after an address.
func (s spans) beyond(addr uint64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].lo > addr })
}

// at returns the range that contains an address.
func (s spans) at(addr uint64) (span, bool) {
	i := s.beyond(addr)
	if i == 0 || s[i-1].end <= addr {
		return span{}, false
	}
	return s[i-1], true
}

// with returns the set and the addresses from lo to end.
func (s spans) with(lo, end uint64) spans {
	from, to := s.after(lo), s.beyond(end)
	if from < to {
		lo, end = min(lo, s[from].lo), max(end, s[to-1].end)
	}
	return slices.Replace(s, from, to, span{lo, end})
}

// without returns the set less the addresses from lo to end.
func (s spans) without(lo, end uint64) spans {
	from, to := s.after(lo), s.beyond(end)
	if from == to {
		return s
	}
	rest := make([]span, 0, 2)
	if first := s[from]; first.lo < lo {
		rest = append(rest, span{first.lo, lo})
	}
	if last := s[to-1]; last.end > end {
		rest = append(rest, span{end, last.end})
	}
	return slices.Replace(s, from, to, rest...)
}
