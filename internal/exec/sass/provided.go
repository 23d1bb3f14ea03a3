package sass

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: functions that the machine provides to device code. Arguments are in R4 and the
// registers after it, those of 64 bits in pairs that begin at an even number; the result is in
// R4, or R4 and R5; the function returns to the address in R20 and R21 (measured on code of
// NVIDIA's compiler).

// provided are these functions. Their addresses are beyond all code.
var provided = []string{"vprintf", "malloc", "free", "__assertfail"}

const (
	providedBase   = 1 << 40
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
	switch unknown := n - uint64(len(provided)); {
	case n >= uint64(len(provided)) && unknown < uint64(len(k.prog.unknown)):
		w.failf(in, m, "call of %s, which neither the program nor the machine defines", k.prog.unknown[unknown])
		return
	case n >= uint64(len(provided)) || k.may>>n&1 == 0 || k.regs <= returnRegister+1: // or an address that it only guesses
		w.failf(in, m, "call of address %#x, where there is no function", providedBase+n*instBytes)
		return
	}
	mem := w.blk.im.m.crew.Mem
	for t := m; t != 0 && w.fault == nil; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		th := thread{w, in, i}
		switch provided[n] {
		case "vprintf":
			if format, ok := th.String(th.pair(0)); ok {
				th.set(0, uint32(exec.Printf(&w.blk.out, format, th, th.pair(2))))
			}
		case "malloc":
			a, ok := mem.HeapAlloc(th.pair(0))
			if !ok {
				a = 0
			}
			th.set(0, uint32(a))
			th.set(1, uint32(a>>32))
		case "free":
			if a := th.pair(0); a != 0 {
				if err := mem.HeapFree(a); err != nil {
					w.failf(in, 1<<i, "free: %v", err)
				}
			}
		case "__assertfail": // message, file, line, function, size of a character
			msg, _ := th.String(th.pair(0))
			file, _ := th.String(th.pair(2))
			fn, _ := th.String(th.pair(6))
			w.fault = nil
			w.failAs(exec.Assertion, in, 1<<i, "assertion failed: %s\n  in %s, %s:%d", msg, fn, file, th.word(4))
		}
	}
}

// thread is one thread that calls a function.
type thread struct {
	w    *warp
	in   *inst
	lane int
}

// word returns the argument in a register, counted from the first.
func (t thread) word(n int) uint32 { return t.w.rows[argRegister+n][t.lane] }

// pair returns one of 64 bits.
func (t thread) pair(n int) uint64 { return uint64(t.word(n)) | uint64(t.word(n+1))<<32 }

// set writes a result.
func (t thread) set(n int, v uint32) { t.w.rows[argRegister+n][t.lane] = v }

// Word reads memory at a generic address; see exec.PrintfMemory.
func (t thread) Word(addr uint64, size int) (uint64, bool) {
	t.w.addr[t.lane] = addr
	b := t.w.bytes(t.in, isa.Generic, t.lane, size, false)
	if b == nil {
		return 0, false
	}
	var buf [8]byte
	copy(buf[:], b[:size])
	return le.Uint64(buf[:]), true
}

// String reads a zero-terminated string.
func (t thread) String(addr uint64) (string, bool) {
	const most = 1 << 16
	var b strings.Builder
	for n := range uint64(most) {
		c, ok := t.Word(addr+n, 1)
		if !ok || c == 0 {
			return b.String(), ok
		}
		b.WriteByte(byte(c))
	}
	t.w.failAs(exec.BadAddress, t.in, 1<<t.lane, "a string at %#x has no end within %d bytes", addr, most)
	return b.String(), false
}

// function returns the number of a function: a provided one, or one of those that nobody
// defines.
func (p *Program) function(name string) int {
	if n := slices.Index(provided, name); n >= 0 {
		return n
	}
	n := slices.Index(p.unknown, name)
	if n < 0 {
		n, p.unknown = len(p.unknown), append(p.unknown, name)
	}
	return len(provided) + n
}

// calls reports whether a kernel may call a function: its code or a constant that all kernels
// share has the address.
func (k *Kernel) calls(names ...string) bool {
	for _, a := range k.prog.text.Addresses {
		if (a.Kernel == "" || a.Kernel == k.Name()) && a.To == sass.OfFunction && (len(names) == 0 || slices.Contains(names, a.Function)) {
			return true
		}
	}
	return false
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
