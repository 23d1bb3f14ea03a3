package rand_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/libs/rand"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// bench is a GPU.
type bench struct {
	*libstest.GPU
	t testing.TB
}

func start(t testing.TB) *bench {
	t.Helper()
	return &bench{libstest.New(t, "rtx-2060", nil), t}
}

func (b *bench) want(what string, got, want rand.Status) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("%s: %v, want %v\n%s", what, got, want, b.Log)
	}
}

// generator makes one, on the device.
func (b *bench) generator(k rand.Kind, seed uint64) rand.Call {
	b.t.Helper()
	h, s := rand.Create(b.Thread, k, false)
	b.want("create", s, rand.Success)
	c, s := rand.Of(b.Thread, h)
	b.want("handle", s, rand.Success)
	if k < rand.QuasiDefault {
		b.want("seed", c.SetSeed(seed), rand.Success)
	}
	return c
}

// draw generates n numbers.
func draw[T any](b *bench, c rand.Call, d rand.Distribution, n int) []T {
	b.t.Helper()
	at := libstest.Put(b.GPU, make([]T, n))
	b.want("generate", c.Generate(d, at, uint64(n)), rand.Success)
	list := libstest.Get[T](b.GPU, at, n)
	b.Must(b.Free(at))
	return list
}

// TestPhiloxKnown: the known answer of the generator's authors for key 0 and counter 0
// (Salmon et al. 2011, kat_vectors of Random123), and further blocks by the definition: four
// numbers from each of 65536 subsequences in turn, the order CURAND_ORDERING_PSEUDO_LEGACY,
// as NVIDIA's samples of cuRANDDx state it.
func TestPhiloxKnown(t *testing.T) {
	b := start(t)
	known := []uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}
	if got := draw[uint32](b, b.generator(rand.Philox, 0), rand.Bits(), 4); !slices.Equal(got, known) {
		t.Errorf("the first block is %x, want %x", got, known)
	}
	const seed = 0x299f31d0a4093822
	// word is one of a subsequence: the last two words of the counter.
	word := func(subsequence, n uint32) uint32 {
		return philox([4]uint32{n / 4, 0, subsequence}, [2]uint32{seed & math.MaxUint32, seed >> 32})[n%4]
	}
	for _, offset := range []uint32{6, 4*65536 - 10, 8*65536 - 501} {
		c := b.generator(rand.Philox, seed)
		b.want("offset", c.SetOffset(uint64(offset)), rand.Success)
		for i, v := range draw[uint32](b, c, rand.Bits(), 2000) {
			n := offset + uint32(i)
			if want := word(n/4%65536, n/4/65536*4+n%4); v != want {
				t.Fatalf("number %d is %x, want %x", n, v, want)
			}
		}
		c = b.generator(rand.Philox, seed)
		b.want("offset", c.SetOffset(uint64(offset)), rand.Success)
		for i, v := range draw[float64](b, c, rand.UniformDouble(), 2000) {
			n := offset + uint32(i)
			first := n/4/65536*8 + n%4*2
			bits := uint64(word(n/4%65536, first)) ^ uint64(word(n/4%65536, first+1))<<21
			if want := float64(bits)*0x1p-53 + 0x1p-54; v != want {
				t.Fatalf("double %d is %v, want %v", n, v, want)
			}
		}
	}
}

// philox is a block of Philox 4x32-10.
func philox(c [4]uint32, k [2]uint32) [4]uint32 {
	for range 10 {
		p, q := 0xD2511F53*uint64(c[0]), 0xCD9E8D57*uint64(c[2])
		c = [4]uint32{uint32(q>>32) ^ c[1] ^ k[0], uint32(q), uint32(p>>32) ^ c[3] ^ k[1], uint32(p)}
		k = [2]uint32{k[0] + 0x9E3779B9, k[1] + 0xBB67AE85}
	}
	return c
}

