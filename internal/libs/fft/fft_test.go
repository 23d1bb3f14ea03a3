package fft_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/fft"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
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

func (b *bench) want(what string, got, want fft.Result) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("%s: %v, want %v\n%s", what, got, want, b.Log)
	}
}

// plan makes a plan, which ends with the test.
func (b *bench) plan(s fft.Shape) fft.Call {
	b.t.Helper()
	h, r := fft.Create(b.Thread)
	b.want("create", r, fft.Success)
	c, r := fft.Of(b.Thread, h)
	b.want("handle", r, fft.Success)
	_, r = c.Make(s)
	b.want("make", r, fft.Success)
	b.t.Cleanup(func() { b.want("destroy", fft.Destroy(b.Thread, h), fft.Success) })
	return c
}

// kinds says of which numbers the types consist.
var kinds = map[fft.Type]struct {
	name                     string
	double, realFrom, realTo bool
}{
	fft.C2C: {"C2C", false, false, false}, fft.R2C: {"R2C", false, true, false}, fft.C2R: {"C2R", false, false, true},
	fft.Z2Z: {"Z2Z", true, false, false}, fft.D2Z: {"D2Z", true, true, false}, fft.Z2D: {"Z2D", true, false, true},
}

// put stores parts of numbers on the device, in the precision of a type.
func (b *bench) put(double bool, values []float64) uint64 {
	if double {
		return libstest.Put(b.GPU, values)
	}
	list := make([]float32, len(values))
	for i, v := range values {
		list[i] = float32(v)
	}
	return libstest.Put(b.GPU, list)
}

// get loads them.
func (b *bench) get(double bool, addr uint64, n int) []float64 {
	if double {
		return libstest.Get[float64](b.GPU, addr, n)
	}
	list := make([]float64, n)
	for i, v := range libstest.Get[float32](b.GPU, addr, n) {
		list[i] = float64(v)
	}
	return list
}

// array is an array in memory: distances between its elements, that of the batch first,
// and the number of elements from the first to the end.
type array struct {
	strides []int
	size    int
}

// packed is an array without gaps.
func packed(batch int, n []int) array {
	a := array{strides: make([]int, len(n)+1), size: 1}
	for d := len(n); d >= 0; d-- {
		a.strides[d] = a.size
		if d > 0 {
			a.size *= n[d-1]
		} else {
			a.size *= batch
		}
	}
	return a
}

