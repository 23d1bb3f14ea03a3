package exec

import (
	"errors"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/device"
)

// This file: functions that the machine provides to device code (CUDA C++ programming guide,
// appendix on the device-side C library).

// Function is one of them.
type Function uint8

// The functions.
const (
	NoFunction Function = iota
	Vprintf             // vprintf(format, buffer)
	Malloc              // malloc(size)
	Free                // free(pointer)
	AssertFail          // __assertfail(message, file, line, function, character size)
)

// Functions are their names by number.
var Functions = []string{Vprintf: "vprintf", Malloc: "malloc", Free: "free", AssertFail: "__assertfail"}

// FunctionOf returns the function of a name, NoFunction if the machine has none.
func FunctionOf(name string) Function {
	if name == "__assert_fail" { // of the C library
		name = Functions[AssertFail]
	}
	return Function(max(0, slices.Index(Functions, name)))
}

// Thread is a thread of device code that calls a function.
type Thread interface {
	// Word reads 1, 4 or 8 bytes at a generic address; false after a fault.
	Word(addr uint64, bytes int) (uint64, bool)
	// Fail ends the run, unless an earlier fault of the thread has; an Assertion replaces that.
	Fail(kind FaultKind, format string, args ...any)
}

// Caller is a thread at a call.
type Caller interface {
	Thread
	// Arg returns an argument, Return sets the result. Those of less than 64 bits are in the
	// lower part.
	Arg(n int) uint64
	Return(v uint64, bytes int)
}

// Call runs a function for a thread.
func (c *CTA) Call(f Function, t Caller, mem *device.Memory) {
	switch f {
	case Vprintf:
		if format, ok := stringAt(t, t.Arg(0)); ok {
			t.Return(uint64(Printf(&c.Out, format, t, t.Arg(1))), 4)
		}
	case Malloc:
		a, ok := mem.HeapAlloc(t.Arg(0))
		if !ok {
			a = 0
		}
		t.Return(a, 8)
	case Free:
		if a := t.Arg(0); a != 0 {
			if err := mem.HeapFree(a); err != nil {
				kind := BadFree
				if errors.Is(err, device.ErrDoubleFree) {
					kind = DoubleFree
				}
				t.Fail(kind, "free: %v", err)
			}
		}
	case AssertFail:
		message, _ := stringAt(t, t.Arg(0))
		file, _ := stringAt(t, t.Arg(1))
		function, _ := stringAt(t, t.Arg(3))
		t.Fail(Assertion, "assertion failed: %s\n  in %s, %s:%d", message, function, file, uint32(t.Arg(2)))
	}
}

// stringAt reads a zero-terminated string at a generic address.
func stringAt(t Thread, addr uint64) (string, bool) {
	const most = 1 << 16
	var b strings.Builder
	for n := range uint64(most) {
		c, ok := t.Word(addr+n, 1)
		if !ok || c == 0 {
			return b.String(), ok
		}
		b.WriteByte(byte(c))
	}
	t.Fail(BadAddress, "a string at %#x has no end within %d bytes", addr, most)
	return b.String(), false
}
