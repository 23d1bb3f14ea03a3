package noc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/param"
)

// Kind is the kind of a network.
type Kind uint8

// The kinds.
const (
	Local Kind = iota // local crossbar (-network_mode 2)
	Fly               // butterfly of switches, of one stage: one switch (-network_mode 1 with topology = fly)
	Mesh              // grid of routers
	Torus             // grid of routers whose ends are joined
)

func (k Kind) String() string { return [...]string{"local", "fly", "mesh", "torus"}[k] }

// Arbiter chooses which input an output serves.
type Arbiter uint8

// The arbiters. In a router, one of the two sides of an allocation chooses first
// among its requests, by a pointer that moves past the last one served; the other
// side chooses among those that chose it.
const (
	RoundRobin Arbiter = iota // local: one pointer over all inputs, moved every cycle (-icnt_arbiter_algo 0); routers: inputs choose first
	ISLIP                     // local: a pointer per output (1); routers: outputs choose first
)

func (a Arbiter) String() string { return [...]string{"round-robin", "islip"}[a] }

// Placement assigns the nodes of the two sides to terminals of a network.
type Placement uint8

// The placements. Clusters and slices are counted from 0, terminals too.
const (
	// InOrder puts the clusters at the first terminals and the slices after them,
	// as GPGPU-Sim does with use_map = 0.
	InOrder Placement = iota
	// Spread puts the slices at equal distances among the terminals: slice j of
	// m at number (2j+1)·t/2m of t. In a mesh or a torus the terminals are
	// numbered along diagonals for this, so that slices are in different rows
	// and columns. The clusters take the remaining terminals, in order.
	Spread
)

func (p Placement) String() string { return [...]string{"in-order", "spread"}[p] }

// Config describes one subnet.
type Config struct {
	Kind    Kind `help:"crossbar: one packet per port and cycle, whatever its size; others: routers that move flits, in a butterfly of switches (with one stage: one switch), a grid, or a grid whose ends are joined" enum:"crossbar|fly|mesh|torus"`
	Inputs  int  `key:"-"` // nodes that send, numbered from 0
	Outputs int  `key:"-"` // nodes that receive, numbered from 0

	// Packets of each input FIFO (-icnt_in_buffer_limit); of networks with flits, flits that wait for the first router (input_buffer_size)
	InBuffer int `help:"crossbar: packets that wait at an input" unit:"packets" want:"1..1048576" def:"64" from:"-icnt_in_buffer_limit=64"`
	// Packets of each output FIFO (-icnt_out_buffer_limit); of networks with flits, flits of a channel that the last router may send ahead (ejection_buffer_size)
	OutBuffer int `help:"crossbar: packets that wait at an output" unit:"packets" want:"1..1048576" def:"64" from:"-icnt_out_buffer_limit=64"`
	// For the crossbar, or for both allocators of every router
	Arbiter Arbiter `help:"which input is served; in a router, inputs (round-robin) or outputs (islip) choose first" enum:"round-robin|islip" def:"islip" from:"-icnt_arbiter_algo=1"`

	GrantCycles int `help:"crossbar: busy cycles between moves of the islip pointers" unit:"cycles" want:"1..1024" def:"1" from:"-icnt_grant_cycles=1"`
	FlitBytes   int `help:"bytes of a flit; affects only counters in a crossbar, timing in routers" unit:"bytes" want:"1..1024" def:"32" from:"-icnt_flit_size=32"`

	// The rest describes routers; the local crossbar ignores it.

	Radix      int  `help:"nodes along a dimension, or inputs of a fly's switch; 0: as few as hold all clusters and slices" unit:"nodes" want:"0..8192" def:"0"`
	Dimensions int  `help:"dimensions, or stages of a fly; 0: two dimensions, one stage" unit:"dimensions" want:"0..12" def:"0"`
	VCs        int  `key:"vcs" help:"virtual channels of a link; a torus needs an even number; 0: one, in a torus two" unit:"channels" want:"0..16" def:"0"`
	AnyVC      bool `key:"any_vc" help:"packets take any free channel, instead of a fixed one for each pair of nodes, which keeps them in order" def:"false"`

	VCBuffer       int  `key:"vc_buffer" help:"flits that a router holds of each channel of an input" unit:"flits" want:"1..65536" def:"64"`
	BoundaryBuffer int  `help:"flits of each channel that can wait at a node" unit:"flits" want:"1..65536" def:"16"`
	HoldVC         bool `key:"hold_vc" help:"a channel is free for the next packet only when the last one has left the next router" def:"false"`

	Iterations    int `help:"rounds of each allocation in a router" unit:"rounds" want:"1..64" def:"1"`
	RoutingDelay  int `help:"time of a router to find a packet's route" unit:"cycles" want:"0..64" def:"0"`
	VCDelay       int `key:"vc_delay" help:"time of a router to allocate a channel to a packet" unit:"cycles" want:"1..64" def:"1"`
	SwitchDelay   int `help:"time of a router to allocate its switch to a flit" unit:"cycles" want:"1..64" def:"1"`
	CreditDelay   int `help:"time from a credit's arrival to its use" unit:"cycles" want:"0..64" def:"0"`
	LinkDelay     int `help:"time from router to router; to and from nodes it is 1" unit:"cycles" want:"1..64" def:"1"`
	InputSpeedup  int `help:"paths from an input into a router's switch; must divide the number of virtual channels" unit:"ways" want:"1..16" def:"1"`
	OutputSpeedup int `help:"paths from a router's switch to an output" unit:"ways" want:"1..16" def:"1"`
	Steps         int `key:"router_steps" help:"steps that a router does in a cycle" unit:"steps" want:"1..16" def:"2"`

	Placement Placement `help:"where the slices are among the clusters: after them, or at equal distances (in a grid, along diagonals)" enum:"in-order|spread" def:"spread"`
	// Reply says that the inputs are the slices. It only places nodes: both
	// subnets of a chip have the same nodes at the same terminals.
	Reply bool `key:"-"`
	// Open says that packets never wait for each other.
	Open bool `key:"-"`
}

