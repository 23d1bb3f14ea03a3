package cuda

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/program"
)

// module is the device code of one fat binary, or of an image for the driver.
type module struct {
	name    string                       // for messages
	parts   []program.Source             // texts, such as PTX, or fat binaries with texts for several GPUs
	prog    *program.Program             // nil until loaded
	arch    int                          // the target of its PTX: ten times the compute capability
	machine [MaxDevices]*program.Machine // by device, nil until placed in its memory
	err     Error                        // the result of loading it
	gone    bool                         // unregistered
	driver  *handled                     // nil for the program's own modules
	of      *Kernels                     // nil for all but those of libraries
	managed []*managed                   // variables in registration order
	at      map[string]uint64            // addresses of these, and of other managed variables, by name
	shares  []uint64                     // the same addresses, in the order in which they were placed
}

// placed reports whether any device has the module's variables.
func (m *module) placed() bool {
	return slices.ContainsFunc(m.machine[:], func(x *program.Machine) bool { return x != nil })
}

// function is a kernel, identified by the address of its stub in the host's code.
type function struct {
	module *module
	name   string
	kernel exec.Kernel // nil until the module is loaded
	shared uint64      // the limit of dynamic shared memory, if it was raised
	prefer int
	chosen map[FunctionAttribute]int32 // attributes that were set
	shaped *shaped                     // a launch that is being prepared, or nil
}

// variable is a device variable, identified by the address of its shadow in host memory.
type variable struct {
	module *module
	name   string
	addr   [MaxDevices]uint64 // by device, once the module is placed there
	size   uint64
}

// Register registers the fat binaries of one part of the program: one, or several that
// are linked together. They are parsed at first use. It returns the module's number.
func (r *Runtime) Register(blocks ...[]byte) (handle uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &module{name: r.moduleName(r.opt.Program)}
	for i, b := range blocks {
		m.parts = append(m.parts, program.Source{Name: m.partName(i), Text: b})
		if !fatbin.Is(b) { // only the driver API accepts plain PTX
			_, err := fatbin.Parse(b)
			r.say("%s: %v", m.partName(i), err)
			m.err = InvalidKernelImage
		}
	}
	r.modules = append(r.modules, m)
	return uint64(len(r.modules))
}

// moduleName makes a unique name for a module of a file.
func (r *Runtime) moduleName(file string) string {
	name := filepath.Base(file)
	r.named[name]++
	if n := r.named[name]; n > 1 {
		name = fmt.Sprintf("%s.%d", name, n)
	}
	return name + ".ptx"
}

// partName returns the name of a part of a module in messages.
func (m *module) partName(i int) string {
	if i == 0 {
		return m.name
	}
	return fmt.Sprintf("%s-part%d.ptx", strings.TrimSuffix(m.name, ".ptx"), i+1)
}

// module returns a module by number, nil if there is none.
func (r *Runtime) module(handle uint64) *module {
	n := uint64(uint32(handle))
	if n == 0 || n > uint64(len(r.modules)) || r.modules[n-1].gone {
		return nil
	}
	return r.modules[n-1]
}

// partOf returns the part of a module that registers something, which sdk.Join stores
// above the module's number. Textures of several parts may have the same name.
func partOf(handle uint64) int { return int(handle >> 32) }

// Unregister removes a module's kernels and variables.
func (r *Runtime) Unregister(handle uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.module(handle)
	if m == nil {
		return
	}
	for _, d := range r.begun() {
		d.finish()
	}
	for host, f := range r.kernels {
		if f.module == m {
			delete(r.kernels, host)
		}
	}
	for host, v := range r.vars {
		if v.module == m {
			delete(r.vars, host)
		}
	}
	for host, x := range r.textures {
		if x.module == m {
			delete(r.textures, host)
		}
	}
	for _, addr := range m.shares {
		if s := r.shared[addr]; s != nil && s.mapped == 0 { // the others stay for code that runs when the program ends
			r.unshare(addr)
		}
	}
	*m = module{name: m.name, gone: true}
}

// RegisterFunction registers the kernel of a stub in the host's code.
func (r *Runtime) RegisterFunction(handle, host uint64, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.module(handle); m != nil {
		r.kernels[host] = &function{module: m, name: name}
	}
}

// RegisterVariable registers the device variable of a shadow in host memory.
func (r *Runtime) RegisterVariable(handle, host uint64, name string, size uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.module(handle)
	switch {
	case m == nil:
	case r.isManaged(host):
		v := &managed{variable: variable{module: m, name: name, size: size}, host: host}
		m.managed = append(m.managed, v)
		r.vars[host] = &v.variable
	default:
		r.vars[host] = &variable{module: m, name: name, size: size}
	}
}

// load prepares a module: it chooses and parses PTX, and places the variables in memory.
func (r *Runtime) load(m *module) Error {
	code, err := r.prepare(m)
	if err != nil {
		r.say("%v", err)
	}
	return code
}

// prepare is load with an error.
func (r *Runtime) prepare(m *module) (Error, error) {
	if m.err == Success && m.prog == nil {
		prog, err := r.linkCode(m)
		if err != nil {
			m.err = loadError(err)
			return m.err, detail(err)
		}
		m.prog = prog
		r.ses.Res.Programs = append(r.ses.Res.Programs, m.name)
	}
	if m.err != Success {
		return m.err, nil
	}
	if m.machine[r.number] == nil {
		at, err := r.placeManaged(m)
		if err != nil {
			return MemoryAllocation, err
		}
		elsewhere := slices.ContainsFunc(m.machine[:], func(x *program.Machine) bool { return x != nil })
		machine, err := program.NewMachineAt(m.prog, r.mem, at, elsewhere)
		if err != nil {
			return MemoryAllocation, err
		}
		m.machine[r.number] = machine
		r.ready(machine)
		for _, v := range r.vars {
			if v.module == m {
				if s, ok := machine.Symbol(v.name); ok {
					v.addr[r.number], v.size = s.Addr, s.Size
				}
			}
		}
	}
	return Success, nil
}

