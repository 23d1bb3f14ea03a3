package program

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestMachineCodeAsText: the text of each kernel of a cubin assembles to its words.
func TestMachineCodeAsText(t *testing.T) {
	const name = "../binary/cubin/testdata/cudatest.7.sm_75.cubin"
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := cubin.Read(name, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range f.Kernels {
		t.Run(k.Name, func(t *testing.T) {
			code, err := MachineCode(f, k)
			if err != nil {
				t.Fatal(err)
			}
			again, err := sass.Parse(k.Name, fmt.Sprintf(".arch %v\n%s", code.Arch, code.Listing(nil)), 0)
			if err != nil {
				t.Fatal(err)
			}
			got := again.Kernels[0]
			if got.Regs != k.Regs || got.Shared != k.Shared || got.Local != k.Least || len(got.Params) != len(k.Params) {
				t.Errorf("registers %d, shared memory %d, stack %d, parameters %d", got.Regs, got.Shared, got.Local, len(got.Params))
			}
			for i := range got.Params {
				if got.Params[i] != code.Params[i] {
					t.Errorf("parameter %+v; want %+v", got.Params[i], code.Params[i])
				}
			}
			for i := range got.Code {
				at := k.Code[sass.InstBytes*i:]
				if want := [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}; got.Code[i].Words != want {
					t.Errorf("%s: words %x; want %x", code.Code[i].Text(), got.Code[i].Words, want)
				}
			}
		})
	}
}
