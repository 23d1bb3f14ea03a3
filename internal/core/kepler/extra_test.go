package kepler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/core/kepler/chip"
	xkasm "github.com/heddle-sim/heddle/internal/exec/kasm"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// extra executes the instructions of the datasheet's future work lane by lane; their
// arithmetic is tested elsewhere.
func (m *model) extra(w *modelWarp, i kasm.Inst, lanes uint32) bool {
	if !i.Op.Extra() {
		return false
	}
	rd, a, b, c := &w.regs[i.Rd], w.regs[i.Rs1], w.regs[i.Rs2], w.regs[i.Rs3]
	if op, shared, ok := i.Op.Atomic(); ok {
		words := m.memory
		if shared {
			words = m.shared
		}
		for l := range 32 {
			if lanes>>l&1 != 0 {
				at := a[l] + uint32(i.Imm)
				old := words[at]
				words[at] = xkasm.Atomic(op, old, b[l], c[l])
				rd[l] = old
			}
		}
		return true
	}
	va, vb, vc, out := xkasm.Vector(a), xkasm.Vector(b), xkasm.Vector(c), xkasm.Vector{}
	for l := range 32 {
		if lanes>>l&1 == 0 {
			continue
		}
		switch i.Op {
		case kasm.TEX:
			tap := xkasm.Taps(kasm.TextureOf(i.Imm), a[l], b[l], c[l])
			var texel [4]uint32
			for n, at := range tap.At[:tap.N] {
				texel[n] = m.memory[at]
			}
			out[l] = tap.Filter(&texel)
		case kasm.SMID:
		default:
			xkasm.Raster(i.Op, 1<<l, &w.tri, &va, &vb, &vc, &out)
		}
		if i.Op == kasm.RAST {
			if p := i.Rd & 7; p < 7 {
				w.preds[p] = w.preds[p]&^(1<<l) | out[l]<<l
			}
			continue
		}
		rd[l] = out[l]
	}
	return true
}

// extra writes one of these instructions.
func (p *program) extra() {
	g := p.guard()
	names := strings.Fields("ADD MIN MAX AND OR XOR EXCH CAS")
	atomic := func(space string, base int) {
		n := p.r.IntN(len(names))
		third := ""
		if names[n] == "CAS" {
			third = ", " + p.reg()
		}
		p.line("%s%s.%s %s, [R%d + %d], %s%s", g, space, names[n], p.reg(), base, 4*p.r.IntN(32), p.reg(), third)
	}
	switch p.r.IntN(8) {
	case 0:
		atomic("ATOM", 42+p.r.IntN(2))
	case 1:
		atomic("ATOM", 55) // lanes share words
	case 2:
		atomic("ATOMS", 44+p.r.IntN(2))
	case 3:
		p.line("%sTRI %s, %s, %s, %s", g, p.reg(), p.reg(), p.reg(), p.reg())
	case 4:
		p.line("%sRAST P%d, %s", g, p.r.IntN(4), p.reg())
	case 5:
		p.line("%sBARY %s, %s", g, p.reg(), p.reg())
	case 6:
		p.line("%sINTP %s, %s, %s, %s", g, p.reg(), p.reg(), p.reg(), p.reg())
	case 7:
		p.line("%sTEX%s %s, %s, %s, [R54], %s", g, []string{"", ".BILINEAR", ".CLAMP", ".BILINEAR.CLAMP"}[p.r.IntN(4)],
			p.reg(), p.reg(), p.reg(), []string{"8x8", "32x16", "1x4"}[p.r.IntN(3)])
	}
}

func finish(t *testing.T, k *kepler.Core) {
	t.Helper()
	if !k.Run(100_000) {
		t.Fatalf("not done in cycle %d: %v %v", k.Cycle(), k.Fault(), k.Waits())
	}
}

// Every lane of every warp draws its own ticket from both memories.
func TestTickets(t *testing.T) {
	var warps []int
	for w := range kepler.Warps {
		warps = append(warps, w)
	}
	k := start(t, kepler.Datasheet, `
		MOV R1, R60, 1
		ATOM.ADD R2, [R60 + 0x100], R1
		ATOMS.ADD R3, [R60 + 0x40], R1
		EXIT`, warps...)
	finish(t, k)
	const all = kepler.Warps * 32
	if k.Memory(0x100) != all || k.Shared(0x10) != all {
		t.Errorf("counters are %d and %d, want %d", k.Memory(0x100), k.Shared(0x10), all)
	}
	for _, reg := range []int{2, 3} {
		var tickets []uint32
		for w := range kepler.Warps {
			v := k.Register(w, reg)
			if !slices.IsSorted(v[:]) {
				t.Errorf("warp %d: the lanes are not in order: %d", w, v)
			}
			tickets = append(tickets, v[:]...)
		}
		slices.Sort(tickets)
		for n, got := range tickets {
			if got != uint32(n) {
				t.Fatalf("R%d: ticket %d is %d", reg, n, got)
			}
		}
	}
}

