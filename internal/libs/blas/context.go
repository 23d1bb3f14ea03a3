package blas

import (
	"cmp"
	"embed"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec/num"
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

	lock  sync.Mutex
	areas map[uint64]area // scratch memory by stream
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
	contexts.of[contexts.next] = &Context{areas: map[uint64]area{}}
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
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, stream := range slices.Sorted(maps.Keys(c.areas)) {
		if e := t.Free(c.areas[stream].at); err == cuda.Success {
			err = e
		}
	}
	c.areas = map[uint64]area{}
	return statusOf(err)
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

// scalar is alpha or beta for a kernel that computes in a type: the bytes of its
// parameter. Only f16 differs from what is computed with, f32.
func (c Call) scalar(addr uint64, t Type) ([]byte, bool) {
	if addr == 0 {
		return nil, false
	}
	le, size := binary.LittleEndian, t.Size()
	b := make([]byte, max(size, 8), 24)
	if c.Pointers == OnDevice {
		if t == F16 {
			b[4] = 1
		}
		return le.AppendUint64(b, addr), true
	}
	if c.t.Read(addr, b[:size]) != cuda.Success {
		return nil, false
	}
	if t == F16 {
		le.PutUint32(b, num.F16ToF32(le.Uint16(b)))
	}
	return append(b, make([]byte, 8)...), true
}

// launch starts a kernel in the context's stream.
func (c Call) launch(file, kernel string, grid, block cuda.Dim3, shared uint64, args ...any) Status {
	return statusOf(c.t.LaunchOwn(kernels[file], kernel, cuda.Call{Grid: grid, Block: block, Shared: shared, Stream: c.Stream}, args...))
}

// capability is ten times the GPU's compute capability.
func (c Call) capability() int {
	p := c.t.Properties()
	return 10*p.Major + p.Minor
}
