package cuda

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Launch enqueues a kernel in a stream. The arguments are in a buffer with the layout of
// the kernel's parameters or, if that is nil, arg copies the bytes of the n-th one.
func (d Driver) Launch(fn uint64, c Call, cooperative bool, buffer []byte, arg func(n int, to []byte)) Result {
	return d.In(func(t *Thread) Result {
		k, res := d.kernel(fn)
		switch {
		case res != ResultSuccess:
			return res
		case buffer != nil && len(buffer) < k.ParamBytes():
			t.r.mu.Lock()
			defer t.r.mu.Unlock()
			t.r.once("arguments "+k.Name(), "kernel %s has %d bytes of parameters, but the launch passes %d", k.Name(), k.ParamBytes(), len(buffer))
			return ResultInvalidValue
		case buffer == nil && arg == nil && len(k.Params()) > 0:
			return ResultInvalidValue
		}
		if res := d.bindTextures(fn); res != ResultSuccess {
			return res
		}
		return t.Launch(fn, c, cooperative, func(n, offset int, to []byte) {
			if buffer == nil {
				arg(n, to)
				return
			}
			copy(to, buffer[offset:])
		}).Result()
	})
}

// kernel returns a function's kernel.
func (d Driver) kernel(fn uint64) (k exec.Kernel, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if err := r.begin(); err != Success {
			return err.Result()
		}
		f, err := r.function(fn)
		if err == Success {
			k = f.kernel
		}
		return err.Result()
	})
	return k, res
}

// Parameter returns the offset and the bytes of a kernel's n-th parameter.
func (d Driver) Parameter(fn uint64, n int) (offset, size int, res Result) {
	res = d.In(func(*Thread) Result {
		k, res := d.kernel(fn)
		if res != ResultSuccess {
			return res
		}
		params := k.Params()
		if n < 0 || n >= len(params) {
			return ResultInvalidValue
		}
		offset, size = params[n].Offset, params[n].Size
		return ResultSuccess
	})
	return offset, size, res
}

// shaped is a launch in the style of CUDA before 4.0, prepared by several calls.
type shaped struct {
	block  Dim3
	shared uint64
	params []byte
}

// shapedOf runs one step of preparing such a launch.
func (d Driver) shapedOf(fn uint64, f func(s *shaped) Result) Result {
	return d.In(func(*Thread) Result {
		return d.locked(func(r *Runtime, t *Thread) Result {
			k := r.kernels[fn]
			if k == nil {
				return ResultInvalidHandle
			}
			if k.shaped == nil {
				k.shaped = &shaped{block: Dim3{X: 1, Y: 1, Z: 1}}
			}
			return f(k.shaped)
		})
	})
}

// Shape sets the block size of a kernel (cuFuncSetBlockShape).
func (d Driver) Shape(fn uint64, block Dim3) Result {
	return d.shapedOf(fn, func(s *shaped) Result { s.block = block; return ResultSuccess })
}

// SharedSize sets the dynamic shared memory of a block, in bytes.
func (d Driver) SharedSize(fn, bytes uint64) Result {
	return d.shapedOf(fn, func(s *shaped) Result { s.shared = bytes; return ResultSuccess })
}

// SetParameter sets bytes of the parameters at an offset; without bytes it sets the size
// of all parameters.
func (d Driver) SetParameter(fn, offset uint64, b []byte) Result {
	return d.shapedOf(fn, func(s *shaped) Result {
		end := offset + uint64(len(b))
		if offset > isa.MaxParams || end > isa.MaxParams {
			return ResultInvalidValue
		}
		if need := int(end) - len(s.params); need > 0 {
			s.params = append(s.params, make([]byte, need)...)
		}
		copy(s.params[offset:], b)
		return ResultSuccess
	})
}

// LaunchShaped runs the prepared launch.
func (d Driver) LaunchShaped(fn uint64, grid Dim3, stream uint64) Result {
	var c Call
	params := []byte{}
	res := d.shapedOf(fn, func(s *shaped) Result {
		c = Call{Grid: grid, Block: s.block, Shared: s.shared, Stream: stream}
		params = append(params, s.params...)
		return ResultSuccess
	})
	if res != ResultSuccess {
		return res
	}
	return d.Launch(fn, c, false, params, nil)
}
