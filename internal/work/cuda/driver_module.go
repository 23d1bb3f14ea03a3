package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/program"
)

// handled is the driver's record of a module with a handle. A library is a module that
// belongs to no context: it outlives them, and its variables begin anew with the device.
type handled struct {
	handle    uint64
	library   bool
	on        *Runtime // nil for a library
	functions map[string]uint64
	textures  map[string]uint64
}

// elfMagic starts ELF files, which cubins are.
const elfMagic = "\x7fELF"

// The format that LinkComplete produces: a header with the magic and the total size, then
// for each part the sizes of name and text, and their bytes. The format is ours; programs
// only pass it on.
const (
	linkedMagic  = "HDLLINK\x01"
	linkedHeader = 16
)

// ImageMagics are the magics of modules that are not text.
var ImageMagics = append(fatbin.Magics(), elfMagic, linkedMagic)

// ImageBytes returns the size of a module in memory, of which at returns n bytes from an offset
// on: a fat binary, a result of LinkComplete, or machine code. A size of 0 means text that ends
// with a zero byte.
func ImageBytes(at func(offset, n uint64) []byte) (int, error) {
	header := at(0, linkedHeader)
	switch {
	case fatbin.Is(header):
		return fatbin.Block(header)
	case bytes.HasPrefix(header, []byte(linkedMagic)):
		n := binary.LittleEndian.Uint64(header[len(linkedMagic):])
		if n < linkedHeader || n > maxModule {
			return 0, fmt.Errorf("invalid linked module of %d bytes", n)
		}
		return int(n), nil
	case bytes.HasPrefix(header, []byte(elfMagic)):
		n, err := cubin.Extent(at)
		if err != nil { // the header is enough to refuse it
			return linkedHeader, nil
		}
		return int(n), nil
	}
	return 0, nil
}

// maxModule limits the size of a module, our choice: the largest ones of public libraries
// have tens of megabytes.
const maxModule = 1 << 30

// What links and loads refuse.
var (
	errHost   = errors.New("it is no ELF file of device code, but one of the host: the driver loads PTX, cubins, fat binaries and what cuLinkComplete returns")
	errObject = errors.New("it is neither an object nor a library of the host with device code")
	errMixed  = errors.New("PTX and machine code cannot be linked with each other: give the driver either for all files")
)

// split splits an image into its parts.
func (m *module) split(image []byte) error {
	name := m.partName(len(m.parts))
	switch form := program.FormOf("", image); {
	case len(image) == 0:
		return errors.New("the module is empty")
	case form == program.Cubin || form == program.Fatbin || form == program.Host:
		m.parts = append(m.parts, program.Source{Name: name, Text: bytes.Clone(image)})
		return nil
	case !bytes.HasPrefix(image, []byte(linkedMagic)):
		m.parts = append(m.parts, program.Source{Name: name, Text: bytes.TrimRight(bytes.Clone(image), "\x00")})
		return nil
	}
	le := binary.LittleEndian
	if len(image) < linkedHeader || le.Uint64(image[len(linkedMagic):]) != uint64(len(image)) {
		return errors.New("the linked module is truncated")
	}
	for rest := image[linkedHeader:]; len(rest) > 0; {
		var fields [2][]byte
		for i := range fields {
			if len(rest) < 8 || le.Uint64(rest) > uint64(len(rest)-8) {
				return errors.New("the linked module is truncated")
			}
			n := le.Uint64(rest)
			fields[i], rest = bytes.Clone(rest[8:8+n]), rest[8+n:]
		}
		m.parts = append(m.parts, program.Source{Name: string(fields[0]), Text: fields[1]})
	}
	if len(m.parts) == 0 {
		return errors.New("the linked module is empty")
	}
	return nil
}

// LoadModule loads device code: PTX, a fat binary, or a result of LinkComplete. The
// file's name, or "", is for messages.
func (d Driver) LoadModule(file string, images ...[]byte) (h uint64, res Result, wrong error) {
	return d.loadImages(file, false, images)
}

// LoadLibrary is LoadModule for a library.
func (d Driver) LoadLibrary(file string, images ...[]byte) (h uint64, res Result, wrong error) {
	return d.loadImages(file, true, images)
}

func (d Driver) loadImages(file string, library bool, images [][]byte) (h uint64, res Result, wrong error) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess && !library {
			return res
		}
		if err := r.begin(); err != Success {
			return err.Result()
		}
		m := &module{
			name:   r.moduleName(r.fileName(file)),
			driver: &handled{library: library, functions: map[string]uint64{}, textures: map[string]uint64{}},
		}
		for _, image := range images {
			if wrong = m.split(image); wrong == nil && program.FormOf("", image) == program.Host {
				wrong = fmt.Errorf("%s: %w", m.name, errHost)
				return ResultNoBinary
			}
			if wrong != nil {
				wrong = fmt.Errorf("%s: %w", m.name, wrong)
				return ResultInvalidImage
			}
		}
		if !library {
			m.driver.on = r
		}
		var err Error
		if err, wrong = r.prepare(m); err != Success {
			return err.Result()
		}
		h = r.handle()
		m.driver.handle = h
		r.loaded = append(r.loaded, m)
		return ResultSuccess
	})
	if res == ResultSuccess && !library {
		d.Own(OwnedModule, h)
	}
	return h, res, wrong
}

// fileName returns the name after which a module is called: its file, or the program.
func (r *Runtime) fileName(file string) string {
	if file == "" {
		return r.opt.Program
	}
	file = filepath.Base(file)
	return strings.TrimSuffix(file, filepath.Ext(file))
}

// handled returns a module of the driver.
func (r *Runtime) handled(h uint64) (*module, Result) {
	for _, m := range r.loaded {
		if m.driver.handle == h {
			return m, ResultSuccess
		}
	}
	return nil, ResultInvalidHandle
}

