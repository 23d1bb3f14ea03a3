package heddle

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// Stream is a sequence of launches and copies, which happen in the order in which
// they are issued. On a machine, those of different streams overlap as far as it
// can run them together. Their calls return immediately, and GPU.Sync advances
// time. Without Machine each happens during the call, which is one of the legal
// orders.
type Stream struct {
	g     *GPU
	id    int64
	after []*gpu.Op // events that the next action waits for
}

// Event is a moment in a stream, after all actions issued to the stream before it.
type Event struct {
	g  *GPU
	op *gpu.Op
}

// Pending is a launch issued to a stream.
type Pending struct {
	op    *gpu.Op
	stats Stats
}

// NewStream returns a stream. Launches and copies of the GPU itself happen after
// everything issued to any stream before them.
func (g *GPU) NewStream() *Stream {
	g.streams++
	return &Stream{g: g, id: g.streams}
}

// Launch issues a launch to the stream, with arguments as for GPU.Launch. The error
// is a *LaunchError if no SM can take it. Faults are returned by GPU.Sync or any
// other call that first advances time, such as GPU.Read; a functional GPU returns
// them from this call.
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
		s.after = op.After // for the launch that replaces it
		return nil, err
	}
	g.count++
	return &Pending{op: op}, nil
}

// Stats returns the counters of the launch so far; they are complete after
// GPU.Sync.
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

// Write issues a copy of b to device memory. The stream keeps a copy of b.
func (s *Stream) Write(p Ptr, b []byte) error {
	b = bytes.Clone(b)
	return s.copy(gpu.ToDevice, p, len(b), func() error { return s.g.mem.Write(uint64(p), b) })
}

// Read issues a copy of device memory to b, which has the bytes after GPU.Sync.
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

// Record returns the event after all actions issued to the stream so far.
func (s *Stream) Record() (*Event, error) {
	e := &Event{s.g, &gpu.Op{Kind: gpu.OpMark}}
	if s.g.ses.Chip == nil {
		return e, nil
	}
	s.own(e.op)
	return e, s.g.ses.Do(e.op, "")
}

// Wait makes all later actions of the stream wait for an event of any stream of the
// same GPU. It returns an error if the event is of another GPU.
func (s *Stream) Wait(e *Event) error {
	if e.g != s.g {
		return errors.New("heddle: the event belongs to another GPU; want one of this GPU's streams")
	}
	if s.g.ses.Chip != nil {
		s.after = append(s.after, e.op)
	}
	return nil
}

// own makes an action the stream's next one.
func (s *Stream) own(op *gpu.Op) {
	op.Stream, op.After, s.after = s.id, s.after, nil
}

// Cycle returns the cycle of the machine in which the event happened; 0 before
// GPU.Sync and without Machine.
func (e *Event) Cycle() uint64 { return e.op.End }

// Sync advances time until all actions of all streams have ended. It returns the
// first error of a launch or a copy. Running actions then have no further effect,
// as with GPU.Launch, and those that have not begun are dropped.
func (g *GPU) Sync(ctx context.Context) error {
	if g.ses.Chip == nil {
		return nil
	}
	return g.finish(ctx)
}

// finish advances the machine's time until nothing is left to do, and records the
// first error.
func (g *GPU) finish(ctx context.Context) error {
	err := g.ses.Finish(ctx)
	g.failed = cmp.Or(g.failed, err)
	return err
}
