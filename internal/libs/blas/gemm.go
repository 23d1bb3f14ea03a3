package blas

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Matrix is an operand: where it lies on the device, or, of a batch, the first one.
type Matrix struct {
	At     uint64
	Type   Type
	LD     int64 // elements from one column to the next
	Stride int64 // elements from one matrix of a batch to the next
	Listed bool  // At is an array of pointers on the device, one for each matrix
}

// Gemm is a product: C = alpha * op(A) * op(B) + beta * C, where C has M rows and N
// columns and the sums have K terms.
type Gemm struct {
	OpA, OpB    Op
	M, N, K     int64
	Alpha, Beta uint64 // addresses, where the context says
	A, B, C     Matrix
	Batch       int64
	Compute     Compute
}

// valid checks the arguments that every product has.
func (g *Gemm) valid() bool {
	rowsA, rowsB := g.M, g.K
	if g.OpA != N {
		rowsA = g.K
	}
	if g.OpB != N {
		rowsB = g.N
	}
	return g.OpA.valid() && g.OpB.valid() && g.M >= 0 && g.N >= 0 && g.K >= 0 && g.Batch >= 0 &&
		g.A.LD >= max(1, rowsA) && g.B.LD >= max(1, rowsB) && g.C.LD >= max(1, g.M)
}

// form is a kernel for types.
type form struct {
	file   string
	scalar Type // of alpha and beta
	tensor bool
	placed bool // kernels for each way in which A and B may lie in memory
}

// form chooses the kernels for a product's types.
func (c Call) form(g *Gemm) (f form, s Status) {
	a, out := g.A.Type, g.C.Type
	scalar, ok := g.Compute.Scalar(a.Complex())
	if !ok || a != g.B.Type {
		return f, NotSupported
	}
	switch {
	case a == F16 && (out == F16 || out == F32 && scalar == F32) && (scalar == F16 || scalar == F32),
		a == BF16 && (out == BF16 || out == F32) && scalar == F32,
		a == I8 && (out == I32 && scalar == I32 || out == F32 && scalar == F32),
		a == out && a == scalar && a != I32:
	default:
		return f, NotSupported
	}
	f = form{file: "gemm_" + types[a].name, scalar: scalar}
	pedantic := c.Math&mathKinds == Pedantic || g.Compute == Compute16FPedantic || g.Compute == Compute32FPedantic
	if c.capability() < 70 || pedantic {
		return f, Success
	}
	if c.capability() < 80 {
		if a == F16 {
			f.file, f.tensor, f.placed = "wmma_f16", true, true
		}
		return f, Success
	}
	fast := g.Compute == Compute32FFastTF32 || g.Compute == Compute32FFast16BF || g.Compute == Compute32FFast16F ||
		g.Compute == Compute32F && c.Math&mathKinds == TF32Math
	switch {
	case a == F16:
		f.file, f.tensor, f.placed = "tensor_f16", true, true
	case a == BF16:
		f.file, f.tensor, f.placed = "tensor_bf16", true, true
	case a == F32 && fast:
		f.file, f.tensor, f.placed = "tensor_tf32", true, true
	}
	return f, Success
}

// outputs are the types of results as tensor.cuh numbers them.
var outputs = map[Type]int32{F32: 0, F16: 1, BF16: 2}

// shape is a tile of a kernel: its size, the threads and shared memory of a block, and how
// fast it is on a full SM, in relation to the largest tile: rounded from timing runs.
type shape struct {
	m, n, threads, shared int64
	speed                 float64
}

func (s shape) String() string { return fmt.Sprintf("%dx%d", s.m, s.n) }

// blocks is the number of blocks of a matrix.
func (s shape) blocks(m, n int64) (x, y int64) { return (m + s.m - 1) / s.m, (n + s.n - 1) / s.n }