// TestMRGKnown: with seed 0 all words of the state are 12345, the initial state of
// L'Ecuyer's package RngStreams, whose first numbers are published (L'Ecuyer et al. 2002).
// The stream's numbers are 4096 apart.
func TestMRGKnown(t *testing.T) {
	b := start(t)
	got := draw[float64](b, b.generator(rand.MRG32k3a, 0), rand.UniformDouble(), 3*4096+1)
	for i, want := range []float64{0.1270111220, 0.3185275653, 0.3091860155, 0.8258468629} {
		if v := got[i*4096]; math.Abs(v-want) > 2e-9 { // RngStreams divides by one more
			t.Errorf("number %d of stream 0 is %.10f, want %.10f", i, v, want)
		}
	}
}

// TestMT19937Known: the first and the 10,000th number of the standard seed, which the C++
// standard gives for std::mt19937 [rand.predef].
func TestMT19937Known(t *testing.T) {
	b := start(t)
	got := draw[uint32](b, b.generator(rand.MT19937, 5489), rand.Bits(), 10000)
	if got[0] != 3499211612 || got[9999] != 4123659995 {
		t.Errorf("numbers 1 and 10,000 are %d and %d, want 3499211612 and 4123659995", got[0], got[9999])
	}
}

// TestMRGStreams: streams begin 2^76 steps apart, which squaring the matrices of a step 76
// times tells.
func TestMRGStreams(t *testing.T) {
	b := start(t)
	got := draw[float64](b, b.generator(rand.MRG32k3a, 0), rand.UniformDouble(), 4096)
	type vector [3]uint64
	moduli := [2]uint64{4294967087, 4294944443}
	steps := [2]func(v vector) vector{
		func(v vector) vector {
			return vector{v[1], v[2], (1403580*v[1] + (4294967087-810728)*v[0]) % 4294967087}
		},
		func(v vector) vector {
			return vector{v[1], v[2], (527612*v[2] + (4294944443-1370589)*v[0]) % 4294944443}
		},
	}
	var jumps [2][3]vector // columns
	apply := func(columns [3]vector, v vector, m uint64) (r vector) {
		for i, c := range columns {
			for j := range r {
				r[j] = (r[j] + c[j]*v[i]%m) % m
			}
		}
		return r
	}
	for r := range jumps {
		jumps[r] = [3]vector{steps[r](vector{1, 0, 0}), steps[r](vector{0, 1, 0}), steps[r](vector{0, 0, 1})}
		for range 76 {
			old := jumps[r]
			for i := range old {
				jumps[r][i] = apply(old, old[i], moduli[r])
			}
		}
	}
	state := [2]vector{{12345, 12345, 12345}, {12345, 12345, 12345}}
	for stream, v := range got {
		x, y := steps[0](state[0])[2], steps[1](state[1])[2]
		z := (x + moduli[0] - y%moduli[0]) % moduli[0]
		if want := float64(z) / float64(moduli[0]); math.Abs(v-want) > 1e-15 {
			t.Fatalf("stream %d begins with %.17g, want %.17g", stream, v, want)
		}
		for r := range state {
			state[r] = apply(jumps[r], state[r], moduli[r])
		}
	}
}

