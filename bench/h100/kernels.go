package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heddle-sim/heddle"
)

// program holds every kernel, compiled from the CUDA source beside it.
const program = "examples/polybench/polybench.ptx"

// gpu is the machine that the measured one is compared with.
const gpu = "h100-pcie"

// alpha and beta are the factors of the kernels that take them.
const alpha, beta = 1.5, 1.25

// rowsOfBlock is the height of a block in two-dimensional launches. PolyBench keeps
// it at 8 for every width.
const rowsOfBlock = 8

// machine runs the launches of one case on a separate GPU.
type machine struct {
	gpu    *heddle.GPU
	n      int // matrices are n x n
	block  int // width of a block
	cycles uint64
	insts  uint64
	err    error
	random *rand.Rand
}

func newMachine(p *heddle.Program, n, block int, set ...string) (*machine, error) {
	opts := []heddle.Option{heddle.Machine(gpu), heddle.Threads(1)}
	for _, s := range set {
		opts = append(opts, heddle.Set(s))
	}
	g, err := heddle.New(p, opts...)
	return &machine{gpu: g, n: n, block: block, random: rand.New(rand.NewPCG(1, 2))}, err
}

// buffer is an array on the device and its initial contents.
type buffer struct {
	ptr  heddle.Ptr
	host []float32
}

// fill allocates count numbers from 0 to 1.
func (m *machine) fill(name string, count int) buffer {
	b := buffer{host: make([]float32, count)}
	for i := range b.host {
		b.host[i] = m.random.Float32()
	}
	if m.err == nil {
		b.ptr, m.err = heddle.Upload(m.gpu, name, b.host)
	}
	return b
}

func (m *machine) matrix(name string) buffer { return m.fill(name, m.n*m.n) }
func (m *machine) vector(name string) buffer { return m.fill(name, m.n) }

func (m *machine) launch(kernel string, grid, block heddle.Dim3, args ...any) {
	if m.err != nil {
		return
	}
	for i, a := range args {
		if b, ok := a.(buffer); ok {
			args[i] = b.ptr
		}
	}
	var s heddle.Stats
	s, m.err = m.gpu.Launch(context.Background(), kernel, grid, block, args...)
	m.cycles += s.Cycles
	m.insts += s.WarpInstructions
}

// flat is a launch with one thread per row, square one with one thread per element.
func (m *machine) flat(kernel string, args ...any) {
	m.launch(kernel, heddle.Dim(over(m.n, m.block)), heddle.Dim(uint32(m.block)), append(args, m.n)...)
}

func (m *machine) square(kernel string, args ...any) {
	m.launch(kernel, heddle.Dim(over(m.n, m.block), over(m.n, rowsOfBlock)), heddle.Dim(uint32(m.block), rowsOfBlock), append(args, m.n)...)
}

func over(n, by int) uint32 { return uint32((n + by - 1) / by) }

// result is an array on the device and its expected contents.
type result struct {
	buffer
	want []float64
}

// benchmark is a program of the suite: its launches, and the expected results,
// computed on the host in double precision.
type benchmark struct {
	name string
	run  func(m *machine) []result
	// steps is roughly the total number of inner-loop iterations of its warps, given
	// the number of warps of an n x n launch and of a launch with n threads.
	steps func(n, square, flat float64) float64
}