// Reverse returns the settings of the subnet in the other direction.
func (c Config) Reverse() Config {
	c.Inputs, c.Outputs, c.Reply = c.Outputs, c.Inputs, !c.Reply
	return c
}

// Limits of a configuration.
const (
	maxSide  = 1 << 12 // nodes of a side
	maxFlits = 1 << 22 // of all buffers of a network
	maxSpan  = 1 << 13 // terminals
	maxQueue = 1 << 24 // packets or flits of one buffer
)

// ofRouters are the parameters of networks with routers.
var ofRouters = slices.DeleteFunc(param.Of(new(Config), "noc.", false), func(p param.Param) bool { return p.Name == "noc.grant_cycles" })

// Check reports a contradiction among the settings.
func (c *Config) Check() error {
	switch {
	case c.Inputs < 1 || c.Outputs < 1:
		return param.Clash("chip.clusters chip.channels chip.slices_per_channel", "a network needs at least one input and one output, not %d and %d", c.Inputs, c.Outputs)
	case c.Inputs > maxSide || c.Outputs > maxSide:
		return param.Clash("chip.clusters chip.channels chip.slices_per_channel", "a network has at most %d nodes on a side, not %d and %d", maxSide, c.Inputs, c.Outputs)
	case c.InBuffer < 1 || c.OutBuffer < 1:
		return param.Clash("noc.in_buffer noc.out_buffer noc.flit_in_buffer noc.flit_out_buffer", "network buffers hold at least one packet, not %d in and %d out", c.InBuffer, c.OutBuffer)
	case c.InBuffer > maxQueue || c.OutBuffer > maxQueue:
		return param.Clash("noc.in_buffer noc.out_buffer noc.flit_in_buffer noc.flit_out_buffer", "network buffers hold at most %d packets, not %d in and %d out", maxQueue, c.InBuffer, c.OutBuffer)
	case c.FlitBytes < 1:
		return param.Clash("noc.flit_bytes", "a flit has at least one byte, not %d", c.FlitBytes)
	case c.Kind > Torus || c.Arbiter > ISLIP || c.Placement > Spread:
		return param.Clash("noc.kind noc.arbiter noc.placement", "unknown network: kind %d, arbiter %d, placement %d", c.Kind, c.Arbiter, c.Placement)
	case c.Kind == Local && c.GrantCycles < 1:
		return param.Clash("noc.grant_cycles", "network grant cycles are at least 1, not %d", c.GrantCycles)
	case c.Kind == Local:
		return nil
	}
	if err := param.Check(ofRouters, c); err != nil {
		return err
	}
	if most := 1 << 16; c.OutBuffer > most {
		return param.Clash("noc.flit_out_buffer", "network output buffer %d: want at most %d", c.OutBuffer, most)
	}
	s := c.shape()
	if nodes := c.Inputs + c.Outputs; s.terminals < nodes {
		return param.Clash("noc.kind noc.radix noc.dimensions chip.clusters chip.channels", "%v has %d terminals, too few for %d nodes", s, s.terminals, nodes)
	}
	if s.terminals > maxSpan {
		return param.Clash("noc.kind noc.radix noc.dimensions", "%v has more than the %d terminals that can be simulated", s, maxSpan)
	}
	if c.Kind == Torus && s.vcs%2 != 0 {
		return param.Clash("noc.kind noc.vcs", "a torus needs an even number of virtual channels, not %d: without a change to the second half where a ring closes, packets could deadlock", s.vcs)
	}
	if c.InputSpeedup > s.vcs || s.vcs%c.InputSpeedup != 0 {
		return param.Clash("noc.input_speedup noc.vcs", "network input speedup %d: want a divisor of the %d virtual channels", c.InputSpeedup, s.vcs)
	}
	// The last product is within 2^13·2^5·2^4·2^17 and cannot overflow.
	if n := s.routers * s.ports * s.vcs * (c.VCBuffer + max(c.VCBuffer, c.OutBuffer)); n > maxFlits {
		return param.Clash("noc.kind noc.radix noc.dimensions noc.vcs noc.vc_buffer noc.flit_in_buffer noc.flit_out_buffer noc.boundary_buffer", "the network's routers would hold %d flits, more than the %d that can be simulated", n, maxFlits)
	}
	return nil
}