// TestXORWOW: every stream is Marsaglia's recurrence, and streams begin 2^67 steps apart,
// which squaring the matrix of a step 67 times tells.
func TestXORWOW(t *testing.T) {
	b := start(t)
	got := draw[uint32](b, b.generator(rand.XORWOW, 1234), rand.Bits(), 5*4096)
	// The state of curand_init, from the seed.
	const seed = 1234
	a, c := uint32(1099087573*((seed^0xaad26b49)&math.MaxUint32)&math.MaxUint32), uint32(2591861531*0xf7dcefdd&math.MaxUint32)
	v := [5]uint32{123456789 + a, 362436069 ^ a, 521288629 + c, 88675123 ^ c, 5783321 + a}

	step := func(v [5]uint32) [5]uint32 {
		x := v[0] ^ v[0]>>2
		return [5]uint32{v[1], v[2], v[3], v[4], v[4] ^ v[4]<<4 ^ x ^ x<<1}
	}
	matrix := make([][5]uint32, 160) // columns
	for i := range matrix {
		var unit [5]uint32
		unit[i/32] = 1 << (i % 32)
		matrix[i] = step(unit)
	}
	apply := func(m [][5]uint32, v [5]uint32) (r [5]uint32) {
		for i, column := range m {
			if v[i/32]>>(i%32)&1 != 0 {
				for j := range r {
					r[j] ^= column[j]
				}
			}
		}
		return r
	}
	for range 67 {
		square := make([][5]uint32, 160)
		for i, column := range matrix {
			square[i] = apply(matrix, column)
		}
		matrix = square
	}
	for stream := range 4096 {
		w, d := v, 6615241+c+a
		for i := range 5 {
			w = step(w)
			d += 362437
			if want := w[4] + d; got[i*4096+stream] != want {
				t.Fatalf("number %d of stream %d is %x, want %x", i, stream, got[i*4096+stream], want)
			}
		}
		v = apply(matrix, v)
	}
}

var pseudo = []rand.Kind{rand.XORWOW, rand.MRG32k3a, rand.Philox, rand.MT19937}

// TestSequence: numbers do not depend on how calls divide them, on offsets, on the stream,
// or on whether they go to the host; another seed brings others.
func TestSequence(t *testing.T) {
	for _, k := range pseudo {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			b := start(t)
			const n = 10000
			for name, d := range map[string]rand.Distribution{"uniform": rand.Uniform(), "normal": rand.Normal(1, 2)} {
				all := draw[float32](b, b.generator(k, 7), d, n)
				c := b.generator(k, 7)
				stream, err := b.StreamCreate(1, 0)
				b.Must(err)
				b.want("stream", c.SetStream(stream), rand.Success)
				at := libstest.Put(b.GPU, make([]float32, n))
				b.want("first part", c.Generate(d, at, 4098), rand.Success)
				b.want("second part", c.Generate(d, at+4*4098, n-4098), rand.Success)
				b.Must(b.StreamSynchronize(stream))
				if parts := libstest.Get[float32](b.GPU, at, n); !slices.Equal(parts, all) {
					t.Errorf("%s: two calls generate other numbers than one", name)
				}
				h, s := rand.Create(b.Thread, k, true)
				b.want("create for the host", s, rand.Success)
				host, _ := rand.Of(b.Thread, h)
				b.want("seed", host.SetSeed(7), rand.Success)
				numbers := make([]float32, n)
				b.want("generate on the host", host.Generate(d, libstest.At(b.GPU, &numbers[0]), n), rand.Success)
				if !slices.Equal(numbers, all) {
					t.Errorf("%s: the host's numbers are others", name)
				}
				b.want("seed again", c.SetSeed(8), rand.Success)
				if other := draw[float32](b, c, d, n); slices.Equal(other, all) {
					t.Errorf("%s: another seed generates the same numbers", name)
				}
			}
			all := draw[uint32](b, b.generator(k, 7), rand.Bits(), n)
			if k == rand.MT19937 {
				b.want("offset", b.generator(k, 7).SetOffset(1), rand.TypeError)
				return
			}
			for _, offset := range []uint64{1, 4096, 5000, 9999} {
				c := b.generator(k, 7)
				b.want("offset", c.SetOffset(offset), rand.Success)
				if got := draw[uint32](b, c, rand.Bits(), n-int(offset)); !slices.Equal(got, all[offset:]) {
					t.Errorf("numbers from %d on are others", offset)
				}
			}
		})
	}
}

