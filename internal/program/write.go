package program

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// WriteCubin returns a cubin of a program's text.
func WriteCubin(f *sass.File) ([]byte, error) {
	f = gathered(f)
	out := &cubin.File{Name: f.Name, Arch: int(f.Arch), Constants: f.Banks}
	lines := map[string][]cubin.Line{}
	for _, d := range f.Data {
		out.Data = append(out.Data, &cubin.Data{Name: d.Name, Init: d.Init, Bytes: d.Bytes, Align: max(d.Align, 1)})
	}
	for _, v := range f.Variables {
		out.Variables = append(out.Variables, cubin.Variable{Name: v.Name, Data: v.Data, Bank: v.Bank, Offset: v.Offset, Bytes: v.Bytes, Global: !v.Local})
	}
	for _, k := range f.Kernels {
		if slices.ContainsFunc(k.Consts, func(c sass.ConstData) bool { return c.Bank == 0 }) {
			return nil, fmt.Errorf("kernel %s gives words of constant bank 0 (.const), which a launch fills: a cubin has no place for them", k.Name)
		}
		out.Kernels = append(out.Kernels, cubinKernel(k))
		for _, l := range k.Lines {
			lines[k.Name] = append(lines[k.Name], cubin.Line{Offset: uint32(l.Index) * sass.InstBytes, File: l.File, Line: l.Line})
		}
	}
	known := map[string]bool{}
	for i := range f.Addresses {
		a := &f.Addresses[i]
		r := cubin.Relocation{At: cubin.Place{Kind: cubin.InConstant, Bank: a.Bank, Offset: a.Offset}, Type: cubin.RelocWhole}
		if a.Data >= 0 {
			r.At = cubin.Place{Kind: cubin.InData, Index: a.Data, Offset: a.Offset}
		}
		if a.Kernel != "" {
			r.At = cubin.Place{Kind: cubin.InCode, Owner: a.Kernel, Offset: a.Offset}
			r.Type = map[sass.Part]uint32{sass.Whole: cubin.RelocFunction, sass.Lower: cubin.RelocLower, sass.Upper: cubin.RelocUpper}[a.Part]
			if a.To == sass.OfPointer {
				r.Type = map[sass.Part]uint32{sass.Lower: cubin.RelocDescLow, sass.Upper: cubin.RelocDescHigh}[a.Part]
			}
		}
		if a.Owner != "" {
			r.At.Owner = a.Owner
		}
		name, more := f.Place(a)
		r.Symbol, r.Addend = name, int64(more)
		if a.To == sass.OfCode {
			r.Place = cubin.Place{Kind: cubin.InCode, Owner: a.Kernel}
		}
		switch {
		case a.Type != 0:
			r.Type = a.Type
			if !known[name] && !defined(f, name) {
				known[name] = true
				if a.Type == cubin.RelocSurface {
					out.Surfaces = append(out.Surfaces, name)
				} else {
					out.Textures = append(out.Textures, name) // as far as is known
				}
			}
		case a.To == sass.OfFunction && !known[name]:
			known[name] = true
			out.Externs = append(out.Externs, name)
		}
		out.Relocations = append(out.Relocations, r)
	}
	return cubin.Write(out, lines)
}

// Device memory has two sections in a cubin: variables that have values at the beginning, and others.
const initialised, zeros = ".nv.global.init", ".nv.global"

// gathered is a text with its device memory in these sections.
func gathered(f *sass.File) *sass.File {
	if !slices.ContainsFunc(f.Data, func(d sass.Data) bool { return d.Name != initialised && d.Name != zeros }) {
		return f
	}
	out := &sass.File{Name: f.Name, Arch: f.Arch, Kernels: f.Kernels, Banks: f.Banks, Variables: slices.Clone(f.Variables), Addresses: slices.Clone(f.Addresses)}
	type place struct {
		data int
		at   uint64
	}
	places := make([]place, len(f.Data))
	for _, name := range []string{initialised, zeros} {
		all := sass.Data{Name: name}
		for i, d := range f.Data {
			if (d.Init != nil) != (name == initialised) {
				continue
			}
			align := max(d.Align, 1)
			at := (all.Bytes + align - 1) / align * align
			places[i] = place{len(out.Data), at}
			if d.Init != nil {
				all.Init = append(append(all.Init, make([]byte, at-all.Bytes)...), d.Init...)
			}
			all.Bytes, all.Align = at+d.Bytes, max(all.Align, align)
		}
		if all.Align > 0 {
			out.Data = append(out.Data, all)
		}
	}
	move := func(data *int, offset *uint64) {
		if *data >= 0 {
			p := places[*data]
			*data, *offset = p.data, *offset+p.at
		}
	}
	for i := range out.Variables {
		move(&out.Variables[i].Data, &out.Variables[i].Offset)
	}
	for i := range out.Addresses {
		a := &out.Addresses[i]
		if move(&a.Data, &a.Offset); a.To == sass.OfData {
			move(&a.ToData, &a.Addend)
		}
	}
	return out
}

// defined reports whether a name stands for something in a text.
func defined(f *sass.File, name string) bool {
	return f.Kernel(name) != nil ||
		slices.ContainsFunc(f.Variables, func(v sass.Variable) bool { return v.Name == name }) ||
		slices.ContainsFunc(f.Data, func(d sass.Data) bool { return d.Name == name })
}

// cubinKernel is a kernel of a text.
func cubinKernel(k *sass.Kernel) *cubin.Kernel {
	out := &cubin.Kernel{ParamBase: k.Arch.ParamBase(), Barriers: k.Barriers, Shared: k.Shared, MaxThreads: k.MaxThreads, Block: k.Block}
	out.Name, out.Regs, out.Least, out.Stack = k.Name, k.Regs, k.Local, k.Local
	var exits []byte
	for i := range k.Code {
		in := &k.Code[i]
		out.Code = binary.LittleEndian.AppendUint64(out.Code, in.Words[0])
		out.Code = binary.LittleEndian.AppendUint64(out.Code, in.Words[1])
		if in.Op == sass.OpEXIT {
			exits = binary.LittleEndian.AppendUint32(exits, in.Addr)
		}
	}
	out.Attributes = append(out.Attributes, cubin.Exits(exits))
	for _, p := range k.Params {
		at := p.Offset - out.ParamBase
		out.Params = append(out.Params, cubin.Param{Offset: at, Bytes: p.Bytes})
		out.ParamBytes = max(out.ParamBytes, at+p.Bytes)
	}
	for _, c := range k.Consts {
		b := out.Constants[c.Bank]
		if n := c.Offset + len(c.Bytes); n > len(b) {
			b = append(b, make([]byte, n-len(b))...)
		}
		copy(b[c.Offset:], c.Bytes)
		out.Constants[c.Bank] = b
	}
	for _, l := range k.Labels {
		if !strings.HasPrefix(l.Name, sass.LocalLabel) { // a branch's, which reading finds again
			out.Labels = append(out.Labels, cubin.Label{Name: l.Name, Offset: uint32(l.Index) * sass.InstBytes})
		}
	}
	return out
}
