package sass

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/num"
)

// Text is the instruction as a disassembler writes it, without control codes
// and semicolon.
func (in *Inst) Text() string { return in.text(nil) }

// text writes the instruction; branch targets are written by name if labels has one for
// their address.
func (in *Inst) text(labels map[int64]string) string {
	if in.Op == NoOp { // a word that no form describes
		return fmt.Sprintf(".word 0x%016x, 0x%016x", in.Words[0], in.Words[1])
	}
	var b strings.Builder
	if !in.Guard.Always() {
		b.WriteByte('@')
		if in.Guard.Not {
			b.WriteByte('!')
		}
		b.WriteString(predName(in.Guard.Pred, in.Guard.Uniform))
		b.WriteByte(' ')
	}
	b.WriteString(in.Op.String())
	for _, m := range in.Mods {
		b.WriteByte('.')
		b.WriteString(m)
	}
	for i := range in.Operands {
		o := &in.Operands[i]
		switch {
		case i == 0 || o.Tail:
			b.WriteByte(' ')
		default:
			b.WriteString(", ")
		}
		if o.Kind == Target && !o.Tail {
			if name, ok := labels[o.Imm]; ok {
				b.WriteString(name)
				continue
			}
		}
		o.write(&b)
	}
	return b.String()
}

func predName(n uint8, uniform bool) string {
	s := "P"
	if uniform {
		s = "UP"
	}
	if n == PT {
		return s + "T"
	}
	return s + strconv.Itoa(int(n))
}

func regName(n uint8) string {
	if n == RZ {
		return "RZ"
	}
	return "R" + strconv.Itoa(int(n))
}

func uregName(n uint8) string {
	if n == URZ {
		return "URZ"
	}
	return "UR" + strconv.Itoa(int(n))
}

func hexInt(v int64) string {
	if v < 0 {
		return fmt.Sprintf("-0x%x", uint64(-v))
	}
	return fmt.Sprintf("0x%x", v)
}

// String is the operand's text.
func (o *Operand) String() string {
	var b strings.Builder
	o.write(&b)
	return b.String()
}

func (o *Operand) write(b *strings.Builder) {
	if o.Neg {
		b.WriteByte('-')
	}
	if o.Not {
		if o.Kind == Pred || o.Kind == UPred {
			b.WriteByte('!')
		} else {
			b.WriteByte('~')
		}
	}
	// The bars of an absolute value close before the half of a register, and after any other
	// suffix.
	if o.Abs {
		b.WriteByte('|')
	}
	late := o.Abs && o.Kind != Reg
	switch o.Kind {
	case Reg:
		b.WriteString(regName(o.Reg))
	case UReg:
		b.WriteString(uregName(o.Reg))
	case Pred, UPred:
		b.WriteString(predName(o.Reg, o.Kind == UPred))
	case Desc:
		fmt.Fprintf(b, "%s[%s]", descShown, uregName(o.Reg))
	case GDesc:
		fmt.Fprintf(b, "%s[%s]", descMatrix, uregName(o.Reg))
	case BReg:
		fmt.Fprintf(b, "B%d", o.Reg)
	case SB:
		fmt.Fprintf(b, "SB%d", o.Reg)
	case SReg:
		b.WriteString(SpecialName(o.Reg))
	case Imm, Target:
		if o.Width == 64 {
			fmt.Fprintf(b, "0x%x", uint64(o.Imm))
			break
		}
		b.WriteString(hexInt(o.Imm))
	case FImm:
		switch text := floatText(o.Bits<<16, 32); {
		case !o.Brain:
			b.WriteString(floatText(o.Bits, int(o.Width)))
		case strings.HasPrefix(text, "0x"):
			fmt.Fprintf(b, "0x%x", o.Bits)
		default:
			b.WriteString(text)
		}
	case Const:
		o.writeConst(b)
	case Mem:
		o.writeMem(b)
	case Mask:
		b.WriteByte('{')
		sep := ""
		for n := 5; n >= 0; n-- {
			if o.Imm>>n&1 == 1 {
				fmt.Fprintf(b, "%s%d", sep, n)
				sep = ","
			}
		}
		b.WriteByte('}')
	case Word:
		b.WriteString(o.Suffix)
	}
	if o.Abs && !late {
		b.WriteByte('|')
	}
	if o.Reuse {
		b.WriteString(".reuse")
	}
	if o.Suffix != "" && o.Kind != Mem && o.Kind != Word {
		b.WriteByte('.')
		b.WriteString(o.Suffix)
	}
	if late {
		b.WriteByte('|')
	}
}

