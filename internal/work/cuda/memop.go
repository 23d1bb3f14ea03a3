package cuda

import (
	"encoding/binary"
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: streams and nodes that write values to memory, and that wait for values there.
// A wait ends within the call that enqueues it: time passes until other work has written
// the value. What the program enqueues or writes itself after that call is too late.

// MemoryOpKind is what an operation does (CUstreamBatchMemOpType).
type MemoryOpKind int32

// The kinds.
const (
	WaitWord        MemoryOpKind = 1
	WriteWord       MemoryOpKind = 2
	FlushRemote     MemoryOpKind = 3 // writes of other devices of the bus
	WaitLong        MemoryOpKind = 4
	WriteLong       MemoryOpKind = 5
	MemoryOpBarrier MemoryOpKind = 6
)

// Conditions of waits (CUstreamWaitValue_flags), and the flag that also flushes.
const (
	waitAtLeast = iota // as numbers that wrap around
	waitEqual
	waitAnd // they have a bit in common
	waitNor // a bit is in neither

	waitFlush = 1 << 30
)

// MemoryOp writes a value of 4 or 8 bytes, or waits for one.
type MemoryOp struct {
	Kind        MemoryOpKind
	Addr, Value uint64
	Flags       uint32
}

// waits reports whether it waits for a value.
func (o *MemoryOp) waits() bool { return o.Kind == WaitWord || o.Kind == WaitLong }

// bytes returns the memory of an operation; none if it has none.
func (o *MemoryOp) bytes(r *Runtime) ([]byte, Error) {
	n := uint64(4)
	switch o.Kind {
	case FlushRemote, MemoryOpBarrier:
		return nil, Success
	case WaitLong, WriteLong:
		n = 8
	case WaitWord, WriteWord:
	default:
		return nil, InvalidValue
	}
	switch {
	case o.Addr%n != 0, !onDevice(o.Addr) && r.sharedAt(o.Addr) == nil,
		o.waits() && o.Flags&^waitFlush > waitNor, !o.waits() && o.Flags > 1:
		return nil, InvalidValue
	}
	return r.bytes(o.Addr, n, !o.waits())
}

// holds reports whether the value that a wait is for is there.
func (o *MemoryOp) holds(b []byte) bool {
	now, want, top := uint64(0), o.Value, uint64(1)<<63
	if o.Kind == WaitWord {
		now, want, top = uint64(binary.LittleEndian.Uint32(b)), want&(1<<32-1), 1<<31
	} else {
		now = binary.LittleEndian.Uint64(b)
	}
	switch o.Flags &^ waitFlush {
	case waitEqual:
		return now == want
	case waitAnd:
		return now&want != 0
	case waitNor:
		return ^(now|want)&(2*top-1) != 0
	}
	return (now-want)&top == 0
}

// memoryWork is a list of operations.
type memoryWork struct{ ops []MemoryOp }

// prepareMemory checks operations.
func (r *Runtime) prepareMemory(ops []MemoryOp) (*memoryWork, Error) {
	const most = 256 // operations in a call (CUDA driver API, cuStreamBatchMemOp)
	if len(ops) > most {
		return nil, InvalidValue
	}
	for i := range ops {
		if _, err := ops[i].bytes(r); err != Success {
			return nil, err
		}
	}
	return &memoryWork{slices.Clone(ops)}, Success
}

func (w *memoryWork) kind() NodeKind { return NodeMemory }

// waits reports whether an operation waits.
func (w *memoryWork) waits() bool {
	return slices.ContainsFunc(w.ops, func(o MemoryOp) bool { return o.waits() })
}

// do executes the operations. A wait lets time pass.
func (w *memoryWork) do(r *Runtime) Error {
	for i := range w.ops {
		o := &w.ops[i]
		b, err := o.bytes(r)
		switch {
		case err != Success:
			return err
		case o.waits():
			if err := r.until(func() bool { return o.holds(b) }); err != Success {
				if err == NotReady {
					r.once("wait for a value", "a stream waits for a value at %#x that nothing submitted before it writes; waits for what the program does later are not supported", o.Addr)
					err = NotSupported
				}
				return err
			}
		case len(b) == 4:
			binary.LittleEndian.PutUint32(b, uint32(o.Value))
		case len(b) == 8:
			binary.LittleEndian.PutUint64(b, o.Value)
		}
	}
	return Success
}

func (w *memoryWork) now(r *Runtime, _ *stream) Error { return w.do(r) }

// op is for operations without waits.
func (w *memoryWork) op(r *Runtime, _ *stream) (*gpu.Op, *run.Launch, Error) {
	var fills []gpu.Range
	for i := range w.ops {
		b, err := w.ops[i].bytes(r)
		if err != Success {
			return nil, nil, err
		}
		if len(b) > 0 && onDevice(w.ops[i].Addr) {
			fills = append(fills, gpu.Range{Addr: w.ops[i].Addr, Bytes: uint64(len(b))})
		}
	}
	return &gpu.Op{Kind: gpu.OpCopy, Fills: fills, Copy: func() error {
		if err := w.do(r); err != Success {
			return err
		}
		return nil
	}}, nil, Success
}

// until lets time pass until something is the case, or returns NotReady if no work is left
// that could make it so.
func (r *Runtime) until(done func() bool) Error {
	for !done() {
		waited := false
		for _, d := range r.begun() {
			i := slices.IndexFunc(d.pending, func(g given) bool { return !g.op.Ended() })
			if i < 0 || d.sticky != Success {
				continue
			}
			waited = true
			if err := d.await(d.pending[i].op); err != Success && d == r {
				return err
			}
			break
		}
		if !waited {
			return NotReady
		}
	}
	return r.sticky
}

// MemoryOps makes a stream execute operations (cuStreamBatchMemOp).
func (t *Thread) MemoryOps(h uint64, ops []MemoryOp) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		w, err := s.on.prepareMemory(ops)
		if err != Success {
			return err
		}
		c, err := r.captured(s)
		if err != Success {
			return err
		}
		if c == nil && s.on.chip != nil && w.waits() {
			if err := s.on.await(s.lasts()...); err != Success {
				return err
			}
			r.tellWork(s, w)
			return w.do(s.on)
		}
		return s.on.submit(s, w)
	})
}

// MemoryNode executes operations.
func MemoryNode(ops []MemoryOp) Work {
	return func(r *Runtime) (work, Error) {
		w, err := r.prepareMemory(ops)
		return w, err
	}
}
