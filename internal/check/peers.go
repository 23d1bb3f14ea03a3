package check

import (
	"iter"
	"maps"

	"github.com/heddle-sim/heddle/internal/exec"
)

// Peers are the blocks of a launch's clusters that run, as a checker keeps them. A launch without clusters has none.
type Peers[B any] struct{ by map[exec.Peer]*B }

// Begin prepares for a launch.
func (p *Peers[B]) Begin(l *exec.Launch) {
	if p.by = nil; l.ClusterSize().Count() > 1 {
		p.by = map[exec.Peer]*B{}
	}
}

// Add notes that block number n, in the order of the launch, has begun.
func (p *Peers[B]) Add(n uint64, b *B) {
	if p.by != nil {
		p.by[exec.Peer(n+1)] = b
	}
}

// Remove notes that it has ended.
func (p *Peers[B]) Remove(n uint64) { delete(p.by, exec.Peer(n+1)) }

// Of returns the block that an access or a signal of block own names, nil if that has ended.
func (p *Peers[B]) Of(who exec.Peer, own *B) *B {
	if who == 0 {
		return own
	}
	return p.by[who]
}

// All yields the blocks, in no order.
func (p *Peers[B]) All() iter.Seq[*B] { return maps.Values(p.by) }
