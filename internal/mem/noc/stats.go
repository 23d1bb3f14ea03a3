package noc

// Stats are a subnet's counters since it was made.
type Stats struct {
	Packets   uint64 // pushed
	Flits     uint64 // of those, by FlitBytes
	Cycles    uint64 // advances
	Busy      uint64 // advances that moved something
	Moved     uint64 // packets moved from an input to an output
	Conflicts uint64 // inputs whose head wanted the output of an earlier input, summed over advances
	InFull    uint64 // tests for room that failed
	OutFull   uint64 // outputs that were full when an input wanted them
	Active    uint64 // advances with a packet in an input FIFO
	InFill    uint64 // packets in input FIFOs after an advance, summed over advances
	OutFill   uint64 // the same for output FIFOs
}

// Traffic is what passed a node.
type Traffic struct{ Packets, Flits uint64 }

func (t *Traffic) add(flits int) {
	t.Packets++
	t.Flits += uint64(flits)
}

// Latency says how many advances packets took from the one after Push to the
// one that brought them to their output; a packet that passes at once takes
// none. The flits of a packet follow each other, each an advance later.
type Latency struct {
	Packets, Sum, Min, Max uint64
	Slowest                uint64 // number of the packet that took longest, in the order of Push

	Flits, FlitSum, FlitMin, FlitMax uint64
}

func (l *Latency) add(d, flits, id uint64) {
	f := d - min(d, flits-1) // of each flit
	if l.Packets == 0 {
		l.Min, l.FlitMin = d, f
	}
	if d > l.Max {
		l.Slowest = id
	}
	l.Packets++
	l.Sum += d
	l.Min, l.Max = min(l.Min, d), max(l.Max, d)
	l.Flits += flits
	l.FlitSum += f * flits
	l.FlitMin, l.FlitMax = min(l.FlitMin, f), max(l.FlitMax, f)
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
