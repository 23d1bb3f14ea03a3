package sass

import (
	"fmt"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestDecodedOnce: machine code is decoded when it is first needed, by whichever machine that
// is; where a kernel's code begins does not depend on the order.
func TestDecodedOnce(t *testing.T) {
	f := &sass.File{Name: "t.cubin", Arch: 86}
	for i := range 4 {
		text, err := sass.Parse("t.sass", header+fmt.Sprintf("MOV R0, 0x%x ;\nEXIT ;\n", i), 0)
		if err != nil {
			t.Fatal(err)
		}
		k := &sass.Kernel{Name: fmt.Sprintf("k%d", i), Arch: 86, Regs: 8}
		for _, in := range text.Kernels[0].Code {
			k.Binary = le.AppendUint64(le.AppendUint64(k.Binary, in.Words[0]), in.Words[1])
		}
		f.Kernels = append(f.Kernels, k)
	}
	p := Load(f)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			k := p.Kernels()[3-n%4]
			one := exec.Dim3{X: 1, Y: 1, Z: 1}
			w, err := NewMachine(device.New(device.Config{})).NewWork(Launch{Kernel: k, Grid: one, Block: one}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := w.Traits().CodeBase, uint64(32*(3-n%4)); got != want || len(w.Code()) != 2 {
				t.Errorf("%s has %d instructions from %d on; want 2 from %d", k.Name(), len(w.Code()), got, want)
			}
		})
	}
	all.Wait()
}
