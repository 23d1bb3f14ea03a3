package cuda

import (
	"time"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: how work is executed. A call of the program makes work; its stream executes
// it or, during a capture, a node of a graph stores it.

// work is a piece of work for a stream.
type work interface {
	// kind is its kind of graph node.
	kind() NodeKind
	// now executes it immediately, in a functional run.
	now(r *Runtime, s *stream) Error
	// op converts it to an action for the chip. The record is for the report, nil
	// unless the work is a launch.
	op(r *Runtime, s *stream) (*gpu.Op, *run.Launch, Error)
}

// given is work on the chip that had not completed at the last check.
type given struct {
	op     *gpu.Op
	number uint64 // in submission order
}

// postponed is the end of an object that the program destroyed after a number of pieces of
// work of a device, which may still use it.
type postponed struct {
	given uint64
	end   func()
}

// afterwards ends an object when all work that the device has got so far has completed.
func (r *Runtime) afterwards(end func()) {
	r.postponed = append(r.postponed, postponed{r.given, end})
	r.endObjects()
}

// endObjects ends the objects that no work uses any more.
func (r *Runtime) endObjects() {
	for len(r.postponed) > 0 && (len(r.pending) == 0 || r.pending[0].number > r.postponed[0].given) {
		end := r.postponed[0].end
		r.postponed = r.postponed[1:]
		end()
	}
}

// maxPending is the number of pending pieces of work at which time passes, our choice: it
// limits memory, not the overlap in real programs.
const maxPending = 1024

// submit passes work to a stream, or to the graph of the stream's capture.
func (r *Runtime) submit(s *stream, w work) Error {
	if s.on.sticky != Success {
		return s.on.sticky
	}
	c, err := r.captured(s)
	switch {
	case err != Success:
		return err
	case c != nil:
		c.add(s, w)
		return Success
	case r.chip == nil:
		return r.execute(s, w)
	}
	_, err = r.enqueue(s, w)
	if err == Success {
		err = r.crowded()
	}
	if _, launch := w.(*kernelWork); launch && err == Success {
		err = r.blocked(s)
	}
	return err
}

// blocked ends a launch in a stream: with Options.Blocking it waits for the stream.
func (r *Runtime) blocked(s *stream) Error {
	if !r.opt.Blocking {
		return Success
	}
	return r.lastly(func() Error { return s.on.await(s.lasts()...) })
}

// execute executes work immediately, in a functional run.
func (r *Runtime) execute(s *stream, w work) Error {
	r.tellWork(s, w)
	if !r.trace.any {
		return w.now(r, s)
	}
	start, launches, leftOut := r.now(), r.launches, r.ses.Res.LeftOut
	err := w.now(r, s)
	if _, launch := w.(*kernelWork); err == Success && (!launch || r.launches-launches > r.ses.Res.LeftOut-leftOut) {
		r.observe(s, w, nil, start)
	}
	return err
}

// enqueue passes work to a stream of the chip.
func (r *Runtime) enqueue(s *stream, w work) (*gpu.Op, Error) {
	op, rec, err := w.op(r, s)
	if err != Success {
		return nil, err
	}
	return op, r.give(s, w, op, rec)
}

// give passes the action for a stream's work to the chip.
func (r *Runtime) give(s *stream, w work, op *gpu.Op, rec *run.Launch) Error {
	op.Stream, op.NonBlocking, op.Priority = s.id, s.flags&nonBlocking != 0, s.priority
	r.tellWork(s, w)
	if rec != nil {
		if err := r.ses.Launch(rec, op); err != nil {
			return r.refuse(err)
		}
		r.launches++
	} else if err := r.ses.Do(op, ""); err != nil {
		return r.end(err)
	}
	r.given++
	r.pending = append(r.pending, given{op, r.given})
	if !op.Loose {
		s.last = op
	}
	if r.trace.any {
		r.observe(s, w, op, r.now())
	}
	return Success
}

// crowded lets time pass if too much work is pending.
func (r *Runtime) crowded() Error {
	if len(r.pending) < maxPending {
		return Success
	}
	return r.await(r.pending[len(r.pending)/2].op)
}

// await lets the chip's time pass until actions have completed. Its error is sticky.
func (r *Runtime) await(list ...*gpu.Op) Error {
	for _, o := range list {
		if err := r.pass(o, 1<<63); err != Success {
			return err
		}
	}
	return r.sticky
}

// queryTime is the simulated time of a query that returns NotReady, in nanoseconds: our
// choice, about what the call takes on a computer. Without it a polling program would
// never end.
const queryTime = 1000

// query reports whether actions have completed.
func (r *Runtime) query(list ...*gpu.Op) Error {
	for _, o := range list {
		if err := r.pass(o, uint64(r.cfg.Clocks.Core)*queryTime/1e9); err != Success {
			return err
		}
		if !o.Ended() {
			return NotReady
		}
	}
	return r.sticky
}

// pass lets the given number of cycles pass, or fewer if an action completes earlier.
func (r *Runtime) pass(o *gpu.Op, cycles uint64) Error {
	if r.sticky != Success || o.Ended() {
		return r.sticky
	}
	until := r.chip.Now() + cycles
	return r.advance(func() (*gpu.GPU, error) {
		if r.machine == nil {
			return r.chip, r.chip.Wait(r.life, o, cycles)
		}
		return r.machine.Wait(r.life, r.chip, o, until-r.chip.Now())
	}, false)
}

// advance lets the chips' time pass. Where that ends the run of another device, that one
// gets the error, and the wait goes on. Of several devices, each gets its own. all: nothing
// of the device is left to do after that.
func (r *Runtime) advance(wait func() (*gpu.GPU, error), all bool) Error {
	for {
		failed, err := wait()
		for _, d := range r.devices {
			if d.chip != failed || err == nil {
				d.collect(all && d == r && err == nil)
				continue
			}
			d.collect(true)
			d.end(err)
		}
		if err == nil || r.sticky != Success && (r.machine == nil || !r.machine.Broken()) || r.life.Err() != nil {
			if r.life.Err() != nil && err != nil {
				return Unknown
			}
			return r.sticky
		}
	}
}

// lastly waits in a call that does nothing after it.
func (r *Runtime) lastly(wait func() Error) Error {
	t := r.caller
	t.waits = true
	defer func() { t.waits = false }()
	return wait()
}

// othersWork lets other threads of the program call the runtime while one waits for kernels
// that only such a call can end, and reports whether they have given work to a device. It is
// no pause: the host takes no simulated time.
func (a *app) othersWork() bool {
	a.threadsMu.Lock()
	threads := len(a.threads)
	a.threadsMu.Unlock()
	if threads < 2 || !a.caller.waits {
		return false
	}
	before := a.givenSoFar()
	for range 500 { // of a millisecond, our choice: much longer than from one call of a program to the next, on a busy computer too
		a.unlocked(func() { time.Sleep(time.Millisecond) })
		if a.givenSoFar() != before {
			return true
		}
	}
	return false
}

// unlocked does f with the lock released, so that other threads may call the runtime
// meanwhile.
func (a *app) unlocked(f func()) {
	caller, place := a.caller, a.trace.place
	a.trace.place = GraphPlace{}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.caller, a.trace.place = caller, place
	}()
	f()
}