// shapes are the tiles of each file of kernels, the largest first. The shared memory of
// tensor kernels from compute capability 8.0 on is dynamic: 64 bytes for each row and
// column, of which there are 128 also in tiles of 96 and 80, in each of four parts of the sums, or
// six. All but the smallest are for aligned columns.
var shapes = map[string][]shape{
	"gemm_f32": {{128, 128, 256, 0, 1}, {64, 64, 128, 0, 0.9}, {32, 32, 64, 0, 0.5}},
	"gemm_f16": {{128, 128, 256, 0, 1}, {32, 32, 64, 0, 0.5}}, "gemm_bf16": {{128, 128, 256, 0, 1}, {32, 32, 64, 0, 0.5}},
	"gemm_f64": {{64, 64, 256, 0, 1}, {32, 32, 256, 0, 0.7}},
	"gemm_c32": {{64, 64, 256, 0, 1}, {32, 32, 256, 0, 0.7}}, "gemm_c64": {{64, 64, 256, 0, 1}, {32, 32, 256, 0, 0.7}},
	"gemm_i8":     {{64, 64, 256, 0, 1}, {32, 32, 256, 0, 0.7}},
	"wmma_f16":    {{128, 128, 256, 0, 1}, {64, 64, 128, 0, 0.95}},
	"tensor_f16":  {{128, 128, 256, 64 << 10, 1}, {128, 96, 256, 96 << 10, 1}, {128, 80, 256, 96 << 10, 0.9}, {64, 64, 128, 32 << 10, 0.7}},
	"tensor_bf16": {{128, 128, 256, 64 << 10, 1}, {128, 96, 256, 96 << 10, 1}, {128, 80, 256, 96 << 10, 0.9}, {64, 64, 128, 32 << 10, 0.7}},
	"tensor_tf32": {{128, 128, 256, 64 << 10, 1}, {64, 64, 128, 32 << 10, 0.8}},
}

// async is the tile of the file async_f32, which multiplies f32 with aligned columns from compute
// capability 8.0 on, unless one of gemm_f32 is done sooner.
var async = shape{128, 104, 256, 60 << 10, 1.2}

// choose returns the tile with which the SMs are done first: blocks run in waves, whose
// last may leave SMs idle, and tiles at the edges are not full.
func (c Call) choose(list []shape, m, n, batch int64) shape {
	best, least := list[0], math.Inf(1)
	for _, s := range list {
		x, y := s.blocks(m, n)
		if time := s.time(over(x*y*batch, c.sms()), 1); time < least {
			best, least = s, time
		}
	}
	return best
}

// time is how long an SM takes for tiles with sums of a number of terms, in relation to the largest tile.
func (s shape) time(tiles, terms int64) float64 { return float64(tiles*s.m*s.n*terms) / s.speed }

// cut says which tiles of a product are divided along the sums: all but the first ones. A
// kernel adds their pieces.
type cut struct {
	rows   int64 // tiles in a column of tiles
	whole  int64 // tiles that are not divided
	pieces int64 // of each other tile; 1: no tile is divided
	depth  int64 // terms of a piece
}

// The terms of a piece are a multiple of pieceTerms, because tensor kernels load 64 at
// once, and a tile has at most pieceMost (our choices).
const pieceTerms, pieceMost = 64, 32

// divide returns the tile with which the SMs are done first, if tiles may also be divided,
// and how they are. A tile costs some terms more than it has. A piece costs more of them,
// since it passes through memory, and adding the pieces is a further launch. (Rounded from
// timing runs; tensor cores compute four terms in the time of one.)
func (c Call) divide(list []shape, g *Gemm, tensor bool) (best shape, how cut) {
	sms, least := c.sms(), math.Inf(1)
	tileTerms, sumTerms, launch := int64(32), int64(96), 640e3
	if tensor {
		tileTerms, sumTerms, launch = 4*tileTerms, 4*sumTerms, 4*launch
	}
	for _, s := range list {
		x, y := s.blocks(g.M, g.N)
		tiles := x * y * g.Batch
		if t := s.time(over(tiles, sms), g.K+tileTerms); t < least {
			best, how, least = s, cut{rows: x, whole: tiles, pieces: 1}, t
		}
		if g.Batch > 1 || g.K <= pieceTerms || tiles > math.MaxInt32/pieceMost {
			continue
		}
		for waves := max(0, tiles/sms-1); waves <= tiles/sms; waves++ {
			rest := tiles - waves*sms
			for pieces := int64(2); pieces <= pieceMost && rest > 0; pieces++ {
				depth := over(g.K, pieces*pieceTerms) * pieceTerms
				t := s.time(waves, g.K+tileTerms) + s.time(over(rest*pieces, sms), depth+tileTerms+sumTerms) + launch
				if n := over(g.K, depth); t < least && n > 1 {
					best, how, least = s, cut{x, tiles - rest, n, depth}, t
				}
			}
		}
	}
	return best, how
}

// aligned reports whether copies of 16 bytes can load a matrix.
func (m *Matrix) aligned() bool {
	size := m.Type.Size()
	return !m.Listed && m.At%16 == 0 && m.LD*size%16 == 0 && m.Stride*size%16 == 0
}

