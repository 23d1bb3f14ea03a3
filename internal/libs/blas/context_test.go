package blas_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// perThread is the stream that each thread has for itself (cudaStreamPerThread).
const perThread = 2

// TestGraphs: what graphs of one context, captured in one stream, compute at the same time in
// several streams is their own, as is what calls in the stream of the capture compute
// meanwhile.
func TestGraphs(t *testing.T) {
	const n = 20000 // two stages
	sum := func(b *bench, v float32) (run func() blas.Status, get func() float32) {
		x, to := libstest.Put(b.GPU, repeated(v, n)), libstest.Put(b.GPU, []float32{0})
		p := blas.Problem{N: n, A: blas.Matrix{At: x, Type: blas.F32, LD: 1}, C: blas.Matrix{At: to, Type: blas.F32}}
		return func() blas.Status { return b.Asum(p) }, func() float32 { return libstest.Get[float32](b.GPU, to, 1)[0] / n }
	}
	solid := func(b *bench, v float32) (run func() blas.Status, get func() float32) {
		const n = 300
		one := libstest.Put(b.GPU, []float32{1})
		x := libstest.Put(b.GPU, repeated(v, n))
		// The unit matrix, without bands.
		p := blas.Problem{N: n, Storage: blas.Banded, Diag: blas.Unit, A: blas.Matrix{At: one, Type: blas.F32, LD: 1}, C: blas.Matrix{At: x, Type: blas.F32, LD: 1}}
		return func() blas.Status { return b.Trmv(p) }, func() float32 { return libstest.Get[float32](b.GPU, x, n)[n-1] }
	}
	for name, kind := range map[string]func(*bench, float32) (func() blas.Status, func() float32){"asum": sum, "trmv": solid} {
		for _, direct := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/direct=%v", name, direct), func(t *testing.T) {
				b := startWith(t, "rtx-2060", func(o *cuda.Options) { o.Timing = true })
				var streams [2]uint64
				for i := range streams {
					s, err := b.StreamCreate(1, 0)
					b.Must(err)
					streams[i] = s
				}
				b.want("stream", b.SetStream(streams[0]), blas.Success)
				b.want("mode", b.SetPointers(blas.OnDevice), blas.Success)
				var launch [2]func()
				var get [2]func() float32
				for i := range launch {
					var run func() blas.Status
					run, get[i] = kind(b, float32(1+i))
					if direct && i == 0 {
						launch[i] = func() { b.want(name, run(), blas.Success) }
						continue
					}
					b.Must(b.BeginCapture(streams[0], cuda.CaptureGlobal))
					b.want(name, run(), blas.Success)
					graph, err := b.EndCapture(streams[0])
					b.Must(err)
					exec, err := b.GraphInstantiate(graph, 0)
					b.Must(err)
					launch[i] = func() { b.Must(b.ExecLaunch(exec, streams[i])) }
				}
				for _, f := range launch {
					f()
				}
				b.Must(b.Synchronize())
				for i := range get {
					if got := get[i](); got != float32(1+i) {
						t.Errorf("stream %d has %v, want %v", i, got, 1+i)
					}
				}
			})
		}
	}
}

