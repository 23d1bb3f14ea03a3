package sass

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// TestAssembler: a kernel made of operands is the one that its text is.
func TestAssembler(t *testing.T) {
	ctl := isa.Control{Stall: 5, Write: 1, Read: isa.NoCounter, Wait: 3}
	reg := func(n uint8) Operand { return Operand{Kind: Reg, Reg: n, UReg: URZ, Desc: URZ} }
	always, guard := Guard{Pred: PT}, Guard{Pred: 2, Not: true}
	k := &Kernel{Name: "k", Arch: 86, Regs: 12, Labels: []Label{{".L_1", 1}}}
	a := NewAssembler(86)
	for _, x := range []struct {
		name     string
		guard    Guard
		operands []Operand
	}{
		{"ULDC.64", always, []Operand{{Kind: Word, Suffix: "UR4"}, {Kind: Const, Imm: 0x118, Reg: RZ, UReg: URZ}}},
		{"IADD3", guard, []Operand{reg(2), reg(RZ), {Kind: Imm, Imm: -5}, {Kind: Reg, Reg: 3, Neg: true}}},
		{"FADD", always, []Operand{reg(2), {Kind: Reg, Reg: 3, Reuse: true}, {Kind: FImm, Bits: 0x3fc00000, Width: 32}}},
		{"LDG.E.64", always, []Operand{reg(4), {Kind: Mem, Reg: 8, Suffix: "64", Imm: -16, Desc: 4, HasD: true, UReg: URZ}}},
		{"S2R", always, []Operand{reg(0), {Kind: Word, Suffix: "SR_TID.X"}}},
		{"BRA", guard, []Operand{{Kind: Target, Imm: InstBytes}}},
		{"EXIT", always, nil},
	} {
		if err := a.Add(k, x.name, x.guard, x.operands, ctl); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Complete(); err != nil {
		t.Fatal(err)
	}
	text := (&File{Arch: 86, Kernels: []*Kernel{k}}).Text()
	f, err := Parse("k.sass", text, 86)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range f.Kernels[0].Code {
		want := f.Kernels[0].Code[i]
		want.Pos = isa.Pos{}
		if got := k.Code[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", want.Text(), got, want)
		}
	}
}

// TestAssemblerRejects: what no form or no kernel allows is named.
func TestAssemblerRejects(t *testing.T) {
	reg := func(n uint8) Operand { return Operand{Kind: Reg, Reg: n, UReg: URZ, Desc: URZ} }
	for _, x := range []struct {
		what, name string
		operands   []Operand
		regs       int
		yield      bool
		want       string
	}{
		{"opcode", "IADD9", nil, 8, false, `unknown opcode "IADD9"`},
		{"modifier", "IADD3.Z", []Operand{reg(0), reg(0), reg(0), reg(0)}, 8, false, "cannot have the modifier .Z"},
		{"operand", "IADD3", []Operand{reg(0), reg(0), {Kind: Word, Suffix: "PT"}, reg(0)}, 8, false, "unexpected PT; want"},
		{"word", "S2R", []Operand{reg(0), {Kind: Word, Suffix: "|R"}}, 8, false, "no closing bar"},
		{"register", "MOV", []Operand{reg(9), reg(0)}, 8, false, "R9 exceeds .regs 8"},
		{"pair", "LDS.64", []Operand{reg(3), {Kind: Mem, Reg: 0, UReg: URZ, Desc: URZ}}, 8, false, "R3 is the first of 2 registers"},
		{"end", "MOV", []Operand{reg(0), reg(1)}, 8, false, "kernel k has no EXIT"},
		{"target", "BRA", []Operand{{Kind: Target, Imm: 64}}, 8, false, "no instruction at its target 0x40"},
		{"reuse", "IADD3", []Operand{reg(0), {Kind: Reg, Reg: 1, Reuse: true}, reg(0), reg(0)}, 8, true, "reuse and yield cannot be combined"},
	} {
		t.Run(x.what, func(t *testing.T) {
			k := &Kernel{Name: "k", Arch: 86, Regs: x.regs}
			err := NewAssembler(86).Add(k, x.name, Guard{Pred: PT}, x.operands, isa.Control{Stall: 1, Yield: x.yield, Write: isa.NoCounter, Read: isa.NoCounter})
			if err == nil {
				err = k.Complete()
			}
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("got %v, want %q", err, x.want)
			}
		})
	}
}
