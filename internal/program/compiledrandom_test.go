package program_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

// writer makes a random kernel: assignments, guards, branches and loops, nested, with ways out of both.
type writer struct {
	*rand.Rand
	strings.Builder
	labels, loops int
	preds         int
	words         int // %r0 …, whose values matter
}

const (
	inputs = 6 // words of input of a thread
	wides  = 2 // %d0 …, of 64 bits
)

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, " "+format+";\n", args...) }

func (w *writer) word() string { return fmt.Sprintf("%%r%d", w.IntN(w.words)) }

// source is a register or a number.
func (w *writer) source() string {
	if w.IntN(3) == 0 {
		return fmt.Sprint(w.IntN(100) - 20)
	}
	return w.word()
}

// pred makes a predicate of what the registers have.
func (w *writer) pred() string {
	w.preds++
	p := fmt.Sprintf("%%p%d", w.preds%12)
	switch w.IntN(3) {
	case 0:
		w.line("setp.%s.s32 %s, %s, %s", []string{"eq", "ne", "lt", "le", "gt", "ge"}[w.IntN(6)], p, w.word(), w.source())
	case 1:
		w.line("and.b32 %%t, %s, %d; setp.ne.u32 %s, %%t, 0", w.word(), 1+w.IntN(7), p)
	default:
		w.line("setp.lt.u64 %s, %%d%d, %%d%d", p, w.IntN(wides), w.IntN(wides))
	}
	return p
}

// assign is one or a few instructions that compute, some of them under a guard.
func (w *writer) assign() {
	g := ""
	if w.IntN(4) == 0 {
		g = "@" + []string{"", "!"}[w.IntN(2)] + w.pred() + " "
	}
	switch w.IntN(10) {
	case 0:
		w.line("%sadd.s32 %s, %s, %s", g, w.word(), w.word(), w.source())
	case 1:
		w.line("%smul.lo.s32 %s, %s, %s", g, w.word(), w.word(), w.source())
	case 2:
		w.line("%sxor.b32 %s, %s, %s", g, w.word(), w.word(), w.source())
	case 3:
		w.line("%sshr.u32 %s, %s, %d", g, w.word(), w.word(), w.IntN(34))
	case 4:
		w.line("%sadd.s64 %%d%d, %%d%d, %%d%d", g, w.IntN(wides), w.IntN(wides), w.IntN(wides))
	case 5:
		w.line("%smul.wide.u32 %%d%d, %s, %s", g, w.IntN(wides), w.word(), w.word())
	case 6:
		w.line("%scvt.u32.u64 %s, %%d%d", g, w.word(), w.IntN(wides))
	case 7: // those in several places are calls of a routine
		w.line("%s%s %%d%d, %%d%d, %%d%d", g, []string{"div.u64", "rem.u64", "div.s64", "rem.s64"}[w.IntN(4)], w.IntN(wides), w.IntN(wides), w.IntN(wides))
	case 8:
		w.line("%smov.b64 {%s, %s}, %%d%d", g, "%r0", "%r1", w.IntN(wides))
	default:
		w.line("%smov.u32 %s, %s", g, w.word(), w.source())
	}
}

// block is some statements; out is a label outside of the innermost loop, again its next round.
func (w *writer) block(depth int, out, again string) {
	for range 1 + w.IntN(4) {
		switch k := w.IntN(8); {
		case k < 4 || depth == 0:
			w.assign()
		case k == 4 && out != "":
			w.line("@%s bra %s", w.pred(), []string{out, again}[w.IntN(2)])
		case k == 5:
			w.loop(depth)
		case k == 6 && w.IntN(6) == 0:
			w.line("@%s bra END", w.pred())
		default:
			w.choice(depth, out, again)
		}
	}
}

func (w *writer) label() string {
	w.labels++
	return fmt.Sprintf("L%d", w.labels)
}

func (w *writer) choice(depth int, out, again string) {
	other, end := w.label(), w.label()
	w.line("@%s bra %s", w.pred(), other)
	w.block(depth-1, out, again)
	if w.IntN(2) == 0 {
		w.line("bra %s", end)
	}
	w.WriteString(other + ":\n")
	w.block(depth-1, out, again)
	w.WriteString(end + ":\n")
}

func (w *writer) loop(depth int) {
	w.loops++
	i, head, next, out := fmt.Sprintf("%%i%d", w.loops), w.label(), w.label(), w.label()
	w.line("and.b32 %s, %s, %d", i, w.word(), 3)
	w.WriteString(head + ":\n")
	w.block(depth-1, out, next)
	w.WriteString(next + ":\n")
	w.line("add.s32 %s, %s, 1; setp.lt.s32 %%q, %s, %d", i, i, i, 2+w.IntN(4))
	w.line("@%%q bra %s", head)
	w.WriteString(out + ":\n")
}

