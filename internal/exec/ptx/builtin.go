package ptx

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: functions that the machine provides to device code. Their
// arguments follow the CUDA ABI: vprintf(format, buffer), malloc(size),
// free(pointer), __assertfail(message, file, line, function, character size).

// checkBuiltin checks the shape of a call of a built-in function.
func (s *callSite) checkBuiltin() error {
	want := map[builtin][2]int{builtVprintf: {2, 1}, builtMalloc: {1, 1}, builtFree: {1, 0}, builtAssert: {5, 0}}[s.built]
	if len(s.args) != want[0] || len(s.rets) > 1 || len(s.rets) > want[1] {
		return fmt.Errorf("passes %d arguments and expects %d results, but %s has %d and %d", len(s.args), len(s.rets), s.name, want[0], want[1])
	}
	return nil
}

// arg reads argument n of a call for lane i.
func (w *warp) arg(s *callSite, n, i int) uint64 {
	a := &s.args[n]
	switch {
	case a.off >= 0:
		var buf [8]byte
		copy(buf[:], w.local[i][w.fr.base+a.off:w.fr.base+a.off+min(a.size, 8)])
		return le.Uint64(buf[:])
	case a.class == c32:
		return uint64(w.u32(a.r)[i])
	}
	return w.u64(a.r)[i]
}

// giveResult writes the result of a built-in function for lane i.
func (w *warp) giveResult(s *callSite, i int, v uint64) {
	if len(s.rets) == 0 {
		return
	}
	r := &s.rets[0]
	switch {
	case r.off >= 0:
		var buf [8]byte
		le.PutUint64(buf[:], v)
		copy(w.local[i][w.fr.base+r.off:w.fr.base+r.off+min(r.size, 8)], buf[:])
	case r.class == c32:
		w.r32[r.r][i] = uint32(v)
	default:
		w.r64[r.r][i] = v
	}
}

// callBuiltin calls a function of the machine, lane after lane.
func (w *warp) callBuiltin(s *callSite, m uint32) {
	mem := w.blk.im.m.mem
	for ; m != 0 && w.fault == nil; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		switch s.built {
		case builtVprintf:
			format, ok := w.cstring(i, w.arg(s, 0, i))
			if !ok {
				return
			}
			n := exec.Printf(&w.blk.out, format, lane{w, i}, w.arg(s, 1, i))
			w.giveResult(s, i, uint64(n))
		case builtMalloc:
			a, ok := mem.HeapAlloc(w.arg(s, 0, i))
			if !ok {
				a = 0
			}
			w.giveResult(s, i, a)
		case builtFree:
			if a := w.arg(s, 0, i); a != 0 {
				if err := mem.HeapFree(a); err != nil {
					w.failf(1<<i, "free: %v", err)
				}
			}
		case builtAssert:
			msg, _ := w.cstring(i, w.arg(s, 0, i))
			file, _ := w.cstring(i, w.arg(s, 1, i))
			fn, _ := w.cstring(i, w.arg(s, 3, i))
			w.fault = nil
			w.failAs(exec.Assertion, 1<<i, "assertion failed: %s\n  in %s, %s:%d", msg, fn, file, uint32(w.arg(s, 2, i)))
		}
	}
}

// cstring reads a zero-terminated string at a generic address.
func (w *warp) cstring(i int, addr uint64) (string, bool) {
	const most = 1 << 16
	var b strings.Builder
	for n := uint64(0); n < most; n++ {
		c, ok := w.generic(i, addr+n, 1)
		if !ok {
			return b.String(), false
		}
		if c == 0 {
			return b.String(), true
		}
		b.WriteByte(byte(c))
	}
	w.failAs(exec.BadAddress, 1<<i, "a string at %#x has no end within %d bytes", addr, most)
	return b.String(), false
}

// generic reads size bytes at a generic address for lane i.
func (w *warp) generic(i int, addr uint64, size int) (uint64, bool) {
	w.addr[i] = addr
	b := w.lane(isa.Generic, i, size, false)
	if b == nil {
		return 0, false
	}
	var buf [8]byte
	copy(buf[:], b[:size])
	return le.Uint64(buf[:]), true
}

// lane is a thread of a warp as printf sees it.
type lane struct {
	w *warp
	i int
}

func (l lane) Word(addr uint64, bytes int) (uint64, bool) { return l.w.generic(l.i, addr, bytes) }
func (l lane) String(addr uint64) (string, bool)          { return l.w.cstring(l.i, addr) }
