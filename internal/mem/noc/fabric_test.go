package noc

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/mem"
)

// routed is a network of routers with one step a cycle and queues that are
// never the limit.
func routed(kind Kind, in, out int) Config {
	return Config{
		Kind: kind, Inputs: in, Outputs: out, InBuffer: 64, OutBuffer: 32, Arbiter: ISLIP, FlitBytes: 40,
		VCBuffer: 32, BoundaryBuffer: 64, Iterations: 1, VCDelay: 1, SwitchDelay: 1, LinkDelay: 1,
		InputSpeedup: 1, OutputSpeedup: 1, Steps: 1,
	}
}

func with(c Config, change func(*Config)) Config {
	change(&c)
	return c
}

func build(t testing.TB, c Config) *Network {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return New(c)
}

// distance is the number of links between two routers, found by walking in all
// directions at once.
func distance(f *fabric, from, to int) int {
	seen := map[int]int{from: 0}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		r := queue[0]
		if r == to {
			return seen[r]
		}
		for p := range f.ports {
			d := int(f.down[r*f.ports+p])
			if d < 0 || d >= f.terms {
				continue
			}
			if next := d / f.ports; seen[next] == 0 && next != from {
				seen[next] = seen[r] + 1
				queue = append(queue, next)
			}
		}
	}
	return -1
}

// walk follows a packet's route and returns the output ports that it takes and
// the range of channels of each.
func walk(t *testing.T, f *fabric, src, dst int) (ports []int, lo, hi []uint8) {
	t.Helper()
	p := packet{src: int32(src), dst: int32(dst)}
	at := int(f.down[f.terms+src])
	for range f.routers + 1 {
		r := at / f.ports
		port, a, b := f.route(r, &p)
		out := r*f.ports + port
		ports, lo, hi = append(ports, out), append(lo, a), append(hi, b)
		if at = int(f.down[out]); at < 0 {
			t.Fatalf("from %d to %d: port %d of router %d leads nowhere", src, dst, port, r)
		}
		if at >= f.terms {
			if at-f.terms != dst {
				t.Fatalf("from %d to %d: came to %d", src, dst, at-f.terms)
			}
			return ports, lo, hi
		}
	}
	t.Fatalf("from %d to %d: no end", src, dst)
	return nil, nil, nil
}

var shapes = []Config{
	with(routed(Fly, 3, 4), func(c *Config) {}),
	with(routed(Fly, 9, 7), func(c *Config) { c.Radix, c.Dimensions, c.Placement = 4, 2, Spread }),
	with(routed(Fly, 15, 12), func(c *Config) { c.Radix, c.Dimensions = 3, 3 }),
	with(routed(Fly, 5, 11), func(c *Config) { c.Radix, c.Dimensions = 2, 4 }),
	with(routed(Mesh, 5, 4), func(c *Config) {}),
	with(routed(Mesh, 40, 20), func(c *Config) { c.Placement = Spread }),
	with(routed(Mesh, 10, 17), func(c *Config) { c.Radix, c.Dimensions = 3, 3 }),
	with(routed(Mesh, 3, 4), func(c *Config) { c.Radix, c.Dimensions = 7, 1 }),
	with(routed(Torus, 5, 4), func(c *Config) {}),
	with(routed(Torus, 20, 16), func(c *Config) { c.Placement = Spread }),
	with(routed(Torus, 40, 24), func(c *Config) { c.Radix, c.Dimensions, c.VCs, c.AnyVC = 4, 3, 4, true }),
	with(routed(Torus, 2, 6), func(c *Config) { c.Radix, c.Dimensions = 2, 3 }),
	with(routed(Torus, 4, 5), func(c *Config) { c.Radix, c.Dimensions, c.Reply = 9, 1, true }),
}

func describe(c *Config) string { return c.shape().String() }

// TestRoutes: every packet comes to its node, by a shortest way.
func TestRoutes(t *testing.T) {
	for _, c := range shapes {
		f := build(t, c).fab
		for src := range c.Inputs {
			for dst := range c.Outputs {
				ports, _, _ := walk(t, f, src, dst)
				want := f.n
				if c.Kind != Fly {
					want = 1 + distance(f, int(f.inNode[src]), int(f.outNode[dst]))
				}
				if len(ports) != want {
					t.Fatalf("%s: %d routers from %d to %d, want %d", describe(&c), len(ports), src, dst, want)
				}
			}
		}
	}
}

