package noc

import "github.com/heddle-sim/heddle/internal/mem"

// This file: looking into a network from outside. Nothing here changes it.

// Each calls f for every packet: those on their way by input node, then those
// that have arrived by output node, the oldest of a node first. A packet that
// is passing from one buffer to the next may come twice.
func (n *Network) Each(f func(r *mem.Req, node int, arrived bool)) {
	list := func(q *fifo, node int, arrived bool) {
		for i := range q.n {
			f(q.buf[(q.head+i)%len(q.buf)].req, node, arrived)
		}
	}
	for i := range n.in {
		if n.fly != nil {
			list(&n.fly.channel[i], i, false)
		}
		list(&n.in[i], i, false)
	}
	for o := range n.out {
		list(&n.out[o], o, true)
		if n.fly != nil {
			list(&n.fly.link[o], o, true)
		}
	}
}

// Packets returns how many packets have not arrived, and how many have and were
// not popped.
func (n *Network) Packets() (underWay, arrived int) { return n.queued, n.waiting }
