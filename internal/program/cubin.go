package program

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// machineFile returns a cubin in the words of sass. It fails if the tables lack the
// architecture, or if something is relocated in a way that is not supported.
func machineFile(f *cubin.File) (*sass.File, error) {
	out := &sass.File{Name: f.Name}
	var err error
	if out.Arch, err = sass.ParseArch(fmt.Sprintf("sm_%d", f.Arch)); err != nil {
		return nil, err
	}
	for _, k := range f.Kernels {
		text, err := machineCode(f, k, false)
		if err != nil {
			return nil, err
		}
		out.Kernels = append(out.Kernels, text)
	}
	for _, d := range f.Data {
		out.Data = append(out.Data, sass.Data{Name: d.Name, Init: d.Init, Bytes: d.Bytes})
	}
	out.Banks = f.Constants
	for _, v := range f.Variables {
		out.Variables = append(out.Variables, sass.Variable{Name: v.Name, Data: v.Data, Bank: v.Bank, Offset: v.Offset, Bytes: v.Bytes})
	}
	for _, r := range f.Relocations {
		a, err := addressOf(f, &r)
		if err != nil {
			return nil, err
		}
		out.Addresses = append(out.Addresses, a)
	}
	return out, nil
}

// Types of relocations (measured: what compilers use for these purposes).
const (
	relocAddress = 2 // an address of 64 bits in a constant bank
)

func addressOf(f *cubin.File, r *cubin.Relocation) (sass.Address, error) {
	a := sass.Address{Data: -1, Bank: r.At.Bank, Offset: r.At.Offset, Addend: uint64(r.Addend)}
	if r.At.Kind == cubin.InData {
		a.Data = r.At.Index
	} else if r.At.Kind != cubin.InConstant || r.At.Owner != "" {
		return a, fmt.Errorf("%s: the address of %s in code is not supported", f.Name, r.Symbol)
	}
	if r.Type != relocAddress {
		return a, fmt.Errorf("%s: a relocation of type %d by %s is not supported", f.Name, r.Type, r.Symbol)
	}
	switch r.Place.Kind {
	case cubin.InData, cubin.InConstant:
		a.Variable = r.Symbol
	case cubin.Unknown:
		a.Function = r.Symbol
	default:
		return a, fmt.Errorf("%s: the address of %s is not supported", f.Name, r.Symbol)
	}
	return a, nil
}

// MachineCode returns a kernel of a cubin in the words of sass. It fails if the
// tables lack the architecture.
func MachineCode(f *cubin.File, k *cubin.Kernel) (*sass.Kernel, error) {
	out, err := machineCode(f, k, true)
	if err != nil {
		return nil, err
	}
	return out, out.SetCode(k.Code)
}

// machineCode is MachineCode before its code is decoded, with or without the constants that all
// kernels share.
func machineCode(f *cubin.File, k *cubin.Kernel, shared bool) (*sass.Kernel, error) {
	arch, err := sass.ParseArch(fmt.Sprintf("sm_%d", f.Arch))
	if err != nil {
		return nil, err
	}
	out := &sass.Kernel{Name: k.Name, Arch: arch, Regs: k.Regs, Shared: k.Shared, Local: k.Least, Barriers: k.Barriers, MaxThreads: k.MaxThreads}
	for i, p := range k.Params {
		out.Params = append(out.Params, sass.Param{Name: fmt.Sprintf("p%d", i), Bytes: p.Bytes, Offset: k.ParamBase + p.Offset})
	}
	for bank := 1; bank < cubin.Banks; bank++ {
		if b := f.Constants[bank]; len(b) > 0 && shared {
			out.Consts = append(out.Consts, sass.ConstData{Bank: bank, Bytes: b})
		}
		if b := k.Constants[bank]; len(b) > 0 {
			out.Consts = append(out.Consts, sass.ConstData{Bank: bank, Bytes: b})
		}
	}
	for _, l := range k.Labels {
		out.Labels = append(out.Labels, sass.Label{Name: l.Name, Index: int(l.Offset / sass.InstBytes)})
	}
	out.Binary = k.Code
	return out, nil
}
