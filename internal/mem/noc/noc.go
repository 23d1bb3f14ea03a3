package noc

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// packet is a request under way.
type packet struct {
	req   *mem.Req
	dst   int32
	size  int32  // what it takes of a buffer
	flits int32  // of those, not yet moved
	len   int32  // flits by FlitBytes
	ready uint64 // advance at which it can be popped
	born  uint64 // advances before it was pushed
	id    uint64 // packets pushed before it
}

// fifo is a bounded ring of packets.
type fifo struct {
	buf  []packet
	head int
	n    int
}

func (f *fifo) push(p packet) {
	i := f.head + f.n
	if i >= len(f.buf) {
		i -= len(f.buf)
	}
	f.buf[i] = p
	f.n++
}

func (f *fifo) pop() packet {
	p := f.buf[f.head]
	f.buf[f.head].req = nil
	f.head++
	if f.head == len(f.buf) {
		f.head = 0
	}
	f.n--
	return p
}

// Network is one subnet. It is driven from outside: Push and Pop at any time
// within a cycle, Advance once a cycle.
type Network struct {
	Stats Stats
	// Latency is how long packets took. In and Out count what was given to
	// each input node, and what came through to each output node.
	Latency Latency
	In, Out []Traffic

	cfg     Config
	in      []fifo
	out     []fifo
	inSize  []int    // flits in an input FIFO (packets for the local crossbar)
	outSize []int    // the same for outputs
	want    []uint64 // per output: inputs whose head goes there, words bits
	words   int
	next    []int // per output: input that is looked at first
	hold    []int // per output: busy cycles its pointer still stays
	from    []int // fly: per output the input whose packet is being moved, -1 if none
	fly     *fly
	turn    int    // round robin pointer
	queued  int    // packets in input FIFOs
	waiting int    // packets in output FIFOs
	now     uint64 // advances so far
}

// New returns an empty network. The configuration must have passed Check.
func New(cfg Config) *Network {
	n := &Network{cfg: cfg, words: (cfg.Inputs + 63) / 64}
	n.in, n.out = make([]fifo, cfg.Inputs), make([]fifo, cfg.Outputs)
	n.inSize, n.outSize = make([]int, cfg.Inputs), make([]int, cfg.Outputs)
	for i := range n.in {
		n.in[i].buf = make([]packet, cfg.InBuffer)
	}
	for i := range n.out {
		n.out[i].buf = make([]packet, cfg.OutBuffer)
	}
	n.want = make([]uint64, n.words*cfg.Outputs)
	n.next, n.hold, n.from = make([]int, cfg.Outputs), make([]int, cfg.Outputs), make([]int, cfg.Outputs)
	for i := range n.from {
		n.from[i], n.hold[i] = -1, cfg.GrantCycles
	}
	if cfg.Kind == Fly {
		n.fly = newFly(&cfg)
	}
	n.In, n.Out = make([]Traffic, cfg.Inputs), make([]Traffic, cfg.Outputs)
	return n
}

// size is what a packet takes of a buffer.
func (n *Network) size(bytes int) int {
	if n.cfg.Kind == Local {
		return 1
	}
	return n.flits(bytes)
}

func (n *Network) flits(bytes int) int { return max(1, (bytes+n.cfg.FlitBytes-1)/n.cfg.FlitBytes) }

// HasRoom reports whether input node src takes a packet of so many bytes now.
// A packet larger than the buffer fits an empty one.
func (n *Network) HasRoom(src, bytes int) bool {
	if s := n.inSize[src]; s+n.size(bytes) <= n.cfg.InBuffer || s == 0 {
		return true
	}
	n.Stats.InFull++
	return false
}

// Push gives a packet of so many bytes to input node src, for output node dst.
// HasRoom must have said yes.
func (n *Network) Push(r *mem.Req, src, dst, bytes int) {
	f := n.flits(bytes)
	p := packet{req: r, dst: int32(dst), len: int32(f), born: n.now, id: n.Stats.Packets}
	n.Stats.Packets++
	n.Stats.Flits += uint64(f)
	n.In[src].add(f)
	if n.in[src].n == 0 && n.cfg.Kind == Local {
		n.want[dst*n.words+src>>6] |= 1 << (src & 63)
	}
	if n.cfg.Kind == Local {
		f = 1
	}
	p.size, p.flits = int32(f), int32(f)
	n.in[src].push(p)
	n.inSize[src] += f
	n.queued++
}

// Peek returns the packet that Pop would, nil if none has arrived.
func (n *Network) Peek(dst int) *mem.Req {
	f := &n.out[dst]
	if f.n == 0 || f.buf[f.head].ready > n.now {
		return nil
	}
	return f.buf[f.head].req
}

