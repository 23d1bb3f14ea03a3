package program_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// This file: random kernels that use memory, warps and blocks. Their results do not depend on the order in
// which lanes and warps run.

// Registers of a random kernel: words, numbers of 64 bits, halves, and predicates.
const (
	genWords, genWides, genHalves, genPreds = 8, 4, 4, 10
	genThreads                              = 64
	genOwn                                  = 64  // bytes that a thread has for itself in each space
	genResult                               = 128 // bytes that a thread leaves, the last half of them in its own memory
)

// region is what is known of the code that is being written.
type region struct {
	depth      int
	mask       string // the lanes of the warp that are there; "" if that is not known
	block      bool   // all threads of the block are there
	out, again string // labels after a loop and at its next round, "" outside of one
}

// copy is an asynchronous copy within the thread's own memory, which is waited for.
func (g *generator) copy() {
	bytes := []int{4, 8, 16}[g.IntN(3)]
	at := func() int { return bytes * g.IntN(genOwn/bytes) }
	part := ""
	switch g.IntN(4) {
	case 0:
		part = fmt.Sprintf(", %d", g.IntN(bytes+1))
	case 1:
		part = ", %t"
		g.line("and.b32 %%t, %s, 15; min.u32 %%t, %%t, %d", g.r(), bytes)
	case 2:
		part = ", " + g.p()
	}
	g.line("%scp.async.ca.shared.global [%%sp+%d], [%%gp+%d], %d%s", g.guard(), at(), at(), bytes, part)
	if g.IntN(2) == 0 {
		g.line("cp.async.wait_all")
		return
	}
	g.line("cp.async.commit_group")
	for range g.IntN(3) {
		g.compute()
	}
	g.line("cp.async.wait_group 0")
}

// generator writes random kernels, a line for what can be left out on its own.
type generator struct {
	*rand.Rand
	lines                []string
	labels, loops, masks int
	alone                bool // threads may end early: they do nothing together
}

func (g *generator) line(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) r() string { return fmt.Sprintf("%%r%d", g.IntN(genWords)) }
func (g *generator) d() string { return fmt.Sprintf("%%d%d", g.IntN(genWides)) }
func (g *generator) h() string { return fmt.Sprintf("%%h%d", g.IntN(genHalves)) }
func (g *generator) p() string { return fmt.Sprintf("%%p%d", g.IntN(genPreds)) }

// word is a register or a number.
func (g *generator) word() string {
	if g.IntN(4) == 0 {
		return fmt.Sprint(g.IntN(70) - 6)
	}
	return g.r()
}

// guard is that of an instruction, mostly none.
func (g *generator) guard() string {
	if g.IntN(4) > 0 {
		return ""
	}
	return "@" + g.pick("", "!") + g.p() + " "
}