// shape is the size of a network with routers.
type shape struct {
	kind      Kind
	k, n      int
	terminals int // k^n, or more than maxSpan
	routers   int
	ports     int // of each router, both in and out
	vcs       int
}

func (s shape) String() string {
	what := "dimension"
	if s.kind == Fly {
		what = "stage"
	}
	if s.n > 1 {
		what += "s"
	}
	return fmt.Sprintf("a %v of radix %d with %d %s", s.kind, s.k, s.n, what)
}

// shape fills in what the configuration leaves open.
func (c *Config) shape() shape {
	s := shape{kind: c.Kind, k: c.Radix, n: c.Dimensions, vcs: c.VCs}
	if s.n == 0 {
		s.n = 2
		if c.Kind == Fly {
			s.n = 1
		}
	}
	if s.vcs == 0 {
		s.vcs = 1
		if c.Kind == Torus {
			s.vcs = 2
		}
	}
	if s.k == 0 {
		for s.k = 1; power(s.k, s.n) < c.Inputs+c.Outputs; s.k++ {
		}
	}
	s.terminals = power(s.k, s.n)
	s.routers, s.ports = s.terminals, 2*s.n+1
	if c.Kind == Fly {
		s.routers, s.ports = s.n*power(s.k, s.n-1), s.k
	}
	return s
}

// Shape describes a network with routers in words.
func (c *Config) Shape() string {
	s := c.shape()
	return fmt.Sprintf("%v; routers %d, virtual channels %d", s, s.routers, s.vcs)
}

// Longest returns the cycles that a packet of one flit takes to the farthest node
// in an empty network, 1 for the local crossbar. With several steps a cycle it
// takes less.
func (c *Config) Longest() int {
	if c.Kind == Local {
		return 1
	}
	s := c.shape()
	hops := s.n
	switch c.Kind {
	case Mesh:
		hops = s.n*(s.k-1) + 1
	case Torus:
		hops = s.n*(s.k/2) + 1
	}
	return 5 + hops*(c.RoutingDelay+c.VCDelay+c.SwitchDelay) + (hops-1)*(1+c.LinkDelay)
}

// power returns k^n, or some number above maxSpan if k^n is larger.
func power(k, n int) int {
	p := 1
	for range n {
		if p *= k; p > maxSpan {
			return maxSpan + 1
		}
	}
	return p
}

// nodes returns the terminals of the inputs and of the outputs.
func (c *Config) nodes(s *shape) (in, out []int32) {
	clusters, slices := c.Inputs, c.Outputs
	if c.Reply {
		clusters, slices = slices, clusters
	}
	a, b := make([]int32, 0, clusters), make([]int32, 0, slices)
	if c.Placement == InOrder {
		for i := range clusters {
			a = append(a, int32(i))
		}
		for i := range slices {
			b = append(b, int32(clusters+i))
		}
	} else {
		taken := make([]bool, s.terminals)
		for j := range slices {
			t := (2*j + 1) * s.terminals / (2 * slices)
			if c.Kind != Fly {
				t = diagonal(t, s.k)
			}
			taken[t] = true
			b = append(b, int32(t))
		}
		for t := 0; len(a) < clusters; t++ {
			if !taken[t] {
				a = append(a, int32(t))
			}
		}
	}
	if c.Reply {
		return b, a
	}
	return a, b
}

// diagonal moves a terminal along its row by the sum of its other coordinates.
func diagonal(t, k int) int {
	sum := 0
	for rest := t; rest > 0; rest /= k {
		sum += rest % k
	}
	return t - t%k + sum%k
}

// Map describes where the nodes are, a line for each row of a mesh or torus of
// two dimensions and one line for anything else: c and a number for a cluster,
// s and a number for a slice, - for neither.
func (c *Config) Map() string {
	s := c.shape()
	name := make([]string, s.terminals)
	for i := range name {
		name[i] = "-"
	}
	in, out := c.nodes(&s)
	if c.Reply {
		in, out = out, in
	}
	for i, t := range in {
		name[t] = fmt.Sprint("c", i)
	}
	for i, t := range out {
		name[t] = fmt.Sprint("s", i)
	}
	var b strings.Builder
	for i, n := range name {
		switch {
		case i == 0:
		case c.Kind != Fly && s.n == 2 && i%s.k == 0:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(n)
	}
	return b.String()
}
