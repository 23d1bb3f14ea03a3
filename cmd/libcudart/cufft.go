package main

// #include "host.h"
import "C"

import (
	"encoding/binary"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/libs/fft"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: cuFFT.

// inFft runs a call with a plan.
func inFft(h C.int, f func(c fft.Call) fft.Result) C.int {
	c, r := fft.Of(thread(), int32(h))
	if r == fft.Success {
		r = f(c)
	}
	return C.int(r)
}

// giveFft stores a result. A null pointer is an error.
func giveFft[T any](addr C.uintptr_t, v T) fft.Result {
	if addr == 0 || !put(addr, v) {
		return fft.InvalidValue
	}
	return fft.Success
}

// newPlan makes a plan with a shape.
func newPlan(to C.uintptr_t, s fft.Shape, r fft.Result) C.int {
	if r != fft.Success {
		return C.int(r)
	}
	if to == 0 {
		return C.int(fft.InvalidValue)
	}
	t := thread()
	h, r := fft.Create(t)
	if r != fft.Success {
		return C.int(r)
	}
	r = fft.Result(inFft(C.int(h), func(c fft.Call) fft.Result {
		if _, r := c.Make(s); r != fft.Success {
			return r
		}
		return giveFft(to, C.int(h))
	}))
	if r != fft.Success {
		fft.Destroy(t, h)
	}
	return C.int(r)
}

// makePlan gives a plan a shape, and stores the size of its work area.
func makePlan(h C.int, s fft.Shape, r fft.Result, size C.uintptr_t) C.int {
	return inFft(h, func(c fft.Call) fft.Result {
		if r != fft.Success {
			return r
		}
		if size == 0 {
			return fft.InvalidValue
		}
		n, r := c.Make(s)
		if r != fft.Success {
			return r
		}
		return giveFft(size, C.size_t(n))
	})
}

// sizeOfPlan stores the size of the work area of a shape.
func sizeOfPlan(s fft.Shape, r fft.Result, size C.uintptr_t) fft.Result {
	if r != fft.Success {
		return r
	}
	n, r := fft.Need(thread(), &s)
	if r != fft.Success {
		return r
	}
	return giveFft(size, C.size_t(n))
}

// lengths is a shape without a layout.
func lengths(t, batch C.int, n ...C.int) fft.Shape {
	s := fft.Shape{Type: fft.Type(t), Batch: int64(batch)}
	for _, n := range n {
		s.N = append(s.N, int64(n))
	}
	return s
}

// numbers reads an array of the program, of int or long long.
func numbers[T C.int | C.longlong](addr C.uintptr_t, n int) ([]int64, bool) {
	size := int(unsafe.Sizeof(T(0)))
	b := make([]byte, n*size)
	if thread().Read(uint64(addr), b) != cuda.Success {
		return nil, false
	}
	list := make([]int64, n)
	for i := range list {
		if size == 8 {
			list[i] = int64(binary.NativeEndian.Uint64(b[8*i:]))
		} else {
			list[i] = int64(int32(binary.NativeEndian.Uint32(b[4*i:])))
		}
	}
	return list, true
}

// many is a shape with an advanced layout, if the extents of memory are given.
func many[T C.int | C.longlong](rank C.int, n, inembed C.uintptr_t, istride, idist T, onembed C.uintptr_t, ostride, odist T, t fft.Type, batch T) (fft.Shape, fft.Result) {
	s := fft.Shape{Type: t, Batch: int64(batch)}
	if rank < 1 || rank > 3 {
		return s, fft.InvalidValue
	}
	var ok bool
	if s.N, ok = numbers[T](n, int(rank)); !ok {
		return s, fft.InvalidValue
	}
	if inembed == 0 || onembed == 0 {
		return s, fft.Success
	}
	in, ok := numbers[T](inembed, int(rank))
	out, ok2 := numbers[T](onembed, int(rank))
	if !ok || !ok2 {
		return s, fft.InvalidValue
	}
	s.Layouts = &[2]fft.Layout{{Embed: in, Stride: int64(istride), Dist: int64(idist)}, {Embed: out, Stride: int64(ostride), Dist: int64(odist)}}
	return s, fft.Success
}

//export cufftCreate
func cufftCreate(to C.uintptr_t) C.int {
	if to == 0 {
		return C.int(fft.InvalidValue)
	}
	h, r := fft.Create(thread())
	if r == fft.Success {
		r = giveFft(to, C.int(h))
	}
	return C.int(r)
}

//export cufftDestroy
func cufftDestroy(h C.int) C.int { return C.int(fft.Destroy(thread(), int32(h))) }

//export cufftPlan1d
func cufftPlan1d(to C.uintptr_t, nx, t, batch C.int) C.int {
	return newPlan(to, lengths(t, batch, nx), fft.Success)
}

//export cufftPlan2d
func cufftPlan2d(to C.uintptr_t, nx, ny, t C.int) C.int {
	return newPlan(to, lengths(t, 1, nx, ny), fft.Success)
}

//export cufftPlan3d
func cufftPlan3d(to C.uintptr_t, nx, ny, nz, t C.int) C.int {
	return newPlan(to, lengths(t, 1, nx, ny, nz), fft.Success)
}

//export cufftPlanMany
func cufftPlanMany(to C.uintptr_t, rank C.int, n, inembed C.uintptr_t, istride, idist C.int, onembed C.uintptr_t, ostride, odist, t, batch C.int) C.int {
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, fft.Type(t), batch)
	return newPlan(to, s, r)
}

