package device

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa"
)

// FaultKind says what is wrong with an access.
type FaultKind uint8

// The kinds of fault.
const (
	OutOfBounds   FaultKind = iota // not wholly inside one allocation
	NullPointer                    // near address zero
	Misaligned                     // address not a multiple of the access size
	ReadOnlyWrite                  // write to constant memory
	UseAfterFree                   // inside an allocation that was freed
	WrongSpace                     // address of another state space
	Unmapped                       // reserved addresses without memory
	Forbidden                      // mapped memory that may not be accessed
)

var faultNames = [...]string{
	"out-of-bounds", "null-pointer", "misaligned", "read-only", "use-after-free", "wrong-space",
	"unmapped", "forbidden",
}

func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

// Fault is an illegal memory access. For state spaces outside this package, executors
// make their own, with Space set.
type Fault struct {
	Kind   FaultKind
	Addr   uint64
	Size   uint64
	Write  bool
	Space  isa.Space // NoSpace or Global for an access to device memory
	Detail string    // where the address lies, or what it should have been
	// Nearest is the allocation that contains the address or comes closest to it;
	// the zero Allocation if there is none.
	Nearest Allocation
}

// Error describes in one line what was accessed, where, and what is there.
func (f *Fault) Error() string {
	verb := "read"
	if f.Write {
		verb = "write"
	}
	what := fmt.Sprintf("%v %s of %s", f.Kind, verb, bytesText(f.Size))
	if f.Kind == ReadOnlyWrite {
		what = fmt.Sprintf("write of %s to read-only memory", bytesText(f.Size))
	}
	space := ""
	if f.Space != isa.NoSpace && f.Space != isa.Global && f.Space != isa.Generic {
		space = " " + f.Space.String() + " address"
	}
	s := fmt.Sprintf("%s at%s 0x%x", what, space, f.Addr)
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// misaligned returns the fault of an access whose address is not a multiple of align,
// and describes where the address points.
func (m *Memory) misaligned(addr, size, align uint64, write bool) *Fault {
	f := &Fault{Kind: Misaligned, Addr: addr, Size: size, Write: write, Nearest: m.Nearest(addr)}
	f.Detail = fmt.Sprintf("the address must be a multiple of %d", align)
	if f.Nearest.Contains(addr) {
		f.Detail += fmt.Sprintf("; it is %s into %v", bytesText(addr-f.Nearest.Addr), f.Nearest)
	}
	return f
}

// explain returns the fault of an access that is not wholly inside one extent
// or writes where writing is forbidden, by a kernel of a device.
func (m *Memory) explain(addr, size uint64, write bool, device int) *Fault {
	if p := m.home(addr); p != m {
		return m.explainPeer(p, addr, size, write)
	}
	f := &Fault{Kind: OutOfBounds, Addr: addr, Size: size, Write: write, Nearest: m.Nearest(addr)}
	near := f.Nearest
	switch {
	case addr < nullPage && !near.Contains(addr):
		f.Kind = NullPointer
		f.Detail = "a null pointer"
		if addr != 0 {
			f.Detail += " plus " + bytesText(addr)
		}
		f.Nearest = Allocation{}
		return f
	case len(m.regions) == 0:
		f.Detail = "nothing is allocated"
		return f
	case near.Freed && near.Contains(addr):
		f.Kind = UseAfterFree
		f.Detail = fmt.Sprintf("%s into freed %v", bytesText(addr-near.Addr), near)
		return f
	case near.Dormant && near.Contains(addr):
		f.Kind = UseAfterFree
		f.Detail = fmt.Sprintf("%s into %v, which no launch of its graph has allocated at this time", bytesText(addr-near.Addr), near)
		return f
	case near.Flags&arena != 0 && near.Contains(addr):
		m.heap.explain(f)
		return f
	case near.Flags&reserved != 0 && near.Contains(addr):
		m.explainReserved(f, device)
		return f
	case write && near.ReadOnly() && near.Contains(addr) && size <= near.Size-(addr-near.Addr):
		f.Kind = ReadOnlyWrite
		f.Detail = fmt.Sprintf("%s into %v", bytesText(addr-near.Addr), near)
		return f
	}
	f.Detail = position(addr, size, near.Addr, near.Size) + " " + near.String()
	if near.Freed {
		f.Detail += ", which has been freed"
	}
	return f
}

// position describes where the size bytes at addr lie relative to the extent of n
// bytes at lo; the extent's name completes the phrase.
func position(addr, size, lo, n uint64) string {
	switch {
	case addr < lo:
		return bytesText(lo-addr) + " before"
	case addr-lo == n:
		return "just past the end of"
	case addr-lo > n:
		return bytesText(addr-lo-n) + " past the end of"
	}
	return "reaching " + bytesText(size-(n-(addr-lo))) + " past the end of"
}
