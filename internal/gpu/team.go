package gpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: launches with clusters of blocks. All blocks of a cluster begin in the same cycle, each on
// an SM of its own, in one graphics processing cluster (GPC); and the messages that SMs with such blocks
// send each other. A GPC consists of whole TPCs; that all have as many, or one more, is assumed, and so is one
// block per SM: hardware may put several on one.

// tpcSMs is the number of SMs of a texture processing cluster (H100 whitepaper: 66 TPCs, 2 SMs per TPC).
const tpcSMs = 2

// gpcOf returns the first SM of a GPC, and the first of the next.
func (c *Config) gpcOf(i int) (from, to int) {
	n, all, piece := c.gpcs(), c.SMs(), tpcSMs
	if all < n*piece { // a small machine
		piece = 1
	}
	edge := func(i int) int {
		if i == n {
			return all
		}
		return i * (all / piece) / n * piece
	}
	return edge(i), edge(i + 1)
}

// gpcs returns the number of GPCs: one if the machine does not say.
func (c *Config) gpcs() int { return max(1, c.GPCs) }

// largestGPC returns the number of SMs of the largest GPC.
func (c *Config) largestGPC() (most int) {
	for i := range c.gpcs() {
		from, to := c.gpcOf(i)
		most = max(most, to-from)
	}
	return most
}

// ActiveClusters returns how many clusters of size blocks can be resident at once, of a kernel of which an
// SM takes the given number of blocks. Blocks of one cluster are on different SMs of one GPC.
func (c *Config) ActiveClusters(blocks, size int) (n int) {
	for i := range c.gpcs() {
		if from, to := c.gpcOf(i); to-from >= size {
			n += (to - from) * blocks / size
		}
	}
	return n
}

// checkCluster refuses clusters that fit in no GPC.
func (g *GPU) checkCluster(w exec.Work) error {
	size, most := w.Traits().Cluster, g.cfg.largestGPC()
	if size <= most {
		return nil
	}
	return &exec.LaunchError{Kernel: w.Name(), Msg: fmt.Sprintf(
		"clusters of %d blocks: the largest group of SMs of this GPU that can hold one has %d (chip.gpcs)", size, most)}
}

// clustered reports whether a kernel's blocks begin in clusters of more than one.
func (k *Kernel) clustered() bool { return k.team > 1 }

// placeTeam places the next cluster of a kernel if a GPC has room, the one after the last that took one
// first. It reports whether it did.
func (g *GPU) placeTeam(k *Kernel) bool {
	if !g.mayDispatch() {
		return false
	}
	n := g.cfg.gpcs()
	for i := range n {
		at := (g.lastGPC + 1 + i) % n
		if g.findTeam(k, at) {
			g.lastGPC = at
			g.putTeam(k)
			return true
		}
	}
	return false
}

// findTeam looks in a GPC for an SM for each block of a cluster, in g.teamSMs: those with the fewest
// blocks, so that SMs fill evenly whatever the sizes of GPC and cluster are.
func (g *GPU) findTeam(k *Kernel, gpc int) bool {
	from, to := g.cfg.gpcOf(gpc)
	most := 0
	for sm := from; sm < to; sm++ {
		most = max(most, g.rate.resident[sm])
	}
	g.teamSMs = g.teamSMs[:0]
	for blocks := 0; blocks <= most; blocks++ {
		for sm := from; sm < to; sm++ {
			if g.rate.resident[sm] != blocks || !g.takes(sm, k) {
				continue
			}
			if g.teamSMs = append(g.teamSMs, int32(sm)); len(g.teamSMs) == k.team {
				return true
			}
		}
	}
	return false
}

// takes reports whether an SM has room for a block of a kernel.
func (g *GPU) takes(sm int, k *Kernel) bool {
	c := g.cores[sm]
	if !g.cfg.SharedSMs && g.bound[sm] != k && c.Unfinished() {
		return false
	}
	return g.hasPlace(sm, k) && c.CanTake(k.core)
}

// putTeam places the blocks of a cluster on the SMs of g.teamSMs.
func (g *GPU) putTeam(k *Kernel) {
	g.teamBlocks = g.teamBlocks[:0]
	for _, sm := range g.teamSMs {
		if !g.cfg.SharedSMs {
			g.bound[sm], g.full[sm] = k, false
		}
		b := g.put(int(sm), k)
		if b == nil {
			g.fault = fmt.Errorf("kernel %s: SM %d has no room for a block of a cluster, though it had", k.Name, sm)
			return
		}
		g.teamBlocks = append(g.teamBlocks, b)
	}
	for r, sm := range g.teamSMs {
		g.cores[sm].(core.Peer).Join(g.teamBlocks[r], g.teamSMs, g.teamBlocks)
	}
}

// mail holds the messages between SMs that are on their way.
type mail struct {
	to [][]core.PeerMessage // by SM, the first to arrive first
	n  int
}

// post takes a message.
func (m *mail) post(x core.PeerMessage) {
	list := append(m.to[x.To], x)
	for i := len(list) - 1; i > 0 && list[i-1].Due > x.Due; i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	m.to[x.To] = list
	m.n++
}

// next returns the core cycle in which the next message arrives, core.Never without one.
func (m *mail) next() uint64 {
	due := uint64(core.Never)
	if m.n == 0 {
		return due
	}
	for _, list := range m.to {
		if len(list) > 0 {
			due = min(due, list[0].Due)
		}
	}
	return due
}

// deliver gives SMs the messages that have arrived, in the order of SMs.
func (g *GPU) deliver() {
	if g.mail.n == 0 {
		return
	}
	for sm, list := range g.mail.to {
		n := 0
		for n < len(list) && list[n].Due <= g.now {
			g.cores[sm].(core.Peer).Take(&list[n])
			n++
		}
		if n == 0 {
			continue
		}
		g.mail.to[sm] = list[:copy(list, list[n:])]
		g.mail.n -= n
		g.collect(sm / g.cfg.SMsPerCluster)
	}
}

// collect takes the messages that the SMs of a cluster have sent.
func (g *GPU) collect(cluster int) {
	cl := &g.clusters[cluster]
	for i := range cl.mail {
		g.mail.post(cl.mail[i])
	}
	cl.mail = cl.mail[:0]
}