//export cufftMakePlan1d
func cufftMakePlan1d(h, nx, t, batch C.int, size C.uintptr_t) C.int {
	return makePlan(h, lengths(t, batch, nx), fft.Success, size)
}

//export cufftMakePlan2d
func cufftMakePlan2d(h, nx, ny, t C.int, size C.uintptr_t) C.int {
	return makePlan(h, lengths(t, 1, nx, ny), fft.Success, size)
}

//export cufftMakePlan3d
func cufftMakePlan3d(h, nx, ny, nz, t C.int, size C.uintptr_t) C.int {
	return makePlan(h, lengths(t, 1, nx, ny, nz), fft.Success, size)
}

//export cufftMakePlanMany
func cufftMakePlanMany(h, rank C.int, n, inembed C.uintptr_t, istride, idist C.int, onembed C.uintptr_t, ostride, odist, t, batch C.int, size C.uintptr_t) C.int {
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, fft.Type(t), batch)
	return makePlan(h, s, r, size)
}

//export cufftMakePlanMany64
func cufftMakePlanMany64(h, rank C.int, n, inembed C.uintptr_t, istride, idist C.longlong, onembed C.uintptr_t, ostride, odist C.longlong, t C.int, batch C.longlong, size C.uintptr_t) C.int {
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, fft.Type(t), batch)
	return makePlan(h, s, r, size)
}

//export cufftXtMakePlanMany
func cufftXtMakePlanMany(h, rank C.int, n, inembed C.uintptr_t, istride, idist C.longlong, from C.int, onembed C.uintptr_t, ostride, odist C.longlong, to C.int, batch C.longlong, size C.uintptr_t, execution C.int) C.int {
	t, r := fft.TypeOf(thread(), int32(from), int32(to), int32(execution))
	if r != fft.Success {
		return C.int(r)
	}
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, t, batch)
	return makePlan(h, s, r, size)
}

//export cufftEstimate1d
func cufftEstimate1d(nx, t, batch C.int, size C.uintptr_t) C.int {
	return C.int(sizeOfPlan(lengths(t, batch, nx), fft.Success, size))
}

//export cufftEstimate2d
func cufftEstimate2d(nx, ny, t C.int, size C.uintptr_t) C.int {
	return C.int(sizeOfPlan(lengths(t, 1, nx, ny), fft.Success, size))
}

//export cufftEstimate3d
func cufftEstimate3d(nx, ny, nz, t C.int, size C.uintptr_t) C.int {
	return C.int(sizeOfPlan(lengths(t, 1, nx, ny, nz), fft.Success, size))
}

//export cufftEstimateMany
func cufftEstimateMany(rank C.int, n, inembed C.uintptr_t, istride, idist C.int, onembed C.uintptr_t, ostride, odist, t, batch C.int, size C.uintptr_t) C.int {
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, fft.Type(t), batch)
	return C.int(sizeOfPlan(s, r, size))
}

// These estimate more closely, for a plan that is about to be made. Here all are exact.

//export cufftGetSize1d
func cufftGetSize1d(h, nx, t, batch C.int, size C.uintptr_t) C.int {
	return inFft(h, func(fft.Call) fft.Result { return sizeOfPlan(lengths(t, batch, nx), fft.Success, size) })
}

//export cufftGetSize2d
func cufftGetSize2d(h, nx, ny, t C.int, size C.uintptr_t) C.int {
	return inFft(h, func(fft.Call) fft.Result { return sizeOfPlan(lengths(t, 1, nx, ny), fft.Success, size) })
}

//export cufftGetSize3d
func cufftGetSize3d(h, nx, ny, nz, t C.int, size C.uintptr_t) C.int {
	return inFft(h, func(fft.Call) fft.Result { return sizeOfPlan(lengths(t, 1, nx, ny, nz), fft.Success, size) })
}

