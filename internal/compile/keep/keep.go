// Package keep keeps what the compiler has made of large modules of PTX in the user's cache: the same text,
// compiled for the same machine by the same build of the compiler, is read back instead of compiled again.
package keep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/work/cuda/cache"
)

const (
	kind = "code"   // of the folders
	file = "module" // in a folder
	// Off is the environment variable that turns the cache off.
	Off = "HEDDLE_NO_CODE_CACHE"
)

// least is the size of a text from which on its code is kept, in bytes: to know the build of the compiler
// takes as long as to compile some thousand instructions (our choice).
const least = 64 << 10

// Module is compile.Module, or what it gave before.
func Module(m *ptx.Module, o compile.Options) (*compile.Result, error) {
	if os.Getenv(Off) != "" || o.Dump != nil || o.Verify || o.Count || o.Sources || size(m) < least {
		return compile.Module(m, o)
	}
	root, err := cache.Root()
	if err != nil {
		return compile.Module(m, o)
	}
	build, err := compiler()
	if err != nil {
		return compile.Module(m, o)
	}
	return module(root, build, m, o)
}

// size is the size of a module's text in bytes.
func size(m *ptx.Module) int {
	n := 0
	for _, l := range m.Lines {
		n += len(l) + 1
	}
	return n
}

// key is equal for equal texts, machines and builds of the compiler.
func key(build string, m *ptx.Module, o *compile.Options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d %d %d\n", build, o.Arch, o.MaxRegisters, o.Less)
	if o.Contract != nil {
		fmt.Fprintf(h, "%#v\n", *o.Contract)
	}
	fmt.Fprintln(h, len(m.Lines))
	for _, l := range m.Lines {
		fmt.Fprintln(h, l)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// module is Module in a cache. What is damaged there is made anew.
func module(root, build string, m *ptx.Module, o compile.Options) (*compile.Result, error) {
	k := key(build, m, &o)
	for range 2 {
		var out *compile.Result
		var failed error
		dir, err := cache.Folder(context.Background(), root, kind, k, func(dir string) error {
			if out, failed = compile.Module(m, o); failed != nil {
				return failed
			}
			return write(filepath.Join(dir, file), out)
		})
		switch {
		case failed != nil || out != nil: // if it cannot be kept, it is there all the same
			return out, failed
		case err != nil:
			return compile.Module(m, o)
		}
		if out, err := read(filepath.Join(dir, file), m); err == nil {
			return out, nil
		}
		_ = os.RemoveAll(dir)
	}
	return compile.Module(m, o)
}

// entry is what is kept of a module. The name of the file is not: equal texts may have several.
type entry struct {
	Arch      sass.Arch
	Kernels   []kernel
	Refused   []compile.Refusal
	Info      []compile.Info
	Data      []sass.Data
	Banks     [sass.ConstBanks][]byte
	Variables []sass.Variable
	Addresses []sass.Address
	Pointers  bool
}

type kernel struct {
	Name                          string
	Regs, Shared, Local, Barriers int
	MaxThreads, Block             [3]uint32
	Params                        []sass.Param
	Labels                        []sass.Label
	Weak                          bool
	Code                          []byte
	Lines                         []int32 // of the PTX, by instruction
}

// write keeps a module, after the digest of what is kept.
func write(path string, r *compile.Result) error {
	f := r.File
	e := entry{Arch: f.Arch, Info: r.Info, Data: f.Data, Banks: f.Banks, Variables: f.Variables, Addresses: f.Addresses, Pointers: r.Pointers}
	for _, x := range r.Refused {
		plain := *x
		plain.File = ""
		e.Refused = append(e.Refused, plain)
	}
	for _, k := range f.Kernels {
		x := kernel{Name: k.Name, Regs: k.Regs, Shared: k.Shared, Local: k.Local, Barriers: k.Barriers, MaxThreads: k.MaxThreads, Block: k.Block, Params: k.Params, Labels: k.Labels, Weak: k.Weak}
		for i := range k.Code {
			for _, w := range k.Code[i].Words {
				x.Code = binary.LittleEndian.AppendUint64(x.Code, w)
			}
			_, line := k.Source(i)
			x.Lines = append(x.Lines, int32(line))
		}
		e.Kernels = append(e.Kernels, x)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&e); err != nil {
		return err
	}
	digest := sha256.Sum256(b.Bytes())
	return os.WriteFile(path, append(digest[:], b.Bytes()...), 0o666)
}

// read is what was kept of a module.
func read(path string, m *ptx.Module) (*compile.Result, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < sha256.Size || sha256.Sum256(b[sha256.Size:]) != [sha256.Size]byte(b[:sha256.Size]) {
		return nil, fmt.Errorf("%s is damaged", path)
	}
	var e entry
	if err := gob.NewDecoder(bytes.NewReader(b[sha256.Size:])).Decode(&e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &compile.Result{Info: e.Info, Pointers: e.Pointers, File: &sass.File{Name: m.File, Arch: e.Arch, Data: e.Data, Banks: e.Banks, Variables: e.Variables, Addresses: e.Addresses}}
	for i := range e.Refused {
		x := &e.Refused[i]
		x.File = m.File
		r.Refused = append(r.Refused, x)
	}
	for i := range e.Kernels {
		x := &e.Kernels[i]
		k := &sass.Kernel{Name: x.Name, Arch: e.Arch, Regs: x.Regs, Shared: x.Shared, Local: x.Local, Barriers: x.Barriers, MaxThreads: x.MaxThreads, Block: x.Block, Params: x.Params, Labels: x.Labels, Weak: x.Weak}
		if err := k.SetCode(x.Code); err != nil || len(x.Lines) != len(k.Code) {
			return nil, fmt.Errorf("%s: %v", path, err)
		}
		compile.SetLines(k, m.File, x.Lines)
		r.File.Kernels = append(r.File.Kernels, k)
	}
	return r, nil
}