// givenSoFar counts the pieces of work of all devices so far.
func (a *app) givenSoFar() (n uint64) {
	for _, d := range a.devices {
		n += d.given
	}
	return n
}

// finish lets the chip's time pass until all work has completed. Its error is sticky.
func (r *Runtime) finish() Error {
	if r.sticky != Success || len(r.pending) == 0 {
		return r.sticky
	}
	return r.advance(func() (*gpu.GPU, error) {
		if r.machine == nil {
			return r.chip, r.chip.Finish(r.life)
		}
		return r.machine.Finish(r.life, r.chip)
	}, true)
}

// finishAll is finish for what work of all devices may use. Errors of others are theirs.
func (r *Runtime) finishAll() Error {
	if len(r.devices) > 1 {
		for _, d := range r.begun() {
			if d != r {
				d.finish()
			}
		}
	}
	return r.finish()
}

// markWork is a position in a stream, such as the record of an event. It takes no time.
type markWork struct {
	nodeKind NodeKind
	handle   uint64 // of the event
	ev       *event // recorded or waited for; nil for a node that only joins others
}

func (w *markWork) kind() NodeKind { return w.nodeKind }

func (w *markWork) now(r *Runtime, _ *stream) Error {
	if w.nodeKind == NodeEventRecord {
		w.ev.record(nil, r.ses.Res.WarpInstructions)
	}
	return Success
}

func (w *markWork) op(r *Runtime, _ *stream) (*gpu.Op, *run.Launch, Error) {
	op := &gpu.Op{Kind: gpu.OpMark}
	switch w.nodeKind {
	case NodeEventRecord:
		w.ev.record(op, r.ses.Res.WarpInstructions)
	case NodeEventWait:
		if w.ev.op != nil {
			op.After = []*gpu.Op{w.ev.op}
		}
	}
	return op, nil, Success
}

// hostWork is a call of the program's code.
type hostWork struct {
	fn, data uint64 // from the program
}

func (w *hostWork) kind() NodeKind { return NodeHost }

// now calls the function with the lock released, so that it and other threads may call the
// runtime.
func (w *hostWork) now(r *Runtime, _ *stream) Error {
	r.clear()
	r.unlocked(func() { r.opt.Host.Call(w.fn, w.data) })
	return Success
}

// op is for graphs: the function is called within a call that waits for the graph, and
// must not call the device.
func (w *hostWork) op(r *Runtime, _ *stream) (*gpu.Op, *run.Launch, Error) {
	return &gpu.Op{Kind: gpu.OpCopy, Copy: func() error {
		t := r.caller
		t.barred.Store(true)
		defer t.barred.Store(false)
		r.opt.Host.Call(w.fn, w.data)
		return nil
	}}, nil, Success
}

// HostCall makes a stream call a function of the program when all earlier work has
// completed (cudaLaunchHostFunc). This happens within the call: otherwise no time would
// pass for a program that only waits for the function.
func (t *Thread) HostCall(h, fn, data uint64) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		if fn == 0 {
			return InvalidValue
		}
		w := &hostWork{fn, data}
		if c, err := r.captured(s); err != Success || c != nil {
			if c != nil {
				c.add(s, w)
			}
			return err
		}
		if err := s.on.await(s.lasts()...); err != Success {
			return err
		}
		r.tellWork(s, w)
		return w.now(s.on, s)
	})
}
