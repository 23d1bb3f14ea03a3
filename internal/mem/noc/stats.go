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
}
