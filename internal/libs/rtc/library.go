package rtc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// Header is a header in memory.
type Header struct {
	Name string // by which sources include it
	Text string
}

// Library holds the programs of a process. Its methods may be called from several
// goroutines at once, and programs compile concurrently.
type Library struct {
	log      io.Writer
	kit      func() (sdk.SDK, error)
	archs    func() ([]int, error)
	mu       sync.Mutex
	programs map[uint64]*program
	made     uint64
	said     map[string]bool
}

// New returns a library that writes warnings to log, each once.
func New(log io.Writer) *Library {
	l := &Library{log: log, programs: map[uint64]*program{}, said: map[string]bool{}}
	l.kit = sync.OnceValues(func() (sdk.SDK, error) {
		clang, err := sdk.FindClang(context.Background())
		if err != nil {
			return sdk.SDK{}, err
		}
		return sdk.Unpack(context.Background(), clang, "")
	})
	l.archs = sync.OnceValues(func() ([]int, error) {
		kit, err := l.kit()
		if err != nil {
			return nil, err
		}
		list, err := kit.Clang.Architectures(context.Background())
		return slices.DeleteFunc(list, func(n int) bool { return n < oldestArch }), err
	})
	return l
}

// program is a program of NVRTC: a source and what its last compilation left.
type program struct {
	mu          sync.Mutex
	name        string
	source      string
	headers     []Header
	expressions []string
	compiled    bool // a compilation was tried
	output
}

// output is what a compilation leaves.
type output struct {
	arch    string // sm_XX
	machine bool   // machine code was requested
	ptx     []byte // nil if it failed
	lowered map[string]string
	log     string
}

// handleStep keeps handles apart from small numbers, so that nonsense is recognised.
const handleStep = 0x10

// defaultName is NVRTC's name for programs without one.
const defaultName = "default_program"

// Create makes a program of a source; name, which may be empty, is its file in messages.
func (l *Library) Create(name, source string, headers []Header) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	h := l.made * handleStep
	l.programs[h] = &program{name: cmp.Or(name, defaultName), source: source, headers: slices.Clone(headers)}
	return h
}

// Destroy ends a program.
func (l *Library) Destroy(h uint64) Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.programs[h] == nil {
		return InvalidProgram
	}
	delete(l.programs, h)
	return Success
}

// in runs a call on a program.
func (l *Library) in(h uint64, f func(p *program) Result) Result {
	l.mu.Lock()
	p := l.programs[h]
	l.mu.Unlock()
	if p == nil {
		return InvalidProgram
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(p)
}

// once warns, once for each text.
func (l *Library) once(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.said[text] {
		l.said[text] = true
		fmt.Fprintf(l.log, "heddle: %s\n", text)
	}
}

// Compile compiles a program as NVRTC of a release of CUDA does (12090 is 12.9). Why it
// failed is in the program's log.
func (l *Library) Compile(ctx context.Context, h uint64, release int, options []string) Result {
	return l.in(h, func(p *program) Result {
		p.compiled, p.output = true, output{}
		s, err := parse(options)
		if err != nil {
			p.log = fmt.Sprintf("nvrtc: error: %v\n", err)
			return InvalidOption
		}
		kit, err := l.kit()
		if err != nil {
			p.log = fmt.Sprintf("nvrtc: error: %v\n", err)
			l.once(fmt.Sprintf("NVRTC cannot compile: %v", err))
			return BuiltinOperationFailure
		}
		s.release = release
		p.arch, p.machine = s.arch, s.machine
		return p.compile(ctx, kit, s)
	})
}

// AddName adds a name expression: Compile instantiates it and LoweredName returns its
// name in the PTX.
func (l *Library) AddName(h uint64, expression string) Result {
	return l.in(h, func(p *program) Result {
		if p.compiled {
			return NoNameExpressionsAfterCompiling
		}
		if !slices.Contains(p.expressions, expression) {
			p.expressions = append(p.expressions, expression)
		}
		return Success
	})
}

// LoweredName returns the name of a name expression in the PTX.
func (l *Library) LoweredName(h uint64, expression string) (name string, res Result) {
	res = l.in(h, func(p *program) Result {
		if p.ptx == nil {
			return NoLoweredNamesBeforeCompilation
		}
		var ok bool
		if name, ok = p.lowered[expression]; !ok {
			return NameExpressionNotValid
		}
		return Success
	})
	return name, res
}

// PTX returns the PTX of a compiled program.
func (l *Library) PTX(h uint64) (text []byte, res Result) {
	res = l.in(h, func(p *program) Result {
		if p.ptx == nil {
			return InvalidProgram
		}
		text = p.ptx
		return Success
	})
	return text, res
}

// CUBIN returns what takes the place of machine code: a fat binary with the PTX, which the
// driver loads and links like a cubin. It is empty if the program was compiled for a
// virtual architecture.
func (l *Library) CUBIN(h uint64) (image []byte, res Result) {
	res = l.in(h, func(p *program) Result {
		if p.ptx == nil {
			return InvalidProgram
		}
		if !p.machine {
			return Success
		}
		l.once("NVRTC generates no machine code: nvrtcGetCUBIN returns a fat binary with PTX, which the driver loads")
		var err error
		if image, err = sdk.FatBinary([]sdk.Image{{Arch: p.arch, PTX: p.ptx}}); err != nil {
			return InternalError
		}
		return Success
	})
	return image, res
}

// Log returns the messages of the last compilation.
func (l *Library) Log(h uint64) (text string, res Result) {
	res = l.in(h, func(p *program) Result { text = p.log; return Success })
	return text, res
}

// Known returns InvalidProgram unless there is a program of this handle.
func (l *Library) Known(h uint64) Result {
	return l.in(h, func(*program) Result { return Success })
}

// Unsupported handles a call of a missing function on a program. It warns once for each
// name.
func (l *Library) Unsupported(h uint64, name string) Result {
	return l.in(h, func(*program) Result {
		l.once(name + " is not supported; it returns " + InvalidProgram.String())
		return InvalidProgram
	})
}

// oldestArch is the oldest architecture that NVRTC of CUDA 12 supports.
const oldestArch = 50

// Architectures returns the numbers of the supported architectures: those that clang
// knows.
func (l *Library) Architectures() ([]int, Result) {
	list, err := l.archs()
	if err != nil {
		l.once(fmt.Sprintf("NVRTC cannot compile: %v", err))
		return nil, BuiltinOperationFailure
	}
	return list, Success
}
