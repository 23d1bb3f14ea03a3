package blas

import (
	"cmp"
	"embed"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

//go:embed kernels/*.fatbin.zst
var files embed.FS

// kernels are the compiled kernels, by source file.
var kernels = libs.Kernels("cublas", files)

// Version is the release of cuBLAS whose functions are here.
const Version = 120900

// Context is what a cublasHandle_t stands for.
type Context struct {
	Stream   uint64
	Pointers PointerMode
	Math     Math
	Atomics  int32 // 1: allowed; no kernel here needs them
	SMs      int32 // for which kernels are chosen; 0: all

	scratch *scratch
}

// contexts are the handles that exist.
var contexts = struct {
	sync.Mutex
	next uint64
	of   map[uint64]*Context
}{next: firstHandle, of: map[uint64]*Context{}}

// firstHandle makes handles look like pointers, which no program dereferences.
const firstHandle = 0x5100_0000_0000

// Create makes a context.
func Create(t *cuda.Thread) (handle uint64, s Status) {
	if err := t.Answer(cuda.Success); err != cuda.Success {
		return 0, NotInitialized
	}
	contexts.Lock()
	defer contexts.Unlock()
	contexts.next += 64
	contexts.of[contexts.next] = &Context{scratch: &scratch{areas: map[uint64]area{}}}
	return contexts.next, Success
}

// Destroy ends a context. As documented, it waits for the device.
func Destroy(t *cuda.Thread, handle uint64) Status {
	contexts.Lock()
	c, ok := contexts.of[handle]
	delete(contexts.of, handle)
	contexts.Unlock()
	if !ok {
		return NotInitialized
	}
	err := t.Synchronize()
	if e := c.scratch.free(t); err == cuda.Success {
		err = e
	}
	return StatusOf(err)
}

// Call is a call of a thread with a context.
type Call struct {
	*Context
	t *cuda.Thread
}

// Of begins a call.
func Of(t *cuda.Thread, handle uint64) (Call, Status) {
	contexts.Lock()
	defer contexts.Unlock()
	c := contexts.of[handle]
	if c == nil {
		return Call{}, NotInitialized
	}
	return Call{c, t}, Success
}

// With is a call with the same context but for its stream and the place of scalars.
func (c Call) With(stream uint64, mode PointerMode) Call {
	own := *c.Context
	own.Stream, own.Pointers = stream, mode
	return Call{&own, c.t}
}

// SetStream sets the stream of all further kernels.
func (c Call) SetStream(stream uint64) Status {
	c.Stream = stream
	return Success
}

// SetPointers sets where scalars lie.
func (c Call) SetPointers(mode PointerMode) Status {
	if mode != OnHost && mode != OnDevice {
		return InvalidValue
	}
	c.Pointers = mode
	return Success
}

// SetAtomics allows kernels that use atomics, or forbids them.
func (c Call) SetAtomics(mode int32) Status {
	if mode != 0 && mode != 1 {
		return InvalidValue
	}
	c.Atomics = mode
	return Success
}

// SetMath sets which precision kernels may use.
func (c Call) SetMath(mode Math) Status {
	if mode&^(mathKinds|NoReduced) != 0 || mode&mathKinds > TF32Math {
		return InvalidValue
	}
	c.Math = mode
	return Success
}

// SetSMs sets the number of SMs for which kernels are chosen, 0 for all.
func (c Call) SetSMs(n int32) Status {
	if n < 0 || int(n) > c.t.Properties().SMs {
		return InvalidValue
	}
	c.SMs = n
	return Success
}

// SetWorkspace takes memory for kernels, which no kernel here needs. As documented, it is
// aligned to 256 bytes.
func (c Call) SetWorkspace(at, bytes uint64) Status {
	if at%256 != 0 {
		return InvalidValue
	}
	return Success
}

// sms is the number of SMs for which kernels are chosen.
func (c Call) sms() int64 { return cmp.Or(int64(c.SMs), int64(c.t.Properties().SMs)) }

// launch starts a kernel in the context's stream.
func (c Call) launch(file, kernel string, grid, block cuda.Dim3, shared uint64, args ...any) Status {
	return StatusOf(c.t.LaunchOwn(kernels[file], kernel, cuda.Call{Grid: grid, Block: block, Shared: shared, Stream: c.Stream}, args...))
}

// capability is ten times the GPU's compute capability.
func (c Call) capability() int {
	p := c.t.Properties()
	return 10*p.Major + p.Minor
}