// circle reports whether channels can wait for each other in a cycle. A channel
// waits for those that the packet holding it may request next; nodes always take
// what arrives.
func circle(t *testing.T, f *fabric, name func(port int, vc uint8) int) bool {
	t.Helper()
	next := map[int]map[int]bool{}
	for src := range f.inNode {
		for dst := range f.outNode {
			ports, lo, hi := walk(t, f, src, dst)
			for i := range len(ports) - 2 {
				for a := lo[i]; a <= hi[i]; a++ {
					for b := lo[i+1]; b <= hi[i+1]; b++ {
						from := name(ports[i], a)
						if next[from] == nil {
							next[from] = map[int]bool{}
						}
						next[from][name(ports[i+1], b)] = true
					}
				}
			}
		}
	}
	state := map[int]int{} // 1: on the path, 2: done
	var visit func(x int) bool
	visit = func(x int) bool {
		state[x] = 1
		for y := range next[x] {
			if state[y] == 1 || state[y] == 0 && visit(y) {
				return true
			}
		}
		state[x] = 2
		return false
	}
	for x := range next {
		if state[x] == 0 && visit(x) {
			return true
		}
	}
	return false
}

// TestNoCircle proves that no network can deadlock: the channels that packets hold
// and request form no cycle. With closed rings this is due to the second class of
// channels.
func TestNoCircle(t *testing.T) {
	for _, c := range shapes {
		f := build(t, c).fab
		if circle(t, f, func(port int, vc uint8) int { return port*f.vcs + int(vc) }) {
			t.Errorf("%s: channels wait for each other in a cycle", describe(&c))
		}
	}
	for _, k := range []int{5, 6, 8} {
		f := build(t, with(routed(Torus, k, k*k-k), func(c *Config) { c.Radix = k })).fab
		if circle(t, f, func(port int, vc uint8) int { return port*f.vcs + int(vc) }) {
			t.Errorf("torus of radix %d: channels wait for each other in a cycle", k)
		}
		if !circle(t, f, func(port int, _ uint8) int { return port }) {
			t.Errorf("torus of radix %d: no cycle among its links, so that the test above proves nothing", k)
		}
	}
}

// TestZeroLoadByHops: a lone packet takes exactly the cycles of its routers and
// links. A router takes the delays of its stages and a cycle for the switch; a link
// takes one cycle and its delay.
func TestZeroLoadByHops(t *testing.T) {
	for _, c := range []Config{
		with(routed(Mesh, 1, 15), func(c *Config) {}),
		with(routed(Torus, 1, 24), func(c *Config) {}),
		with(routed(Fly, 1, 7), func(c *Config) { c.Radix, c.Dimensions = 2, 3 }),
		with(routed(Mesh, 1, 15), func(c *Config) { c.VCDelay = 3 }),
		with(routed(Mesh, 1, 15), func(c *Config) { c.SwitchDelay = 4 }),
		with(routed(Torus, 1, 8), func(c *Config) { c.RoutingDelay = 2 }),
		with(routed(Torus, 1, 8), func(c *Config) { c.LinkDelay = 5 }),
		with(routed(Mesh, 1, 15), func(c *Config) { c.CreditDelay = 7 }),
	} {
		longest := 0
		for dst := range c.Outputs {
			for _, flits := range []int{1, 4} {
				n := build(t, c)
				ports, _, _ := walk(t, n.fab, 0, dst)
				hops := len(ports)
				router := c.RoutingDelay + c.VCDelay + c.SwitchDelay
				want := 2 + hops*router + (hops-1)*(1+c.LinkDelay) + 2 + 1
				// Only the head is routed and gets a channel, but every flit
				// waits for the switch.
				want += (flits - 1) * c.SwitchDelay
				n.Push(new(mem.Req), 0, dst, 40*flits)
				got := 0
				for n.Pop(dst) == nil && got < 1000 {
					n.Advance()
					got++
				}
				if got != want {
					t.Errorf("%s, %+v: %d flits over %d routers arrive after %d advances, want %d", describe(&c), c, flits, hops, got, want)
				}
				if flits == 1 {
					longest = max(longest, got)
				}
				if l := n.Latency; l.Hops != uint64(hops) || l.Max != uint64(want-1) || l.Packets != 1 || l.Flits != uint64(flits) {
					t.Errorf("%s: latency %+v of %d hops", describe(&c), l, hops)
				}
			}
		}
		if longest != c.Longest() {
			t.Errorf("%s: the longest route takes %d, not %d", describe(&c), longest, c.Longest())
		}
	}
}

