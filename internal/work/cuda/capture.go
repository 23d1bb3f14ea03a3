package cuda

import "slices"

// This file: capturing the work of streams as a graph.

// CaptureMode selects the calls that are refused during a capture because they could wait
// for captured work (cudaStreamCaptureMode): those of all threads, those of the capturing
// thread, or none.
type CaptureMode int32

// The modes.
const (
	CaptureGlobal CaptureMode = iota
	CaptureThread
	CaptureRelaxed
)

// CaptureStatus is the state of a stream (cudaStreamCaptureStatus).
type CaptureStatus int32

// The states.
const (
	CaptureNone CaptureStatus = iota
	CaptureActive
	CaptureInvalid
)

// capture is a capture, in progress or ended.
type capture struct {
	id      uint64
	graph   *graph
	origin  *stream
	streams []*stream // origin and those that have joined it
	mode    CaptureMode
	thread  *Thread
	spoiled bool // a forbidden call invalidated it
	kept    bool // the graph is the program's
}

// uses reports whether a stream of a device is captured.
func (c *capture) uses(r *Runtime) bool {
	return slices.ContainsFunc(c.streams, func(s *stream) bool { return s.on == r })
}

// release ends the capture of all streams.
func (c *capture) release() {
	for _, s := range c.streams {
		s.capture, s.tail = nil, nil
	}
}

// spoil invalidates a capture.
func (c *capture) spoil() { c.spoiled = true }

// add captures work of a stream.
func (c *capture) add(s *stream, w work) {
	if k, ok := w.(*kernelWork); ok {
		k.priority = s.priority
	}
	s.tail = []*node{c.graph.add(s.on, w, s.tail)}
}

// captured returns the capture that a stream is in, nil if it is in none. The legacy
// stream accepts no work while a stream that waits for it is captured.
func (r *Runtime) captured(s *stream) (*capture, Error) {
	if c := s.capture; c != nil {
		if c.spoiled {
			return nil, StreamCaptureInvalidated
		}
		return c, Success
	}
	err := Success
	if s.id == 0 {
		for _, c := range r.captures {
			if slices.ContainsFunc(c.streams, func(x *stream) bool { return x.on == s.on && x.flags&nonBlocking == 0 }) {
				c.spoil()
				err = StreamCaptureImplicit
			}
		}
	}
	return nil, err
}

// unsafe is called for calls that may wait for other work. While a capture forbids them,
// it invalidates the capture and returns an error.
func (r *Runtime) unsafe() Error {
	t, err := r.caller, Success
	for _, c := range r.captures {
		if mine := c.thread == t && c.mode != CaptureRelaxed; t.mode != CaptureRelaxed && (mine || t.mode == CaptureGlobal && c.mode == CaptureGlobal) {
			c.spoil()
			err = StreamCaptureUnsupported
		}
	}
	return err
}

// ExchangeCaptureMode sets the capture mode of the thread's calls and returns the
// previous one.
func (t *Thread) ExchangeCaptureMode(m CaptureMode) (old CaptureMode, err Error) {
	err = t.do(func(*Runtime) Error {
		if m < CaptureGlobal || m > CaptureRelaxed {
			return InvalidValue
		}
		old, t.mode = t.mode, m
		return Success
	})
	return old, err
}

// BeginCapture starts a capture: the stream collects its work for a graph instead of
// executing it.
func (t *Thread) BeginCapture(h uint64, mode CaptureMode) Error {
	return t.beginCapture(h, 0, nil, mode)
}

// BeginCaptureTo starts a capture that adds to a graph, after some of its nodes.
func (t *Thread) BeginCaptureTo(h, graph uint64, deps []uint64, mode CaptureMode) Error {
	if err := t.Check(graph != 0); err != Success {
		return err
	}
	return t.beginCapture(h, graph, deps, mode)
}

