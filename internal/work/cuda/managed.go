package cuda

import (
	"encoding/binary"
	"fmt"
)

// This file: variables that host and device share (__managed__), and advice about managed
// memory.

// managed is such a variable. Compilers implement them in two ways. NVIDIA's keeps a
// pointer in the program, which the runtime sets to shared memory. Clang has no managed
// variables: with this project's headers it is a host variable, which the device accesses
// at the host's address.
type managed struct {
	variable
	host    uint64 // address of the variable, or of the pointer to it
	pointer bool
}

// span is a range of addresses.
type span struct{ from, to uint64 }

// ManagedSpan adds an address range of the program's managed variables that are
// registered like ordinary ones.
func (r *Runtime) ManagedSpan(from, to uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.managed = append(r.managed, span{from, to})
}

// isManaged reports whether the variable at an address of the host is managed.
func (r *Runtime) isManaged(host uint64) bool {
	for _, s := range r.managed {
		if host >= s.from && host < s.to {
			return true
		}
	}
	return false
}

// RegisterManaged registers a host pointer that receives the address of a managed
// variable.
func (r *Runtime) RegisterManaged(handle, pointer uint64, name string, size uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.module(handle); m != nil {
		m.managed = append(m.managed, &managed{variable: variable{module: m, name: name, size: size}, host: pointer, pointer: true})
	}
}

// InitManaged initialises the managed variables of a module, so that the host may use
// them before it calls the runtime. It reports whether it could.
func (r *Runtime) InitManaged(handle uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.module(handle)
	if m == nil || len(m.managed) == 0 {
		return m != nil
	}
	return r.begin() == Success && r.load(m) == Success
}

// placeManaged returns the addresses of a module's managed variables by name: those that
// were registered, and others that the PTX marks as managed.
func (r *Runtime) placeManaged(m *module) (map[string]uint64, error) {
	if len(m.shares) > 0 { // on another device
		return m.at, nil
	}
	at := map[string]uint64{}
	m.at = at
	for _, v := range m.managed {
		addr, err := r.placeVariable(v)
		if err != Success {
			return nil, fmt.Errorf("__managed__ variable %s of %d bytes: its address %#x in the program is in use on the device; link the program with heddle cc", v.name, v.size, v.host)
		}
		at[v.name] = addr
		m.shares = append(m.shares, addr)
		r.vars[addr] = &v.variable // &v on the host is its device address too
	}
	for _, v := range m.prog.Managed() {
		if _, ok := at[v.Name]; ok {
			continue
		}
		addr, err := r.share(v.Size, &sharing{managed: true, static: true}, "__managed__ "+v.Name)
		if err != Success {
			return nil, fmt.Errorf("out of memory for %s, a managed variable of %d bytes", v.Name, v.Size)
		}
		at[v.Name] = addr
		m.shares = append(m.shares, addr)
	}
	return at, nil
}

func (r *Runtime) placeVariable(v *managed) (uint64, Error) {
	s := &sharing{managed: true, static: true}
	if v.pointer {
		addr, err := r.share(v.size, s, "__managed__ "+v.name)
		if err == Success {
			binary.LittleEndian.PutUint64(r.opt.Host.Bytes(v.host, 8), addr)
		}
		return addr, err
	}
	s.size = v.size
	if !r.adopt(v.host, s, r.opt.Host.Bytes(v.host, v.size), "__managed__ "+v.name) {
		return 0, MemoryAllocation
	}
	return v.host, Success
}

// HostDevice is the host in place of a device's number (cudaCpuDeviceId).
const HostDevice = -1

// Kinds of advice (cudaMemoryAdvise). Those without a name here do not say a location.
const (
	advicePreferred   = 3
	adviceAccessed    = 5
	adviceNotAccessed = 6 // the last
)

// managedRange checks a range of managed memory, which may extend to the end of its last
// page, and a location: a device or the host.
func (r *Runtime) managedRange(addr, n uint64, location int) Error {
	if location != HostDevice {
		if _, err := r.numbered(location); err != Success {
			return err
		}
	}
	s := r.sharedAt(addr)
	if s == nil || !s.managed || n == 0 {
		return InvalidValue
	}
	a, _ := r.mem.Find(addr)
	if end := (a.Addr + a.Size + pageBytes - 1) &^ (pageBytes - 1); n > end-addr {
		return InvalidValue
	}
	return Success
}

// Advise checks advice about managed memory, which has no effect: it is the host's, and does
// not migrate.
func (t *Thread) Advise(addr, n uint64, advice int32, location int) Error {
	return t.do(func(r *Runtime) Error {
		if advice < 1 || advice > adviceNotAccessed {
			return InvalidValue
		}
		if advice != advicePreferred && advice < adviceAccessed {
			location = HostDevice
		}
		return r.managedRange(addr, n, location)
	})
}

// Prefetch checks a prefetch of managed memory in a stream, which has no effect.
func (t *Thread) Prefetch(addr, n uint64, location int, h uint64) Error {
	return t.ofStream(h, func(r *Runtime, _ *stream) Error { return r.managedRange(addr, n, location) })
}

// Flags of Attach (cudaMemAttachGlobal and so on).
const (
	attachGlobal = 1
	attachHost   = 2
	attachSingle = 4
)

// Attach checks that a stream may have managed memory, all of it: n is its size or 0. It has
// no effect, as every stream may use it at any time.
func (t *Thread) Attach(h, addr, n uint64, flags uint32) Error {
	return t.ofStream(h, func(r *Runtime, s *stream) Error {
		if flags != attachGlobal && flags != attachHost && (flags != attachSingle || s.id == streamDefault) {
			return InvalidValue
		}
		m := r.shared[addr]
		if m == nil || !m.managed || n != 0 && n != m.size {
			return InvalidValue
		}
		return Success
	})
}
