package unset

import "math/bits"

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
