package cuda

import "github.com/heddle-sim/heddle/internal/program"

// Launch gives a kernel to a stream. The arguments are in a buffer, laid out as
// the kernel's parameters are, or, if that is nil, arg copies the bytes of the
// n-th one.
func (d Driver) Launch(fn uint64, c Call, cooperative bool, buffer []byte, arg func(n int, to []byte)) Result {
	return d.In(func(t *Thread) Result {
		k, res := d.kernel(fn)
		switch {
		case res != ResultSuccess:
			return res
		case buffer != nil && len(buffer) < k.ParamBytes():
			t.r.mu.Lock()
			defer t.r.mu.Unlock()
			t.r.once("arguments "+k.Name(), "kernel %s has %d bytes of parameters, and the launch gives %d", k.Name(), k.ParamBytes(), len(buffer))
			return ResultInvalidValue
		case buffer == nil && arg == nil && len(k.Params()) > 0:
			return ResultInvalidValue
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
func (d Driver) kernel(fn uint64) (k *program.Kernel, res Result) {
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
