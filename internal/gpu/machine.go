package gpu

import (
	"context"
	"errors"
	"math"
)

// This file: several chips of one kind, side by side. Their clocks show the same time
// whenever the host runs. Each chip simulates a stretch of time on its own, and between two
// stretches actions learn of what has ended on other chips. While no action of a chip
// depends on another one, a stretch lasts until what the host waits for has ended.

// Machine is several chips with links between them. Not safe for concurrent use.
type Machine struct {
	chips []*GPU
	out   []uint64 // by chip: the cycle from which its link takes the next bytes to send
	in    []uint64 // and to receive
	links []Traffic
}

// Traffic is what has passed from one chip to another.
type Traffic struct {
	From, To      int
	Copies, Bytes uint64
	Busy          uint64 // core cycles from each copy's start to its end
}

// stretch is the longest time in core cycles that chips simulate without hearing of each
// other, while actions of one depend on another: the end of an action is seen up to that
// much later on another chip. Our choice: a fifth of a microsecond, less than what a signal
// takes from one card to another (about half a microsecond for a round trip: Neugebauer
// and others, SIGCOMM 2018).
const stretch = 256

// NewMachine joins chips that have run nothing yet and have the same clocks.
func NewMachine(chips []*GPU) *Machine {
	n := len(chips)
	m := &Machine{chips: chips, out: make([]uint64, n), in: make([]uint64, n), links: make([]Traffic, n*n)}
	for i, g := range chips {
		g.machine = m
		for j := range chips {
			m.links[i*n+j] = Traffic{From: i, To: j}
		}
	}
	return m
}

// Traffic returns what has passed over each link that was used.
func (m *Machine) Traffic() []Traffic {
	var list []Traffic
	for _, t := range m.links {
		if t.Copies > 0 {
			list = append(list, t)
		}
	}
	return list
}

// carry sends bytes from one chip to another, and returns the cycle at which the last one
// has arrived. Every chip has one link, which sends one copy at a time and receives one.
func (m *Machine) carry(from, to int, bytes, now uint64) uint64 {
	c := &m.chips[from].cfg
	start := max(now, m.out[from], m.in[to])
	end := start + c.Copies.cycles(ToPeer, bytes, c.Clocks.Core)
	m.out[from], m.in[to] = end, end
	t := &m.links[from*len(m.chips)+to]
	t.Copies++
	t.Bytes += bytes
	t.Busy += end - start
	return end
}

// Finish advances time on all chips until all actions of one have ended. If an error ends
// the run of a chip, maybe another one, it returns that chip; the others can go on.
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
	for !done() && g.now < until {
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
		if coupled > 0 {
			to = min(to, g.now+stretch)
		}
		failed, err = nil, nil
		if e := g.advance(ctx, to, done); e != nil {
			failed, err = g, e
		}
		for _, c := range m.chips {
			if c == g {
				continue
			}
			if e := c.advance(ctx, g.now, never); e != nil && err == nil {
				failed, err = c, e
			}
			c.rest(g.now)
		}
		for _, c := range m.chips {
			c.admit()
			c.ops.forget()
		}
		if err != nil {
			return failed, err
		}
	}
	return nil, nil
}

func never() bool { return false }

// busy reports whether the chip does something or is about to.
func (g *GPU) busy() bool {
	return g.running > 0 || g.copies.n > 0 || len(g.ops.ready) > 0 || len(g.arrived) > 0
}

// advance lets the chip's time pass to a cycle, or until it is done or has nothing left to
// do that depends on itself alone. After an error its time stands still.
func (g *GPU) advance(ctx context.Context, until uint64, done func() bool) error {
	g.hire()
	defer g.dismiss()
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
