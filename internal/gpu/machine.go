package gpu

import (
	"context"
	"errors"
	"math"

	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: several chips of one kind, side by side. Their clocks show the same time
// whenever the host runs. Each chip simulates a stretch of time on its own, and between two
// stretches actions learn of what has ended on other chips. While no action of a chip
// depends on another one, a stretch lasts until what the host waits for has ended.

// Machine is several chips with links between them. Not safe for concurrent use.
type Machine struct {
	chips   []*GPU
	owner   func(addr uint64) int
	open    bool       // kernels may access the memory of other chips
	linked  bool       // chips depend on each other now, so stretches are short
	spin    spinWatch  // of all chips, while they are linked
	watched uint64     // the last period of watchEvery cycles in which that was looked at
	out     []calendar // by chip: when its link sends
	in      []calendar // and when it receives
	links   []Traffic

	// More, if set, is called when the kernels of all chips wait for ever, before that is an
	// error. It reports whether the host has added actions meanwhile.
	More func() bool
}

// stretch is the longest time in core cycles that chips simulate without hearing of each
// other, while actions of one depend on another: the end of an action is seen up to that
// much later on another chip. Our choice: a fifth of a microsecond, less than what a signal
// takes from one card to another (about half a microsecond for a round trip: Neugebauer
// and others, SIGCOMM 2018).
const stretch = 256

// NewMachine joins chips that have run nothing yet and have the same clocks. owner returns
// the chip in whose memory an address is, -1 if it is in that of none, or of any.
func NewMachine(chips []*GPU, owner func(addr uint64) int) *Machine {
	n := len(chips)
	m := &Machine{chips: chips, owner: owner, out: make([]calendar, n), in: make([]calendar, n), links: make([]Traffic, n*n)}
	for i, g := range chips {
		g.machine, g.number = m, i
		g.join()
		for j := range chips {
			m.links[i*n+j] = Traffic{From: i, To: j}
		}
	}
	return m
}

// Open lets kernels access the memory of other chips from now on. What one does may then
// depend on another at any time, so stretches are short.
func (m *Machine) Open() { m.open = true }

// join passes requests for the memory of other chips to the links.
func (g *GPU) join() {
	if m := g.machine; m != nil {
		g.mem.Parts.Far = func(r *mem.Req, now uint64) (ready uint64, far bool) {
			owner := m.owner(r.Addr)
			if owner < 0 || owner == g.number {
				return 0, false
			}
			return m.access(g, owner, r, now), true
		}
	}
}

// Finish advances time on all chips until all actions of one have ended. If an error ends
// the run of a chip, maybe another one, it returns that chip; the others can go on. Where
// several end at a time, each call returns one of them: see Broken.
func (m *Machine) Finish(ctx context.Context, g *GPU) (*GPU, error) {
	return m.pass(ctx, g, math.MaxUint64, func() bool { return g.ops.open == 0 })
}

// Wait advances time on all chips until an action of one has ended, but by no more than the
// given core cycles. Errors are as with Finish.
func (m *Machine) Wait(ctx context.Context, g *GPU, o *Op, cycles uint64) (*GPU, error) {
	until := g.now + cycles
	if until < cycles {
		until = math.MaxUint64
	}
	return m.pass(ctx, g, until, func() bool { return o.state == opEnded || o.state == opNever })
}

func (m *Machine) pass(ctx context.Context, g *GPU, until uint64, done func() bool) (failed *GPU, err error) {
	defer func() { // they stay hired from stretch to stretch
		for _, c := range m.chips {
			c.dismiss()
		}
	}()
	for {
		if c := m.broken(g); c != nil {
			err, c.broken = c.broken, nil
			return c, err
		}
		if done() || g.now >= until {
			return nil, nil
		}
		to := until
		coupled, busy := 0, false
		for _, c := range m.chips {
			coupled += c.ops.coupled
			busy = busy || c.busy()
		}
		busy = busy && (g.busy() || g.ops.coupled > 0)
		if !busy {
			g.abandon()
			return g, errors.New("actions wait for each other")
		}
		linked := coupled > 0 || m.open
		if linked != m.linked { // what was seen until now is not all that happened
			m.linked = linked
			m.spin.drop(m.chips)
			for _, c := range m.chips {
				c.spin.drop([]*GPU{c})
			}
		}
		if linked {
			to = min(to, g.now+stretch)
		}
		g.broken = g.advance(ctx, to, done)
		for _, c := range m.chips {
			if c != g {
				c.broken = c.advance(ctx, g.now, never)
				c.rest(g.now)
			}
		}
		if !m.Broken() {
			if c := m.hung(g); c != nil {
				c.broken = c.spinning()
				c.abandon()
			}
		}
		for _, c := range m.chips {
			c.admit()
			c.ops.forget()
			m.out[c.number].forget(g.now << fine)
			m.in[c.number].forget(g.now << fine)
		}
	}
}

// broken returns a chip with an error of which the host has not heard, the given one if it
// has one; nil if there is none.
func (m *Machine) broken(g *GPU) *GPU {
	return m.first(g, func(c *GPU) bool { return c.broken != nil })
}

// first returns the first chip that fits, where the given one goes before the others; nil if
// there is none.
func (m *Machine) first(g *GPU, fits func(*GPU) bool) *GPU {
	if fits(g) {
		return g
	}
	for _, c := range m.chips {
		if fits(c) {
			return c
		}
	}
	return nil
}

// Broken reports whether an error ended the run of a chip which Finish and Wait have not
// returned yet.
func (m *Machine) Broken() bool { return m.broken(m.chips[0]) != nil }

func never() bool { return false }

// linked reports whether what the chip does depends on others: how long its kernels wait is
// then a question to the machine.
func (g *GPU) linked() bool { return g.machine != nil && g.machine.linked }

// hung returns the chip whose run ends because it waits for what no chip will do; nil if
// there is none. At this point all chips show the same time. Of several that wait, the one
// that the host waits for is the first.
func (m *Machine) hung(g *GPU) *GPU {
	if !m.linked || !g.cfg.Run.DetectDeadlock || g.now/watchEvery == m.watched {
		return nil
	}
	m.watched = g.now / watchEvery
	if !m.spin.look(m.chips) {
		return nil
	}
	if m.More != nil && m.More() {
		m.spin.drop(m.chips)
		return nil
	}
	return m.first(g, func(c *GPU) bool { return c.running > 0 })
}

// busy reports whether the chip does something or is about to.
func (g *GPU) busy() bool {
	return g.running > 0 || g.copies.n > 0 || len(g.ops.ready) > 0 || len(g.arrived) > 0
}

// advance lets the chip's time pass to a cycle, or until it is done or has nothing left to
// do that depends on itself alone. After an error its time stands still.
func (g *GPU) advance(ctx context.Context, until uint64, done func() bool) error {
	g.until = until
	for {
		err := ctx.Err()
		if err == nil {
			err = g.begin()
		}
		switch {
		case err != nil:
		case done() || g.now >= until:
			return nil
		case g.running > 0 || g.copies.n > 0:
			g.hire()
			err = g.run(ctx)
		case g.ops.coupled == 0:
			return nil
		default:
			g.rest(until)
		}
		if err != nil {
			g.abandon()
			return err
		}
	}
}

// rest lets time pass in which the chip has nothing to do, except for what is left in its
// memory system. A chip whose run ended early is rebuilt before it runs again.
func (g *GPU) rest(until uint64) {
	if g.stale {
		g.now = until
	}
	for g.now < until {
		g.step()
		g.catchUp() // look and skip read the memory system
		g.look()
		if g.now < until && g.cfg.Run.IdleSkip {
			g.skip()
		}
	}
}

// admit lets actions begin that waited for those of other chips.
func (g *GPU) admit() {
	for _, o := range g.arrived {
		if o.waits--; o.waits == 0 && o.state == opWaits {
			g.ops.offer(o)
		}
	}
	g.arrived = g.arrived[:0]
}

// release tells the actions that wait for one that it has ended: those of other chips will
// hear of it between two stretches.
func (g *GPU) release(o *Op) {
	for _, x := range o.next {
		if x.chip != g {
			x.chip.arrived = append(x.chip.arrived, x)
		} else if x.waits--; x.waits == 0 {
			g.ops.offer(x)
		}
	}
	o.next = nil
}
