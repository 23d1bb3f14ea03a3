package cuda

import "github.com/heddle-sim/heddle/internal/check"

// This file: what allocators of the program say of the memory that they share out.

// GivePart says that an allocator of the program gives out size bytes of an allocation, for work on a
// stream; TakePart that they come back, when the stream gets there. Both refuse what lies in no
// allocation (InvalidValue), and do nothing else without checkers.
func (t *Thread) GivePart(addr, size, stream uint64) Error {
	return t.tellPart(check.HostEvent{Kind: check.HostAlloc, Call: "heddle_give", Name: "heddle_give", Addr: addr, Bytes: size}, stream)
}

// TakePart is the end of GivePart.
func (t *Thread) TakePart(addr, size, stream uint64) Error {
	return t.tellPart(check.HostEvent{Kind: check.HostFree, Call: "heddle_take", Name: "heddle_take", Addr: addr, Bytes: size}, stream)
}

func (t *Thread) tellPart(e check.HostEvent, stream uint64) Error {
	bad := InvalidValue
	err := t.do(func(r *Runtime) Error { // which never fails: the program's own errors stay what they are
		s, err := r.stream(stream)
		if err != Success {
			return Success
		}
		d, err := r.holder(e.Addr)
		if err != Success {
			return Success
		}
		if m, ok := d.mem.Find(e.Addr); !ok || e.Bytes == 0 || e.Bytes > m.Size-(e.Addr-m.Addr) {
			return Success
		}
		if bad = Success; r.checked() {
			e.Part, e.Async, e.Stream = true, true, s.key()
			r.tell(e)
		}
		return Success
	})
	if err != Success {
		return err
	}
	return bad
}