// loadError is what a program gets for device code that linkCode does not take.
func loadError(err error) Error {
	var no *fatbin.NoPTXError
	var none *program.NoMachineCodeError
	var mixed *program.MixedError
	var broken *program.ImageError
	var twice *program.DuplicateError // in machine code
	switch {
	case errors.As(err, &no) || errors.As(err, &none) || errors.As(err, &mixed):
		return NoKernelImage
	case errors.As(err, &broken) || errors.As(err, &twice):
		return InvalidKernelImage
	}
	return InvalidPTX
}

// ready connects a module's machine with the device.
func (r *Runtime) ready(m *program.Machine) {
	m.UseObjects(r.texels)
	m.Warn(r.warn)
	if !r.opt.Strict {
		m.TolerateStrays()
	}
}

// warn reports errors of a kernel that a GPU tolerates: accesses outside of allocations
// once per kernel, as there are often many, others once per line.
func (r *Runtime) warn(w *exec.Warning) {
	key, what := w.Line(), ""
	switch w.Kind {
	case exec.StrayRead:
		key = "stray read of " + w.Where.Kernel
		what = "\nheddle: a GPU has memory mapped this close to an allocation: the read returns what was written there, or zeros, and the program continues (--strict makes it a fault)"
	case exec.StrayWrite:
		key = "stray write of " + w.Where.Kernel
		what = "\nheddle: a GPU has memory mapped this close to an allocation, which may belong to another one: here the write damages none, and the program continues (--strict makes it a fault)"
	}
	r.once(key, "warning: %v%s", &w.Fault, what)
}

// function returns a loaded kernel.
func (r *Runtime) function(host uint64) (*function, Error) {
	f := r.kernels[host]
	if f == nil {
		return nil, InvalidDeviceFunction
	}
	if err := r.load(f.module); err != Success {
		return nil, err
	}
	if f.kernel == nil {
		if err := r.find(f); err != Success {
			return nil, err
		}
	}
	return f, Success
}

// find finds a kernel in its module, and prepares it for its first launch.
func (r *Runtime) find(f *function) Error {
	m := f.module
	k, ok := m.prog.Kernel(f.name)
	if !ok {
		r.once(f.name, "%s has no kernel %s", m.name, f.name)
		return InvalidDeviceFunction
	}
	if err := program.ParseBody(k); err != nil {
		r.once("body of "+f.name, "%v", detail(err))
		return InvalidPTX
	}
	f.kernel = k
	return Success
}

// symbol returns a variable with an address.
func (r *Runtime) symbol(host uint64) (*variable, Error) {
	v := r.vars[host]
	if v == nil {
		return nil, InvalidSymbol
	}
	if err := r.load(v.module); err != Success {
		return nil, err
	}
	if v.addr[r.number] == 0 {
		return nil, InvalidSymbol
	}
	return v, Success
}

// Symbol returns the address and size of the device variable with a shadow in host
// memory.
func (t *Thread) Symbol(host uint64) (addr, size uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		v, err := r.symbol(host)
		if err == Success {
			addr, size = v.addr[r.number], v.size
		}
		return err
	})
	return addr, size, err
}

// SymbolNamed returns the shadow of a device variable in host memory: host, if that is
// one, otherwise the shadow of the first variable with the name. It returns host if there
// is neither; name is called only if needed.
func (t *Thread) SymbolNamed(host uint64, name func() string) uint64 {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if t.r.vars[host] != nil {
		return host
	}
	want, found := name(), host
	for at, v := range t.r.vars {
		if v.name == want && (found == host || at < found) {
			found = at
		}
	}
	return found
}

// CopyToSymbol copies to a device variable.
func (t *Thread) CopyToSymbol(host, src, n, offset uint64, kind Kind, h uint64, async bool) Error {
	return t.copySymbol(host, n, offset, kind, HostToDevice, func(r *Runtime, addr uint64, c Rows) Error {
		return r.copy(addr, src, c, kind, h, async)
	})
}

// CopyFromSymbol copies from a device variable.
func (t *Thread) CopyFromSymbol(dst, host, n, offset uint64, kind Kind, h uint64, async bool) Error {
	return t.copySymbol(host, n, offset, kind, DeviceToHost, func(r *Runtime, addr uint64, c Rows) Error {
		return r.copy(dst, addr, c, kind, h, async)
	})
}

func (t *Thread) copySymbol(host, n, offset uint64, kind, other Kind, run func(*Runtime, uint64, Rows) Error) Error {
	return t.do(func(r *Runtime) Error {
		v, err := r.symbol(host)
		switch {
		case err != Success:
			return err
		case kind != other && kind != DeviceToDevice && kind != AnyWay:
			return InvalidMemcpyWay
		case offset > v.size || n > v.size-offset:
			r.tellBadSymbol(v, n, offset, other)
			return InvalidValue
		}
		return run(r, v.addr[r.number]+offset, Rows{Width: n, Height: 1, Depth: 1})
	})
}
