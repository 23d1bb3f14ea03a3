package modern

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: the memory of other blocks of the cluster, and the barrier of the cluster. Messages
// between SMs take the time of their bytes on the sender's way out, then the latency of the way; at the
// other SM an access waits for shared memory as the SM's own do.
//
// Not modelled: that lanes of the network are shared by the SMs of a part of a GPC; measurements show
// the same bandwidth for each SM whether its neighbours are idle or not.

// crowd is a resident block's cluster.
type crowd struct {
	sms    []int32 // by rank
	blocks []exec.Block
	rank   int
	told   uint64 // how often its barrier has opened, as far as it has heard
	team   any    // the cluster
	// under counts the instructions whose changes of mbarriers of other blocks are under way, but not
	// asynchronous ones.
	under  int32
	spare  int32 // registers per thread that its warps have given back (setmaxnreg)
	post   exec.Postponer
	member exec.ClusterMember
}

// Join is as in core.Peer.
func (c *Core) Join(b exec.Block, sms []int32, blocks []exec.Block) {
	m, _ := b.(exec.ClusterMember)
	x := &c.crowds[c.blockPlace(b)]
	x.member, x.team = m, m.Team()
	x.sms, x.blocks, x.rank, x.told = append(x.sms[:0], sms...), append(x.blocks[:0], blocks...), x.member.Rank(), 0
}

// blockPlace returns the place of a resident block, -1 if it has ended.
func (c *Core) blockPlace(b exec.Block) int {
	for i := range c.Residents.Blocks {
		if x := &c.Residents.Blocks[i]; x.K != nil && x.X == b {
			return i
		}
	}
	return -1
}

// placeOf returns the place of the block that a message is for, -1 if it has ended. A later one of
// another cluster may be the same block, used again.
func (c *Core) placeOf(m *core.PeerMessage) int {
	if i := c.blockPlace(m.Block); i >= 0 && c.crowds[i].team == m.Team {
		return i
	}
	return -1
}

func first(m uint64) int { return bits.TrailingZeros64(m) }

// sendPeer sends a message with some bytes from a core cycle on, which takes a number of cycles then.
func (c *Core) sendPeer(at uint64, takes, bytes int, m core.PeerMessage) {
	c.wayOut = max(64*at, c.wayOut) + uint64(bytes*c.cfg.Hopper.PeerCycles)
	m.From, m.Due = int32(c.id), (c.wayOut+63)/64+uint64(takes)
	c.env.Peer(m)
}

// rankOf returns the rank of the block whose shared memory an address names; own is the executing one's.
func rankOf(a uint64, own int) int {
	if a &= isa.WindowSize - 1; a >= isa.ClusterBase && a < isa.ClusterEnd {
		return int((a - isa.ClusterBase) / isa.ClusterStride)
	}
	return own
}

// far returns the lanes of an access to shared memory that go to other blocks, and notes how many go to
// each.
func (c *Core) far(f *flight, fi int32, e *exec.Effects) (lanes isa.LaneMask) {
	own := c.crowds[c.warps[f.warp].Block].rank
	var by [isa.MaxCluster]isa.LaneMask
	of := f.lanes
	if e.Space == isa.Generic {
		of = e.Shared
	}
	for m := of; m != 0; m &= m - 1 {
		l := m.First() & 31
		if r := rankOf(e.Addr[l], own); r != own {
			by[r&(isa.MaxCluster-1)] |= 1 << l
			lanes |= 1 << l
		}
	}
	if lanes == 0 {
		return 0
	}
	j := c.newJob(fi)
	for r, m := range by {
		if m != 0 {
			j.far = append(j.far, farAccess{rank: uint8(r), lanes: uint8(m.Count()), passes: uint16(passes(m, e.Addr, int(f.op.elem), c.cfg.SharedBanks, f.op.inst.Atomic))})
		}
	}
	return lanes
}

// reach sends the accesses of an instruction to other blocks.
func (c *Core) reach(fi int32) {
	f := &c.flight[fi]
	j := &c.jobs[f.job-1]
	x := &c.crowds[c.warps[f.warp].Block]
	h := &c.cfg.Hopper
	for _, a := range j.far {
		n := int(a.lanes) * int(f.op.elem)
		m := core.PeerMessage{To: x.sms[a.rank], Kind: core.PeerWrite, Passes: a.passes, Warp: f.warp, Flight: fi}
		parts := (n + mem.LineBytes - 1) / mem.LineBytes
		bytes := n + parts*h.PeerHeader
		if f.op.load {
			m.Kind, m.Bytes, bytes = core.PeerRead, int32(n), parts*h.PeerCommand
			if f.op.inst.Atomic {
				bytes += n
			}
			f.out++
		} else {
			c.warps[f.warp].stores++
		}
		c.sendPeer(c.now, h.PeerLatency, bytes, m)
	}
	c.freeJob(fi)
}

