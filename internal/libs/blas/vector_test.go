package blas_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
)

// elements are the types of vectors, with the relative errors of one step of a sum and of
// a rounded element.
var elements = []struct {
	t        blas.Type
	sum, out float64
}{
	{blas.F32, 0x1p-23, 0x1p-23}, {blas.F64, 0x1p-52, 0x1p-52}, {blas.C32, 0x1p-22, 0x1p-22}, {blas.C64, 0x1p-51, 0x1p-51},
	{blas.F16, 0x1p-23, 0x1p-10}, {blas.BF16, 0x1p-23, 0x1p-7},
}

// vector is a vector on the device, with the elements between its own.
type vector struct {
	blas.Matrix
	n, inc int
	values []complex128
}

// vector makes one of random elements.
func (b *bench) vector(r *rand.Rand, t blas.Type, n, inc int) vector {
	step := max(inc, -inc)
	at, values := b.store(t, random(r, t, max(1, (n-1)*step+1)))
	return vector{blas.Matrix{At: at, Type: t, LD: int64(inc)}, n, inc, values}
}

// at is the place of element i: with a negative increment the first one is the last.
func (v vector) at(i int) int {
	if v.inc < 0 {
		return (v.n - 1 - i) * -v.inc
	}
	return i * v.inc
}

func (v vector) get(i int) complex128 { return v.values[v.at(i)] }

// check compares a vector on the device with what its elements should be, and those
// between with what they were.
func (b *bench) check(what string, v vector, want func(i int) (value complex128, bound float64)) {
	b.t.Helper()
	got := b.load(v.Type, v.At, len(v.values))
	own := map[int]bool{}
	for i := range v.n {
		own[v.at(i)] = true
		if w, bound := want(i); !(abs(got[v.at(i)]-w) <= bound) {
			b.t.Fatalf("%s: element %d is %v, want %v ± %g", what, i, got[v.at(i)], w, bound)
		}
	}
	for i := range got {
		if !own[i] && !same(got[i], v.values[i]) {
			b.t.Fatalf("%s: wrote to %d, between elements", what, i)
		}
	}
}

// result is room for n bytes where the context says that results lie.
func (b *bench) result(n int) (addr uint64, get func() []byte) {
	room := bytes.Repeat([]byte{0xa5}, n) // no result
	if b.Pointers == blas.OnHost {
		return libstest.At(b.GPU, &room[0]), func() []byte { return room }
	}
	addr = libstest.Put(b.GPU, room)
	return addr, func() []byte { return libstest.Get[byte](b.GPU, addr, n) }
}

func part(t blas.Type) blas.Type {
	switch t {
	case blas.C32:
		return blas.F32
	case blas.C64:
		return blas.F64
	}
	return t
}

func conjugate(v complex128) complex128 { return complex(real(v), -imag(v)) }
func size1(v complex128) float64        { return math.Abs(real(v)) + math.Abs(imag(v)) }

