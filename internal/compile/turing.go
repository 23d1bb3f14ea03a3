package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: what is different on sm_75, the oldest architecture that code is made for. It has no copies
// from global to shared memory, no descriptors, no bfloat16, and products of
// integer matrices of eight rows. HMMA.16816 is in its machine description,
// though NVIDIA's compiler makes two of HMMA.1688.

// turing reports whether the code is for sm_75.
func (m *module) turing() bool { return m.arch < 80 }

// lacks are instructions that sm_75 does not have (isa/sass/table: what mem_80 and sm_80 add); a modifier
// stands for all instructions with it, unless it follows a mnemonic.
var lacks = []string{"HMNMX2", "LDGSTS", "LDGDEPBAR", "REDUX", "I2FP", "DMMA", "BF16", "BF16_V2", "TF32", "RELU", "FMNMX NAN", "IMMA 16816", "IMMA 16832", "IMMA 16864", "BMMA AND", "BMMA 168128", "BMMA 168256", "HMMA SP"}

// onTuring is the name of an instruction in the form of sm_75: accesses to global memory name their scope
// also where they have no order.
func (b *builder) onTuring(name string) string {
	parts := strings.Split(name, ".")
	for _, l := range lacks {
		base, mod, both := strings.Cut(l, " ")
		if both && parts[0] == base && slices.Contains(parts, mod) || !both && slices.Contains(parts, l) {
			stop(b.inst.FullName(), fmt.Sprintf("needs %s, which %v does not have", name, b.mod.arch))
		}
	}
	switch parts[0] {
	case "LD", "LDG", "ST", "STG":
		if !slices.Contains(parts, "STRONG") {
			name += ".SYS"
		}
	}
	return strings.Replace(name, "STRONG.SM", "STRONG.CTA", 1)
}

// copyAtOnce is cp.async as a load and a store: a program cannot tell that it is done before the program
// waits for it. Lanes where a predicate, if one is given, does not hold store zeros.
func (b *builder) copyAtOnce(c *asyncCopy, where []ir.Arg) {
	b.under(nil, 0, func() []*ir.Value {
		words, zero := b.fresh(c.bytes/4), b.value(ir.RZ())
		if len(where) > 0 {
			if where[0].Vals[0] == nil {
				stop(b.inst.FullName(), notYet)
			}
			b.guard = ir.Guard{Val: where[0].Vals[0], Not: where[0].Not}
		}
		load := b.emit("LDG.E"+sizeOf(c.bytes, false), ir.D(words...), b.global(c.from))
		for i := range load.Else {
			load.Else[i] = zero
		}
		b.guard = ir.Guard{}
		b.effect("STS"+sizeOf(c.bytes, false), c.to, ir.R(slices.Clone(words)...))
		return nil
	})
}

// reduxSteps put a value, n, to those before, o.
var reduxSteps = map[string]string{
	"add": "IADD3 t0, o, n, RZ", "and": "LOP3.LUT t0, o, n, RZ, 0xc0, !PT", "or": "LOP3.LUT t0, o, n, RZ, 0xfc, !PT", "xor": "LOP3.LUT t0, o, n, RZ, 0x3c, !PT",
	"min.s32": "IMNMX t0, o, n, PT", "max.s32": "IMNMX t0, o, n, !PT", "min.u32": "IMNMX.U32 t0, o, n, PT", "max.u32": "IMNMX.U32 t0, o, n, !PT",
}

// reduxRounds is redux.sync without REDUX: the lanes that there are of a mask, one after the other.
func (b *builder) reduxRounds(op string, t ptx.Type) {
	in := b.inst
	if op == "min" || op == "max" {
		op += "." + string(t)
	}
	d := &in.Args[0]
	if d.Kind == ptx.OpSink {
		d = nil
	}
	b.under(d, 1, func() []*ir.Value {
		x := b.applying(map[string]*ir.Value{"n": b.value(b.source(&in.Args[1], t, 0)), "m": b.value(b.source(&in.Args[2], "b32", 0))})
		x.text("MOV u1, 0x1 ; VOTE.ANY t1, PT, PT ; LOP3.LUT t2, t1, m, RZ, 0xc0, !PT")
		own := x.names["n"]
		next := func(left *ir.Value) (lane, rest *ir.Value) {
			x.names["t2"] = left
			x.text("FLO.U32 t3, t2 ; SHF.L.U32 t4, u1, t3, RZ ; LOP3.LUT t5, t2, t4, RZ, 0x30, !PT")
			lane = b.f.NewValue(ir.GPR)
			b.emit("SHFL.IDX", ir.DP(nil), ir.D(lane), ir.R(own), ir.R(x.names["t3"]), ir.T("0x1f"))
			return lane, x.names["t5"]
		}
		first, rest := next(x.names["t2"])
		return b.rounds([]*ir.Value{first, rest}, func(now []*ir.Value) ([]*ir.Value, *ir.Value) {
			lane, rest := next(now[1])
			x.names["o"], x.names["n"], x.names["t2"] = now[0], lane, now[1]
			x.text(reduxSteps[op] + " ; ISETP.EQ.AND p0, PT, t2, RZ, PT")
			return []*ir.Value{x.names["t0"], rest}, x.names["p0"]
		})[:1]
	})
}
