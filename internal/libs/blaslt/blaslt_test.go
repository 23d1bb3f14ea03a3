package blaslt_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/blaslt"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// bench is a GPU with a context.
type bench struct {
	*libstest.GPU
	call blas.Call
	t    testing.TB
}

func start(t testing.TB, gpu string) *bench {
	t.Helper()
	g := libstest.New(t, gpu, nil)
	h, s := blas.Create(g.Thread)
	b := &bench{g, blas.Call{}, t}
	b.want("create", s, blas.Success)
	b.call, s = blas.Of(g.Thread, h)
	b.want("handle", s, blas.Success)
	return b
}

func (b *bench) want(what string, got, want blas.Status) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("%s: %v, want %v\n%s", what, got.Name(), want.Name(), b.Log)
	}
}

// object is room for one.
func (b *bench) object(k blaslt.Kind) uint64 {
	room := make([]byte, k.Size())
	return libstest.At(b.GPU, &room[0])
}

// set sets an attribute of 4 bytes, or of 8 if it is an int64.
func set[T int32 | int64](b *bench, k blaslt.Kind, object uint64, attribute int32, v T) {
	b.t.Helper()
	b.want("set", k.Set(b.Thread, object, attribute, libstest.At(b.GPU, &v), uint64(binary.Size(v))), blas.Success)
}

// matrix is one on the device, or a batch of them.
type matrix struct {
	t           blas.Type
	layout, at  uint64
	rows        bool
	m, n, ld    int
	gap         int
	values      []complex128
	description string
}

func (b *bench) matrix(r *rand.Rand, t blas.Type, m, n, batch int, rows bool) matrix {
	x := matrix{t: t, rows: rows, m: m, n: n, ld: m + r.IntN(4)}
	count := n
	if rows {
		x.ld, count = n+r.IntN(4), m
	}
	x.gap = x.ld*count + r.IntN(3)
	var bits []byte
	for range x.gap * batch {
		v := complex(2*r.Float64()-1, 0)
		if t == blas.I8 || t == blas.I32 {
			v = complex(float64(r.IntN(41)-20), 0)
		}
		e, exact := libstest.Encode(int32(t), v)
		bits, x.values = append(bits, e...), append(x.values, exact)
	}
	x.at, x.layout = libstest.Put(b.GPU, bits), b.object(blaslt.Layout)
	b.want("layout", blaslt.InitLayout(b.Thread, x.layout, blaslt.Layout.Size(), int32(t), uint64(m), uint64(n), int64(x.ld)), blas.Success)
	set(b, blaslt.Layout, x.layout, 1, map[bool]int32{true: 1}[rows])
	set(b, blaslt.Layout, x.layout, 5, int32(batch))
	set(b, blaslt.Layout, x.layout, 6, int64(x.gap))
	x.description = fmt.Sprintf("%dx%d type %d, rows %v, ld %d", m, n, t, rows, x.ld)
	return x
}

func (x matrix) index(z, i, j int) int {
	if x.rows {
		return z*x.gap + i*x.ld + j
	}
	return z*x.gap + i + j*x.ld
}

func (x matrix) get(z, i, j int) float64 { return real(x.values[x.index(z, i, j)]) }

// turn is an element of the matrix, transposed or not.
func (x matrix) turn(op blas.Op, z, i, j int) float64 {
	if op != blas.N {
		i, j = j, i
	}
	return x.get(z, i, j)
}

// load returns the matrix as it is now.
func (b *bench) load(x matrix) matrix {
	size := int(x.t.Size())
	bits := libstest.Get[byte](b.GPU, x.at, len(x.values)*size)
	x.values = make([]complex128, len(x.values))
	for i := range x.values {
		x.values[i] = libstest.Decode(int32(x.t), bits[i*size:])
	}
	return x
}

func gelu(v float64) float64 {
	return 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
}

// slope is the derivative of gelu, by a difference.
func slope(v float64) float64 {
	const h = 1e-5
	return (gelu(v+h) - gelu(v-h)) / (2 * h)
}

// The numbers of epilogues.
const (
	none, relu, bias, drelu, biasOfD, gelus, dgelu, aux, biasOfA, biasOfB = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
)

