package cuda

import (
	"github.com/heddle-sim/heddle/internal/gpu"
)

// Streams that have a number of their own in the API. The others are handles.
const (
	streamDefault   = 0
	streamLegacy    = 1
	streamPerThread = 2
)

// maxPending is how much work is given to the chip before time must pass, our
// choice: it bounds memory, not what overlaps in real programs.
const maxPending = 1024

type stream struct {
	id       int64 // on the chip
	flags    uint32
	priority int
}

type event struct {
	id       int
	flags    uint32
	recorded bool
	op       *gpu.Op // the last record in a timing run
	at       uint64  // of a functional run: instructions issued before it
}

// given is work that the chip has.
type given struct {
	op     *gpu.Op
	launch *launchRecord // nil unless it is a launch
}

// handle gives out a number for a stream or an event that looks like a pointer
// and is never used again.
func (r *Runtime) handle() uint64 {
	r.handles++
	return sharedTop + 16*r.handles
}

// stream returns the chip's number of a stream.
func (r *Runtime) stream(h uint64) (int64, Error) {
	switch h {
	case streamDefault, streamLegacy:
		return 0, Success
	case streamPerThread:
		return streamPerThread, Success
	}
	if s := r.streams[h]; s != nil {
		return s.id, Success
	}
	return 0, InvalidHandle
}

// give hands work to the chip of a timing run.
func (r *Runtime) give(op *gpu.Op, l *launchRecord) error {
	if err := r.chip.Add(op); err != nil {
		return err
	}
	r.pending = append(r.pending, &given{op, l})
	return nil
}

// crowded lets time pass if very much has been given.
func (r *Runtime) crowded() Error {
	if len(r.pending) < maxPending {
		return Success
	}
	return r.finish()
}

// StreamCreate makes a stream. Flags are 0 or 1 (cudaStreamNonBlocking), which
// is obeyed as 0: the chip's default stream waits for all others.
func (t *Thread) StreamCreate(flags uint32, priority int) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if flags > 1 {
			return InvalidValue
		}
		h = r.handle()
		r.streams[h] = &stream{id: int64(r.handles) + streamPerThread, flags: flags, priority: min(max(priority, greatestPriority), leastPriority)}
		return Success
	})
	return h, err
}

// The priorities that streams can have, highest first, as GPUs of compute
// capability 3.5 to 6 have them. They order nothing here.
const (
	leastPriority    = 0
	greatestPriority = -1
)

// PriorityRange returns the lowest and the highest priority.
func (t *Thread) PriorityRange() (least, greatest int) { return leastPriority, greatestPriority }

// StreamDestroy forgets a stream; work that it has goes on.
func (t *Thread) StreamDestroy(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if r.streams[h] == nil {
			return InvalidHandle
		}
		delete(r.streams, h)
		return Success
	})
}

// StreamInfo returns what a stream was made with.
func (t *Thread) StreamInfo(h uint64) (flags uint32, priority int, err Error) {
	err = t.do(func(r *Runtime) Error {
		if s := r.streams[h]; s != nil {
			flags, priority = s.flags, s.priority
			return Success
		}
		_, code := r.stream(h)
		return code
	})
	return flags, priority, err
}

// StreamSynchronize waits for a stream's work; in a timing run all other work
// that was given ends too.
func (t *Thread) StreamSynchronize(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if _, err := r.stream(h); err != Success {
			return err
		}
		return r.finish()
	})
}

// StreamWait lets a stream wait for the last record of an event.
func (t *Thread) StreamWait(h, ev uint64) Error {
	return t.do(func(r *Runtime) Error {
		id, err := r.stream(h)
		e := r.events[ev]
		switch {
		case err != Success:
			return err
		case e == nil:
			return InvalidHandle
		case r.chip == nil || !e.recorded:
			return Success
		}
		if err := r.give(&gpu.Op{Kind: gpu.OpWait, Stream: id, Event: e.id}, nil); err != nil {
			return r.end(err)
		}
		return r.crowded()
	})
}

// noTiming is cudaEventDisableTiming.
const noTiming = 2

// EventCreate makes an event.
func (t *Thread) EventCreate(flags uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if flags > 7 {
			return InvalidValue
		}
		h = r.handle()
		r.events[h] = &event{id: int(r.handles), flags: flags}
		return Success
	})
	return h, err
}

// EventDestroy forgets an event.
func (t *Thread) EventDestroy(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if r.events[h] == nil {
			return InvalidHandle
		}
		delete(r.events, h)
		return Success
	})
}

// EventRecord marks the place in a stream that has been reached.
func (t *Thread) EventRecord(ev, h uint64) Error {
	return t.do(func(r *Runtime) Error {
		id, err := r.stream(h)
		e := r.events[ev]
		if err != Success {
			return err
		}
		if e == nil {
			return InvalidHandle
		}
		e.recorded, e.at = true, r.issued
		if r.chip == nil {
			return Success
		}
		e.op = &gpu.Op{Kind: gpu.OpRecord, Stream: id, Event: e.id}
		if err := r.give(e.op, nil); err != nil {
			return r.end(err)
		}
		return r.crowded()
	})
}

// EventSynchronize waits for an event.
func (t *Thread) EventSynchronize(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if r.events[h] == nil {
			return InvalidHandle
		}
		return r.finish()
	})
}

// EventElapsed returns the milliseconds from one event to another: those of the
// simulated GPU. A functional run has no time; there a warp instruction counts
// as a nanosecond, so that programs that divide by it go on.
func (t *Thread) EventElapsed(from, to uint64) (ms float64, err Error) {
	err = t.do(func(r *Runtime) Error {
		a, b := r.events[from], r.events[to]
		if a == nil || b == nil || !a.recorded || !b.recorded || (a.flags|b.flags)&noTiming != 0 {
			return InvalidHandle
		}
		if r.chip == nil {
			r.once("time", "a functional run has no time: for cudaEventElapsedTime a warp instruction counts as a nanosecond")
			ms = (float64(b.at) - float64(a.at)) / 1e6
			return Success
		}
		if err := r.finish(); err != Success {
			return err
		}
		ms = (float64(b.op.End) - float64(a.op.End)) / float64(r.cfg.Clocks.Core) * 1e3
		return Success
	})
	return ms, err
}