// meet makes a warp wait until it has heard that the barrier of the cluster has opened for it.
func (c *Core) meet(g int32, w *warp) {
	x := &c.crowds[w.Block]
	if x.member == nil || w.K.cluster < 2 {
		return
	}
	need := x.member.Opened()
	if w.State == exec.AtBarrier {
		need++
	}
	m := &c.more[g]
	if m.need = max(m.need, need); m.need > x.told {
		c.cluster |= 1 << g
	}
}

// opened returns how often the barrier of a block's cluster has opened.
func (c *Core) opened(blk int32) uint64 {
	if m := c.crowds[blk].member; m != nil {
		return m.Opened()
	}
	return 0
}

// announce tells all blocks of a cluster that its barrier has opened, if this instruction has opened it.
func (c *Core) announce(blk int32, before uint64) {
	x := &c.crowds[blk]
	n := c.opened(blk)
	if n == before {
		return
	}
	for r, sm := range x.sms {
		c.env.Peer(core.PeerMessage{Due: c.now + uint64(c.cfg.Hopper.ClusterBarrier), From: int32(c.id), To: sm, Kind: core.PeerOpen, Block: x.blocks[r], Team: x.team, Opened: n})
	}
}

// Take is as in core.Peer.
func (c *Core) Take(m *core.PeerMessage) {
	c.Sync()
	c.moved, c.stir = true, true
	t := c.tick + 1
	h := &c.cfg.Hopper
	switch m.Kind {
	case core.PeerRead, core.PeerWrite:
		from := max(t, c.ls.sharedFree)
		c.ls.sharedFree = from + uint64(m.Passes)
		at := m.Due + from - t + uint64(m.Passes)
		r := core.PeerMessage{To: m.From, Kind: core.PeerReply, Warp: m.Warp, Flight: m.Flight}
		if m.Kind == core.PeerRead {
			c.sendPeer(at, h.PeerLatency, int(m.Bytes), r)
			return
		}
		r.Kind, r.From, r.Due = core.PeerAck, int32(c.id), at+uint64(max(1, h.PeerStore-h.PeerLatency))
		c.env.Peer(r)
	case core.PeerReply:
		f := &c.flight[m.Flight]
		if f.out--; f.out == 0 {
			c.respond(m.Flight, t+uint64(f.op.raw))
		}
	case core.PeerAck:
		c.stored(uint16(m.Warp))
	case core.PeerSignal:
		c.signalled(m, t)
	case core.PeerHeard:
		c.heard(int32(m.Warp))
	case core.PeerProduct:
		c.tensors.free = max(t, c.tensors.free) + uint64(m.Passes)
	case core.PeerOpen:
		if i := c.placeOf(m); i >= 0 {
			c.open(int32(i), m.Opened)
		}
	}
}

// signalled applies a signal from another SM. The answer takes one way (assumed).
func (c *Core) signalled(m *core.PeerMessage, t uint64) {
	i := c.placeOf(m)
	if i < 0 {
		c.fail(&exec.Fault{Where: m.Notice.Origin.Where(), Kind: exec.BadBarrier, What: fmt.Sprintf(
			"a signal that came later: block %d of the cluster had ended when it came; it must wait for all signals to its mbarriers", m.Notice.Rank)})
		return
	}
	c.signal(int32(i), m.Notice, t)
	if m.Answer {
		c.env.Peer(core.PeerMessage{Due: m.Due + uint64(c.cfg.Hopper.PeerLatency), From: int32(c.id), To: m.From, Kind: core.PeerHeard, Warp: m.Warp})
	}
}

// heard notes that a change of another block's mbarrier has been applied. Warps that wait for that go on
// if it was the last of their block. The sender is still there: none of its block's warps ends before.
func (c *Core) heard(g int32) {
	blk := c.warps[g].Block
	x := &c.crowds[blk]
	if x.under--; x.under > 0 {
		return
	}
	for m := c.orders; m != 0; m &= m - 1 {
		if g := first(m); c.warps[g].Block == blk {
			c.orders &^= 1 << g
		}
	}
}

// inOrder reports whether a warp's instruction that orders memory for the cluster may issue: whether no
// arrival of its block at others is under way. Those of all warps count, as its warp may know of them.
func (c *Core) inOrder(g int32) bool {
	if c.crowds[c.warps[g].Block].under == 0 {
		return true
	}
	c.orders |= 1 << g
	return false
}

// open lets the warps of a block go on that wait at the barrier of the cluster.
func (c *Core) open(blk int32, n uint64) {
	x := &c.crowds[blk]
	x.told = max(x.told, n)
	c.RefreshBlock(blk)
	for m := c.cluster; m != 0; m &= m - 1 {
		g := first(m)
		if c.warps[g].Block == blk && c.more[g].need <= x.told {
			c.cluster &^= 1 << g
		}
	}
}

// signal applies a change of an mbarrier of a block.
func (c *Core) signal(blk int32, n exec.Notice, t uint64) {
	p := c.crowds[blk].post
	if p == nil {
		return
	}
	c.BreakSpin()
	if err := p.Signal(n); err != nil {
		c.fail(err)
		return
	}
	if c.mbar != 0 {
		c.changed(blk, t)
	}
}