// TestMatmul: products with every epilogue, in all types and orders, with D at the place
// of C and elsewhere, against sums in double precision. Bounds are those of a sum of K
// products in f32 (f64, and none for integers), the slopes of the activations, which are
// below 1.2, and one rounding of the result.
func TestMatmul(t *testing.T) {
	all := []int32{none, relu, relu | aux, bias, relu | bias, relu | aux | bias, drelu | aux, drelu | aux | biasOfD, gelus, gelus | aux, gelus | bias,
		gelus | aux | bias, dgelu | aux, dgelu | aux | biasOfD, biasOfA, biasOfB}
	for _, c := range []struct {
		gpu       string
		a, d      blas.Type
		compute   blas.Compute
		scale     blas.Type
		epilogues []int32
		sum, out  float64
	}{
		{"rtx-2060", blas.F32, blas.F32, blas.Compute32F, blas.F32, all, 0x1p-22, 0x1p-22},
		{"rtx-2060", blas.F64, blas.F64, blas.Compute64F, blas.F64, all, 0x1p-51, 0x1p-51},
		{"rtx-2060", blas.F16, blas.F16, blas.Compute32F, blas.F32, all, 0x1p-21, 0x1p-10}, // tensor cores truncate
		{"rtx-2060", blas.F16, blas.F16, blas.Compute16F, blas.F16, []int32{none, relu | bias}, 0x1p-21, 0x1p-10},
		{"rtx-3070", blas.F16, blas.F16, blas.Compute32F, blas.F32, []int32{none, gelus | bias}, 0x1p-21, 0x1p-10},
		{"rtx-3070", blas.BF16, blas.BF16, blas.Compute32F, blas.F32, all, 0x1p-21, 0x1p-7},
		{"rtx-3070", blas.BF16, blas.F32, blas.Compute32F, blas.F32, []int32{none, bias}, 0x1p-21, 0x1p-22},
		{"rtx-3070", blas.F32, blas.F32, blas.Compute32FFastTF32, blas.F32, []int32{none, relu}, 0x1p-9, 0x1p-22},
		{"rtx-2060", blas.I8, blas.I32, blas.Compute32I, blas.I32, []int32{none}, 0, 0},
		{"rtx-2060", blas.I8, blas.I8, blas.Compute32I, blas.F32, []int32{none, relu | bias}, 0x1p-22, 0},
	} {
		t.Run(fmt.Sprintf("%s/%d-%d-%d", c.gpu, c.a, c.d, c.compute), func(t *testing.T) {
			b := start(t, c.gpu)
			r := rand.New(rand.NewPCG(uint64(c.a), uint64(c.compute)))
			sizes := [][3]int{{1, 1, 1}, {40, 33, 20}, {70, 5, 40}}
			for i := range 2 * len(c.epilogues) {
				e := c.epilogues[i%len(c.epilogues)]
				size := sizes[r.IntN(len(sizes))]
				m, n, k := size[0], size[1], size[2]
				batch := 1 + r.IntN(2)
				opA, opB := blas.Op(r.IntN(2)), blas.Op(r.IntN(2))
				side := func(op blas.Op, rows, columns int) matrix {
					if op != blas.N {
						rows, columns = columns, rows
					}
					return b.matrix(r, c.a, rows, columns, batch, r.IntN(3) == 0)
				}
				am, bm := side(opA, m, k), side(opB, k, n)
				cm := b.matrix(r, c.d, m, n, batch, r.IntN(3) == 0)
				dm := cm
				if r.IntN(2) == 0 {
					dm = b.matrix(r, c.d, m, n, batch, r.IntN(3) == 0)
				}
				desc := b.object(blaslt.Desc)
				b.want("desc", blaslt.InitDesc(b.Thread, desc, blaslt.Desc.Size(), int32(c.compute), int32(c.scale)), blas.Success)
				set(b, blaslt.Desc, desc, 3, int32(opA))
				set(b, blaslt.Desc, desc, 4, int32(opB))
				set(b, blaslt.Desc, desc, 7, e)
				// The bias, and what the gradients need.
				length := m
				if e == biasOfB {
					length = n
				}
				biasType := c.d
				if c.d == blas.I8 {
					biasType = blas.F32
				}
				vector := b.matrix(r, biasType, length, 1, batch, false)
				set(b, blaslt.Desc, desc, 8, int64(vector.at))
				set(b, blaslt.Desc, desc, 10, int64(vector.gap))
				saved := b.matrix(r, c.d, m, n, batch, false)
				maskLD := (m + 127) / 128 * 128
				mask := make([]byte, maskLD/8*n*batch)
				for i := range mask {
					mask[i] = byte(r.Uint32())
				}
				maskAt := libstest.Put(b.GPU, mask)
				bit := func(of []byte, z, i, j int) bool {
					at := (z*n+j)*maskLD + i
					return of[at/8]>>(at%8)&1 == 1
				}
				if e&(relu|drelu) != 0 {
					set(b, blaslt.Desc, desc, 11, int64(maskAt))
					set(b, blaslt.Desc, desc, 12, int64(maskLD))
					set(b, blaslt.Desc, desc, 13, int64(maskLD*n))
				} else {
					set(b, blaslt.Desc, desc, 11, int64(saved.at))
					set(b, blaslt.Desc, desc, 12, int64(saved.ld))
					set(b, blaslt.Desc, desc, 13, int64(saved.gap))
				}
				factors := []complex128{0, 1, -1}
				if c.scale != blas.I32 {
					factors = append(factors, 0.25)
				}
				alpha, beta := factors[r.IntN(len(factors))], factors[r.IntN(len(factors))]
				alphaBits, _ := libstest.Encode(int32(c.scale), alpha)
				betaBits, _ := libstest.Encode(int32(c.scale), beta)
				p := blaslt.Product{
					Desc: desc, LayoutA: am.layout, LayoutB: bm.layout, LayoutC: cm.layout, LayoutD: dm.layout,
					A: am.at, B: bm.at, C: cm.at, D: dm.at,
				}
				if r.IntN(2) == 0 {
					set(b, blaslt.Desc, desc, 2, int32(1))
					p.Alpha, p.Beta = libstest.Put(b.GPU, alphaBits), libstest.Put(b.GPU, betaBits)
				} else {
					p.Alpha, p.Beta = libstest.At(b.GPU, &alphaBits[0]), libstest.At(b.GPU, &betaBits[0])
				}
				what := fmt.Sprintf("epilogue %d, %dx%dx%d, op %d %d, batch %d, A %s, B %s, C %s, D %s, alpha %v, beta %v", e, m, n, k, opA, opB, batch,
					am.description, bm.description, cm.description, dm.description, alpha, beta)
				b.want(what, blaslt.Matmul(b.Thread, b.call, p), blas.Success)

				after := b.load(dm)
				afterBias, afterSaved := b.load(vector), b.load(saved)
				afterMask := libstest.Get[byte](b.GPU, maskAt, len(mask))
				for z := range batch {
					gradients := make([]float64, length)
					errors := make([]float64, length)
					for i := range m {
						for j := range n {
							sum, terms := 0.0, 0.0
							for q := range k {
								x := am.turn(opA, z, i, q) * bm.turn(opB, z, q, j)
								sum += x
								terms += math.Abs(x)
							}
							v := real(alpha) * sum
							if beta != 0 {
								v += real(beta) * cm.get(z, i, j)
							}
							bound := math.Abs(real(alpha))*terms*c.sum*float64(k+2) + 4*c.sum*(math.Abs(v)+1)
							if e&bias != 0 {
								v += vector.get(z, i, 0)
							}
							before := v
							switch {
							case e&relu != 0:
								if got := bit(afterMask, z, i, j); e&aux != 0 && math.Abs(v) > bound && got != (v > 0) {
									t.Fatalf("%s: the mask of (%d,%d) is %v, for %v", what, i, j, got, v)
								}
								v = max(v, 0)
							case e&drelu != 0 && !bit(mask, z, i, j):
								v = 0
							case e&gelus != 0:
								if got := afterSaved.get(z, i, j); e&aux != 0 && !(math.Abs(got-before) <= bound+math.Abs(before)*c.out) {
									t.Fatalf("%s: saved %v of (%d,%d), want %v", what, got, i, j, before)
								}
								v = gelu(v)
								bound += 8 * c.sum * math.Abs(before)
							case e&dgelu != 0:
								v *= slope(saved.get(z, i, j))
								bound = 1.2*bound + math.Abs(before)*(8*c.sum+1e-9)
							}
							bound = 1.2*bound + math.Abs(v)*c.out
							if c.d == blas.I8 {
								v, bound = max(-128, min(127, v)), 0.5+bound
							}
							if c.d == blas.I32 {
								bound = 0
							}
							if got := after.get(z, i, j); !(math.Abs(got-v) <= bound) {
								t.Fatalf("%s: D[%d,%d] of matrix %d is %v, want %v ± %g", what, i, j, z, got, v, bound)
							}
							if e&biasOfD != 0 {
								gradients[i] += v
								errors[i] += bound + math.Abs(v)*c.sum*float64(n)
							}
						}
					}
					for i := range length {
						for q := range k {
							switch e {
							case biasOfA:
								gradients[i] += am.turn(opA, z, i, q)
							case biasOfB:
								gradients[i] += bm.turn(opB, z, q, i)
							}
						}
						if e == biasOfA || e == biasOfB {
							errors[i] = c.sum * float64(k*k+1)
						}
						got, bound := afterBias.get(z, i, 0), errors[i]+math.Abs(gradients[i])*c.out
						if e&(biasOfA|biasOfB|biasOfD) != 0 && !(math.Abs(got-gradients[i]) <= bound) {
							t.Fatalf("%s: gradient %d of matrix %d is %v, want %v ± %g", what, i, z, got, gradients[i], bound)
						}
					}
				}
				for at := range after.values { // what lies between columns
					inside := false
					for z := range batch {
						for i := range m {
							for j := range n {
								inside = inside || dm.index(z, i, j) == at
							}
						}
					}
					if !inside && after.values[at] != dm.values[at] {
						t.Fatalf("%s: wrote to %d, outside of D", what, at)
					}
				}
			}
		})
	}
}

