package noc

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// packet is a request in the network.
type packet struct {
	req      *mem.Req
	src, dst int32
	len      int32  // flits
	hops     int32  // routers it has left
	born     uint64 // advances before it was pushed
	start    uint64 // before its first flit left its node
	began    uint64 // before its first flit had arrived
	id       uint64 // packets pushed before it
}

// Network is one subnet. Its owner calls Push and Pop at any time within a cycle,
// and Advance once a cycle.
type Network struct {
	Stats Stats
	// Latency has the packets' latencies. In and Out count the traffic into each
	// input node and out of each output node.
	Latency Latency
	past    overall // of earlier samples
	In, Out []Traffic

	cfg     Config
	fab     *fabric // nil for the local crossbar
	open    *open   // of a network without contention, nil otherwise
	in      []ring.Ring[packet]
	out     []ring.Ring[packet]
	inSize  []int    // packets in an input FIFO; flits before the first router
	want    []uint64 // per output: inputs whose head goes there, words bits
	words   int
	wanted  []uint64 // outputs with such inputs
	rivals  []int32  // per output: how many they are
	losers  int      // sum of rivals beyond the first of each output
	ready   []uint64 // outputs with a packet that has arrived
	next    []int    // per output: input that is looked at first
	hold    []int    // per output: busy cycles for which its pointer still stays
	from    []uint64 // per output: advance in which it was served last
	turn    int      // round robin pointer
	queued  int      // packets that have not arrived at their output
	waiting int      // packets that have
	now     uint64   // advances so far
}

// New returns an empty network. The configuration must have passed Check.
func New(cfg Config) *Network {
	n := &Network{cfg: cfg, words: (cfg.Inputs + 63) / 64}
	n.In, n.Out = make([]Traffic, cfg.Inputs), make([]Traffic, cfg.Outputs)
	n.inSize = make([]int, cfg.Inputs)
	n.ready = make([]uint64, (cfg.Outputs+63)/64)
	switch {
	case cfg.Open:
		n.open = newOpen(&n.cfg)
		return n
	case cfg.Kind != Local:
		n.fab = newFabric(&n.cfg)
		return n
	}
	n.in, n.out = make([]ring.Ring[packet], cfg.Inputs), make([]ring.Ring[packet], cfg.Outputs)
	for i := range n.in {
		n.in[i] = ring.Of(make([]packet, cfg.InBuffer))
	}
	for i := range n.out {
		n.out[i] = ring.Of(make([]packet, cfg.OutBuffer))
	}
	n.want, n.wanted = make([]uint64, n.words*cfg.Outputs), make([]uint64, len(n.ready))
	n.rivals = make([]int32, cfg.Outputs)
	n.next, n.hold, n.from = make([]int, cfg.Outputs), make([]int, cfg.Outputs), make([]uint64, cfg.Outputs)
	for i := range n.hold {
		n.hold[i] = cfg.GrantCycles
	}
	return n
}

// ask notes that the head of an input goes to an output.
func (n *Network) ask(i, o int) {
	n.want[o*n.words+i>>6] |= 1 << (i & 63)
	setBit(n.wanted, o)
	if n.rivals[o]++; n.rivals[o] > 1 {
		n.losers++
	}
}

// size is the space that a packet takes in a buffer.
func (n *Network) size(bytes int) int {
	if n.fab == nil {
		return 1
	}
	return n.flits(bytes)
}

func (n *Network) flits(bytes int) int { return max(1, (bytes+n.cfg.FlitBytes-1)/n.cfg.FlitBytes) }

// HasRoom reports whether input node src has room for a packet of the given size
// now. A packet larger than the buffer fits an empty one.
func (n *Network) HasRoom(src, bytes int) bool {
	if s := n.inSize[src]; s+n.size(bytes) <= n.cfg.InBuffer || s == 0 {
		return true
	}
	n.Stats.InFull++
	return false
}

// Push gives a packet of the given size to input node src, for output node dst.
// HasRoom must have returned true.
func (n *Network) Push(r *mem.Req, src, dst, bytes int) {
	f := n.flits(bytes)
	p := packet{req: r, src: int32(src), dst: int32(dst), len: int32(f), born: n.now, id: n.Stats.Packets}
	n.Stats.Packets++
	n.Stats.Flits += uint64(f)
	n.In[src].add(f)
	n.queued++
	if n.open != nil {
		n.open.push(n, p)
		return
	}
	if n.fab != nil {
		n.inSize[src] += f
		n.fab.enter(p)
		return
	}
	if n.in[src].Len() == 0 {
		n.ask(src, dst)
	}
	n.in[src].Push(p)
	n.inSize[src]++
}

// Peek returns the packet that Pop would return, nil if none has arrived.
func (n *Network) Peek(dst int) *mem.Req {
	if n.open != nil {
		if p := n.open.head(n, dst); p != nil {
			return p.req
		}
		return nil
	}
	if n.waiting == 0 {
		return nil
	}
	if n.fab != nil {
		if q := n.fab.arrived(dst); q >= 0 {
			return n.fab.packets[*n.fab.boundary[q].Front()].req
		}
		return nil
	}
	f := &n.out[dst]
	if f.Len() == 0 {
		return nil
	}
	return f.Front().req
}

// Pop takes the oldest packet that has arrived at an output node, nil if there
// is none. Where packets arrive on several channels, it takes from each in
// turn.
func (n *Network) Pop(dst int) *mem.Req {
	if n.open != nil {
		return n.open.pop(n, dst)
	}
	if n.waiting == 0 {
		return nil
	}
	if n.fab != nil {
		q := n.fab.arrived(dst)
		if q < 0 {
			return nil
		}
		n.waiting--
		r := n.fab.pop(dst, q)
		if n.fab.arrived(dst) < 0 {
			clearBit(n.ready, dst)
		}
		return r
	}
	f := &n.out[dst]
	if f.Len() == 0 {
		return nil
	}
	n.waiting--
	r := f.Pop().req
	if f.Len() == 0 {
		clearBit(n.ready, dst)
	}
	return r
}

