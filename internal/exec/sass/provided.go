package sass

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: functions that the machine provides to device code (exec.Function). Arguments are in
// R4 and the registers after it, each in a pair that begins at an even number; the result is in
// R4, or R4 and R5; the function returns to the address in R20 and R21 (measured on code of
// NVIDIA's compiler).

// Addresses of these functions are beyond all code.
const (
	providedBase   = 1 << 40
	pointerBase    = 1 << 41 // of the program's own functions, which each kernel has elsewhere in its code
	argRegister    = 4
	returnRegister = 20
)

// actProvided is a call of a provided function by its name.
func actProvided(w *warp, in *inst, m uint32) {
	if w.call(in, in.imm, m); w.fault == nil {
		w.pc++
	}
}

// call runs a provided function for lanes m, which then return.
func (w *warp) call(in *inst, n uint64, m uint32) {
	k := w.blk.im.kernel
	provided := uint64(len(exec.Functions))
	switch unknown := n - provided; {
	case n >= provided && unknown < uint64(len(k.prog.unknown)):
		w.failf(in, m, "call of %s, which neither the program nor the machine defines", k.prog.unknown[unknown])
		return
	case n >= provided || k.may>>n&1 == 0 || k.regs <= returnRegister+1: // or an address that it only guesses
		w.failAs(exec.BadCall, in, m, "call of address %#x, where there is no function", providedBase+n*instBytes)
		return
	}
	w.asked = true
	for t := m; t != 0 && w.fault == nil; t &= t - 1 {
		w.blk.caller = thread{w, in, bits.TrailingZeros32(t) & 31}
		first := w.blk.caller.Arg(0) // which the result may replace
		w.blk.Call(exec.Function(n), &w.blk.caller, w.blk.im.m.crew.Mem)
		w.tellHeap(in, exec.Function(n), first)
	}
}

// thread is one thread that calls a function.
type thread struct {
	w    *warp
	in   *inst
	lane int
}

// Arg and the others are as in exec.Caller.
func (t *thread) Arg(n int) uint64 {
	lo, hi := &t.w.rows[argRegister+2*n], &t.w.rows[argRegister+2*n+1]
	return uint64(lo[t.lane]) | uint64(hi[t.lane])<<32
}

func (t *thread) Return(v uint64, bytes int) {
	t.w.rows[argRegister][t.lane] = uint32(v)
	if bytes > 4 {
		t.w.rows[argRegister+1][t.lane] = uint32(v >> 32)
	}
}

func (t *thread) Word(addr uint64, size int) (uint64, bool) {
	if t.w.blk.im.kernel.text.Arch >= firstNewLayout {
		addr = near(addr)
	}
	t.w.addr[t.lane] = addr
	b := t.w.bytes(t.in, isa.Generic, t.lane, size, false)
	if b == nil {
		return 0, false
	}
	var buf [8]byte
	copy(buf[:], b[:size])
	return le.Uint64(buf[:]), true
}

func (t *thread) Fail(kind exec.FaultKind, format string, args ...any) {
	if kind == exec.Assertion {
		t.w.fault = nil
	}
	t.w.failAs(kind, t.in, 1<<t.lane, format, args...)
}

// function returns the number of a function: a provided one, or one of those that nobody
// defines.
func (p *Program) function(name string) int {
	if f := exec.FunctionOf(name); f != exec.NoFunction {
		return int(f)
	}
	n := slices.Index(p.unknown, name)
	if n < 0 {
		n, p.unknown = len(p.unknown), append(p.unknown, name)
	}
	return len(exec.Functions) + n
}

// calls reports whether a kernel may call a function: its code or a constant that all kernels
// share has the address.
func (k *Kernel) calls(names ...string) bool {
	for _, n := range k.prog.places[k.Name()] {
		if a := &k.prog.text.Addresses[n]; a.Type == 0 && a.To == sass.OfFunction && (len(names) == 0 || slices.Contains(names, a.Function)) {
			return true
		}
	}
	return len(names) == 0 && len(k.prog.shared) > 0 || slices.ContainsFunc(names, func(n string) bool { return k.prog.shared[n] })
}

// guardCall makes core models wait for the arguments of a call of a provided function, and
// for its result; and blocks take turns at it, since it changes what they share.
func (k *Kernel) guardCall(o *isa.Inst) {
	o.Private = false
	add := func(list *[]isa.Reg, from, n int) {
		if n = min(n, k.regs-from); n > 0 {
			*list = append(*list, isa.Reg{File: isa.RegGPR, Count: uint8(n), Number: uint16(from) + 1, Index: uint32(from)})
		}
	}
	add(&o.Srcs, argRegister, 10)
	add(&o.Srcs, returnRegister, 2)
	add(&o.Dsts, argRegister, 2)
}
