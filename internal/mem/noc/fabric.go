package noc

import (
	"github.com/heddle-sim/heddle/internal/mem"

	"github.com/heddle-sim/heddle/internal/ring"
)

// fabric is a network of routers. Each router has input queues with virtual
// channels, an allocator for the channels of the next router's input, one for
// its switch, and queues after the switch. A channel may be sent on only while it
// has credits, one for each free place at its other end.
//
// Numbers: an input or output port is router·ports+port, a channel of it
// port·vcs+channel. After the output ports come the sources, which keep credits as
// an output port does; after the input ports come the sinks.
type fabric struct {
	cfg *Config
	shape
	classes int
	terms   int // routers·ports: the first source and the first sink

	inNode, outNode []int32 // terminals
	digits          []int16 // terminal·n+d: coordinate, or digit of a fly
	down            []int32 // by output port or source: input port or sink; -1 if none
	up              []int32 // by input port or sink: output port or source; -1 if none

	// Channels of inputs.
	buf    []ring.Ring[flit]
	stage  []stage
	due    []uint64 // cycle in which the stage may end; 0 before its first step
	port   []int32  // output port of the packet at the head, within the router
	lo, hi []uint8  // channels of that port it may take
	to     []int32  // channel of an output port that it was given
	finder []uint64 // sets of channels, words per router: in stage finding
	asking []uint64 // in stage asking
	moving []uint64 // in stage moving, with a flit
	words  int

	// Channels of outputs and sources.
	credit []int32
	taken  []bool
	ended  []bool // the tail has been sent (HoldVC)
	full   []int32

	queue    []ring.Ring[flit]   // by output port: after the switch
	sending  []uint64            // by router: output ports with a queue
	returned []ring.Ring[uint32] // by input port: credits to give back, a set of channels each
	giving   []uint64            // by router: input ports with credits to give back
	given    []uint32            // by input port: credits of this step
	portW    int                 // words of a set of ports
	work     []int32             // by router: flits and credits that it holds

	vcAlloc, swAlloc allocator
	swNext           []uint8 // by path into the switch: channel that comes first

	// On links, by the cycle of their arrival modulo the length.
	flits   [][]arrival
	credits [][]refund

	eject    []ring.Ring[flit] // by sink and channel
	boundary []ring.Ring[int32]
	held     []int32  // flits of the boundary, by sink and channel
	ejecting []uint64 // sinks with a flit to move
	turn     []uint8  // channel that is popped first
	waiting  []ring.Ring[int32]
	sources  []uint64 // sources with a packet waiting
	ahead    []int32  // by source: flits of its first packet already sent
	lane     []int8   // by source: channel of its first packet, -1 if none yet
	rotate   []uint8  // by source: channel that is tried first

	packets []packet
	free    []int32
	inside  int // flits in routers and on links, and credits on their way back
}

// stage is what the packet at the head of a channel waits for.
type stage uint8

const (
	idle    stage = iota
	finding       // its way
	asking        // a channel
	moving        // the switch
)

// flit is a part of a packet.
type flit struct {
	packet int32
	born   uint32 // low bits of the cycle in which it was injected
	ready  uint32 // the same of the cycle in which it leaves the switch
	vc     uint8
	head   bool
	tail   bool
}

type arrival struct {
	flit flit
	to   int32
}

// refund is a credit on its way.
type refund struct {
	to  int32 // output port or source
	vcs uint32
}

// rings makes bounded queues of equal length, all in one array.
func rings[T any](queues, size int) []ring.Ring[T] {
	list, buf := make([]ring.Ring[T], queues), make([]T, queues*size)
	for i := range list {
		list[i] = ring.Of(buf[i*size : (i+1)*size])
	}
	return list
}

func setBit(w []uint64, i int)   { w[i>>6] |= 1 << (i & 63) }
func clearBit(w []uint64, i int) { w[i>>6] &^= 1 << (i & 63) }

