package compile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// parsed is the module of a file.
func parsed(t *testing.T, path string) *ptx.Module {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptx.Parse(path, src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// compiled is a module in which every pass is verified and every kernel compiles.
func compiled(t *testing.T, text string) *sass.File {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	r, err := compile.Module(m, compile.Options{Verify: true})
	if err != nil || len(r.Refused) > 0 {
		t.Fatal(err, r.Refused, text)
	}
	return r.File
}

// module compiles a file, and checks the form after every pass.
func module(t *testing.T, path string, registers int) *compile.Result {
	t.Helper()
	r, err := compile.Module(parsed(t, path), compile.Options{Verify: true, MaxRegisters: registers})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sources are the programs of the repository by their folders, and how many of their kernels compile
// at least.
var sources = []struct {
	name, files string
	least       int
}{
	{"examples", "../../examples/*/*.ptx", 79},
	{"conformance", "../isa/ptx/testdata/conformance/*.ptx", 113},
	{"corpus", "../isa/ptx/testdata/corpus/*.ptx", 25},
}

// TestCompiles: no pass leaves an invalid form, the assembler accepts what is made, and at least as
// many kernels compile as did before. What is refused is listed with -v, the most frequent first.
func TestCompiles(t *testing.T) {
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			files, err := filepath.Glob(s.files)
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			compiled, refused := 0, map[string]int{}
			for _, f := range files {
				r := module(t, f, 0)
				compiled += len(r.File.Kernels)
				for _, x := range r.Refused {
					refused[x.What]++
					if strings.Contains(x.Why, "fault of the compiler") {
						t.Error(x)
					}
				}
			}
			var list []string
			total := compiled
			for what, n := range refused {
				list, total = append(list, what), total+n
			}
			slices.SortFunc(list, func(a, b string) int {
				if n := refused[b] - refused[a]; n != 0 {
					return n
				}
				return strings.Compare(a, b)
			})
			t.Logf("%d of %d kernels", compiled, total)
			for _, what := range list {
				t.Logf("%4d %s", refused[what], what)
			}
			if compiled < s.least {
				t.Errorf("%d kernels compile; want at least %d", compiled, s.least)
			}
		})
	}
}

// TestConstantVector: what is loaded in two pieces by an address in a register leaves a valid form.
func TestConstantVector(t *testing.T) {
	compiled(t, ".version 7.0\n.target sm_80\n.address_size 64\n.const .align 16 .f64 table[4];\n.entry k(.param .u64 p) { .reg .b64 %a, %d<2>; ld.param.u64 %a, [p]; ld.const.v2.b64 {%d0, %d1}, [%a]; st.global.v2.u64 [%a], {%d0, %d1}; ret; }\n")
}

// TestInsertion: the two words of an insertion of bits have operands of their own.
func TestInsertion(t *testing.T) {
	compiled(t, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u32 n) { .reg .b64 %a<3>; .reg .b32 %r; "+
		"ld.param.u64 %a0, [o]; ld.param.u32 %r, [n]; ld.global.u64 %a1, [%a0]; bfi.b64 %a2, %a1, %a0, %r, 9; st.global.u64 [%a0], %a2; ret; }")
}

// TestFewRegisters: with few registers as many kernels compile, none has more, and some move to memory.
func TestFewRegisters(t *testing.T) {
	files, err := filepath.Glob(sources[0].files)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	moved := 0
	for _, f := range files {
		all, few := module(t, f, 0), module(t, f, compile.LeastRegisters)
		if len(all.Refused) != len(few.Refused) {
			t.Errorf("%v", few.Refused)
			continue
		}
		for i, k := range few.File.Kernels {
			calls := slices.ContainsFunc(k.Code, func(in sass.Inst) bool { return in.Op == sass.OpCALL })
			if !calls && k.Regs > compile.LeastRegisters && k.MaxThreads == [3]uint32{} && k.Block == [3]uint32{} {
				t.Errorf("%s: %s has %d registers", f, k.Name, k.Regs)
			}
			if few.Info[i].SpillStores > 0 {
				moved++
			}
		}
	}
	if moved < 5 {
		t.Errorf("registers of only %d kernels move", moved)
	}
}

