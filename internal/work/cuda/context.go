package cuda

import "slices"

// Contexts belong to the driver API. Those of a device share its memory. A thread needs a
// current context for its calls, and a context owns the objects that the driver makes
// while it is current. The runtime uses the thread's current context, and makes the
// primary one of its device current if there is none.

// contexts are the contexts of a Runtime.
type contexts struct {
	ready   bool // after Init, or a call of the runtime
	list    map[uint64]*driverContext
	primary [MaxDevices]uint64 // by device, 0 until first used
	made    uint64             // so far, for their ids
}

// driverContext is a context of the driver.
type driverContext struct {
	on     *Runtime
	id     uint64
	flags  uint32
	active bool // false for a primary context that is not retained or used
	ending bool // a thread destroys it
	uses   int  // times retained and not released, or attached
	owned  map[Thing]struct{}
	locals map[uint64]local
}

// Kind of a Thing.
type ThingKind int

// The kinds of things that end with their context.
const (
	OwnedMemory ThingKind = iota
	OwnedHostMemory
	OwnedStream
	OwnedEvent
	OwnedArray
	OwnedModule
)

// Thing is an object that ends with the context in which it was made.
type Thing struct {
	Kind   ThingKind
	Handle uint64 // or address
}

// newContext makes a context.
func (r *Runtime) newContext(flags uint32) uint64 {
	c := &r.ctx
	c.made++
	h := r.handle()
	c.list[h] = &driverContext{on: r, id: c.made, flags: flags, owned: map[Thing]struct{}{}}
	r.recordContext(c.list[h])
	return h
}

// cleared notes that a reset has freed what contexts of a device owned. A primary context
// that is not retained becomes inactive until its next use.
func (c *contexts) cleared(r *Runtime) {
	for h, x := range c.list {
		if x.on == r {
			clear(x.owned)
			x.active = x.active && (h != c.primary[r.number] || x.uses > 0)
		}
	}
}

// enter makes the primary context current to a thread without one, for a call of the
// runtime.
func (r *Runtime) enter(t *Thread) {
	r.ctx.ready = true
	if len(t.contexts) == 0 {
		t.contexts = append(t.contexts, r.primary())
	}
	if top := t.contexts[len(t.contexts)-1]; top == r.ctx.primary[r.number] {
		r.ctx.list[top].active = true
	}
}

// primary returns the handle of the device's primary context.
func (r *Runtime) primary() uint64 {
	h := &r.ctx.primary[r.number]
	if *h == 0 {
		*h = r.newContext(0)
	}
	return *h
}

// locked runs a driver function with the lock held.
func (d Driver) locked(f func(r *Runtime, t *Thread) Result) Result {
	d.t.r.mu.Lock()
	defer d.t.r.mu.Unlock()
	if !d.t.r.ctx.ready {
		return ResultNotInitialized
	}
	return f(d.t.r, d.t)
}

// here returns the context that is current to a thread.
func (r *Runtime) here(t *Thread) (*driverContext, Result) {
	if len(t.contexts) == 0 {
		return nil, ResultInvalidContext
	}
	c := r.ctx.list[t.contexts[len(t.contexts)-1]]
	if c == nil || !c.active {
		return nil, ResultContextIsDestroyed
	}
	return c, ResultSuccess
}

// known returns a context by handle.
func (r *Runtime) known(h uint64) (*driverContext, Result) {
	c := r.ctx.list[h]
	if c == nil || !c.active {
		return nil, ResultInvalidContext
	}
	return c, ResultSuccess
}

// contextFlags are all flags of cuCtxCreate: four ways to wait, mapped host memory,
// persistent local memory, core dumps, synchronous memory operations.
const contextFlags = 0x07 | 0x08 | 0x10 | 0x20 | 0x40 | 0x80

// CreateContext makes a context and makes it current (cuCtxCreate).
func (d Driver) CreateContext(flags uint32, device int32) (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		on, err := r.numbered(int(device))
		switch {
		case err != Success:
			return err.Result()
		case flags&^contextFlags != 0:
			return ResultInvalidValue
		}
		h = on.newContext(flags)
		c := r.ctx.list[h]
		c.active, c.uses = true, 1
		t.contexts = append(t.contexts, h)
		t.settle()
		return ResultSuccess
	})
	return h, res
}

