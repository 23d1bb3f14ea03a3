package ptx

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: functions that the machine provides to device code (exec.Function), called by
// CUDA's ABI.

// checkBuiltin checks the shape of a call of a built-in function.
func (s *callSite) checkBuiltin() error {
	want := [...][2]int{exec.Vprintf: {2, 1}, exec.Malloc: {1, 1}, exec.Free: {1, 0}, exec.AssertFail: {5, 0}}[s.built]
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
	w.passed(w.fr, r, 1<<i)
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
	w.asked = true
	for ; m != 0 && w.fault == nil; m &= m - 1 {
		w.blk.caller = lane{w: w, s: s, i: bits.TrailingZeros32(m)}
		l := &w.blk.caller
		first := uint64(0)
		if s.built == exec.Malloc || s.built == exec.Free { // whose result may replace it
			first = l.Arg(0)
		}
		w.blk.Call(s.built, l, w.blk.im.m.mem)
		switch s.built {
		case exec.Malloc:
			l.tellHeap(l.got, first, false)
		case exec.Free:
			l.tellHeap(first, 0, true)
		}
	}
}

// tellHeap tells the probe of a malloc that has returned an address, or of a free.
func (l *lane) tellHeap(addr, bytes uint64, freed bool) {
	if p, ok := l.w.blk.probe.(exec.HeapProbe); ok && addr != 0 && l.w.fault == nil {
		p.Heap(l.w.id, l.i, addr, bytes, freed)
	}
}

// lane is a thread of a warp that calls a function.
type lane struct {
	w   *warp
	s   *callSite
	i   int
	got uint64 // what it was returned
}

// Arg and the others are as in exec.Caller.
func (l *lane) Arg(n int) uint64 { return l.w.arg(l.s, n, l.i) }
func (l *lane) Return(v uint64, _ int) {
	l.got = v
	l.w.giveResult(l.s, l.i, v)
}

func (l *lane) Word(addr uint64, size int) (uint64, bool) {
	l.w.addr[l.i] = addr
	b := l.w.lane(isa.Generic, l.i, size, false)
	if b == nil {
		return 0, false
	}
	var buf [8]byte
	copy(buf[:], b[:size])
	return le.Uint64(buf[:]), true
}

func (l *lane) Fail(kind exec.FaultKind, format string, args ...any) {
	if kind == exec.Assertion {
		l.w.fault = nil
	}
	l.w.failAs(kind, 1<<l.i, format, args...)
}
