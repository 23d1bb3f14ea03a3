package noc

// Stats are a subnet's counters since its creation.
type Stats struct {
	Packets   uint64 // pushed
	Flits     uint64 // of those, by FlitBytes
	Cycles    uint64 // advances
	Busy      uint64 // advances that moved something; of routers, a flit through a switch
	Moved     uint64 // packets that reached their output
	Conflicts uint64 // inputs whose head wanted the output of an earlier input, summed over advances; of routers, requests for a channel that another one was given
	InFull    uint64 // tests for room that failed
	OutFull   uint64 // full outputs that an input wanted; of routers, flits without credit in a step
	Active    uint64 // advances with a packet that had not reached its output
	InFill    uint64 // such packets after an advance, summed over advances
	OutFill   uint64 // packets at their output but not popped, likewise
}

// Traffic counts what passed a node.
type Traffic struct{ Packets, Flits uint64 }

// Less returns the traffic since an earlier count, Plus the sum of two.
func (t Traffic) Less(o Traffic) Traffic { return Traffic{t.Packets - o.Packets, t.Flits - o.Flits} }
func (t Traffic) Plus(o Traffic) Traffic { return Traffic{t.Packets + o.Packets, t.Flits + o.Flits} }

func (t *Traffic) add(flits int) {
	t.Packets++
	t.Flits += uint64(flits)
}

// Latency has latencies in advances, from the one after Push to the one that
// brought a packet to its output; a packet that passes immediately has 0. They are
// counted for whole packets, from Push (Sum) and from the cycle in which their
// first flit left its node (NetSum), and for single flits, each from the cycle in
// which it left.
type Latency struct {
	Packets, Sum, Min, Max uint64
	Slowest                uint64 // number of the slowest packet, in the order of Push

	NetSum, NetMin, NetMax uint64

	Flits, FlitSum, FlitMin, FlitMax uint64

	// Gap is the time between the arrivals of a packet's first and last flit,
	// beyond the packet's length.
	GapSum, GapMin, GapMax uint64

	Hops uint64 // routers that packets passed
}

// flits adds k flits of the same latency.
func (l *Latency) flits(d, k uint64) {
	if l.Flits == 0 {
		l.FlitMin = d
	}
	l.Flits += k
	l.FlitSum += k * d
	l.FlitMin, l.FlitMax = min(l.FlitMin, d), max(l.FlitMax, d)
}

// packet adds a packet whose last flit has arrived.
func (l *Latency) packet(p *packet, at uint64) {
	d, net, gap := at-p.born, at-p.start, at-p.began
	gap -= min(gap, uint64(p.len-1))
	if l.Packets == 0 {
		l.Min, l.NetMin, l.GapMin = d, net, gap
	}
	if d > l.Max {
		l.Slowest = p.id
	}
	l.Packets++
	l.Sum += d
	l.Min, l.Max = min(l.Min, d), max(l.Max, d)
	l.NetSum += net
	l.NetMin, l.NetMax = min(l.NetMin, net), max(l.NetMax, net)
	l.GapSum += gap
	l.GapMin, l.GapMax = min(l.GapMin, gap), max(l.GapMax, gap)
	l.Hops += uint64(p.hops)
}

// Add adds the counters of another subnet.
func (s *Stats) Add(o *Stats) {
	s.Packets += o.Packets
	s.Flits += o.Flits
	s.Cycles += o.Cycles
	s.Busy += o.Busy
	s.Moved += o.Moved
	s.Conflicts += o.Conflicts
	s.InFull += o.InFull
	s.OutFull += o.OutFull
	s.Active += o.Active
	s.InFill += o.InFill
	s.OutFill += o.OutFill
}

// overall sums the latencies of whole packets in all samples but the current one.
type overall struct{ packets, sum, max uint64 }

// NewSample begins a new sample of latencies.
func (n *Network) NewSample() {
	n.past.packets, n.past.sum, n.past.max = n.Overall()
	n.Latency = Latency{}
}

// Overall returns the number of packets that have arrived since the beginning, the sum of their
// latencies and the longest one, in advances.
func (n *Network) Overall() (packets, sum, longest uint64) {
	return n.past.packets + n.Latency.Packets, n.past.sum + n.Latency.Sum, max(n.past.max, n.Latency.Max)
}

// Inherit takes over the counters of another subnet with the same settings.
func (n *Network) Inherit(o *Network) {
	n.Stats, n.Latency, n.past = o.Stats, o.Latency, o.past
	copy(n.In, o.In)
	copy(n.Out, o.Out)
}
