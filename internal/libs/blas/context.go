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

// Settings are what a program chooses for a handle.
type Settings struct {
	Stream   uint64
	Pointers PointerMode
	Math     Math
	Atomics  int32 // 1: allowed; no kernel here needs them
	SMs      int32 // for which kernels are chosen; 0: all
}

// context is what a cublasHandle_t stands for. The lock of contexts guards it.
type context struct {
	Settings
	life cuda.Life // of that device, when the context was last used
	kept []uint64  // memory that graphs use
}

// contexts are the handles that exist.
var contexts = struct {
	sync.Mutex
	next uint64
	of   map[uint64]*context
}{next: firstHandle, of: map[uint64]*context{}}

// firstHandle makes handles look like pointers, which no program dereferences.
const firstHandle = 0x5100_0000_0000

// Create makes a context.
func Create(t *cuda.Thread) (handle uint64, s Status) {
	if err := t.Answer(cuda.Success); err != cuda.Success {
		return 0, NotInitialized
	}
	life := t.Life()
	contexts.Lock()
	defer contexts.Unlock()
	contexts.next += 64
	contexts.of[contexts.next] = &context{life: life}
	return contexts.next, Success
}

// Destroy ends a context. As documented, it waits for the device.
func Destroy(t *cuda.Thread, handle uint64) Status {
	c, s := Of(t, handle)
	if s != Success {
		return s
	}
	contexts.Lock()
	kept := c.of.kept
	c.of.kept = nil
	delete(contexts.of, handle)
	contexts.Unlock()
	err := t.Synchronize()
	for _, at := range kept {
		if e := t.Free(at); err == cuda.Success {
			err = e
		}
	}
	return StatusOf(err)
}

// Call is a call of a thread with a context. The settings are those at its beginning, which
// other threads may change meanwhile.
type Call struct {
	Settings
	of *context
	t  *cuda.Thread
}

// Of begins a call.
func Of(t *cuda.Thread, handle uint64) (Call, Status) {
	contexts.Lock()
	defer contexts.Unlock()
	c := contexts.of[handle]
	if c == nil {
		return Call{}, NotInitialized
	}
	if now, reset := t.Since(c.life); reset { // the stream is gone, and memory
		c.life, c.Stream, c.kept = now, 0, nil
	}
	return Call{c.Settings, c, t}, Success
}

// With is a call with the same context but other settings.
func (c Call) With(s Settings) Call { return Call{s, c.of, c.t} }

// set changes the settings of the context, and those of this call.
func (c *Call) set(f func(*Settings)) Status {
	f(&c.Settings)
	contexts.Lock()
	defer contexts.Unlock()
	f(&c.of.Settings)
	return Success
}

// SetStream sets the stream of all further kernels.
func (c *Call) SetStream(stream uint64) Status {
	return c.set(func(s *Settings) { s.Stream = stream })
}

// SetPointers sets where scalars lie.
func (c *Call) SetPointers(mode PointerMode) Status {
	if mode != OnHost && mode != OnDevice {
		return InvalidValue
	}
	return c.set(func(s *Settings) { s.Pointers = mode })
}

// SetAtomics allows kernels that use atomics, or forbids them.
func (c *Call) SetAtomics(mode int32) Status {
	if mode != 0 && mode != 1 {
		return InvalidValue
	}
	return c.set(func(s *Settings) { s.Atomics = mode })
}

// SetMath sets which precision kernels may use.
func (c *Call) SetMath(mode Math) Status {
	if mode&^(mathKinds|NoReduced) != 0 || mode&mathKinds > TF32Math {
		return InvalidValue
	}
	return c.set(func(s *Settings) { s.Math = mode })
}

// SetSMs sets the number of SMs for which kernels are chosen, 0 for all.
func (c *Call) SetSMs(n int32) Status {
	if n < 0 || int(n) > c.t.Properties().SMs {
		return InvalidValue
	}
	return c.set(func(s *Settings) { s.SMs = n })
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
