package record

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/trace"
)

// fromSASS describes the instructions of a kernel, in order.
func fromSASS(k *sass.Kernel) []trace.Static {
	list := make([]trace.Static, len(k.Code))
	for i, info := range k.Infos() {
		in, s := &k.Code[i], &list[i]
		s.PC, s.Op, s.Words, s.Text = in.Addr, info.Op, in.Words, in.Text()
		s.Line = info.Line
		if k.Control {
			c := in.Ctl
			c.Reuse = info.Control.Reuse
			s.Control = &c
		} else {
			s.Words = [2]uint64{} // their control bits have no meaning
		}
		s.Guard = trace.Guard{Known: true, Negated: in.Guard.Not, Uniform: in.Guard.Uniform, Reg: in.Guard.Pred}
		for j := range in.Operands {
			operand(s, in, &in.Operands[j], k.Arch)
		}
		if hasAddresses(&info) {
			s.Width = info.Width
		}
	}
	return list
}

// hasAddresses reports whether the tracer writes addresses for an instruction.
func hasAddresses(in *isa.Inst) bool {
	if !in.Load && !in.Store {
		return false
	}
	switch in.Space {
	case isa.Global, isa.Shared, isa.Local, isa.Generic:
		return true
	}
	return false
}

// operand adds what an operand names: registers, in the order of the text, and
// immediates. Registers that the text leaves out, such as the RZ of an absolute
// address, are not added.
func operand(s *trace.Static, in *sass.Inst, o *sass.Operand, arch sass.Arch) {
	to := &s.Srcs
	if o.Dst {
		to = &s.Dsts
	}
	add := func(list *[]trace.Reg, f isa.RegFile, n uint8) {
		if f == isa.RegUGPR && n == sass.URZ && arch < 100 {
			n = sass.URZ6
		}
		*list = append(*list, trace.Reg{File: f, N: uint16(n)})
	}
	switch o.Kind {
	case sass.Reg:
		add(to, isa.RegGPR, o.Reg)
	case sass.UReg:
		add(to, isa.RegUGPR, o.Reg)
	case sass.Pred:
		add(to, isa.RegPred, o.Reg)
	case sass.UPred:
		add(to, isa.RegUPred, o.Reg)
	case sass.Imm, sass.Mask:
		s.Imms = append(s.Imms, o.Imm)
	case sass.FImm:
		s.Imms = append(s.Imms, int64(o.Bits))
	case sass.Target:
		s.Imms = append(s.Imms, o.Imm-int64(in.Addr)-instBytes) // as encoded: relative to the next instruction
	case sass.Const, sass.Mem:
		text := o.String()
		if o.HasD && !o.Hidden {
			add(&s.Srcs, isa.RegUGPR, o.Desc)
		}
		if o.CX {
			add(&s.Srcs, isa.RegUGPR, o.UReg)
		}
		if o.Reg != sass.RZ || strings.Contains(text, "[RZ") {
			add(&s.Srcs, isa.RegGPR, o.Reg)
		}
		if o.HasU && !o.CX {
			add(&s.Srcs, isa.RegUGPR, o.UReg)
		}
	}
}

// instBytes is the size of an instruction since Volta.
const instBytes = 16