// randomKernel is a random kernel, kn, with many values that live through it. directives bound what it
// may use.
func randomKernel(n, seed, words int, directives string) string {
	w := &writer{Rand: rand.New(rand.NewPCG(uint64(seed), 5)), words: words}
	w.block(3, "", "")
	body := w.String()
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry k%d(.param .u64 in, .param .u64 out) %s {\n .reg .b64 %%in, %%out, %%at, %%d<%d>; .reg .b32 %%t, %%r<%d>, %%i<%d>; .reg .pred %%q, %%p<12>;\n", n, directives, wides, words, w.loops+1)
	b.WriteString(" ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 24; add.s64 %in, %in, %at;\n mul.wide.u32 %at, %t, 8; add.s64 %out, %out, %at;\n")
	for i := range words {
		fmt.Fprintf(&b, " ld.global.u32 %%r%d, [%%in+%d];\n", i, 4*(i%inputs))
		if i >= inputs {
			fmt.Fprintf(&b, " mad.lo.s32 %%r%d, %%r%d, %d, 7;\n", i, i, i)
		}
	}
	b.WriteString(" ld.global.u64 %d0, [%in]; mov.u64 %d1, 77;\n")
	for i := range 12 {
		fmt.Fprintf(&b, " setp.eq.s32 %%p%d, %%r%d, %d;\n", i, i%words, i)
	}
	b.WriteString(body + "END:\n")
	for i := 1; i < words; i++ {
		fmt.Fprintf(&b, " mad.lo.s32 %%r0, %%r0, 31, %%r%d;\n", i)
	}
	for i := range 12 { // all of them live through the kernel
		fmt.Fprintf(&b, " @%%p%d add.s32 %%r0, %%r0, %d;\n", i, 1<<i)
	}
	b.WriteString(" cvt.u32.u64 %t, %d1; xor.b32 %r1, %t, %r1; st.global.v2.u32 [%out], {%r0, %r1};\n ret; }\n")
	return b.String()
}

// TestCompiledRandom: random kernels, with more predicates than a thread has, and some with more registers,
// give what their PTX does.
func TestCompiledRandom(t *testing.T) {
	for _, c := range []struct {
		name, directives string
		words            int
		few, many        int // kernels
	}{
		{"predicates", "", inputs, 40, 2000},
		{"registers", ".maxnreg 24", 40, 20, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ".version 8.0\n.target sm_86\n.address_size 64\n"
			var names []string
			seeds := []int{420} // whose lanes once waited for each other for ever
			for seed := range alltests.Count(c.few, c.many) {
				seeds = append(seeds, seed)
			}
			for n, seed := range seeds {
				text += randomKernel(n, seed, c.words, c.directives)
				names = append(names, fmt.Sprintf("random kernel %d", seed))
			}
			input := rowInput()
			want, got := outputs(t, program.PTXCode, text, names, input), outputs(t, program.CompiledCode, text, names, input)
			for n, name := range names {
				if !bytes.Equal(want[n], got[n]) {
					t.Errorf("%s differs:\n%s", name, randomKernel(n, seeds[n], c.words, c.directives))
				}
			}
		})
	}
}

// listing is what is compiled of a program, less optimised by some levels.
func listing(t *testing.T, text string, less int) string {
	t.Helper()
	m, err := ptx.Parse("rows.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := compile.Module(m, compile.Options{Arch: sass.Arch(*forSM), Less: less, Verify: true})
	if err != nil || len(r.Refused) > 0 {
		t.Fatal(err, r.Refused)
	}
	return r.File.Text()
}

// TestCompiledLevels: random kernels give what their PTX does at every level of optimisation, of which each
// makes them shorter or leaves them as they are.
func TestCompiledLevels(t *testing.T) {
	text := ".version 8.0\n.target sm_86\n.address_size 64\n"
	var names []string
	for seed := range alltests.Count(15, 500) {
		text += randomKernel(seed, 5000+seed, inputs, "")
		names = append(names, fmt.Sprintf("random kernel %d", 5000+seed))
	}
	input := rowInput()
	want := outputs(t, program.PTXCode, text, names, input)
	last := 0
	for less := range compile.Most + 1 {
		code := listing(t, text, less)
		got := outputs(t, program.SASSCode, code, names, input)
		for n, name := range names {
			if !bytes.Equal(want[n], got[n]) {
				t.Errorf("-O%d: %s differs", compile.Most-less, name)
			}
		}
		if n := strings.Count(code, ";\n"); less > 1 && n < last {
			t.Errorf("-O%d has %d instructions, the next level %d", compile.Most-less, n, last)
		} else {
			last = n
		}
	}
}