// TestVectors: every function of vectors against plain loops, with increments of both
// signs.
func TestVectors(t *testing.T) {
	for _, c := range elements {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 11))
			incs := []int{1, 2, -1, -3}
			for _, n := range []int{0, 1, 33, 700, 5000} {
				b.mode(r)
				incX, incY := incs[r.IntN(4)], incs[r.IntN(4)]
				what := fmt.Sprintf("type %v, n %d, increments %d and %d, mode %d", c.t, n, incX, incY, b.Pointers)
				x, y := b.vector(r, c.t, n, incX), b.vector(r, c.t, n, incY)
				p := blas.Problem{N: int64(n), A: x.Matrix, C: y.Matrix, Scalar: c.t}
				of := func(v vector) func(int) (complex128, float64) {
					return func(i int) (complex128, float64) { return v.get(i), 0 }
				}

				b.want("swap", b.Swap(p), blas.Success)
				b.check("swap x, "+what, x, of(y))
				b.check("swap y, "+what, y, of(x))
				b.want("swap", b.Swap(p), blas.Success)

				factor := complex(0.75, 0)
				if c.t.Complex() {
					factor += 0.5i
				}
				p.Alpha = b.scalar(c.t, factor)
				b.want("axpy", b.Axpy(p), blas.Success)
				b.check("axpy, "+what, y, func(i int) (complex128, float64) {
					return factor*x.get(i) + y.get(i), c.out * 2 * (abs(x.get(i)) + abs(y.get(i)))
				})

				b.want("copy", b.Copy(p), blas.Success)
				b.check("copy, "+what, y, of(x))
				y.values = b.load(c.t, y.At, len(y.values))

				if incX > 0 {
					q := blas.Problem{N: int64(n), C: x.Matrix, Alpha: p.Alpha, Scalar: c.t}
					b.want("scal", b.Scal(q), blas.Success)
					b.check("scal, "+what, x, func(i int) (complex128, float64) { return factor * x.get(i), c.out * 2 * abs(x.get(i)) })
					x.values = b.load(c.t, x.At, len(x.values))
					q.Alpha, q.Scalar = b.scalar(part(c.t), -1), part(c.t)
					b.want("scal with a real number", b.Scal(q), blas.Success)
					b.check("scal with a real number, "+what, x, func(i int) (complex128, float64) { return -x.get(i), 0 })
					x.values = b.load(c.t, x.At, len(x.values))
				}

				sin := complex(0.8, 0)
				if c.t.Complex() {
					sin = 0.48 + 0.64i
				}
				_, sin = encode(c.t, sin)
				_, cos := encode(part(c.t), 0.6)
				p.Alpha, p.Beta = b.scalar(part(c.t), cos), b.scalar(c.t, sin)
				b.want("rot", b.Rot(p), blas.Success)
				bound := func(i int) float64 { return c.out * 2 * (abs(x.get(i)) + abs(y.get(i))) }
				b.check("rot x, "+what, x, func(i int) (complex128, float64) { return cos*x.get(i) + sin*y.get(i), bound(i) })
				b.check("rot y, "+what, y, func(i int) (complex128, float64) { return cos*y.get(i) - conjugate(sin)*x.get(i), bound(i) })
				x.values, y.values = b.load(c.t, x.At, len(x.values)), b.load(c.t, y.At, len(y.values))

				if !c.t.Complex() {
					for _, h := range [][5]complex128{{-2, 9, 9, 9, 9}, {-1, 0.5, -0.25, 2, 1}, {0, 9, -0.25, 2, 9}, {1, 0.5, 9, 9, 2}} {
						m := map[complex128][4]complex128{-2: {1, 0, 0, 1}, -1: {h[1], h[2], h[3], h[4]}, 0: {1, h[2], h[3], 1}, 1: {h[1], -1, 1, h[4]}}[h[0]]
						var bits []byte
						for _, v := range h {
							e, _ := encode(c.t, v)
							bits = append(bits, e...)
						}
						addr := libstest.At(b.GPU, &bits[0])
						if b.Pointers == blas.OnDevice {
							addr = libstest.Put(b.GPU, bits)
						}
						p.Alpha = addr
						b.want("rotm", b.Rotm(p), blas.Success)
						bound := func(i int) float64 { return c.out * 4 * (abs(x.get(i)) + abs(y.get(i))) }
						b.check(fmt.Sprintf("rotm %v x, %s", h[0], what), x, func(i int) (complex128, float64) { return m[0]*x.get(i) + m[2]*y.get(i), bound(i) })
						b.check(fmt.Sprintf("rotm %v y, %s", h[0], what), y, func(i int) (complex128, float64) { return m[1]*x.get(i) + m[3]*y.get(i), bound(i) })
						x.values, y.values = b.load(c.t, x.At, len(x.values)), b.load(c.t, y.At, len(y.values))
					}
				}

				var dot, dotc complex128
				var products, asum, squares, most float64
				first, last := 0, 0 // of the extremes
				least := math.Inf(1)
				for i := range n {
					dot += x.get(i) * y.get(i)
					dotc += conjugate(x.get(i)) * y.get(i)
					products += abs(x.get(i)) * abs(y.get(i))
					asum += size1(x.get(i))
					squares += abs(x.get(i)) * abs(x.get(i))
					if s := size1(x.get(i)); s > most {
						most, first = s, i+1
					}
					if s := size1(x.get(i)); s < least {
						least, last = s, i+1
					}
				}
				if incX < 0 {
					asum, squares, first, last = 0, 0, 0, 0
				}
				for _, f := range []struct {
					name  string
					run   func(blas.Problem) blas.Status
					t     blas.Type
					want  complex128
					bound float64
				}{
					{"dot", b.Dot, c.t, dot, products*c.sum*float64(n+2) + abs(dot)*c.out},
					{"dotc", b.Dotc, c.t, dotc, products*c.sum*float64(n+2) + abs(dotc)*c.out},
					{"asum", b.Asum, part(c.t), complex(asum, 0), asum * (c.sum*float64(n+2) + c.out)},
					{"nrm2", b.Nrm2, part(c.t), complex(math.Sqrt(squares), 0), math.Sqrt(squares) * (c.sum*float64(n+2) + c.out)},
				} {
					at, get := b.result(int(f.t.Size()))
					q := blas.Problem{N: int64(n), A: x.Matrix, B: y.Matrix, C: blas.Matrix{At: at, Type: f.t}}
					b.want(f.name, f.run(q), blas.Success)
					if got := decode(f.t, get()); !(abs(got-f.want) <= f.bound) {
						t.Fatalf("%s, %s: %v, want %v ± %g", f.name, what, got, f.want, f.bound)
					}
				}
				for _, f := range []struct {
					name string
					run  func(blas.Problem) blas.Status
					want int
				}{{"amax", b.Amax, first}, {"amin", b.Amin, last}} {
					width := 4 << r.IntN(2)
					at, get := b.result(width)
					index := func() uint64 { return uint64(binary.LittleEndian.Uint32(get())) }
					if width == 8 {
						index = func() uint64 { return binary.LittleEndian.Uint64(get()) }
					}
					q := blas.Problem{N: int64(n), A: x.Matrix, C: blas.Matrix{At: at, Stride: int64(width)}}
					b.want(f.name, f.run(q), blas.Success)
					if got := index(); got != uint64(f.want) {
						t.Fatalf("%s, %s: %d, want %d", f.name, what, got, f.want)
					}
				}
			}
		})
	}
}