// Gemm multiplies matrices, one product or a batch of them.
func (c Call) Gemm(g Gemm) Status {
	if !g.valid() {
		return InvalidValue
	}
	f, s := c.form(&g)
	if s != Success {
		return s
	}
	if g.M == 0 || g.N == 0 || g.Batch == 0 {
		return Success
	}
	alpha, okA := c.Scalar(g.Alpha, f.scalar)
	beta, okB := c.Scalar(g.Beta, f.scalar)
	if !okA || !okB {
		return InvalidValue
	}
	return c.product(&g, f, alpha, beta)
}

// GemmGroups computes products in groups, each a batch with sizes of its own; none if a group's are invalid.
func (c Call) GemmGroups(groups []Gemm) Status {
	for i := range groups {
		if !groups[i].valid() {
			return InvalidValue
		}
	}
	for _, g := range groups {
		if s := c.Gemm(g); s != Success {
			return s
		}
	}
	return Success
}

// Product is Gemm with scalars that the caller chooses.
func (c Call) Product(g Gemm, alpha, beta Number) Status {
	if !g.valid() {
		return InvalidValue
	}
	f, s := c.form(&g)
	if s != Success || g.M == 0 || g.N == 0 || g.Batch == 0 {
		return s
	}
	return c.product(&g, f, alpha, beta)
}

// product checks places and sizes, and chooses between products of matrices and those with
// a vector.
func (c Call) product(g *Gemm, f form, alpha, beta Number) Status {
	if g.C.At == 0 || g.K > 0 && (g.A.At == 0 || g.B.At == 0) {
		return InvalidValue
	}
	if max(g.M, g.N, g.K, g.A.LD, g.B.LD, g.C.LD, g.Batch) > math.MaxInt32 {
		return NotSupported
	}
	if g.K == 0 { // then nobody reads lists of A and B, which need not exist
		g.A.Listed, g.B.Listed = false, false
	}
	if p, ok := g.vector(f.scalar); ok {
		return c.gemv(&p, alpha, beta)
	}
	return c.multiply(g, f, alpha, beta)
}

// columns is the product for the columns from one on.
func (g *Gemm) columns(first, n int64) Gemm {
	h := *g
	h.N, h.C = n, g.C.at(0, first)
	if g.OpB == N {
		h.B = g.B.at(0, first)
	} else {
		h.B = g.B.at(first, 0)
	}
	return h
}

// vector is a product whose result is a column or a row, as one of a matrix and a vector:
// for those there are kernels that read the matrix once.
func (g *Gemm) vector(scalar Type) (p Problem, ok bool) {
	conjugated := func(op Op) bool { return op == C && g.A.Type.Complex() }
	along := func(m Matrix, contiguous bool) Matrix {
		if contiguous {
			m.LD = 1
		}
		return m
	}
	p = Problem{M: g.M, N: g.K, OpA: g.OpA, Scalar: scalar, Batch: g.Batch, A: g.A}
	switch {
	case !hasMatrices(g.A.Type) && g.A.Type != F16 && g.A.Type != BF16:
		return p, false
	case g.N == 1 && !conjugated(g.OpB):
		p.B, p.C = along(g.B, g.OpB == N), along(g.C, true)
	case g.M == 1 && !conjugated(g.OpA) && !conjugated(g.OpB):
		// The transpose: op(B)^T times a row of op(A).
		p.M, p.N, p.A, p.OpA = g.N, g.K, g.B, T
		if g.OpB != N {
			p.OpA = N
		}
		p.B, p.C = along(g.A, g.OpA != N), g.C
	default:
		return p, false
	}
	if p.OpA != N { // a problem counts A's own rows
		p.M, p.N = p.N, p.M
	}
	return p, true
}

// product is a product whose kernels are chosen.
type product struct {
	*Gemm
	form
	tile        shape
	cut         cut
	alpha, beta Number
	aligned     bool
}

// multiply launches the kernels for a product whose arguments are valid.
func (c Call) multiply(g *Gemm, f form, alpha, beta Number) Status {
	p := product{Gemm: g, form: f, alpha: alpha, beta: beta, aligned: g.A.aligned() && g.B.aligned()}
	list := shapes[f.file]
	if f.file == "gemm_f32" && p.aligned && c.capability() >= 80 {
		list = append([]shape{async}, list...)
	}
	if f.tensor && !p.aligned {
		list = list[len(list)-1:]
	}
	p.tile, p.cut = c.divide(list, g, f.tensor)
	if p.tile == async {
		p.file, p.placed = "async_f32", true
	}
	if g.N > most*p.tile.n && (g.B.Listed || g.C.Listed) { // the addresses of columns are on the device
		return NotSupported
	}
	if p.cut.pieces > 1 {
		if s := c.divided(&p); s != AllocFailed {
			return s
		}
		p.cut.pieces = 1 // there is no memory for pieces
	}
	for part := range Parts(g.N, p.tile.n, g.Batch) {
		h := g.columns(part.Column, part.Columns)
		x, y := p.tile.blocks(h.M, h.N)
		if s := c.compute(&p, &h, cuda.Dim3{X: uint32(x), Y: uint32(y), Z: uint32(part.Members)}, part.First, 0); s != Success {
			return s
		}
	}
	return Success
}

