package races

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: clusters, whose blocks reach each other's shared memory as long as both run.

var lifetime = &check.Rule{
	ID: "cluster-lifetime", Checker: Name, Level: check.Error, Short: "The shared memory of a block of a cluster is accessed when the block may not run.",
	Full: "Shared memory of another block of the cluster may be accessed from when that block has begun until it exits. Nothing else than synchronisation says when that is.",
	Mend: "Let all blocks pass a barrier of the cluster (cluster.sync()) before the first of them accesses another one's memory, and after the last has done so.",
	Tags: []string{"cluster"},
}

// clusters are those of a launch.
type clusters struct {
	size  uint64 // blocks of one
	shape exec.Dim3
	grid  exec.Dim3
	by    map[uint64]*cluster
	peers check.Peers[block]
}

// cluster is a cluster that runs, and the phase of its barrier.
type cluster struct {
	blocks  int
	arrived *clock // what those released who have arrived
	opened  bool   // the phase has ended, and the next arrival belongs to another one
	met     bool   // all blocks have begun, as all know
}

func newClusters(l *exec.Launch) clusters {
	shape := l.ClusterSize()
	c := clusters{size: shape.Count(), shape: shape, grid: l.Grid, by: map[uint64]*cluster{}}
	c.peers.Begin(l)
	return c
}

// number is the number of the cluster that a block belongs to.
func (c *clusters) number(i exec.Dim3) uint64 {
	x, y := uint64(c.grid.X/c.shape.X), uint64(c.grid.Y/c.shape.Y)
	return uint64(i.X/c.shape.X) + x*(uint64(i.Y/c.shape.Y)+y*uint64(i.Z/c.shape.Z))
}

func (c *clusters) add(b *block) {
	if c.size <= 1 {
		return
	}
	n := c.number(b.probed.Index())
	if c.by[n] == nil {
		c.by[n] = &cluster{}
	}
	b.team = c.by[n]
	b.team.blocks++
	c.peers.Add(uint64(b.id), b)
}

func (c *clusters) remove(b *block) {
	if b.team == nil {
		return
	}
	c.peers.Remove(uint64(b.id))
	if b.team.blocks--; b.team.blocks == 0 {
		delete(c.by, c.number(c.grid.At(uint64(b.id))))
	}
}

// of returns the block that is meant, nil if it has ended.
func (b *block) of(p exec.Peer) *block { return b.launch.clusters.peers.Of(p, b) }

// arrive notes what threads have released at the cluster's barrier.
func (t *cluster) arrive(c *clock) {
	if t.opened {
		t.opened, t.arrived = false, nil
	}
	t.arrived = t.arrived.join(c)
}

// open returns what all have released at the barrier, for each block of the cluster.
func (t *cluster) open() *clock {
	t.opened, t.met = true, true
	return t.arrived
}

// fencedBefore is what lanes have released by fences: a relaxed arrival passes that on. Fences in the scope of the
// block are enough if it is alone.
func (w *warp) fencedBefore(m uint32, alone bool) (c *clock) {
	for ; m != 0 && w.lanes != nil; m &= m - 1 {
		s := &w.lanes[first(m)]
		if c = c.join(s.fenced[1]); alone {
			c = c.join(s.fenced[0])
		}
	}
	return c
}

// reaches looks whether the threads of an access to another block's memory know that it has begun.
func (b *block) reaches(x *access) {
	b.of(x.Peer).visited = true
	if b.team.met {
		return
	}
	for k := uint32(x.Lanes); k != 0; k &= k - 1 {
		if i := first(k); !x.w.of(i).knows(uint32(x.Peer - 1)) {
			b.outlived(&x.r, i, b, "which may not have begun")
			return
		}
	}
}

// knows reports whether a clock has anything of a block.
func (c *clock) knows(block uint32) bool {
	for c != nil {
		switch {
		case c.bit < 1<<keysOfBlock: // a leaf, or all keys of one block
			return c.key>>keysOfBlock == uint64(block)
		case blockKey(block)&c.bit == 0:
			c = c.left
		default:
			c = c.right
		}
	}
	return false
}

// leaves looks, when the last threads of a block exit, for accesses of other blocks to its memory that may not
// be over.
func (b *block) leaves() {
	for i := range b.warps {
		if b.warps[i].live != 0 {
			return
		}
	}
	if !b.visited {
		return
	}
	b.visited = false
	seen := map[uint32]bool{}
	b.shared.each(0, isa.WindowSize, func(p *page, i int, _ uint64) {
		for _, kind := range [2]int{ofReads, ofWrites} {
			var one [1]entry
			list, off := b.c.entries(p.cell(kind, i), &one)
			for _, t := range list {
				e := b.c.rec(t.record)
				if seen[t.record] || e.block == b.id || e.launch != b.launch.id || e.time <= b.launch.base {
					continue
				}
				seen[t.record] = true
				if el := first(e.at(off+int(t.lane), 0)); !b.over(e, el) {
					b.outlived(e, el, nil, fmt.Sprintf("which may have exited: block %v", b.probed.Index()))
				}
			}
		}
	})
}

// over reports whether some thread of the block knows that what lane el of a record did is over.
func (b *block) over(e *record, el int) bool {
	for i := range b.warps {
		if b.reached(e, el, &b.warps[i], ^uint32(0)) {
			return true
		}
	}
	return false
}

// outlived reports an access by a lane to the memory of a block that may not run; now is the block that
// accesses it, if it does so now.
func (b *block) outlived(e *record, lane int, now *block, why string) {
	l := b.launch
	s := l.side(e, lane, now)
	s.what += " to the shared memory of another block, " + why
	b.c.found.add(&find{rule: lifetime, a: s, launch: l.number, kernel: l.kernel, count: 1, space: "shared"})
}
