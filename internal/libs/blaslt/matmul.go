package blaslt

import (
	"embed"
	"encoding/binary"
	"math"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

//go:embed kernels/*.fatbin.zst
var files embed.FS

var kernels = libs.Kernels("cublasLt", files)

// Values of attributes that are supported.
const (
	fillFull = 2 // cublasFillMode_t

	orderColumns = 0 // cublasLtOrder_t
	orderRows    = 1
)

// The parts of epilogues, as epilogue.cu numbers them; the gradients of a bias are sums.
const (
	epilogueDefault = 1
	relu            = 2
	bias            = 4
	drelu           = 8
	biasOfD         = 16
	gelu            = 32
	dgelu           = 64
	aux             = 128
	biasOfA         = 256
	biasOfB         = 512
)

// epilogues are those that the documentation lists.
var epilogues = map[int64]bool{
	epilogueDefault: true, relu: true, relu | aux: true, bias: true, relu | bias: true, relu | aux | bias: true,
	drelu | aux: true, drelu | biasOfD | aux: true, gelu: true, gelu | aux: true, gelu | bias: true, gelu | aux | bias: true,
	dgelu | aux: true, dgelu | biasOfD | aux: true, biasOfA: true, biasOfB: true,
}

// place is the kernels' struct place.
type place struct {
	At         uint64
	LD, Stride int64
	Type, Rows int32
}

// epilogue is the kernels' struct epilogue.
type epilogue struct {
	M, N, First, Parts  int32
	Alpha, Beta         blas.Number
	Sums, C, D, Aux, Of place
}

// matrix is a layout.
type matrix struct {
	typ        blas.Type
	rows       bool // contiguous along rows
	m, n, ld   int64
	batch, gap int64
}

// matrixAt reads the layout at an address.
func matrixAt(t *cuda.Thread, at uint64) (m matrix, s blas.Status) {
	o, s := Layout.read(t, at)
	if s != blas.Success {
		return m, s
	}
	m = matrix{
		typ: blas.Type(o.get(layoutType)), rows: o.get(layoutOrder) == orderRows,
		m: o.get(layoutRows), n: o.get(layoutCols), ld: o.get(layoutLD), batch: o.get(layoutBatch), gap: o.get(layoutStride),
	}
	least := m.m
	if m.rows {
		least = m.n
	}
	order := o.get(layoutOrder)
	switch {
	case m.typ.Size() == 0 || order != orderColumns && order != orderRows || o.get(layoutPlane) != 0:
		return m, blas.NotSupported
	case m.m < 0 || m.n < 0 || m.batch < 0 || m.ld < max(1, least):
		return m, blas.InvalidValue
	case max(m.m, m.n, m.ld, m.batch) > math.MaxInt32:
		return m, blas.NotSupported
	}
	return m, blas.Success
}

// same reports whether elements of two matrices of the same size lie at the same places.
func (m matrix) same(o matrix) bool {
	return m.typ == o.typ && m.rows == o.rows && m.ld == o.ld && (m.gap == o.gap || m.batch <= 1)
}

// of is the matrix at an address, as an operand of a kernel.
func (m matrix) of(at uint64) place {
	p := place{At: at, LD: m.ld, Stride: m.gap, Type: int32(m.typ)}
	if m.rows {
		p.Rows = 1
	}
	return p
}

// transposed is a place whose rows are columns.
func (p place) transposed() place {
	p.Rows ^= 1
	return p
}

// operand is the matrix as blas has it, with the operation on it.
func (m matrix) operand(at uint64, op blas.Op) (blas.Matrix, blas.Op) {
	if m.rows { // by columns it is its transpose
		op = turned(op)
	}
	return blas.Matrix{At: at, Type: m.typ, LD: m.ld, Stride: m.gap}, op
}

// turned is an operation on the transpose of a real matrix.
func turned(op blas.Op) blas.Op {
	if op == blas.N {
		return blas.T
	}
	return blas.N
}

// Product is a call of cublasLtMatmul: addresses of objects and of matrices.
type Product struct {
	Desc                               uint64
	LayoutA, LayoutB, LayoutC, LayoutD uint64
	Alpha, Beta                        uint64
	A, B, C, D                         uint64
	Stream                             uint64
}

// plan is a product whose description is valid.
type plan struct {
	desc       object
	a, b, c, d matrix
	opA, opB   blas.Op
	k          int64
	compute    blas.Compute
	scale      blas.Type
	parts      int64
	mode       blas.PointerMode
}

// Plan checks what describes a product.
func Plan(t *cuda.Thread, p Product) blas.Status {
	_, s := planOf(t, p)
	return s
}

func planOf(t *cuda.Thread, p Product) (x plan, s blas.Status) {
	if x.desc, s = Desc.read(t, p.Desc); s != blas.Success {
		return x, s
	}
	for _, l := range []struct {
		at uint64
		to *matrix
	}{{p.LayoutA, &x.a}, {p.LayoutB, &x.b}, {p.LayoutC, &x.c}, {p.LayoutD, &x.d}} {
		if *l.to, s = matrixAt(t, l.at); s != blas.Success {
			return x, s
		}
	}
	get := x.desc.get
	x.opA, x.opB = blas.Op(get(descTransA)), blas.Op(get(descTransB))
	x.compute, x.scale, x.parts = blas.ComputeOf(int32(get(descCompute))), blas.Type(get(descScale)), get(descEpilogue)
	x.mode = blas.PointerMode(get(descPointers))
	m, k := x.a.m, x.a.n
	if x.opA != blas.N {
		m, k = k, m
	}
	k2, n := x.b.m, x.b.n
	if x.opB != blas.N {
		k2, n = n, k2
	}
	x.k = k
	// Kernels know no conjugate that is not transposed, and no epilogue for complex numbers.
	complexRows := x.a.typ.Complex() && (x.c.rows != x.d.rows || x.opA == blas.C && (x.a.rows || x.d.rows) || x.opB == blas.C && (x.b.rows || x.d.rows))
	unsupported := x.mode != blas.OnHost && x.mode != blas.OnDevice || !epilogues[x.parts] || get(descFill) != fillFull || get(descTransC) != 0 ||
		get(descScaleAux) != 0 || get(descAmaxAux) != 0 || complexRows || !x.types()
	for attribute := range int32(5) { // scales of A, B, C and D, and the largest element of D
		unsupported = unsupported || get(descScaleA+attribute) != 0
	}
	switch {
	case x.opA < blas.N || x.opA > blas.C || x.opB < blas.N || x.opB > blas.C || k != k2 || x.d.m != m || x.d.n != n || x.c.m != m || x.c.n != n ||
		x.a.batch != x.d.batch || x.b.batch != x.d.batch || x.c.batch != x.d.batch:
		return x, blas.InvalidValue
	case get(descSMs) < 0 || get(descSMs) > int64(t.Properties().SMs), p.C == p.D && p.D != 0 && !x.c.same(x.d):
		return x, blas.InvalidValue
	case unsupported:
		return x, blas.NotSupported
	case x.parts&(bias|biasOfA|biasOfB|biasOfD) != 0 && get(descBias) == 0 && p.D != 0, x.parts&aux != 0 && get(descAux) == 0 && p.D != 0:
		return x, blas.InvalidValue
	case x.parts&aux != 0 && (get(descAuxLD) < m || x.parts&(relu|drelu) != 0 && get(descAuxLD)%128 != 0) && p.D != 0:
		return x, blas.InvalidValue
	}
	return x, blas.Success
}

// types reports whether there are kernels for the types.
func (x *plan) types() bool {
	a, d := x.a.typ, x.d.typ
	half := a == blas.F16 || a == blas.BF16
	switch {
	case a != x.b.typ || d != x.c.typ && !(half && x.c.typ == blas.F32):
		return false
	case a == blas.I8 && d == blas.I8:
		return x.scale == blas.F32 && x.sumsIn(blas.I32)
	case a == blas.I8:
		return (d == blas.I32 && x.scale == blas.I32 || d == blas.F32 && x.scale == blas.F32) && x.parts == epilogueDefault && x.sumsIn(x.scale)
	case a == blas.C32 || a == blas.C64:
		return d == a && x.scale == a && x.parts == epilogueDefault && x.sumsIn(a)
	case a == blas.F64:
		return d == a && x.scale == a && x.sumsIn(a)
	case a == blas.F32:
		return d == a && x.scale == a && x.sumsIn(a)
	case half:
		return (d == a || d == blas.F32) && (x.scale == blas.F32 && x.sumsIn(blas.F32) || a == blas.F16 && d == a && x.scale == a && x.sumsIn(a))
	}
	return false
}

// sumsIn reports whether the compute type is that of sums in a type.
func (x *plan) sumsIn(t blas.Type) bool {
	scalar, ok := x.compute.Scalar(t.Complex())
	return ok && scalar == t
}

// Matmul is D = epilogue(alpha * op(A) * op(B) + beta * C).
func Matmul(t *cuda.Thread, c blas.Call, p Product) blas.Status {
	x, s := planOf(t, p)
	if s != blas.Success {
		return s
	}
	c = c.With(blas.Settings{Stream: p.Stream, Pointers: x.mode, SMs: int32(x.desc.get(descSMs))})
	if x.d.m == 0 || x.d.n == 0 || x.d.batch == 0 {
		return blas.Success
	}
	alpha, okA := c.Scalar(p.Alpha, x.scale)
	beta, okB := c.Scalar(p.Beta, x.scale)
	if !okA || !okB || p.D == 0 || x.k > 0 && (p.A == 0 || p.B == 0) || beta != (blas.Number{}) && p.C == 0 {
		return blas.InvalidValue
	}
	g := blas.Gemm{M: x.d.m, N: x.d.n, K: x.k, Batch: x.d.batch, Compute: x.compute}
	g.A, g.OpA = x.a.operand(p.A, x.opA)
	g.B, g.OpB = x.b.operand(p.B, x.opB)

	if x.parts == epilogueDefault && x.c.typ == x.d.typ && x.c.rows == x.d.rows && x.d.typ != blas.I8 {
		// The product's own kernels do all: in D, where C goes first.
		if beta != (blas.Number{}) && p.C != p.D {
			if s := x.copyC(t, p); s != blas.Success {
				return s
			}
		}
		if x.d.rows { // by columns D is the transpose: op(B)^T * op(A)^T
			g.M, g.N, g.A, g.B, g.OpA, g.OpB = g.N, g.M, g.B, g.A, turned(g.OpB), turned(g.OpA)
		}
		g.C, _ = x.d.operand(p.D, blas.N)
		return c.Product(g, alpha, beta)
	}

	// Otherwise the sums wait for the epilogue.
	sums := blas.F32
	switch x.a.typ {
	case blas.F64:
		sums = blas.F64
	case blas.I8:
		sums = blas.I32
	case blas.F16:
		if x.scale == blas.F16 {
			g.Compute = blas.Compute32F
		}
	}
	return c.Scratch(blas.Bytes(g.M, g.N, g.Batch, sums.Size()), func(at uint64) blas.Status {
		g.C = blas.Matrix{At: at, Type: sums, LD: g.M, Stride: g.M * g.N}
		return x.finish(t, c, g, p, alpha, beta)
	})
}

// finish computes sums, in the type of g.C, and the epilogue.
func (x *plan) finish(t *cuda.Thread, c blas.Call, g blas.Gemm, p Product, alpha, beta blas.Number) blas.Status {
	if s := c.Product(g, blas.Constant(1), blas.Constant(0)); s != blas.Success {
		return s
	}
	get := x.desc.get
	typed := func(attribute int32, other blas.Type) int32 {
		if v := get(attribute); v != unset {
			return int32(v)
		}
		return int32(other)
	}
	e := epilogue{
		M: int32(g.M), N: int32(g.N), Parts: int32(x.parts), Alpha: alpha, Beta: beta,
		Sums: place{At: g.C.At, LD: g.C.LD, Stride: g.C.Stride, Type: int32(g.C.Type)}, C: x.c.of(p.C), D: x.d.of(p.D),
		Aux: place{At: uint64(get(descAux)), LD: get(descAuxLD), Stride: get(descAuxStride), Type: typed(descAuxType, x.d.typ)},
		Of:  place{At: uint64(get(descBias)), LD: 1, Stride: get(descBiasStride), Type: typed(descBiasType, x.d.typ)},
	}
	if x.d.typ == blas.I8 {
		e.Of.Type = typed(descBiasType, blas.F32)
	}
	precision := "f32"
	if g.C.Type == blas.F64 || x.d.typ == blas.I32 { // exact for all of I32
		precision = "f64"
	}
	if s := e.compute(t, c.Stream, precision, g.Batch); s != blas.Success {
		return s
	}
	// The gradient of a bias is the sum of a matrix along the other direction.
	switch {
	case x.parts&biasOfD != 0:
		e.Sums = e.D
	case x.parts == biasOfA:
		e.Sums, e.N = x.a.of(p.A), int32(x.k)
		if x.opA != blas.N {
			e.Sums = e.Sums.transposed()
		}
	case x.parts == biasOfB:
		e.Sums, e.M, e.N = x.b.of(p.B).transposed(), int32(g.N), int32(x.k)
		if x.opB != blas.N {
			e.Sums = e.Sums.transposed()
		}
	default:
		return blas.Success
	}
	return e.sum(t, c.Stream, precision, g.Batch)
}

// copyC copies C to D.
func (x *plan) copyC(t *cuda.Thread, p Product) blas.Status {
	size := x.d.typ.Size()
	width, height := x.d.m, x.d.n
	if x.d.rows {
		width, height = height, width
	}
	return blas.StatusOf(t.CopyRows(p.D, p.C, cuda.Rows{
		Width: uint64(width * size), Height: uint64(height), Depth: uint64(x.d.batch),
		SrcPitch: uint64(x.c.ld * size), DstPitch: uint64(x.d.ld * size), SrcPlane: uint64(x.c.gap * size), DstPlane: uint64(x.d.gap * size),
	}, cuda.DeviceToDevice, p.Stream, true))
}

// tile is the size of the kernels' tiles.
const tile = 32

func over(n, by int64) int64 { return (n + by - 1) / by }

// columns makes a matrix begin at a column.
func (p *place) columns(first int64) {
	if p.Rows == 0 {
		first *= p.LD
	}
	p.At += uint64(first * blas.Type(p.Type).Size())
}

// compute launches the kernel for all elements.
func (e epilogue) compute(t *cuda.Thread, stream uint64, precision string, batch int64) blas.Status {
	for p := range blas.Parts(int64(e.N), tile, batch) {
		k := e
		k.N = int32(p.Columns)
		for _, m := range []*place{&k.Sums, &k.C, &k.D} {
			m.columns(p.Column)
		}
		if e.Parts&(relu|drelu) != 0 { // a mask of bits
			k.Aux.At += uint64(p.Column * e.Aux.LD / 8)
		} else {
			k.Aux.columns(p.Column)
		}
		if s := k.launch(t, stream, "finish_"+precision, p); s != blas.Success {
			return s
		}
	}
	return blas.Success
}

// sum launches the kernel that adds up the rows of a matrix.
func (e epilogue) sum(t *cuda.Thread, stream uint64, precision string, batch int64) blas.Status {
	for p := range blas.Parts(1, tile, batch) {
		if s := e.launch(t, stream, "sum_"+precision, p); s != blas.Success {
			return s
		}
	}
	return blas.Success
}

func (e epilogue) launch(t *cuda.Thread, stream uint64, kernel string, p blas.Part) blas.Status {
	e.First = int32(p.First)
	grid := cuda.Dim3{X: uint32(over(int64(e.M), tile)), Y: uint32(over(p.Columns, tile)), Z: uint32(p.Members)}
	return blas.StatusOf(t.LaunchOwn(kernels["epilogue"], kernel, cuda.Call{Grid: grid, Block: cuda.Dim3{X: 256, Y: 1, Z: 1}, Stream: stream}, e))
}

// Change is a call of cublasLtMatrixTransform: C = alpha * op(A) + beta * op(B).
func Change(t *cuda.Thread, c blas.Call, p Product) blas.Status {
	o, s := Transform.read(t, p.Desc)
	if s != blas.Success {
		return s
	}
	to, s := matrixAt(t, p.LayoutC)
	if s != blas.Success {
		return s
	}
	mode := blas.PointerMode(o.get(transformPointers))
	scale := blas.Type(o.get(transformScale))
	if mode != blas.OnHost && mode != blas.OnDevice || to.typ.Complex() || scale != blas.F32 && scale != blas.F64 && scale != blas.F16 && scale != blas.I32 {
		return blas.NotSupported
	}
	c = c.With(blas.Settings{Stream: p.Stream, Pointers: mode})
	e := epilogue{M: int32(to.m), N: int32(to.n), D: to.of(p.C)}
	precision := "f32"
	if to.typ == blas.F64 || to.typ == blas.I32 {
		precision = "f64" // exact for all of I32
	}
	for _, from := range []struct {
		layout, at, scalar uint64
		op                 int32
		to                 *place
		factor             *blas.Number
	}{{p.LayoutA, p.A, p.Alpha, transformTransA, &e.Sums, &e.Alpha}, {p.LayoutB, p.B, p.Beta, transformTransB, &e.C, &e.Beta}} {
		if from.layout == 0 && from.to == &e.C { // without B
			continue
		}
		ok := false
		if *from.factor, ok = c.Scalar(from.scalar, scale); !ok {
			return blas.InvalidValue
		}
		m, s := matrixAt(t, from.layout)
		if s != blas.Success {
			return s
		}
		*from.to = m.of(from.at)
		rows, columns := m.m, m.n
		switch blas.Op(o.get(from.op)) {
		case blas.N:
		case blas.T:
			*from.to = from.to.transposed()
			rows, columns = columns, rows
		default:
			return blas.NotSupported
		}
		if rows != to.m || columns != to.n || m.batch != to.batch || from.at == 0 && *from.factor != (blas.Number{}) {
			return blas.InvalidValue
		}
		if m.typ.Complex() {
			return blas.NotSupported
		}
	}
	if p.C == 0 {
		return blas.InvalidValue
	}
	if to.m == 0 || to.n == 0 || to.batch == 0 {
		return blas.Success
	}
	return e.compute(t, p.Stream, precision, to.batch)
}

// Result is a cublasLtMatmulHeuristicResult_t for the only algorithm: no workspace, and
// waves of blocks, which nobody counts.
func Result(s blas.Status) []byte {
	b := Algo.new().bytes
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(s))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(1))
	return append(b, make([]byte, 16)...)
}