// newFabric builds the routers and links.
func newFabric(c *Config) *fabric {
	f := &fabric{cfg: c, shape: c.shape(), classes: 1}
	if c.Kind == Torus {
		f.classes = 2
	}
	f.inNode, f.outNode = c.nodes(&f.shape)
	r, p, v := f.routers, f.ports, f.vcs
	f.terms = r * p
	ins, outs := (f.terms)*v, (f.terms+c.Inputs)*v

	f.digits = make([]int16, f.terminals*f.n)
	for t := range f.terminals {
		for d, rest := 0, t; d < f.n; d, rest = d+1, rest/f.k {
			f.digits[t*f.n+d] = int16(rest % f.k)
		}
	}
	f.down, f.up = make([]int32, f.terms+c.Inputs), make([]int32, f.terms+c.Outputs)
	for i := range f.down {
		f.down[i] = -1
	}
	for i := range f.up {
		f.up[i] = -1
	}
	if c.Kind == Fly {
		f.linkFly()
	} else {
		f.linkGrid()
	}

	// A queue after the switch holds no more than the credits of its port.
	f.buf = rings[flit](ins, c.VCBuffer)
	f.queue = rings[flit](f.terms, v*max(c.VCBuffer, c.OutBuffer))
	f.returned = rings[uint32](f.terms, v*c.VCBuffer)
	f.stage, f.due, f.to = make([]stage, ins), make([]uint64, ins), make([]int32, ins)
	f.port, f.lo, f.hi = make([]int32, ins), make([]uint8, ins), make([]uint8, ins)
	f.words, f.portW = (p*v+63)/64, (p+63)/64
	f.finder, f.asking, f.moving = make([]uint64, r*f.words), make([]uint64, r*f.words), make([]uint64, r*f.words)
	f.sending, f.giving = make([]uint64, r*f.portW), make([]uint64, r*f.portW)
	f.given, f.work = make([]uint32, f.terms), make([]int32, r)

	f.credit, f.full = make([]int32, outs), make([]int32, outs)
	f.taken, f.ended = make([]bool, outs), make([]bool, outs)
	for o, d := range f.down {
		n := c.VCBuffer
		if int(d) >= f.terms {
			n = c.OutBuffer
		}
		for i := o * v; i < (o+1)*v; i++ {
			f.credit[i], f.full[i] = int32(n), int32(n)
		}
	}
	f.vcAlloc = newAllocator(c, r, p*v, p*v)
	f.swAlloc = newAllocator(c, r, p*c.InputSpeedup, p*c.OutputSpeedup)
	f.swNext = make([]uint8, f.terms*c.InputSpeedup)

	slots := c.LinkDelay + 2 + c.CreditDelay
	f.flits, f.credits = make([][]arrival, slots), make([][]refund, slots)
	f.eject = rings[flit](c.Outputs*v, c.OutBuffer)
	f.boundary = rings[int32](c.Outputs*v, c.BoundaryBuffer)
	f.held, f.turn = make([]int32, c.Outputs*v), make([]uint8, c.Outputs)
	f.waiting = rings[int32](c.Inputs, c.InBuffer)
	f.ejecting, f.sources = make([]uint64, (c.Outputs+63)/64), make([]uint64, (c.Inputs+63)/64)
	f.ahead, f.lane, f.rotate = make([]int32, c.Inputs), make([]int8, c.Inputs), make([]uint8, c.Inputs)
	for i := range f.lane {
		f.lane[i] = -1
	}
	return f
}

// linkFly connects the switches of a k-ary n-fly. A wire after a stage has the
// number switch·k+port; before the next stage, its lowest digit is swapped with the
// digit that this stage has set.
func (f *fabric) linkFly() {
	c := f.cfg
	per := f.terminals / f.k // switches of a stage
	for s := range f.n - 1 {
		top := power(f.k, f.n-1-s)
		for w := range f.terminals {
			low, high := w%f.k, w/top%f.k
			to := w - low - high*top + high + low*top
			out, in := s*per*f.k+w, (s+1)*per*f.k+to
			f.down[out], f.up[in] = int32(in), int32(out)
		}
	}
	for i, t := range f.inNode {
		f.down[f.terms+i], f.up[t] = t, int32(f.terms+i)
	}
	last := (f.n - 1) * per * f.k
	for i, t := range f.outNode[:c.Outputs] {
		f.down[last+int(t)], f.up[f.terms+i] = int32(f.terms+i), int32(last+int(t))
	}
}

