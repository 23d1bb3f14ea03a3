// Package libstest is a simulated GPU for tests of libraries: a runtime without C, whose
// host is the test's own process.
package libstest

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// GPU is a device with a thread of a program.
type GPU struct {
	*cuda.Thread
	Runtime *cuda.Runtime
	Log     *bytes.Buffer // faults and warnings
	t       testing.TB
	keep    []any // what the device may still read
}

// New makes one. edit, if not nil, changes its options.
func New(t testing.TB, gpu string, edit func(*cuda.Options)) *GPU {
	t.Helper()
	g := &GPU{t: t, Log: new(bytes.Buffer)}
	o := cuda.Options{Options: run.Options{GPU: gpu}, Host: host{}, Log: g.Log, Program: "test", Strict: true}
	if edit != nil {
		edit(&o)
	}
	r, err := cuda.New(o)
	if err != nil {
		t.Fatal(err)
	}
	g.Runtime, g.Thread = r, r.Thread(1)
	return g
}

// host is the memory of this process.
type host struct{}

// beyond is added to addresses of the process, since Go's heap begins at a random one, and
// may lie where the device's memory does. No address has this bit.
const beyond = 1 << 48

func (host) Bytes(addr, n uint64) []byte {
	p := uintptr(addr - beyond)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

func (host) Map(addr, n uint64) error      { panic("tests use no memory that host and device share") }
func (host) Unmap(addr, n uint64)          {}
func (host) Touched(addr, n uint64) []bool { return nil }
func (host) Call(fn, data uint64)          { panic("tests have no functions for the device to call") }

// Must fails the test unless a call succeeded.
func (g *GPU) Must(err cuda.Error) {
	g.t.Helper()
	if err != cuda.Success {
		g.t.Fatalf("%v: %s", err, g.Log)
	}
}

// At is the address of a variable of the test, which stays where it is until the test's
// end.
func At[T any](g *GPU, p *T) uint64 {
	g.keep = append(g.keep, p)
	return uint64(uintptr(unsafe.Pointer(p))) + beyond
}

// Put copies values into new memory of the device. Its end is the end of the allocation,
// so that accesses beyond it are faults.
func Put[T any](g *GPU, values []T) uint64 {
	g.t.Helper()
	addr, err := g.Malloc(max(1, uint64(binary.Size(values))))
	g.Must(err)
	Set(g, addr, values)
	return addr
}

// Set copies values to an address of the device.
func Set[T any](g *GPU, addr uint64, values []T) {
	g.t.Helper()
	if len(values) > 0 {
		g.Must(g.Copy(addr, At(g, &values[0]), uint64(binary.Size(values)), cuda.HostToDevice, 0, false))
	}
}

// Get copies n values from the device.
func Get[T any](g *GPU, addr uint64, n int) []T {
	g.t.Helper()
	values := make([]T, n)
	if n > 0 {
		g.Must(g.Copy(At(g, &values[0]), addr, uint64(binary.Size(values)), cuda.DeviceToHost, 0, false))
	}
	return values
}
