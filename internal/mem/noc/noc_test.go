package noc

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/mem"
)

func local(in, out int) Config {
	return Config{Kind: Local, Inputs: in, Outputs: out, InBuffer: 4, OutBuffer: 4, Arbiter: ISLIP, GrantCycles: 1, FlitBytes: 32}
}

// arrivesAfter returns the number of advances after which a lone packet can be
// popped.
func arrivesAfter(t *testing.T, cfg Config, bytes int) int {
	t.Helper()
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	n := New(cfg)
	r := new(mem.Req)
	n.Push(r, 0, 1, bytes)
	for k := range 100 {
		if n.Pop(1) == r {
			if n.Busy() {
				t.Error("busy after its only packet was popped")
			}
			return k
		}
		n.Advance()
	}
	t.Fatal("never arrived")
	return 0
}

func TestZeroLoad(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   Config
		bytes int
		want  int
	}{
		{"local, control packet", local(2, 2), 8, 1},
		{"local, size does not matter", local(2, 2), 136, 1},
	} {
		if got := arrivesAfter(t, c.cfg, c.bytes); got != c.want {
			t.Errorf("%s: arrives after %d advances, want %d", c.name, got, c.want)
		}
	}
}

func TestRoom(t *testing.T) {
	n := New(local(1, 1))
	for i := range 4 {
		if !n.HasRoom(0, 8) {
			t.Fatalf("no room for packet %d of 4", i)
		}
		n.Push(new(mem.Req), 0, 0, 8)
	}
	if n.HasRoom(0, 8) {
		t.Error("room for a fifth packet in a buffer of four")
	}
	if n.Stats.InFull != 1 {
		t.Errorf("counted %d refusals, want 1", n.Stats.InFull)
	}
	// Nobody pops: the output fills, then the input.
	for range 10 {
		n.Advance()
		if n.HasRoom(0, 8) {
			n.Push(new(mem.Req), 0, 0, 8)
		}
	}
	if n.waiting != 4 || n.queued != 4 {
		t.Errorf("%d packets wait and %d are queued, want 4 and 4", n.waiting, n.queued)
	}
	fly := with(routed(Fly, 1, 1), func(c *Config) { c.InBuffer = 16 })
	f := New(fly)
	f.Push(new(mem.Req), 0, 0, 136) // 4 of 16 flits
	if !f.HasRoom(0, 12*40) || f.HasRoom(0, 12*40+1) {
		t.Error("a fly's input of 16 flits with 4 taken holds 12 more and not 13")
	}
	if big := New(fly); !big.HasRoom(0, 17*40) {
		t.Error("a packet larger than the buffer must fit an empty one")
	}
}

// TestSaturation: every input always has packets with uniformly distributed
// outputs. Only the first of a queue can move, so that outputs stay idle; all
// inputs are served equally.
func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		arbiter Arbiter
		nodes   int
		want    float64 // packets a cycle for each output
	}{
		// An input sends one packet a cycle: Karol, Hluchyj and Morgan, "Input
		// Versus Output Queueing on a Space-Division Packet Switch" (1987), table I.
		{RoundRobin, 1, 1}, {RoundRobin, 2, 0.75}, {RoundRobin, 3, 0.6825}, {RoundRobin, 4, 0.6553}, {RoundRobin, 8, 0.6184},
		// The packet after a moved one may go to a later output in the same cycle.
		// The outputs of two packets before a cycle are a Markov chain: both the
		// first output in 2 cycles of 5, which moves 1.5, one each in 2, which
		// moves 2, both the second in 1, which moves 1.
		{ISLIP, 1, 1}, {ISLIP, 2, 0.8},
	} {
		cfg := local(c.nodes, c.nodes)
		cfg.Arbiter = c.arbiter
		n := New(cfg)
		r := rand.New(rand.NewPCG(1, 2))
		got := make([]int, c.nodes)
		const cycles = 40_000
		for range cycles {
			for i := range got {
				for n.HasRoom(i, 8) {
					n.Push(&mem.Req{SM: uint16(i)}, i, r.IntN(c.nodes), 8)
				}
			}
			n.Advance()
			for o := range got {
				if r := n.Pop(o); r != nil {
					got[r.SM]++
				}
			}
		}
		total := 0
		for _, g := range got {
			total += g
		}
		if rate := float64(total) / float64(cycles*c.nodes); math.Abs(rate-c.want) > 0.005 {
			t.Errorf("%v, %d nodes: %.4f packets a cycle for each output, want %.4f", c.arbiter, c.nodes, rate, c.want)
		}
		for i, g := range got {
			if share := total / c.nodes; g < share*98/100 || g > share*102/100 {
				t.Errorf("%v: input %d moved %d of %d packets, not its share of %d", c.arbiter, i, g, total, share)
			}
		}
	}
	// All inputs want one output: it gets one packet a cycle, no more.
	n := New(local(4, 1))
	moved := 0
	for range 1000 {
		for i := range 4 {
			if n.HasRoom(i, 8) {
				n.Push(new(mem.Req), i, 0, 8)
			}
		}
		n.Advance()
		for n.Pop(0) != nil {
			moved++
		}
	}
	if moved != 1000 {
		t.Errorf("one output took %d packets in 1000 cycles, want 1000", moved)
	}
	// A fly moves a packet of four flits in four cycles.
	f := New(with(routed(Fly, 2, 1), func(c *Config) { c.Steps = 2 }))
	moved = 0
	for range 1000 {
		for i := range 2 {
			if f.HasRoom(i, 136) {
				f.Push(new(mem.Req), i, 0, 136)
			}
		}
		f.Advance()
		for f.Pop(0) != nil {
			moved++
		}
	}
	if moved < 246 || moved > 250 {
		t.Errorf("one output of a fly took %d packets of 4 flits in 1000 cycles, want about 249", moved)
	}
}