func (o *Operand) writeConst(b *strings.Builder) {
	switch {
	case o.CX:
		fmt.Fprintf(b, "cx[%s]", uregName(o.UReg))
	default:
		fmt.Fprintf(b, "c[0x%x]", o.Bank)
	}
	b.WriteByte('[')
	index := ""
	switch {
	case o.HasU && !o.CX:
		index = uregName(o.UReg)
	case o.Reg != RZ || o.Index0 && o.Imm == 0:
		index = regName(o.Reg)
	}
	b.WriteString(index)
	switch {
	case index == "":
		b.WriteString(hexInt(o.Imm))
	case o.Imm != 0:
		b.WriteByte('+')
		b.WriteString(hexInt(o.Imm))
	}
	b.WriteByte(']')
}

func (o *Operand) writeMem(b *strings.Builder) {
	if o.HasD {
		name := descShown
		if o.Hidden {
			name = descHidden
		}
		fmt.Fprintf(b, "%s[%s]", name, uregName(o.Desc))
	}
	b.WriteByte('[')
	sep := ""
	if o.Reg != RZ || !o.HasU && (o.Imm == 0 || o.HasD) || o.Suffix != "" {
		b.WriteString(regName(o.Reg))
		if o.Suffix != "" {
			b.WriteByte('.')
			b.WriteString(o.Suffix)
		}
		sep = "+"
	}
	if o.HasU {
		b.WriteString(sep)
		b.WriteString(uregName(o.UReg))
		sep = "+"
	}
	if o.Imm != 0 || sep == "" {
		b.WriteString(sep)
		b.WriteString(hexInt(o.Imm))
	}
	b.WriteByte(']')
}

// floatText writes a floating-point immediate as NVIDIA's disassembler does; numbers without
// such a text (NaNs with a payload) are written as their bits.
func floatText(bits uint64, width int) string {
	x := floatOf(bits, width)
	sign := "+"
	if bits>>(width-1)&1 == 1 {
		sign = "-"
	}
	switch {
	case math.IsInf(x, 0):
		return sign + "INF"
	case math.IsNaN(x):
		if bits&^(1<<(width-1)) == quietNaN(width) {
			return sign + "QNAN"
		}
		return fmt.Sprintf("0x%x", bits)
	case x == 0 && sign == "-":
		return "-0"
	case x == math.Trunc(x) && math.Abs(x) < 1<<31:
		return strconv.FormatInt(int64(x), 10)
	case math.Abs(x) >= 1<<31:
		return fmt.Sprintf("%.20e", x)
	}
	return trimFloat(fmt.Sprintf("%.20g", x))
}

// trimFloat removes trailing zeros after the point, as C's %g does.
func trimFloat(s string) string {
	mant, exp, has := strings.Cut(s, "e")
	if strings.Contains(mant, ".") {
		mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
	}
	if has {
		return mant + "e" + exp
	}
	return mant
}

// quietNaN is the quiet NaN with an empty payload.
func quietNaN(width int) uint64 {
	switch width {
	case 16:
		return 0x7e00
	case 32:
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

// floatOf is the number represented by bits of a given width.
func floatOf(bits uint64, width int) float64 {
	switch width {
	case 32:
		return float64(math.Float32frombits(uint32(bits)))
	case 64:
		return math.Float64frombits(bits)
	}
	return float64(math.Float32frombits(num.F16ToF32(uint16(bits))))
}