// cyclesOf runs a program on warp 0, whose R1 holds four times the lane's
// number.
func cyclesOf(t *testing.T, text string) uint64 {
	k := start(t, kepler.Datasheet, text, 0)
	for l := range 32 {
		_ = k.SetRegister(0, 1, l, uint32(4*l))
	}
	finish(t, k)
	return k.ExitCycle(0)
}

// The additional cycles of the extras compared to similar loads. Their operands are in
// different banks, so that one read of the register file gets all of them.
func TestExtraLatency(t *testing.T) {
	const end = "\nADD R3, R2, R2\nEXIT"
	for _, c := range []struct {
		what, text, than string
		longer           uint64
	}{
		{"an atomic without conflicts, a load", "ATOM.ADD R2, [R1], R4", "LDR R2, [R1]", 0},
		{"32 lanes on one word, a load", "ATOM.ADD R2, [R60], R1", "LDR R2, [R60]", 31},
		{"a shared atomic, a load", "ATOMS.ADD R2, [R1], R4", "LDS R2, [R1]", 1},
		{"32 lanes on one shared word, a load", "ATOMS.ADD R2, [R60], R1", "LDS R2, [R60]", 1 + 31},
		{"a texture of one line, a load", "TEX R2, R61, R62, [R63], 4x4", "LDR R2, [R60]", 2},
		{"bilinear filtering, a load", "TEX.BILINEAR R2, R61, R62, [R63], 4x4", "LDR R2, [R60]", 4},
		{"the rasteriser, an addition", "TRI R2, R1, R1, R1", "IMAD R2, R1, R1, R1", 0},
	} {
		a, b := cyclesOf(t, c.text+end), cyclesOf(t, c.than+end)
		if a != b+c.longer {
			t.Errorf("%s: %d and %d cycles, want %d more", c.what, a, b, c.longer)
		}
	}
}

// A texture that 32 lanes read in 32 lines takes 32 transactions, and so does bilinear
// filtering, which requests each line once.
func TestTextureLines(t *testing.T) {
	for _, c := range []struct {
		how  string
		want uint64
	}{{"TEX", 32}, {"TEX.BILINEAR", 32}} {
		// Rows of 32 texels are lines; lane n samples the middle of row n.
		k := start(t, kepler.Datasheet, "TID R1\nSHL R2, R1, R60, 8\nADD R2, R2, R60, 128\nMOV R3, R60, 0x180\n"+c.how+" R4, R3, R2, [R60], 32x32\nEXIT", 0)
		for n := range 32 * 32 {
			k.SetMemory(uint32(4*n), uint32(1000+n))
		}
		finish(t, k)
		if got := k.Stats().Transactions; got != c.want {
			t.Errorf("%s: %d transactions, want %d", c.how, got, c.want)
		}
		v := k.Register(0, 4)
		for l := range v {
			if want := uint32(1000 + 32*l + 1); v[l] != want {
				t.Errorf("%s: lane %d: %d, want %d", c.how, l, v[l], want)
			}
		}
	}
}

// Illegal accesses are reported.
func TestExtraFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"MOV R1, R60, 2\nATOM.ADD R2, [R1], R1\nEXIT", "misaligned access to memory at 0x2: warp 0, lane 0, pc 1: ATOM.ADD R2, [R1], R1"},
		{"ATOMS.ADD R2, [R1 + 0x4000], R1\nEXIT", "access to shared memory at 0x4000, beyond its 16384 bytes: warp 0, lane 0, pc 0: ATOMS.ADD R2, [R1 + 16384], R1"},
		{"MOV R1, R60, 2\nTEX R2, R3, R3, [R1], 8x8\nEXIT", "misaligned texture: its first texel is at 0x2: warp 0, lane 0, pc 1: TEX R2, R3, R3, [R1], 8x8"},
		{"SUB R1, R60, 4\nTEX.BILINEAR.CLAMP R2, R3, R3, [R1], 8x8\nEXIT", "texel at 0xfffffffc, beyond the 33554432 bytes of memory: warp 0, lane 0, pc 1: TEX.BILINEAR.CLAMP R2, R3, R3, [R1], 8x8"},
	} {
		k := start(t, kepler.Datasheet, c.text, 0)
		k.Run(10_000)
		if f := k.Fault(); f == nil || f.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, f, c.want)
		}
	}
	// At level rtl the opcodes are unknown, and the result is zero.
	p, err := kasm.Assemble("t.kasm", "NOP\n ATOM.ADD R2, [R1], R1\nEXIT", kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(kepler.ConfigFor(kepler.RTL))
	_, _ = k.Load(p.Words, 0), k.SetRegister(0, 2, -1, 77)
	_ = k.Start(0, 0, ^uint32(0))
	finish(t, k)
	if v := k.Register(0, 2); v != (xkasm.Vector{}) || fmt.Sprint(k.Stats().Transactions) != "0" {
		t.Errorf("at level rtl: R2 is %v after %d transactions", v, k.Stats().Transactions)
	}
}

