package sass

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: kernels that programs make, without text.

// Assembler makes the code of kernels of one architecture from operands. What it makes is what Parse makes of
// the text.
type Assembler struct {
	table *table
	// What is known of mnemonics, and of operands that are words.
	mnemonics map[string]*knownName
	words     map[string]arg
	args      []arg // of the instruction that is being made
}

// knownName is an opcode with modifiers.
type knownName struct {
	op    Op
	mods  []string
	forms []candidate
}

// NewAssembler returns an assembler for an architecture.
func NewAssembler(a Arch) *Assembler {
	return &Assembler{table: tableOf(a), mnemonics: map[string]*knownName{}, words: map[string]arg{}}
}

// Add appends an instruction with control bits to a kernel's code. Of operands that are numbers only Imm, or
// the 32 Bits of FImm, counts: the form decides what they mean. A Target is at Imm, in bytes from the
// beginning. The Suffix of a Word may also be the text of any other operand.
func (a *Assembler) Add(k *Kernel, name string, g Guard, operands []Operand, ctl isa.Control) error {
	m, err := a.mnemonic(name)
	if err != nil {
		return err
	}
	s := source{op: m.op, opText: name, mods: m.mods, guard: g, forms: m.forms, addr: uint32(len(k.Code)) * InstBytes}
	a.args = a.args[:0]
	for i := range operands {
		x, err := a.arg(&operands[i])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.args = append(a.args, x)
	}
	s.args = a.args
	_, in, e := a.table.encode(&s, &ctl)
	if e != nil {
		for i := range s.args {
			if x := &s.args[i]; x.text == "" {
				x.text = x.Operand.String()
			}
		}
		e = a.table.misfit(&s)
		return fmt.Errorf("%s: %s", name, strings.TrimSuffix(e.what+"; "+e.fix, "; "))
	}
	for i := range in.Operands {
		if ctl.Yield && in.Operands[i].Reuse {
			return fmt.Errorf("%s: reuse and yield cannot be combined", name)
		}
	}
	in.Ctl = ctl
	k.Code = append(k.Code, in)
	return nil
}

// mnemonic finds the forms of an opcode with modifiers.
func (a *Assembler) mnemonic(name string) (*knownName, error) {
	m := a.mnemonics[name]
	if m == nil {
		parts := strings.Split(name, ".")
		op, ok := opsByName[parts[0]]
		if !ok {
			return nil, fmt.Errorf("unknown opcode %q", parts[0])
		}
		m = &knownName{op, parts[1:], a.table.forms(op, parts[1:])}
		a.mnemonics[name] = m
	}
	return m, nil
}

// arg is an operand as text would give it.
func (a *Assembler) arg(o *Operand) (arg, error) {
	switch o.Kind {
	case Word:
		x, ok := a.words[o.Suffix]
		if !ok {
			var err error
			if x, err = parseArg(o.Suffix); err != nil {
				return arg{}, err
			}
			x.text = o.Suffix
			a.words[o.Suffix] = x
		}
		x.Tail = o.Tail
		return x, nil
	case Target:
		return arg{Operand: Operand{Kind: Word, Imm: o.Imm, Reg: RZ, UReg: URZ, Desc: URZ, Tail: o.Tail}, found: true}, nil
	}
	x := arg{Operand: *o}
	switch o.Kind {
	case Imm:
		x.where = anInteger
	case FImm:
		x.Kind, x.where = Imm, aFloat
	}
	return x, nil
}

// Complete links the code that was added to a kernel, and checks the kernel as Parse does.
func (k *Kernel) Complete() error {
	k.link()
	k.Control, k.declared = true, true
	var err error
	note := func(format string, args ...any) {
		if err == nil {
			err = fmt.Errorf(format, args...)
		}
	}
	if !namePattern.MatchString(k.Name) {
		note("%q is not a valid kernel name", k.Name)
	}
	for _, x := range []struct {
		name         string
		value, least int
		most         int
	}{{".regs", k.Regs, 1, maxRegs}, {".shared", k.Shared, 0, maxShared}, {".local", k.Local, 0, isa.MaxLocal}, {".barriers", k.Barriers, 0, maxBarriers}} {
		if x.value < x.least || x.value > x.most {
			note("%s %d is not in range: %d to %d", x.name, x.value, x.least, x.most)
		}
	}
	for _, t := range [...][3]uint32{k.MaxThreads, k.Block} {
		for _, n := range t {
			if n > isa.MaxThreads {
				note("a block of %v threads is too large", t)
			}
		}
	}
	for _, x := range k.Params {
		if end := x.Offset + x.Bytes - k.Arch.ParamBase(); end > isa.MaxParams {
			note("parameter %s ends at byte %d of %d", x.Name, end, isa.MaxParams)
		}
	}
	names := map[string]bool{}
	for _, l := range k.Labels {
		if x, _ := parseArg(l.Name); x.Kind != Word || names[l.Name] {
			note("%s cannot be the name of a label here", l.Name)
		}
		names[l.Name] = true
	}
	for i := range k.Code {
		k.faults(&k.Code[i], k.Regs, func(_ int, _, what string) { note("instruction %d, %s: %s", i, k.Code[i].Text(), what) })
	}
	switch {
	case err != nil:
	case !k.exits():
		note("kernel %s has no EXIT", k.Name)
	case k.open():
		note("execution runs past the end of kernel %s", k.Name)
	}
	return err
}