// DestroyContext ends a context and what it owns (cuCtxDestroy). Destroying the last one
// of a device resets the device and clears its sticky error.
func (d Driver) DestroyContext(h uint64) Result {
	res := d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.known(h)
		switch {
		case res != ResultSuccess:
			return res
		case c.ending, slices.Contains(r.ctx.primary[:], h):
			return ResultInvalidContext
		}
		c.ending = true
		return ResultSuccess
	})
	if res != ResultSuccess {
		return res
	}
	d.empty(h)
	return d.locked(func(r *Runtime, t *Thread) Result {
		delete(r.ctx.list, h)
		if n := len(t.contexts); n > 0 && t.contexts[n-1] == h {
			t.contexts = t.contexts[:n-1]
			t.settle()
		}
		return ResultSuccess
	})
}

// empty frees what a context owns; everything, if it is the only one of its device.
func (d Driver) empty(h uint64) {
	d.leave(h)
	var things []Thing
	alone := true
	d.locked(func(r *Runtime, t *Thread) Result {
		t.r = r.ctx.list[h].on
		for other, c := range r.ctx.list {
			alone = alone && (other == h || !c.active || c.on != t.r)
		}
		for x := range r.ctx.list[h].owned {
			things = append(things, x)
		}
		clear(r.ctx.list[h].owned)
		return ResultSuccess
	})
	d.Ask(func() Result {
		if alone {
			return d.t.Reset().Result()
		}
		for _, x := range things {
			switch x.Kind { // freeing an object that no longer exists has no effect
			case OwnedMemory:
				d.t.Free(x.Handle)
			case OwnedHostMemory:
				d.t.FreeHost(x.Handle)
			case OwnedStream:
				d.t.StreamDestroy(x.Handle)
			case OwnedEvent:
				d.t.EventDestroy(x.Handle)
			case OwnedArray:
				d.t.FreeArray(x.Handle)
			case OwnedModule:
				d.UnloadModule(x.Handle)
			}
		}
		return ResultSuccess
	})
	d.locked(func(_ *Runtime, t *Thread) Result {
		t.settle()
		return ResultSuccess
	})
}

// Own makes the current context the owner of an object.
func (d Driver) Own(kind ThingKind, handle uint64) {
	d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.here(t)
		if res == ResultSuccess {
			c.owned[Thing{kind, handle}] = struct{}{}
		}
		return res
	})
}

// Disown notes that an object no longer exists.
func (d Driver) Disown(kind ThingKind, handle uint64) {
	d.locked(func(r *Runtime, t *Thread) Result {
		for _, c := range r.ctx.list {
			delete(c.owned, Thing{kind, handle})
		}
		return ResultSuccess
	})
}

// Context returns the context that is current to the thread, 0 if none is.
func (d Driver) Context() (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if n := len(t.contexts); n > 0 {
			h = t.contexts[n-1]
		}
		return ResultSuccess
	})
	return h, res
}

// SetContext replaces the current context; 0 removes it (cuCtxSetCurrent). It may be a primary one that
// nobody has retained yet: NVIDIA's runtime makes it current before.
func (d Driver) SetContext(h uint64) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		if h != 0 && !slices.Contains(r.ctx.primary[:], h) {
			if _, res := r.known(h); res != ResultSuccess {
				return res
			}
		}
		if n := len(t.contexts); n > 0 {
			t.contexts = t.contexts[:n-1]
		}
		if h != 0 {
			t.contexts = append(t.contexts, h)
		}
		t.settle()
		return ResultSuccess
	})
}

// maxContexts bounds a thread's stack of contexts, our choice.
const maxContexts = 1 << 16

// PushContext makes a context current until it is popped.
func (d Driver) PushContext(h uint64) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.known(h); res != ResultSuccess {
			return res
		}
		if len(t.contexts) >= maxContexts {
			return ResultOutOfMemory
		}
		t.contexts = append(t.contexts, h)
		t.settle()
		return ResultSuccess
	})
}