// TestCounters: code for a machine with fewer dependence counters names no others.
func TestCounters(t *testing.T) {
	src, err := os.ReadFile("../../examples/mma-gemm/mma-gemm.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptx.Parse("gemm.ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= isa.Counters; n++ {
		c := machine.Ampere
		c.Counters = n
		r, err := compile.Module(m, compile.Options{Contract: &c})
		if err != nil || len(r.Refused) > 0 {
			t.Fatal(err, r.Refused)
		}
		used := map[uint8]bool{}
		for _, k := range r.File.Kernels {
			for _, in := range k.Code {
				for _, x := range []uint8{in.Ctl.Write, in.Ctl.Read} {
					used[x] = true
				}
				if in.Ctl.Wait>>n != 0 {
					t.Errorf("with %d counters: %v", n, in.Ctl)
				}
			}
		}
		for x := range used {
			if x != isa.NoCounter && int(x) >= n {
				t.Errorf("with %d counters an instruction raises %d", n, x)
			}
		}
		if !used[uint8(n-1)] {
			t.Errorf("of %d counters the last is not used", n)
		}
	}
}

// TestLoadsOfALoop: the addresses of a loop's second load do not wait for its first one. The store at the end of a round
// still reads registers that they overwrite, so that it needs a counter of its own.
func TestLoadsOfALoop(t *testing.T) {
	r := module(t, "../../examples/polybench/polybench.ptx", 0)
	loads := 0
	for _, name := range []string{"mm", "gemm", "syrk"} {
		i := slices.IndexFunc(r.File.Kernels, func(k *sass.Kernel) bool { return k.Name == name })
		var first *sass.Inst // a load that no instruction so far reads
		code := r.File.Kernels[i].Code
		for i := range code {
			in := &code[i]
			text := in.Text()
			load := strings.HasPrefix(text, "LDG")
			switch {
			case strings.Contains(text, "BRA"):
				first = nil
			case load && first != nil:
				loads++
				if in.Ctl.Wait>>first.Ctl.Write&1 != 0 {
					t.Errorf("%s: %s waits for %s", name, text, first.Text())
				}
			case first != nil && slices.ContainsFunc(in.Operands, func(o sass.Operand) bool { return o.Kind == sass.Reg && o.Reg == first.Operands[0].Reg }):
				first = nil
			case first != nil && in.Ctl.Wait>>first.Ctl.Write&1 != 0:
				t.Errorf("%s: %s waits for %s", name, text, first.Text())
			}
			if load {
				first = in
			}
		}
	}
	if loads < 6 {
		t.Errorf("%d loads follow another one", loads)
	}
}

// TestBanks: the links of a chain have no register in the bank of the factor that all of them read.
func TestBanks(t *testing.T) {
	r := module(t, "../../examples/polybench/polybench.ptx", 0)
	i := slices.IndexFunc(r.File.Kernels, func(k *sass.Kernel) bool { return k.Name == "ffma" })
	links := 0
	for k := range r.File.Kernels[i].Code {
		in := &r.File.Kernels[i].Code[k]
		if !strings.HasPrefix(in.Text(), "FFMA") {
			continue
		}
		links++
		if x, y := in.Operands[1].Reg, in.Operands[2].Reg; x%2 == y%2 {
			t.Errorf("both sources of %s are in one bank", in.Text())
		}
	}
	if links < 128 {
		t.Errorf("%d links", links)
	}
}

// TestDump: of a kernel that is compiled several times, since its registers do not fit, only the last form after each
// pass is shown.
func TestDump(t *testing.T) {
	const path = "../../examples/mma-gemm/mma-gemm.ptx"
	m := parsed(t, path)
	shown := map[string]int{}
	r, err := compile.Module(m, compile.Options{MaxRegisters: compile.LeastRegisters, Dump: func(kernel, pass, _ string) { shown[kernel+" "+pass]++ }})
	if err != nil || len(r.Refused) > 0 || r.Info[0].SpillStores == 0 {
		t.Fatal(err, r.Refused, r.Info)
	}
	if len(shown) != len(r.File.Kernels)*len(compile.Passes()) {
		t.Errorf("%d forms are shown", len(shown))
	}
	for what, n := range shown {
		if n > 1 {
			t.Errorf("%s is shown %d times", what, n)
		}
	}
}
