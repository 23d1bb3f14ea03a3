package cuda

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// Streams with fixed numbers in the API. The others are handles.
const (
	streamDefault   = 0
	streamLegacy    = 1
	streamPerThread = 2
)

// nonBlocking is cudaStreamNonBlocking: the stream does not synchronise with the default
// stream.
const nonBlocking = 1

// stream is a stream of the program, or a default stream.
type stream struct {
	on       *Runtime
	handle   uint64
	id       int64 // on the chip and in the report
	flags    uint32
	priority int
	gone     bool    // destroyed
	last     *gpu.Op // its last action in a timing run, nil if there was none

	attributes map[StreamAttribute]string // those that were set

	capture *capture // the capture that it is in, or nil
	tail    []*node  // the captured nodes after which the next one comes
}

// idle reports whether all work of the stream has completed.
func (s *stream) idle() bool { return s.last == nil || s.last.Ended() }

// event is an event of the program.
type event struct {
	on       *Runtime
	flags    uint32
	recorded bool
	op       *gpu.Op // the last record, in a timing run
	at       uint64  // in a functional run: instructions issued before it

	capture *capture // in which it was recorded last, or nil
	tail    []*node  // the captured nodes that it represents
}

// record sets the event's current position.
func (e *event) record(op *gpu.Op, at uint64) {
	e.recorded, e.op, e.at = true, op, at
	e.capture, e.tail = nil, nil
}

// handle returns a new number for an object of the runtime. It looks like a pointer and
// is never reused.
func (r *Runtime) handle() uint64 {
	r.handles++
	return handleBase + 16*r.handles
}

// stream returns the stream with a handle, as seen by the calling thread. It may be one of
// another device; the default streams are those of r.
func (r *Runtime) stream(h uint64) (*stream, Error) {
	switch h {
	case streamDefault, streamLegacy:
		return r.lanes[0], Success
	case streamPerThread:
		t := r.caller
		own := t.own[r.number]
		if own == nil {
			own = &stream{on: r, handle: streamPerThread, id: streamPerThread}
			for _, x := range r.lanes {
				if x.id == own.id { // another thread's
					own.id = r.newID()
				}
			}
			r.lanes = append(r.lanes, own)
			t.own[r.number] = own
		}
		return own, Success
	}
	if s := r.streams[h]; s != nil {
		return s, Success
	}
	return nil, InvalidHandle
}

// newID returns a new number for a stream on the chip.
func (r *Runtime) newID() int64 {
	r.handles++
	return int64(r.handles) + streamPerThread
}

// lasts returns the actions after which all work of a stream has completed. For the
// legacy stream this includes all streams that synchronise with it.
func (s *stream) lasts() []*gpu.Op {
	var list []*gpu.Op
	for _, x := range s.on.lanes {
		if x == s || s.id == 0 && x.flags&nonBlocking == 0 {
			if !x.idle() {
				list = append(list, x.last)
			}
		}
	}
	return list
}

// StreamCreate makes a stream. Flags are 0 or 1 (cudaStreamNonBlocking).
func (t *Thread) StreamCreate(flags uint32, priority int) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if flags > nonBlocking {
			return InvalidValue
		}
		h = r.handle()
		s := &stream{on: r, handle: h, id: int64(r.handles) + streamPerThread, flags: flags, priority: validPriority(priority)}
		r.streams[h] = s
		r.lanes = append(r.lanes, s)
		if flags == nonBlocking && r.checked() {
			r.opt.Checks.Private(s.key())
		}
		if r.trace.any {
			r.record(Activity{
				Kind: ActivityStream, Device: r.number, Context: r.contextOf(r), Stream: uint32(s.id), Correlation: t.call,
				Detail: StreamDetail{s.priority, flags == nonBlocking},
			})
		}
		return Success
	})
	return h, err
}

// The priorities of streams, highest first, as on GPUs of compute capability 7 and later.
// Waiting blocks of a higher priority are placed first.
const (
	leastPriority    = 0
	greatestPriority = -5
)

// validPriority returns the nearest priority that there is, as CUDA does.
func validPriority(n int) int { return min(max(n, greatestPriority), leastPriority) }

// PriorityRange returns the lowest and the highest priority.
func (t *Thread) PriorityRange() (least, greatest int) { return leastPriority, greatestPriority }

// StreamDestroy destroys a stream; its work continues.
func (t *Thread) StreamDestroy(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		s := r.streams[h]
		if s == nil {
			return InvalidHandle
		}
		if c := s.capture; c != nil && c.origin == s { // others may go when they have joined
			c.spoil()
			return StreamCaptureUnsupported
		}
		s.gone = true
		delete(r.streams, h)
		s.on.lanes = slices.DeleteFunc(s.on.lanes, func(x *stream) bool { return x.gone && x.idle() })
		return Success
	})
}

// StreamInfo is the parameters of a stream, and its number.
type StreamInfo struct {
	Flags    uint32
	Priority int
	ID       int64
	Device   int
}

// StreamInfo returns the parameters of a stream.
func (t *Thread) StreamInfo(h uint64) (info StreamInfo, err Error) {
	err = t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err == Success {
			info = StreamInfo{s.flags, s.priority, s.id, s.on.number}
		}
		return err
	})
	return info, err
}

// StreamSynchronize waits for a stream's work.
func (t *Thread) StreamSynchronize(h uint64) Error {
	return t.ofStream(h, func(r *Runtime, s *stream) Error {
		return r.waited(WaitForStream, s, 0, func() Error { return s.on.await(s.lasts()...) })
	})
}

