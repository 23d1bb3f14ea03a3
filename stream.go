package heddle

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// Stream is a sequence of launches and copies, which happen in the order in which
// they are given. On a machine those of different streams overlap as far as it
// lets them, and their calls return at once: GPU.Sync lets time pass. Without
// Machine each happens during the call, which is one of the legal orders.
type Stream struct {
	g     *GPU
	id    int64
	after []*gpu.Op // events that what comes next waits for
}

// Event is a moment in a stream, after all that was given to the stream before.
type Event struct {
	g  *GPU
	op *gpu.Op
}

// Pending is a launch that was given to a stream.
type Pending struct {
	op    *gpu.Op
	stats Stats
}

// NewStream makes a stream. Launches and copies that are given to the GPU itself
// come after everything that all streams were given before.
func (g *GPU) NewStream() *Stream {
	g.streams++
	return &Stream{g: g, id: g.streams}
}

// Launch gives a launch to the stream, with arguments as GPU.Launch takes them. The
// error is a *LaunchError if no SM can take it. Faults come from GPU.Sync or whatever
// else first lets time pass, such as GPU.Read; of a GPU that only computes, from this
// call.
func (s *Stream) Launch(ctx context.Context, kernel string, c LaunchConfig, args ...any) (*Pending, error) {
	g := s.g
	l, about, err := g.prepare(kernel, c, args)
	if err != nil {
		return nil, err
	}
	if g.ses.Chip == nil {
		stats, err := g.compute(ctx, l, about)
		return &Pending{stats: stats}, err
	}
	op := g.launchOp(l)
	about.Stream = s.id
	s.own(op)
	if err := g.ses.Launch(about, op); err != nil {
		s.after = op.After // for the launch that comes in its place
		return nil, err
	}
	g.count++
	return &Pending{op: op}, nil
}

// Stats returns what the launch has done: all of it after GPU.Sync.
func (p *Pending) Stats() Stats {
	if p.op == nil {
		return p.stats
	}
	return statsOf(p.op.Kernel)
}

// Span returns the cycles of the machine in which the launch began and ended, 0 and
// 0 before GPU.Sync and without Machine.
func (p *Pending) Span() (start, end uint64) {
	if p.op == nil {
		return 0, 0
	}
	return p.op.Start, p.op.End
}

// Write gives a copy of b to device memory. The stream keeps a copy of b.
func (s *Stream) Write(p Ptr, b []byte) error {
	b = bytes.Clone(b)
	return s.copy(gpu.ToDevice, p, len(b), func() error { return s.g.mem.Write(uint64(p), b) })
}

// Read gives a copy of device memory to b, which has its bytes after GPU.Sync.
func (s *Stream) Read(p Ptr, b []byte) error {
	return s.copy(gpu.ToHost, p, len(b), func() error { return s.g.mem.Read(uint64(p), b) })
}

func (s *Stream) copy(way gpu.CopyWay, p Ptr, n int, move func() error) error {
	if s.g.ses.Chip == nil {
		return move()
	}
	op := copyOp(way, p, n, move)
	s.own(op)
	return s.g.ses.Do(op, "")
}

// Record returns the moment at which all that the stream was given has ended.
func (s *Stream) Record() (*Event, error) {
	e := &Event{s.g, &gpu.Op{Kind: gpu.OpMark}}
	if s.g.ses.Chip == nil {
		return e, nil
	}
	s.own(e.op)
	return e, s.g.ses.Do(e.op, "")
}

// Wait has what the stream is given from now on wait for an event of any stream of
// the same GPU. The error is that it is of another GPU.
func (s *Stream) Wait(e *Event) error {
	if e.g != s.g {
		return errors.New("heddle: the event is of another GPU")
	}
	if s.g.ses.Chip != nil {
		s.after = append(s.after, e.op)
	}
	return nil
}

// own makes an action the stream's next.
func (s *Stream) own(op *gpu.Op) {
	op.Stream, op.After, s.after = s.id, s.after, nil
}

// Cycle returns the cycle of the machine in which the event happened; 0 before
// GPU.Sync and without Machine.
func (e *Event) Cycle() uint64 { return e.op.End }

// Sync lets time pass until all that streams were given has ended. The error is the
// first that a launch or a copy met; what was under way then does nothing more, as
// with GPU.Launch, and what had not begun is forgotten.
func (g *GPU) Sync(ctx context.Context) error {
	if g.ses.Chip == nil {
		return nil
	}
	return g.finish(ctx)
}

// finish lets the machine's time pass until nothing is left to do, and notes the first
// error.
func (g *GPU) finish(ctx context.Context) error {
	err := g.ses.Finish(ctx)
	g.failed = cmp.Or(g.failed, err)
	return err
}