// compute is an instruction on registers.
func (g *generator) compute() {
	k := g.guard()
	switch g.IntN(28) {
	case 0:
		g.line("%s%s %s, %s, %s", k, g.pick("add.u32", "sub.u32", "mul.lo.u32", "mul.hi.s32", "mul.hi.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "mul.lo.s32"), g.r(), g.word(), g.word())
	case 1:
		g.line("%s%s %s, %s, %s", k, g.pick("shl.b32", "shr.u32", "shr.s32"), g.r(), g.r(), g.word())
	case 2:
		g.line("%s%s %s, %s, %s, %s", k, g.pick("mad.lo.u32", "mad.hi.s32", "bfe.u32", "bfe.s32", "prmt.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "sad.s32", "dp4a.u32.s32", "slct.b32.s32"), g.r(), g.r(), g.r(), g.word())
	case 3:
		g.line("%slop3.b32 %s, %s, %s, %s, %d", k, g.r(), g.r(), g.r(), g.word(), g.IntN(256))
	case 4:
		g.line("%sbfi.b32 %s, %s, %s, %s, %d", k, g.r(), g.r(), g.r(), g.word(), g.IntN(40))
	case 5:
		g.line("%s%s %s, %s", k, g.pick("popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32", "not.b32", "neg.s32", "abs.s32", "cnot.b32"), g.r(), g.r())
	case 6:
		g.line("%s%s %s, %s, %s", k, g.pick("add.u64", "sub.u64", "mul.lo.u64", "and.b64", "or.b64", "xor.b64", "min.s64", "max.u64", "min.u64", "mul.hi.u64", "mul.hi.s64"), g.d(), g.d(), g.d())
	case 7:
		g.line("%s%s %s, %s, %s", k, g.pick("shl.b64", "shr.u64", "shr.s64"), g.d(), g.d(), g.word())
	case 8:
		g.line("%s%s %s, %s", k, g.pick("not.b64", "neg.s64", "abs.s64"), g.d(), g.d())
	case 9:
		g.line("%s%s %s, %s, %s", k, g.pick("mul.wide.u32", "mul.wide.s32"), g.d(), g.r(), g.word())
	case 10:
		g.line("%s%s %s, %s, %s, %s", k, g.pick("mad.wide.u32", "mad.wide.s32"), g.d(), g.r(), g.word(), g.d())
	case 11:
		g.line("%s%s %s, %s", k, g.pick("cvt.u32.u64", "popc.b64", "clz.b64", "bfind.u64"), g.r(), g.d())
	case 12:
		g.line("%s%s %s, %s", k, g.pick("cvt.u64.u32", "cvt.s64.s32", "cvt.u64.s32"), g.d(), g.r())
	case 13:
		g.line("%smov.b64 %s, {%s, %s}", k, g.d(), g.r(), g.r())
	case 14:
		a, b := g.IntN(genWords), g.IntN(genWords-1)
		if b >= a {
			b++
		}
		g.line("%smov.b64 {%%r%d, %%r%d}, %s", k, a, b, g.d())
	case 15:
		g.line("%s%s %s, %s, %s", k, g.pick("add.u16", "sub.u16", "mul.lo.u16", "min.s16", "max.u16", "and.b16", "xor.b16", "mul.hi.u16"), g.h(), g.h(), g.h())
	case 16:
		g.line("%s%s %s, %s", k, g.pick("cvt.u32.u16", "cvt.s32.s16", "cvt.u32.u8", "cvt.s32.s8"), g.r(), g.h())
	case 17:
		g.line("%s%s %s, %s", k, g.pick("cvt.u16.u32", "cvt.u16.s32"), g.h(), g.r())
	case 18:
		g.line("%s%s %s, %s, %s", k, g.pick("add.f32", "sub.f32", "mul.f32", "min.f32", "max.f32", "add.rz.f32", "mul.ftz.f32", "add.f16x2", "mul.f16x2", "div.rn.f32"), g.r(), g.r(), g.r())
	case 19:
		g.line("%s%s %s, %s, %s, %s", k, g.pick("fma.rn.f32", "fma.rm.f32", "fma.rn.f16x2", "fma.rn.ftz.f32"), g.r(), g.r(), g.r(), g.r())
	case 20:
		g.line("%s%s %s, %s", k, g.pick("cvt.rn.f32.s32", "cvt.rzi.s32.f32", "cvt.rni.u32.f32", "neg.f32", "abs.f32", "sqrt.rn.f32", "cvt.rmi.f32.f32"), g.r(), g.r())
	case 21:
		g.line("cvt.rn.f64.s32 %%e0, %s; cvt.rn.f64.s32 %%e1, %s; %s %%e2, %%e0, %%e1; %smov.b64 %s, %%e2", g.r(), g.r(), g.pick("add.f64", "mul.f64", "sub.f64", "min.f64"), k, g.d())
	case 22:
		g.line("add.cc.u32 %s, %s, %s; addc.cc.u32 %s, %s, %s; addc.u32 %s, %s, 0", g.r(), g.r(), g.word(), g.r(), g.r(), g.word(), g.r(), g.r())
	case 23:
		g.line("%sselp.%s %s, %s, %s, %s", k, "b32", g.r(), g.r(), g.word(), g.p())
	case 24:
		g.line("%sselp.b64 %s, %s, %s, %s", k, g.d(), g.d(), g.d(), g.p())
	case 25:
		g.line("%s%s %s, %s, %s", k, g.pick("div.u32", "rem.u32", "div.s32", "rem.s32"), g.r(), g.r(), g.word())
	case 26:
		g.line("%s%s %s, %s, %s", k, g.pick("div.u64", "rem.u64", "div.s64", "rem.s64"), g.d(), g.d(), g.d())
	default:
		g.line("%s%s %s, %s, %s", k, g.pick("shl.b16", "shr.u16", "shr.s16"), g.h(), g.h(), g.r())
	}
}

// test makes a predicate.
func (g *generator) test() string {
	p := g.p()
	cmp := g.pick("eq", "ne", "lt", "le", "gt", "ge")
	k := g.guard()
	switch g.IntN(7) {
	case 0:
		g.line("%ssetp.%s.s32 %s, %s, %s", k, cmp, p, g.r(), g.word())
	case 1:
		g.line("%ssetp.%s.%s.u32 %s, %s, %s, %s%s", k, cmp, g.pick("and", "or", "xor"), p, g.r(), g.word(), g.pick("", "!"), g.p())
	case 2:
		g.line("%ssetp.%s.%s %s, %s, %s", k, cmp, g.pick("u64", "s64"), p, g.d(), g.d())
	case 3:
		g.line("%ssetp.%s.f32 %s, %s, %s", k, g.pick("lt", "equ", "num", "geu", "ne"), p, g.r(), g.r())
	case 4:
		g.line("%s%s.pred %s, %s, %s", k, g.pick("and", "or", "xor"), p, g.p(), g.p())
	case 5:
		if q := g.p(); q != p {
			g.line("%ssetp.%s.s16 %s|%s, %s, %s", k, cmp, p, q, g.h(), g.h())
			break
		}
		g.line("%snot.pred %s, %s", k, p, g.p())
	default:
		g.line("and.b32 %%t, %s, %d; %ssetp.ne.u32 %s, %%t, 0", g.r(), 1+g.IntN(7), k, p)
	}
	return p
}

// place is an address in the thread's own memory for an access of some bytes: the name of the space, and
// the operand.
func (g *generator) place(bytes int, spaces ...string) (space, at string) {
	space = g.pick(spaces...)
	base := map[string]string{"global": "%gp", "shared": "%sp", "local": "%lp", "xg": "%gp", "xs": "%xs", "xl": "%xl"}[space]
	narrow := space == "shared"
	name := "." + space
	if space[0] == 'x' {
		name = ""
	}
	if g.IntN(2) == 0 {
		return name, fmt.Sprintf("[%s+%d]", base, g.IntN(genOwn/bytes)*bytes)
	}
	g.line("and.b32 %%t, %s, %d", g.r(), (genOwn-1)&^(bytes-1))
	if narrow {
		g.line("add.u32 %%t, %%t, %s", base)
		return name, "[%t]"
	}
	g.line("cvt.u64.u32 %%td, %%t; add.u64 %%td, %%td, %s", base)
	return name, "[%td]"
}

// some are n different registers.
func (g *generator) some(n int, prefix string, of int) string {
	var list []string
	for _, i := range g.Perm(of)[:n] {
		list = append(list, fmt.Sprintf("%%%s%d", prefix, i))
	}
	if n == 1 {
		return list[0]
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// access is a load or a store of the thread's own memory.
func (g *generator) access() {
	type form struct {
		name   string
		bytes  int
		n      int
		prefix string
	}
	loads := []form{{"u8", 1, 1, "r"}, {"s8", 1, 1, "r"}, {"u16", 2, 1, "h"}, {"s16", 2, 1, "r"}, {"b32", 4, 1, "r"}, {"b64", 8, 1, "d"}, {"u32", 4, 1, "d"}, {"s32", 4, 1, "d"}, {"s8", 1, 1, "h"},
		{"v2.b32", 8, 2, "r"}, {"v4.b32", 16, 4, "r"}, {"v2.b64", 16, 2, "d"}, {"v2.b16", 4, 2, "h"}, {"v4.u16", 8, 4, "h"}, {"v2.s8", 2, 2, "h"}, {"v4.u8", 4, 4, "r"}}
	stores := []form{{"b8", 1, 1, "r"}, {"b16", 2, 1, "h"}, {"b32", 4, 1, "r"}, {"b64", 8, 1, "d"}, {"b32", 4, 1, "d"}, {"v2.b32", 8, 2, "r"}, {"v4.b32", 16, 4, "r"}, {"v2.b64", 16, 2, "d"},
		{"v2.b16", 4, 2, "h"}, {"v4.b16", 8, 4, "h"}, {"v4.b8", 4, 4, "r"}}
	of := map[string]int{"r": genWords, "d": genWides, "h": genHalves}
	all := []string{"global", "shared", "local", "xg", "xs", "xl"}
	if g.IntN(2) == 0 {
		f := loads[g.IntN(len(loads))]
		space, at := g.place(f.bytes, all...)
		order := g.pick("", "", "", ".volatile", ".relaxed.cta", ".acquire.gpu")
		if space != ".global" && space != ".shared" {
			order = ""
		}
		g.line("%sld%s%s.%s %s, %s", g.guard(), order, space, f.name, g.some(f.n, f.prefix, of[f.prefix]), at)
		return
	}
	f := stores[g.IntN(len(stores))]
	space, at := g.place(f.bytes, all...)
	g.line("%sst%s.%s %s, %s", g.guard(), space, f.name, at, g.some(f.n, f.prefix, of[f.prefix]))
}

// table is a load of constant memory.
func (g *generator) table() {
	if g.IntN(2) == 0 {
		g.line("%sld.const.b32 %s, [tab+%d]", g.guard(), g.r(), 4*g.IntN(16))
		return
	}
	g.line("and.b32 %%t, %s, 56; cvt.u64.u32 %%td, %%t; mov.u64 %%ta, tab; add.u64 %%td, %%td, %%ta", g.r())
	g.line("%sld.const.b64 %s, [%%td]", g.guard(), g.d())
}

// atomic changes the thread's own memory, or counters of the block of which only what is left matters.
func (g *generator) atomic() {
	k := g.guard()
	if g.IntN(3) == 0 {
		n := g.IntN(6)
		op := []string{"add", "and", "or", "xor", "min", "max"}[n]
		typ, from := "32", g.r()
		if g.IntN(2) == 0 {
			typ, from = "64", g.d()
		}
		c := map[bool]string{true: "b", false: "u"}[n >= 1 && n <= 3]
		at := 8 * n
		if typ == "64" {
			at += 48
		}
		place := g.pick(".shared", ".global")
		g.line("%sred%s.%s.%s%s [%%%s+%d], %s", k, place, op, c, typ, place[1:2]+"c", at, from)
		return
	}
	ops := []string{"add.u32", "add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "inc.u32", "dec.u32", "exch.b32", "add.f32", "add.noftz.f16x2", "cas.b32",
		"add.u64", "min.s64", "max.u64", "and.b64", "xor.b64", "exch.b64", "cas.b64", "add.noftz.f16", "cas.b16"}
	op := g.pick(ops...)
	reg, bytes := g.r, 4
	switch {
	case strings.HasSuffix(op, "64"):
		reg, bytes = g.d, 8
	case strings.HasSuffix(op, "16"):
		reg, bytes = g.h, 2
	}
	space, at := g.place(bytes, "global", "shared", "xg", "xs")
	last := ""
	if strings.HasPrefix(op, "cas") {
		last = ", " + reg()
	}
	if g.IntN(4) == 0 && last == "" && !strings.HasPrefix(op, "exch") {
		g.line("%sred%s.%s %s, %s", k, space, op, at, reg())
		return
	}
	g.line("%satom%s.%s %s, %s, %s%s", k, space, op, reg(), at, reg(), last)
}

// together is what the lanes of a warp do together.
func (g *generator) together(mask string) {
	switch g.IntN(8) {
	case 0, 1:
		if mask == "-1" {
			g.line("shfl.sync.%s.b32 %s|%s, %s, %s, %s, -1", g.pick("up", "down", "bfly", "idx"), g.r(), g.p(), g.r(), g.word(), g.pick("31", "0x1f", "0x181f", "7", "0"))
			return
		}
		fallthrough
	case 2:
		g.line("vote.sync.%s.pred %s, %s%s, %s", g.pick("all", "any", "uni"), g.p(), g.pick("", "!"), g.p(), mask)
	case 3:
		g.line("vote.sync.ballot.b32 %s, %s, %s", g.r(), g.p(), mask)
	case 4:
		g.line("and.b32 %%t, %s, 7; match.any.sync.b32 %s, %%t, %s", g.r(), g.r(), mask)
	case 5:
		g.line("shr.s64 %%td, %s, 62; match.all.sync.b64 %s|%s, %%td, %s", g.d(), g.r(), g.p(), mask)
	case 6:
		g.line("redux.sync.%s %s, %s, %s", g.pick("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"), g.r(), g.r(), mask)
	default:
		g.line("bar.warp.sync %s", mask)
	}
}

// meet is what all threads of a block do together.
func (g *generator) meet() {
	switch g.IntN(3) {
	case 0:
		g.line("bar.red.popc.u32 %s, 0, %s", g.r(), g.p())
	case 1:
		g.line("bar.red.%s.pred %s, 0, %s%s", g.pick("and", "or"), g.p(), g.pick("", "!"), g.p())
	default: // a word of another thread
		g.line("bar.sync 0; st.shared.b32 [%%xp], %s; bar.sync 0; and.b32 %%t, %s, %d; add.u32 %%t, %%t, exchange; ld.shared.b32 %s, [%%t]; bar.sync 0", g.r(), g.r(), 4*(genThreads-1), g.r())
	}
}

func (g *generator) label() string {
	g.labels++
	return fmt.Sprintf("L%d", g.labels)
}

// statements are some, in a region.
func (g *generator) statements(c region) {
	for range 2 + g.IntN(5) {
		switch k := g.IntN(21); {
		case k < 6:
			g.compute()
		case k < 10:
			g.access()
		case k < 12:
			g.atomic()
		case k == 12:
			g.table()
		case k == 13 && g.IntN(2) == 0:
			g.copy()
		case k == 13 && g.alone && g.IntN(6) == 0:
			g.line("@%s %s", g.test(), g.pick("exit", "ret", "bra END"))
		case k == 13:
			g.test()
		case k == 14 && c.mask != "":
			g.together(c.mask)
		case k == 15 && c.block:
			g.meet()
		case k == 16 && c.out != "":
			g.line("@%s bra %s", g.test(), g.pick(c.out, c.again))
		case k == 17 && c.depth > 0:
			g.loop(c)
		case k == 20: // to an end of its own, which is not reached
			g.line("setp.eq.u64 %%q, %%in, 0; @%%q bra %s", g.pick("LOST", "LOST", "LEAVE"))
		case k >= 18 && c.depth > 0:
			g.choice(c)
		default:
			g.compute()
		}
	}
}

// choice is a branch with two sides.
func (g *generator) choice(c region) {
	other, end := g.label(), g.label()
	p := g.test()
	one, two := c, c
	one.depth, two.depth, one.block, two.block = c.depth-1, c.depth-1, false, false
	sides := ""
	if c.mask != "" {
		g.masks++
		m, n := fmt.Sprintf("%%m%d", g.masks), fmt.Sprintf("%%n%d", g.masks)
		sides = fmt.Sprintf("vote.sync.ballot.b32 %s, %s, %s; xor.b32 %s, %s, %s; ", m, p, c.mask, n, m, c.mask)
		one.mask, two.mask = n, m
	}
	g.line("%s@%s bra %s", sides, p, other)
	g.statements(one)
	if g.IntN(3) > 0 {
		g.lines = append(g.lines, fmt.Sprintf("bra %s; %s:", end, other))
	} else {
		two.mask = c.mask
		g.lines = append(g.lines, other+":")
	}
	g.statements(two)
	g.lines = append(g.lines, end+":")
}

// loop is one whose rounds are the same for all threads, or not; only then there are other ways out.
func (g *generator) loop(c region) {
	g.loops++
	i, head, next, out := fmt.Sprintf("%%i%d", g.loops), g.label(), g.label(), g.label()
	inner := c
	inner.depth = c.depth - 1
	inner.out, inner.again = "", ""
	if g.IntN(2) == 0 {
		g.line("mov.u32 %s, %d", i, g.IntN(3))
	} else {
		g.line("and.b32 %s, %s, 3", i, g.r())
		inner.mask, inner.block, inner.out, inner.again = "", false, out, next
	}
	g.lines = append(g.lines, head+":")
	g.statements(inner)
	g.lines = append(g.lines, next+":")
	g.line("add.s32 %s, %s, 1; setp.lt.s32 %%q, %s, %d; @%%q bra %s", i, i, i, 2+g.IntN(4), head)
	g.lines = append(g.lines, out+":")
}

// generate are the lines of a random kernel.
func generate(seed uint64) []string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 77))}
	c := region{depth: 3, mask: "-1", block: true}
	if g.alone = g.IntN(4) == 0; g.alone {
		c.mask, c.block = "", false
	}
	g.statements(c)
	c.depth--
	g.statements(c)
	return g.lines
}

// genHeader begins a module of random kernels.
const genHeader = ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 8 .b32 tab[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 0xfffffff0};\n"

// genKernel is kernel kn with these lines. Its registers have values from its input, and it writes all of
// them.
func genKernel(n int, directives string, lines []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry k%d(.param .u64 in, .param .u64 out) %s {\n", n, directives)
	fmt.Fprintf(&b, " .reg .b64 %%in, %%out, %%gp, %%gc, %%lp, %%xs, %%xl, %%td, %%ta, %%d<%d>; .reg .b32 %%sp, %%sc, %%xp, %%t, %%who, %%r<%d>, %%i<60>, %%m<200>, %%n<200>; .reg .b16 %%h<%d>; .reg .f64 %%e<3>; .reg .pred %%q, %%p<%d>;\n", genWides, genWords, genHalves, genPreds)
	fmt.Fprintf(&b, " .shared .align 16 .b8 own[%d]; .shared .align 8 .b8 counters[96]; .shared .align 4 .b8 exchange[%d]; .local .align 16 .b8 loc[%d];\n", genThreads*genOwn, 4*genThreads, genOwn)
	fmt.Fprintf(&b, " mov.u32 %%who, %%tid.x; ld.param.u64 %%in, [in]; ld.param.u64 %%gc, [out]; add.u64 %%out, %%gc, 96; mul.wide.u32 %%td, %%who, %d; add.u64 %%out, %%out, %%td; add.u64 %%gp, %%out, %d;\n", genResult+genOwn, genResult)
	fmt.Fprintf(&b, " mul.wide.u32 %%td, %%who, 64; add.u64 %%in, %%in, %%td; mov.u32 %%sp, own; mad.lo.u32 %%sp, %%who, %d, %%sp; mov.u32 %%sc, counters; mov.u32 %%xp, exchange; mad.lo.u32 %%xp, %%who, 4, %%xp; mov.u64 %%lp, loc;\n", genOwn)
	b.WriteString(" cvt.u64.u32 %xs, %sp; cvta.shared.u64 %xs, %xs; cvta.local.u64 %xl, %lp;\n mov.u32 %t, 0x70000000; mov.u64 %td, 0x7000000070000000; mov.u64 %ta, %td; mov.f64 %e0, 0d0000000000000000; mov.f64 %e1, %e0; mov.f64 %e2, %e0;\n")
	for i := range genWords {
		fmt.Fprintf(&b, " ld.global.b32 %%r%d, [%%in+%d];", i, 4*i)
	}
	for i := range genWides {
		fmt.Fprintf(&b, " ld.global.b64 %%d%d, [%%in+%d];", i, 32+8*i)
	}
	for i := range genHalves {
		fmt.Fprintf(&b, " ld.global.b16 %%h%d, [%%in+%d];", i, 6+10*i)
	}
	for i := range genPreds {
		fmt.Fprintf(&b, " and.b32 %%t, %%r%d, %d; setp.ne.u32 %%p%d, %%t, 0;", i%genWords, 1<<i, i)
	}
	for i := range genOwn / 8 { // what the thread's own memory begins with
		fmt.Fprintf(&b, " st.shared.b64 [%%sp+%d], %%d%d; st.local.b64 [%%lp+%d], %%d%d; st.global.b64 [%%gp+%d], %%d%d;", 8*i, i%genWides, 8*i, (i+1)%genWides, 8*i, (i+2)%genWides)
	}
	fmt.Fprintf(&b, "\n setp.lt.u32 %%q, %%who, 12; mad.lo.u32 %%t, %%who, 8, %%sc; @%%q st.shared.b64 [%%t], %%d0; st.shared.b32 [%%xp], 0; mov.u32 %%t, 0x70000000; mov.u64 %%td, 0x7000000070000000; bar.sync 0;\n")
	for i := range 60 {
		fmt.Fprintf(&b, " mov.u32 %%i%d, 0;", i)
	}
	b.WriteByte('\n')
	for i, l := range lines {
		if strings.HasSuffix(l, ":") {
			fmt.Fprintf(&b, "%s\n", l)
		} else {
			fmt.Fprintf(&b, " %s;\n", lines[i])
		}
	}
	b.WriteString("END:\n")
	for i := range genWords {
		fmt.Fprintf(&b, " st.global.b32 [%%out+%d], %%r%d;", 4*i, i)
	}
	for i := range genWides {
		fmt.Fprintf(&b, " st.global.b64 [%%out+%d], %%d%d;", 32+8*i, i)
	}
	for i := range genHalves {
		fmt.Fprintf(&b, " st.global.b16 [%%out+%d], %%h%d;", 64+2*i, i)
	}
	for i := range genPreds {
		fmt.Fprintf(&b, " selp.u32 %%t, 1, 0, %%p%d; st.global.b8 [%%out+%d], %%t;", i, 72+i)
	}
	b.WriteString("\n bar.sync 0; setp.lt.u32 %q, %who, 12; mad.lo.u32 %t, %who, 8, %sc; @%q ld.shared.b64 %d0, [%t]; @%q st.global.b64 [%out+88], %d0;\n")
	b.WriteString(" ld.shared.v2.b64 {%d0, %d1}, [%sp]; ld.local.v2.b64 {%d2, %d3}, [%lp]; xor.b64 %d0, %d0, %d2; xor.b64 %d1, %d1, %d3; st.global.v2.b64 [%out+96], {%d0, %d1};\n")
	b.WriteString(" ld.shared.v2.b64 {%d0, %d1}, [%sp+48]; ld.local.v2.b64 {%d2, %d3}, [%lp+48]; xor.b64 %d0, %d0, %d2; xor.b64 %d1, %d1, %d3; st.global.v2.b64 [%out+112], {%d0, %d1};\n ret;\n")
	b.WriteString("LOST:\n setp.eq.u32 %q, %who, 0; @%q bra LOSE; setp.eq.u32 %q, %who, 1; @%q bra LEAVE; add.u32 %r0, %r0, 1;\nLOSE:\n st.global.b32 [%out], %r0;\nLEAVE:\n exit; }\n")
	return b.String()
}
