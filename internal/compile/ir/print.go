package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String is the whole function as text.
func (f *Func) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n", f.Name)
	for _, x := range f.Blocks {
		fmt.Fprintf(&b, "b%d:", x.ID)
		for _, p := range x.Preds {
			fmt.Fprintf(&b, " <-b%d", p.ID)
		}
		b.WriteByte('\n')
		for _, p := range x.Phis {
			fmt.Fprintf(&b, "\t%s = phi", p.Dst)
			for _, a := range p.Args {
				fmt.Fprintf(&b, " %s", a)
			}
			b.WriteByte('\n')
		}
		for _, in := range x.Insts {
			fmt.Fprintf(&b, "\t%s\n", in)
		}
		fmt.Fprintf(&b, "\t%s\n", &x.Term)
	}
	return b.String()
}

// String is the name of a value, or of its register once it has one.
func (v *Value) String() string {
	if v == nil {
		return "undef"
	}
	if v.Reg >= 0 {
		return v.Register()
	}
	return [Classes]string{"%r", "%p", "%u"}[v.Class] + strconv.Itoa(v.ID)
}

// Register is the machine's name of a value's register.
func (v *Value) Register() string {
	return [Classes]string{"R", "P", "UR"}[v.Class] + strconv.Itoa(v.Reg)
}

// String is the end of a block as text.
func (t *Term) String() string {
	switch t.Flow {
	case Jump:
		return fmt.Sprintf("jump b%d", t.Then.ID)
	case Branch:
		not, u := "", ""
		if t.Not {
			not = "!"
		}
		if t.Uniform {
			u = ".U"
		}
		return fmt.Sprintf("branch%s %s%s b%d b%d", u, not, t.Cond, t.Then.ID, t.Else.ID)
	}
	if t.Flow == Return {
		return "return"
	}
	return "exit"
}

// String is the instruction in the machine's syntax.
func (in *Inst) String() string {
	var b strings.Builder
	if in.Guard.Val != nil {
		b.WriteByte('@')
		if in.Guard.Not {
			b.WriteByte('!')
		}
		b.WriteString(in.Guard.Val.String() + " ")
	}
	if in.Name == Copy {
		b.WriteString("copy")
	} else {
		b.WriteString(in.Name)
	}
	for i := range in.Args {
		if in.Args[i].Kind == Hidden {
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		in.Args[i].write(&b)
	}
	if in.Target != nil {
		fmt.Fprintf(&b, ", b%d", in.Target.ID)
	}
	if len(in.Else) > 0 {
		fmt.Fprintf(&b, " else %v", in.Else)
	}
	return b.String()
}

// String is the argument in the machine's syntax.
func (a *Arg) String() string {
	var b strings.Builder
	a.write(&b)
	return b.String()
}

func (a *Arg) write(b *strings.Builder) {
	if a.Neg {
		b.WriteByte('-')
	}
	if a.Not {
		b.WriteByte(map[bool]byte{true: '!', false: '~'}[a.Kind == P])
	}
	if a.Abs {
		b.WriteByte('|')
	}
	switch a.Kind {
	case Reg:
		b.WriteString(tuple(a.Vals, "RZ"))
	case P:
		b.WriteString(tuple(a.Vals, "PT"))
	case Imm:
		b.WriteString(a.immediate())
	case Const:
		fmt.Fprintf(b, "c[%#x][", a.Bank)
		if len(a.Vals) > 0 {
			b.WriteString(tuple(a.Vals, "RZ") + "+")
		}
		fmt.Fprintf(b, "%#x]", a.Imm)
	case Mem:
		a.writeMem(b)
	case Text:
		b.WriteString(a.Text)
	}
	if a.Abs {
		b.WriteByte('|')
	}
	if a.Suffix != "" && a.Kind != Mem {
		b.WriteString("." + a.Suffix)
	}
}

// immediate is a number as the machine's text has it.
func (a *Arg) immediate() string {
	if !a.Float {
		if v := int32(a.Imm); v < 0 && v > -1<<16 {
			return fmt.Sprintf("-%#x", -int64(v))
		}
		return fmt.Sprintf("%#x", uint32(a.Imm))
	}
	f := math.Float32frombits(uint32(a.Imm))
	switch {
	case f != f:
		if int32(a.Imm) < 0 {
			return "-QNAN"
		}
		return "+QNAN"
	case f > math.MaxFloat32:
		return "+INF"
	case f < -math.MaxFloat32:
		return "-INF"
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 32)
}

func (a *Arg) writeMem(b *strings.Builder) {
	b.WriteString(a.Text + "[") // a descriptor
	base := tuple(a.Vals, "")
	b.WriteString(base)
	if len(a.Vals) == 2 && base != "" && a.Suffix == "" {
		b.WriteString(".64")
	}
	switch {
	case base == "":
		if a.Imm < 0 {
			b.WriteByte('-')
		}
		fmt.Fprintf(b, "%#x", max(a.Imm, -a.Imm))
	case a.Imm > 0:
		fmt.Fprintf(b, "+%#x", a.Imm)
	case a.Imm < 0:
		fmt.Fprintf(b, "+-%#x", -a.Imm)
	}
	b.WriteByte(']')
}

// tuple is the name of the first register once all have one, else of all.
func tuple(list []*Value, none string) string {
	if len(list) == 0 || list[0] == nil && len(list) == 1 {
		return none
	}
	all, zero := true, true
	for _, v := range list {
		all = all && v != nil && v.Reg >= 0
		zero = zero && v == nil
	}
	switch {
	case zero:
		return none
	case all:
		return list[0].Register()
	}
	var names []string
	for _, v := range list {
		if v == nil {
			names = append(names, none)
			continue
		}
		names = append(names, v.String())
	}
	return strings.Join(names, ":")
}