// drop removes a module of the driver, its kernels and its textures.
func (r *Runtime) drop(m *module) {
	for _, f := range m.driver.functions {
		delete(r.kernels, f)
	}
	for _, x := range m.driver.textures {
		delete(r.textures, x)
		delete(r.texrefs, x)
	}
	m.gone = true
}

// UnloadModule ends a module; it waits for all work.
func (d Driver) UnloadModule(h uint64) Result {
	res := d.unload(h, false)
	d.Disown(OwnedModule, h)
	return res
}

// UnloadLibrary ends a library; it waits for all work.
func (d Driver) UnloadLibrary(h uint64) Result { return d.unload(h, true) }

func (d Driver) unload(h uint64, library bool) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		m, res := r.handled(h)
		switch {
		case res != ResultSuccess:
			return res
		case m.driver.library != library:
			return ResultInvalidHandle
		}
		for _, d := range r.begun() {
			if m.machine[d.number] == nil {
				continue
			}
			if err := d.finish(); err != Success {
				return err.Result()
			}
		}
		r.loaded = slices.DeleteFunc(r.loaded, func(other *module) bool { return other == m })
		r.drop(m)
		for _, machine := range m.machine {
			if machine == nil { // the device was reset, or never used it
				continue
			}
			if err := machine.Release(); err != nil {
				return ResultUnknown
			}
		}
		for _, addr := range m.shares {
			r.unshare(addr)
		}
		return ResultSuccess
	})
}

// inModule runs a call about a module or a library, which needs no context, with the lock
// held.
func (d Driver) inModule(h uint64, f func(r *Runtime, m *module) Result) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		m, res := r.handled(h)
		if m == nil || !m.driver.library {
			if _, res := r.here(t); res != ResultSuccess {
				return res
			}
		}
		if res != ResultSuccess {
			return res
		}
		if !m.driver.library {
			r = m.driver.on
		}
		if m.machine[r.number] == nil { // a library that the device has not used since its reset
			err := r.begin()
			if err == Success {
				err = r.load(m)
			}
			if err != Success {
				return err.Result()
			}
		}
		return f(r, m)
	})
}

// Function returns the handle of a kernel. Calls of a Thread accept it in place of the
// address of a kernel's stub.
func (d Driver) Function(mod uint64, name string) (h uint64, res Result) {
	res = d.inModule(mod, func(r *Runtime, m *module) Result {
		if h = m.driver.functions[name]; h != 0 {
			return ResultSuccess
		}
		k, ok := m.prog.Kernel(name)
		if !ok {
			return ResultNotFound
		}
		h = r.handle()
		m.driver.functions[name] = h
		r.kernels[h] = &function{module: m, name: name, kernel: k}
		return ResultSuccess
	})
	return h, res
}

// Functions returns the names of a module's kernels, in the order of its text.
func (d Driver) Functions(mod uint64) (names []string, res Result) {
	res = d.inModule(mod, func(r *Runtime, m *module) Result {
		for _, k := range m.prog.Kernels() {
			names = append(names, k.Name())
		}
		return ResultSuccess
	})
	return names, res
}

// Unusable returns why kernels of a module cannot run, one reason per line, such as an
// unsupported instruction or a missing function.
func (d Driver) Unusable(mod uint64) (why string, res Result) {
	res = d.inModule(mod, func(r *Runtime, m *module) Result {
		var lines []string
		for _, k := range m.prog.Kernels() {
			for _, err := range k.Unusable() {
				lines = append(lines, fmt.Sprintf("kernel %s: %v", k.Name(), err))
			}
		}
		why = strings.Join(lines, "\n")
		return ResultSuccess
	})
	return why, res
}

// FunctionOf returns the name of a kernel and the handle of its module, 0 for the
// program's own kernels.
func (d Driver) FunctionOf(fn uint64) (name string, module uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		f := r.kernels[fn]
		if f == nil {
			return ResultInvalidHandle
		}
		name = f.name
		if f.module.driver != nil {
			module = f.module.driver.handle
		}
		return ResultSuccess
	})
	return name, module, res
}

// InLibrary runs a call about a library, which needs no context.
func (d Driver) InLibrary(h uint64, f func() Result) Result {
	res := d.locked(func(r *Runtime, t *Thread) Result {
		m, res := r.handled(h)
		if res == ResultSuccess && !m.driver.library {
			res = ResultInvalidHandle
		}
		return res
	})
	if res != ResultSuccess {
		return res
	}
	return f()
}

// Library returns the library of a kernel.
func (d Driver) Library(kernel uint64) (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		f := r.kernels[kernel]
		if f == nil || f.module.driver == nil || !f.module.driver.library {
			return ResultInvalidHandle
		}
		h = f.module.driver.handle
		return ResultSuccess
	})
	return h, res
}

// Managed is Global for managed variables only.
func (d Driver) Managed(mod uint64, name string) (addr, size uint64, res Result) {
	addr, size, res = d.Global(mod, name)
	if res == ResultSuccess {
		res = d.locked(func(r *Runtime, t *Thread) Result {
			if s := r.sharedAt(addr); s == nil || !s.managed {
				return ResultNotFound
			}
			return ResultSuccess
		})
	}
	return addr, size, res
}

// Global returns the address and size of a module's variable.
func (d Driver) Global(mod uint64, name string) (addr, size uint64, res Result) {
	res = d.inModule(mod, func(r *Runtime, m *module) Result {
		s, ok := m.machine[r.number].Symbol(name)
		if !ok {
			return ResultNotFound
		}
		addr, size = s.Addr, s.Size
		return ResultSuccess
	})
	return addr, size, res
}
