package cuda

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// This file: stream-ordered memory. Allocation is immediate; only freeing waits for the
// stream. Pools only count memory and keep none in reserve.

// PoolAttribute is an attribute of a pool (cudaMemPoolAttr).
type PoolAttribute int32

// The attributes. The first three are int, the others 64-bit numbers of bytes.
const (
	PoolReuseFollowEvents PoolAttribute = 1 + iota
	PoolReuseOpportunistic
	PoolReuseInternal
	PoolReleaseThreshold
	PoolReservedNow
	PoolReservedHigh
	PoolUsedNow
	PoolUsedHigh
)

// pool is a pool of memory.
type pool struct {
	reuse      [3]uint64 // by PoolReuse…; without effect
	threshold  uint64
	used, high uint64 // bytes in use, and the peak since the last reset
}

// pooled is memory of a pool.
type pooled struct {
	pool  *pool
	size  uint64
	freed bool // in stream order, perhaps not executed yet
}

// DefaultPool returns the pool that MallocAsync uses by default.
func (t *Thread) DefaultPool() (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		h = r.defaultPool
		if r.pools[h] == nil {
			h = r.newPool()
			r.defaultPool, r.currentPool = h, h
		}
		return Success
	})
	return h, err
}

func (r *Runtime) newPool() uint64 {
	h := r.handle()
	r.pools[h] = &pool{reuse: [3]uint64{1, 1, 1}}
	return h
}

// PoolCreate makes a pool.
func (t *Thread) PoolCreate() (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		h = r.newPool()
		return Success
	})
	return h, err
}

// PoolDestroy destroys a pool. Its memory stays until it is freed.
func (t *Thread) PoolDestroy(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if r.pools[h] == nil || h == r.defaultPool {
			return InvalidValue
		}
		if r.currentPool == h {
			r.currentPool = r.defaultPool
		}
		delete(r.pools, h)
		return Success
	})
}

// CurrentPool returns the pool that MallocAsync uses.
func (t *Thread) CurrentPool() (h uint64, err Error) {
	if _, err := t.DefaultPool(); err != Success {
		return 0, err
	}
	err = t.do(func(r *Runtime) Error {
		h = r.currentPool
		return Success
	})
	return h, err
}

// SetCurrentPool sets the pool that MallocAsync uses.
func (t *Thread) SetCurrentPool(h uint64) Error {
	if _, err := t.DefaultPool(); err != Success {
		return err
	}
	return t.do(func(r *Runtime) Error {
		if r.pools[h] == nil {
			return InvalidValue
		}
		r.currentPool = h
		return Success
	})
}

// PoolTrim releases a pool's reserve, which is always empty.
func (t *Thread) PoolTrim(h uint64) Error {
	_, err := t.PoolAttribute(h, PoolUsedNow)
	return err
}

// PoolAttribute returns an attribute of a pool.
func (t *Thread) PoolAttribute(h uint64, which PoolAttribute) (v uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		p := r.pools[h]
		if p == nil {
			return InvalidValue
		}
		switch which {
		case PoolReuseFollowEvents, PoolReuseOpportunistic, PoolReuseInternal:
			v = p.reuse[which-PoolReuseFollowEvents]
		case PoolReleaseThreshold:
			v = p.threshold
		case PoolReservedNow, PoolUsedNow:
			v = p.used
		case PoolReservedHigh, PoolUsedHigh:
			v = p.high
		default:
			return InvalidValue
		}
		return Success
	})
	return v, err
}

// SetPoolAttribute sets an attribute; peaks can only be reset to 0.
func (t *Thread) SetPoolAttribute(h uint64, which PoolAttribute, v uint64) Error {
	return t.do(func(r *Runtime) Error {
		p := r.pools[h]
		if p == nil {
			return InvalidValue
		}
		switch which {
		case PoolReuseFollowEvents, PoolReuseOpportunistic, PoolReuseInternal:
			p.reuse[which-PoolReuseFollowEvents] = v
		case PoolReleaseThreshold:
			p.threshold = v
		case PoolReservedHigh, PoolUsedHigh:
			if v != 0 {
				return InvalidValue
			}
			p.high = p.used
		default:
			return InvalidValue
		}
		return Success
	})
}

// MallocAsync allocates device memory from a pool (0: the current one) for work that is
// enqueued in a stream after this call.
func (t *Thread) MallocAsync(size, h, stream uint64) (addr uint64, err Error) {
	if h == 0 {
		if h, err = t.CurrentPool(); err != Success {
			return 0, err
		}
	}
	err = t.do(func(r *Runtime) Error {
		p := r.pools[h]
		s, err := r.stream(stream)
		switch {
		case err != Success:
			return err
		case p == nil || size == 0:
			return InvalidValue
		}
		if err := r.uncaptured(s, "cudaMallocAsync"); err != Success {
			return err
		}
		name := fmt.Sprintf("cudaMallocAsync(%d)", size)
		a, e := r.mem.Alloc(size, name)
		if e != nil { // completed work may free more
			if err := r.finish(); err != Success {
				return err
			}
			if a, e = r.mem.Alloc(size, name); e != nil {
				return MemoryAllocation
			}
		}
		p.used += size
		p.high = max(p.high, p.used)
		r.pooled[a] = pooled{pool: p, size: size}
		addr = a
		return Success
	})
	return addr, err
}

// uncaptured returns an error if a stream is captured, because memory nodes are not
// supported.
func (r *Runtime) uncaptured(s *stream, name string) Error {
	c, err := r.captured(s)
	if c != nil {
		c.spoil()
		r.once("memory nodes", "%s in a captured stream: memory nodes of graphs are not supported", name)
		return NotSupported
	}
	return err
}

// FreeAsync releases device memory when all work in a stream so far has completed.
func (t *Thread) FreeAsync(addr, stream uint64) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(stream)
		if err != Success {
			return err
		}
		if err := r.uncaptured(s, "cudaFreeAsync"); err != Success {
			return err
		}
		a, ok := r.mem.Find(addr)
		if !ok || a.Addr != addr || a.Freed || a.Reserved() || !onDevice(addr) || r.isVariable(addr) || r.pooled[addr].freed {
			return InvalidValue
		}
		if r.chip == nil {
			r.unpool(addr)
			return r.freed(addr)
		}
		p := r.pooled[addr]
		p.freed = true
		r.pooled[addr] = p
		return r.give(s, &gpu.Op{Kind: gpu.OpCopy, Copy: func() error {
			r.unpool(addr)
			if err := r.freed(addr); err != Success {
				return err
			}
			return nil
		}}, nil)
	})
}

// freed releases existing device memory.
func (r *Runtime) freed(addr uint64) Error {
	if r.mem.Free(addr) != nil {
		return InvalidValue
	}
	return Success
}

// unpool subtracts memory from its pool's count.
func (r *Runtime) unpool(addr uint64) {
	if p := r.pooled[addr]; p.pool != nil {
		p.pool.used -= p.size
	}
	delete(r.pooled, addr)
}
