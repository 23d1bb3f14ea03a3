package program

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestFormOf: the beginning of a text decides its form, the file name only if the beginning is
// inconclusive.
func TestFormOf(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"k.ptx", "", "PTX"},
		{"k.PTX", "garbage", "PTX"},
		{"k", ".version 7.8", "PTX"},
		{"k.txt", "// by clang\n/* of\nus */\n\t.version 7.8", "PTX"},
		{"k.txt", "\ufeff.version 7.8", "PTX"},
		{"x/k.sass", "", "SASS"},
		{"k.SASS", "", "SASS"},
		{"k", "// listing\n.arch sm_86", "SASS"},
		{"k.ptx", ".arch sm_86", "SASS"},
		{"k.sass", ".version 7.8", "PTX"},
		{"k.sass.ptx", "", "PTX"},
		{"k.cubin", "", "a cubin"},
		{"k.ptx", string(elfHeader(elf.EM_CUDA)), "a cubin"},
		{"k.ptx", string(elfHeader(elf.EM_X86_64)), "a file of the host with device code"},
		{"libk.a", "!<arch>\n", "a file of the host with device code"},
		{"k", "\x50\xed\x55\xba", "a fat binary"},
		{"k.fatbin", "", "a fat binary"},
		{"k.kasm", "mov", "a program of the Kepler-style core"},
		{"k.cu", "__global__", "CUDA C++"},
		{"sass", "", ""},
		{"k.toml", "[buffers]", ""},
		{"k", "/* never closed .version", ""},
		{"k", "// no more", ""},
	} {
		t.Run(fmt.Sprintf("%s %q", c.name, c.text), func(t *testing.T) {
			got := ""
			if f := FormOf(c.name, []byte(c.text)); f != nil {
				got = f.Name
			}
			if got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

// elfHeader is the beginning of an ELF file for a machine.
func elfHeader(m elf.Machine) []byte {
	b := append([]byte(elf.ELFMAG), make([]byte, 60)...)
	b[18], b[19] = byte(m), byte(m>>8)
	return b
}

// TestLoad: what can be linked, and the errors for what cannot.
func TestLoad(t *testing.T) {
	const other = ".arch sm_86\n.kernel other\n.regs 8\nEXIT ;\n"
	pick := func(target any) func(error) bool { return func(err error) bool { return errors.As(err, target) } }
	for _, c := range []struct {
		name    string
		sources []Source
		kernels int
		is      func(error) bool
		says    []string // that the message has, each
	}{
		{"two files of SASS", []Source{{"a.sass", []byte(sassText)}, {"b.sass", []byte(other)}}, 4, nil, nil},
		{"two files of PTX", []Source{{"a.ptx", []byte(ptxText)}, {"b.ptx", []byte(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry other() { ret; }")}}, 4, nil, nil},
		{"nothing", nil, 0, func(err error) bool { return errors.Is(err, ErrNoSource) }, []string{"no program"}},
		{"a kernel twice", []Source{{"a.sass", []byte(other)}, {"b.sass", []byte("\n\n" + other)}}, 0, pick(new(*DuplicateError)), []string{"b.sass:4: ", "a.sass"}},
		{"both languages", []Source{{"a.sass", []byte(other)}, {"b.ptx", []byte(ptxText)}}, 0, pick(new(*MixedError)), []string{"a.sass is SASS", "b.ptx is PTX"}},
		{"a cubin", []Source{{"a", elfHeader(elf.EM_CUDA)}}, 0, pick(new(*cubin.Error)), []string{"a: "}},
		{"PTX with a mistake", []Source{{"a.ptx", []byte(".version 7.8\n.target sm_80\n.nonsense\n")}}, 0, pick(new(ptx.ErrorList)), []string{"a.ptx:3"}},
		{"SASS with a mistake", []Source{{"a.sass", []byte(".arch sm_86\n.kernel k\n.regs 8\nNONSENSE ;\n")}}, 0, pick(new(sass.ErrorList)), []string{"a.sass:4"}},
		{"mistakes in two files", []Source{{"a.sass", []byte("NONSENSE")}, {"b.cu", nil}, {"c.ptx", []byte("?")}}, 0, pick(new(*FormError)), []string{"a.sass:1", "b.cu is CUDA C++", "c.ptx:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Load(c.sources...)
			if c.is == nil {
				if err != nil || len(p.Kernels()) != c.kernels {
					t.Fatalf("%v, %v", p, err)
				}
				return
			}
			if err == nil || !c.is(err) {
				t.Fatalf("the error is %T: %v", err, err)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("the message lacks %q:\n%v", s, err)
				}
			}
		})
	}
}

// TestLoadAs: a loader for one form treats nothing as another.
func TestLoadAs(t *testing.T) {
	l := Loader{As: PTX}
	var errs ptx.ErrorList
	if err := l.Add(Source{"k.sass", []byte(sassText)}); !errors.As(err, &errs) {
		t.Errorf("SASS as PTX: %v", err)
	}
}

// TestWeakKernels: of two definitions of a kernel, one that yields gives way, whichever comes first; of two
// that yield, the first counts.
func TestWeakKernels(t *testing.T) {
	const text = ".arch sm_86\n.kernel k\nEXIT ;\n"
	for _, c := range []struct {
		name          string
		first, second bool // yields
		want          string
	}{
		{"the second yields", false, true, "a.sass"}, {"the first yields", true, false, "b.sass"}, {"both yield", true, true, "a.sass"}, {"neither", false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Loader
			for _, f := range []struct {
				name string
				weak bool
			}{{"a.sass", c.first}, {"b.sass", c.second}} {
				p, err := sass.Parse(f.name, text, 0)
				if err != nil {
					t.Fatal(err)
				}
				p.Kernels[0].Weak = f.weak
				l.sass = append(l.sass, xsass.Load(p))
			}
			p, err := l.Link()
			if c.want == "" {
				var twice *DuplicateError
				if !errors.As(err, &twice) {
					t.Errorf("it links: %v", err)
				}
				return
			}
			if err != nil || len(p.Kernels()) != 1 || p.Kernels()[0].(*xsass.Kernel).File() != c.want {
				t.Errorf("%v, %v; want that of %s", p, err, c.want)
			}
		})
	}
}

// TestRequiredBlock: the block that a cubin requires is one that a launch must have, as PTX's .reqntid.
func TestRequiredBlock(t *testing.T) {
	words := assembled(t, ".arch sm_86\n.kernel k\n.regs 8\n.block 32, 2, 1\nEXIT ;\n")
	if text := textOf(t, words); !strings.Contains(text, ".block 32, 2, 1\n") {
		t.Errorf("it is not in the text\n%s", text)
	}
	const ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() .reqntid 32, 2, 1 { ret; }\n"
	var says [2]string
	for i, s := range []Source{{"k.ptx", []byte(ptx)}, {"k.cubin", words}} {
		p, err := Load(s)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMachine(p, device.New(device.Config{}))
		if err != nil {
			t.Fatal(err)
		}
		l := exec.Launch{Kernel: p.Kernels()[0], Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}}
		if _, err = m.Run(t.Context(), l, exec.Options{}); err == nil {
			t.Fatalf("%s runs in a block of another shape", s.Name)
		}
		says[i] = err.Error()
		l.Block = exec.Dim3{X: 32, Y: 2, Z: 1}
		if _, err := m.Run(t.Context(), l, exec.Options{}); err != nil {
			t.Error(err)
		}
		if n := p.Kernels()[0].MaxThreads(); n != 64 {
			t.Errorf("%s: at most %d threads", s.Name, n)
		}
	}
	if says[0] != says[1] {
		t.Errorf("%q, %q", says[0], says[1])
	}
}
