package program

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// MachineCode returns a kernel of a cubin in the words of sass. It fails if the
// tables lack the architecture.
func MachineCode(f *cubin.File, k *cubin.Kernel) (*sass.Kernel, error) {
	arch, err := sass.ParseArch(fmt.Sprintf("sm_%d", f.Arch))
	if err != nil {
		return nil, err
	}
	out := &sass.Kernel{Name: k.Name, Arch: arch, Regs: k.Regs, Shared: k.Shared, Local: k.Least, Barriers: k.Barriers}
	for i, p := range k.Params {
		out.Params = append(out.Params, sass.Param{Name: fmt.Sprintf("p%d", i), Bytes: p.Bytes, Offset: k.ParamBase + p.Offset})
	}
	for bank := 1; bank < cubin.Banks; bank++ {
		for _, b := range [][]byte{f.Constants[bank], k.Constants[bank]} {
			if len(b) > 0 {
				out.Consts = append(out.Consts, sass.ConstData{Bank: bank, Bytes: b})
			}
		}
	}
	for _, l := range k.Labels {
		out.Labels = append(out.Labels, sass.Label{Name: l.Name, Index: int(l.Offset / sass.InstBytes)})
	}
	if err := out.SetCode(k.Code); err != nil {
		return nil, err
	}
	return out, nil
}
