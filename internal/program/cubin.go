package program

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// machineFile returns a cubin in the words of sass. It fails if the tables lack the
// architecture, or if something is relocated in a way that is not supported.
func machineFile(f *cubin.File) (*sass.File, error) {
	if f.Relocatable {
		return nil, fmt.Errorf("%s is relocatable, which is not supported: link it first", f.Name)
	}
	out := &sass.File{Name: f.Name}
	var err error
	if out.Arch, err = sass.ParseArch(fmt.Sprintf("sm_%d", f.Arch)); err != nil {
		return nil, err
	}
	kernels := map[string]*sass.Kernel{}
	lines := sync.OnceValue(func() map[string][]cubin.Line {
		list, _ := f.Lines() // a program runs without them, too
		return list
	})
	for _, k := range f.Kernels {
		text, err := machineCode(f, k, false)
		if err != nil {
			return nil, err
		}
		text.Source = func(i int) (string, int) { return lineAt(lines()[k.Name], uint32(i)*sass.InstBytes) }
		out.Kernels = append(out.Kernels, text)
		kernels[k.Name] = text
	}
	for _, d := range f.Data {
		out.Data = append(out.Data, sass.Data{Name: d.Name, Init: d.Init, Bytes: d.Bytes})
	}
	out.Banks = f.Constants
	for _, v := range f.Variables {
		out.Variables = append(out.Variables, sass.Variable{Name: v.Name, Data: v.Data, Bank: v.Bank, Offset: v.Offset, Bytes: v.Bytes})
	}
	for i := range f.Relocations {
		r := &f.Relocations[i]
		a, err := addressOf(f, r)
		if err == nil {
			out.Addresses = append(out.Addresses, a)
			continue
		}
		k := kernels[r.At.Owner]
		if k == nil {
			return nil, err
		}
		k.Refused = err
	}
	return out, nil
}

// lineAt is where the instruction at an offset comes from; lines are in the order of theirs.
func lineAt(lines []cubin.Line, offset uint32) (file string, line int) {
	n, found := slices.BinarySearchFunc(lines, offset, func(l cubin.Line, at uint32) int { return cmp.Compare(l.Offset, at) })
	if !found {
		n--
	}
	if n < 0 {
		return "", 0
	}
	return lines[n].File, lines[n].Line
}

func addressOf(f *cubin.File, r *cubin.Relocation) (sass.Address, error) {
	a := sass.Address{Data: -1, Bank: r.At.Bank, Offset: r.At.Offset, Addend: uint64(r.Addend)}
	refuse := func() (sass.Address, error) {
		return a, fmt.Errorf("%s: an address of %s, by a relocation of type %d, is not supported", f.Name, r.Symbol, r.Type)
	}
	switch r.At.Kind {
	case cubin.InData:
		a.Data = r.At.Index
	case cubin.InCode:
		a.Kernel = r.At.Owner
	}
	switch code := r.At.Kind == cubin.InCode; {
	case !code && r.At.Owner == "" && r.Type == cubin.RelocWhole:
	case code && r.Type == cubin.RelocLower:
		a.Part = sass.Lower
	case code && r.Type == cubin.RelocUpper:
		a.Part = sass.Upper
	case code && r.Type == cubin.RelocFunction && r.Place.Kind == cubin.Unknown:
	default:
		return refuse()
	}
	a.Addend += r.Place.Offset
	switch p := r.Place; {
	case p.Kind == cubin.InData:
		a.To, a.ToData = sass.OfData, p.Index
	case p.Kind == cubin.InConstant && p.Owner == "":
		a.To, a.ToBank = sass.OfBank, p.Bank
	case p.Kind == cubin.InCode && p.Owner == a.Kernel:
		a.To = sass.OfCode
	case p.Kind == cubin.Unknown && slices.Contains(f.Externs, r.Symbol):
		a.To, a.Function = sass.OfFunction, r.Symbol
	default:
		return refuse()
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
	var refused error
	if len(k.Params) > 0 && k.ParamBase != arch.ParamBase() {
		refused = fmt.Errorf("%s: the parameters of kernel %s begin at %#x of constant bank 0; those of %s begin at %#x", f.Name, k.Name, k.ParamBase, arch, arch.ParamBase())
	}
	out := &sass.Kernel{Refused: refused, Name: k.Name, Arch: arch, Regs: k.Regs, Shared: k.Shared, Local: k.Least, Barriers: k.Barriers, MaxThreads: k.MaxThreads}
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
