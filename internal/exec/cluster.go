package exec

import (
	"fmt"
	"io"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: clusters, groups of blocks that reach each other's shared memory and meet at a
// barrier. The blocks of a cluster run in turn, in a fixed order, as one block of the grid does.
// Clusters therefore run in batches like blocks, and results depend on no number of goroutines.

// CheckCluster reports what is wrong with the size of a launch's clusters.
func (l *Launch) CheckCluster() error {
	c, g := l.Cluster, l.Grid
	switch {
	case c == Dim3{}:
		return nil
	case min(c.X, c.Y, c.Z) == 0:
		return l.Refuse("a cluster of %v blocks: each dimension must be at least 1", c)
	case max(c.X, c.Y, c.Z) > isa.MaxCluster || c.Count() > isa.MaxCluster:
		return l.Refuse("a cluster of %v blocks: the limit is %d blocks", c, isa.MaxCluster)
	case g.X%c.X != 0 || g.Y%c.Y != 0 || g.Z%c.Z != 0:
		return l.Refuse("the grid %v does not divide into clusters of %v blocks: each dimension must be a multiple", g, c)
	}
	return nil
}

// ClusterSize returns the extent of the launch's clusters in blocks: (1,1,1) without.
func (l *Launch) ClusterSize() Dim3 {
	c := l.Cluster
	return Dim3{max(1, c.X), max(1, c.Y), max(1, c.Z)}
}

// ClusterBlock returns the number of the block with a rank in cluster n of the launch. Clusters
// are counted like blocks, X fastest, and so are ranks (PTX manual, %cluster_ctarank).
func (l *Launch) ClusterBlock(n uint64, rank uint64) uint64 {
	c, g := l.ClusterSize(), l.Grid
	at := Dim3{g.X / c.X, g.Y / c.Y, g.Z / c.Z}.At(n)
	in := c.At(rank)
	x, y, z := uint64(at.X*c.X+in.X), uint64(at.Y*c.Y+in.Y), uint64(at.Z*c.Z+in.Z)
	return x + uint64(g.X)*(y+uint64(g.Y)*z)
}

// Member is a block of a cluster, as a functional run of the cluster needs it.
type Member interface {
	GridBlock
	// Patient lets lanes of the block that wait for others of their warp do so even if nothing else
	// in the block can run, because another block may let it go on.
	Patient()
}

// Patient is as in Member.
func (c *CTA) Patient() { c.turns.patient = true }

// clusterSlice is the number of instructions that a block of a cluster issues before the next has
// its turn: few, since blocks wait for each other in loops. Our choice.
const clusterSlice = 1 << 10

// cluster is the blocks of a cluster as one block of a grid.
type cluster struct {
	all    []Member // in the order of their turns
	first  Member   // the one of rank 0
	ended  []bool
	next   int
	moved  bool // some block did something in this round
	failed int

	search *Search   // of all
	each   []*Search // of the blocks
}

// NewCluster returns what runs the blocks of a cluster, given by their ranks. They have their turns
// in the given order.
func NewCluster(blocks []Member, order Sequence) GridBlock {
	c := &cluster{first: blocks[0], ended: make([]bool, len(blocks))}
	for i := range blocks {
		c.all = append(c.all, blocks[order.At(uint64(i), uint64(len(blocks)))])
		blocks[i].Patient()
	}
	return c
}

// Run is as in GridBlock.
func (c *cluster) Run(budget uint64) Status {
	defer c.look()
	for {
		for ; c.next < len(c.all); c.next++ {
			if c.ended[c.next] {
				continue
			}
			if budget == 0 {
				return Stopped
			}
			used, st := c.turn(c.next, min(clusterSlice, budget))
			if st == Failed {
				c.failed = c.next
				return Failed
			}
			budget -= min(budget, used)
		}
		c.next = 0
		switch {
		case c.over():
			return Finished
		case !c.moved:
			if moved, ok := c.Free(); !moved {
				return Stuck
			} else if !ok {
				return Failed
			}
		}
		c.moved = false
	}
}

// turn lets block i run.
func (c *cluster) turn(i int, most uint64) (used uint64, st Status) {
	b := c.all[i]
	before, _ := b.Counts()
	st = b.Run(most)
	after, _ := b.Counts()
	c.ended[i] = st == Finished
	c.moved = c.moved || st != Stuck || after != before
	return after - before, st
}

// Free is as in GridBlock.
func (c *cluster) Free() (moved, ok bool) {
	for i, b := range c.all {
		if c.ended[i] {
			continue
		}
		if moved, ok := b.Free(); moved {
			c.failed = i
			if c.each != nil { // who is let go next is no part of the state
				c.each[i].changed = true
			}
			return true, ok
		}
	}
	return false, true
}

func (c *cluster) over() bool {
	for _, e := range c.ended {
		if !e {
			return false
		}
	}
	return true
}

// Index returns the index of the block of rank 0.
func (c *cluster) Index() Dim3 { return c.first.Index() }

// Counts is as in GridBlock.
func (c *cluster) Counts() (warpInsts, threadInsts uint64) {
	for _, b := range c.all {
		w, t := b.Counts()
		warpInsts, threadInsts = warpInsts+w, threadInsts+t
	}
	return warpInsts, threadInsts
}

// Say is as in GridBlock.
func (c *cluster) Say(to io.Writer, m *Warner) error {
	for _, b := range c.all {
		if err := b.Say(to, m); err != nil {
			return err
		}
	}
	return nil
}

// Quiet is as in GridBlock.
func (c *cluster) Quiet() bool {
	return !slices.ContainsFunc(c.all, func(b Member) bool { return !b.Quiet() })
}

// Failure is as in GridBlock.
func (c *cluster) Failure() error { return c.all[c.failed].Failure() }

// Waits is as in GridBlock.
func (c *cluster) Waits() (list []string) {
	for i, b := range c.all {
		if c.ended[i] {
			continue
		}
		for _, s := range b.Waits() {
			list = append(list, fmt.Sprintf("block %v of the cluster, %s", b.Index(), s))
		}
	}
	return FewWaits(list)
}

// Somewhere is as in GridBlock.
func (c *cluster) Somewhere() Where {
	for i, b := range c.all {
		if !c.ended[i] {
			return b.Somewhere()
		}
	}
	return c.first.Somewhere()
}

// Loops is as in GridBlock.
func (c *cluster) Loops() (list []Where) {
	for i, b := range c.all {
		if !c.ended[i] {
			list = append(list, b.Loops()...)
		}
	}
	return list
}

// Watch is as in GridBlock. Each block has a search of its own; a store to another block's memory
// is for it what a store to global memory is (Search.Reached).
func (c *cluster) Watch(s *Search) {
	c.search, c.each = s, nil
	for _, b := range c.all {
		var own *Search
		if s != nil {
			own = &Search{}
			c.each = append(c.each, own)
		}
		b.Watch(own)
	}
}

// look sums up what the searches have found.
func (c *cluster) look() {
	if c.search == nil {
		return
	}
	loops := true
	for i, s := range c.each {
		loops = loops && (s.loops || c.ended[i])
		c.search.changed = c.search.changed || s.changed
	}
	c.search.loops = loops
}

// Reached notes that the block has written to the memory of another block of its cluster.
func (s *Search) Reached() { s.changed = true }

// Recycle is as in GridBlock.
func (c *cluster) Recycle() {
	for _, b := range c.all {
		b.Recycle()
	}
}