// linkGrid connects the routers of a mesh or torus. Port 2d leads up dimension d,
// port 2d+1 down it, port 2n to the node; an input port is named after the output
// port of its neighbour.
func (f *fabric) linkGrid() {
	local := 2 * f.n
	for r := range f.routers {
		for d, step := 0, 1; d < f.n; d, step = d+1, step*f.k {
			x := int(f.digits[r*f.n+d])
			for down := range 2 {
				next := r + step - 2*step*down
				if x == (f.k-1)*(1-down) { // the end of the row
					if f.cfg.Kind == Mesh || f.k == 1 {
						continue
					}
					next = r - (f.k-1)*(step-2*step*down)
				}
				out, in := r*f.ports+2*d+down, next*f.ports+2*d+down
				f.down[out], f.up[in] = int32(in), int32(out)
			}
		}
	}
	for i, t := range f.inNode {
		in := int(t)*f.ports + local
		f.down[f.terms+i], f.up[in] = int32(in), int32(f.terms+i)
	}
	for i, t := range f.outNode {
		out := int(t)*f.ports + local
		f.down[out], f.up[f.terms+i] = int32(f.terms+i), int32(out)
	}
}

// route finds the output port of a router for a packet, and the channels of it
// that the packet may take.
func (f *fabric) route(r int, p *packet) (port int, lo, hi uint8) {
	src, dst := int(f.inNode[p.src]), int(f.outNode[p.dst])
	class := 0
	if f.cfg.Kind == Fly {
		port = int(f.digits[dst*f.n+f.n-1-r/(f.terminals/f.k)])
	} else {
		port, class = f.dimensionOrder(r, src, dst)
	}
	per := f.vcs / f.classes
	switch first := class * per; {
	case !f.cfg.AnyVC:
		v := uint8(first + f.laneOf(src, dst))
		return port, v, v
	case f.cfg.Kind == Torus && port == 2*f.n:
		return port, 0, uint8(f.vcs - 1) // no ring goes through a node
	default:
		return port, uint8(first), uint8(first + per - 1)
	}
}

// laneOf is the channel within its class that a pair of terminals always uses.
func (f *fabric) laneOf(src, dst int) int { return (src + dst) % (f.vcs / f.classes) }

// dimensionOrder goes along the lowest dimension in which a packet is not yet at
// its destination. In a torus it takes the shorter way round; of two equal ways, up
// from even coordinates and down from odd ones. After the link that closes a ring
// it uses the second class of channels, so that channels cannot wait for each other
// in a cycle.
func (f *fabric) dimensionOrder(r, src, dst int) (port, class int) {
	for d := range f.n {
		at, to := int(f.digits[r*f.n+d]), int(f.digits[dst*f.n+d])
		if at == to {
			continue
		}
		if f.cfg.Kind == Mesh {
			if at > to {
				return 2*d + 1, 0
			}
			return 2 * d, 0
		}
		from := int(f.digits[src*f.n+d])
		up := to - from
		if up < 0 {
			up += f.k
		}
		if 2*up < f.k || 2*up == f.k && from&1 == 0 {
			if at == f.k-1 || at < from {
				class = 1
			}
			return 2 * d, class
		}
		if at == 0 || at > from {
			class = 1
		}
		return 2*d + 1, class
	}
	return 2 * f.n, 0
}

// enter gives a packet to its source.
func (f *fabric) enter(p packet) {
	id := int32(len(f.packets))
	if k := len(f.free); k > 0 {
		id = f.free[k-1]
		f.free = f.free[:k-1]
		f.packets[id] = p
	} else {
		f.packets = append(f.packets, p)
	}
	f.waiting[int(p.src)].Push(id)
	setBit(f.sources, int(p.src))
}

// arrived returns the queue from which a sink's next packet is popped, -1 if
// there is none.
func (f *fabric) arrived(dst int) int {
	v := int(f.turn[dst])
	for range f.vcs {
		if q := dst*f.vcs + v; f.boundary[q].Len() > 0 {
			return q
		}
		if v++; v == f.vcs {
			v = 0
		}
	}
	return -1
}

// pop takes a packet from a sink's queue.
func (f *fabric) pop(dst, q int) *mem.Req {
	id := f.boundary[q].Pop()
	p := &f.packets[id]
	f.held[q] -= p.len
	f.turn[dst] = uint8((q%f.vcs + 1) % f.vcs)
	f.free = append(f.free, id)
	r := p.req
	p.req = nil
	return r
}
