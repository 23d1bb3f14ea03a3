package program_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/program"
)

// TestKernelsOfOneName: of kernels of one name in two modules that runs which the rules of linking choose, as PTX and as
// machine code, and the program has no other.
func TestKernelsOfOneName(t *testing.T) {
	const text = ".version 7.8\n.target sm_86\n.address_size 64\n%s .entry k(.param .u64 out) { .reg .b64 %%a; ld.param.u64 %%a, [out]; st.global.u32 [%%a], %d; ret; }\n"
	for _, c := range []struct {
		name, first, second string
		want                uint32
	}{
		{"strong and weak", ".visible", ".weak", 1}, {"weak and strong", ".weak", ".visible", 2}, {"two that are weak", ".weak", ".weak", 1},
		{"one that others do not see, and a weak one", "", ".weak", 2}, {"one that others do not see, and a strong one", "", ".visible", 2}, {"two that others do not see", "", "", 1},
	} {
		for _, code := range []program.Code{program.PTXCode, program.CompiledCode} {
			t.Run(fmt.Sprintf("%s, %s", c.name, code), func(t *testing.T) {
				choice := program.Choice{Code: code, SM: *forSM, Refused: func(err error) { t.Error(err) }}
				p, err := choice.Load(program.Source{Name: "1.ptx", Text: fmt.Appendf(nil, text, c.first, 1)}, program.Source{Name: "2.ptx", Text: fmt.Appendf(nil, text, c.second, 2)})
				if err != nil {
					t.Fatal(err)
				}
				if n := len(p.Kernels()); n != 1 {
					t.Errorf("%d kernels", n)
				}
				mem := device.New(device.Config{})
				m, err := program.NewMachine(p, mem)
				if err != nil {
					t.Fatal(err)
				}
				at, err := mem.Alloc(4, "out")
				if err != nil {
					t.Fatal(err)
				}
				k, _ := p.Kernel("k")
				one := exec.Dim3{X: 1, Y: 1, Z: 1}
				if _, err := m.Run(t.Context(), exec.Launch{Kernel: k, Grid: one, Block: one, Params: binary.LittleEndian.AppendUint64(nil, at)}, exec.Options{}); err != nil {
					t.Fatal(err)
				}
				b, err := mem.Bytes(at, 4)
				if err != nil {
					t.Fatal(err)
				}
				if got := binary.LittleEndian.Uint32(b); got != c.want {
					t.Errorf("that of module %d runs, want that of %d", got, c.want)
				}
			})
		}
	}
}
