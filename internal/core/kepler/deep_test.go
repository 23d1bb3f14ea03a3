package kepler_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// features counts what programs did on the model, so that a test can check that they
// did it at all.
type features struct {
	accesses  int // to global memory, by any lane
	multiLine int // those to several lines
	allLines  int // those to 32 lines, one per lane
	diverged  int // instructions with an entry on the divergence stack
	fullStack int // instructions with a full divergence stack
	deepCalls int // instructions with a full call stack
	atBarrier int
}

func (f *features) add(o *features) {
	f.accesses += o.accesses
	f.multiLine += o.multiLine
	f.allLines += o.allLines
	f.diverged += o.diverged
	f.fullStack += o.fullStack
	f.deepCalls += o.deepCalls
	f.atBarrier += o.atBarrier
}

// note counts an instruction before it executes.
func (m *model) note(w *modelWarp) {
	f := &m.features
	if len(w.stack) > 0 {
		f.diverged++
	}
	if len(w.stack) == kepler.StackDepth {
		f.fullStack++
	}
	if len(w.calls) == kepler.CallDepth {
		f.deepCalls++
	}
	switch i := w.prog[w.pc]; i.Op {
	case kasm.BAR:
		f.atBarrier++
	case kasm.LDR, kasm.STR:
		lanes := w.pred(i.Guard & 7)
		if i.Guard&8 != 0 {
			lanes = ^lanes
		}
		lines := map[uint32]bool{}
		for set := lanes & w.mask; set != 0; set &= set - 1 {
			lines[(w.regs[i.Rs1][bits.TrailingZeros32(set)]+uint32(i.Imm))/128] = true
		}
		if len(lines) > 0 {
			f.accesses++
		}
		if len(lines) > 1 {
			f.multiLine++
		}
		if len(lines) == kasm.Lanes {
			f.allLines++
		}
	}
}

// deepProgram nests divergence until the divergence stack is full, and calls until the
// call stack is full. Meanwhile it changes values and accesses many lines of memory.
// Lane n diverges from the others at level n.
func deepProgram(r *rand.Rand) string {
	p := &program{r: r, rooms: 1000, depth: 5}
	some := func() {
		switch r.IntN(4) {
		case 0:
			p.line("%sSTR [R43 + %d], %s", p.guard(), 4*r.IntN(8), p.reg())
		case 1:
			p.line("%sLDR %s, [R43 + %d]", p.guard(), p.reg(), 4*r.IntN(8))
		case 2:
			p.line("SHL R62, R60, R63, 7") // 32 lines
			p.line("ADD R62, R62, R42")
			p.line("%sSTR [R62 + 0x2000], %s", p.guard(), p.reg())
			p.line("%sLDR %s, [R62 + 0x2000]", p.guard(), p.reg())
		default:
			p.simple()
		}
	}
	p.line("TID R60")
	some()
	const levels = kepler.StackDepth / 2 // two entries each
	first := r.IntN(kasm.Lanes - levels)
	for n := range levels {
		p.line("SEQ R61, R60, R63, %d", first+n)
		p.line("SSY end%d", n)
		p.line("BEQ R61, R63, then%d", n)
		p.simple()
		p.line("JOIN")
		p.b.WriteString(fmt.Sprintf("then%d:\n", n))
	}
	some()
	p.line("CALL c0")
	some()
	for n := levels - 1; n >= 0; n-- {
		p.line("JOIN")
		p.b.WriteString(fmt.Sprintf("end%d:\n", n))
	}
	p.line("BAR")
	some()
	p.line("CALL c%d", r.IntN(kepler.CallDepth))
	p.line("EXIT")
	for n := range kepler.CallDepth {
		p.b.WriteString(fmt.Sprintf("c%d:\n", n))
		some()
		if n+1 < kepler.CallDepth {
			p.line("CALL c%d", n+1)
		}
		p.line("RET")
	}
	return p.b.String()
}

// Random programs on 24 warps that fill both stacks and access many lines have the
// results of the instruction set.
func TestDeepAgainstModel(t *testing.T) {
	each := alltests.Count(20, 150)
	var total features
	for seed := range uint64(each) {
		r := rand.New(rand.NewPCG(seed, 1234))
		texts := []string{deepProgram(r), deepProgram(r), deepProgram(r)}
		k, m := setUp(t, r, texts, r.Perm(kepler.Warps))
		if err := m.run(); err != nil {
			t.Fatalf("seed %d: the model: %v\n%s", seed, err, texts[0])
		}
		if !k.Run(1_000_000) {
			t.Fatalf("seed %d: not done in cycle %d: %v %v\n%s", seed, k.Cycle(), k.Fault(), k.Waits(), texts[0])
		}
		if !equal(t, k, m) {
			t.Fatalf("seed %d\n%s\n----\n%s\n----\n%s", seed, texts[0], texts[1], texts[2])
		}
		total.add(&m.features)
	}
	t.Logf("%+v", total)
	for what, n := range map[string][2]int{ // of 24 warps each
		"accesses to several lines": {total.multiLine, 24 * each},
		"accesses to 32 lines":      {total.allLines, 6 * each},
		"full divergence stacks":    {total.fullStack, 12 * each},
		"full call stacks":          {total.deepCalls, 24 * each},
		"barriers":                  {total.atBarrier, 24 * each},
	} {
		if n[0] < n[1] {
			t.Errorf("%s: %d, want at least %d", what, n[0], n[1])
		}
	}
}