// each calls f with all indices, that of the batch first.
func each(batch int, n []int, f func(at []int)) {
	at := make([]int, len(n)+1)
	for {
		f(at)
		d := len(n)
		for ; d >= 0; d-- {
			limit := batch
			if d > 0 {
				limit = n[d-1]
			}
			if at[d]++; at[d] < limit {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

func (a array) offset(at []int) (i int) {
	for d, stride := range a.strides {
		i += at[d] * stride
	}
	return i
}

// slow transforms numbers by the definition, dimension by dimension: x are those of a batch
// without gaps.
func slow(x []complex128, n []int, sign float64) []complex128 {
	x = append([]complex128(nil), x...)
	stride := 1
	for d := len(n) - 1; d >= 0; d-- {
		n := n[d]
		powers := make([]complex128, n)
		for i := range powers {
			powers[i] = cmplx.Exp(complex(0, sign*2*math.Pi*float64(i)/float64(n)))
		}
		line := make([]complex128, n)
		for base := range x {
			if base/stride%n != 0 {
				continue
			}
			for k := range line {
				line[k] = 0
				for j := range n {
					line[k] += x[base+j*stride] * powers[j*k%n]
				}
			}
			for k, v := range line {
				x[base+k*stride] = v
			}
		}
		stride *= n
	}
	return x
}

// quick is slow for one dimension whose extent is a power of two: it halves the problem
// until little is left.
func quick(x []complex128, sign float64) []complex128 {
	n := len(x)
	if n == 1 {
		return x
	}
	even, odd := make([]complex128, n/2), make([]complex128, n/2)
	for i := range even {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
	even, odd = quick(even, sign), quick(odd, sign)
	y := make([]complex128, n)
	for i := range even {
		p := odd[i] * cmplx.Exp(complex(0, sign*2*math.Pi*float64(i)/float64(n)))
		y[i], y[i+n/2] = even[i]+p, even[i]-p
	}
	return y
}

// bound is the relative error allowed to a transform, in the Euclidean norm: 4 units in the
// last place for each time that its size doubles. Transforms that are computed by ones of
// at least the double length, forward and back, have as much as these.
func bound(double bool, n []int) float64 {
	steps := 1
	for _, n := range n {
		rest := n
		for _, p := range []int{2, 3, 5, 7} {
			for rest%p == 0 {
				rest /= p
			}
		}
		if steps += bits.Len(uint(n)); rest > 1 {
			steps += bits.Len(uint(n)) + 4
		}
	}
	if double {
		return 4 * 0x1p-53 * float64(steps)
	}
	return 4 * 0x1p-24 * float64(steps)
}

// run transforms random numbers with a plan, and compares: in place if inPlace is set.
// Layouts are those of what is read and written; all else keeps its value.
func (b *bench) run(r *rand.Rand, s fft.Shape, d fft.Direction, n []int, from, to array, inPlace bool) {
	b.t.Helper()
	k, batch := kinds[s.Type], int(s.Batch)
	what := fmt.Sprintf("%s %v, batch %d, direction %d, in place %v, layouts %v", k.name, n, batch, d, inPlace, s.Layouts)
	half := append([]int(nil), n...)
	half[len(n)-1] = n[len(n)-1]/2 + 1

	// The numbers, without gaps, and what their transform is. Of numbers whose transform
	// is real, half are the conjugates of others.
	all := packed(batch, n)
	x := make([]complex128, all.size)
	for i := range x {
		x[i] = complex(2*r.Float64()-1, 0)
		if !k.realFrom && !k.realTo {
			x[i] += complex(0, 2*r.Float64()-1)
		}
		if !k.double {
			x[i] = complex(float64(float32(real(x[i]))), float64(float32(imag(x[i]))))
		}
	}
	want := slow(x, n, float64(d))
	if k.realTo { // the other way round: x is the result
		y := slow(x, n, -1)
		for i := range x {
			want[i] = x[i] * complex(float64(all.size/batch), 0)
		}
		x = y
	}

	parts := func(realOnly bool) int {
		if realOnly {
			return 1
		}
		return 2
	}
	pf, pt := parts(k.realFrom), parts(k.realTo)
	size := max(from.size*pf, to.size*pt)
	memory := make([]float64, from.size*pf)
	if inPlace {
		memory = make([]float64, size)
	}
	for i := range memory {
		memory[i] = 99
	}
	read := n
	if k.realTo {
		read = half
	}
	each(batch, read, func(at []int) {
		v := x[all.offset(at)]
		memory[from.offset(at)*pf] = real(v)
		if pf == 2 {
			memory[from.offset(at)*pf+1] = imag(v)
		}
	})
	in := b.put(k.double, memory)
	out, before := in, memory
	if !inPlace {
		before = make([]float64, to.size*pt)
		for i := range before {
			before[i] = -77
		}
		out = b.put(k.double, before)
	}
	c := b.plan(s)
	b.want(what, c.Execute(s.Type, in, out, d), fft.Success)

	got := b.get(k.double, out, len(before))
	element := make([]bool, len(before))
	written := n
	if k.realFrom {
		written = half
	}
	far, norm := 0.0, 0.0
	each(batch, written, func(at []int) {
		i := to.offset(at) * pt
		v, w := complex(got[i], 0), want[all.offset(at)]
		element[i] = true
		if pt == 2 {
			v += complex(0, got[i+1])
			element[i+1] = true
		}
		far += real((v - w) * cmplx.Conj(v-w))
		norm += real(w * cmplx.Conj(w))
	})
	if e, most := math.Sqrt(far/norm), bound(k.double, n); !(e <= most) {
		b.t.Errorf("%s: relative error %.3g, want %.3g at most", what, e, most)
	} else {
		b.t.Logf("%s: relative error %.3g of %.3g", what, e, most)
	}
	same := func(v, w float64) bool { return v == w || !k.double && v == float64(float32(w)) }
	for i, v := range got {
		if !element[i] && !same(v, before[i]) {
			b.t.Fatalf("%s: wrote to part %d, where no element is", what, i)
		}
	}
	b.Must(b.Free(out))
	if inPlace {
		return
	}
	for i, v := range b.get(k.double, in, len(memory)) {
		if !same(v, memory[i]) {
			b.t.Fatalf("%s: changed part %d of its input", what, i)
		}
	}
	b.Must(b.Free(in))
}

// wide are extents as plans have them.
func wide(n []int) (list []int64) {
	for _, n := range n {
		list = append(list, int64(n))
	}
	return list
}

// simple runs transforms of a shape with the layouts that plans have by default, in place
// and not.
func (b *bench) simple(r *rand.Rand, t fft.Type, d fft.Direction, batch int, n ...int) {
	b.t.Helper()
	k := kinds[t]
	s := fft.Shape{Type: t, N: wide(n), Batch: int64(batch)}
	for _, inPlace := range []bool{false, true} {
		arrays := [2]array{packed(batch, n), packed(batch, n)}
		for i, other := range []bool{k.realTo, k.realFrom} {
			e := append([]int(nil), n...)
			if other { // complex numbers of a transform of real ones
				e[len(n)-1] = n[len(n)-1]/2 + 1
			} else if inPlace && (k.realFrom || k.realTo) {
				e[len(n)-1] = 2 * (n[len(n)-1]/2 + 1)
			}
			arrays[i] = packed(batch, e)
		}
		b.run(r, s, d, n, arrays[0], arrays[1], inPlace)
	}
}

var allTypes = []struct {
	t fft.Type
	d fft.Direction
}{
	{fft.C2C, fft.Forward}, {fft.C2C, fft.Inverse}, {fft.R2C, fft.Forward}, {fft.C2R, fft.Inverse},
	{fft.Z2Z, fft.Forward}, {fft.Z2Z, fft.Inverse}, {fft.D2Z, fft.Forward}, {fft.Z2D, fft.Inverse},
}

// TestLengths: one dimension, against the definition. Every length up to 34; lengths of one
// and of several passes, with all prime factors; primes.
func TestLengths(t *testing.T) {
	b := start(t)
	r := rand.New(rand.NewPCG(1, 2))
	lengths := []int{}
	for n := 1; n <= 34; n += alltests.Count(3, 1) {
		lengths = append(lengths, n)
	}
	lengths = append(lengths, 49, 97, 121, 210, 343, 512, 625, 1000, 1021, 1024, 1458, 2048, 2187, 2310, 3125, 4096)
	for i, n := range lengths {
		for j, c := range allTypes {
			if (n > 34 || !alltests.On()) && (i+j)%3 > 0 { // each type has a third of them
				continue
			}
			b.simple(r, c.t, c.d, 1+r.IntN(3), n)
		}
	}
}

// TestDimensions: two and three dimensions, with odd extents, primes, ones, and several
// passes in each.
func TestDimensions(t *testing.T) {
	alltests.Only(t, "transforms in two and three dimensions")
	b := start(t)
	r := rand.New(rand.NewPCG(3, 4))
	for i, n := range [][]int{{1, 1}, {4, 1}, {1, 6}, {8, 8}, {3, 5}, {17, 12}, {12, 17}, {600, 4}, {5, 1100}, {2, 3, 4}, {1, 4, 1}, {11, 2, 9}, {6, 7, 8}, {4, 300, 3}, {270, 2, 5}} {
		for j, c := range allTypes {
			if volume := n[0] * n[1]; (volume > 100 || !alltests.On()) && (i+j)%2 > 0 {
				continue
			}
			b.simple(r, c.t, c.d, 1+(i+j)%3, n...)
		}
	}
}

// TestLayouts: random advanced layouts; some transforms of complex numbers are in place, with
// the same layout on both sides. What lies between elements keeps its value.
func TestLayouts(t *testing.T) {
	b := start(t)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 40 {
		c := allTypes[i%len(allTypes)]
		k := kinds[c.t]
		n := make([]int, 1+r.IntN(3))
		for d := range n {
			n[d] = 1 + r.IntN([]int{700, 24, 9}[len(n)-1])
		}
		batch := 1 + r.IntN(4)
		var arrays [2]array
		var layouts [2]fft.Layout
		for i, other := range []bool{k.realTo, k.realFrom} {
			need := append([]int(nil), n...)
			if other {
				need[len(n)-1] = n[len(n)-1]/2 + 1
			}
			embed := make([]int, len(n))
			for d := range need {
				embed[d] = need[d] + r.IntN(3)
			}
			step := 1 + r.IntN(3)
			a := array{strides: make([]int, len(n)+1)}
			stride := step
			for d := len(n); d > 0; d-- {
				a.strides[d] = stride
				stride *= embed[d-1]
			}
			dist := stride + r.IntN(5)
			if r.IntN(3) == 0 { // transforms that lie among one another
				step, dist = batch, 1
				for d := range a.strides {
					a.strides[d] = a.strides[d] / a.strides[len(n)] * batch
				}
			}
			a.strides[0] = dist
			last := append([]int{batch - 1}, need...)
			for d := 1; d < len(last); d++ {
				last[d]--
			}
			a.size = a.offset(last) + 1
			arrays[i], layouts[i] = a, fft.Layout{Embed: wide(embed), Stride: int64(step), Dist: int64(dist)}
		}
		inPlace := !k.realFrom && !k.realTo && i/len(allTypes)%2 == 1
		if inPlace {
			arrays[1], layouts[1] = arrays[0], layouts[0]
		}
		b.run(r, fft.Shape{Type: c.t, N: wide(n), Batch: int64(batch), Layouts: &layouts}, c.d, n, arrays[0], arrays[1], inPlace)
	}
}

// TestLarge: lengths of three passes, against a transform that halves the problem.
func TestLarge(t *testing.T) {
	b := start(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		t fft.Type
		n int
	}{{fft.Z2Z, 1 << 17}, {fft.C2C, 1 << 19}} {
		k := kinds[c.t]
		if !k.double && !alltests.On() {
			continue
		}
		x, parts := make([]complex128, c.n), make([]float64, 2*c.n)
		for i := range x {
			parts[2*i], parts[2*i+1] = float64(r.Float32()), float64(r.Float32())-0.5
			x[i] = complex(parts[2*i], parts[2*i+1])
			if !k.double {
				x[i] = complex(float64(float32(parts[2*i])), float64(float32(parts[2*i+1])))
			}
		}
		at := b.put(k.double, parts)
		b.want("execute", b.plan(fft.Shape{Type: c.t, N: []int64{int64(c.n)}, Batch: 1}).Execute(c.t, at, at, fft.Forward), fft.Success)
		far, norm := 0.0, 0.0
		got := b.get(k.double, at, 2*c.n)
		for i, w := range quick(x, -1) {
			v := complex(got[2*i], got[2*i+1])
			far += real((v - w) * cmplx.Conj(v-w))
			norm += real(w * cmplx.Conj(w))
		}
		if e, most := math.Sqrt(far/norm), bound(k.double, []int{c.n}); !(e <= most) {
			t.Errorf("%s %d: relative error %.3g, want %.3g at most", k.name, c.n, e, most)
		} else {
			t.Logf("%s %d: relative error %.3g of %.3g", k.name, c.n, e, most)
		}
	}
}

// TestStreamsAndGraphs: plans execute in their stream, in the order of its work, and can be
// captured: launching the graph twice transforms twice.
func TestStreamsAndGraphs(t *testing.T) {
	const n = 13 * 64 // Bluestein's method, with a work area
	b := start(t)
	stream, err := b.StreamCreate(1, 0)
	b.Must(err)
	forward := b.plan(fft.Shape{Type: fft.C2C, N: []int64{n}, Batch: 1})
	b.want("stream", forward.SetStream(stream), fft.Success)
	parts := make([]float64, 2*n)
	for i := range parts {
		parts[i] = float64(i%7) - 3
	}
	at := b.put(false, parts)

	b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
	b.want("capture", forward.Execute(fft.C2C, at, at, fft.Forward), fft.Success)
	graph, err := b.EndCapture(stream)
	b.Must(err)
	if nodes, err := b.GraphNodes(graph, false); err != cuda.Success || len(nodes) < 2 {
		t.Fatalf("the graph has %d nodes (%v), want two kernels at least", len(nodes), err)
	}
	if got := b.get(false, at, 2*n); got[0] != parts[0] || got[2*n-1] != parts[2*n-1] {
		t.Fatal("the capture executed the plan")
	}

	exec, err := b.GraphInstantiate(graph, 0)
	b.Must(err)
	b.Must(b.ExecLaunch(exec, stream))
	b.Must(b.ExecLaunch(exec, stream))
	b.Must(b.StreamSynchronize(stream))
	// A transform of a transform is the reversed input, times n.
	for i, v := range b.get(false, at, 2*n) {
		j := (n - i/2) % n
		w := parts[2*j+i%2] * n
		if math.Abs(v-w) > 1e-5*n*4 {
			t.Fatalf("part %d is %v, want %v", i, v, w)
		}
	}
}

// layout is a shape with the same layout on both sides.
func layout(l fft.Layout, batch int64, n ...int64) fft.Shape {
	return fft.Shape{Type: fft.C2C, N: n, Batch: batch, Layouts: &[2]fft.Layout{l, l}}
}

// TestTypes: the types of elements that transforms have, those that cuFFT has and this
// library lacks, and those that no transform has.
func TestTypes(t *testing.T) {
	const real32, real64, real16, complex32, complex64, complex16, complexBrain = 0, 1, 2, 4, 5, 6, 15
	for _, c := range []struct {
		from, to, execution int32
		t                   fft.Type
		want                fft.Result
	}{
		{complex32, complex32, complex32, fft.C2C, fft.Success},
		{real64, complex64, complex64, fft.D2Z, fft.Success},
		{complex32, real32, complex32, fft.C2R, fft.Success},
		{complex16, complex16, complex16, 0, fft.NotSupported},
		{real16, complex16, complex16, 0, fft.NotSupported},
		{complexBrain, complexBrain, complexBrain, 0, fft.NotSupported},
		{real32, real32, complex32, 0, fft.InvalidType},
		{real16, real16, complex16, 0, fft.InvalidType},
		{complex32, complex64, complex64, 0, fft.InvalidType},
		{99, complex32, complex32, 0, fft.InvalidType},
	} {
		b := start(t)
		typ, r := fft.TypeOf(b.Thread, c.from, c.to, c.execution)
		if typ != c.t || r != c.want {
			t.Errorf("from %d to %d in %d: %#x, %v; want %#x, %v", c.from, c.to, c.execution, typ, r, c.t, c.want)
		}
		if named := strings.Contains(b.Log.String(), "CUFFT_NOT_SUPPORTED"); named != (c.want == fft.NotSupported) {
			t.Errorf("from %d to %d in %d: the message is %q", c.from, c.to, c.execution, b.Log)
		}
	}
}

// TestNoRoom: a plan whose tables do not fit into the device's memory is not made.
func TestNoRoom(t *testing.T) {
	b := start(t)
	free, _, err := b.MemInfo()
	b.Must(err)
	_, err = b.Malloc(free - 4096)
	b.Must(err)
	h, r := fft.Create(b.Thread)
	b.want("create", r, fft.Success)
	p, _ := fft.Of(b.Thread, h)
	_, r = p.Make(fft.Shape{Type: fft.C2C, N: []int64{2048}, Batch: 1})
	b.want("make", r, fft.AllocFailed)
	b.want("a shorter one", func() fft.Result {
		_, r := p.Make(fft.Shape{Type: fft.C2C, N: []int64{16}, Batch: 1})
		return r
	}(), fft.Success)
}

// TestReset: a reset of the device ends all plans. Their memory is gone, and is not freed
// where the program may have its own.
func TestReset(t *testing.T) {
	b := start(t)
	h, r := fft.Create(b.Thread)
	b.want("create", r, fft.Success)
	p, _ := fft.Of(b.Thread, h)
	_, r = p.Make(fft.Shape{Type: fft.C2C, N: []int64{4096}, Batch: 1})
	b.want("make", r, fft.Success)
	b.Must(b.Reset())
	var own []uint64
	for range 4 {
		own = append(own, libstest.Put(b.GPU, make([]byte, 4096)))
	}
	_, r = fft.Of(b.Thread, h)
	b.want("a plan of before", r, fft.InvalidPlan)
	b.want("destroy", fft.Destroy(b.Thread, h), fft.InvalidPlan)
	for _, at := range own {
		b.Must(b.Free(at))
	}
}

// TestOtherDevice: a plan works on its device only, and can be destroyed from any.
func TestOtherDevice(t *testing.T) {
	g := libstest.New(t, "rtx-2060", func(o *cuda.Options) { o.Devices = 2 })
	want := func(what string, got, want fft.Result) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	shape := fft.Shape{Type: fft.C2C, N: []int64{16}, Batch: 1}
	free, _, _ := g.MemInfo()
	h, r := fft.Create(g.Thread)
	want("create", r, fft.Success)
	p, _ := fft.Of(g.Thread, h)
	g.Must(g.SetDevice(1))
	_, r = p.Make(shape)
	want("make on another device", r, fft.InvalidDevice)
	g.Must(g.SetDevice(0))
	_, r = p.Make(shape)
	want("make", r, fft.Success)
	data := libstest.Put(g, make([]complex64, 16))
	want("execute", p.Execute(fft.C2C, data, data, fft.Forward), fft.Success)
	g.Must(g.SetDevice(1))
	other := libstest.Put(g, make([]complex64, 16))
	want("execute on another device", p.Execute(fft.C2C, other, other, fft.Forward), fft.InvalidDevice)
	want("destroy from another device", fft.Destroy(g.Thread, h), fft.Success)
	g.Must(g.SetDevice(0))
	g.Must(g.Free(data))
	if after, _, _ := g.MemInfo(); after != free {
		t.Errorf("%d bytes are free, %d before", after, free)
	}
}

// TestDestroyInCapture: a plan that cannot be freed during a capture can be freed after it,
// with all of its memory.
func TestDestroyInCapture(t *testing.T) {
	b := start(t)
	stream, err := b.StreamCreate(1, 0)
	b.Must(err)
	before, _, err := b.MemInfo()
	b.Must(err)
	h, r := fft.Create(b.Thread)
	b.want("create", r, fft.Success)
	p, _ := fft.Of(b.Thread, h)
	_, r = p.Make(fft.Shape{Type: fft.C2C, N: []int64{4096}, Batch: 1})
	b.want("make", r, fft.Success)
	b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
	b.want("destroy during a capture", fft.Destroy(b.Thread, h), fft.ExecFailed)
	if _, err := b.EndCapture(stream); err == cuda.Success {
		t.Error("the capture is still valid")
	}
	b.want("destroy", fft.Destroy(b.Thread, h), fft.Success)
	b.want("second end", fft.Destroy(b.Thread, h), fft.InvalidPlan)
	if after, _, _ := b.MemInfo(); after != before {
		t.Errorf("%d bytes are free, %d were before the plan", after, before)
	}
}

// TestCodes: the codes of the documentation for calls that are wrong.
func TestCodes(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		name string
		s    fft.Shape
		want fft.Result
	}{
		{"a type that is none", fft.Shape{Type: 1, N: []int64{8}, Batch: 1}, fft.InvalidType},
		{"no dimension", fft.Shape{Type: fft.C2C, Batch: 1}, fft.InvalidValue},
		{"four dimensions", fft.Shape{Type: fft.C2C, N: []int64{2, 2, 2, 2}, Batch: 1}, fft.InvalidValue},
		{"a length of 0", fft.Shape{Type: fft.C2C, N: []int64{0}, Batch: 1}, fft.InvalidSize},
		{"a negative length", fft.Shape{Type: fft.C2C, N: []int64{8, -8}, Batch: 1}, fft.InvalidSize},
		{"no batch", fft.Shape{Type: fft.C2C, N: []int64{8}}, fft.InvalidSize},
		{"more elements than fit", fft.Shape{Type: fft.C2C, N: []int64{1 << 30, 1 << 30}, Batch: 1}, fft.InvalidSize},
		{"more memory than there is", fft.Shape{Type: fft.C2C, N: []int64{1 << 30}, Batch: 64}, fft.AllocFailed},
		{"a long prime", fft.Shape{Type: fft.C2C, N: []int64{math.MaxInt32}, Batch: 1}, fft.NotSupported},
		{"no stride", fft.Shape{Type: fft.C2C, N: []int64{8}, Batch: 1, Layouts: &[2]fft.Layout{{Embed: []int64{8}}, {Embed: []int64{8}, Stride: 1}}}, fft.InvalidValue},
		{"a stride that leads beyond all memory", layout(fft.Layout{Embed: []int64{2, math.MaxInt32, math.MaxInt32}, Stride: 1 << 48, Dist: 1}, 1, 2, 2, 2), fft.InvalidSize},
		{"extents that do", layout(fft.Layout{Embed: []int64{2, math.MaxInt32, math.MaxInt32}, Stride: 1, Dist: 1}, 1, 2, 2, 2), fft.InvalidSize},
		{"a batch that does", layout(fft.Layout{Embed: []int64{8}, Stride: 1, Dist: 1 << 40}, 1<<20, 8), fft.InvalidSize},
		{"an extent of 0", fft.Shape{Type: fft.C2C, N: []int64{8, 8}, Batch: 1, Layouts: &[2]fft.Layout{{Embed: []int64{8, 0}, Stride: 1}, {Embed: []int64{8, 8}, Stride: 1}}}, fft.InvalidValue},
	} {
		h, _ := fft.Create(b.Thread)
		p, _ := fft.Of(b.Thread, h)
		_, r := p.Make(c.s)
		b.want(c.name, r, c.want)
		b.want(c.name+": execution", p.Execute(c.s.Type, 1<<45, 1<<45, fft.Forward), fft.InvalidPlan)
		b.want(c.name+": end", fft.Destroy(b.Thread, h), fft.Success)
		b.want(c.name+": second end", fft.Destroy(b.Thread, h), fft.InvalidPlan)
	}
	if !strings.Contains(b.Log.String(), "CUFFT_NOT_SUPPORTED") {
		t.Errorf("no message names the length that is not supported: %q", b.Log)
	}
	at := libstest.Put(b.GPU, make([]float32, 2*4096*3))
	small, large := fft.Shape{Type: fft.C2C, N: []int64{16}, Batch: 1}, fft.Shape{Type: fft.C2C, N: []int64{4096}, Batch: 3}
	p := b.plan(small)
	_, r := p.Make(small)
	b.want("a plan that is made twice", r, fft.InvalidPlan)
	b.want("another type", p.Execute(fft.R2C, at, at, fft.Forward), fft.InvalidType)
	b.want("no direction", p.Execute(fft.C2C, at, at, 0), fft.InvalidValue)
	b.want("no input", p.Execute(fft.C2C, 0, at, fft.Forward), fft.InvalidValue)
	b.want("no output", p.Execute(fft.C2C, at, 0, fft.Forward), fft.InvalidValue)
	_, r = fft.Of(b.Thread, 0)
	b.want("no plan", r, fft.InvalidPlan)

	// A work area of the program: without one there is an error, with one of the stated
	// size there is no fault.
	h, _ := fft.Create(b.Thread)
	p, _ = fft.Of(b.Thread, h)
	_, r = p.Size()
	b.want("the size of nothing", r, fft.InvalidPlan)
	b.want("no allocation", p.SetAutomatic(false), fft.Success)
	size, r := p.Make(large)
	b.want("make", r, fft.Success)
	if need, r := fft.Need(b.Thread, &large); size != 3*4096*8 || need != size || r != fft.Success {
		t.Errorf("the work area has %d bytes, or %d, want those of the elements, %d", size, need, 3*4096*8)
	}
	b.want("no work area", p.Execute(fft.C2C, at, at, fft.Forward), fft.NoWorkspace)
	b.want("work area", p.SetArea(libstest.Put(b.GPU, make([]byte, size))), fft.Success)
	b.want("with a work area", p.Execute(fft.C2C, at, at, fft.Forward), fft.Success)
	b.Must(b.Synchronize())
	b.want("end", fft.Destroy(b.Thread, h), fft.Success)

	// A transform that needs no work area states a small one, and does without.
	h, _ = fft.Create(b.Thread)
	p, _ = fft.Of(b.Thread, h)
	b.want("no allocation", p.SetAutomatic(false), fft.Success)
	size, r = p.Make(small)
	stated, r2 := p.Size()
	if need, r3 := fft.Need(b.Thread, &small); size != 512 || stated != size || need != size || r != fft.Success || r2 != fft.Success || r3 != fft.Success {
		t.Errorf("a small work area has %d bytes, or %d, or %d", size, stated, need)
	}
	b.want("no area", p.Execute(fft.C2C, at, at, fft.Forward), fft.Success)
	b.Must(b.Synchronize())
	b.want("end", fft.Destroy(b.Thread, h), fft.Success)
}

// TestThreads: a timing run has the same cycles and results for every number of threads.
func TestThreads(t *testing.T) {
	var first []float32
	var cycles uint64
	for _, threads := range []int{1, 3} {
		b := &bench{libstest.New(t, "rtx-2060", func(o *cuda.Options) { o.Timing, o.Threads = true, threads }), t}
		values := make([]float32, 2*5000)
		for i := range values {
			values[i] = float32(i*i%101) - 50
		}
		at := libstest.Put(b.GPU, values)
		b.want("execute", b.plan(fft.Shape{Type: fft.C2C, N: []int64{5000}, Batch: 1}).Execute(fft.C2C, at, at, fft.Forward), fft.Success)
		got := libstest.Get[float32](b.GPU, at, len(values))
		took := b.Runtime.Result().Cycles
		if first == nil {
			first, cycles = got, took
		} else if !slices.Equal(first, got) || took != cycles || took == 0 {
			t.Errorf("results or cycles depend on the number of threads: %d and %d cycles", cycles, took)
		}
	}
}