// Pop takes the oldest packet that has arrived at an output node, nil if there
// is none.
func (n *Network) Pop(dst int) *mem.Req {
	if n.Peek(dst) == nil {
		return nil
	}
	p := n.out[dst].pop()
	if n.fly != nil {
		n.fly.boundary[dst] -= int(p.size)
	} else {
		n.outSize[dst] -= int(p.size)
	}
	n.waiting--
	return p.req
}

// Busy reports whether any packet is in the network.
func (n *Network) Busy() bool { return n.queued+n.waiting > 0 }

// Moving reports whether an advance could do anything but count.
func (n *Network) Moving() bool { return n.queued > 0 || n.waiting > 0 && n.cfg.Kind == Fly }

// Skip counts k advances in which nothing could move.
func (n *Network) Skip(k uint64) {
	n.Stats.Cycles += k
	n.Stats.OutFill += k * uint64(n.waiting)
	n.now += k
	if n.cfg.Kind == Local && n.cfg.Arbiter == RoundRobin {
		n.turn = (n.turn + int(k%uint64(n.cfg.Inputs))) % n.cfg.Inputs
	}
}

// Advance moves packets by one cycle.
func (n *Network) Advance() {
	n.Stats.Cycles++
	n.now++
	if n.queued == 0 {
		n.Stats.OutFill += uint64(n.waiting)
		if n.cfg.Kind == Local && n.cfg.Arbiter == RoundRobin {
			n.turn = (n.turn + 1) % n.cfg.Inputs
		}
		return
	}
	n.countConflicts()
	n.Stats.Active++
	before := n.Stats.Moved
	switch {
	case n.cfg.Kind == Fly:
		n.advanceFly()
		n.countFill()
		return
	case n.cfg.Arbiter == ISLIP:
		n.advanceISLIP()
	default:
		n.advanceRoundRobin()
	}
	if n.Stats.Moved != before {
		n.Stats.Busy++
	}
	n.countFill()
}

// countFill counts the packets in the buffers after an advance.
func (n *Network) countFill() {
	n.Stats.InFill += uint64(n.queued)
	n.Stats.OutFill += uint64(n.waiting)
}

// countConflicts counts the inputs that cannot all be served because their
// heads go to the same output.
func (n *Network) countConflicts() {
	for o := range n.cfg.Outputs {
		k := 0
		for _, w := range n.want[o*n.words : (o+1)*n.words] {
			k += bits.OnesCount64(w)
		}
		if k > 1 {
			n.Stats.Conflicts += uint64(k - 1)
		}
	}
}

// first returns the first input from start on, cyclically, that wants output
// o, or -1.
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

// behead removes the head of input i and lets the next one ask for its output.
func (n *Network) behead(i int) packet {
	p := n.in[i].pop()
	n.queued--
	n.want[int(p.dst)*n.words+i>>6] &^= 1 << (i & 63)
	if f := &n.in[i]; f.n > 0 {
		n.want[int(f.buf[f.head].dst)*n.words+i>>6] |= 1 << (i & 63)
	}
	return p
}

func (n *Network) deliver(p packet, delay int) {
	p.ready = n.now + uint64(delay)
	n.out[p.dst].push(p)
	n.waiting++
	n.Out[p.dst].add(int(p.len))
	n.Latency.add(p.ready-p.born-1, uint64(p.len), p.id)
	n.Stats.Moved++
}

// advanceISLIP serves the outputs in order, each from its own pointer. An
// input whose head was taken may serve a later output in the same cycle, as
// in GPGPU-Sim's local interconnect.
func (n *Network) advanceISLIP() {
	for o := range n.cfg.Outputs {
		i := n.first(o, n.next[o])
		if i < 0 {
			continue
		}
		if n.outSize[o] >= n.cfg.OutBuffer {
			n.Stats.OutFull++
			continue
		}
		p := n.behead(i)
		n.inSize[i]--
		n.outSize[o]++
		n.deliver(p, 0)
		if n.hold[o]--; n.hold[o] <= 0 {
			n.next[o], n.hold[o] = (i+1)%n.cfg.Inputs, n.cfg.GrantCycles
		}
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
		if f.n == 0 {
			continue
		}
		o := int(f.buf[f.head].dst)
		if n.from[o] == int(n.now&0x3fffffff) {
			continue // taken in this cycle
		}
		if n.outSize[o] >= n.cfg.OutBuffer {
			n.Stats.OutFull++
			continue
		}
		p := n.behead(i)
		n.inSize[i]--
		n.outSize[o]++
		n.from[o] = int(n.now & 0x3fffffff)
		n.deliver(p, 0)
	}
	n.turn = (n.turn + 1) % n.cfg.Inputs
}
