package noc

import (
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// open is a network without contention: every packet takes the time that it would take
// if no other packet were there. It has no limits on what a node sends or holds.
type open struct {
	under []ring.Ring[packet] // by output: packets by the advance in which they arrive
	empty *Network            // a network of routers, for measuring; nil for the crossbar
	times [][]uint64          // measured so far: by input and output, and by flits; 0: not yet
	probe mem.Req
}

func newOpen(c *Config) *open {
	o := &open{under: make([]ring.Ring[packet], c.Outputs)}
	if c.Kind != Local {
		x := *c
		x.Open = false
		o.empty, o.times = New(x), make([][]uint64, c.Inputs*c.Outputs)
	}
	return o
}

// time returns the advances from Push to the arrival of a packet: 1 in the crossbar, in
// routers what it takes a packet of the same length, measured by sending one.
func (o *open) time(src, dst, flits int) uint64 {
	if o.empty == nil {
		return 1
	}
	e := o.empty
	known := &o.times[src*e.cfg.Outputs+dst]
	for len(*known) <= flits {
		*known = append(*known, 0)
	}
	if n := (*known)[flits]; n > 0 {
		return n
	}
	e.Push(&o.probe, src, dst, flits*e.cfg.FlitBytes)
	n := uint64(0)
	for ; e.Pop(dst) == nil; n++ {
		e.Advance()
	}
	for e.fab.inside > 0 { // credits are on their way back
		e.Advance()
	}
	(*known)[flits] = n
	return n
}

// push sends a packet.
func (o *open) push(n *Network, p packet) {
	p.start = n.now + o.time(int(p.src), int(p.dst), int(p.len))
	q := &o.under[p.dst]
	q.Push(p)
	setBit(n.ready, int(p.dst)) // or will be
	for i := q.Len() - 1; i > 0 && q.At(i-1).start > p.start; i-- {
		*q.At(i), *q.At(i - 1) = *q.At(i - 1), *q.At(i)
	}
}

// head returns the oldest packet that has arrived at an output, nil if there is none.
func (o *open) head(n *Network, dst int) *packet {
	q := &o.under[dst]
	if q.Len() == 0 || q.Front().start > n.now {
		return nil
	}
	return q.Front()
}

// pop takes that packet and counts it.
func (o *open) pop(n *Network, dst int) *mem.Req {
	p := o.head(n, dst)
	if p == nil {
		return nil
	}
	at := p.start
	p.start, p.began, p.hops = p.born, at-1, 1
	n.arrived(p, at-1)
	n.waiting--
	r := o.under[dst].Pop().req
	if o.under[dst].Len() == 0 {
		clearBit(n.ready, dst)
	}
	return r
}