//export cufftGetSizeMany
func cufftGetSizeMany(h, rank C.int, n, inembed C.uintptr_t, istride, idist C.int, onembed C.uintptr_t, ostride, odist, t, batch C.int, size C.uintptr_t) C.int {
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, fft.Type(t), batch)
	return inFft(h, func(fft.Call) fft.Result { return sizeOfPlan(s, r, size) })
}

//export cufftGetSizeMany64
func cufftGetSizeMany64(h, rank C.int, n, inembed C.uintptr_t, istride, idist C.longlong, onembed C.uintptr_t, ostride, odist C.longlong, t C.int, batch C.longlong, size C.uintptr_t) C.int {
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, fft.Type(t), batch)
	return inFft(h, func(fft.Call) fft.Result { return sizeOfPlan(s, r, size) })
}

//export cufftXtGetSizeMany
func cufftXtGetSizeMany(h, rank C.int, n, inembed C.uintptr_t, istride, idist C.longlong, from C.int, onembed C.uintptr_t, ostride, odist C.longlong, to C.int, batch C.longlong, size C.uintptr_t, execution C.int) C.int {
	t, r := fft.TypeOf(thread(), int32(from), int32(to), int32(execution))
	if r != fft.Success {
		return C.int(r)
	}
	s, r := many(rank, n, inembed, istride, idist, onembed, ostride, odist, t, batch)
	return inFft(h, func(fft.Call) fft.Result { return sizeOfPlan(s, r, size) })
}

//export cufftGetSize
func cufftGetSize(h C.int, size C.uintptr_t) C.int {
	return inFft(h, func(c fft.Call) fft.Result {
		n, r := c.Size()
		if r != fft.Success {
			return r
		}
		return giveFft(size, C.size_t(n))
	})
}

//export cufftSetWorkArea
func cufftSetWorkArea(h C.int, at C.uintptr_t) C.int {
	return inFft(h, func(c fft.Call) fft.Result { return c.SetArea(uint64(at)) })
}

//export cufftSetAutoAllocation
func cufftSetAutoAllocation(h, on C.int) C.int {
	return inFft(h, func(c fft.Call) fft.Result { return c.SetAutomatic(on != 0) })
}

//export cufftXtSetWorkAreaPolicy
func cufftXtSetWorkAreaPolicy(h, policy C.int, size C.uintptr_t) C.int {
	return inFft(h, func(c fft.Call) fft.Result { return c.SetPolicy(int32(policy)) })
}

//export cufftSetStream
func cufftSetStream(h C.int, stream C.uintptr_t) C.int {
	return inFft(h, func(c fft.Call) fft.Result { return c.SetStream(uint64(stream)) })
}

//export cufftExecC2C
func cufftExecC2C(h C.int, from, to C.uintptr_t, d C.int) C.int {
	return execute(h, fft.C2C, from, to, d)
}

//export cufftExecZ2Z
func cufftExecZ2Z(h C.int, from, to C.uintptr_t, d C.int) C.int {
	return execute(h, fft.Z2Z, from, to, d)
}

//export cufftExecR2C
func cufftExecR2C(h C.int, from, to C.uintptr_t) C.int { return execute(h, fft.R2C, from, to, 0) }

//export cufftExecC2R
func cufftExecC2R(h C.int, from, to C.uintptr_t) C.int { return execute(h, fft.C2R, from, to, 0) }

//export cufftExecD2Z
func cufftExecD2Z(h C.int, from, to C.uintptr_t) C.int { return execute(h, fft.D2Z, from, to, 0) }

//export cufftExecZ2D
func cufftExecZ2D(h C.int, from, to C.uintptr_t) C.int { return execute(h, fft.Z2D, from, to, 0) }

func execute(h C.int, t fft.Type, from, to C.uintptr_t, d C.int) C.int {
	return inFft(h, func(c fft.Call) fft.Result { return c.Execute(t, uint64(from), uint64(to), fft.Direction(d)) })
}

//export cufftXtExec
func cufftXtExec(h C.int, from, to C.uintptr_t, d C.int) C.int {
	return inFft(h, func(c fft.Call) fft.Result {
		t, r := c.Type()
		if r != fft.Success {
			return r
		}
		return c.Execute(t, uint64(from), uint64(to), fft.Direction(d))
	})
}

//export cufftGetVersion
func cufftGetVersion(to C.uintptr_t) C.int { return C.int(giveFft(to, C.int(fft.Version))) }

//export cufftGetProperty
func cufftGetProperty(which C.int, to C.uintptr_t) C.int {
	if v, ok := versionPart(fft.Version, which); ok {
		return C.int(giveFft(to, v))
	}
	return C.int(fft.InvalidValue)
}

//export heddleFftMissing
func heddleFftMissing(name *C.char) C.int { return C.int(fft.Missing(thread(), C.GoString(name))) }
