package unset

import (
	"maps"
	"math/bits"
)

// pageBytes is the number of bytes for which a page of the shadow has a bit each. Our choice.
const pageBytes = 4096

// page has a bit for each byte that is unset.
type page [pageBytes / 64]uint64

// fresh is the page of wholly unset memory, shared until a byte of it is set.
var fresh = func() *page {
	p := &page{}
	for i := range p {
		p[i] = ^uint64(0)
	}
	return p
}()

// shadow tells which bytes are unset. Memory without a page is set.
type shadow map[uint64]*page

// mark makes bytes unset, or set.
func (s shadow) mark(addr, n uint64, unset bool) {
	for n > 0 {
		key, at := addr/pageBytes, addr%pageBytes
		k := min(n, pageBytes-at)
		switch p := s[key]; {
		case k == pageBytes && unset:
			s[key] = fresh
		case k == pageBytes:
			delete(s, key)
		case p == nil && !unset:
		default:
			if p == nil {
				p = &page{}
				s[key] = p
			} else if p == fresh {
				if unset {
					break
				}
				own := *fresh
				p = &own
				s[key] = p
			}
			for i := at; i < at+k; {
				m, next := word(i, at+k)
				if unset {
					p[i/64] |= m
				} else {
					p[i/64] &^= m
				}
				i = next
			}
		}
		addr, n = addr+k, n-k
	}
}

// forget makes the bytes of whole pages set. It is mark for a range that is far larger than what
// was allocated of it, such as the addresses of a device.
func (s shadow) forget(addr, n uint64) {
	maps.DeleteFunc(s, func(key uint64, _ *page) bool { return key*pageBytes-addr < n })
}

// word returns the bits of bytes from i to end that lie in i's word, and where the next begins.
func word(i, end uint64) (mask, next uint64) {
	next = min(end, i/64*64+64)
	return ^uint64(0) >> (64 - (next - i)) << (i % 64), next
}

// unset returns the number of unset bytes.
func (s shadow) unset(addr, n uint64) (count uint64) {
	for n > 0 {
		at := addr % pageBytes
		k := min(n, pageBytes-at)
		if p := s[addr/pageBytes]; p != nil {
			for i := at; i < at+k; {
				m, next := word(i, at+k)
				count += uint64(bits.OnesCount64(p[i/64] & m))
				i = next
			}
		}
		addr, n = addr+k, n-k
	}
	return count
}

// bits returns which of up to 64 bytes are unset.
func (s shadow) bits(addr, n uint64) (set uint64) {
	for i := range n {
		a := addr + i
		if p := s[a/pageBytes]; p != nil {
			set |= p[a%pageBytes/64] >> (a % 64) & 1 << i
		}
	}
	return set
}

// flat tells which bytes of a small memory that begins at address 0 are unset: those whose bit
// is not set in words, and all after it.
type flat struct{ words []uint64 }

// mark makes bytes unset, or set.
func (f *flat) mark(addr, n uint64, unset bool) {
	end := addr + n
	if need := int((end + 63) / 64); !unset && need > len(f.words) {
		f.words = append(f.words, make([]uint64, need-len(f.words))...)
	}
	end = min(end, 64*uint64(len(f.words)))
	for i := addr; i < end; {
		m, next := word(i, end)
		if unset {
			f.words[i/64] &^= m
		} else {
			f.words[i/64] |= m
		}
		i = next
	}
}

// unset returns the number of unset bytes.
func (f *flat) unset(addr, n uint64) uint64 {
	count, end := n, min(addr+n, 64*uint64(len(f.words)))
	for i := addr; i < end; {
		m, next := word(i, end)
		count -= uint64(bits.OnesCount64(f.words[i/64] & m))
		i = next
	}
	return count
}

// bits returns which of up to 64 bytes are unset.
func (f *flat) bits(addr, n uint64) (unset uint64) {
	for i := range n {
		a := addr + i
		if a/64 >= uint64(len(f.words)) || f.words[a/64]>>(a%64)&1 == 0 {
			unset |= 1 << i
		}
	}
	return unset
}

// lanes tells which bytes of the local memory of a warp's lanes are set: a mask for each byte.
// Those after it are unset.
type lanes []uint32

// mark makes bytes of lanes m unset, or set.
func (l *lanes) mark(addr, n uint64, m uint32, unset bool) {
	end := addr + n
	if need := int(end); !unset && need > len(*l) {
		*l = append(*l, make([]uint32, need-len(*l))...)
	}
	for i := addr; i < min(end, uint64(len(*l))); i++ {
		if unset {
			(*l)[i] &^= m
		} else {
			(*l)[i] |= m
		}
	}
}

// set returns the lanes of which all, and of which any, bytes are set.
func (l lanes) set(addr, n uint64) (all, some uint32) {
	all = ^uint32(0)
	for i := addr; i < addr+n; i++ {
		m := uint32(0)
		if i < uint64(len(l)) {
			m = l[i]
		}
		all, some = all&m, some|m
	}
	return all, some
}
