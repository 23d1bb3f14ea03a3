package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: references to textures and surfaces. The loader puts the handle of each that a kernel uses into a word of
// constant bank 0 after the kernel's parameters.

// references are those of a kernel, in the order of their words.
type references struct {
	list []*ptx.Var
	at   map[*ptx.Var]int64
}

// reference is part n of the handle of a texture reference.
func (b *builder) reference(v *ptx.Var, n int) ir.Arg {
	switch {
	case v.Init != nil || v.Linkage == ptx.Extern || len(v.Dims) > 0:
		stop("the texture reference "+v.Name, "with a value, of another module, or of several "+notYet)
	case !b.fn.Entry:
		stop("a texture reference in a function that is called", notYet)
	case n > 0:
		return ir.RZ()
	}
	r := &b.lay.refs
	if r.at == nil {
		r.at = map[*ptx.Var]int64{}
	}
	at, known := r.at[v]
	if !known {
		at = int64(b.mod.arch.ParamBase()) + alignUp(b.lay.bytes, 4) + 4*int64(len(r.list))
		r.at[v], r.list = at, append(r.list, v)
	}
	return ir.C(0, at)
}

// refer notes the words of a kernel's references.
func (m *module) refer(kernel string, r *references) {
	for _, v := range r.list {
		kind := uint32(sass.RelocTexture)
		if v.Type == "surfref" {
			kind = sass.RelocSurface
		}
		m.file.Addresses = append(m.file.Addresses, sass.Address{Type: kind, Data: -1, Owner: kernel, Offset: uint64(r.at[v]), To: sass.OfFunction, Function: v.Name})
	}
}