// TestDistributions: mean, variance and the shape of 40,000 numbers of each distribution. A
// mean is off by less than 5 of its deviations, and chi-square of 20 equally probable
// ranges is below 50: a right generator fails once in 2 million and in 8,000 times; seeds are
// fixed.
func TestDistributions(t *testing.T) {
	alltests.Only(t, "distributions of random numbers")
	const n, cells = 40000, 20
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, k := range []rand.Kind{rand.XORWOW, rand.MRG32k3a, rand.Philox, rand.MT19937, rand.Sobol32, rand.Sobol64} {
		b := start(t)
		for _, c := range []struct {
			name     string
			d        rand.Distribution
			double   bool
			mean     float64
			variance float64
			below    func(x float64) float64 // the part of numbers up to x
		}{
			{"uniform", rand.Uniform(), false, 0.5, 1. / 12, func(x float64) float64 { return x }},
			{"uniform double", rand.UniformDouble(), true, 0.5, 1. / 12, func(x float64) float64 { return x }},
			{"normal", rand.Normal(3, 2), false, 3, 4, func(x float64) float64 { return normal((x - 3) / 2) }},
			{"normal double", rand.NormalDouble(-1, 0.5), true, -1, 0.25, func(x float64) float64 { return normal((x + 1) / 0.5) }},
			{"log-normal", rand.LogNormal(0.5, 0.25), false, math.Exp(0.5 + 1./32), (math.Exp(1./16) - 1) * math.Exp(1+1./16),
				func(x float64) float64 { return normal((math.Log(x) - 0.5) / 0.25) }},
			{"log-normal double", rand.LogNormalDouble(0, 0.5), true, math.Exp(1. / 8), (math.Exp(0.25) - 1) * math.Exp(0.25),
				func(x float64) float64 { return normal(math.Log(x) / 0.5) }},
		} {
			g := b.generator(k, 99)
			var x []float64
			if c.double {
				x = draw[float64](b, g, c.d, n)
			} else {
				for _, v := range draw[float32](b, g, c.d, n) {
					x = append(x, float64(v))
				}
			}
			mean, square, counts := 0.0, 0.0, [cells]float64{}
			for _, v := range x {
				mean += v / n
				square += (v - c.mean) * (v - c.mean) / n
				counts[min(cells-1, int(cells*c.below(v)))]++
			}
			chi := 0.0
			for _, v := range counts {
				chi += (v - n/cells) * (v - n/cells) / (n / cells)
			}
			if math.Abs(mean-c.mean) > 5*math.Sqrt(c.variance/n) || math.Abs(square/c.variance-1) > 0.06 || !(chi < 50) {
				t.Errorf("%d, %s: mean %g, variance %g, chi-square %.1f; want %g, %g, less than 50", k, c.name, mean, square, chi, c.mean, c.variance)
			}
		}
		if k >= rand.QuasiDefault || k == rand.MT19937 {
			b.want("Poisson", b.generator(k, 5).Generate(rand.Poisson(1), 1<<45, 2), rand.ArchMismatch)
			continue
		}
		for _, lambda := range []float64{0.5, 10, 1000} {
			mean, square := 0.0, 0.0
			for _, v := range draw[uint32](b, b.generator(k, 5), rand.Poisson(lambda), n) {
				mean += float64(v) / n
				square += (float64(v) - lambda) * (float64(v) - lambda) / n
			}
			if math.Abs(mean-lambda) > 5*math.Sqrt(lambda/n) || math.Abs(square/lambda-1) > 0.06 {
				t.Errorf("%d, Poisson of %g: mean %g, variance %g", k, lambda, mean, square)
			}
		}
	}
}