func repeated(v float32, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// TestThreads: threads that share a context get their own results, in streams of their own.
func TestThreads(t *testing.T) {
	b := start(t, "rtx-2060")
	h, s := blas.Create(b.Thread)
	b.want("create", s, blas.Success)
	const threads, calls, n = 4, 100, 3000
	var wait sync.WaitGroup
	for i := range threads {
		v := float32(i + 1)
		x := libstest.Put(b.GPU, repeated(v, n))
		result := new(float32)
		to := libstest.At(b.GPU, result)
		thread := b.Runtime.Thread(uint64(10 + i))
		wait.Go(func() {
			for range calls {
				c, s := blas.Of(thread, h)
				if s == blas.Success {
					s = c.SetStream(perThread)
				}
				if s == blas.Success {
					s = c.Asum(blas.Problem{N: n, A: blas.Matrix{At: x, Type: blas.F32, LD: 1}, C: blas.Matrix{At: to, Type: blas.F32}})
				}
				if s != blas.Success || *result != v*n {
					t.Errorf("thread %d: %s, %v, want %v", i, s.Name(), *result, v*n)
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestStreamsEnd: what calls take in a stream, they give back.
func TestStreamsEnd(t *testing.T) {
	b := start(t, "rtx-2060")
	x := libstest.Put(b.GPU, repeated(1, 5000))
	to := libstest.At(b.GPU, new(float32))
	call := func() {
		stream, err := b.StreamCreate(0, 0)
		b.Must(err)
		b.want("stream", b.SetStream(stream), blas.Success)
		b.want("nrm2", b.Nrm2(blas.Problem{N: 5000, A: blas.Matrix{At: x, Type: blas.F32, LD: 1}, C: blas.Matrix{At: to, Type: blas.F32}}), blas.Success)
		b.Must(b.StreamDestroy(stream))
	}
	call() // loads the kernels
	before, _, err := b.MemInfo()
	b.Must(err)
	for range 100 {
		call()
	}
	after, _, err := b.MemInfo()
	b.Must(err)
	if after != before {
		t.Errorf("after 100 streams, %d KiB less are free", (before-after)>>10)
	}
}

// TestReset: contexts outlive a reset of the device, but not what they have there: they do
// not use it or free it.
func TestReset(t *testing.T) {
	b := start(t, "rtx-2060")
	h, s := blas.Create(b.Thread)
	b.want("create", s, blas.Success)
	of := func() blas.Call {
		c, s := blas.Of(b.Thread, h)
		b.want("handle", s, blas.Success)
		return c
	}
	result := new(float32)
	norm := func() {
		t.Helper()
		x := libstest.Put(b.GPU, []float32{3, 4})
		*result = 0
		c := of()
		b.want("nrm2", c.Nrm2(blas.Problem{N: 2, A: blas.Matrix{At: x, Type: blas.F32, LD: 1}, C: blas.Matrix{At: libstest.At(b.GPU, result), Type: blas.F32}}), blas.Success)
		if *result != 5 {
			t.Errorf("the norm of {3, 4} is %v", *result)
		}
	}
	stream, err := b.StreamCreate(0, 0)
	b.Must(err)
	c := of()
	b.want("stream", c.SetStream(stream), blas.Success)
	norm()
	// A graph has memory of the context.
	device := of()
	device.Pointers = blas.OnDevice
	x, to := libstest.Put(b.GPU, repeated(1, 5000)), libstest.Put(b.GPU, []float32{0})
	b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
	b.want("asum", device.Asum(blas.Problem{N: 5000, A: blas.Matrix{At: x, Type: blas.F32, LD: 1}, C: blas.Matrix{At: to, Type: blas.F32}}), blas.Success)
	_, err = b.EndCapture(stream)
	b.Must(err)

	b.Must(b.Reset())
	norm()
	// The program's new memory has the addresses of the old.
	var own []uint64
	for range 16 {
		own = append(own, libstest.Put(b.GPU, repeated(7, 16<<10)))
	}
	b.want("destroy", blas.Destroy(b.Thread, h), blas.Success)
	for _, at := range own {
		if got := libstest.Get[float32](b.GPU, at, 1)[0]; got != 7 {
			t.Errorf("memory of the program has %v, want 7", got)
		}
	}
	if b.Log.Len() > 0 {
		t.Errorf("said: %s", b.Log)
	}
}

// TestOtherReset: a context keeps its stream when another device is reset, and loses it when
// its own is, whichever device is current.
func TestOtherReset(t *testing.T) {
	g := libstest.New(t, "rtx-2060", func(o *cuda.Options) { o.Devices = 2 })
	h, s := blas.Create(g.Thread)
	if s != blas.Success {
		t.Fatal(s)
	}
	stream, err := g.StreamCreate(0, 0)
	g.Must(err)
	c, _ := blas.Of(g.Thread, h)
	c.SetStream(stream)
	for _, reset := range []int{1, 0} {
		want := map[int]uint64{0: 0, 1: stream}[reset]
		g.Must(g.SetDevice(reset))
		g.Must(g.Reset())
		for d := range 2 {
			g.Must(g.SetDevice(d))
			if c, s := blas.Of(g.Thread, h); c.Stream != want || s != blas.Success {
				t.Errorf("device %d was reset, %d is current: stream %#x, want %#x; %v", reset, d, c.Stream, want, s)
			}
		}
	}
}

// TestManyColumns: results with more columns than a grid has tiles of.
func TestManyColumns(t *testing.T) {
	alltests.Only(t, "matrices of two million columns")
	const n, m = 2_200_000, 2
	check := []int{0, 65535*32 - 1, 65535 * 32, n - 1} // columns on both sides of the edge
	b := start(t, "rtx-2060")
	one := []float32{1}
	at := libstest.At(b.GPU, &one[0])
	wide := func() []float32 {
		list := make([]float32, m*n)
		for j := range n {
			list[m*j], list[m*j+1] = float32(j%1000), -float32(j%1000)
		}
		return list
	}
	row := make([]float32, n)
	for j := range row {
		row[j] = float32(j % 1000)
	}
	column := libstest.Put(b.GPU, []float32{1, -1})
	rows, matrix := libstest.Put(b.GPU, row), libstest.Put(b.GPU, wide())
	unit := libstest.Put(b.GPU, []float32{1, 0, 0, 1})
	f32 := func(at uint64, ld int64) blas.Matrix { return blas.Matrix{At: at, Type: blas.F32, LD: ld} }
	zero := []float32{0}
	none := libstest.At(b.GPU, &zero[0])
	for name, f := range map[string]func(c blas.Matrix) blas.Status{
		"gemm": func(c blas.Matrix) blas.Status {
			return b.Gemm(blas.Gemm{M: m, N: n, K: 1, Alpha: at, Beta: none, A: f32(column, m), B: f32(rows, 1), C: c, Batch: 1, Compute: blas.Compute32F})
		},
		"gemm, B transposed": func(c blas.Matrix) blas.Status {
			return b.Gemm(blas.Gemm{M: m, N: n, K: 1, OpB: blas.T, Alpha: at, Beta: none, A: f32(column, m), B: f32(rows, n), C: c, Batch: 1, Compute: blas.Compute32F})
		},
		"ger": func(c blas.Matrix) blas.Status {
			return b.Rank(blas.Problem{M: m, N: n, Alpha: at, Scalar: blas.F32, A: f32(column, 1), B: f32(rows, 1), C: c})
		},
		"symm": func(c blas.Matrix) blas.Status {
			return b.Symm(blas.Problem{Kind: blas.Symmetric, M: m, N: n, Alpha: at, Beta: none, Scalar: blas.F32, A: f32(unit, m), B: f32(matrix, m), C: c})
		},
		"geam": func(c blas.Matrix) blas.Status {
			return b.Geam(blas.Problem{M: m, N: n, Alpha: at, Beta: none, Scalar: blas.F32, A: f32(matrix, m), B: f32(matrix, m), C: c})
		},
		"dgmm": func(c blas.Matrix) blas.Status {
			return b.Dgmm(blas.Problem{Side: blas.Right, M: m, N: n, A: f32(libstest.Put(b.GPU, repeatedPair(n)), m), B: f32(rows, 1), C: c})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := libstest.Put(b.GPU, make([]float32, m*n))
			b.want(name, f(f32(c, m)), blas.Success)
			got := libstest.Get[float32](b.GPU, c, m*n)
			for _, j := range check {
				if want := float32(j % 1000); got[m*j] != want || got[m*j+1] != -want {
					t.Errorf("column %d is %v, want [%v %v]", j, got[m*j:m*j+m], want, -want)
				}
			}
		})
	}
}

// repeatedPair is a matrix of 1 and -1 in each column.
func repeatedPair(n int) []float32 {
	list := make([]float32, 2*n)
	for j := range n {
		list[2*j], list[2*j+1] = 1, -1
	}
	return list
}

// TestParts: grids cover all columns of all members of a batch once, with at most 65535
// tiles and members.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		n, width, batch int64
		want            []blas.Part
	}{
		{0, 32, 5, nil},
		{5, 32, 0, nil},
		{1, 1, 65536, []blas.Part{{0, 1, 0, 65535}, {0, 1, 65535, 1}}},
		{65535 * 32, 32, 1, []blas.Part{{0, 65535 * 32, 0, 1}}},
		{65535*32 + 1, 32, 2, []blas.Part{{0, 65535 * 32, 0, 2}, {65535 * 32, 1, 0, 2}}},
		{math.MaxInt32, 1 << 20, 1, []blas.Part{{0, math.MaxInt32, 0, 1}}},
	} {
		if got := slices.Collect(blas.Parts(c.n, c.width, c.batch)); !slices.Equal(got, c.want) {
			t.Errorf("%d columns in tiles of %d, %d members: %v, want %v", c.n, c.width, c.batch, got, c.want)
		}
	}
}

// TestNoTerms: sums without terms read neither A and B nor their lists, which need not exist.
func TestNoTerms(t *testing.T) {
	for _, c := range []struct {
		gpu     string
		t       blas.Type
		compute blas.Compute
		m, n    int64
	}{
		{"rtx-2060", blas.F32, blas.Compute32F, 4, 1}, {"rtx-2060", blas.F32, blas.Compute32F, 1, 4}, {"rtx-2060", blas.F32, blas.Compute32F, 4, 2},
		{"rtx-2060", blas.F16, blas.Compute32F, 4, 2}, {"rtx-3070", blas.F16, blas.Compute32F, 4, 2},
	} {
		b := start(t, c.gpu)
		at, _ := b.store(c.t, []complex128{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8})
		factors := []float32{1, 2}
		b.want("gemm", b.Gemm(blas.Gemm{
			M: c.m, N: c.n, Batch: 2, Compute: c.compute, Alpha: libstest.At(b.GPU, &factors[0]), Beta: libstest.At(b.GPU, &factors[1]),
			A: blas.Matrix{Type: c.t, LD: c.m, Listed: true}, B: blas.Matrix{Type: c.t, LD: 1, Listed: true},
			C: b.listed(blas.Matrix{At: at, Type: c.t, LD: c.m, Stride: 8}, 2),
		}), blas.Success)
		got := b.load(c.t, at, 16)
		for i := range got {
			want := complex(float64(i%8+1), 0)
			if int64(i%8) < c.m*c.n {
				want *= 2
			}
			if got[i] != want {
				t.Errorf("%v, %dx%d: element %d is %v, want %v", c, c.m, c.n, i, got[i], want)
			}
		}
	}
}

// TestBytes: sizes of memory do not overflow.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		want  int64
	}{
		{nil, 1}, {[]int64{3, 0, 5}, 0}, {[]int64{3, 4, 5}, 60}, {[]int64{1 << 31, 1 << 31}, 1 << 62}, {[]int64{1 << 32, 1 << 31}, math.MaxInt64},
		{[]int64{1 << 31, 1 << 31, 1 << 31, 4}, math.MaxInt64},
	} {
		if got := blas.Bytes(c.sizes...); got != c.want {
			t.Errorf("%v: %d, want %d", c.sizes, got, c.want)
		}
	}
}
