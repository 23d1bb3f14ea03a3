package cuda

// This file: objects of the program that graphs keep alive.

// userObject is an object with a count of references, by the program and by graphs. When
// it is 0, a function of the program destroys the object.
type userObject struct {
	data, destroy uint64
	count         uint64
}

// drop removes references, and destroys the object with the last one.
func (r *Runtime) dropUser(h uint64, n uint64) {
	o := r.users[h]
	if o == nil {
		return
	}
	if o.count -= min(n, o.count); o.count == 0 {
		delete(r.users, h)
		r.doomed = append(r.doomed, hostWork{o.destroy, o.data})
	}
}

// bury destroys the objects without references, at the end of a call. The functions must
// not call the device.
func (r *Runtime) bury(t *Thread) {
	for len(r.doomed) > 0 {
		w := r.doomed[0]
		r.doomed = r.doomed[1:]
		t.barred.Store(true)
		w.now(r, nil)
		t.barred.Store(false)
	}
}

// maxReferences is the largest count of references (CUDA runtime API, cudaUserObjectCreate).
const maxReferences = 1<<31 - 1

// UserObjectCreate makes an object with references of the program. Flags must be 1
// (cudaUserObjectNoDestructorSync).
func (t *Thread) UserObjectCreate(data, destroy, count uint64, flags uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if destroy == 0 || count == 0 || count > maxReferences || flags != 1 {
			return InvalidValue
		}
		h = r.handle()
		r.users[h] = &userObject{data, destroy, count}
		return Success
	})
	return h, err
}

// ofUser runs a call about references to an object.
func (t *Thread) ofUser(h, n uint64, f func(r *Runtime, o *userObject) Error) Error {
	return t.do(func(r *Runtime) Error {
		o := r.users[h]
		if o == nil || n == 0 || n > maxReferences {
			return InvalidValue
		}
		return f(r, o)
	})
}

// UserObjectRetain adds references of the program.
func (t *Thread) UserObjectRetain(h, n uint64) Error {
	return t.ofUser(h, n, func(r *Runtime, o *userObject) Error {
		if o.count+n > maxReferences {
			return InvalidValue
		}
		o.count += n
		return Success
	})
}

// UserObjectRelease removes references of the program.
func (t *Thread) UserObjectRelease(h, n uint64) Error {
	return t.ofUser(h, n, func(r *Runtime, o *userObject) Error {
		if n > o.count {
			return InvalidValue
		}
		r.dropUser(h, n)
		return Success
	})
}

// moveReferences is cudaGraphUserObjectMove.
const moveReferences = 1

// GraphRetain gives a graph references to an object: new ones, or those of the program.
func (t *Thread) GraphRetain(graph, h, n uint64, flags uint32) Error {
	return t.ofUser(h, n, func(r *Runtime, o *userObject) Error {
		g := r.graphs[graph]
		switch {
		case g == nil, flags > moveReferences, flags == moveReferences && n > o.count, flags == 0 && o.count+n > maxReferences:
			return InvalidValue
		case flags == 0:
			o.count += n
		}
		g.retain(h, n)
		return Success
	})
}

// retain notes a graph's references.
func (g *graph) retain(h, n uint64) {
	if g.users == nil {
		g.users = map[uint64]uint64{}
	}
	g.users[h] += n
}

// GraphRelease removes references of a graph.
func (t *Thread) GraphRelease(graph, h, n uint64) Error {
	return t.ofUser(h, n, func(r *Runtime, _ *userObject) Error {
		g := r.graphs[graph]
		if g == nil || g.users[h] < n {
			return InvalidValue
		}
		if g.users[h] -= n; g.users[h] == 0 {
			delete(g.users, h)
		}
		r.dropUser(h, n)
		return Success
	})
}