// TestNrm2Range: a norm does not overflow or vanish where its squares do, and is not a
// number if an element is none.
func TestNrm2Range(t *testing.T) {
	b := start(t, "rtx-2060")
	inf, nan := complex(math.Inf(1), 0), complex(math.NaN(), 0)
	for _, c := range []struct {
		t    blas.Type
		x    []complex128
		want float64
	}{
		{blas.F32, []complex128{3e30, 4e30}, 5e30},
		{blas.F32, []complex128{3e-40, 4e-40}, 5e-40},
		{blas.F32, []complex128{1e30, 1, 1e-30}, 1e30},
		{blas.F32, []complex128{3e-12, 4e-25}, 3e-12},
		{blas.F64, []complex128{3e300, 4e300, 1}, 5e300},
		{blas.F64, []complex128{3e-320, 4e-320}, 5e-320},
		{blas.C64, []complex128{3e300 + 4e300i}, 5e300},
		{blas.F32, []complex128{1, inf}, math.Inf(1)},
		{blas.F64, []complex128{1e300, nan}, math.NaN()},
	} {
		at, _ := b.store(c.t, c.x)
		to, get := b.result(int(part(c.t).Size()))
		b.want("nrm2", b.Nrm2(blas.Problem{N: int64(len(c.x)), A: blas.Matrix{At: at, Type: c.t, LD: 1}, C: blas.Matrix{At: to, Type: part(c.t)}}), blas.Success)
		got := real(decode(part(c.t), get()))
		// A subnormal number has few digits: one unit in the last place is allowed.
		if bound := 1e-6*c.want + 2e-45; got != c.want && !(math.Abs(got-c.want) <= bound) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("type %v, %v: %v, want %v", c.t, c.x, got, c.want)
		}
	}
}

// TestExtremes: elements that are not numbers have no size, wherever they are; where all
// are none, the first one counts.
func TestExtremes(t *testing.T) {
	nan := math.NaN()
	for _, mode := range []blas.PointerMode{blas.OnHost, blas.OnDevice} {
		b := start(t, "rtx-2060")
		b.Pointers = mode
		for _, c := range []struct {
			x           []float64
			least, most uint32
		}{
			{[]float64{1, nan, 3, 10}, 1, 4},
			{[]float64{1, 3, 10, nan}, 1, 3},
			{[]float64{1, 3, nan, 10}, 1, 4},
			{[]float64{nan, -10, 1, 3}, 3, 2},
			{[]float64{nan, nan, nan}, 1, 1},
			{[]float64{nan, math.Inf(-1), 2}, 3, 2},
		} {
			for _, n := range []int{len(c.x), 9000} { // in one block, and in two stages
				x := make([]float64, n)
				for i := range x {
					x[i] = nan
				}
				copy(x, c.x)
				at := libstest.Put(b.GPU, x)
				for name, f := range map[string]struct {
					run  func(blas.Problem) blas.Status
					want uint32
				}{"amin": {b.Amin, c.least}, "amax": {b.Amax, c.most}} {
					to, get := b.result(4)
					b.want(name, f.run(blas.Problem{N: int64(n), A: blas.Matrix{At: at, Type: blas.F64, LD: 1}, C: blas.Matrix{At: to, Stride: 4}}), blas.Success)
					if got := binary.LittleEndian.Uint32(get()); got != f.want {
						t.Errorf("%s of %v and %d NaN: %d, want %d", name, c.x, n-len(c.x), got, f.want)
					}
				}
			}
		}
	}
}

