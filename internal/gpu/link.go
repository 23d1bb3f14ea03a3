package gpu

import (
	"slices"
	"sort"

	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: what passes between the chips of a machine. Every chip has one link, which
// sends one thing at a time and receives one.

// Traffic is what has passed from one chip to another.
type Traffic struct {
	From, To      int
	Copies, Bytes uint64
	Accesses      uint64 // requests of kernels whose data has passed
	Busy          uint64 // core cycles, rounded up

	busy uint64 // in fine units
}

// fine is the logarithm of the number of fine units of time in a core cycle: a fast link
// carries several sectors in one.
const fine = 10

// calendar is when a link sends, or when it receives, in fine units. Chips simulate a
// stretch one after another, so what one books may lie before what another has booked.
type calendar struct {
	busy []period // in order, with time between them
}

// period is a range of time, without its end.
type period struct{ from, end uint64 }

// after returns the index of the first period that ends at a time or later.
func (c *calendar) after(at uint64) int {
	return sort.Search(len(c.busy), func(i int) bool { return c.busy[i].end >= at })
}

// free returns the first time, not before at, from which nothing is booked for some units.
func (c *calendar) free(at, units uint64) uint64 {
	for _, p := range c.busy[c.after(at):] {
		if p.from >= at+units {
			break
		}
		at = p.end
	}
	return at
}

// book books a period that is free.
func (c *calendar) book(p period) {
	i := c.after(p.from)
	j := i
	for ; j < len(c.busy) && c.busy[j].from <= p.end; j++ { // they touch it
		p.from, p.end = min(p.from, c.busy[j].from), max(p.end, c.busy[j].end)
	}
	c.busy = slices.Replace(c.busy, i, j, p)
}

// forget drops what ends before a time.
func (c *calendar) forget(at uint64) { c.busy = slices.Delete(c.busy, 0, c.after(at)) }

// Traffic returns what has passed over each link that was used.
func (m *Machine) Traffic() []Traffic {
	var list []Traffic
	for _, t := range m.links {
		if t.Copies+t.Accesses > 0 {
			t.Busy = (t.busy + 1<<fine - 1) >> fine
			list = append(list, t)
		}
	}
	return list
}

// occupy keeps the links between two chips busy for some units, from the first time on, not
// before at, at which both are free for so long. It returns the end.
func (m *Machine) occupy(from, to int, at, units uint64) (end uint64, t *Traffic) {
	out, in := &m.out[from], &m.in[to]
	for both := false; !both; {
		before := at
		at = in.free(out.free(at, units), units)
		both = at == before
	}
	p := period{at, at + units}
	out.book(p)
	in.book(p)
	t = &m.links[from*len(m.chips)+to]
	t.busy += units
	return p.end, t
}

// carry sends the bytes of a copy from one chip to another, and returns the cycle at which
// the last one has arrived.
func (m *Machine) carry(from, to int, bytes, now uint64) uint64 {
	c := &m.chips[from].cfg
	end, t := m.occupy(from, to, now<<fine, c.Copies.cycles(ToPeer, bytes, c.Clocks.Core)<<fine)
	t.Copies++
	t.Bytes += bytes
	return (end + 1<<fine - 1) >> fine
}

// access sends a kernel's request to the chip that owns its memory, and returns the cycle of
// the answer: when its data has passed the link, and a round trip has passed, which is half
// of the latency of a copy. That chip's L2 and DRAM take no time for it (our
// simplification).
func (m *Machine) access(g *GPU, owner int, r *mem.Req, now uint64) uint64 {
	c := &g.cfg
	units := rounds(uint64(r.Size), uint64(c.Clocks.Core)<<fine, uint64(c.Copies.ToPeer))
	end := now << fine
	pass := func(from, to int) {
		var t *Traffic
		end, t = m.occupy(from, to, end, units)
		t.Accesses++
		t.Bytes += uint64(r.Size)
	}
	if r.Write || r.Atomic {
		pass(g.number, owner)
	}
	if !r.Write || r.Atomic {
		pass(owner, g.number)
	}
	trip := rounds(uint64(c.Copies.Latency), uint64(c.Clocks.Core), 2*1_000_000_000)
	return (end+1<<fine-1)>>fine + trip
}
