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
	on         *Runtime
	handle     uint64
	guests     [MaxDevices]bool // other devices that may access its memory
	reuse      [3]uint64        // by PoolReuse…; without effect
	threshold  uint64
	used, high uint64 // bytes in use, and the peak since the last reset
}

// pooled is memory of a pool.
type pooled struct {
	pool  *pool
	size  uint64
	freed bool // in stream order, perhaps not executed yet
}

// DefaultPool returns the pool that MallocAsync uses by default on a device.
func (t *Thread) DefaultPool(number int) (h uint64, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		h = d.makePools().defaultPool
		return Success
	})
	return h, err
}

// makePools makes the device's default pool, unless it is there.
func (r *Runtime) makePools() *Runtime {
	if r.defaultPool == 0 {
		r.defaultPool = r.newPool()
		r.currentPool = r.defaultPool
	}
	return r
}

func (r *Runtime) newPool() uint64 {
	h := r.handle()
	p := &pool{on: r, handle: h, reuse: [3]uint64{1, 1, 1}}
	r.pools[h] = p
	r.poolChanged(p.detail(PoolCreated))
	return h
}

// detail describes a pool for profilers; there may be none.
func (p *pool) detail(o PoolOperation) PoolDetail {
	if p == nil {
		return PoolDetail{}
	}
	return PoolDetail{Operation: o, Handle: p.handle, Threshold: p.threshold, Used: p.used}
}

// PoolCreate makes a pool of a device.
func (t *Thread) PoolCreate(number int) (h uint64, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		h = d.newPool()
		return Success
	})
	return h, err
}

// PoolDestroy destroys a pool. Its memory stays until it is freed.
func (t *Thread) PoolDestroy(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		p := r.pools[h]
		if p == nil || h == p.on.defaultPool {
			return InvalidValue
		}
		if p.on.currentPool == h {
			p.on.currentPool = p.on.defaultPool
		}
		delete(r.pools, h)
		p.on.poolChanged(p.detail(PoolDestroyed))
		return Success
	})
}

// CurrentPool returns the pool that MallocAsync uses on a device.
func (t *Thread) CurrentPool(number int) (h uint64, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		h = d.makePools().currentPool
		return Success
	})
	return h, err
}

// SetCurrentPool sets the pool that MallocAsync uses on a device.
func (t *Thread) SetCurrentPool(number int, h uint64) Error {
	return t.on(number, func(d *Runtime) Error {
		if p := d.makePools().pools[h]; p == nil || p.on != d {
			return InvalidValue
		}
		d.currentPool = h
		return Success
	})
}

// Flags of access to a pool's memory (cudaMemAccessFlags).
const (
	poolClosed    = 0
	poolReadable  = 1
	poolWriteable = 3
)

// SetPoolAccess lets kernels of a device access the memory of a pool, or not. A device can
// always access that of its own pools.
func (t *Thread) SetPoolAccess(h uint64, number int, flags int32) Error {
	return t.do(func(r *Runtime) Error {
		p := r.pools[h]
		d, err := r.numbered(number)
		switch {
		case p == nil, flags != poolClosed && flags != poolReadable && flags != poolWriteable:
			return InvalidValue
		case err != Success:
			return err
		case p.on == d && flags == poolClosed:
			return InvalidValue
		case p.on == d:
			return Success
		case flags == poolReadable:
			r.once("read-only pools", "cudaMemPoolSetAccess: memory that another device may only read is not supported")
			return NotSupported
		}
		r.meet()
		p.guests[number] = flags == poolWriteable
		for addr, x := range r.pooled {
			if x.pool == p {
				p.on.mem.Grant(addr, number, p.guests[number])
			}
		}
		return Success
	})
}

// PoolAccess returns the access of a device to the memory of a pool.
func (t *Thread) PoolAccess(h uint64, number int) (flags int32, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		p := d.pools[h]
		switch {
		case p == nil:
			return InvalidValue
		case p.on == d || p.guests[number]:
			flags = poolWriteable
		}
		return Success
	})
	return flags, err
}

// PoolTrim releases a pool's reserve but for some bytes; it is always empty.
func (t *Thread) PoolTrim(h, keep uint64) Error {
	return t.do(func(r *Runtime) Error {
		p := r.pools[h]
		if p == nil {
			return InvalidValue
		}
		d := p.detail(PoolTrimmed)
		d.Keep = keep
		p.on.poolChanged(d)
		return Success
	})
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

// MallocAsync allocates device memory from a pool (0: the current one of the stream's
// device) for work that is enqueued in a stream after this call.
func (t *Thread) MallocAsync(size, h, stream uint64) (addr uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		s, err := r.stream(stream)
		if err != Success {
			return err
		}
		if h == 0 {
			h = s.on.makePools().currentPool
		}
		p := r.pools[h]
		if p == nil || size == 0 {
			return InvalidValue
		}
		r = p.on
		if err := r.begin(); err != Success {
			return err
		}
		if c, err := r.captured(s); err != Success || c != nil {
			if err != Success {
				return err
			}
			var guests []int
			for n, is := range p.guests {
				if is {
					guests = append(guests, n)
				}
			}
			m, err := r.newGraphMemory(size, guests)
			if err == Success {
				err = c.graph.may(&allocWork{m})
			}
			if err == Success {
				c.add(s, &allocWork{m})
				addr = m.addr
			}
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
		for _, d := range r.devices {
			if d != r {
				r.mem.Grant(a, d.number, p.guests[d.number])
			}
		}
		addr = a
		r.allocated(s, MemoryDetail{Addr: a, Bytes: size, Kind: DeviceKind, Async: true, Pool: p.detail(0)})
		return Success
	})
	return addr, err
}

// FreeAsync releases device memory when all work in a stream so far has completed.
func (t *Thread) FreeAsync(addr, stream uint64) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(stream)
		if err != Success {
			return err
		}
		c, err := r.captured(s)
		if err != Success {
			return err
		}
		m := r.graphMemory[addr]
		switch {
		case c != nil:
			w, err := FreeNode(addr)(r)
			if err == Success {
				err = c.graph.may(w)
			}
			if err == Success {
				c.add(s, w)
			}
			return err
		case m != nil:
			return m.release(s)
		}
		d, err := r.holder(addr)
		if err != Success {
			r.tellBadFree("cudaFreeAsync", addr, err)
			return err
		}
		a, ok := d.mem.Find(addr)
		if !ok || a.Addr != addr || a.Freed || a.Reserved() || d.isVariable(addr) || r.pooled[addr].freed {
			r.tellBadFree("cudaFreeAsync", addr, InvalidValue)
			return InvalidValue
		}
		d.allocated(s, MemoryDetail{Free: true, Addr: addr, Bytes: a.Size, Kind: DeviceKind, Async: true, Pool: r.pooled[addr].pool.detail(0)})
		if r.chip == nil {
			r.unpool(addr)
			return d.freed(addr)
		}
		p := r.pooled[addr]
		p.freed = true
		r.pooled[addr] = p
		return s.on.give(s, nil, &gpu.Op{Kind: gpu.OpCopy, Copy: func() error {
			r.unpool(addr)
			if err := d.freed(addr); err != Success {
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
