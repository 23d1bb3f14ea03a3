package ptx

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: accesses that leave the variable, or the allocation, from which their address was
// made, and land in another one. They are legal for the hardware; launches that ask for it
// (exec.Launch.Outside) are decoded apart, and look at addresses whose origin is known.

// bound is the memory of an object, in the form of the addresses of an instruction.
type bound struct {
	lo, bytes uint64
	space     isa.Space
	name      string
	param     int // -1, or index of a pointer parameter in image.pointers
}

// within is what a pointer parameter points to, in a launch: the addresses from lo on.
type within struct{ lo, bytes uint64 }

// bound makes an instruction look at its addresses, if it is known what they were made from.
func (d *dec) bound(in *ptx.Inst, o *inst) {
	if o.run == nil || o.x == nil {
		return
	}
	size, copies, space := 0, false, d.info.Space // a copy does not leave the addresses of its target in w.addr
	switch x := o.x.any.(type) {
	case *memOp:
		size = x.total
	case *atomicOp:
		size = x.total
	case *matrixOp:
		size = 16
	case *copyOp:
		size, copies, space = x.size, true, x.to
	}
	i := slices.IndexFunc(in.Args, func(a ptx.Operand) bool { return a.Kind == ptx.OpAddr })
	if size == 0 || i < 0 {
		return
	}
	list := d.bounds(d.from.of(&in.Args[i]), space)
	if len(list) == 0 {
		return
	}
	run := o.run
	o.run = func(w *warp, in *inst, m uint32) {
		run(w, in, m)
		if copies && w.fault == nil {
			w.addresses(in, m)
			w.sharedOnly(m)
		}
		if w.blk.faults != nil {
			m &^= w.lost
		}
		if w.fault == nil && m != 0 {
			w.inside(list, m, size)
		}
	}
}

// bounds returns the memory of the objects of an origin; nil if it says nothing, or an access
// that leaves it is a fault anyway.
func (d *dec) bounds(from origin, space isa.Space) (list []bound) {
	if from&strange != 0 {
		return nil
	}
	for k := from & objectBits; k != 0; k &= k - 1 {
		x := d.from.list[bits.TrailingZeros64(uint64(k))]
		b := bound{param: -1, space: isa.Global}
		switch v := x.v; {
		case v == nil:
			if k != from&objectBits || k&(k-1) != 0 || d.im.m == nil {
				return nil // one of several parameters: it is not told which
			}
			if b.param = slices.Index(d.im.pointers, x.param); b.param < 0 {
				b.param = len(d.im.pointers)
				d.im.pointers = append(d.im.pointers, x.param)
			}
		case v.Space == ptx.SpaceShared:
			b.lo, b.bytes, b.space, b.name = uint64(d.im.sharedAt[v]), uint64(v.Size()), isa.Shared, v.Name
			if v.Linkage == ptx.Extern || v.Size() <= 0 { // the dynamic part, whatever its variables are
				b.bytes = isa.MaxShared
			}
			if space == isa.Generic {
				b.lo += isa.SharedWindow
			}
		default:
			g := d.im.kernel.prog.varDef[v]
			if g == nil || d.im.m == nil {
				return nil
			}
			b.lo, b.bytes, b.name = d.im.m.addr[g.index], uint64(g.size), v.Name
			if v.Space == ptx.SpaceConst {
				b.space = isa.Const
			}
		}
		list = append(list, b)
	}
	return list
}

// point finds out what the pointer parameters of a launch point to. Only one that is where an
// allocation begins counts: programs pass addresses before an array, to number its elements
// from elsewhere, and numbers that look like addresses. What was reserved and mapped piece by
// piece has no end.
func (m *Machine) point(im *image, l *launch) {
	l.within = make([]within, len(im.pointers))
	for i, at := range im.pointers {
		if at+8 > len(l.Params) {
			continue
		}
		p := le.Uint64(l.Params[at:])
		if a, ok := m.mem.Find(p); ok && a.Addr == p && a.Size > 0 && !a.Reserved() && !a.Freed {
			l.within[i] = within{a.Addr, a.Size}
		}
	}
}

