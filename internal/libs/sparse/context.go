package sparse

import (
	"embed"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

//go:embed kernels/*.fatbin.zst
var files embed.FS

// kernels are the compiled kernels, by source file.
var kernels = libs.Kernels("cusparse", files)

// Version is the release of cuSPARSE whose functions are here.
const Version = 12510

// Nominal is the size of every buffer that the library asks for. Programs allocate it, and
// a size of 0 would give them null pointers.
const Nominal = 16

// Call is a call of a thread with a handle. A handle is one of cuBLAS: both have a stream,
// and a place for scalars.
type Call struct {
	blas.Call
	t *cuda.Thread
}

// Create makes a handle.
func Create(t *cuda.Thread) (handle uint64, s Status) {
	h, r := blas.Create(t)
	if r != blas.Success {
		return 0, ofBlas(r)
	}
	return add(owner{h}), Success
}

// owner is what a cusparseHandle_t stands for.
type owner struct{ blas uint64 }

// Destroy ends a handle.
func Destroy(t *cuda.Thread, handle uint64) Status {
	o, ok := Get[owner](handle)
	if !ok {
		return NotInitialized
	}
	Remove[owner](handle)
	return ofBlas(blas.Destroy(t, o.blas))
}

// Of begins a call.
func Of(t *cuda.Thread, handle uint64) (Call, Status) {
	o, ok := Get[owner](handle)
	if !ok {
		return Call{}, NotInitialized
	}
	c, s := blas.Of(t, o.blas)
	return Call{c, t}, ofBlas(s)
}

// objects are the handles and descriptors that exist.
var objects = struct {
	sync.Mutex
	next uint64
	of   map[uint64]any
}{next: firstObject, of: map[uint64]any{}}

// firstObject makes handles look like pointers, which no program dereferences.
const firstObject = 0x5200_0000_0000

// add makes a handle for an object.
func add[T any](v T) uint64 {
	objects.Lock()
	defer objects.Unlock()
	objects.next += 64
	objects.of[objects.next] = &v
	return objects.next
}

// Get is the object of a handle.
func Get[T any](handle uint64) (*T, bool) {
	objects.Lock()
	defer objects.Unlock()
	v, ok := objects.of[handle].(*T)
	return v, ok
}

// destroy ends an object with memory on the device, unless that cannot be freed now.
func destroy[T any](t *cuda.Thread, handle uint64, memory func(*T) *libs.Memory) Status {
	v, ok := Get[T](handle)
	if !ok || Remove[T](handle) != Success || memory(v).Lost(t) {
		return InvalidValue
	}
	s := statusOf(memory(v).FreeAll(t))
	if s != Success {
		objects.Lock()
		defer objects.Unlock()
		objects.of[handle] = v
	}
	return s
}

// Remove ends an object.
func Remove[T any](handle uint64) Status {
	objects.Lock()
	defer objects.Unlock()
	if _, ok := objects.of[handle].(*T); !ok {
		return InvalidValue
	}
	delete(objects.of, handle)
	return Success
}
