package blaslt_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/blaslt"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
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
