package ptx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

var regDecl = regexp.MustCompile(`\.reg \.(\w+) (x\d+);`)

// TestNothingPanics executes instructions of every row of the table with
// registers that hold corners and noise. They may fault, and most that touch
// memory do, but nothing else may happen.
func TestNothingPanics(t *testing.T) {
	rnd := rand.New(rand.NewPCG(41, 42))
	values := []uint64{0, 1, 2, 4, 16, 31, 32, 63, 64, 255, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000, 0x7fc00000, 0x3f800000, 0x0100_0000, 0x0200_0010, 0x0400_0000, 1<<63 - 1, 1 << 63, 1<<64 - 1, 0x7ff0000000000000}
	noise := func(body string) string {
		return regDecl.ReplaceAllStringFunc(body, func(d string) string {
			m := regDecl.FindStringSubmatch(d)
			bits, ok := map[string]int{"pred": 1, "b16": 16, "u16": 16, "s16": 16, "f16": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "b64": 64, "u64": 64, "s64": 64, "f64": 64}[m[1]]
			v := values[rnd.IntN(len(values))]
			if rnd.IntN(3) == 0 {
				v = rnd.Uint64()
			}
			switch {
			case !ok:
				return d
			case bits == 1:
				return fmt.Sprintf("%s setp.lt.u32 %s, %%tid.x, %d;", d, m[2], rnd.IntN(40))
			case bits < 64:
				v &= 1<<bits - 1
				if bits == 32 && rnd.IntN(4) == 0 {
					return fmt.Sprintf("%s mov.b32 %s, %%tid.x;", d, m[2])
				}
			}
			return fmt.Sprintf("%s mov.b%d %s, %#x;", d, bits, m[2], v)
		})
	}
	ran, faults := 0, 0
	for _, f := range ptx.Forms() {
		// Up to most combinations, the first among them.
		most := alltests.Count(8, 24)
		var pick [][]string
		n := 0
		f.Expand(func(mods []string) bool {
			n++
			if len(pick) < most {
				pick = append(pick, append([]string(nil), mods...))
			} else if k := rnd.IntN(n); k < most {
				pick[k] = append([]string(nil), mods...)
			}
			return n < 4000
		})
		var bodies []string
		for _, mods := range pick {
			bodies = append(bodies, noise(f.SynthesizeFull(mods)), noise(f.SynthesizeFull(mods)))
			if f.Op != "call" {
				bodies = append(bodies, noise(f.Synthesize(mods)))
			}
		}
		mod, err := ptx.Parse("every.ptx", []byte(ptx.SynthModule(bodies...)))
		if err != nil {
			t.Fatalf("%s: %v", f.Syntax, err)
		}
		p, err := xptx.Link(mod)
		if err != nil {
			t.Fatalf("%s: %v", f.Syntax, err)
		}
		m, err := xptx.NewMachine(p, device.New(device.Config{}))
		if err != nil {
			t.Fatalf("%s: %v", f.Syntax, err)
		}
		for i, k := range p.Kernels() {
			if len(k.Unusable()) > 0 {
				continue
			}
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Fatalf("%v\n%s", v, bodies[i])
					}
				}()
				l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 40, Y: 1, Z: 1}, Params: make([]byte, k.ParamBytes())}
				if _, err := m.Run(context.Background(), l, xptx.Options{Threads: 1}); err != nil {
					if strings.Contains(err.Error(), "cannot launch") {
						t.Errorf("%v\n%s", err, bodies[i])
					}
					faults++
				}
				ran++
			}()
		}
	}
	t.Logf("%d instructions ran, %d of them ended in a fault", ran, faults)
	if ran < 5000 {
		t.Errorf("only %d instructions ran", ran)
	}
}

// FuzzRun parses, links and runs any text: errors and faults
// are fine, panics and hangs are not.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "isa", "ptx", "testdata", "conformance", "*.ptx"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if src, err := os.ReadFile(name); err == nil && len(src) < 3000 {
			f.Add(string(src))
		}
	}
	for _, form := range ptx.Forms() {
		form.Expand(func(mods []string) bool {
			f.Add(".version 9.0\n.target sm_100a\n.address_size 64\n.global .b8 synth_global[64];\n.shared .align 16 .b8 synth_shared[64];\n.entry k() {\n" + form.SynthesizeFull(mods) + "}\n")
			return false
		})
	}
	f.Fuzz(func(t *testing.T, src string) {
		mod, err := ptx.Parse("fuzz.ptx", []byte(src))
		if err != nil {
			return
		}
		p, err := xptx.Link(mod)
		if err != nil {
			return
		}
		m, err := xptx.NewMachine(p, device.New(device.Config{Limit: 1 << 24}))
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for _, k := range p.Kernels() {
			if k.ParamBytes() > 1<<20 {
				continue
			}
			l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 48, Y: 1, Z: 1}, Params: make([]byte, k.ParamBytes())}
			if n := k.Func().ReqNTID; n[0] > 0 {
				l.Block = exec.Dim3{X: uint32(n[0]), Y: uint32(max(1, n[1])), Z: uint32(max(1, n[2]))}
			}
			_, _ = m.Run(ctx, l, xptx.Options{Threads: 1, MaxInsts: 20000})
			if ctx.Err() != nil {
				t.Fatal("20000 instructions take more than 5 seconds")
			}
		}
	})
}
