package cuda

// Range returns the start and size of the allocation that contains an address.
func (d Driver) Range(addr uint64) (base, size uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess {
			return res
		}
		if err := r.begin(); err != Success {
			return err.Result()
		}
		a, ok := r.mem.Find(addr)
		if !ok || a.Freed || !a.Contains(addr) || !onDevice(addr) && r.shared[a.Addr] == nil {
			return ResultNotFound
		}
		base, size = a.Addr, a.Size
		return ResultSuccess
	})
	return base, size, res
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