// TestSwitchAsMeasured: with two steps a cycle, the switch of one router takes five
// cycles more than the local crossbar, as measured with GPGPU-Sim, and one for each
// further flit.
func TestSwitchAsMeasured(t *testing.T) {
	c := with(routed(Fly, 15, 12), func(c *Config) { c.Steps = 2 })
	for flits, want := range map[int]int{1: 6, 2: 7, 4: 9} {
		if got := arrivesAfter(t, c, 40*flits); got != want {
			t.Errorf("%d flits arrive after %d advances, want %d", flits, got, want)
		}
	}
}

// TestCreditLoop: after a switch, a buffer of b flits passes b flits per credit
// round trip, which is 5 cycles and the credit delay, until the link is the limit.
func TestCreditLoop(t *testing.T) {
	for _, delay := range []int{0, 3} {
		for b := 1; b <= 9; b++ {
			c := with(routed(Fly, 1, 1), func(c *Config) { c.OutBuffer, c.CreditDelay = b, delay })
			n := build(t, c)
			const flits = 2000
			n.Push(new(mem.Req), 0, 0, 40*flits)
			cycles := 0
			for n.Pop(0) == nil && cycles < 100*flits {
				n.Advance()
				cycles++
			}
			loop := 5 + delay
			window := min(b, loop)
			// A lone flit takes 7.
			want := 7 + (flits-1)/window*loop + (flits-1)%window
			if cycles != want {
				t.Errorf("buffer of %d flits, credit delay %d: %d flits take %d cycles, want %d", b, delay, flits, cycles, want)
			}
		}
	}
}

// load drives a network with as much uniform random traffic as it accepts, and
// returns the flits that arrived per cycle, and packets by source.
func load(n *Network, cycles, flits int, target func(r *rand.Rand) int) (rate float64, from []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	from = make([]int, n.cfg.Inputs)
	arrived := 0
	for cycle := range cycles {
		for i := range n.cfg.Inputs {
			for n.HasRoom(i, 40*flits) {
				n.Push(&mem.Req{SM: uint16(i)}, i, target(rng), 40*flits)
			}
		}
		n.Advance()
		for o := range n.cfg.Outputs {
			for r := n.Pop(o); r != nil; r = n.Pop(o) {
				if cycle >= cycles/4 { // once the network is full
					arrived += flits
					from[r.SM]++
				}
			}
		}
	}
	return float64(arrived) / float64(cycles-cycles/4), from
}

// TestBisection: clusters fill one half of a grid and slices the other, so that
// every packet crosses the middle. No more can cross than its links carry: k in a
// mesh, twice that in a torus. Routers come close to that.
func TestBisection(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		flits  int
		bound  float64
		within float64
	}{
		{"mesh", routed(Mesh, 32, 32), 4, 8, 0.75},
		{"mesh, two steps", with(routed(Mesh, 32, 32), func(c *Config) { c.Steps = 2 }), 4, 8, 0.85},
		{"mesh, two steps, one flit", with(routed(Mesh, 32, 32), func(c *Config) { c.Steps = 2 }), 1, 8, 0.75},
		{"mesh, four channels", with(routed(Mesh, 32, 32), func(c *Config) { c.VCs, c.AnyVC = 4, true }), 4, 8, 0.9},
		{"mesh, round robin", with(routed(Mesh, 32, 32), func(c *Config) { c.VCs, c.AnyVC, c.Arbiter = 4, true, RoundRobin }), 4, 8, 0.9},
		{"torus", routed(Torus, 32, 32), 4, 16, 0.6},
		{"torus, eight channels", with(routed(Torus, 32, 32), func(c *Config) { c.VCs, c.AnyVC, c.Steps = 8, true, 2 }), 4, 16, 0.8},
	} {
		n := build(t, c.cfg)
		rate, _ := load(n, 6000, c.flits, func(r *rand.Rand) int { return r.IntN(32) })
		t.Logf("%s: %.2f flits a cycle of at most %.0f", c.name, rate, c.bound)
		if rate > 1.01*c.bound { // plus packets that were already past the middle at first
			t.Errorf("%s: %.3f flits a cycle cross %.0f links", c.name, rate, c.bound)
		}
		if rate < c.within*c.bound {
			t.Errorf("%s: %.3f flits a cycle are less than %.2f of the %.0f that could cross", c.name, rate, c.within, c.bound)
		}
	}
}