// PopContext pops the thread's current context and returns it.
func (d Driver) PopContext() (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		n := len(t.contexts)
		if n == 0 {
			return ResultInvalidContext
		}
		h = t.contexts[n-1]
		t.contexts = t.contexts[:n-1]
		t.settle()
		return ResultSuccess
	})
	return h, res
}

// ContextInfo returns a context's number, from 1, and its flags; 0 is the
// current one.
func (d Driver) ContextInfo(h uint64) (id uint64, flags uint32, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.here(t)
		if h != 0 {
			c, res = r.known(h)
		}
		if res == ResultSuccess {
			id, flags = c.id, c.flags
		}
		return res
	})
	return id, flags, res
}

// AttachContext counts one more user of the current context, DetachContext one less;
// without users the context ends (cuCtxAttach, cuCtxDetach).
func (d Driver) AttachContext() (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.here(t)
		if res == ResultSuccess {
			c.uses++
			h = t.contexts[len(t.contexts)-1]
		}
		return res
	})
	return h, res
}

// DetachContext undoes AttachContext.
func (d Driver) DetachContext(h uint64) Result {
	last := false
	res := d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.here(t)
		if res != ResultSuccess {
			return res
		}
		if t.contexts[len(t.contexts)-1] != h || slices.Contains(r.ctx.primary[:], h) {
			return ResultInvalidContext
		}
		c.uses--
		last = c.uses == 0
		return ResultSuccess
	})
	if last {
		return d.DestroyContext(h)
	}
	return res
}

// RetainPrimary returns the primary context of a device, which lives until every retain has been
// released.
func (d Driver) RetainPrimary(device int32) (h uint64, res Result) {
	res = d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
		c.active = true
		c.uses++
		h = r.primary()
		return ResultSuccess
	})
	return h, res
}

// Primary returns the handle of a device's primary context, which need not be retained.
func (d Driver) Primary(device int32) (h uint64, res Result) {
	res = d.onPrimary(device, func(r *Runtime, _ *driverContext) Result {
		h = r.primary()
		return ResultSuccess
	})
	return h, res
}

func (d Driver) onPrimary(device int32, f func(r *Runtime, c *driverContext) Result) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		on, err := r.numbered(int(device))
		if err != Success {
			return err.Result()
		}
		return f(on, on.ctx.list[on.primary()])
	})
}

// ReleasePrimary undoes RetainPrimary.
func (d Driver) ReleasePrimary(device int32) Result {
	var last uint64
	res := d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
		if c.uses == 0 {
			return ResultInvalidContext
		}
		if c.uses--; c.uses == 0 {
			last = r.primary()
		}
		return ResultSuccess
	})
	if last != 0 {
		d.empty(last)
		d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
			c.active, c.flags = false, 0
			return ResultSuccess
		})
	}
	return res
}

// ResetPrimary frees all that the primary context owns; it stays retained.
func (d Driver) ResetPrimary(device int32) Result {
	var h uint64
	res := d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
		h = r.primary()
		return ResultSuccess
	})
	if res == ResultSuccess {
		d.empty(h)
		d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
			c.active = c.uses > 0
			return ResultSuccess
		})
	}
	return res
}

// PrimaryState returns the flags of the primary context and whether it is
// active.
func (d Driver) PrimaryState(device int32) (flags uint32, active bool, res Result) {
	res = d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
		flags, active = c.flags, c.active
		return ResultSuccess
	})
	return flags, active, res
}

// SetPrimaryFlags sets the flags of the primary context.
func (d Driver) SetPrimaryFlags(device int32, flags uint32) Result {
	return d.onPrimary(device, func(r *Runtime, c *driverContext) Result {
		if flags&^contextFlags != 0 {
			return ResultInvalidValue
		}
		c.flags = flags
		return ResultSuccess
	})
}

// ContextDevice returns the device of a context; 0 is the current one.
func (d Driver) ContextDevice(h uint64) (number int, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.here(t)
		if h != 0 {
			c, res = r.known(h)
		}
		if res == ResultSuccess {
			number = c.on.number
		}
		return res
	})
	return number, res
}
