package blas

import (
	"embed"
	"encoding/binary"
	"math"
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
	Stream    uint64
	Pointers  PointerMode
	Math      Math
	Atomics   int32
	SMs       int32  // cublasSetSmCountTarget; 0: all
	Logger    uint64 // the program's function, which is never called
	workspace uint64 // given by the program, not used
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
	contexts.of[contexts.next] = &Context{}
	return contexts.next, Success
}

// Destroy ends a context. As documented, it waits for the device.
func Destroy(t *cuda.Thread, handle uint64) Status {
	contexts.Lock()
	_, ok := contexts.of[handle]
	delete(contexts.of, handle)
	contexts.Unlock()
	if !ok {
		return NotInitialized
	}
	return statusOf(t.Synchronize())
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

// constant is a scalar with a value.
func constant(v float64, t Type) []byte {
	le := binary.LittleEndian
	b := make([]byte, max(t.Size(), 8)+8)
	switch t {
	case F64, C64:
		le.PutUint64(b, math.Float64bits(v))
	case I32:
		le.PutUint32(b, uint32(int32(v)))
	default:
		le.PutUint32(b, math.Float32bits(float32(v)))
	}
	return b
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