// TestStages: a switch that looks at the heads of its queues passes at least
// the 58.6 % of uniform traffic of one that looks once a cycle. With the
// clusters at the first half of the terminals and the slices at the second, only
// half of the links after the first stage of a longer fly lead to destinations of
// packets, so that at most half a flit per node passes.
func TestStages(t *testing.T) {
	for _, c := range []struct {
		k, n         int
		least, bound float64
	}{{64, 1, 0.586, 1}, {8, 2, 0.35, 0.5}, {4, 3, 0.35, 0.5}, {2, 6, 0.49, 0.5}} {
		n := build(t, with(routed(Fly, 32, 32), func(x *Config) { x.Radix, x.Dimensions, x.Steps = c.k, c.n, 2 }))
		rate, _ := load(n, 4000, 1, func(r *rand.Rand) int { return r.IntN(32) })
		rate /= 32
		t.Logf("%d stages of radix %d: %.3f flits per node and cycle of at most %.2f", c.n, c.k, rate, c.bound)
		if rate > 1.01*c.bound || rate < c.least { // plus packets that were already past the cut at first
			t.Errorf("%d stages of radix %d pass %.3f flits per node and cycle, want %.3f to %.2f", c.n, c.k, rate, c.least, c.bound)
		}
	}
}

// TestHotSpot: if all packets go to one node, it gets exactly one flit a cycle. A
// switch then serves all inputs equally; a grid serves all, but near ones more
// often.
func TestHotSpot(t *testing.T) {
	for _, flits := range []int{1, 4} {
		for _, c := range []struct {
			name string
			cfg  Config
			fair bool
		}{
			{"fly", with(routed(Fly, 15, 4), func(c *Config) { c.Steps = 2 }), true},
			{"fly, round robin", with(routed(Fly, 15, 4), func(c *Config) { c.Steps, c.Arbiter = 2, RoundRobin }), true},
			{"mesh", with(routed(Mesh, 12, 4), func(c *Config) { c.Steps = 2 }), false},
			{"torus", with(routed(Torus, 12, 4), func(c *Config) { c.Steps = 2 }), false},
		} {
			n := build(t, c.cfg)
			rate, from := load(n, 8000, flits, func(*rand.Rand) int { return 2 })
			if rate > 1 || rate < 0.99 {
				t.Errorf("%s: one node gets %.3f flits a cycle, want 1", c.name, rate)
			}
			least, most := slices.Min(from), slices.Max(from)
			if least == 0 || c.fair && most-least > 1+most/100 {
				t.Errorf("%s, %d flits: packets by source %v", c.name, flits, from)
			}
		}
	}
}

// TestUniformFairness: under uniform load every input of a switch gets an equal
// share.
func TestUniformFairness(t *testing.T) {
	n := build(t, with(routed(Fly, 8, 8), func(c *Config) { c.Steps = 2 }))
	_, from := load(n, 20000, 2, func(r *rand.Rand) int { return r.IntN(8) })
	least, most := slices.Min(from), slices.Max(from)
	if least*105 < most*100 {
		t.Errorf("packets by source %v", from)
	}
}

// TestTorusFullLoad: every router of a torus is flooded with packets much longer
// than its buffers, and all of them arrive.
func TestTorusFullLoad(t *testing.T) {
	for _, c := range []struct{ k, n, vcs, buffer int }{{4, 2, 2, 1}, {5, 2, 2, 2}, {8, 1, 2, 1}, {3, 3, 4, 1}, {6, 2, 2, 1}} {
		total := power(c.k, c.n)
		cfg := with(routed(Torus, total/2, total-total/2), func(x *Config) {
			x.Radix, x.Dimensions, x.VCs, x.VCBuffer, x.OutBuffer, x.AnyVC = c.k, c.n, c.vcs, c.buffer, c.buffer, c.vcs > 2
			x.Placement, x.InBuffer = Spread, 24
		})
		n := build(t, cfg)
		rng := rand.New(rand.NewPCG(3, 4))
		for cycle, last := 0, n.Stats.Moved; cycle < 4000 || n.Busy(); cycle++ {
			if cycle%1000 == 999 {
				if n.Stats.Moved == last && n.Busy() {
					t.Fatalf("%s: no packet arrived in 1000 cycles", describe(&cfg))
				}
				last = n.Stats.Moved
			}
			for i := range cfg.Inputs {
				if cycle < 4000 && n.HasRoom(i, 40*12) {
					n.Push(new(mem.Req), i, rng.IntN(cfg.Outputs), 40*12)
				}
			}
			n.Advance()
			for o := range cfg.Outputs {
				n.Pop(o)
			}
		}
		if n.Stats.Moved != n.Stats.Packets || n.Stats.Packets < 100 {
			t.Errorf("%s: %d of %d packets arrived", describe(&cfg), n.Stats.Moved, n.Stats.Packets)
		}
		home(t, n)
	}
}