// inside warns about lanes of m whose access is not inside of one of the objects.
func (w *warp) inside(list []bound, m uint32, size int) {
	out := m
	for i := range list {
		b := &list[i]
		lo, n := b.lo, b.bytes
		if b.param >= 0 {
			x := &w.blk.launch.within[b.param]
			if lo, n = x.lo, x.bytes; n == 0 {
				return
			}
		}
		if n < uint64(size) {
			continue
		}
		last := n - uint64(size)
		if m == full {
			beyond := uint64(0) // its top bit is set if an address is less than lo or more than lo+last
			for k := range w.addr {
				at := w.addr[k] - lo
				beyond |= at | (last - at)
			}
			if beyond>>63 == 0 {
				return
			}
		}
		for k := out; k != 0; k &= k - 1 {
			if i := bits.TrailingZeros32(k) & 31; w.addr[i]-lo <= last {
				out &^= 1 << i
			}
		}
	}
	if out != 0 {
		w.outside(list, bits.TrailingZeros32(out)&31, size)
	}
}

// outside warns about the access of lane i.
func (w *warp) outside(list []bound, i, size int) {
	b := list[0]
	if b.param >= 0 {
		x := w.blk.launch.within[b.param]
		a, _ := w.blk.im.m.mem.Find(x.lo)
		if _, next := w.blk.im.m.mem.Find(x.lo + x.bytes); next {
			return // memory of the host, say: it may be one with what follows
		}
		b.lo, b.bytes, b.name = x.lo, x.bytes, a.String()
	}
	at := w.addr[i]
	if b.space == isa.Shared && at-isa.SharedWindow < isa.WindowSize {
		at -= isa.SharedWindow
		if b.lo < isa.SharedWindow { // an address of shared::cluster, of the block itself
			return
		}
		b.lo -= isa.SharedWindow
	}
	info := w.info()
	w.blk.CTA.Outside(w.blk.warner(), info, func() exec.Fault {
		f := &device.Fault{Addr: at, Size: uint64(size), Write: info.Store, Space: b.space}
		what := "read"
		if f.Write {
			what = "write"
		}
		var names []string
		for _, x := range list {
			names = append(names, x.name)
		}
		if b.param >= 0 {
			names[0] = b.name
		}
		text := fmt.Sprintf("%s of %d bytes at %s address %#x, which was made from %s", what, size, b.space, at, strings.Join(names, " or "))
		if len(list) == 1 {
			text += fmt.Sprintf(": %s of its %d bytes", beyond(at, uint64(size), b.lo, b.bytes), b.bytes)
		}
		if b.space == isa.Shared {
			if other := w.blk.im.sharedName(at); other != "" {
				text += ", in " + other
			}
		} else {
			f.Nearest = w.blk.im.m.mem.Nearest(b.lo)
			if x, ok := w.blk.im.m.mem.Find(at); ok {
				text += fmt.Sprintf(", in %v", x)
			}
		}
		return exec.Fault{Where: w.where(i), Kind: exec.BadAddress, What: text, Access: f}
	})
}

// beyond says where an access is, as seen from n bytes at lo.
func beyond(at, size, lo, n uint64) string {
	switch {
	case at < lo:
		return fmt.Sprintf("%d bytes before the first", lo-at)
	case at >= lo+n:
		return fmt.Sprintf("%d bytes after the last", at-lo-n)
	}
	return fmt.Sprintf("%d bytes reach beyond the last", at+size-lo-n)
}

// sharedName returns the static variable at a shared address, "" if there is none.
func (im *image) sharedName(at uint64) string {
	for v, lo := range im.sharedAt {
		if v.Linkage != ptx.Extern && at-uint64(lo) < uint64(max(v.Size(), 0)) {
			return v.Name
		}
	}
	if at >= uint64(im.sharedBytes) {
		return "dynamic shared memory"
	}
	return ""
}
