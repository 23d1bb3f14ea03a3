package compile

import (
	"math"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: which operands an instruction may have. The machine's encoding has room for one source
// that is no register, and only in some places.

// places says for the sources of an instruction, in their order, what may be there: r a register, b
// also an immediate or a constant, c also a constant. Only one may be no register. (The shapes of
// isa/sass/table; instructions that are missing take registers.)
var places = map[string]string{
	"IADD3": "rbr", "LOP3": "rbr", "IMAD": "rbb", "IMNMX": "rb", "IABS": "b", "SHF": "rbb", "ISETP": "rb", "SEL": "rb", "MOV": "b",
	"FLO": "b", "BREV": "b", "POPC": "b", "PRMT": "rbb", "IDP": "rbr", "SGXT": "rb", "BMSK": "rb", "LEA": "rb",
	"FADD": "rb", "FMUL": "rb", "FFMA": "rbb", "FMNMX": "rb", "FSETP": "rb", "FSEL": "rb", "MUFU": "b", "FCHK": "rb", "F2FP": "rb",
	"F2I": "c", "I2F": "c", "F2F": "c", "FRND": "c", "I2FP": "b", "HADD2": "rc", "HMUL2": "rc", "HFMA2": "rcc", "HSETP2": "rc", "HMNMX2": "rc",
	"DADD": "rc", "DMUL": "rc", "DFMA": "rcc", "DSETP": "rc", "WARPSYNC": "b", "NANOSLEEP": "b",
}

// swappable reports whether an instruction's first two sources may change places; IADD3's may all. IDP.2A takes
// halves of one and bytes of the other.
func swappable(in *ir.Inst) bool {
	switch in.Base() {
	case "IADD3", "IMAD", "FADD", "FMUL", "FFMA", "IMNMX", "FMNMX", "LOP3", "ISETP", "FSETP", "SEL", "DADD", "DMUL", "DFMA":
		return true
	case "IDP":
		return !in.Has("2A")
	}
	return false
}

// sources are the operands of an instruction that its places are about.
func sources(in *ir.Inst) []*ir.Arg {
	return sourcesIn(make([]*ir.Arg, 0, 3), in)
}

// sourcesIn appends the sources to a list.
func sourcesIn(list []*ir.Arg, in *ir.Inst) []*ir.Arg {
	for i := range in.Args {
		if a := &in.Args[i]; !a.Dst && (a.Kind == ir.Reg || a.Kind == ir.Imm || a.Kind == ir.Const) {
			list = append(list, a)
		}
	}
	return list
}

// floating reports whether an instruction's immediates are floats.
func floating(base string) bool {
	switch base {
	case "FADD", "FMUL", "FFMA", "FMNMX", "FSETP", "FSEL", "MUFU", "FCHK", "F2FP":
		return true
	}
	return false
}

// fits reports whether what an operand is may be at a place; others are the instruction's sources.
func fits(in *ir.Inst, list []*ir.Arg, n int, a *ir.Arg, wide int) bool {
	if a.Kind == ir.Reg {
		return true
	}
	rule := places[in.Base()]
	if n >= len(rule) || rule[n] == 'r' || rule[n] == 'c' && a.Kind == ir.Imm {
		return false
	}
	for i, o := range list {
		if i != n && o.Kind != ir.Reg {
			return false
		}
	}
	switch {
	case a.Kind == ir.Const:
		return a.Imm%int64(4*wide) == 0 && a.Imm < 1<<16 && len(a.Vals) == 0
	case wide > 1:
		return false
	case in.Has("RCP64H") || in.Has("RSQ64H"): // whose immediates are of binary64
		return false
	case floating(in.Base()):
		f := math.Float32frombits(uint32(a.Imm))
		return f == f
	case a.Neg && in.Base() == "IADD3":
		return len(in.Args) < 2 || !in.Args[1].Dst || in.Args[1].Vals[0] == nil // the carry of -0 differs
	}
	return true
}

// settle carries out the signs of an immediate.
func settle(in *ir.Inst, a *ir.Arg) {
	v := uint32(a.Imm)
	if floating(in.Base()) {
		a.Float = true
		if a.Abs {
			v &^= 1 << 31
		}
		if a.Neg {
			v ^= 1 << 31
		}
	} else {
		if a.Not {
			v = ^v
		}
		if a.Neg {
			v = -v
		}
	}
	a.Imm, a.Neg, a.Not, a.Abs = int64(v), false, false, false
}

// swap exchanges two sources of an instruction, with what else that means.
func swap(in *ir.Inst, x, y *ir.Arg) {
	*x, *y = *y, *x
	switch base := in.Base(); base {
	case "ISETP", "FSETP":
		parts := strings.Split(in.Name, ".")
		parts[1] = map[string]string{"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "LTU": "GTU", "GTU": "LTU", "LEU": "GEU", "GEU": "LEU"}[parts[1]] + map[string]string{"EQ": "EQ", "NE": "NE", "EQU": "EQU", "NEU": "NEU", "NUM": "NUM", "NAN": "NAN", "F": "F", "T": "T"}[parts[1]]
		in.Name = strings.Join(parts, ".")
	case "SEL":
		p := &in.Args[len(in.Args)-1]
		p.Not = !p.Not
	case "LOP3":
		for i := range in.Args {
			if a := &in.Args[i]; a.Kind == ir.Text && strings.HasPrefix(a.Text, "0x") {
				a.Text = swapTable(a.Text)
			}
		}
	case "IDP":
		parts := strings.Split(in.Name, ".")
		parts[2], parts[3] = parts[3], parts[2]
		in.Name = strings.Join(parts, ".")
	}
}

// swapTable is LOP3's table with the first two sources exchanged: entries 2 and 4, 3 and 5.
func swapTable(text string) string {
	var v, out uint
	for i := 2; i < len(text); i++ {
		v = v<<4 | uint(strings.IndexByte("0123456789abcdef", text[i]))
	}
	for i, from := range [8]int{0, 1, 4, 5, 2, 3, 6, 7} {
		out |= v >> from & 1 << i
	}
	const digits = "0123456789abcdef"
	return "0x" + string(digits[out>>4]) + string(digits[out&15])
}

// legalise gives every instruction operands that its encoding has: sources change places where they
// may, and what still does not fit is moved to a register first.
func legalise(f *ir.Func) {
	var list []*ir.Arg
	for _, b := range f.Blocks {
		for i := 0; i < len(b.Insts); i++ {
			in := b.Insts[i]
			if in.Name == ir.Copy {
				continue
			}
			list = sourcesIn(list[:0], in)
			if swappable(in) && len(list) > 1 && list[0].Kind != ir.Reg {
				swapAway(in, list)
			}
			for n, a := range list {
				w := widthOf(in, n, a)
				if a.Kind == ir.Reg && len(a.Vals) < w && a.Vals[0] == nil {
					a.Vals = make([]*ir.Value, w) // RZ is zero in any width
				}
				switch {
				case a.Kind == ir.Reg && len(a.Vals) != w:
					stop(in.Name, "has an operand of another width, which "+notYet)
				case a.Kind == ir.Reg || in.Base() == "LDC" || in.Base() == "ULDC":
				case fits(in, list, n, a, w):
					if a.Kind == ir.Imm {
						settle(in, a)
					}
				default:
					i += load(f, b, i, a)
				}
			}
		}
	}
}

// swapAway brings a source that is no register from the first place to one where it may be.
func swapAway(in *ir.Inst, list []*ir.Arg) {
	if list[1].Kind == ir.Reg && fits(in, list[1:], 0, list[1], 1) {
		swap(in, list[0], list[1])
	} else if in.Base() == "IADD3" && list[2].Kind == ir.Reg {
		swap(in, list[0], list[2])
	}
}

// widthOf is the number of registers of an instruction's n-th source, a.
func widthOf(in *ir.Inst, n int, a *ir.Arg) int {
	switch base := in.Base(); {
	case base == "IMAD" && n == 2 && (in.Has("WIDE") || in.Has("HI")):
		return 2
	case base == "DADD", base == "DMUL", base == "DFMA", base == "DSETP":
		return 2
	}
	if a.Kind == ir.Reg {
		return len(a.Vals)
	}
	return 1
}

// load moves an operand to registers before instruction i; it returns the number of new instructions.
func load(f *ir.Func, b *ir.Block, i int, a *ir.Arg) int {
	in := b.Insts[i]
	w := 1
	for n, x := range sources(in) {
		if x == a {
			w = widthOf(in, n, x)
		}
	}
	r := ir.Arg{Kind: ir.Reg, Neg: a.Neg, Abs: a.Abs, Not: a.Not}
	for n := range w {
		from := *a
		from.Neg, from.Abs, from.Not, from.Float = false, false, false, false
		if from.Imm += 4 * int64(n); a.Kind == ir.Imm {
			from.Imm = a.Imm
			if n > 0 {
				from.Imm = a.Imm >> 63
			}
		}
		v := f.NewValue(ir.GPR)
		b.Insert(i+n, &ir.Inst{Name: "MOV", Args: []ir.Arg{ir.D(v), from}, Line: in.Line})
		r.Vals = append(r.Vals, v)
	}
	*a = r
	return w
}