// home checks that all credits and channels of an empty network are free.
func home(t interface {
	Helper()
	Fatalf(string, ...any)
}, n *Network) {
	t.Helper()
	n.Skip(uint64(10 * len(n.fab.flits) * (1 + n.cfg.VCBuffer)))
	f := n.fab
	if f.inside != 0 {
		t.Fatalf("%d flits or credits are still in the network", f.inside)
	}
	for o, c := range f.credit {
		if c != f.full[o] || f.taken[o] {
			t.Fatalf("channel %d has %d of %d credits, taken %v", o, c, f.full[o], f.taken[o])
		}
	}
	for r, w := range f.work {
		if w != 0 {
			t.Fatalf("router %d holds %d flits and credits", r, w)
		}
	}
	if len(f.free) != len(f.packets) {
		t.Fatalf("%d of %d packets are free", len(f.free), len(f.packets))
	}
}

func anyFabric(t *rapid.T) Config {
	c := Config{
		Kind:   rapid.SampledFrom([]Kind{Fly, Mesh, Torus}).Draw(t, "kind"),
		Inputs: rapid.IntRange(1, 12).Draw(t, "in"), Outputs: rapid.IntRange(1, 8).Draw(t, "out"),
		InBuffer: rapid.IntRange(1, 9).Draw(t, "inbuf"), OutBuffer: rapid.IntRange(1, 6).Draw(t, "outbuf"),
		VCBuffer: rapid.IntRange(1, 6).Draw(t, "vcbuf"), BoundaryBuffer: rapid.IntRange(1, 6).Draw(t, "boundary"),
		Arbiter: rapid.SampledFrom([]Arbiter{ISLIP, RoundRobin}).Draw(t, "arbiter"), FlitBytes: 40,
		VCs: 2 * rapid.IntRange(1, 2).Draw(t, "vcs"), AnyVC: rapid.Bool().Draw(t, "any"), HoldVC: rapid.Bool().Draw(t, "hold"),
		Dimensions: rapid.IntRange(0, 3).Draw(t, "n"), Iterations: rapid.IntRange(1, 3).Draw(t, "rounds"),
		RoutingDelay: rapid.IntRange(0, 2).Draw(t, "rd"), VCDelay: rapid.IntRange(1, 3).Draw(t, "vd"), SwitchDelay: rapid.IntRange(1, 2).Draw(t, "sd"),
		CreditDelay: rapid.IntRange(0, 2).Draw(t, "cd"), LinkDelay: rapid.IntRange(1, 3).Draw(t, "link"),
		InputSpeedup: rapid.IntRange(1, 2).Draw(t, "is"), OutputSpeedup: rapid.IntRange(1, 3).Draw(t, "os"), Steps: rapid.IntRange(1, 3).Draw(t, "steps"),
		Placement: rapid.SampledFrom([]Placement{InOrder, Spread}).Draw(t, "place"), Reply: rapid.Bool().Draw(t, "reply"),
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFabricConservation: every pushed packet comes out once, at its destination,
// in the order of its pair of nodes unless packets choose their channels; and all
// credits return. A network that skips the cycles in which it is empty behaves the
// same.
func TestFabricConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyFabric(t)
		n, twin := New(c), New(c)
		type pair struct{ src, dst int }
		sent := map[pair]uint32{}
		seen := map[pair]map[uint32]bool{}
		left := rapid.IntRange(1, 80).Draw(t, "packets")
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		pops := rapid.IntRange(1, 4).Draw(t, "pops") // cycles between pops of an output
		sizes := []int{8, 40, 136, 400}
		behind := uint64(0) // cycles that the twin has yet to skip
		for cycle := 0; left > 0 || n.Busy(); cycle++ {
			if cycle > 40000 {
				t.Fatal("packets are stuck")
			}
			if rng.IntN(40) == 0 && !n.Busy() {
				k := uint64(rng.IntN(20))
				for range k {
					n.Advance()
				}
				behind += k
			}
			for range rng.IntN(4) {
				p := pair{rng.IntN(c.Inputs), rng.IntN(c.Outputs)}
				size := sizes[rng.IntN(len(sizes))]
				twin.Skip(behind)
				behind = 0
				room := n.HasRoom(p.src, size)
				if twin.HasRoom(p.src, size) != room {
					t.Fatalf("room %v, of the twin %v", room, !room)
				}
				if left == 0 || !room {
					continue
				}
				if seen[p] == nil {
					seen[p] = map[uint32]bool{}
				}
				for _, x := range []*Network{n, twin} {
					x.Push(&mem.Req{SM: uint16(p.src), Sub: int32(p.dst), Owner: sent[p]}, p.src, p.dst, size)
				}
				sent[p]++
				left--
			}
			n.Advance()
			if twin.Busy() {
				twin.Advance()
			} else {
				behind++
			}
			for o := range c.Outputs {
				if rng.IntN(pops) > 0 {
					continue
				}
				peeked := n.Peek(o)
				r, s := n.Pop(o), twin.Pop(o)
				if r != peeked || (r == nil) != (s == nil) || r != nil && *r != *s {
					t.Fatalf("output %d: %+v, peeked at %+v, and %+v of the twin", o, r, peeked, s)
				}
				if r == nil {
					continue
				}
				p := pair{int(r.SM), o}
				if int(r.Sub) != o || r.Owner >= sent[p] || seen[p][r.Owner] {
					t.Fatalf("packet %d from %d for %d came to %d", r.Owner, r.SM, r.Sub, o)
				}
				if !c.AnyVC && int(r.Owner) != len(seen[p]) {
					t.Fatalf("packet %d from %d to %d is the %dth to come", r.Owner, r.SM, r.Sub, len(seen[p]))
				}
				seen[p][r.Owner] = true
			}
		}
		for p, k := range sent {
			if len(seen[p]) != int(k) {
				t.Fatalf("%d of %d packets from %d to %d arrived", len(seen[p]), k, p.src, p.dst)
			}
		}
		twin.Skip(behind)
		if n.Stats != twin.Stats || n.Latency != twin.Latency {
			t.Fatalf("counters %+v %+v, of the twin %+v %+v", n.Stats, n.Latency, twin.Stats, twin.Latency)
		}
		if n.Stats.Packets != n.Stats.Moved || n.Latency.Packets != n.Stats.Packets || n.Latency.Flits != n.Stats.Flits {
			t.Fatalf("counters %+v %+v", n.Stats, n.Latency)
		}
		home(t, n)
		home(t, twin)
	})
}

