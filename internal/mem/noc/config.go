package noc

import "fmt"

// Kind is the kind of a network.
type Kind uint8

// The kinds.
const (
	Local Kind = iota // local crossbar (-network_mode 2)
	Fly               // single switch with flits (-network_mode 1 with a fly of one stage)
)

func (k Kind) String() string { return [...]string{"local", "fly"}[k] }

// Arbiter chooses which input an output serves.
type Arbiter uint8

// The arbiters of the local crossbar.
const (
	RoundRobin Arbiter = iota // one pointer over all inputs, moved every cycle (-icnt_arbiter_algo 0)
	ISLIP                     // a pointer per output (1)
)

func (a Arbiter) String() string { return [...]string{"round-robin", "islip"}[a] }

// Config describes one subnet.
type Config struct {
	Kind    Kind
	Inputs  int // nodes that send, numbered from 0
	Outputs int // nodes that receive, numbered from 0

	InBuffer    int     // packets of each input FIFO (-icnt_in_buffer_limit); flits for a fly (input_buffer_size)
	OutBuffer   int     // packets of each output FIFO (-icnt_out_buffer_limit); flits for a fly (ejection_buffer_size)
	Arbiter     Arbiter // local crossbar only; a fly uses a pointer per output
	GrantCycles int     // busy cycles for which a pointer stays (-icnt_grant_cycles)

	FlitBytes int // size of a flit: counts for the local crossbar, time for a fly
	Delay     int // fly: cycles that a packet takes beyond those of a local crossbar
}

// Check reports what is contradictory.
func (c *Config) Check() error {
	switch {
	case c.Inputs < 1 || c.Outputs < 1:
		return fmt.Errorf("a network needs at least one input and one output, not %d and %d", c.Inputs, c.Outputs)
	case c.Inputs > 4096 || c.Outputs > 4096:
		return fmt.Errorf("a network has at most 4096 nodes on a side, not %d and %d", c.Inputs, c.Outputs)
	case c.InBuffer < 1 || c.OutBuffer < 1:
		return fmt.Errorf("network buffers hold at least one packet, not %d in and %d out", c.InBuffer, c.OutBuffer)
	case c.GrantCycles < 1:
		return fmt.Errorf("network grant cycles are at least 1, not %d", c.GrantCycles)
	case c.FlitBytes < 1:
		return fmt.Errorf("a flit has at least one byte, not %d", c.FlitBytes)
	case c.Delay < 0:
		return fmt.Errorf("the network delay is at least 0, not %d", c.Delay)
	}
	return nil
}