var benchmarks = []benchmark{
	{"2dconv", func(m *machine) []result {
		a, b := m.matrix("a"), m.matrix("b")
		m.square("conv2d", a, b)
		want := wide(b.host)
		w := [9]float64{0.2, -0.3, 0.4, 0.5, 0.6, 0.7, -0.8, -0.9, 0.1}
		for i := 1; i < m.n-1; i++ {
			for j := 1; j < m.n-1; j++ {
				sum := 0.0
				for k, f := range w {
					sum += f * float64(a.host[(i+k/3-1)*m.n+j+k%3-1])
				}
				want[i*m.n+j] = sum
			}
		}
		return []result{{b, want}}
	}, func(_, square, _ float64) float64 { return 3 * square }},
	{"2mm", func(m *machine) []result {
		a, b, c, d, e := m.matrix("a"), m.matrix("b"), m.matrix("c"), m.matrix("d"), m.matrix("e")
		m.square("mm", a, b, c)
		m.square("mm", c, d, e)
		ab := product(wide(a.host), wide(b.host), m.n)
		return []result{{c, ab}, {e, product(ab, wide(d.host), m.n)}}
	}, func(n, square, _ float64) float64 { return 2 * n * square }},
	{"3mm", func(m *machine) []result {
		a, b, c, d := m.matrix("a"), m.matrix("b"), m.matrix("c"), m.matrix("d")
		e, f, g := m.matrix("e"), m.matrix("f"), m.matrix("g")
		m.square("mm", a, b, e)
		m.square("mm", c, d, f)
		m.square("mm", e, f, g)
		ab, cd := product(wide(a.host), wide(b.host), m.n), product(wide(c.host), wide(d.host), m.n)
		return []result{{e, ab}, {f, cd}, {g, product(ab, cd, m.n)}}
	}, func(n, square, _ float64) float64 { return 3 * n * square }},
	{"atax", func(m *machine) []result {
		a, x, y, t := m.matrix("a"), m.vector("x"), m.vector("y"), m.vector("t")
		m.flat("times", a, x, t)
		m.flat("transposed_times", a, t, y)
		ax := wide(t.host)
		m.addTimes(ax, a, wide(x.host), false)
		want := wide(y.host)
		m.addTimes(want, a, ax, true)
		return []result{{t, ax}, {y, want}}
	}, func(n, _, flat float64) float64 { return 2 * n * flat }},
	{"bicg", func(m *machine) []result {
		a, r, s, p, q := m.matrix("a"), m.vector("r"), m.vector("s"), m.vector("p"), m.vector("q")
		m.flat("transposed_times", a, r, s)
		m.flat("times", a, p, q)
		left, right := wide(s.host), wide(q.host)
		m.addTimes(left, a, wide(r.host), true)
		m.addTimes(right, a, wide(p.host), false)
		return []result{{s, left}, {q, right}}
	}, func(n, _, flat float64) float64 { return 2 * n * flat }},
	{"gemm", func(m *machine) []result {
		a, b, c := m.matrix("a"), m.matrix("b"), m.matrix("c")
		m.square("gemm", a, b, c, float32(alpha), float32(beta))
		want := product(wide(a.host), wide(b.host), m.n)
		for i := range want {
			want[i] = alpha*want[i] + beta*float64(c.host[i])
		}
		return []result{{c, want}}
	}, func(n, square, _ float64) float64 { return n * square }},
	{"gesummv", func(m *machine) []result {
		a, b, x, t, y := m.matrix("a"), m.matrix("b"), m.vector("x"), m.vector("t"), m.vector("y")
		m.flat("gesummv", a, b, x, t, y, float32(alpha), float32(beta))
		ax, bx := make([]float64, m.n), make([]float64, m.n)
		m.addTimes(ax, a, wide(x.host), false)
		m.addTimes(bx, b, wide(x.host), false)
		want := make([]float64, m.n)
		for i := range want {
			want[i] = alpha*ax[i] + beta*bx[i]
		}
		return []result{{t, ax}, {y, want}}
	}, func(n, _, flat float64) float64 { return 2 * n * flat }},
	{"mvt", func(m *machine) []result {
		a, x1, x2, y1, y2 := m.matrix("a"), m.vector("x1"), m.vector("x2"), m.vector("y1"), m.vector("y2")
		m.flat("times", a, y1, x1)
		m.flat("transposed_times", a, y2, x2)
		one, two := wide(x1.host), wide(x2.host)
		m.addTimes(one, a, wide(y1.host), false)
		m.addTimes(two, a, wide(y2.host), true)
		return []result{{x1, one}, {x2, two}}
	}, func(n, _, flat float64) float64 { return 2 * n * flat }},
	{"syrk", func(m *machine) []result {
		a, c := m.matrix("a"), m.matrix("c")
		m.square("syrk", a, c, float32(alpha), float32(beta))
		want := make([]float64, m.n*m.n)
		for i := range m.n {
			for j := range m.n {
				sum := beta * float64(c.host[i*m.n+j])
				for k := range m.n {
					sum += alpha * float64(a.host[i*m.n+k]) * float64(a.host[j*m.n+k])
				}
				want[i*m.n+j] = sum
			}
		}
		return []result{{c, want}}
	}, func(n, square, _ float64) float64 { return n * square }},
}

// addTimes adds a matrix, or a transposed one, times x to y.
func (m *machine) addTimes(y []float64, a buffer, x []float64, transposed bool) {
	for i := range m.n {
		for j := range m.n {
			if transposed {
				y[j] += float64(a.host[i*m.n+j]) * x[i]
			} else {
				y[i] += float64(a.host[i*m.n+j]) * x[j]
			}
		}
	}
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func product(a, b []float64, n int) []float64 {
	c := make([]float64, n*n)
	for i := range n {
		for k := range n {
			for j := range n {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return c
}

// check compares results with their expected values. Sums of n products in single
// precision, even two nested ones, stay far within the tolerance.
func (m *machine) check(results []result) error {
	const tolerance = 1e-4
	if m.err != nil {
		return m.err
	}
	for _, r := range results {
		got, err := heddle.Download[float32](m.gpu, r.ptr, len(r.want))
		if err != nil {
			return err
		}
		for i, w := range r.want {
			if d := math.Abs(float64(got[i]) - w); !(d <= tolerance*math.Max(1, math.Abs(w))) {
				return fmt.Errorf("element %d is %v; want %v", i, got[i], w)
			}
		}
	}
	return nil
}