// Warps that read many textures at once, in the maximum number of lines, get the same
// texels as a model without a pipeline.
func TestTextureStress(t *testing.T) {
	const base, rounds = 0x100000, 24
	var b strings.Builder
	for n := range rounds {
		fmt.Fprintf(&b, "TEX%s R%d, R%d, R%d, [R60], 256x256\n", []string{".BILINEAR", "", ".BILINEAR.CLAMP"}[n%3], 20+n, n%8, 8+n%5)
	}
	b.WriteString("EXIT")
	r := rand.New(rand.NewPCG(9, 9))
	var warps []int
	for w := range kepler.Warps {
		warps = append(warps, w)
	}
	k, m := setUp(t, r, []string{b.String()}, warps)
	for n := range uint32(256 * 256) {
		v := n*2654435761 + 12345
		m.memory[base+4*n] = v
		k.SetMemory(base+4*n, v)
	}
	for _, w := range m.warps {
		for reg := range 13 {
			for l := range 32 {
				w.regs[reg][l] = r.Uint32()
				_ = k.SetRegister(w.id, reg, l, w.regs[reg][l])
			}
		}
		for l := range 32 {
			w.regs[60][l] = base
			_ = k.SetRegister(w.id, 60, l, base)
		}
	}
	if err := m.run(); err != nil {
		t.Fatal(err)
	}
	finish(t, k)
	if !equal(t, k, m) {
		t.Fatal("the textures differ")
	}
	if got, least := k.Stats().Transactions, uint64(kepler.Warps*rounds*20); got < least {
		t.Errorf("%d transactions, want %d at least", got, least)
	}
}

// Random programs have the same results on several SMs with caches as without a
// pipeline. Each SM has its own shared memory.
func TestChipAgainstModel(t *testing.T) {
	machines := [][]string{
		{"kepler.sms=4", "kepler.l1.on=true", "kepler.l2.on=true"},
		{"kepler.sms=2", "kepler.l1.on=true", "kepler.l1.sets=1", "kepler.l1.ways=1", "kepler.l1.misses=1", "kepler.dram.latency=200"},
		{"kepler.sms=5", "kepler.l2.on=true", "kepler.l2.sets=2", "kepler.l2.ways=1", "kepler.l2.misses=2"},
	}
	for n := range alltests.Count(9, 60) {
		r := rand.New(rand.NewPCG(77, uint64(n)))
		texts := []string{randomProgram(r, 0), randomProgram(r, 0)}
		warps := r.Perm(kepler.Warps)[:1+r.IntN(kepler.Warps)]
		k, m := setUp(t, r, texts, warps)
		settings(t, k.Config(), machines[n%len(machines)]...)
		if err := m.run(); err != nil {
			t.Fatal(err)
		}
		c, err := chip.New(k)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Run(1_000_000) {
			for _, sm := range c.SMs() {
				t.Log(sm.Cycle(), sm.Fault(), sm.Waiting())
			}
			t.Fatalf("seed %d: not done in cycle %d", n, c.Cycle())
		}
		c.Gather()
		for _, w := range warps {
			for at := 640 * w; at < 640*(w+1); at += 4 {
				if err := k.SetShared(at, c.SMs()[w%len(c.SMs())].Shared(at/4)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !equal(t, k, m) {
			t.Fatalf("seed %d, warps %v\n%s\n----\n%s", n, warps, texts[0], texts[1])
		}
	}
}

// Neither the extras nor a chip allocate in a cycle.
func TestExtraAllocations(t *testing.T) {
	const text = `
		TID R1
		SHL R2, R1, R60, 2
	loop:
		ATOM.ADD R3, [R2 + 0x100], R1
		ATOMS.ADD R4, [R60], R1
		TEX.BILINEAR R5, R2, R3, [R60], 64x64
		TRI R6, R3, R4, R5
		RAST P1, R4
	@P1 BARY R7, R4
		STR [R2 + 0x8000], R7
		BRA loop`
	k := start(t, kepler.Datasheet, text, 0, 1, 2, 3)
	k.Trace(false)
	k.Run(5_000)
	if n := testing.AllocsPerRun(5_000, k.Step); n != 0 {
		t.Errorf("%v allocations per cycle", n)
	}
	k = start(t, kepler.Datasheet, text, 0, 1, 2, 3)
	k.Trace(false)
	settings(t, k.Config(), "kepler.sms=2", "kepler.l1.on=true", "kepler.l2.on=true")
	c, err := chip.New(k)
	if err != nil {
		t.Fatal(err)
	}
	c.Run(20_000)
	if n := testing.AllocsPerRun(20_000, c.Step); n != 0 {
		t.Errorf("%v allocations per cycle of a chip", n)
	}
	if c.SMs()[1].Stats().Transactions == 0 {
		t.Error("nothing happened")
	}
}
