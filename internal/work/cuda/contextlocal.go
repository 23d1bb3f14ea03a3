package cuda

import (
	"maps"
	"slices"
)

// This file: what the runtime that a program contains keeps with each context.

// local is a value that belongs to a context.
type local struct {
	value uint64
	gone  func() // called when the context ends
}

// of runs a call about a context; 0 is the current one.
func (d Driver) of(context uint64, f func(c *driverContext) Result) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		c, res := r.here(t)
		if context != 0 {
			c, res = r.known(context)
		}
		if res != ResultSuccess {
			return res
		}
		return f(c)
	})
}

// SetLocal keeps a value under a key with a context, the current one if it is 0. When the context ends or is reset,
// gone is called, if it is not nil.
func (d Driver) SetLocal(context, key, value uint64, gone func()) Result {
	return d.of(context, func(c *driverContext) Result {
		if c.locals == nil {
			c.locals = map[uint64]local{}
		}
		c.locals[key] = local{value, gone}
		return ResultSuccess
	})
}

// Local returns the value that a context has under a key.
func (d Driver) Local(context, key uint64) (value uint64, res Result) {
	res = d.of(context, func(c *driverContext) Result {
		l, ok := c.locals[key]
		if !ok {
			return ResultInvalidHandle
		}
		value = l.value
		return ResultSuccess
	})
	return value, res
}

// DeleteLocal forgets the value that a context has under a key, without a call of its function.
func (d Driver) DeleteLocal(context, key uint64) Result {
	return d.of(context, func(c *driverContext) Result {
		if _, ok := c.locals[key]; !ok {
			return ResultInvalidHandle
		}
		delete(c.locals, key)
		return ResultSuccess
	})
}

// leave tells those who keep values with a context that it ends, the smallest key first.
func (d Driver) leave(h uint64) {
	var list map[uint64]local
	d.locked(func(r *Runtime, t *Thread) Result {
		c := r.ctx.list[h]
		list, c.locals = c.locals, nil
		return ResultSuccess
	})
	for _, key := range slices.Sorted(maps.Keys(list)) {
		if gone := list[key].gone; gone != nil {
			gone()
		}
	}
}
