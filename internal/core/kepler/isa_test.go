package kepler_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	xkasm "github.com/heddle-sim/heddle/internal/exec/kasm"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// model is the instruction set without a pipeline: each instruction ends before the
// next begins, warp after warp, from barrier to barrier.
type model struct {
	warps  []*modelWarp
	memory map[uint32]uint32
	shared map[uint32]uint32

	features features // what programs have done
}

type modelWarp struct {
	id     int
	prog   []kasm.Inst
	pc     int
	mask   uint32
	regs   [64][32]uint32
	preds  [7]uint32
	tri    xkasm.Triangle
	stack  []struct{ pc, mask uint32 }
	calls  []int
	exited bool
	barred bool
}

func (m *model) run() error {
	for {
		waiting := 0
		for _, w := range m.warps {
			for steps := 0; !w.exited && !w.barred; steps++ {
				if steps > 100_000 || w.pc < 0 || w.pc >= len(w.prog) {
					return fmt.Errorf("warp %d does not end: pc %d", w.id, w.pc)
				}
				m.note(w)
				m.step(w)
			}
			if w.barred {
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		for _, w := range m.warps {
			w.barred = false
		}
	}
}

func (w *modelWarp) pred(p uint8) uint32 {
	if p == 7 {
		return ^uint32(0)
	}
	return w.preds[p]
}

func (m *model) step(w *modelWarp) {
	i := w.prog[w.pc]
	lanes := w.pred(i.Guard & 7)
	if i.Guard&8 != 0 {
		lanes = ^lanes
	}
	lanes &= w.mask
	pc := w.pc
	w.pc++
	if lanes == 0 || m.extra(w, i, lanes) {
		return
	}
	each := func(f func(l int)) {
		for l := range 32 {
			if lanes>>l&1 != 0 {
				f(l)
			}
		}
	}
	rd, a, b, c := &w.regs[i.Rd], w.regs[i.Rs1], w.regs[i.Rs2], w.regs[i.Rs3]
	imm := uint32(i.Imm)
	switch i.Op {
	case kasm.NOP:
	case kasm.LDR:
		each(func(l int) { rd[l] = m.memory[a[l]+imm] })
	case kasm.STR:
		each(func(l int) { m.memory[a[l]+imm] = b[l] })
	case kasm.LDS:
		each(func(l int) { rd[l] = m.shared[a[l]+imm] })
	case kasm.STS:
		each(func(l int) { m.shared[a[l]+imm] = b[l] })
	case kasm.BRA:
		w.pc = pc + int(i.Imm)
	case kasm.BEQ, kasm.BNE:
		taken := uint32(0)
		each(func(l int) {
			if (a[l] == b[l]) == (i.Op == kasm.BEQ) {
				taken |= 1 << l
			}
		})
		if taken == 0 {
			return
		}
		if rest := w.mask &^ taken; rest != 0 {
			w.stack = append(w.stack, struct{ pc, mask uint32 }{uint32(pc + 1), rest})
			w.mask = taken
		}
		w.pc = pc + int(i.Imm)
	case kasm.SSY:
		w.stack = append(w.stack, struct{ pc, mask uint32 }{uint32(pc + int(i.Imm)), w.mask})
	case kasm.JOIN:
		if len(w.stack) == 0 {
			return
		}
		top := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.pc, w.mask = int(top.pc), top.mask
	case kasm.CALL:
		w.calls = append(w.calls, pc+1)
		w.pc = pc + int(i.Imm)
	case kasm.RET:
		w.pc = w.calls[len(w.calls)-1]
		w.calls = w.calls[:len(w.calls)-1]
	case kasm.BAR:
		w.barred = true
	case kasm.EXIT:
		w.exited = true
	case kasm.ISETP, kasm.FSETP:
		each(func(l int) {
			var holds bool
			if i.Op == kasm.ISETP {
				holds = holdsFor(i.Imm&7, int32(a[l]), int32(b[l]))
			} else {
				holds = holdsFor(i.Imm&7, math.Float32frombits(a[l]), math.Float32frombits(b[l]))
			}
			if p := i.Rd & 7; p < 7 {
				w.preds[p] &^= 1 << l
				if holds {
					w.preds[p] |= 1 << l
				}
			}
		})
	case kasm.SIN, kasm.COS, kasm.EX2, kasm.LG2, kasm.RCP, kasm.RSQ, kasm.SQRT, kasm.TANH:
		v := xkasm.Vector(a) // the tables are tested elsewhere
		xkasm.Float(i.Op, &v, nil, nil, &v)
		each(func(l int) { rd[l] = v[l] })
	case kasm.SELP:
		p := w.pred(uint8(i.Imm & 7))
		each(func(l int) {
			rd[l] = b[l]
			if p>>l&1 != 0 {
				rd[l] = a[l]
			}
		})
	default:
		each(func(l int) { rd[l] = scalar(i.Op, imm, uint32(l), a[l], b[l], c[l]) })
	}
}

func holdsFor[T int32 | float32](cc int32, a, b T) bool {
	return [8]bool{a == b, a != b, a < b, a <= b, a > b, a >= b}[cc]
}

// scalar is what an operation computes in one lane.
func scalar(op kasm.Op, i, lane, a, b, c uint32) uint32 {
	f := math.Float32frombits
	pack := func(x float32) uint32 {
		if x != x {
			return 0x7fffffff
		}
		return math.Float32bits(x)
	}
	flag := func(x bool) uint32 {
		if x {
			return 1
		}
		return 0
	}
	switch op {
	case kasm.ADD:
		return a + b + i
	case kasm.SUB:
		return a - b - i
	case kasm.MUL:
		return a * (b + i)
	case kasm.IMAD:
		return a*b + c
	case kasm.NEG:
		return -a
	case kasm.MOV:
		return a | i
	case kasm.SLT:
		return flag(a < b+i)
	case kasm.SLE:
		return flag(int32(a) <= int32(b+i))
	case kasm.SEQ:
		return flag(a == b+i)
	case kasm.AND:
		return a & (b | i)
	case kasm.OR:
		return a | b | i
	case kasm.XOR:
		return a ^ (b | i)
	case kasm.NOT:
		return ^a
	case kasm.SHL:
		return uint32(uint64(a) << min(b+i, 32))
	case kasm.SHR:
		return uint32(uint64(a) >> min(b+i, 32))
	case kasm.SHA:
		return uint32(int64(int32(a)) >> min(b+i, 32))
	case kasm.POPC:
		return uint32(bits.OnesCount32(a))
	case kasm.CLZ:
		return uint32(bits.LeadingZeros32(a))
	case kasm.BREV:
		return bits.Reverse32(a)
	case kasm.CNOT:
		return flag(a == 0)
	case kasm.TID:
		return lane
	case kasm.IABS:
		return uint32(max(int64(int32(a)), -int64(int32(a))))
	case kasm.IMIN:
		return uint32(min(int32(a), int32(b+i)))
	case kasm.IMAX:
		return uint32(max(int32(a), int32(b+i)))
	case kasm.IDIV, kasm.IREM:
		x, y := int64(int32(a)), int64(int32(b+i))
		if y == 0 || x == math.MinInt32 && y == -1 {
			return 0
		}
		if op == kasm.IREM {
			return uint32(x % y)
		}
		return uint32(x / y)
	case kasm.FADD:
		return pack(f(a) + f(b))
	case kasm.FSUB:
		return pack(f(a) - f(b))
	case kasm.FMUL:
		return pack(f(a) * f(b))
	case kasm.FDIV:
		return pack(f(a) / f(b))
	case kasm.FABS:
		return a & 0x7fffffff
	case kasm.FNEG:
		return a ^ 0x80000000
	case kasm.ITOF:
		return pack(float32(int32(a)))
	case kasm.FTOI:
		switch x := float64(f(a)); {
		case x != x:
			return 0
		default:
			return uint32(int32(max(min(math.Trunc(x), math.MaxInt32), math.MinInt32)))
		}
	}
	panic(op)
}

// Registers of random programs: R0 to R19 hold values, R40 and above addresses, which
// nothing else writes.
const (
	values    = 20
	ownRegion = 0x10000 // bytes of global memory of a warp
)

// program is a random program: straight-line code, divergence, loops, calls,
// exchanges over barriers.
type program struct {
	r     *rand.Rand
	b     strings.Builder
	label int
	rooms int // instructions that may still be written
	depth int
}

func (p *program) line(format string, args ...any) {
	fmt.Fprintf(&p.b, format+"\n", args...)
	p.rooms--
}

func (p *program) reg() string { return fmt.Sprintf("R%d", p.r.IntN(values)) }

func (p *program) newLabel() string {
	p.label++
	return fmt.Sprintf("L%d", p.label)
}

func (p *program) guard() string {
	switch p.r.IntN(8) {
	case 0:
		return fmt.Sprintf("@P%d ", p.r.IntN(4))
	case 1:
		return fmt.Sprintf("@!P%d ", p.r.IntN(4))
	}
	return ""
}

var plainOps = strings.Fields(`NOP ADD SUB MUL IMAD NEG MOV SLT SLE SEQ AND OR XOR NOT SHL SHR SHA POPC CLZ BREV CNOT TID IABS IMIN IMAX IDIV IREM
	FADD FSUB FMUL FDIV FABS FNEG ITOF FTOI SIN COS EX2 LG2 RCP RSQ SQRT TANH`)

func (p *program) simple() {
	if p.r.IntN(8) == 0 {
		p.extra()
		return
	}
	g := p.guard()
	imm := p.r.IntN(64) - 16
	switch p.r.IntN(12) {
	case 0:
		p.line("%s%s.%s P%d, %s, %s", g, []string{"ISETP", "FSETP"}[p.r.IntN(2)], []string{"EQ", "NE", "LT", "LE", "GT", "GE"}[p.r.IntN(6)], p.r.IntN(4), p.reg(), p.reg())
	case 1:
		p.line("%sSELP %s, %s, %s, P%d", g, p.reg(), p.reg(), p.reg(), p.r.IntN(5))
	case 2:
		p.line("%sLDR %s, [R%d + %d]", g, p.reg(), 42+p.r.IntN(2), 4*p.r.IntN(32))
	case 3:
		p.line("%sSTR [R%d + %d], %s", g, 42+p.r.IntN(2), 4*p.r.IntN(32), p.reg())
	case 4:
		p.line("%sLDS %s, [R%d + %d]", g, p.reg(), 44+p.r.IntN(2), 4*p.r.IntN(32))
	case 5:
		p.line("%sSTS [R%d + %d], %s", g, 44+p.r.IntN(2), 4*p.r.IntN(32), p.reg())
	default:
		op := plainOps[p.r.IntN(len(plainOps))]
		third := "R0"
		if op == "IMAD" {
			third = p.reg()
		}
		p.line("%s%s %s, %s, %s, %s, %d", g, op, p.reg(), p.reg(), p.reg(), third, imm)
	}
}

func (p *program) block(n int) {
	for range n {
		if p.rooms < 12 {
			return
		}
		if p.depth >= 4 {
			p.simple()
			continue
		}
		p.depth++
		switch p.r.IntN(24) {
		case 0, 1: // lanes diverge and reconverge
			then, end := p.newLabel(), p.newLabel()
			p.line("SSY %s", end)
			p.line("%s%s R%d, R%d, %s", p.guard(), []string{"BEQ", "BNE"}[p.r.IntN(2)], 47+p.r.IntN(2), 49+p.r.IntN(2), then)
			p.block(p.r.IntN(4))
			p.line("JOIN")
			fmt.Fprintf(&p.b, "%s:\n", then)
			p.block(p.r.IntN(4))
			p.line("JOIN")
			fmt.Fprintf(&p.b, "%s:\n", end)
		case 2: // a loop with its own counter
			top := p.newLabel()
			n := 30 + p.depth
			p.line("AND R%d, R63, R63", n) // R63 stays zero
			fmt.Fprintf(&p.b, "%s:\n", top)
			p.block(p.r.IntN(5))
			p.line("ADD R%d, R%d, R63, 1", n, n)
			p.line("BNE R%d, R51, %s", n, top)
		case 3:
			skip := p.newLabel()
			p.line("BRA %s", skip)
			p.simple()
			fmt.Fprintf(&p.b, "%s:\n", skip)
		case 4:
			p.line("%sCALL f%d", p.guard(), p.r.IntN(2))
		default:
			p.simple()
		}
		p.depth--
	}
}

// text writes a program with some barriers between its parts.
func randomProgram(r *rand.Rand, barriers int) string {
	p := &program{r: r, rooms: 200}
	for range barriers {
		p.block(4 + r.IntN(12))
		p.line("STR [R42 + 128], R%d", r.IntN(values))
		p.line("STS [R44 + 384], R%d", r.IntN(values))
		p.line("BAR")
		p.line("LDR R%d, [R52 + 128]", r.IntN(values)) // what another warp wrote
		p.line("LDS R%d, [R53 + 384]", r.IntN(values))
		p.line("BAR")
	}
	p.block(5 + r.IntN(30))
	p.line("EXIT")
	p.depth, p.rooms = 5, p.rooms+20
	p.line("f0:")
	p.block(3)
	p.line("RET")
	p.line("f1:")
	p.block(2)
	p.line("CALL f0")
	p.line("RET")
	return p.b.String()
}

// setUp gives the core and the model the same initial state.
func setUp(t *testing.T, r *rand.Rand, texts []string, warps []int) (*kepler.Core, *model) {
	t.Helper()
	return setUpAt(t, r, kepler.Datasheet, texts, warps)
}

func setUpAt(t *testing.T, r *rand.Rand, level kepler.Level, texts []string, warps []int) (*kepler.Core, *model) {
	t.Helper()
	return setUpWith(t, r, kepler.ConfigFor(level), texts, warps)
}

func setUpWith(t *testing.T, r *rand.Rand, cfg kepler.Config, texts []string, warps []int) (*kepler.Core, *model) {
	t.Helper()
	k := kepler.New(cfg)
	m := &model{memory: map[uint32]uint32{}, shared: map[uint32]uint32{}}
	for n, w := range warps {
		prog, err := kasm.Assemble("random.kasm", texts[n%len(texts)], kasm.RTL)
		if err != nil {
			t.Fatalf("%v\n%s", err, texts[n%len(texts)])
		}
		if err := k.Load(prog.Words, w); err != nil {
			t.Fatal(err)
		}
		mw := &modelWarp{id: w, mask: ^uint32(0)}
		if r.IntN(3) == 0 {
			mw.mask = r.Uint32() | 1
		}
		for _, word := range prog.Words {
			mw.prog = append(mw.prog, kasm.Decode(word))
		}
		other := uint32(warps[(n+1)%len(warps)])
		for l := range uint32(32) {
			base := uint32(w) * ownRegion
			mw.regs[42][l] = base + 4*l                          // one line
			mw.regs[43][l] = base + 0x1000 + 140*l&^3            // many lines
			mw.regs[44][l] = uint32(w)*640 + 4*l                 // all banks
			mw.regs[45][l] = uint32(w)*640 + 128*(l%3) + 4*(l%5) // conflicts
			mw.regs[47][l], mw.regs[48][l] = l&3, l>>4
			mw.regs[49][l], mw.regs[50][l] = uint32(r.IntN(4)), uint32(r.IntN(2))
			mw.regs[51][l] = 1 + uint32(w)%3
			mw.regs[52][l] = other*ownRegion + 4*l
			mw.regs[53][l] = other*640 + 4*l
			mw.regs[54][l] = base + 0x8000  // a texture
			mw.regs[55][l] = base + 4*(l%7) // words that lanes share
			for reg := range values {
				switch r.IntN(3) {
				case 0:
					mw.regs[reg][l] = r.Uint32()
				case 1:
					mw.regs[reg][l] = math.Float32bits(float32(r.NormFloat64()) * 100)
				default:
					mw.regs[reg][l] = uint32(r.IntN(40)) - 20
				}
			}
		}
		for n := range uint32(32 * 16) {
			at := uint32(w)*ownRegion + 0x8000 + 4*n
			m.memory[at] = r.Uint32()
			k.SetMemory(at, m.memory[at])
		}
		for reg := range mw.regs {
			for l, v := range mw.regs[reg] {
				if err := k.SetRegister(w, reg, l, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := k.Start(w, 0, mw.mask); err != nil {
			t.Fatal(err)
		}
		m.warps = append(m.warps, mw)
	}
	return k, m
}

// equal compares the final states.
func equal(t *testing.T, k *kepler.Core, m *model) bool {
	t.Helper()
	ok := true
	differs := func(format string, args ...any) {
		t.Errorf(format, args...)
		ok = false
	}
	for _, w := range m.warps {
		for reg := range w.regs {
			if got := k.Register(w.id, reg); got != xkasm.Vector(w.regs[reg]) {
				differs("warp %d R%d: %08x, want %08x", w.id, reg, got, w.regs[reg])
			}
		}
		for p, want := range w.preds {
			if got := k.Predicate(w.id, p); got != want {
				differs("warp %d P%d: %08x, want %08x", w.id, p, got, want)
			}
		}
		if k.StackTop(w.id) != len(w.stack) || k.CallTop(w.id) != len(w.calls) || k.Mask(w.id) != w.mask {
			differs("warp %d: stacks %d and %d, mask %08x; want %d, %d, %08x", w.id, k.StackTop(w.id), k.CallTop(w.id), k.Mask(w.id), len(w.stack), len(w.calls), w.mask)
		}
	}
	k.Words(func(addr, v uint32) {
		if _, known := m.memory[addr]; !known {
			differs("memory at %#x: %08x, want nothing", addr, v)
		}
	})
	for addr, want := range m.memory {
		if got := k.Memory(addr); got != want {
			differs("memory at %#x: %08x, want %08x", addr, got, want)
		}
	}
	for i := range kepler.SharedBytes / 4 {
		if got, want := k.Shared(i), m.shared[uint32(i)*4]; got != want {
			differs("shared memory at %#x: %08x, want %08x", i*4, got, want)
		}
	}
	return ok
}

// At level datasheet, random programs have the results of the instruction set, and all
// of them end.
func TestDatasheetAgainstModel(t *testing.T) {
	const shards = 8
	each := alltests.Count(60, 300)
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for n := range each {
				r := rand.New(rand.NewPCG(uint64(shard), uint64(n)))
				barriers := r.IntN(3)
				texts := []string{randomProgram(r, barriers), randomProgram(r, barriers)}
				warps := r.Perm(kepler.Warps)[:1+r.IntN([]int{2, 6, kepler.Warps}[n%3])]
				k, m := setUp(t, r, texts, warps)
				if err := m.run(); err != nil {
					t.Fatalf("seed %d %d: the model: %v\n%s\n----\n%s", shard, n, err, texts[0], texts[1])
				}
				if !k.Run(1_000_000) {
					t.Fatalf("seed %d %d, %d warps: not done in cycle %d: %v %v\n%s\n----\n%s", shard, n, len(warps), k.Cycle(), k.Fault(), k.Waits(), texts[0], texts[1])
				}
				if !equal(t, k, m) {
					t.Fatalf("seed %d %d, warps %v\n%s\n----\n%s", shard, n, warps, texts[0], texts[1])
				}
			}
		})
	}
}
