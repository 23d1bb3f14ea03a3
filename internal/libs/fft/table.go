package fft

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// table is one of a plan's tables of complex numbers.
type table struct {
	kind tableKind
	n    int64
}

// tableKind is what a table holds.
type tableKind int

const (
	none        tableKind = iota
	roots                 // the powers of the first root of unity of order n
	fine                  // the first of them, up to 1 << shift(n)
	coarse                // every power of 1 << shift(n)
	chirp                 // exp(-πi j²/n)
	convolution           // what the transform of numbers times chirps is multiplied with
)

// shift is how many bits of an exponent are those of the fine table: half of them.
func shift(n int64) int { return (bits.Len64(uint64(n)) + 1) / 2 }

// length is the number of a table's elements.
func (t table) length() int64 {
	switch t.kind {
	case fine:
		return 1 << shift(t.n)
	case coarse:
		return (t.n-1)>>shift(t.n) + 1
	case convolution:
		return padded(t.n)
	}
	return t.n
}

// values are a table's elements.
func (t table) values() []complex128 {
	list := make([]complex128, t.length())
	switch t.kind {
	case convolution:
		// Of the chirps' conjugates, around 0; the factor makes up for the inverse
		// transform of what is multiplied.
		scale := 1 / float64(len(list))
		for j, v := range (table{chirp, t.n}).values() {
			v = complex(real(v)*scale, -imag(v)*scale)
			list[j], list[(len(list)-j)%len(list)] = v, v
		}
		transform(list)
	case chirp:
		for j := range int64(len(list)) {
			list[j] = root(j*j%(2*t.n), 2*t.n)
		}
	case coarse:
		for j := range int64(len(list)) {
			list[j] = root(j<<shift(t.n), t.n)
		}
	default:
		for j := range int64(len(list)) {
			list[j] = root(j%t.n, t.n)
		}
	}
	return list
}

// root is exp(-2πi k/n) for 0 <= k < n. The angle is reduced exactly to an eighth of a
// turn.
func root(k, n int64) complex128 {
	octant, rest := 8*k/n, 8*k%n
	if octant%2 == 1 {
		rest = n - rest
	}
	s, c := sincos(float64(rest) / float64(n) * (math.Pi / 4))
	switch octant {
	case 0:
		return complex(c, -s)
	case 1:
		return complex(s, -c)
	case 2:
		return complex(-s, -c)
	case 3:
		return complex(-c, -s)
	case 4:
		return complex(-c, s)
	case 5:
		return complex(-s, c)
	case 6:
		return complex(s, c)
	}
	return complex(c, s)
}

// sincos is the sine and the cosine of an angle up to π/4, by Taylor's series: the first
// terms left out are below 2^-60. Conversions keep products from being fused with sums, so
// that every machine computes the same.
func sincos(x float64) (s, c float64) {
	const terms = 9
	xx := x * x
	s, c = 1, 1
	for i := float64(terms); i > 0; i-- {
		s = 1 - float64(s*(xx/(2*i*(2*i+1))))
		c = 1 - float64(c*(xx/((2*i-1)*(2*i))))
	}
	return s * x, c
}

// transform transforms a list whose length is a power of two, in place.
func transform(list []complex128) {
	n := len(list)
	for i := range list {
		if j := int(bits.Reverse64(uint64(i)) >> (64 - bits.Len(uint(n)) + 1) & uint64(n-1)); i < j {
			list[i], list[j] = list[j], list[i]
		}
	}
	powers := make([]complex128, max(1, n/2))
	for i := range powers {
		powers[i] = root(int64(i), int64(n))
	}
	for half := 1; half < n; half *= 2 {
		for at := 0; at < n; at += 2 * half {
			for i := range half {
				a, b := list[at+i], times(list[at+half+i], powers[i*(n/2/half)])
				list[at+i], list[at+half+i] = a+b, a-b
			}
		}
	}
}

// times is a product whose parts are rounded before they are added.
func times(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// tables are a plan's tables on the device.
type tables struct {
	at uint64
	of map[table]uint64
}

// needed are the tables of a pass.
func (p *pass) needed() []table {
	list := []table{{roots, int64(p.Radix)}}
	if p.Before > 1 {
		list = append(list, table{coarse, int64(p.N)}, table{fine, int64(p.N)})
	}
	for _, t := range p.factors {
		if t.kind != none {
			list = append(list, t)
		}
	}
	return list
}

// makeTables computes the tables of a shape, and copies them to the device.
func makeTables(t *cuda.Thread, s *Shape) (tables, Result) {
	of := map[table]uint64{}
	var list []table
	size := uint64(0)
	for _, inPlace := range []bool{false, true} {
		passes, _ := s.passes(inPlace, Forward)
		for _, p := range passes {
			for _, t := range p.needed() {
				if _, ok := of[t]; !ok {
					of[t] = size
					list = append(list, t)
					size += uint64(t.length() * s.size(complexForm))
				}
			}
		}
	}
	free, _, err := t.MemInfo()
	if err != cuda.Success {
		return tables{}, resultOf(err, SetupFailed)
	}
	if size > free { // before they are computed
		return tables{}, AllocFailed
	}
	image := make([]byte, 0, size)
	for _, t := range list {
		for _, v := range t.values() {
			for _, part := range []float64{real(v), imag(v)} {
				if types[s.Type].double {
					image = binary.LittleEndian.AppendUint64(image, math.Float64bits(part))
				} else {
					image = binary.LittleEndian.AppendUint32(image, math.Float32bits(float32(part)))
				}
			}
		}
	}
	at, err := t.Place("the tables of a plan of cuFFT", image)
	for t := range of {
		of[t] += at
	}
	return tables{at, of}, resultOf(err, SetupFailed)
}