// StreamQuery returns NotReady while a stream has unfinished work, and then lets a little
// time pass.
func (t *Thread) StreamQuery(h uint64) Error {
	return t.ofStream(h, func(r *Runtime, s *stream) Error {
		err := s.on.query(s.lasts()...)
		if err == Success {
			r.tellWait(s, 0)
		}
		return err
	})
}

// ofStream runs a call that waits for a stream, which must not be in a capture.
func (t *Thread) ofStream(h uint64, f func(r *Runtime, s *stream) Error) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		c, err := r.captured(s)
		if c != nil {
			c.spoil()
			return StreamCaptureUnsupported
		}
		if err != Success {
			return err
		}
		return f(r, s)
	})
}

// external is cudaEventRecordExternal and cudaEventWaitExternal: in a capture,
// the record or the wait is a node.
const external = 1

// mark returns the stream and event of a record or wait.
func (r *Runtime) mark(h, ev uint64, flags uint32) (*stream, *event, Error) {
	s, err := r.stream(h)
	e := r.events[ev]
	switch {
	case err != Success:
		return nil, nil, err
	case e == nil:
		return nil, nil, InvalidHandle
	case flags > external:
		return nil, nil, InvalidValue
	}
	return s, e, Success
}

// StreamWait makes a stream wait for the last record of an event.
func (t *Thread) StreamWait(h, ev uint64, flags uint32) Error {
	return t.do(func(r *Runtime) Error {
		s, e, err := r.mark(h, ev, flags)
		switch {
		case err != Success:
			return err
		case flags == external && s.capture != nil:
			return s.on.submit(s, &markWork{NodeEventWait, ev, e})
		case s.capture != nil || e.capture != nil:
			return r.join(s, e)
		}
		if _, err := r.captured(s); err != Success {
			return err
		}
		w := &markWork{NodeEventWait, ev, e}
		if e.op == nil || e.op.Ended() {
			r.tellWork(s, w)
			return Success
		}
		return s.on.submit(s, w)
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
		r.events[h] = &event{on: r, flags: flags}
		return Success
	})
	return h, err
}

// EventDestroy destroys an event.
func (t *Thread) EventDestroy(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if r.events[h] == nil {
			return InvalidHandle
		}
		delete(r.events, h)
		return Success
	})
}

// EventRecord records the current position of a stream. In a capture the event represents
// what the stream has captured, unless flags are 1 (cudaEventRecordExternal): then a node
// records it.
func (t *Thread) EventRecord(ev, h uint64, flags uint32) Error {
	return t.do(func(r *Runtime) Error {
		s, e, err := r.mark(h, ev, flags)
		if err != Success {
			return err
		}
		if s.on != e.on {
			return InvalidHandle
		}
		c, err := r.captured(s)
		if err != Success {
			return err
		}
		if c != nil && flags != external {
			e.capture, e.tail = c, slices.Clone(s.tail)
			return Success
		}
		return s.on.submit(s, &markWork{NodeEventRecord, ev, e})
	})
}

// ofEvent runs a query of an event, which must not represent captured work.
func (t *Thread) ofEvent(h uint64, f func(r *Runtime, e *event) Error) Error {
	return t.do(func(r *Runtime) Error {
		e := r.events[h]
		if e == nil {
			return InvalidHandle
		}
		if e.capture != nil {
			e.capture.spoil()
			return CapturedEvent
		}
		if err := r.unsafe(); err != Success {
			return err
		}
		return f(r, e)
	})
}

// EventSynchronize waits for an event.
func (t *Thread) EventSynchronize(h uint64) Error {
	return t.ofEvent(h, func(r *Runtime, e *event) Error {
		return r.waited(WaitForEvent, nil, h, func() Error {
			if e.op == nil {
				return Success
			}
			return e.on.await(e.op)
		})
	})
}

// EventQuery returns NotReady until an event has completed, and then lets a little time
// pass.
func (t *Thread) EventQuery(h uint64) Error {
	return t.ofEvent(h, func(r *Runtime, e *event) Error {
		err := Success
		if e.op != nil {
			err = e.on.query(e.op)
		}
		if err == Success {
			r.tellWait(nil, h)
		}
		return err
	})
}

// EventElapsed returns the simulated milliseconds between two events. In a functional
// run, which has no time, a warp instruction counts as a nanosecond, so that programs can
// divide by the result.
func (t *Thread) EventElapsed(from, to uint64) (ms float64, err Error) {
	err = t.do(func(r *Runtime) Error {
		a, b := r.events[from], r.events[to]
		switch {
		case a == nil || b == nil || a.on != b.on || (a.flags|b.flags)&noTiming != 0:
			return InvalidHandle
		case a.capture != nil || b.capture != nil:
			return CapturedEvent
		case !a.recorded || !b.recorded:
			return InvalidHandle
		case r.chip == nil:
			r.once("time", "a functional run has no time: cudaEventElapsedTime counts a nanosecond per warp instruction")
			ms = (float64(b.at) - float64(a.at)) / 1e6
		case !a.op.Ended() || !b.op.Ended():
			return NotReady
		default:
			ms = (float64(b.op.End) - float64(a.op.End)) / float64(r.cfg.Clocks.Core) * 1e3
		}
		return Success
	})
	return ms, err
}