// TestSobol: in each dimension, the first 2^m points have one in each of 2^m equal parts;
// two dimensions are one by two nets as their parameter of quality allows; further calls
// and offsets continue.
func TestSobol(t *testing.T) {
	b := start(t)
	const dims, points = 37, 1 << 10
	for _, k := range []rand.Kind{rand.Sobol32, rand.Sobol64} {
		g := b.generator(k, 0)
		b.want("dimensions", g.SetDimensions(dims), rand.Success)
		x := draw[float64](b, g, rand.UniformDouble(), dims*points)
		for d := range dims {
			seen := map[int]bool{}
			for _, v := range x[d*points:][:points] {
				seen[int(v*points)] = true
			}
			if len(seen) != points {
				t.Errorf("%d: dimension %d has points in %d parts of %d", k, d, len(seen), points)
			}
		}
		// The first two dimensions are a net of quality 0: every box of area 1/1024 has one
		// point.
		for wide := 1; wide <= points; wide *= 2 {
			seen := map[[2]int]bool{}
			for i := range points {
				seen[[2]int{int(x[i] * float64(wide)), int(x[points+i] * float64(points/wide))}] = true
			}
			if len(seen) != points {
				t.Errorf("%d: of boxes %d wide, %d have a point", k, wide, len(seen))
			}
		}
		// Two dimensions by their recurrences, with the polynomials x^3+x+1 and
		// x^5+x^4+x^3+x+1 and the initial numbers of the set.
		for d, m := range map[int][]uint64{3: {1, 3, 1}, 11: {1, 1, 1, 3, 11}} {
			for k := len(m); k < 10; k++ {
				if d == 3 {
					m = append(m, 4*m[k-2]^8*m[k-3]^m[k-3])
				} else {
					m = append(m, 2*m[k-1]^4*m[k-2]^16*m[k-4]^32*m[k-5]^m[k-5])
				}
			}
			for i := range points {
				want := uint64(0)
				for k := range 10 {
					if (i^i>>1)>>k&1 != 0 {
						want ^= m[k] << (9 - k)
					}
				}
				if v := x[d*points+i]; int(v*points) != int(want) {
					t.Fatalf("%d: coordinate %d of point %d is %g, want %g", k, d, i, v, float64(want)/points)
				}
			}
		}
		more := draw[float64](b, g, rand.UniformDouble(), dims*16)
		b.want("offset", g.SetOffset(points), rand.Success)
		if again := draw[float64](b, g, rand.UniformDouble(), dims*16); !slices.Equal(again, more) {
			t.Errorf("%d: an offset leads to other points", k)
		}
	}
}

// TestCodes: the codes of the documentation for calls that are wrong.
func TestCodes(t *testing.T) {
	b := start(t)
	for k, want := range map[rand.Kind]rand.Status{
		rand.Default: rand.Success, rand.QuasiDefault: rand.Success, 0: rand.TypeError, 99: rand.TypeError,
		rand.MTGP32: rand.ArchMismatch, rand.ScrambledSobol32: rand.ArchMismatch,
	} {
		h, s := rand.Create(b.Thread, k, false)
		b.want(fmt.Sprint("generator ", k), s, want)
		if s == rand.Success {
			b.want("end", rand.Destroy(b.Thread, h), rand.Success)
		}
		b.want("second end", rand.Destroy(b.Thread, h), rand.NotInitialized)
	}
	at := libstest.Put(b.GPU, make([]float64, 16))
	p, q, q64 := b.generator(rand.XORWOW, 0), b.generator(rand.Sobol32, 0), b.generator(rand.Sobol64, 0)
	b.want("three dimensions", q.SetDimensions(3), rand.Success)
	for _, c := range []struct {
		name      string
		got, want rand.Status
	}{
		{"an odd number of normal ones", p.Generate(rand.Normal(0, 1), at, 3), rand.LengthNotMultiple},
		{"no multiple of the dimensions", q.Generate(rand.Uniform(), at, 4), rand.LengthNotMultiple},
		{"a seed of a quasirandom generator", q.SetSeed(1), rand.TypeError},
		{"dimensions of a pseudorandom generator", p.SetDimensions(2), rand.TypeError},
		{"no dimension", q.SetDimensions(0), rand.OutOfRange},
		{"too many dimensions", q.SetDimensions(20001), rand.OutOfRange},
		{"more dimensions than there are", q.SetDimensions(20000), rand.ArchMismatch},
		{"64 bits of 32", p.Generate(rand.LongBits(), at, 2), rand.TypeError},
		{"32 bits of 64", q64.Generate(rand.Bits(), at, 2), rand.TypeError},
		{"64 bits", q64.Generate(rand.LongBits(), at, 2), rand.Success},
		{"an ordering of others", p.SetOrdering(201), rand.OutOfRange},
		{"an ordering", p.SetOrdering(103), rand.Success},
		{"no place", p.Generate(rand.Uniform(), 0, 2), rand.OutOfRange},
		{"no numbers", p.Generate(rand.Uniform(), 0, 0), rand.Success},
		{"an expected number of 0", p.Generate(rand.Poisson(0), at, 2), rand.OutOfRange},
		{"too large an expected number", p.Generate(rand.Poisson(1e6), at, 2), rand.OutOfRange},
	} {
		b.want(c.name, c.got, c.want)
	}
	b.Must(b.Synchronize())
}

