package cuda

import "github.com/heddle-sim/heddle/internal/exec/device"

// Place is what is at an address.
type Place struct {
	Base, Size     uint64 // of the allocation, or of the reserved addresses
	Mapped, Length uint64 // of the memory there: the same, or a mapping; no length if none is mapped
	Access         int32  // what kernels may do, a CUmemAccess_flags
}

// Place returns what is at an address.
func (d Driver) Place(addr uint64) (p Place, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess {
			return res
		}
		if err := r.begin(); err != Success {
			return err.Result()
		}
		mem := r.mem
		if d, err := r.holder(addr); err == Success {
			mem = d.mem
		}
		a, ok := mem.Find(addr)
		if !ok || a.Freed || !a.Contains(addr) || !onDevice(addr) && r.shared[a.Addr] == nil {
			return ResultNotFound
		}
		p = Place{Base: a.Addr, Size: a.Size, Mapped: a.Addr, Length: a.Size, Access: accessFlags[device.MayWrite]}
		if a.Reserved() {
			m, _ := mem.MappingAt(addr)
			p.Mapped, p.Length, p.Access = m.Addr, m.Size, accessFlags[m.Access[r.number]]
		}
		return ResultSuccess
	})
	return p, res
}

// OwnerOf returns the context that owns the memory at an address; for memory of the
// runtime that is the current one.
func (d Driver) OwnerOf(addr uint64) (h uint64, res Result) {
	return d.owner(Thing{OwnedMemory, addr}, Thing{OwnedHostMemory, addr})
}

// StreamContext returns the context of a stream.
func (d Driver) StreamContext(stream uint64) (h uint64, res Result) {
	res = d.Do(func(t *Thread) Error {
		_, err := t.StreamInfo(stream)
		return err
	})
	if res != ResultSuccess {
		return 0, res
	}
	return d.owner(Thing{OwnedStream, stream})
}

func (d Driver) owner(things ...Thing) (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess {
			return res
		}
		h = t.contexts[len(t.contexts)-1]
		for handle, c := range r.ctx.list {
			for _, x := range things {
				if _, ok := c.owned[x]; ok {
					h = handle
				}
			}
		}
		return ResultSuccess
	})
	return h, res
}