// TestTransform: sums of matrices of any types and orders.
func TestTransform(t *testing.T) {
	b := start(t, "rtx-2060")
	r := rand.New(rand.NewPCG(5, 6))
	types := []blas.Type{blas.F32, blas.F64, blas.F16, blas.BF16, blas.I8, blas.I32}
	for range 30 {
		m, n, batch := 1+r.IntN(50), 1+r.IntN(50), 1+r.IntN(2)
		ops := [2]blas.Op{blas.Op(r.IntN(2)), blas.Op(r.IntN(2))}
		side := func(op blas.Op) matrix {
			if op != blas.N {
				return b.matrix(r, types[r.IntN(6)], n, m, batch, r.IntN(2) == 0)
			}
			return b.matrix(r, types[r.IntN(6)], m, n, batch, r.IntN(2) == 0)
		}
		am, bm := side(ops[0]), side(ops[1])
		cm := b.matrix(r, types[r.IntN(6)], m, n, batch, r.IntN(2) == 0)
		desc := b.object(blaslt.Transform)
		b.want("desc", blaslt.InitTransform(b.Thread, desc, blaslt.Transform.Size(), int32(blas.F32)), blas.Success)
		set(b, blaslt.Transform, desc, 2, int32(ops[0]))
		set(b, blaslt.Transform, desc, 3, int32(ops[1]))
		alpha, beta := float32(2), float32(-0.5)
		p := blaslt.Product{
			Desc: desc, LayoutA: am.layout, LayoutB: bm.layout, LayoutC: cm.layout, A: am.at, B: bm.at, C: cm.at,
			Alpha: libstest.At(b.GPU, &alpha), Beta: libstest.At(b.GPU, &beta),
		}
		b.want("transform", blaslt.Change(b.Thread, b.call, p), blas.Success)
		after := b.load(cm)
		for z := range batch {
			for i := range m {
				for j := range n {
					want := 2*am.turn(ops[0], z, i, j) - 0.5*bm.turn(ops[1], z, i, j)
					bound := math.Abs(want)*map[blas.Type]float64{blas.F16: 0x1p-10, blas.BF16: 0x1p-7}[cm.t] + 1e-5
					if cm.t == blas.I8 || cm.t == blas.I32 {
						bound = 0.5
					}
					if got := after.get(z, i, j); !(math.Abs(got-want) <= bound) {
						t.Fatalf("A %s, op %d, B %s, op %d, C %s: (%d,%d) is %v, want %v", am.description, ops[0], bm.description, ops[1], cm.description, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestAttributes: what is set is read back, and what does not fit is refused.
func TestAttributes(t *testing.T) {
	b := start(t, "rtx-2060")
	layout := b.object(blaslt.Layout)
	b.want("init", blaslt.InitLayout(b.Thread, layout, blaslt.Layout.Size(), int32(blas.F16), 3, 5, 4), blas.Success)
	b.want("init in too little room", blaslt.InitLayout(b.Thread, layout, 8, int32(blas.F16), 3, 5, 4), blas.InvalidValue)
	for attribute, want := range map[int32]uint64{0: 2, 2: 3, 3: 5, 4: 4, 5: 1, 6: 0} {
		var v, written uint64
		b.want("get", blaslt.Layout.Get(b.Thread, layout, attribute, libstest.At(b.GPU, &v), 8, libstest.At(b.GPU, &written)), blas.Success)
		if v != want {
			t.Errorf("attribute %d is %d, want %d", attribute, v, want)
		}
		if v := int64(7); attribute == 5 && written != 4 || attribute == 2 && written != 8 {
			t.Errorf("attribute %d has %d bytes", attribute, written)
		} else if attribute == 4 {
			b.want("too few bytes", blaslt.Layout.Set(b.Thread, layout, 4, libstest.At(b.GPU, &v), 4), blas.InvalidValue)
			b.want("no object", blaslt.Layout.Set(b.Thread, 0, 4, libstest.At(b.GPU, &v), 8), blas.InvalidValue)
			b.want("an attribute that does not exist", blaslt.Layout.Set(b.Thread, layout, 99, libstest.At(b.GPU, &v), 8), blas.NotSupported)
		}
	}
}

// TestOldDescription: programs of CUDA 11.0 have 88 bytes for the description of a product
// on their stack, before whatever else is there.
func TestOldDescription(t *testing.T) {
	b := start(t, "rtx-2060")
	r := rand.New(rand.NewPCG(7, 8))
	stack := make([]byte, 256)
	for i := range stack {
		stack[i] = 0xa5
	}
	desc := libstest.At(b.GPU, &stack[0])
	b.want("too few bytes", blaslt.InitDesc(b.Thread, desc, 80, int32(blas.Compute32F), int32(blas.F32)), blas.InvalidValue)
	b.want("init", blaslt.InitDesc(b.Thread, desc, 88, int32(blas.Compute32F), int32(blas.F32)), blas.Success)
	set(b, blaslt.Desc, desc, 7, int32(relu))
	v := int64(1)
	b.want("an attribute without room", blaslt.Desc.Set(b.Thread, desc, 17, libstest.At(b.GPU, &v), 8), blas.NotSupported)
	for i, c := range stack[88:] {
		if c != 0xa5 {
			t.Fatalf("wrote to byte %d", 88+i)
		}
	}
	m := b.matrix(r, blas.F32, 4, 4, 1, false)
	b.want("plan", blaslt.Plan(b.Thread, blaslt.Product{Desc: desc, LayoutA: m.layout, LayoutB: m.layout, LayoutC: m.layout, LayoutD: m.layout}), blas.Success)
	stack[72] = 7
	b.want("a size that no description has", blaslt.Plan(b.Thread, blaslt.Product{Desc: desc, LayoutA: m.layout, LayoutB: m.layout, LayoutC: m.layout, LayoutD: m.layout}), blas.InvalidValue)
}

// plain is a matrix of a type with values by columns, without gaps.
func (b *bench) plain(t blas.Type, m, n, batch int, rows bool, value func(i int) complex128) matrix {
	x := matrix{t: t, rows: rows, m: m, n: n, ld: m, gap: m * n}
	if rows {
		x.ld = n
	}
	var bits []byte
	for i := range m * n * batch {
		e, exact := libstest.Encode(int32(t), value(i))
		bits, x.values = append(bits, e...), append(x.values, exact)
	}
	x.at, x.layout = libstest.Put(b.GPU, bits), b.object(blaslt.Layout)
	b.want("layout", blaslt.InitLayout(b.Thread, x.layout, blaslt.Layout.Size(), int32(t), uint64(m), uint64(n), int64(x.ld)), blas.Success)
	set(b, blaslt.Layout, x.layout, 1, map[bool]int32{true: 1}[rows])
	set(b, blaslt.Layout, x.layout, 5, int32(batch))
	set(b, blaslt.Layout, x.layout, 6, int64(x.gap))
	return x
}

func always(v complex128) func(int) complex128 { return func(int) complex128 { return v } }

// describe makes the description of a product.
func (b *bench) describe(compute, scale int32) uint64 {
	desc := b.object(blaslt.Desc)
	b.want("desc", blaslt.InitDesc(b.Thread, desc, blaslt.Desc.Size(), compute, scale), blas.Success)
	return desc
}

// of is a product of matrices.
func of(desc uint64, a, bm, c, d matrix) blaslt.Product {
	return blaslt.Product{Desc: desc, LayoutA: a.layout, LayoutB: bm.layout, LayoutC: c.layout, LayoutD: d.layout, A: a.at, B: bm.at, C: c.at, D: d.at}
}

// scalars puts alpha and beta on the device, or on the host.
func (b *bench) scalars(p *blaslt.Product, t blas.Type, alpha, beta complex128, device bool) {
	alphaBits, _ := libstest.Encode(int32(t), alpha)
	betaBits, _ := libstest.Encode(int32(t), beta)
	if device {
		set(b, blaslt.Desc, p.Desc, 2, int32(1))
		p.Alpha, p.Beta = libstest.Put(b.GPU, alphaBits), libstest.Put(b.GPU, betaBits)
	} else {
		p.Alpha, p.Beta = libstest.At(b.GPU, &alphaBits[0]), libstest.At(b.GPU, &betaBits[0])
	}
}

// TestIntegers: sums of bytes in 32 bits are exact, in all orders of C and D, and with
// scalars on the host and on the device.
func TestIntegers(t *testing.T) {
	const k = 2080
	for _, device := range []bool{false, true} {
		for _, order := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			b := start(t, "rtx-2060")
			am, bm := b.plain(blas.I8, 1, k, 1, false, always(127)), b.plain(blas.I8, k, 1, 1, false, always(127))
			c, d := b.plain(blas.I32, 1, 1, 1, order[0], always(-7)), b.plain(blas.I32, 1, 1, 1, order[1], always(0))
			p := of(b.describe(int32(blas.Compute32I), int32(blas.I32)), am, bm, c, d)
			b.scalars(&p, blas.I32, 1, 1, device)
			b.want("matmul", blaslt.Matmul(b.Thread, b.call, p), blas.Success)
			if got, want := b.load(d).get(0, 0, 0), float64(k*127*127-7); got != want {
				t.Errorf("C by rows %v, D by rows %v, scalars on the device %v: %.0f, want %.0f", order[0], order[1], device, got, want)
			}
		}
	}
}

// TestTransformScale: the factors of a transformation have its scale type, on the host and on
// the device.
func TestTransformScale(t *testing.T) {
	for _, scale := range []blas.Type{blas.F16, blas.F32, blas.F64, blas.I32} {
		for _, device := range []bool{false, true} {
			b := start(t, "rtx-2060")
			am, c := b.plain(blas.F32, 2, 2, 1, false, func(i int) complex128 { return complex(float64(i+1), 0) }), b.plain(blas.F32, 2, 2, 1, false, always(9))
			p := blaslt.Product{Desc: b.object(blaslt.Transform), LayoutA: am.layout, LayoutC: c.layout, A: am.at, C: c.at}
			b.want("desc", blaslt.InitTransform(b.Thread, p.Desc, blaslt.Transform.Size(), int32(scale)), blas.Success)
			bits, _ := libstest.Encode(int32(scale), 3)
			p.Alpha = libstest.At(b.GPU, &bits[0])
			if device {
				p.Alpha = libstest.Put(b.GPU, bits)
				set(b, blaslt.Transform, p.Desc, 1, int32(1))
			}
			b.want("transform", blaslt.Change(b.Thread, b.call, p), blas.Success)
			for i, v := range b.load(c).values {
				if v != complex(float64(3*(i+1)), 0) {
					t.Errorf("scale type %v, on the device %v: element %d is %v, want %d", scale, device, i, v, 3*(i+1))
				}
			}
		}
	}
}

// TestOwnPrecision: the description alone says how precise a product is, not the mode of a
// handle of cuBLAS.
func TestOwnPrecision(t *testing.T) {
	b := start(t, "rtx-3070")
	b.want("math", b.call.SetMath(blas.TF32Math), blas.Success)
	b.want("SMs", b.call.SetSMs(1), blas.Success)
	const v = 1 + 0x1p-12 // more digits than TF32 has
	unit := func(i int) complex128 {
		if i%5 == 0 {
			return 1
		}
		return 0
	}
	for compute, want := range map[blas.Compute]float64{blas.Compute32F: v, blas.Compute32FFastTF32: 1} {
		am, bm, c := b.plain(blas.F32, 4, 4, 1, false, always(v)), b.plain(blas.F32, 4, 4, 1, false, unit), b.plain(blas.F32, 4, 4, 1, false, always(0))
		p := of(b.describe(int32(compute), int32(blas.F32)), am, bm, c, c)
		b.scalars(&p, blas.F32, 1, 0, false)
		b.want("matmul", blaslt.Matmul(b.Thread, b.call, p), blas.Success)
		if got := b.load(c).get(0, 0, 0); got != want {
			t.Errorf("compute type %d: %v, want %v", compute, got, want)
		}
	}
}

// TestTarget: the tiles of a product are chosen for as many SMs as its description says, at
// most those of the GPU.
func TestTarget(t *testing.T) {
	for _, c := range []struct {
		sms    int32
		want   blas.Status
		kernel string
	}{
		{0, blas.Success, "gemm_f32_f32_32x32"}, {1, blas.Success, "gemm_f32_f32_128x128"}, {-1, blas.InvalidValue, ""}, {31, blas.InvalidValue, ""},
	} {
		b := start(t, "rtx-2060") // 30 SMs
		am := b.plain(blas.F32, 128, 128, 1, false, always(0))
		p := of(b.describe(int32(blas.Compute32F), int32(blas.F32)), am, am, am, am)
		set(b, blaslt.Desc, p.Desc, 15, c.sms)
		b.scalars(&p, blas.F32, 1, 0, false)
		b.want("matmul", blaslt.Matmul(b.Thread, b.call, p), c.want)
		if c.want == blas.Success {
			if got := b.Runtime.Result().Kernels[0].Name; got != c.kernel {
				t.Errorf("for %d SMs: %s, want %s", c.sms, got, c.kernel)
			}
		}
	}
}

// TestRefusals: what a search finds is computed, and what is not computed is not found.
func TestRefusals(t *testing.T) {
	b := start(t, "rtx-2060")
	for _, c := range []struct {
		a, d           blas.Type
		opA, opB       blas.Op
		a1, b1, c1, d1 bool // by rows
		want           blas.Status
	}{
		{a: blas.C32, d: blas.C32, opA: blas.C, opB: blas.C, want: blas.Success},
		{a: blas.C32, d: blas.C32, opA: blas.C, c1: true, d1: true, want: blas.NotSupported},
		{a: blas.C32, d: blas.C32, opB: blas.C, c1: true, d1: true, want: blas.NotSupported},
		{a: blas.C32, d: blas.C32, opA: blas.T, c1: true, d1: true, want: blas.Success},
		{a: blas.C32, d: blas.C32, d1: true, want: blas.NotSupported},
		{a: blas.C64, d: blas.C64, c1: true, want: blas.NotSupported},
		{a: blas.C64, d: blas.C64, opA: blas.C, a1: true, want: blas.NotSupported},
		{a: blas.F32, d: blas.F32, opA: blas.C, c1: true, d1: true, want: blas.Success},
		{a: blas.F32, d: blas.F32, d1: true, want: blas.Success},
	} {
		compute := map[blas.Type]blas.Compute{blas.C64: blas.Compute64F}[c.a]
		if compute == 0 {
			compute = blas.Compute32F
		}
		one := func(t blas.Type, rows bool) matrix { return b.plain(t, 2, 2, 1, rows, always(1)) }
		p := of(b.describe(int32(compute), int32(c.a)), one(c.a, c.a1), one(c.a, c.b1), one(c.d, c.c1), one(c.d, c.d1))
		set(b, blaslt.Desc, p.Desc, 3, int32(c.opA))
		set(b, blaslt.Desc, p.Desc, 4, int32(c.opB))
		b.scalars(&p, c.a, 1, 1, false)
		search := p
		search.A, search.B, search.C, search.D = 0, 0, 0, 0
		what := fmt.Sprintf("%+v", c)
		b.want("plan of "+what, blaslt.Plan(b.Thread, search), c.want)
		b.want("matmul of "+what, blaslt.Matmul(b.Thread, b.call, p), c.want)
	}
}

// TestInPlace: C may be D if their elements lie at the same places.
func TestInPlace(t *testing.T) {
	b := start(t, "rtx-2060")
	am := b.plain(blas.F32, 2, 2, 2, false, always(1))
	for _, c := range []struct {
		what string
		edit func(layout uint64)
		want blas.Status
	}{
		{"the same", func(uint64) {}, blas.Success},
		{"by rows", func(l uint64) { set(b, blaslt.Layout, l, 1, int32(1)) }, blas.InvalidValue},
		{"another leading dimension", func(l uint64) { set(b, blaslt.Layout, l, 4, int64(3)) }, blas.InvalidValue},
		{"another stride", func(l uint64) { set(b, blaslt.Layout, l, 6, int64(5)) }, blas.InvalidValue},
	} {
		d := b.plain(blas.F32, 2, 2, 3, false, always(1))
		set(b, blaslt.Layout, d.layout, 5, int32(2))
		p := of(b.describe(int32(blas.Compute32F), int32(blas.F32)), am, am, d, d)
		p.LayoutC = b.plain(blas.F32, 2, 2, 2, false, always(1)).layout
		c.edit(p.LayoutC)
		b.scalars(&p, blas.F32, 1, 1, false)
		b.want(c.what, blaslt.Matmul(b.Thread, b.call, p), c.want)
	}
}

// TestTooLarge: sums for which no device has the memory.
func TestTooLarge(t *testing.T) {
	b := start(t, "rtx-2060")
	x := b.plain(blas.F32, 2, 2, 1, false, always(1))
	layout := func(m, n int64) uint64 {
		l := b.object(blaslt.Layout)
		b.want("layout", blaslt.InitLayout(b.Thread, l, blaslt.Layout.Size(), int32(blas.F32), uint64(m), uint64(n), m), blas.Success)
		set(b, blaslt.Layout, l, 5, int32(1<<14))
		return l
	}
	const m, n = 1 << 30, 1 << 20 // times 2^14 and 4 bytes: 2^66
	p := of(b.describe(int32(blas.Compute32F), int32(blas.F32)), x, x, x, x)
	p.LayoutA, p.LayoutB, p.LayoutC, p.LayoutD = layout(m, 1), layout(1, n), layout(m, n), layout(m, n)
	set(b, blaslt.Desc, p.Desc, 7, int32(relu))
	b.scalars(&p, blas.F32, 1, 0, false)
	b.want("matmul", blaslt.Matmul(b.Thread, b.call, p), blas.AllocFailed)
}

// TestOldCreate: programs of CUDA 10 give a data type, which is that of the sums and of the
// factors, and no scale type.
func TestOldCreate(t *testing.T) {
	b := start(t, "rtx-2060")
	for _, typ := range []blas.Type{blas.F16, blas.F32, blas.F64, blas.I32, blas.C32, blas.C64} {
		desc := b.describe(int32(typ), 0x7fff1234)
		for attribute, want := range []int32{int32(blas.ComputeOf(int32(typ))), int32(typ)} {
			var got int32
			b.want("get", blaslt.Desc.Get(b.Thread, desc, int32(attribute), libstest.At(b.GPU, &got), 4, 0), blas.Success)
			if got != want {
				t.Errorf("type %d: attribute %d is %d, want %d", typ, attribute, got, want)
			}
		}
	}
}

// TestBatchCopy: a batch of C is copied to D at once.
func TestBatchCopy(t *testing.T) {
	b := start(t, "rtx-2060")
	const batch = 5
	number := func(i int) complex128 { return complex(float64(i), 0) }
	zero := b.plain(blas.F32, 2, 2, batch, false, always(0))
	c, d := b.plain(blas.F32, 2, 2, batch, false, number), b.plain(blas.F32, 2, 2, batch, false, always(-1))
	p := of(b.describe(int32(blas.Compute32F), int32(blas.F32)), zero, zero, c, d)
	b.scalars(&p, blas.F32, 1, 1, false)
	stream, err := b.StreamCreate(0, 0)
	b.Must(err)
	p.Stream = stream
	b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
	b.want("matmul", blaslt.Matmul(b.Thread, b.call, p), blas.Success)
	graph, err := b.EndCapture(stream)
	b.Must(err)
	nodes, err := b.GraphNodes(graph, false)
	b.Must(err)
	if len(nodes) != 2 {
		t.Errorf("the graph has %d nodes, want a copy and a product", len(nodes))
	}
	exec, err := b.GraphInstantiate(graph, 0)
	b.Must(err)
	b.Must(b.ExecLaunch(exec, stream))
	b.Must(b.Synchronize())
	for i, v := range b.load(d).values {
		if v != number(i) {
			t.Errorf("element %d is %v, want %d", i, v, i)
		}
	}
}

// TestManyColumns: an epilogue for more columns than a grid has tiles of.
func TestManyColumns(t *testing.T) {
	alltests.Only(t, "matrices of two million columns")
	b := start(t, "rtx-2060")
	const n = 2_200_000
	row := make([]float32, n)
	for j := range row {
		row[j] = float32(j%1000 - 500)
	}
	wide := func(rows bool) (at, layout uint64) {
		layout = b.object(blaslt.Layout)
		ld := int64(1)
		if rows {
			ld = n
		}
		b.want("layout", blaslt.InitLayout(b.Thread, layout, blaslt.Layout.Size(), int32(blas.F32), 1, n, ld), blas.Success)
		set(b, blaslt.Layout, layout, 1, map[bool]int32{true: 1}[rows])
		return libstest.Put(b.GPU, row), layout
	}
	one := b.plain(blas.F32, 1, 1, 1, false, always(1))
	p := of(b.describe(int32(blas.Compute32F), int32(blas.F32)), one, one, one, one)
	p.B, p.LayoutB = wide(false)
	p.D, p.LayoutD = wide(true) // the sums are by columns
	p.C, p.LayoutC = p.D, p.LayoutD
	const ld = 128
	mask := libstest.Put(b.GPU, make([]byte, n*ld/8))
	set(b, blaslt.Desc, p.Desc, 7, int32(relu|aux))
	set(b, blaslt.Desc, p.Desc, 11, int64(mask))
	set(b, blaslt.Desc, p.Desc, 12, int64(ld))
	b.scalars(&p, blas.F32, 1, 0, false)
	b.want("matmul", blaslt.Matmul(b.Thread, b.call, p), blas.Success)
	got, bits := libstest.Get[float32](b.GPU, p.D, n), libstest.Get[byte](b.GPU, mask, n*ld/8)
	for _, j := range []int{0, 65535*32 - 1, 65535 * 32, n - 1} {
		want := max(0, row[j])
		if got[j] != want || bits[j*ld/8]&1 == 1 != (want > 0) {
			t.Errorf("column %d is %v, its bit %d, want %v", j, got[j], bits[j*ld/8]&1, want)
		}
	}
}