// TestGraph: a captured call draws nothing. Each launch of the graph continues the sequence,
// and so does a call after it; it is also captured if it is the generator's first one.
func TestGraph(t *testing.T) {
	kinds := append([]rand.Kind{rand.Sobol32, rand.Sobol64}, pseudo...)
	for _, k := range kinds {
		for _, seeded := range []bool{true, false} {
			b := start(t)
			stream, err := b.StreamCreate(1, 0)
			b.Must(err)
			const n = 1002 // no multiple of blocks, streams or states
			d, words := rand.Bits(), n
			if k == rand.Sobol64 {
				d, words = rand.LongBits(), 2*n
			}
			c := b.generator(k, 5489)
			b.want("stream", c.SetStream(stream), rand.Success)
			if seeded {
				b.want("seeds", c.Seed(), rand.Success)
			}
			at := libstest.Put(b.GPU, make([]uint32, words))
			b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
			b.want("capture", c.Generate(d, at, n), rand.Success)
			graph, err := b.EndCapture(stream)
			b.Must(err)
			exec, err := b.GraphInstantiate(graph, 0)
			b.Must(err)
			all := libstest.Put(b.GPU, make([]uint32, 4*words))
			b.want("one call", b.generator(k, 5489).Generate(d, all, 4*n), rand.Success)
			want := libstest.Get[uint32](b.GPU, all, 4*words)
			for i, launch := range []bool{false, true, true, false} {
				if launch {
					b.Must(b.ExecLaunch(exec, stream))
				} else {
					b.want("call", c.Generate(d, at, n), rand.Success)
				}
				b.Must(b.StreamSynchronize(stream))
				if !slices.Equal(libstest.Get[uint32](b.GPU, at, words), want[i*words:][:words]) {
					t.Errorf("generator %d: call %d, in a graph %v, draws other numbers", k, i, launch)
				}
			}
		}
	}
}

