package races

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/check"
)

// This file: accesses of the host, and of copies and memsets on streams.

// hostAccess is an access that later work need not happen after.
type hostAccess struct {
	*check.HostEvent
	n uint64 // its number on its stream
}

// mostHost bounds the accesses of the host that are remembered. Our choice.
const mostHost = 4096

// writes reports whether it conflicts with reads: memory that begins or ends on a stream is
// not there for work that this does not order.
func (h *hostAccess) writes() bool { return h.Kind != check.HostRead }

// before reports whether the access happened before what has the given clock.
func (h *hostAccess) before(c check.Clock) bool { return c.Before(h.Stream, h.n) }

// Host is as in check.Checker.
func (c *Checker) Host(e *check.HostEvent) {
	if e.Bad {
		return
	}
	switch e.Kind {
	case check.HostAlloc, check.HostFree, check.HostMap, check.HostUnmap, check.HostReset:
		if e.Bytes > 0 {
			if e.Kind == check.HostFree && e.Async {
				c.againstAll(e)
			}
			c.forget(e.Addr, e.Bytes)
			kept := c.host[:0]
			for _, h := range c.host {
				if h.Addr >= e.Addr+e.Bytes || e.Addr >= h.Addr+h.Bytes {
					kept = append(kept, h)
				}
			}
			c.host = kept
			if e.Kind == check.HostAlloc && e.Async {
				c.remember(e)
			}
		}
	case check.HostWrite, check.HostRead:
		c.againstAll(e)
		if e.Async {
			c.remember(e)
		}
	}
	if !e.Async {
		kept := c.host[:0]
		for _, h := range c.host {
			if !h.before(e.At) {
				kept = append(kept, h)
			}
		}
		c.host = kept
	}
}

// remember keeps an access for later work on other streams.
func (c *Checker) remember(e *check.HostEvent) {
	c.host = append(c.host, hostAccess{e, e.At[e.Stream]})
	if len(c.host) > mostHost {
		c.host = c.host[1:]
	}
}

// againstAll tests an access of the host against all that came before it.
func (c *Checker) againstAll(e *check.HostEvent) {
	c.hostAgainstKernels(e)
	for i := range c.host {
		h := &c.host[i]
		if lo, hi := max(h.Addr, e.Addr), min(h.Addr+h.Bytes, e.Addr+e.Bytes); lo < hi && (h.writes() || e.Kind != check.HostRead) && !h.before(e.At) {
			c.found.add(&find{rule: streams, a: hostSide(e), b: hostSide(h.HostEvent), addr: lo, count: hi - lo, launch: -1})
		}
	}
}

// hostAgainstKernels tests an access of the host against those of launches that do not happen
// before it.
func (c *Checker) hostAgainstKernels(e *check.HostEvent) {
	running := false
	for _, list := range c.streams {
		l := list[len(list)-1]
		running = running || !e.At.Before(l.stream, l.at[l.stream])
	}
	if !running {
		return
	}
	kinds := []int{ofWrites}
	if e.Kind != check.HostRead {
		kinds = append(kinds, ofReads)
	}
	c.global.each(e.Addr, e.Bytes, func(p *page, i int, addr uint64) {
		in := uint8(15) // the bytes of the word that the host accesses
		if e.Addr > addr {
			in &= 15 << (e.Addr - addr)
		}
		if end := e.Addr + e.Bytes; end < addr+4 {
			in &= 1<<(end-addr) - 1
		}
		for _, k := range kinds {
			var one [1]entry
			list, off := c.entries(p.cell(k, i), &one)
			for _, t := range list {
				r := c.rec(t.record)
				both := t.bytes & in
				if l := c.launches[r.launch]; both != 0 && !e.At.Before(l.stream, l.at[l.stream]) {
					at := bits.TrailingZeros8(both)
					lane := first(r.at(off+int(t.lane), at))
					c.found.add(&find{rule: streams, a: hostSide(e), b: l.side(r, lane, nil), addr: addr + uint64(at), count: uint64(bits.OnesCount8(both)), launch: l.number, kernel: l.kernel})
				}
			}
		}
	})
}

// againstHost tests an access of a kernel against those of the host that do not happen before
// its launch.
func (b *block) againstHost(x *access) {
	for k := range b.c.host {
		h := &b.c.host[k]
		if h.before(b.launch.at) || !h.writes() && x.r.class&write == 0 {
			continue
		}
		for m := x.r.lanes; m != 0; m &= m - 1 {
			i := first(m)
			lo, hi := max(x.Addr[i], h.Addr), min(x.Addr[i]+uint64(x.Bytes), h.Addr+h.Bytes)
			if lo < hi {
				b.c.found.add(&find{rule: streams, a: b.launch.side(&x.r, i, b), b: hostSide(h.HostEvent), addr: lo, count: hi - lo, launch: b.launch.number, kernel: b.launch.kernel})
			}
		}
	}
}

// hostSide is an access of the host as a side of a race.
func hostSide(e *check.HostEvent) side {
	what := [...]string{check.HostRead: "read", check.HostWrite: "write", check.HostAlloc: "allocation", check.HostFree: "free"}[e.Kind]
	s := side{site: -1, host: e.Call + what, what: fmt.Sprintf("%s by %s of %d bytes", what, e.Call, e.Bytes), place: func() (check.Place, []check.Place) {
		if len(e.Host) == 0 {
			return check.Place{Function: e.Call}, nil
		}
		return e.Host[0], e.Host[1:]
	}}
	if len(e.Host) > 0 {
		s.host += fmt.Sprint(e.Host[0].File, e.Host[0].Line)
	}
	return s
}
