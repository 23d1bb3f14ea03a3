package program

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// manyKernels is the text of a program of n kernels, each of which reads a variable of its own.
func manyKernels(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".arch sm_86\n.data .nv.global, %d, 8\n", 8*n)
	for i := range n {
		fmt.Fprintf(&b, ".variable v%d, .nv.global+0x%x, 8\n", i, 8*i)
	}
	for i := range n {
		fmt.Fprintf(&b, ".kernel k%d\n.param p, 8\n.regs 8\n.address lower, v%d\nMOV R2, 0x0 ;\n.address upper, v%d\nMOV R3, 0x0 ;\nEXIT ;\n", i, i, i)
	}
	return b.String()
}

// manyFunctions makes a file of one kernel that calls all others of a file, which become functions.
func manyFunctions(f *cubin.File) *cubin.File {
	k := f.Kernels[0]
	out := &cubin.File{Name: f.Name, Arch: f.Arch, Kernels: f.Kernels[:1], Data: f.Data, Variables: f.Variables, Relocatable: true}
	for _, other := range f.Kernels[1:] {
		fn := other.Function
		out.Functions = append(out.Functions, &fn)
		out.Relocations = append(out.Relocations, cubin.Relocation{
			At: cubin.Place{Kind: cubin.InCode, Owner: k.Name, Offset: uint64(len(k.Code))}, Type: cubin.RelocFunction,
			Symbol: fn.Name, Global: true, Place: cubin.Place{Kind: cubin.InCode, Owner: fn.Name},
		})
		k.Code = append(k.Code, k.Code[:sass.InstBytes]...)
	}
	return out
}

// TestScale: the time for reading, linking, decoding, listing and writing a cubin grows with its size,
// not with its square: ten times as many kernels may take forty times as long, as clocks are noisy. On
// a busy machine one of three attempts suffices.
func TestScale(t *testing.T) {
	var slow []string
	for range 3 {
		if slow = tooSlow(t); len(slow) == 0 {
			return
		}
	}
	t.Error(strings.Join(slow, "\n"))
}

// tooSlow lists the steps whose time grows too fast.
func tooSlow(t *testing.T) (slow []string) {
	took := map[string][]time.Duration{}
	for _, n := range []int{500, 5000} {
		step := func(what string, do func() error) {
			begin := time.Now()
			if err := do(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			took[what] = append(took[what], time.Since(begin))
		}
		var text *sass.File
		var b []byte
		var f *cubin.File
		var p *Program
		step("parsing a text", func() (err error) { text, err = sass.Parse("many.sass", manyKernels(n), 0); return err })
		step("writing", func() (err error) { b, err = WriteCubin(text); return err })
		step("reading", func() (err error) { f, err = cubin.Read("many.cubin", b); return err })
		step("listing", func() error {
			list, err := Listing(f)
			for _, k := range list.Kernels {
				_ = list.Notes(k)
			}
			return err
		})
		step("loading", func() (err error) { p, err = Load(Source{Name: "many.cubin", Text: b}); return err })
		step("decoding", func() error {
			for _, k := range p.Kernels() {
				for _, err := range k.Unusable() {
					return err
				}
			}
			return nil
		})
		open := slices.Clone(b)
		open[16] = 1 // e_type: relocatable
		step("linking", func() error { _, err := Load(Source{Name: "open.cubin", Text: open}); return err })
		functions := manyFunctions(f)
		step("a kernel with many functions", func() error { _, err := machineFile(functions); return err })
	}
	for what, x := range took {
		if x[1] > 40*x[0]+time.Second/4 {
			slow = append(slow, fmt.Sprintf("%s takes %v, and for ten times as many kernels %v", what, x[0], x[1]))
		}
	}
	return slow
}
