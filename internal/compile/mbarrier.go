package compile

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: barriers in shared memory (mbarrier). PTX leaves open what the 64 bits of one mean. Ours are,
// from bit 0 up, as in the executor of PTX: arrivals that are pending (20 bits), arrivals of a phase (20),
// 21 bits for transactions, which the machines that are compiled for do not have, the parity of the phase,
// and a bit that is set.

const (
	mbarrierCount = 1<<20 - 1
	mbarrierPhase = 1 << 29 // in the upper half
	mbarrierValid = 1 << 30
)

// mbarrier is mbarrier in all forms without transactions.
func (b *builder) mbarrier() {
	in := b.inst
	s, sub := in.Space()
	verb := ""
	if len(in.Mods) > 0 {
		verb = in.Mods[0]
	}
	if s != ptx.SpaceShared && verb != "pending_count" || sub == "cluster" || in.Has("expect_tx") || scopes[in.Scope()] == "GPU" || in.Sem() == "relaxed" {
		stop(in.FullName(), notYet)
	}
	a := in.Args
	switch verb {
	case "init":
		n, hi := b.value(b.source(&a[1], "u32", 0)), b.value(ir.I(mbarrierValid))
		lo, up, both := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)
		b.emit("SHF.L.U32", ir.D(lo), ir.R(n), ir.I(20), ir.RZ())
		b.emit("SHF.R.U32.HI", ir.D(up), ir.RZ(), ir.I(12), ir.R(n))
		b.emit("LOP3.LUT", ir.D(both), ir.R(lo), ir.R(n), ir.RZ(), ir.T("0xfc"), ir.Pr(nil, true))
		top := b.f.NewValue(ir.GPR)
		b.emit("LOP3.LUT", ir.D(top), ir.R(up), ir.R(hi), ir.RZ(), ir.T("0xfc"), ir.Pr(nil, true))
		b.effect("STS.64", b.address(&a[0], false), ir.R(both, top))
	case "inval":
		b.effect("STS.64", b.address(&a[0], false), ir.R(b.value(ir.RZ()), b.value(ir.RZ())))
	case "arrive", "arrive_drop":
		b.arrive()
	case "test_wait":
		b.testWait()
	case "pending_count":
		d := b.f.NewValue(ir.GPR)
		b.emit("LOP3.LUT", ir.D(d), b.source(&a[1], "b64", 0), ir.I(mbarrierCount), ir.RZ(), ir.T("0xc0"), ir.Pr(nil, true))
		b.assign(&a[0], 0, d)
	default:
		stop(in.FullName(), notYet)
	}
}

// arrive is mbarrier.arrive and mbarrier.arrive_drop. The last arrival begins the next phase.
func (b *builder) arrive() {
	in := b.inst
	a := in.Args
	var d *ptx.Operand
	if a[0].Kind != ptx.OpSink {
		d = &a[0]
	}
	n := ir.I(1)
	if len(a) > 2 {
		n = b.source(&a[2], "u32", 0)
	}
	b.release()
	b.arriveAt(d, &a[1], b.value(n), in.Mods[0] == "arrive_drop")
}

// arriveAfterCopies is cp.async.mbarrier.arrive: the thread waits for its copies, and then arrives. Without .noinc
// the arrival is first added to those that are pending, so that nothing changes.
func (b *builder) arriveAfterCopies() {
	in := b.inst
	if s, sub := in.Space(); s != ptx.SpaceShared || sub == "cluster" {
		stop(in.FullName(), notYet)
	}
	if g := b.guard; !b.mod.turing() { // for all lanes: they have no groups left then that could be counted wrongly
		b.guard = ir.Guard{}
		b.effect("LDGDEPBAR")
		b.effect("DEPBAR.LE", ir.T("SB0"), ir.T("0x0"))
		b.guard = g
	}
	if in.Has("noinc") {
		b.arriveAt(nil, &in.Args[0], b.value(ir.I(1)), false)
	}
}

// arriveAt takes arrivals off those that are pending at an address, and with drop off those of a phase. d gets
// the state before, unless it is nil.
func (b *builder) arriveAt(d, at *ptx.Operand, count *ir.Value, drop bool) {
	steps := ""
	if drop { // n times 1 + 2^20, of 64 bits
		steps = "SHF.L.U32 t1, n, 20, RZ ; SHF.R.U32.HI t2, RZ, 12, n ; LOP3.LUT t3, t1, n, RZ, 0xfc, !PT"
	} else {
		steps = "MOV t3, n ; MOV t2, RZ"
	}
	b.under(d, 2, func() []*ir.Value {
		x := b.applying(map[string]*ir.Value{"n": count})
		x.text(steps)
		m := b.address(at, false)
		first := b.fresh(2)
		b.emit("LDS.64", ir.D(first...), m.Clone())
		return b.rounds(first, func(now []*ir.Value) ([]*ir.Value, *ir.Value) {
			x.names["w0.lo"], x.names["w0.hi"] = now[0], now[1]
			x.text("IADD3 w1.lo, p0, w0.lo, -t3, RZ ; IADD3.X w1.hi, w0.hi, ~t2, RZ, p0, !PT")
			x.text(fmt.Sprintf("LOP3.LUT t4, w1.lo, %#x, RZ, 0xc0, !PT ; ISETP.EQ.AND p1, PT, t4, RZ, PT", mbarrierCount))
			x.text(fmt.Sprintf("SHF.R.U64 t5, w1.lo, 20, w1.hi ; LOP3.LUT t6, t5, %#x, w1.lo, 0xea, !PT", mbarrierCount)) // (a & b) | c
			x.text(fmt.Sprintf("LOP3.LUT t7, w1.hi, %#x, RZ, 0x3c, !PT ; SEL w2.lo, t6, w1.lo, p1 ; SEL w2.hi, t7, w1.hi, p1", mbarrierPhase))
			seen := b.fresh(2)
			b.effect("ATOMS.CAS.64", ir.D(seen...), m.Clone(), ir.R(now[0], now[1]), ir.R(x.names["w2.lo"], x.names["w2.hi"]))
			p, q := b.f.NewValue(ir.Pred), b.f.NewValue(ir.Pred)
			b.emit("ISETP.EQ.AND", ir.DP(p), ir.DP(nil), ir.R(seen[0]), ir.R(now[0]), ir.Pr(nil, false))
			b.emit("ISETP.EQ.AND", ir.DP(q), ir.DP(nil), ir.R(seen[1]), ir.R(now[1]), ir.Pr(p, false))
			return seen, q
		})
	})
}

// testWait reports whether a phase has ended: whether its parity is that of the current one no more.
func (b *builder) testWait() {
	in := b.inst
	a := in.Args
	lo, hi := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)
	b.effect("LDS.64", ir.D(lo, hi), b.address(&a[1], false))
	x := b.applying(map[string]*ir.Value{"n": hi})
	if in.Has("parity") {
		x.names["t0"] = b.value(b.source(&a[2], "u32", 0))
		x.text("SHF.L.U32 t1, t0, 29, RZ")
	} else {
		x.names["t1"] = b.value(b.source(&a[2], "b64", 1))
	}
	x.text(fmt.Sprintf("LOP3.LUT t2, n, %#x, t1, 0x48, !PT ; ISETP.NE.AND p0, PT, t2, RZ, PT", mbarrierPhase)) // (a ^ c) & b
	b.effect("MEMBAR.ALL.CTA", ir.Arg{Kind: ir.Hidden, Vals: []*ir.Value{lo, hi}})
	b.assign(&a[0], 0, x.names["p0"])
}