// Ready returns the outputs at which Pop may find a packet, a bit each.
func (n *Network) Ready() []uint64 { return n.ready }

// Busy reports whether any packet is in the network.
func (n *Network) Busy() bool { return n.queued+n.waiting > 0 }

// Skip counts k advances while no packet is in the network.
func (n *Network) Skip(k uint64) {
	n.Stats.Cycles += k
	if n.fab != nil {
		// Credits may still be on their way back.
		for ; k > 0 && n.fab.inside > 0; k-- {
			n.fab.advance(n, n.now)
			n.now++
		}
		n.now += k
		return
	}
	n.now += k
	if n.cfg.Arbiter == RoundRobin {
		n.turn = (n.turn + int(k%uint64(n.cfg.Inputs))) % n.cfg.Inputs
	}
}

// Advance moves packets by one cycle.
func (n *Network) Advance() {
	n.Stats.Cycles++
	n.now++
	if n.open != nil {
		n.countFill()
		return
	}
	if n.fab != nil {
		if n.queued > 0 {
			n.Stats.Active++
		}
		if n.queued > 0 || n.fab.inside > 0 {
			n.fab.advance(n, n.now-1)
		}
		n.countFill()
		return
	}
	if n.queued == 0 {
		n.countFill()
		if n.cfg.Arbiter == RoundRobin {
			n.turn = (n.turn + 1) % n.cfg.Inputs
		}
		return
	}
	n.Stats.Conflicts += uint64(n.losers)
	n.Stats.Active++
	before := n.Stats.Moved
	if n.cfg.Arbiter == ISLIP {
		n.advanceISLIP()
	} else {
		n.advanceRoundRobin()
	}
	if n.Stats.Moved != before {
		n.Stats.Busy++
	}
	n.countFill()
}

// countFill counts the packets in the network after an advance.
func (n *Network) countFill() {
	n.Stats.InFill += uint64(n.queued)
	n.Stats.OutFill += uint64(n.waiting)
}

// first returns the first input from start on, cyclically, whose head goes to
// output o, or -1.
func (n *Network) first(o, start int) int {
	w := n.want[o*n.words : (o+1)*n.words]
	k := start >> 6
	if m := w[k] &^ (1<<(start&63) - 1); m != 0 {
		return k<<6 + bits.TrailingZeros64(m)
	}
	for i := k + 1; i < len(w); i++ {
		if w[i] != 0 {
			return i<<6 + bits.TrailingZeros64(w[i])
		}
	}
	for i := range k + 1 {
		if w[i] != 0 {
			return i<<6 + bits.TrailingZeros64(w[i])
		}
	}
	return -1
}

// behead moves the head of input i to its output o, and enters the next packet as a
// request for its own output.
func (n *Network) behead(i, o int) {
	p := n.in[i].Pop()
	n.inSize[i]--
	n.want[o*n.words+i>>6] &^= 1 << (i & 63)
	if n.rivals[o]--; n.rivals[o] > 0 {
		n.losers--
	} else {
		clearBit(n.wanted, o)
	}
	if f := &n.in[i]; f.Len() > 0 {
		n.ask(i, int(f.Front().dst))
	}
	// All flits move at once.
	at := n.now - 1
	p.start, p.began, p.hops = p.born, at, 1
	n.Latency.flits(at-p.born, uint64(p.len))
	n.arrived(&p, at)
	n.out[o].Push(p)
}

// arrived counts a packet that is at its output.
func (n *Network) arrived(p *packet, at uint64) {
	n.queued--
	n.waiting++
	setBit(n.ready, int(p.dst))
	n.Out[p.dst].add(int(p.len))
	n.Latency.packet(p, at)
	n.Stats.Moved++
}

// advanceISLIP serves the outputs in order, each from its own pointer. An
// input whose head was taken may serve a later output in the same cycle, as
// in GPGPU-Sim's local interconnect.
func (n *Network) advanceISLIP() {
	for w := range n.wanted {
		for m := n.wanted[w]; m != 0; {
			b := bits.TrailingZeros64(m)
			n.serve(w<<6 + b)
			m = n.wanted[w] &^ (2<<b - 1) // the next heads may go to later outputs
		}
	}
}

// serve lets an output that some heads go to take one of them.
func (n *Network) serve(o int) {
	if n.out[o].Full() {
		n.Stats.OutFull++
		return
	}
	i := n.first(o, n.next[o])
	n.behead(i, o)
	if n.hold[o]--; n.hold[o] <= 0 {
		if i++; i == n.cfg.Inputs {
			i = 0
		}
		n.next[o], n.hold[o] = i, n.cfg.GrantCycles
	}
}

// advanceRoundRobin serves the inputs in order from a pointer that moves every
// cycle; an output takes one packet a cycle.
func (n *Network) advanceRoundRobin() {
	for k := range n.cfg.Inputs {
		i := n.turn + k
		if i >= n.cfg.Inputs {
			i -= n.cfg.Inputs
		}
		f := &n.in[i]
		if f.Len() == 0 {
			continue
		}
		o := int(f.Front().dst)
		if n.from[o] == n.now {
			continue // taken in this cycle
		}
		if n.out[o].Full() {
			n.Stats.OutFull++
			continue
		}
		n.from[o] = n.now
		n.behead(i, o)
	}
	if n.turn++; n.turn == n.cfg.Inputs {
		n.turn = 0
	}
}
