package gpu

import "math/bits"

// rounded is a time in seconds of 53 significant bits, mant·2^exp, kept in
// integers. Sums are rounded to the nearest, ties to even, as when GPGPU-Sim adds
// clock periods in double precision. In exact time two domains of unequal clocks
// repeatedly fire together; the rounding of the sums then decides which is first,
// and this affects the cycles of a run.
type rounded struct {
	mant uint64 // 2^52 to 2^53-1, 0 for zero
	exp  int
}

const roundedBits = 53

// roundedPeriod returns 1/hz.
func roundedPeriod(hz int64) rounded {
	// 2^(62+k)/hz, whose quotient has 62 or 63 bits.
	k := bits.Len64(uint64(hz))
	q, rest := bits.Div64(1<<(k-1), 0, 2*uint64(hz))
	return round(0, q, rest != 0, -(62 + k))
}

// round returns (hi·2^64 + lo)·2^exp rounded; sticky says that the exact value is
// slightly larger.
func round(hi, lo uint64, sticky bool, exp int) rounded {
	n := bits.Len64(lo)
	if hi != 0 {
		n = 64 + bits.Len64(hi)
	}
	if n == 0 {
		return rounded{}
	}
	drop := n - roundedBits
	if drop <= 0 {
		return rounded{lo << -drop, exp + drop}
	}
	var m, low, half uint64 // kept, dropped, half of the last kept bit
	if drop < 64 {
		m = hi<<(64-drop) | lo>>drop
		low, half = lo&(1<<drop-1), 1<<(drop-1)
	} else {
		m = hi >> (drop - 64)
		sticky = sticky || lo != 0
		if low, half = hi&(1<<(drop-64)-1), 1<<(drop-64)>>1; drop == 64 {
			low, half = lo>>1, 1<<62
			sticky = sticky || lo&1 != 0
		}
	}
	if low > half || low == half && (sticky || m&1 != 0) {
		if m++; m == 1<<roundedBits {
			m, drop = m>>1, drop+1
		}
	}
	return rounded{m, exp + drop}
}

// add returns the rounded sum.
func (a rounded) add(b rounded) rounded {
	if a.mant == 0 {
		return b
	}
	if b.mant == 0 {
		return a
	}
	if a.exp < b.exp {
		a, b = b, a
	}
	shift := a.exp - b.exp
	if shift > roundedBits+2 {
		return a
	}
	hi, lo := a.mant>>(64-shift), a.mant<<shift
	if shift == 0 {
		hi = 0
	}
	lo, carry := bits.Add64(lo, b.mant, 0)
	return round(hi+carry, lo, false, b.exp)
}

// after reports whether a is later than b.
func (a rounded) after(b rounded) bool {
	if a.mant == 0 || b.mant == 0 {
		return a.mant > b.mant
	}
	return a.exp > b.exp || a.exp == b.exp && a.mant > b.mant
}

// roundedClock is clock with sums rounded as in GPGPU-Sim.
type roundedClock struct {
	at, period [domains]rounded
}

func newRoundedClock(c Clocks) *roundedClock {
	k := &roundedClock{}
	for i, v := range [domains]int64{c.Core, c.Net, c.L2, c.DRAM} {
		k.period[i] = roundedPeriod(v)
	}
	return k
}

// tick is clock.tick with rounded times.
func (k *roundedClock) tick() fired {
	s := k.at[coreDomain]
	for _, d := range [...]domain{netDomain, dramDomain} {
		if s.after(k.at[d]) {
			s = k.at[d]
		}
	}
	var f fired
	if t := k.at[l2Domain]; !t.after(s) {
		s = t
		f = 1 << l2Domain
		k.at[l2Domain] = t.add(k.period[l2Domain])
	}
	for _, d := range [...]domain{coreDomain, netDomain, dramDomain} {
		if !k.at[d].after(s) {
			f |= 1 << d
			k.at[d] = k.at[d].add(k.period[d])
		}
	}
	return f
}
