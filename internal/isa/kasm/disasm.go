package kasm

import (
	"fmt"
	"strconv"
	"strings"
)

// Text returns the instruction as the assembler reads it, with jump targets as distances in
// instructions. It is exact: assembling it gives the same word.
func (i Inst) Text() string { return i.text("") }

// text writes an instruction; target, if not empty, replaces the distance of a jump.
func (i Inst) text(target string) string {
	if !i.Op.Known() {
		return fmt.Sprintf(".word 0x%016x", i.Word())
	}
	p := printer{}
	if i.Guard != Always {
		p.b.WriteByte('@')
		if i.Guard&8 != 0 {
			p.b.WriteByte('!')
		}
		fmt.Fprintf(&p.b, "P%d ", i.Guard&7)
	}
	name := i.Op.String()
	if i.Op == TEX {
		name = i.texName()
	}
	p.b.WriteString(name)
	if target == "" {
		target = strconv.Itoa(int(i.Imm))
	}
	i.operands(&p, target)
	for _, f := range p.forced {
		p.b.WriteByte(' ')
		p.b.WriteString(f)
	}
	return p.b.String()
}

// operands writes the operands of the instruction's form; target is that of a branch.
func (i Inst) operands(p *printer, target string) {
	switch ops[i.Op].form {
	case formPlain:
		i.plain(p)
	case formLoad:
		p.operand(p.register("rd", i.Rd))
		p.operand(p.address(i))
		p.force("rs2", i.Rs2)
		p.force("rs3", i.Rs3)
	case formStore:
		p.operand(p.address(i))
		p.operand(p.register("rs2", i.Rs2))
		p.force("rd", i.Rd)
		p.force("rs3", i.Rs3)
	case formBranch:
		p.operand(p.register("rs1", i.Rs1))
		p.operand(p.register("rs2", i.Rs2))
		p.operand(target)
		p.force("rd", i.Rd)
		p.force("rs3", i.Rs3)
	case formJump:
		p.operand(target)
		p.force("rd", i.Rd)
		p.force("rs1", i.Rs1)
		p.force("rs2", i.Rs2)
		p.force("rs3", i.Rs3)
	case formSetp:
		cc := 0
		if i.Imm >= 0 && int(i.Imm) < len(comparisons) {
			cc = int(i.Imm)
		}
		p.b.WriteString("." + comparisons[cc])
		p.operand(fmt.Sprintf("P%d", i.Rd&7))
		p.operand(p.register("rs1", i.Rs1))
		p.operand(p.register("rs2", i.Rs2))
		if i.Rd > 7 {
			p.force("rd", i.Rd)
		}
		p.force("rs3", i.Rs3)
		if int(i.Imm) != cc {
			p.forced = append(p.forced, fmt.Sprintf("imm=%d", i.Imm))
		}
	case formSelp:
		p.operand(p.register("rd", i.Rd))
		p.operand(p.register("rs1", i.Rs1))
		p.operand(p.register("rs2", i.Rs2))
		p.operand(fmt.Sprintf("P%d", i.Imm&7))
		p.force("rs3", i.Rs3)
		if i.Imm&^7 != 0 {
			p.forced = append(p.forced, fmt.Sprintf("imm=%d", i.Imm))
		}
	case formAtomic, formCas:
		p.operand(p.register("rd", i.Rd))
		p.operand(p.address(i))
		p.operand(p.register("rs2", i.Rs2))
		if ops[i.Op].form == formCas {
			p.operand(p.register("rs3", i.Rs3))
		} else {
			p.force("rs3", i.Rs3)
		}
	case formRast:
		p.operand(fmt.Sprintf("P%d", i.Rd&7))
		p.operand(p.register("rs1", i.Rs1))
		if i.Rd > 7 {
			p.force("rd", i.Rd)
		}
		p.force("rs2", i.Rs2)
		p.force("rs3", i.Rs3)
		if i.Imm != 0 {
			p.forced = append(p.forced, fmt.Sprintf("imm=%d", i.Imm))
		}
	case formTex:
		i.tex(p)
	}
}

// plain writes the operands of the general form, without trailing zeros.
func (i Inst) plain(p *printer) {
	names := [...]string{"rd", "rs1", "rs2", "rs3"}
	fields := [...]uint8{i.Rd, i.Rs1, i.Rs2, i.Rs3}
	n := len(fields)
	for n > 0 && (fields[n-1] == 0 || fields[n-1] >= Registers) {
		p.force(names[n-1], fields[n-1])
		n--
	}
	for k := range n {
		p.operand(p.register(names[k], fields[k]))
	}
	if i.Imm != 0 {
		p.operand(strconv.Itoa(int(i.Imm)))
	}
}

// printer collects an instruction's operands and the fields that do not appear among them.
type printer struct {
	b        strings.Builder
	operands int
	forced   []string
}

func (p *printer) operand(s string) {
	if p.operands > 0 {
		p.b.WriteByte(',')
	}
	p.b.WriteByte(' ')
	p.b.WriteString(s)
	p.operands++
}

// register returns a register's name; a field that is not a register is forced.
func (p *printer) register(name string, field uint8) string {
	if field >= Registers {
		p.force(name, field)
		field = 0
	}
	return "R" + strconv.Itoa(int(field))
}

func (p *printer) address(i Inst) string {
	base := p.register("rs1", i.Rs1)
	switch {
	case i.Imm == 0:
		return "[" + base + "]"
	case i.Imm < 0:
		return fmt.Sprintf("[%s - %d]", base, -int64(i.Imm))
	}
	return fmt.Sprintf("[%s + %d]", base, i.Imm)
}

func (p *printer) force(name string, field uint8) {
	if field != 0 {
		p.forced = append(p.forced, fmt.Sprintf("%s=%d", name, field))
	}
}

// jumps reports whether the immediate is a distance that a label can replace.
func (i Inst) jumps() bool {
	f := ops[i.Op].form
	return f == formBranch || f == formJump
}

// Disassemble writes words as a program that assembles to them again. Jumps within the
// program get labels: L and the number of their target word.
func Disassemble(words []uint64, enc Encoding) string {
	insts := make([]Inst, len(words))
	known := make([]bool, len(words))
	labels := map[int]bool{}
	target := func(at int) (int, bool) {
		t := at + int(insts[at].Imm)
		return t, known[at] && insts[at].jumps() && t >= 0 && t <= len(words)
	}
	for k, w := range words {
		op, ok := enc.op(byte(w >> 56))
		insts[k], known[k] = Decode(w), ok
		if ok {
			insts[k].Op = op
		}
		if t, ok := target(k); ok {
			labels[t] = true
		}
	}
	var b strings.Builder
	for k, w := range words {
		if labels[k] {
			fmt.Fprintf(&b, "L%d:\n", k)
		}
		switch t, ok := target(k); {
		case !known[k]:
			fmt.Fprintf(&b, "    .word 0x%016x\n", w)
		case ok:
			fmt.Fprintf(&b, "    %s\n", insts[k].text("L"+strconv.Itoa(t)))
		default:
			fmt.Fprintf(&b, "    %s\n", insts[k].text(""))
		}
	}
	if labels[len(words)] {
		fmt.Fprintf(&b, "L%d:\n", len(words))
	}
	return b.String()
}