// TestMatch: an allocation matches each input and output at most once, only as
// requested, and with as many rounds as outputs leaves no possible match.
func TestMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ins, outs := rapid.IntRange(1, 9).Draw(t, "ins"), rapid.IntRange(1, 9).Draw(t, "outs")
		c := Config{Arbiter: rapid.SampledFrom([]Arbiter{ISLIP, RoundRobin}).Draw(t, "arbiter"), Iterations: rapid.SampledFrom([]int{1, 2, max(ins, outs)}).Draw(t, "rounds")}
		a := newAllocator(&c, 2, ins, outs)
		for range 20 {
			a.reqs = a.reqs[:0]
			for i := range ins {
				for o := range outs {
					if rapid.Bool().Draw(t, "asks") {
						a.reqs = append(a.reqs, request{in: int32(i), out: int32(o)})
					}
				}
			}
			a.match(1)
			in, out := map[int32]bool{}, map[int32]bool{}
			for _, g := range a.got {
				q := a.reqs[g]
				if in[q.in] || out[q.out] {
					t.Fatalf("%+v is matched twice", q)
				}
				in[q.in], out[q.out] = true, true
			}
			if len(a.reqs) > 0 && len(a.got) == 0 {
				t.Fatal("nothing is matched")
			}
			for _, q := range a.reqs {
				if c.Iterations >= max(ins, outs) && !in[q.in] && !out[q.out] {
					t.Fatalf("%+v could still be matched", q)
				}
			}
		}
	})
}

