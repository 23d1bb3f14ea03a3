package main

// #include <stdint.h>
// #include <stddef.h>
import "C"

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Tensor maps.

// tensorRank is the largest rank of a tensor map.
const tensorRank = 5

// tensorSpec reads what both kinds of maps have; false if a pointer or the rank is invalid.
func tensorSpec(kind, rank C.uint, address, dims, strides, steps C.uintptr_t) (s cuda.TensorSpec, ok bool) {
	if rank < 1 || rank > tensorRank || dims == 0 || steps == 0 || rank > 1 && strides == 0 {
		return s, false
	}
	s.Kind, s.Rank, s.Address = uint32(kind), int(rank), uint64(address)
	for i := range s.Rank {
		s.Dims[i] = *at[uint64](dims + C.uintptr_t(8*i))
		s.Steps[i] = *at[uint32](steps + C.uintptr_t(4*i))
		if i > 0 {
			s.Strides[i] = *at[uint64](strides + C.uintptr_t(8*i-8))
		}
	}
	return s, true
}

// encodeTensor writes a map.
func encodeTensor(to C.uintptr_t, s *cuda.TensorSpec, layout, swizzle, fill C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		if to%64 != 0 {
			return cuda.InvalidValue
		}
		s.Layout, s.Swizzling, s.Fill = uint32(layout), uint32(swizzle), uint32(fill)
		raw, err := t.TensorMap(s)
		if err == cuda.Success {
			*at[[exec.TensorMapBytes]byte](to) = raw
		}
		return err
	}, to)
}

//export cuTensorMapEncodeTiled
func cuTensorMapEncodeTiled(to C.uintptr_t, kind, rank C.uint, address, dims, strides, box, steps C.uintptr_t, layout, swizzle, promotion, fill C.uint) C.int {
	s, ok := tensorSpec(kind, rank, address, dims, strides, steps)
	if !ok || box == 0 {
		return setting(false)
	}
	for i := range s.Rank {
		s.Box[i] = *at[uint32](box + C.uintptr_t(4*i))
		if s.Box[i] > 256 { // more does not fit into a map
			return setting(false)
		}
	}
	return encodeTensor(to, &s, layout, swizzle, fill)
}

//export cuTensorMapEncodeIm2col
func cuTensorMapEncodeIm2col(to C.uintptr_t, kind, rank C.uint, address, dims, strides, lower, upper C.uintptr_t, channels, pixels C.uint, steps C.uintptr_t, layout, swizzle, promotion, fill C.uint) C.int {
	s, ok := tensorSpec(kind, rank, address, dims, strides, steps)
	if !ok || rank < 3 || lower == 0 || upper == 0 || channels > 256 || pixels > 1024 {
		return setting(false)
	}
	s.Im2col, s.Box[0], s.Box[1] = true, uint32(channels), uint32(pixels)
	for i := range s.Rank - 2 {
		lo, up := *at[int32](lower + C.uintptr_t(4*i)), *at[int32](upper + C.uintptr_t(4*i))
		if lo != int32(int16(lo)) || up != int32(int16(up)) {
			return setting(false)
		}
		s.Lower[i], s.Upper[i] = int16(lo), int16(up)
	}
	return encodeTensor(to, &s, layout, swizzle, fill)
}

//export cuTensorMapReplaceAddress
func cuTensorMapReplaceAddress(to, address C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		var m exec.TensorMap
		raw := at[[exec.TensorMapBytes]byte](to)
		if to%64 != 0 || address%16 != 0 || m.Decode(raw) != nil {
			return cuda.InvalidValue
		}
		m.Address = uint64(address)
		m.Encode(raw)
		return cuda.Success
	}, to)
}
