package cuda

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/program"
)

// This file: kernels that come with Heddle, for the libraries that programs link. They
// are modules like the program's own, loaded when one of their kernels is first launched.

// Kernels is the device code of a library.
type Kernels struct {
	Name  string                 // that of the module in messages and reports
	Image func() ([]byte, error) // the fat binary, called once
}

// ownKernel names a kernel of a library.
type ownKernel struct {
	of   *Kernels
	name string
}

// LaunchOwn runs a kernel of a library, or enqueues it in a stream. Its arguments are
// values of fixed size with the sizes of the kernel's parameters: numbers, or structs
// without padding, of them.
func (t *Thread) LaunchOwn(of *Kernels, name string, c Call, args ...any) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(c.Stream)
		if err == Success && s.on != r {
			err = InvalidHandle
		}
		if err != Success {
			return err
		}
		host, err := r.own(of, name)
		if err != Success {
			return err
		}
		f, err := r.function(host)
		if err != Success {
			return err
		}
		if n := len(f.kernel.Params()); n != len(args) {
			panic(fmt.Sprintf("%s has %d parameters, not %d", name, n, len(args)))
		}
		w, err := r.prepareLaunch(host, c, false, func(n, _ int, to []byte) {
			if binary.Size(args[n]) != len(to) {
				panic(fmt.Sprintf("%s: argument %d of %d bytes does not fit %v", name, n, len(to), args))
			}
			_, _ = binary.Encode(to, binary.LittleEndian, args[n]) // the size was compared
		})
		if err != Success {
			return err
		}
		return r.submit(s, w)
	})
}

// own returns the handle of a library's kernel.
func (r *Runtime) own(of *Kernels, name string) (uint64, Error) {
	if of == nil || of.Image == nil {
		return 0, InvalidDeviceFunction
	}
	key := ownKernel{of, name}
	if h, ok := r.ownKernels[key]; ok {
		return h, Success
	}
	i := slices.IndexFunc(r.modules, func(m *module) bool { return m.of == of })
	if i < 0 {
		image, err := of.Image()
		m := &module{name: r.moduleName(of.Name), of: of}
		m.parts = []program.Source{{Name: m.name, Text: image}}
		if err != nil {
			r.say("%s: %v", of.Name, err)
			m.err = InvalidKernelImage
		}
		r.modules = append(r.modules, m)
		i = len(r.modules) - 1
	}
	h := r.handle()
	r.kernels[h] = &function{module: r.modules[i], name: name, shared: r.props.SharedPerBlockOptIn}
	r.ownKernels[key] = h
	return h, Success
}

// Place allocates device memory with contents of a library. Messages call it by a name.
func (t *Thread) Place(name string, contents []byte) (addr uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if err := r.unsafe(); err != Success || len(contents) == 0 {
			return err
		}
		a, e := r.mem.Alloc(uint64(len(contents)), name)
		if e != nil {
			return MemoryAllocation
		}
		if e := r.mem.Write(a, contents); e != nil {
			return MemoryAllocation
		}
		addr = a
		return Success
	})
	return addr, err
}

// Fetch waits for a stream's work, and reads device memory for a library.
func (t *Thread) Fetch(addr uint64, to []byte, stream uint64) Error {
	if err := t.StreamSynchronize(stream); err != Success {
		return err
	}
	return t.do(func(r *Runtime) Error {
		from, err := r.bytes(addr, uint64(len(to)), false)
		copy(to, from)
		return err
	})
}