// TestMatchTurn: of two channels of one input that want the same output, the one
// whose turn it is requests it, whichever side chooses first.
func TestMatchTurn(t *testing.T) {
	for _, arb := range []Arbiter{ISLIP, RoundRobin} {
		for first := range 2 {
			a := newAllocator(&Config{Arbiter: arb, Iterations: 1}, 1, 3, 3)
			a.reqs = append(a.reqs, request{in: 1, out: 2, turn: int32(first), channel: 5}, request{in: 1, out: 2, turn: int32(1 - first), channel: 6})
			a.match(0)
			if len(a.got) != 1 || int(a.got[0]) != first {
				t.Errorf("%v: request %v is granted, want %d", arb, a.got, first)
			}
		}
	}
}

// TestHoldVC: a channel is given to the next packet in the step after a tail, or,
// if it is held, once the tail's credit has returned. A packet of f flits takes f+1
// cycles, or f+5.
func TestHoldVC(t *testing.T) {
	for _, hold := range []bool{false, true} {
		for _, flits := range []int{1, 3, 6} {
			n := build(t, with(routed(Fly, 1, 1), func(c *Config) { c.HoldVC = hold }))
			var came []int
			for cycle := range 400 {
				for n.HasRoom(0, 40*flits) {
					n.Push(new(mem.Req), 0, 0, 40*flits)
				}
				n.Advance()
				if n.Pop(0) != nil {
					came = append(came, cycle)
				}
			}
			want := flits + 1
			if hold {
				want = flits + 5
			}
			for i := range came[1:] {
				if d := came[i+1] - came[i]; d != want {
					t.Fatalf("hold %v, %d flits: packet %d comes %d cycles after the last, want %d", hold, flits, i+1, d, want)
				}
			}
		}
	}
}

// TestPopTurn: an output takes from its channels in turn.
func TestPopTurn(t *testing.T) {
	n := build(t, with(routed(Fly, 2, 1), func(c *Config) { c.VCs = 2 }))
	last := -1
	for cycle := range 800 {
		for i := range 2 {
			if n.HasRoom(i, 40) {
				n.Push(&mem.Req{SM: uint16(i)}, i, 0, 40)
			}
		}
		n.Advance()
		if cycle < 200 || cycle%8 != 0 {
			continue // packets of both channels wait
		}
		r := n.Pop(0)
		if r == nil || int(r.SM) == last {
			t.Fatalf("cycle %d: %+v is popped after a packet of input %d", cycle, r, last)
		}
		last = int(r.SM)
	}
}

// TestPlacement: where nodes are, and that both subnets agree on it.
func TestPlacement(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{with(routed(Mesh, 12, 4), func(c *Config) { c.Placement = Spread }), "c0 c1 s0 c2\nc3 c4 c5 s1\ns2 c6 c7 c8\nc9 s3 c10 c11"},
		{with(routed(Torus, 5, 2), func(c *Config) {}), "c0 c1 c2\nc3 c4 s0\ns1 - -"},
		{with(routed(Fly, 4, 2), func(c *Config) { c.Placement = Spread }), "c0 s0 c1 c2 s1 c3"},
	} {
		for _, c := range []Config{tt.cfg, tt.cfg.Reverse()} {
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			if got := c.Map(); got != tt.want {
				t.Errorf("%s:\n%s\nwant\n%s", describe(&c), got, tt.want)
			}
		}
	}
	for _, c := range shapes {
		a, b := build(t, c).fab, build(t, c.Reverse()).fab
		if !slices.Equal(a.inNode, b.outNode) || !slices.Equal(a.outNode, b.inNode) {
			t.Errorf("%s: requests and replies have their nodes at different terminals", describe(&c))
		}
		all := slices.Sorted(slices.Values(slices.Concat(a.inNode, a.outNode)))
		if n := len(slices.Compact(all)); n != c.Inputs+c.Outputs {
			t.Errorf("%s: %d terminals for %d nodes", describe(&c), n, c.Inputs+c.Outputs)
		}
	}
}

