package noc

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// This file: looking into a network from outside. Nothing here changes it.

// Each calls f for every packet: those in transit by input node, then those that
// have arrived by output node, the oldest of a node first.
func (n *Network) Each(f func(r *mem.Req, node int, arrived bool)) {
	if n.fab != nil {
		n.fab.each(f)
		return
	}
	if n.open != nil {
		for o := range n.open.under {
			q := &n.open.under[o]
			for i := range q.Len() {
				p := q.At(i)
				f(p.req, int(p.src), false)
			}
		}
		return
	}
	list := func(q *ring.Ring[packet], node int, arrived bool) {
		for i := range q.Len() {
			f(q.At(i).req, node, arrived)
		}
	}
	for i := range n.in {
		list(&n.in[i], i, false)
	}
	for o := range n.out {
		list(&n.out[o], o, true)
	}
}

// each is Each for a network of routers.
func (f *fabric) each(call func(r *mem.Req, node int, arrived bool)) {
	here := make([]bool, len(f.packets)) // at its output
	for q := range f.boundary {
		for i := range f.boundary[q].Len() {
			here[*f.boundary[q].At(i)] = true
		}
	}
	under := make([][]*packet, len(f.inNode))
	for id := range f.packets {
		if p := &f.packets[id]; p.req != nil && !here[id] {
			under[p.src] = append(under[p.src], p)
		}
	}
	for node, list := range under {
		slices.SortFunc(list, func(a, b *packet) int { return cmp.Compare(a.id, b.id) })
		for _, p := range list {
			call(p.req, node, false)
		}
	}
	for q := range f.boundary {
		for i := range f.boundary[q].Len() {
			call(f.packets[*f.boundary[q].At(i)].req, q/f.vcs, true)
		}
	}
}

// Packets returns the number of packets that have not arrived, and of those that
// have but were not popped.
func (n *Network) Packets() (underWay, arrived int) { return n.queued, n.waiting }
