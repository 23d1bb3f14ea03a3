package unset

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: machine code. Its registers are of 32 bits, and instructions name them by ranges; the guard
// is the last source. What a compiler packs of bits and halves, or combines by tables of truth, counts as
// set if a part is, since it also does so with parts that nobody looks at; and it keeps predicates in bits
// of registers that nothing has written before.

// machineOp reports whether an instruction is one of machine code.
func machineOp(in *isa.Inst) bool { return in.Op != "" && in.Op[0] >= 'A' && in.Op[0] <= 'Z' }

func isMachine(code []*isa.Inst) bool { return len(code) > 0 && machineOp(code[0]) }

// spread describes an instruction of machine code as one of PTX is described: each register by itself,
// and the guard first.
func spread(in *isa.Inst) *isa.Inst {
	o := *in
	o.Srcs, o.Dsts, o.Bases = nil, nil, 0
	srcs := slices.Clone(in.Srcs)
	n := len(srcs)
	if o.Guarded = in.Guarded && n > 0 && isPredicate(srcs[n-1]); o.Guarded {
		o.Srcs, srcs = append(o.Srcs, srcs[n-1]), srcs[:n-1]
	}
	each := func(r isa.Reg, f func(isa.Reg)) {
		for k := range max(1, uint32(r.Count)) {
			f(isa.Reg{File: r.File, Count: 1, Number: r.Number + uint16(k), Index: r.Index + k})
		}
	}
	for i, r := range srcs {
		each(r, func(r isa.Reg) {
			if in.Bases>>i&1 != 0 {
				o.Bases |= 1 << len(o.Srcs)
			}
			o.Srcs = append(o.Srcs, r)
		})
	}
	for _, r := range in.Dsts {
		each(r, func(r isa.Reg) { o.Dsts = append(o.Dsts, r) })
	}
	if !in.Atomic {
		o.Elem = min(in.Elem, 4)
	}
	return &o
}

// machineDoes are the opcodes that do something else than to pass on what they read.
var machineDoes = func() map[string]does {
	by := map[string]does{}
	for d, names := range map[does]string{
		loads:   "LD LDG LDS LDL",
		stores:  "ST STG STS STL",
		settles: "LDC ULDC LDCU STSM MOVM VOTE VOTEU ELECT MATCH P2R UP2UR B2R BMOV QSPC CCTL",
		packs: "SEL USEL FSEL UFSEL LOP3 ULOP3 PLOP3 UPLOP3 PRMT UPRMT F2FP I2IP SHF USHF LEA ULEA BMSK SGXT VABSDIFF4 IDP " +
			"FMNMX IMNMX HADD2 HMUL2 HFMA2 HMNMX2 HSET2",
		votes: "REDUX",
	} {
		for _, name := range strings.Fields(names) {
			by[name] = d
		}
	}
	return by
}()

// doingMachine is doing for machine code.
func doingMachine(in *isa.Inst) does {
	name, rest, _ := strings.Cut(in.Op, ".")
	d := machineDoes[name]
	switch {
	case in.Flow != isa.FlowNext:
		return branches
	case name == "BAR" && strings.HasPrefix(rest, "RED"):
		return votes
	case (name == "VOTE" || name == "VOTEU") && !slices.ContainsFunc(in.Dsts, func(r isa.Reg) bool { return !isPredicate(r) }):
		return votes
	case name == "LDSM":
		return matrices
	case in.Tensor != nil && newProduct(in).a > 0:
		return products
	case in.Unit == isa.UnitTensor, in.Async.Does != isa.NotAsync, in.Barrier:
		return settles
	case in.Atomic && strings.Contains(in.Op, ".EXCH"):
		return swaps
	case in.Atomic:
		return atomics
	case (name == "SEL" || name == "FSEL") && in.Then|in.Else != 0:
		return selects
	case strings.HasSuffix(name, "SETP") || strings.HasSuffix(name, "SETP2"):
		if slices.ContainsFunc(in.Srcs[guards(in):], isPredicate) { // which may decide by itself
			return packs
		}
	}
	return d
}

// guards is the number of sources of an instruction that are its guard.
func guards(in *isa.Inst) int {
	if in.Guarded {
		return 1
	}
	return 0
}

// machineProduct is newProduct for machine code: the shape says how many registers the operands have,
// and a C of zero is none.
func machineProduct(in *isa.Inst) product {
	t := in.Tensor
	if t == nil || t.Sparse || t.N != 8 || t.M != 16 && t.M != 8 || !strings.HasPrefix(in.Op, "HMMA.") && !strings.HasPrefix(in.Op, "IMMA.") {
		return product{}
	}
	p := product{a: int(t.M) * int(t.K) * int(t.Elem) / 1024, b: int(t.N) * int(t.K) * int(t.Elem) / 1024, c: len(in.Dsts), rows: int(t.M)}
	n := len(in.Srcs) - guards(in)
	if p.a == 0 || p.b == 0 || p.c*8%p.rows != 0 || n != p.a+p.b && n != p.a+p.b+p.c {
		return product{}
	}
	return p
}