func TestFabricCheck(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"too few for 24 nodes":          func(c *Config) { c.Radix, c.Dimensions = 4, 2 },
		"more than the 8192 terminals":  func(c *Config) { c.Radix, c.Dimensions = 8000, 3 },
		"noc.radix = -1":                func(c *Config) { c.Radix = -1 },
		"noc.dimensions = 13":           func(c *Config) { c.Dimensions = 13 },
		"even number of virtual":        func(c *Config) { c.VCs = 3 },
		"noc.vcs = 17":                  func(c *Config) { c.VCs = 17 },
		"noc.vc_buffer = 0":             func(c *Config) { c.VCBuffer = 0 },
		"noc.boundary_buffer = 0":       func(c *Config) { c.BoundaryBuffer = 0 },
		"want a divisor":                func(c *Config) { c.VCs, c.InputSpeedup = 4, 3 },
		"noc.output_speedup = 0":        func(c *Config) { c.OutputSpeedup = 0 },
		"noc.router_steps = 0":          func(c *Config) { c.Steps = 0 },
		"noc.link_delay = 0":            func(c *Config) { c.LinkDelay = 0 },
		"noc.vc_delay = 0":              func(c *Config) { c.VCDelay = 0 },
		"noc.switch_delay = 0":          func(c *Config) { c.SwitchDelay = 0 },
		"noc.iterations = 0":            func(c *Config) { c.Iterations = 0 },
		"noc.credit_delay = -1":         func(c *Config) { c.CreditDelay = -1 },
		"noc.routing_delay = -1":        func(c *Config) { c.RoutingDelay = -1 },
		"flits, more than":              func(c *Config) { c.Radix, c.VCs, c.VCBuffer = 90, 16, 1<<16 },
		"unknown network: kind 9":       func(c *Config) { c.Kind = 9 },
		"at least one input":            func(c *Config) { c.Inputs = 0 },
		"at least one packet, not 0 in": func(c *Config) { c.InBuffer = 0 },
	} {
		c := routed(Torus, 16, 8)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestNoAllocation: a cycle allocates nothing once the buffers have grown.
func TestNoAllocation(t *testing.T) {
	for _, kind := range []Kind{Local, Fly, Mesh, Torus} {
		c := routed(kind, 16, 9)
		c.GrantCycles = 1
		n := build(t, c)
		reqs := make([]mem.Req, 16)
		k := 0
		cycle := func() {
			for i := range reqs {
				if n.HasRoom(i, 136) {
					n.Push(&reqs[i], i, (i*7+k)%9, 136)
				}
			}
			k++
			n.Advance()
			for o := range 9 {
				n.Pop(o)
			}
		}
		for range 2000 {
			cycle()
		}
		if a := testing.AllocsPerRun(500, cycle); a != 0 {
			t.Errorf("%v: %v allocations in a cycle", kind, a)
		}
	}
}

// TestEach: Each visits every packet once.
func TestEach(t *testing.T) {
	for _, kind := range []Kind{Local, Fly, Mesh, Torus} {
		c := routed(kind, 6, 3)
		c.GrantCycles = 1
		n := build(t, c)
		in := map[*mem.Req]int{}
		for cycle := range 200 {
			for i := range 6 {
				if n.HasRoom(i, 136) && cycle < 100 {
					r := &mem.Req{SM: uint16(i), Sub: int32((i + cycle) % 3)}
					n.Push(r, i, int(r.Sub), 136)
					in[r] = 0
				}
			}
			n.Advance()
			if cycle%3 == 0 {
				for o := range 3 {
					if r := n.Pop(o); r != nil {
						delete(in, r)
					}
				}
			}
			under, there := 0, 0
			n.Each(func(r *mem.Req, node int, arrived bool) {
				in[r]++
				if arrived {
					there++
				} else {
					under++
				}
				if want := int(r.SM); !arrived && node != want || arrived && node != int(r.Sub) {
					t.Fatalf("%v: packet from %d to %d is at %d, arrived %v", kind, r.SM, r.Sub, node, arrived)
				}
			})
			for r, k := range in {
				if k != 1 {
					t.Fatalf("%v: a packet comes %d times", kind, k)
				}
				in[r] = 0
			}
			if a, b := n.Packets(); a != under || b != there {
				t.Fatalf("%v: %d and %d packets, %d and %d seen", kind, a, b, under, there)
			}
		}
	}
}

func BenchmarkFabric(b *testing.B) {
	for _, kind := range []Kind{Fly, Mesh, Torus} {
		b.Run(kind.String(), func(b *testing.B) {
			c := routed(kind, 84, 48)
			c.Steps, c.Placement = 2, Spread
			n := New(c)
			reqs := make([]mem.Req, 84)
			b.ReportAllocs()
			k := 0
			for b.Loop() {
				for i := range reqs {
					if k%8 == i%8 && n.HasRoom(i, 8) {
						n.Push(&reqs[i], i, (i*7+k)%48, 8)
					}
				}
				k++
				n.Advance()
				for o := range 48 {
					n.Pop(o)
				}
			}
		})
	}
}