func (t *Thread) beginCapture(h, to uint64, deps []uint64, mode CaptureMode) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		switch {
		case err != Success:
			return err
		case mode < CaptureGlobal || mode > CaptureRelaxed:
			return InvalidValue
		case s.id == 0:
			return StreamCaptureUnsupported
		case s.capture != nil:
			return IllegalState
		}
		c := &capture{id: r.handle(), graph: r.graphs[to], origin: s, mode: mode, thread: t, kept: to != 0}
		var after []*node
		switch {
		case !c.kept:
			c.graph = s.on.newGraph()
		case c.graph == nil, slices.ContainsFunc(r.captures, func(x *capture) bool { return x.graph == c.graph }):
			return InvalidValue
		default:
			if after, err = r.nodesOf(c.graph, deps); err != Success {
				return err
			}
		}
		r.captures = append(r.captures, c)
		c.enlist(s, after)
		return Success
	})
}

// enlist adds a stream to a capture, after some of its nodes.
func (c *capture) enlist(s *stream, deps []*node) {
	s.capture, s.tail = c, slices.Clone(deps)
	c.streams = append(c.streams, s)
}

// join makes a stream wait for an event if at least one of the two is captured.
func (r *Runtime) join(s *stream, e *event) Error {
	c, err := r.captured(s)
	switch {
	case err != Success:
		return err
	case e.capture == nil: // captured work would wait for work that is not
		c.spoil()
		return StreamCaptureIsolation
	case !slices.Contains(r.captures, e.capture):
		return CapturedEvent
	case e.capture.spoiled:
		return StreamCaptureInvalidated
	case c == nil && s.id == 0:
		e.capture.spoil()
		return StreamCaptureImplicit
	case c == nil:
		e.capture.enlist(s, e.tail)
	case c != e.capture:
		c.spoil()
		e.capture.spoil()
		return StreamCaptureMerge
	default:
		for _, n := range e.tail {
			if !slices.Contains(s.tail, n) {
				s.tail = append(s.tail, n)
			}
		}
	}
	return Success
}

// EndCapture ends the capture that began in a stream, and returns its graph.
func (t *Thread) EndCapture(h uint64) (g uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		c := s.capture
		switch {
		case c == nil:
			return IllegalState
		case c.mode != CaptureRelaxed && c.thread != t:
			return StreamCaptureWrongThread
		case c.origin != s:
			c.spoil()
			return StreamCaptureUnmatched
		}
		unjoined := !c.joined()
		c.release()
		r.captures = slices.DeleteFunc(r.captures, func(x *capture) bool { return x == c })
		switch {
		case c.spoiled:
			err = StreamCaptureInvalidated
		case unjoined:
			err = StreamCaptureUnjoined
		default:
			g = c.graph.handle
			return Success
		}
		if !c.kept {
			r.destroy(c.graph)
		}
		return err
	})
	return g, err
}

// joined reports whether the stream in which a capture began waits for all work captured
// in other streams.
func (c *capture) joined() bool {
	before := map[*node]bool{}
	var visit func(list []*node)
	visit = func(list []*node) {
		for _, n := range list {
			if !before[n] {
				before[n] = true
				visit(n.from)
			}
		}
	}
	visit(c.origin.tail)
	for _, s := range c.streams {
		for _, n := range s.tail {
			if !before[n] {
				return false
			}
		}
	}
	return true
}

// CaptureInfo is the state of a stream's capture.
type CaptureInfo struct {
	Status CaptureStatus
	ID     uint64   // of the capture
	Graph  uint64   // so far
	Tail   []uint64 // the next node comes after these
}

// CaptureInfo returns the state of a stream's capture.
func (t *Thread) CaptureInfo(h uint64) (info CaptureInfo, err Error) {
	err = t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		if s.capture == nil {
			_, err := r.captured(s)
			return err
		}
		c := s.capture
		info = CaptureInfo{Status: CaptureActive, ID: c.id, Graph: c.graph.handle, Tail: handlesOf(s.tail)}
		if c.spoiled {
			info = CaptureInfo{Status: CaptureInvalid, ID: c.id}
		}
		return Success
	})
	return info, err
}

// SetCaptureTail sets the nodes after which the next one of a captured stream comes, or
// adds to them.
func (t *Thread) SetCaptureTail(h uint64, nodes []uint64, add bool) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		c, err := r.captured(s)
		if err != Success {
			return err
		}
		if c == nil {
			return IllegalState
		}
		list, err := r.nodesOf(c.graph, nodes)
		if err != Success {
			return err
		}
		if add {
			list = append(s.tail, list...)
		}
		s.tail = list
		return Success
	})
}