// TestAxpyZero: where alpha is zero, x is not read, wherever alpha lies.
func TestAxpyZero(t *testing.T) {
	b := start(t, "rtx-2060")
	for _, c := range elements {
		for _, b.Pointers = range []blas.PointerMode{blas.OnHost, blas.OnDevice} {
			x, _ := b.store(c.t, []complex128{complex(math.NaN(), 0)})
			y, _ := b.store(c.t, []complex128{5})
			b.want("axpy", b.Axpy(blas.Problem{N: 1, Alpha: b.scalar(c.t, 0), Scalar: c.t, A: blas.Matrix{At: x, Type: c.t, LD: 1}, C: blas.Matrix{At: y, Type: c.t, LD: 1}}), blas.Success)
			if got := b.load(c.t, y, 1)[0]; got != 5 {
				t.Errorf("type %v, mode %v: 0 * NaN + 5 is %v, want 5", c.t, b.Pointers, got)
			}
		}
	}
}

// TestScalarTypes: a scalar may have a type that the vector has not, on the host and on the
// device; there are no scalars of one byte.
func TestScalarTypes(t *testing.T) {
	b := start(t, "rtx-2060")
	for _, b.Pointers = range []blas.PointerMode{blas.OnHost, blas.OnDevice} {
		for _, scalar := range []blas.Type{blas.F16, blas.BF16, blas.F32, blas.F64, blas.I32} {
			at, _ := b.store(blas.F32, []complex128{5})
			b.want("scal", b.Scal(blas.Problem{N: 1, Alpha: b.scalar(scalar, 3), Scalar: scalar, C: blas.Matrix{At: at, Type: blas.F32, LD: 1}}), blas.Success)
			if got := b.load(blas.F32, at, 1)[0]; got != 15 {
				t.Errorf("type %v, mode %v: 3 * 5 is %v", scalar, b.Pointers, got)
			}
		}
		for _, scalar := range []blas.Type{blas.I8, 77} {
			at, _ := b.store(blas.F32, []complex128{5})
			b.want("scal", b.Scal(blas.Problem{N: 1, Alpha: b.scalar(blas.F64, 3), Scalar: scalar, C: blas.Matrix{At: at, Type: blas.F32, LD: 1}}), blas.InvalidValue)
		}
	}
}

// TestIncrements: increments that do not fit 32 bits are refused, also the one without a
// counterpart of the other sign.
func TestIncrements(t *testing.T) {
	b := start(t, "rtx-2060")
	r := rand.New(rand.NewPCG(1, 2))
	x, y := b.vector(r, blas.F32, 2, 1), b.vector(r, blas.F32, 2, 1)
	for _, inc := range []int64{math.MinInt64, math.MinInt32, math.MaxInt32 + 1, math.MaxInt64} {
		p := blas.Problem{N: 2, Alpha: b.scalar(blas.F32, 2), Scalar: blas.F32, A: x.Matrix, C: y.Matrix}
		p.A.LD = inc
		b.want("axpy", b.Axpy(p), blas.NotSupported)
	}
}

// TestRotgRange: a rotation does not overflow where its length does not, and keeps numbers
// that are none.
func TestRotgRange(t *testing.T) {
	b := start(t, "rtx-2060")
	nan := math.NaN()
	for _, c := range []struct {
		t                blas.Type
		a, b             float64
		length, cos, sin float64
	}{
		{blas.F32, 2e38, 2e38, 2.8284271e38, math.Sqrt2 / 2, math.Sqrt2 / 2},
		{blas.F32, -3e38, 0, -3e38, 1, 0},
		{blas.F32, 3e-39, 4e-39, 5e-39, 0.6, 0.8},
		{blas.F64, 1.2e308, -0.5e308, 1.3e308, 12. / 13, -5. / 13},
		{blas.F64, nan, 0, nan, nan, nan},
		{blas.F64, 0, nan, nan, nan, nan},
	} {
		var places [4]uint64
		var reads [4]func() []byte
		for i, v := range []float64{c.a, c.b, 9, 9} {
			bits, _ := encode(c.t, complex(v, 0))
			places[i], reads[i] = b.result(len(bits))
			copy(reads[i](), bits)
		}
		number := func(i int) blas.Matrix { return blas.Matrix{At: places[i], Type: c.t} }
		b.want("rotg", b.Rotg(blas.Problem{A: number(0), B: number(1), Alpha: places[2], Beta: places[3], Scalar: c.t}), blas.Success)
		for i, want := range map[int]float64{0: c.length, 2: c.cos, 3: c.sin} {
			got := real(decode(c.t, reads[i]()))
			if !(math.Abs(got-want) <= 1e-6*math.Abs(want)) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("rotg of %v and %v: number %d is %v, want %v", c.a, c.b, i, got, want)
			}
		}
	}
}