// TestConservation: every pushed packet comes out once, at its destination, and
// packets of a pair of nodes stay in order.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Inputs:  rapid.IntRange(1, 70).Draw(t, "in"),
			Outputs: rapid.IntRange(1, 5).Draw(t, "out"), InBuffer: rapid.IntRange(1, 5).Draw(t, "inbuf"), OutBuffer: rapid.IntRange(1, 5).Draw(t, "outbuf"),
			Arbiter: rapid.SampledFrom([]Arbiter{ISLIP, RoundRobin}).Draw(t, "arb"), GrantCycles: rapid.IntRange(1, 3).Draw(t, "grant"),
			FlitBytes: 40,
		}
		if err := cfg.Check(); err != nil {
			t.Fatal(err)
		}
		n := New(cfg)
		type pair struct{ src, dst int }
		sent, got := map[pair]uint32{}, map[pair]uint32{}
		left := rapid.IntRange(1, 200).Draw(t, "packets")
		for cycle := 0; left > 0 || n.Busy(); cycle++ {
			if cycle > 20000 {
				t.Fatal("packets are stuck")
			}
			for range rapid.IntRange(0, 3).Draw(t, "pushes") {
				src, dst := rapid.IntRange(0, cfg.Inputs-1).Draw(t, "src"), rapid.IntRange(0, cfg.Outputs-1).Draw(t, "dst")
				size := rapid.SampledFrom([]int{8, 40, 136}).Draw(t, "size")
				if left > 0 && n.HasRoom(src, size) {
					p := pair{src, dst}
					n.Push(&mem.Req{SM: uint16(src), Sub: int32(dst), Owner: sent[p]}, src, dst, size)
					sent[p]++
					left--
				}
			}
			n.Advance()
			for o := range cfg.Outputs {
				if r := n.Pop(o); r != nil {
					p := pair{int(r.SM), o}
					if int(r.Sub) != o || r.Owner != got[p] {
						t.Fatalf("packet %d from %d for %d came to %d as number %d", r.Owner, r.SM, r.Sub, o, got[p])
					}
					got[p]++
				}
			}
		}
		for p, k := range sent {
			if got[p] != k {
				t.Fatalf("%d of %d packets from %d to %d arrived", got[p], k, p.src, p.dst)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no inputs":  func(c *Config) { c.Inputs = 0 },
		"too many":   func(c *Config) { c.Outputs = 1 << 20 },
		"no buffer":  func(c *Config) { c.OutBuffer = 0 },
		"no grant":   func(c *Config) { c.GrantCycles = 0 },
		"empty flit": func(c *Config) { c.FlitBytes = 0 },
	} {
		c := local(2, 2)
		change(&c)
		if c.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkAdvance(b *testing.B) {
	n := New(Config{Kind: Local, Inputs: 84, Outputs: 48, InBuffer: 512, OutBuffer: 512, Arbiter: ISLIP, GrantCycles: 1, FlitBytes: 40})
	reqs := make([]mem.Req, 84)
	b.ReportAllocs()
	k := 0
	for b.Loop() {
		for i := range reqs {
			if n.HasRoom(i, 8) {
				n.Push(&reqs[i], i, (i*7+k)%48, 8)
			}
		}
		k++
		n.Advance()
		for o := range 48 {
			n.Pop(o)
		}
	}
}
