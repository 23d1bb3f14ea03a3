package noc

// This file: the fly, a switch with flits. It has the structure of an
// input-queued router with one virtual channel: a packet passes
//
//   - the node's queue (InBuffer flits), from which one flit a cycle goes into
//   - the input's channel buffer (OutBuffer flits), where its head waits for
//     the output to be free and then moves, twice a cycle if it can, into
//   - the output's queue, from which one flit a cycle passes the link into
//   - the node's ejection buffer, and from there one flit a cycle into
//   - the boundary buffer, where a packet can be popped when its tail is there.
//
// An output gives OutBuffer credits for flits between its switch and its
// boundary buffer. Whose turn it is at an output is a pointer's business: the
// first input from it on that has a packet, and then the one behind that.

// boundaryFlits is the size of the boundary buffer (GPGPU-Sim's default).
const boundaryFlits = 16

// switchSteps is how many flits an input can send, and an output take, in a
// cycle (internal_speedup = 2).
const switchSteps = 2

// flyStages is how many advances a packet of one flit needs at least; a
// network's delay counts those beyond the first.
const flyStages = 4

// fly is the state of the switch.
type fly struct {
	channel []fifo // per input: packets whose head has come, the oldest first
	came    []int  // per input: flits of the youngest that have come
	left    []int  // per input: flits of the oldest that have left
	flits   []int  // per input: flits in the channel

	link     []fifo // per output: packets whose tail has passed the switch
	linkLeft []int  // per output: flits of the packets in link, and of the one that is passing, not yet over the link
	eject    []int  // per output: flits in the ejection buffer
	gone     []int  // per output: flits of link's oldest packet in the boundary buffer
	boundary []int  // per output: flits in the boundary buffer
	open     []int  // inputs whose next packet has come to the front in this step
}

func newFly(cfg *Config) *fly {
	f := &fly{
		channel: make([]fifo, cfg.Inputs), came: make([]int, cfg.Inputs), left: make([]int, cfg.Inputs),
		flits: make([]int, cfg.Inputs),
		link:  make([]fifo, cfg.Outputs), linkLeft: make([]int, cfg.Outputs), eject: make([]int, cfg.Outputs),
		gone: make([]int, cfg.Outputs), boundary: make([]int, cfg.Outputs), open: make([]int, 0, cfg.Inputs),
	}
	for i := range f.channel {
		f.channel[i].buf = make([]packet, cfg.OutBuffer+1)
	}
	for i := range f.link {
		f.link[i].buf = make([]packet, cfg.OutBuffer+1)
	}
	return f
}

// advanceFly moves flits by one cycle, the last stage first.
func (n *Network) advanceFly() {
	f := n.fly
	moved := false
	for o := range f.link {
		if f.eject[o] > 0 {
			moved = n.toBoundary(o) || moved
		}
		if f.linkLeft[o] > 0 {
			f.linkLeft[o]--
			f.eject[o]++
			moved = true
		}
	}
	for range switchSteps {
		moved = n.step() || moved
	}
	for i := range n.in {
		if n.in[i].n > 0 && f.flits[i] < n.cfg.OutBuffer {
			n.inject(i)
			moved = true
		}
	}
	if moved {
		n.Stats.Busy++
	}
}

// toBoundary moves a flit from an output's ejection buffer to its boundary
// buffer, and delivers the packet with its tail.
func (n *Network) toBoundary(o int) bool {
	f := n.fly
	// The packet's tail may not have passed the switch; then its size is of no
	// interest yet.
	size := 0
	if f.link[o].n > 0 {
		size = int(f.link[o].buf[f.link[o].head].size)
	}
	if f.boundary[o] >= max(boundaryFlits, size) {
		return false
	}
	f.eject[o]--
	f.boundary[o]++
	n.outSize[o]--
	f.gone[o]++
	if size > 0 && f.gone[o] == size {
		f.gone[o] = 0
		n.deliver(f.link[o].pop(), max(0, n.cfg.Delay+1-flyStages))
		n.queued--
	}
	return true
}

// step is one step of the switch. What it does depends only on what was before
// it: an output that becomes free is given away in the next step.
func (n *Network) step() bool {
	f := n.fly
	moved := false
	f.open = f.open[:0]
	for o := range n.from {
		i := n.from[o]
		if i < 0 {
			if i = n.first(o, n.next[o]); i >= 0 {
				n.from[o] = i
				n.next[o] = (i + 1) % n.cfg.Inputs
				n.want[o*n.words+i>>6] &^= 1 << (i & 63)
				moved = true
			}
			continue
		}
		p := &f.channel[i].buf[f.channel[i].head]
		have := int(p.size)
		if f.channel[i].n == 1 {
			have = f.came[i]
		}
		if f.left[i] == have {
			continue
		}
		if n.outSize[o] >= n.cfg.OutBuffer {
			n.Stats.OutFull++
			continue
		}
		n.outSize[o]++
		f.linkLeft[o]++
		f.flits[i]--
		f.left[i]++
		moved = true
		if f.left[i] < int(p.size) {
			continue
		}
		f.link[o].push(f.channel[i].pop())
		f.left[i] = 0
		n.from[o] = -1
		if f.channel[i].n > 0 {
			f.open = append(f.open, i)
		}
	}
	for _, i := range f.open {
		n.ask(i)
	}
	return moved
}

// ask lets the oldest packet of an input ask for its output.
func (n *Network) ask(i int) {
	c := &n.fly.channel[i]
	n.want[int(c.buf[c.head].dst)*n.words+i>>6] |= 1 << (i & 63)
}

// inject moves a flit from a node's queue to its channel.
func (n *Network) inject(i int) {
	f := n.fly
	p := &n.in[i].buf[n.in[i].head]
	if p.flits == p.size {
		f.channel[i].push(*p)
		f.came[i] = 0
		if f.channel[i].n == 1 {
			n.ask(i)
		}
	}
	f.came[i]++
	f.flits[i]++
	n.inSize[i]--
	if p.flits--; p.flits == 0 {
		n.in[i].pop()
	}
}
