package cuda

import "github.com/heddle-sim/heddle/internal/exec"

// This file: tensor maps as programs make them (CUDA driver API, cuTensorMapEncodeTiled and Im2col).

// TensorSpec is what a program says about a tensor map, with the codes of the driver's API.
type TensorSpec struct {
	exec.TensorMap
	Kind, Layout, Swizzling, Fill uint32 // data type, interleave, swizzle, elements outside
}

// TensorMap returns the map of a description.
func (t *Thread) TensorMap(s *TensorSpec) (raw [exec.TensorMapBytes]byte, err Error) {
	err = t.do(func(r *Runtime) Error {
		if r.props.Major < 9 {
			return NotSupported
		}
		if s.Layout > 2 || s.Swizzling > 6 || s.Fill > 1 || s.Kind > 15 {
			return InvalidValue
		}
		if s.Swizzling == 4 && r.props.Major >= 10 { // CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B
			s.Swizzling, s.Atom = 3, 1
		}
		most := exec.TensorTF32FTZ
		if r.props.Major >= 10 {
			most = exec.TensorU6Spread
		}
		if s.Layout != 0 || s.Swizzling > 3 || s.Kind > uint32(most) {
			r.once("tensormap", "tensor maps with interleave %d, swizzle %d, type %d are not supported: want no interleave, a swizzle of at most 3 (4 from compute capability 10.0 on) and a type of at most %d", s.Layout, s.Swizzling, s.Kind, most)
			return NotSupported
		}
		s.Type, s.Swizzle, s.NaN = exec.TensorType(s.Kind), uint8(s.Swizzling), s.Fill == 1
		for i := s.Rank; i < len(s.Dims); i++ { // a map may get dimensions later
			s.Dims[i], s.Steps[i] = max(1, s.Dims[i]), max(1, s.Steps[i])
		}
		s.Steps[0] = 1 // has no effect without an interleave
		unpacked := s.TensorMap
		wrong := unpacked.Unpack()
		if wrong == nil {
			wrong = unpacked.Check()
		}
		if wrong != nil {
			r.once(wrong.Error(), "tensor map: %v", wrong)
			return InvalidValue
		}
		s.Encode(&raw)
		return Success
	})
	return raw, err
}