// divided launches the kernels for a product with tiles that are divided.
func (c Call) divided(p *product) Status {
	x, y := p.tile.blocks(p.M, p.N)
	rest := x*y - p.cut.whole
	return c.Scratch(Bytes(rest, p.cut.pieces, p.tile.m, p.tile.n, p.sum().Size()), func(at uint64) Status {
		if s := c.compute(p, p.Gemm, cuda.Dim3{X: uint32(p.cut.whole + rest*p.cut.pieces), Y: 1, Z: 1}, 0, at); s != Success {
			return s
		}
		name := p.file + "_total"
		if !p.tensor {
			name = fmt.Sprintf("%s_%s_total", p.file, types[p.C.Type].name)
		}
		grid := cuda.Dim3{X: uint32(rest), Y: uint32(min(over(2*c.sms(), rest), p.tile.n)), Z: 1}
		args := append(p.args(p.Gemm, 0, at), int32(p.tile.m), int32(p.tile.n))
		return c.launch(p.file, name, grid, cuda.Dim3{X: 256, Y: 1, Z: 1}, 0, args...)
	})
}

// compute launches the kernel that computes tiles, and pieces of them.
func (c Call) compute(p *product, g *Gemm, grid cuda.Dim3, first int64, sums uint64) Status {
	name := fmt.Sprintf("%s_%s_%s", p.file, types[p.C.Type].name, p.tile)
	if p.placed {
		name = fmt.Sprintf("%s_%c%c_%s", p.file, "ntt"[p.OpA], "ntt"[p.OpB], p.tile)
	}
	return c.launch(p.file, name, grid, cuda.Dim3{X: uint32(p.tile.threads), Y: 1, Z: 1}, uint64(p.tile.shared), p.args(g, first, sums)...)
}

// args are the arguments of the kernels, for some columns.
func (p *product) args(g *Gemm, first int64, sums uint64) []any {
	args := []any{g.param(p.alpha.scalar(p.scalar), p.beta.scalar(p.scalar), first, p.cut, p.aligned, sums)}
	if p.tensor {
		args = append(args, outputs[p.C.Type])
	}
	return args
}

// sum is the type in which kernels compute sums.
func (f form) sum() Type {
	if f.scalar == F16 {
		return F32
	}
	return f.scalar
}

// param is the kernels' struct product.
func (g *Gemm) param(alpha, beta []byte, first int64, how cut, aligned bool, sums uint64) []byte {
	le := binary.LittleEndian
	var b []byte
	for _, v := range []int64{g.M, g.N, g.K, int64(g.OpA), int64(g.OpB), first} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = append(append(b, alpha...), beta...)
	for _, m := range []Matrix{g.A, g.B, g.C} {
		b = m.append(b)
	}
	for _, v := range []int64{how.whole, how.pieces, how.depth, how.rows, int64(flag(aligned)), 0} { // the last is padding
		b = le.AppendUint32(b, uint32(v))
	}
	return le.AppendUint64(b, sums)
}

// scalar is the kernels' struct scalar of a type: a value, or its place.
func (n Number) scalar(t Type) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, 24)
	switch {
	case n.At != 0:
		b = b[:max(8, t.Size())]
		if t == F16 { // for sums of f32
			b[4] = 1
		}
	case t == F64:
		b = le.AppendUint64(b, math.Float64bits(n.X))
	case t == C64:
		b = le.AppendUint64(le.AppendUint64(b, math.Float64bits(n.X)), math.Float64bits(n.Y))
	case t == I32:
		b = le.AppendUint64(b, uint64(uint32(int32(n.X))))
	default: // for all others but C32 Y is zero
		b = le.AppendUint32(le.AppendUint32(b, math.Float32bits(float32(n.X))), math.Float32bits(float32(n.Y)))
	}
	return le.AppendUint64(b, n.At)
}

// flag is a bool as kernels have it.
func flag(v bool) int32 {
	if v {
		return 1
	}
	return 0
}

// append appends the kernels' struct matrices.
func (m *Matrix) append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, m.At)
	b = le.AppendUint64(b, uint64(m.Stride))
	b = le.AppendUint32(b, uint32(flag(m.Listed)))
	return le.AppendUint32(b, uint32(m.LD))
}