// TestSobolEnds: numbers of the first dimension near both ends. Doubles are (x+1)/2^32 for
// words of 32 bits, and the middles of 2^53 parts for those of 64. Normal numbers of the
// upper half are those of the complement, negated, so that they are finite; they are the
// inverse of the middles of 2^32 or 2^53 parts.
func TestSobolEnds(t *testing.T) {
	alltests.Only(t, "ends of Sobol's sequences")
	const (
		first = 0
		last  = 0x1555555        // 25 ones in Gray code: the word is 0xffffff80, its complement 127
		last2 = 0x2aaaaaaaaaaaaa // 54 ones in Gray code: all but 10 bits of the word
	)
	b := start(t)
	at := func(k rand.Kind, offset uint64, d rand.Distribution, double bool) float64 {
		g := b.generator(k, 0)
		b.want("offset", g.SetOffset(offset), rand.Success)
		if double {
			return draw[float64](b, g, d, 1)[0]
		}
		return float64(draw[float32](b, g, d, 1)[0])
	}
	for _, c := range []struct {
		kind     rand.Kind
		offset   uint64
		double   bool
		uniform  float64
		part     float64 // what the normal number is the inverse of
		opposite bool
	}{
		{rand.Sobol32, first, false, 0x1p-33, 0x1p-33, false},
		{rand.Sobol32, last, false, 1 - 0x1p-25, 127*0x1p-32 + 0x1p-33, true},
		{rand.Sobol32, first, true, 0x1p-32, 0x1p-33, false},
		{rand.Sobol32, last, true, 1 - 127*0x1p-32, 127*0x1p-32 + 0x1p-33, true},
		{rand.Sobol64, first, false, 0x1p-33, 0x1p-33, false},
		{rand.Sobol64, last2, false, 1, 0x1p-33, true},
		{rand.Sobol64, first, true, 0x1p-54, 0x1p-54, false},
		{rand.Sobol64, last2, true, 1, 0x1p-54, true},
	} {
		uniform, normal, logNormal, unit := rand.Uniform(), rand.Normal(0, 1), rand.LogNormal(0, 1), 0x1p-24
		if c.double {
			uniform, normal, logNormal, unit = rand.UniformDouble(), rand.NormalDouble(0, 1), rand.LogNormalDouble(0, 1), 0x1p-53
		}
		want := -math.Sqrt2 * math.Erfcinv(2*c.part)
		if c.opposite {
			want = -want
		}
		if v := at(c.kind, c.offset, uniform, c.double); math.Abs(v-c.uniform) > unit*c.uniform {
			t.Errorf("%d, double %v, point %#x: %g, want %g", c.kind, c.double, c.offset, v, c.uniform)
		}
		if v := at(c.kind, c.offset, normal, c.double); !(math.Abs(v-want) <= 16*unit*math.Abs(want)) {
			t.Errorf("%d, double %v, point %#x: the normal number is %.17g, want %.17g", c.kind, c.double, c.offset, v, want)
		}
		if v := at(c.kind, c.offset, logNormal, c.double); !(math.Abs(v-math.Exp(want)) <= 128*unit*math.Exp(want)) {
			t.Errorf("%d, double %v, point %#x: the log-normal number is %g, want %g", c.kind, c.double, c.offset, v, math.Exp(want))
		}
	}
}

// TestReset: a reset of the device ends all generators, whose memory is gone.
func TestReset(t *testing.T) {
	for _, k := range []rand.Kind{rand.XORWOW, rand.Philox, rand.Sobol32} {
		b := start(t)
		h, s := rand.Create(b.Thread, k, false)
		b.want("create", s, rand.Success)
		c, _ := rand.Of(b.Thread, h)
		b.want("seeds", c.Seed(), rand.Success)
		b.Must(b.Reset())
		var own []uint64
		for range 4 {
			own = append(own, libstest.Put(b.GPU, make([]byte, 1<<16)))
		}
		_, s = rand.Of(b.Thread, h)
		b.want("a generator of before", s, rand.NotInitialized)
		b.want("destroy", rand.Destroy(b.Thread, h), rand.NotInitialized)
		for _, at := range own {
			b.Must(b.Free(at))
		}
	}
}

// TestDestroyInCapture: a generator that cannot be freed during a capture can be freed
// after it; one that cannot be changed then draws what it drew.
func TestDestroyInCapture(t *testing.T) {
	b := start(t)
	stream, err := b.StreamCreate(1, 0)
	b.Must(err)
	before, _, err := b.MemInfo()
	b.Must(err)
	h, s := rand.Create(b.Thread, rand.XORWOW, false)
	b.want("create", s, rand.Success)
	c, _ := rand.Of(b.Thread, h)
	b.want("seeds", c.Seed(), rand.Success)
	b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
	b.want("destroy during a capture", rand.Destroy(b.Thread, h), rand.LaunchFailure)
	if _, err := b.EndCapture(stream); err == cuda.Success {
		t.Error("the capture is still valid")
	}
	b.want("destroy", rand.Destroy(b.Thread, h), rand.Success)
	b.want("second end", rand.Destroy(b.Thread, h), rand.NotInitialized)
	if after, _, _ := b.MemInfo(); after != before {
		t.Errorf("%d bytes are free, %d were before the generator", after, before)
	}
}