// TestRotations: a rotation makes the second coordinate zero and keeps the length. The
// modified one does so with weights.
func TestRotations(t *testing.T) {
	for _, c := range elements {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 13))
			pairs := [][2]complex128{{3, 4}, {-4, 3}, {0, 0}, {0, 2}, {5, 0}, {-1, -7}}
			if c.t.Complex() {
				pairs = append(pairs, [2]complex128{1 + 2i, -3i}, [2]complex128{0.5i, 2 - 1i})
			}
			for _, v := range pairs {
				b.mode(r)
				n := int(c.t.Size())
				number := func(v complex128) (uint64, func() complex128) {
					bits, _ := encode(c.t, v)
					at, get := b.result(n)
					if b.Pointers == blas.OnHost {
						copy(get(), bits)
					} else {
						libstest.Set(b.GPU, at, bits)
					}
					return at, func() complex128 { return decode(c.t, get()) }
				}
				aAt, a := number(v[0])
				bAt, _ := number(v[1])
				sAt, s := number(9)
				cAt, cos := b.result(int(part(c.t).Size()))
				b.want("rotg", b.Rotg(blas.Problem{A: blas.Matrix{At: aAt, Type: c.t}, B: blas.Matrix{At: bAt, Type: c.t}, Alpha: cAt, Beta: sAt, Scalar: c.t}), blas.Success)
				k := decode(part(c.t), cos())
				one, zero := k*v[0]+s()*v[1], k*v[1]-conjugate(s())*v[0]
				size := math.Hypot(abs(v[0]), abs(v[1]))
				bound := 8 * c.out * size
				if !(abs(one-a()) <= bound) || !(abs(zero) <= bound) || !(math.Abs(abs(a())-size) <= bound) {
					t.Errorf("rotg of %v: c %v, s %v, r %v: rotated to %v and %v", v, k, s(), a(), one, zero)
				}
			}
			if c.t.Complex() {
				return
			}
			for _, v := range [][4]float64{{1, 1, 3, 4}, {2, 3, 5, 1}, {0.5, 2, -1, 6}, {1, 1, 2, 0}, {0x1p-30, 0x1p-28, 1, 1}, {4, 0.25, 1, 8}} {
				if c.t == blas.F16 && v[0] < 0x1p-20 {
					continue // f16 has no such numbers
				}
				b.mode(r)
				places := make([]uint64, 5)
				reads := make([]func() []byte, 5)
				for i, x := range []float64{v[0], v[1], v[2], v[3], 0} {
					bits, _ := encode(c.t, complex(x, 0))
					if i == 4 {
						bits = make([]byte, 5*len(bits))
					}
					places[i], reads[i] = b.result(len(bits))
					if b.Pointers == blas.OnHost {
						copy(reads[i](), bits)
					} else {
						libstest.Set(b.GPU, places[i], bits)
					}
				}
				number := func(i int) blas.Matrix { return blas.Matrix{At: places[i], Type: c.t} }
				b.want("rotmg", b.Rotmg(blas.Problem{A: number(0), B: number(1), C: number(2), Beta: places[3], Alpha: places[4], Scalar: c.t}), blas.Success)
				d1, d2, x1 := real(decode(c.t, reads[0]())), real(decode(c.t, reads[1]())), real(decode(c.t, reads[2]()))
				var h [5]float64
				for i := range h {
					h[i] = real(decode(c.t, reads[4]()[i*int(c.t.Size()):]))
				}
				m := map[float64][4]float64{-2: {1, 0, 0, 1}, -1: {h[1], h[2], h[3], h[4]}, 0: {1, h[2], h[3], 1}, 1: {h[1], -1, 1, h[4]}}[h[0]]
				x, y := m[0]*v[2]+m[2]*v[3], m[1]*v[2]+m[3]*v[3]
				length := v[0]*v[2]*v[2] + v[1]*v[3]*v[3]
				small := 16 * c.out
				if !(math.Abs(x-x1) <= small*math.Abs(x)) || !(math.Abs(y)*math.Sqrt(d2) <= small*math.Sqrt(length)) || !(math.Abs(d1*x1*x1-length) <= small*length) {
					t.Errorf("rotmg of %v: weights %v and %v, x %v, H %v: y is %v, length² %v, want %v", v, d1, d2, x1, h, y, d1*x1*x1, length)
				}
			}
		})
	}
}
