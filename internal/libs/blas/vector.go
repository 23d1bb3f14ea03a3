package blas

import (
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: functions of vectors of N elements: x is A, y is C (of sums B). Results and
// numbers that are read and written lie where the context says.

// vectorThreads is the size of the blocks of all kernels for vectors.
const vectorThreads = 256

// vectorBlocks is the number of blocks for n elements: eight elements for each thread,
// until there are four blocks for each SM. Our choice.
func (c Call) vectorBlocks(n int64) int64 {
	return max(1, min(over(n, 8*vectorThreads), 4*c.sms()))
}

// elementwise launches a kernel that changes vectors. Scalars that are absent have the
// address 0.
func (c Call) elementwise(kernel string, p *Problem, alpha, beta Number) Status {
	if !p.fits() {
		return NotSupported
	}
	name := types[p.C.Type].name
	k := task{N: int32(p.N), Alpha: alpha, Beta: beta, A: p.A.vector(p.N), C: p.C.vector(p.N)}
	return c.start("vector_"+name, kernel+"_"+name, k, c.vectorBlocks(p.N), max(1, p.Batch), vectorThreads)
}

// hasVectors reports whether there are kernels for a type.
func hasVectors(t Type) bool {
	return t == F32 || t == F64 || t == C32 || t == C64 || t == F16 || t == BF16
}

// Copy copies x to y.
func (c Call) Copy(p Problem) Status { return c.move("copy", &p) }

// Swap exchanges x and y.
func (c Call) Swap(p Problem) Status { return c.move("swap", &p) }

func (c Call) move(kernel string, p *Problem) Status {
	switch {
	case p.A.Type != p.C.Type || !hasVectors(p.A.Type):
		return NotSupported
	case p.N <= 0:
		return Success
	case p.A.At == 0 || p.C.At == 0:
		return InvalidValue
	}
	return c.elementwise(kernel, p, Number{}, Number{})
}

// Axpy adds alpha * x to y.
func (c Call) Axpy(p Problem) Status {
	if p.A.Type != p.C.Type || !hasVectors(p.A.Type) || p.Scalar.Complex() && !p.A.Type.Complex() {
		return NotSupported
	}
	if p.N <= 0 {
		return Success
	}
	alpha, ok := c.Scalar(p.Alpha, p.Scalar)
	if !ok || p.A.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if alpha == (Number{}) { // as BLAS says, x is not read
		return Success
	}
	return c.elementwise("axpy", &p, alpha, Number{})
}

// Scal multiplies C, a vector, by alpha.
func (c Call) Scal(p Problem) Status {
	if !hasVectors(p.C.Type) || p.Scalar.Complex() && !p.C.Type.Complex() {
		return NotSupported
	}
	if p.N <= 0 || p.C.LD <= 0 {
		return Success
	}
	alpha, ok := c.Scalar(p.Alpha, p.Scalar)
	if !ok || p.C.At == 0 {
		return InvalidValue
	}
	return c.elementwise("scal", &p, alpha, Number{})
}

// Rot rotates each pair of elements of x and y: alpha is the cosine, a real number, and
// beta the sine.
func (c Call) Rot(p Problem) Status {
	if p.A.Type != p.C.Type || !hasVectors(p.A.Type) || p.Scalar.Complex() && !p.A.Type.Complex() {
		return NotSupported
	}
	if p.N <= 0 {
		return Success
	}
	cos, okC := c.Scalar(p.Alpha, p.Scalar.part())
	sin, okS := c.Scalar(p.Beta, p.Scalar)
	if !okC || !okS || p.A.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	return c.elementwise("rot", &p, cos, sin)
}

// part is the type of the parts of a complex number, and any other type itself.
func (t Type) part() Type {
	switch t {
	case C32:
		return F32
	case C64:
		return F64
	}
	return t
}

// Rotm applies the modified rotation to x and y whose flag and matrix alpha points to.
func (c Call) Rotm(p Problem) Status {
	if p.A.Type != p.C.Type || !hasVectors(p.A.Type) || p.A.Type.Complex() || p.Scalar != p.A.Type {
		return NotSupported
	}
	if p.N <= 0 {
		return Success
	}
	if p.A.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	return c.numbers(0, func(at []uint64, _ uint64) Status {
		return c.elementwise("rotm", &p, Number{At: at[0]}, Number{})
	}, slot{p.Alpha, 5 * p.Scalar.Size(), true, false})
}

// Rotg finds the rotation that makes B zero: A and B, the cosine and the sine (alpha and
// beta) are numbers.
func (c Call) Rotg(p Problem) Status {
	t := p.A.Type
	if !hasVectors(t) || p.B.Type != t || p.Scalar != t && p.Scalar != t.part() {
		return NotSupported
	}
	n, part := t.Size(), t.part().Size()
	return c.rotation("rotg", t, slot{p.A.At, n, true, true}, slot{p.B.At, n, true, true}, slot{p.Alpha, part, false, true}, slot{p.Beta, n, false, true})
}

// Rotmg finds the modified rotation for two weights (A and B), the first coordinate (C)
// and the second (beta), and stores it where alpha points to.
func (c Call) Rotmg(p Problem) Status {
	t := p.A.Type
	if !hasVectors(t) || t.Complex() || p.B.Type != t || p.C.Type != t || p.Scalar != t {
		return NotSupported
	}
	n := t.Size()
	return c.rotation("rotmg", t, slot{p.A.At, n, true, true}, slot{p.B.At, n, true, true}, slot{p.C.At, n, true, true},
		slot{p.Beta, n, true, false}, slot{p.Alpha, 5 * n, true, true})
}

// rotation launches a kernel of one thread for numbers.
func (c Call) rotation(kernel string, t Type, slots ...slot) Status {
	return c.numbers(0, func(at []uint64, _ uint64) Status {
		var args []any
		for _, a := range at {
			args = append(args, a)
		}
		name := types[t].name
		one := cuda.Dim3{X: 1, Y: 1, Z: 1}
		return c.launch("vector_"+name, kernel+"_"+name, one, one, 0, args...)
	}, slots...)
}

// Dot is the sum of products of x and y, which are A and B; C is the result.
func (c Call) Dot(p Problem) Status { return c.reduce("dot", &p) }

// Dotc is Dot with the conjugates of x.
func (c Call) Dotc(p Problem) Status {
	if !p.A.Type.Complex() {
		return c.reduce("dot", &p)
	}
	return c.reduce("dotc", &p)
}

// Asum is the sum of absolute values, of complex numbers those of both parts.
func (c Call) Asum(p Problem) Status { return c.reduce("asum", &p) }

// Nrm2 is the Euclidean norm.
func (c Call) Nrm2(p Problem) Status { return c.reduce("nrm2", &p) }

// Amax is the first index, from 1, of the largest absolute value; of complex numbers the
// sum of those of both parts counts.
func (c Call) Amax(p Problem) Status { return c.reduce("amax", &p) }

// Amin is that of the smallest.
func (c Call) Amin(p Problem) Status { return c.reduce("amin", &p) }

// stateSize is the size of a state of a reduction, at most: of vector.cuh's nrm2 in double
// precision.
const stateSize = 32

// reduce launches both stages of a reduction.
func (c Call) reduce(kernel string, p *Problem) Status {
	t, single := p.A.Type, kernel != "dot" && kernel != "dotc"
	size := t.Size()
	result := t
	if single {
		size, result = t.part().Size(), t.part()
	}
	if kernel == "amax" || kernel == "amin" {
		size, result = p.C.Stride, p.C.Type // of an index, which has no type
	}
	if !hasVectors(t) || !single && p.B.Type != t || p.C.Type != result {
		return NotSupported
	}
	n := max(0, p.N)
	if single && p.A.LD <= 0 {
		n = 0 // as BLAS says
	}
	if n > 0 && (p.A.At == 0 || !single && p.B.At == 0) {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	blocks := c.vectorBlocks(n)
	name := types[t].name
	block := cuda.Dim3{X: vectorThreads, Y: 1, Z: 1}
	return c.numbers(blocks*stateSize, func(at []uint64, states uint64) Status {
		k := task{N: int32(n), Flags: flag(size == 8), A: p.A.vector(n), B: p.B.vector(n)}
		s := c.launch("vector_"+name, kernel+"_"+name, cuda.Dim3{X: uint32(blocks), Y: 1, Z: 1}, block, 0, k, states, at[0])
		if s != Success || blocks == 1 {
			return s
		}
		k = task{N: int32(blocks), Flags: k.Flags}
		return c.launch("vector_"+name, kernel+"_end_"+name, cuda.Dim3{X: 1, Y: 1, Z: 1}, block, 0, k, states, at[0])
	}, slot{p.C.At, size, false, true})
}

// slot is a number, or several, that a kernel reads or writes.
type slot struct {
	at          uint64
	size        int64
	read, write bool
}

// slotsSize is the part of the scratch memory for slots, each of which takes slotSize.
const (
	slotSize  = 64
	slotsSize = 8 * slotSize
)

// numbers calls f with addresses on the device for numbers: their own, or scratch memory to
// which those are copied that the host has. Afterwards it waits for results that the host
// gets. f has more scratch memory too, of a size that may be zero.
func (c Call) numbers(more int64, f func(at []uint64, more uint64) Status, slots ...slot) Status {
	at := make([]uint64, len(slots))
	for i, s := range slots {
		if s.at == 0 {
			return InvalidValue
		}
		at[i] = s.at
	}
	if c.Pointers == OnDevice {
		if more == 0 {
			return f(at, 0)
		}
		return c.Scratch(more, func(more uint64) Status { return f(at, more) })
	}
	return c.Scratch(slotsSize+more, func(base uint64) Status {
		for i, s := range slots {
			at[i] = base + uint64(i*slotSize)
			if s.read {
				if err := c.t.Copy(at[i], s.at, uint64(s.size), cuda.HostToDevice, c.Stream, true); err != cuda.Success {
					return StatusOf(err)
				}
			}
		}
		if s := f(at, base+slotsSize); s != Success {
			return s
		}
		wait := false
		for i, s := range slots {
			if s.write {
				if err := c.t.Copy(s.at, at[i], uint64(s.size), cuda.DeviceToHost, c.Stream, true); err != cuda.Success {
					return StatusOf(err)
				}
				wait = true
			}
		}
		if !wait {
			return Success
		}
		return StatusOf(c.t.StreamSynchronize(c.Stream))
	})
}
