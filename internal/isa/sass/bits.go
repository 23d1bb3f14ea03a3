package sass

import "math/bits"

// word128 is the 128 bits of an instruction, low word first.
type word128 [2]uint64

func (w word128) bit(n int) uint64 { return w[n>>6] >> (n & 63) & 1 }

func (w *word128) setBit(n int, v uint64) {
	w[n>>6] = w[n>>6]&^(1<<(n&63)) | (v&1)<<(n&63)
}

func (w word128) and(m word128) word128 { return word128{w[0] & m[0], w[1] & m[1]} }
func (w word128) or(m word128) word128  { return word128{w[0] | m[0], w[1] | m[1]} }
func (w word128) not() word128          { return word128{^w[0], ^w[1]} }

// segment is a run of bits, both ends included.
type segment struct{ hi, lo int }

// span is the place of a field: its segments, most significant first.
type span []segment

func (s span) width() int {
	n := 0
	for _, g := range s {
		n += g.hi - g.lo + 1
	}
	return n
}

// get reads the field.
func (s span) get(w word128) uint64 {
	v := uint64(0)
	for _, g := range s {
		n := g.hi - g.lo + 1
		part := w[g.lo>>6] >> (g.lo & 63)
		if g.lo>>6 != g.hi>>6 {
			part |= w[1] << (64 - g.lo)
		}
		v = v<<n | part&(1<<n-1)
	}
	return v
}

// set writes the field; bits of v beyond its width are dropped.
func (s span) set(w *word128, v uint64) {
	for i := len(s) - 1; i >= 0; i-- {
		g := s[i]
		n := g.hi - g.lo + 1
		ones := uint64(1)<<n - 1
		part, at := v&ones, g.lo&63
		w[g.lo>>6] = w[g.lo>>6]&^(ones<<at) | part<<at
		if g.lo>>6 != g.hi>>6 {
			w[1] = w[1]&^(ones>>(64-at)) | part>>(64-at)
		}
		v >>= n
	}
}

// mask has the field's bits set.
func (s span) mask() word128 {
	var w word128
	s.set(&w, ^uint64(0))
	return w
}

// signed extends the sign of a value of n bits.
func signed(v uint64, n int) int64 { return int64(v<<(64-n)) >> (64 - n) }

// fits reports whether a number fits in n bits: in two's complement or, if the field is not
// signed, also as an unsigned number.
func fits(v int64, n int, isSigned bool) bool {
	if n >= 64 {
		return true
	}
	if isSigned {
		return v >= -1<<(n-1) && v < 1<<(n-1)
	}
	return v >= 0 && bits.Len64(uint64(v)) <= n
}
