package program_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/program"
)

// lanesWriter makes a random kernel of regions on whose way all lanes of a warp agree, in which they exchange values
// and meet at barriers, and of regions in which lanes part and may leave several loops and choices at once, or begin a
// round again. Registers: %r12 to %r14 are the same in all lanes; %r16 to %r18 may be; %r20 to %r23 differ; %r26 counts
// rounds that began again; %r32 … are counters of loops; %r28 is the result; %r30 and %r31 are as in waits.
type lanesWriter struct {
	*rand.Rand
	strings.Builder
	labels int
	exits  bool // some lanes may end early
	left   int  // regions
}

// place is what a region may do, by what encloses it.
type place struct {
	ways  []string // labels that end regions around it
	again string   // label that begins a round again, if any
	depth int
	loops int
}

func (w *lanesWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *lanesWriter) label() string {
	w.labels++
	return fmt.Sprintf("L%d", w.labels)
}

// one returns one of n registers, the first of which is given.
func (w *lanesWriter) one(first, n int) string { return fmt.Sprintf("%%r%d", first+w.IntN(n)) }

func (w *lanesWriter) same() string   { return w.one(12, 3) }
func (w *lanesWriter) near() string   { return w.one(16, 3) }
func (w *lanesWriter) varied() string { return w.one(20, 4) }

func (w *lanesWriter) comparison() string {
	return []string{"lt", "gt", "eq", "ne", "le"}[w.IntN(5)]
}

// part sets %p1, maybe not the same in all lanes; agree sets it the same.
func (w *lanesWriter) part() {
	cmp := w.comparison()
	switch w.IntN(5) {
	case 0, 1:
		w.line("and.b32 %%r8, %s, %d; setp.%s.u32 %%p1, %%r8, %d;", w.varied(), 1<<(1+w.IntN(4))-1, cmp, w.IntN(5))
	case 2:
		w.line("setp.%s.u32 %%p1, %s, %d;", cmp, w.near(), w.IntN(9))
	case 3:
		w.line("and.b32 %%r8, %s, 7; setp.%s.u32 %%p1, %%r8, %s;", w.varied(), cmp, w.near())
	case 4:
		w.line("setp.%s.u32 %%p1, %s, %s;", cmp, w.near(), w.same())
	}
}

func (w *lanesWriter) agree() {
	w.line("setp.%s.u32 %%p1, %s, %d;", w.comparison(), w.same(), w.IntN(6))
}

// compute is what lanes do on their own.
func (w *lanesWriter) compute() {
	switch w.IntN(5) {
	case 0:
		w.line("red.shared.add.u32 [%%r31+%d], 1;", 4*w.IntN(8))
	case 1:
		r := w.near()
		w.line("add.u32 %s, %s, %d; red.shared.add.u32 [%%r31], 1;", r, r, 1+w.IntN(2))
	case 2:
		w.line("mad.lo.u32 %s, %s, 3, %s;", w.varied(), w.varied(), w.varied())
	case 3:
		w.line("mov.u32 %s, %d;", w.near(), w.IntN(4))
	case 4:
		w.line("mad.lo.u32 %%r28, %%r28, 7, %s; red.shared.add.u32 [%%r31+4], 1;", w.varied())
	}
}

// meet is what all lanes of a warp do together: those that have not ended, if some may have.
func (w *lanesWriter) meet() {
	kinds := 6
	if w.exits {
		kinds = 3
	}
	switch w.IntN(kinds) {
	case 0:
		w.line("and.b32 %%r8, %s, 1; setp.eq.u32 %%p2, %%r8, 0; vote.sync.ballot.b32 %%r9, %%p2, -1;", w.varied())
	case 1:
		w.line("setp.gt.u32 %%p2, %s, 2; vote.sync.ballot.b32 %%r9, %%p2, -1;", w.near())
	case 2:
		barrier := "bar.sync 0"
		if w.exits {
			barrier = "bar.warp.sync -1"
		}
		w.line("st.volatile.shared.u32 [%%r29], %%r28; %s; ld.volatile.shared.u32 %%r9, [%%r31+%d]; %[1]s;", barrier, 64+4*w.IntN(32))
	case 3:
		w.line("shfl.sync.bfly.b32 %%r9, %%r28, %d, 31, -1;", 1+w.IntN(31))
	case 4:
		w.line("redux.sync.add.u32 %%r9, %s, -1;", w.varied())
	case 5:
		w.line("shfl.sync.idx.b32 %%r9, %s, %d, 31, -1;", w.near(), w.IntN(32))
	}
	w.line("mad.lo.u32 %%r28, %%r28, 31, %%r9;")
}

// leave has some lanes go to the end of a region around this one, or begin a round again, a few times.
func (w *lanesWriter) leave(p place) {
	w.part()
	switch {
	case p.again != "" && w.IntN(2) == 0:
		w.line("add.u32 %%r26, %%r26, 1; setp.lt.and.u32 %%p1, %%r26, %d, %%p1; @%%p1 bra %s;", 3+w.IntN(5), p.again)
	case len(p.ways) > 0:
		w.line("@%%p1 bra %s;", p.ways[w.IntN(len(p.ways))])
	}
}

// apart is a region in which lanes may part.
func (w *lanesWriter) apart(p place) {
	for range 1 + w.IntN(3) {
		w.left--
		in := p
		in.depth++
		switch k := w.IntN(12); {
		case k < 3 || p.depth > 4 || w.left < 0:
			w.compute()
		case k < 7:
			w.choose(in, k-4)
		case k < 9 && p.loops < 4:
			w.loop(in)
		case k < 11:
			w.leave(p)
		case w.exits && w.IntN(3) == 0:
			on := w.label()
			w.line("and.b32 %%r8, %%r30, 15; setp.eq.u32 %%p1, %%r8, %d; setp.gt.and.u32 %%p1, %s, 2, %%p1; @!%%p1 bra %s;", w.IntN(16), w.near(), on)
			w.line("st.global.u32 [%%out+8], %%r28; ret; %s:", on)
		default:
			w.compute()
		}
	}
}

// choose is an if (kind 0 and less), an if with an else (1), or one that jumps into the else (2).
func (w *lanesWriter) choose(p place, kind int) {
	other, tail, end := w.label(), w.label(), w.label()
	w.part()
	w.line("@%%p1 bra %s;", other)
	w.apart(p)
	if kind == 2 {
		w.part()
		w.line("@%%p1 bra %s;", tail)
		w.apart(p)
	}
	if kind > 0 {
		w.line("bra %s; %s:", end, other)
		w.apart(p)
		w.line("%s:", tail)
		if kind == 2 {
			w.apart(p)
		}
		w.line("%s:", end)
		return
	}
	w.line("%s:", other)
}

// loop is a loop of a few rounds, in which lanes may be in different ones.
func (w *lanesWriter) loop(p place) {
	head, next, end := w.label(), w.label(), w.label()
	count := fmt.Sprintf("%%r%d", 32+p.loops)
	p.loops++
	p.ways = append([]string{next, end}, p.ways...)
	w.line("mov.u32 %[1]s, 0; %[2]s: add.u32 %[1]s, %[1]s, 1; setp.gt.u32 %%p1, %[1]s, %[3]d; @%%p1 bra %[4]s;", count, head, 2+w.IntN(3), end)
	w.apart(p)
	w.line("%s:", next)
	switch w.IntN(3) {
	case 0:
		w.line("bra %s; %s:", head, end)
	case 1:
		w.part()
		w.line("@%%p1 bra %s; %s:", head, end)
	case 2:
		w.line("and.b32 %%r8, %%r30, 3; setp.lt.u32 %%p1, %s, %%r8; @%%p1 bra %s; %s:", count, head, end)
	}
}

// together is a region on whose way all lanes agree.
func (w *lanesWriter) together(p place) {
	for range 1 + w.IntN(3) {
		w.left--
		in := p
		in.depth++
		switch k := w.IntN(10); {
		case k < 2 || p.depth > 3 || w.left < 0:
			w.meet()
		case k < 5:
			end := w.label()
			w.apart(place{ways: []string{end}, loops: p.loops, depth: 1})
			w.line("%s:", end)
		case k < 6:
			r := w.same()
			w.line("add.u32 %s, %s, 1;", r, r)
		case k < 7:
			w.agree()
			end := w.label()
			w.line("@%%p1 bra %s;", end)
			w.together(in)
			w.line("%s:", end)
		case k < 8 && len(p.ways) > 0:
			w.agree()
			w.line("@%%p1 bra %s;", p.ways[w.IntN(len(p.ways))])
		case k >= 8 && p.loops < 3:
			w.rounds(in)
		default:
			w.meet()
		}
	}
}

// rounds is a loop with a number of rounds on which all lanes agree, and in which some lanes begin a round again, at
// the head of the loop or by a second way back.
func (w *lanesWriter) rounds(p place) {
	head, back, end, on := w.label(), w.label(), w.label(), w.label()
	count := fmt.Sprintf("%%r%d", 32+p.loops)
	p.loops++
	p.ways = append([]string{back, end}, p.ways...)
	w.line("mov.u32 %s, 0; %s:", count, head)
	again, second := head, ""
	if w.IntN(2) == 0 {
		second = w.label()
		again = second
	}
	parts := place{ways: []string{on}, again: again, loops: p.loops, depth: 1}
	w.apart(parts)
	w.apart(parts)
	w.line("%s:", on)
	if w.IntN(2) == 0 {
		w.apart(place{again: again, loops: p.loops, depth: 2})
	}
	if w.IntN(3) > 0 {
		w.meet()
	}
	w.together(p)
	w.line("%s: add.u32 %s, %[2]s, 1; setp.ge.u32 %%p1, %[2]s, %d; @%%p1 bra %s;", back, count, 2+w.IntN(2), end)
	if second != "" {
		w.line("%s:", second)
	}
	w.line("bra %s; %s:", head, end)
}

// lanesBody is a body for bodyRun.
func lanesBody(seed uint64) string {
	w := &lanesWriter{Rand: rand.New(rand.NewPCG(seed, 99)), left: 40}
	w.exits = w.IntN(3) == 0
	w.line("%s", waitBegin)
	w.line("shl.b32 %%r29, %%r30, 2; add.u32 %%r29, %%r29, %%r31; add.u32 %%r29, %%r29, 64; mov.u32 %%r26, 0; mov.u32 %%r12, 0; mov.u32 %%r13, %%ctaid.x; mov.u32 %%r14, 3;")
	w.line("mov.u32 %%r16, 0; mov.u32 %%r17, 1; mov.u32 %%r18, %%ctaid.x; mov.u32 %%r20, %%r30; xor.b32 %%r21, %%r30, 5; shr.u32 %%r22, %%r30, 1; mul.lo.u32 %%r23, %%r30, 11;")
	w.together(place{})
	w.together(place{})
	w.line("bar.warp.sync -1; ld.shared.u32 %%r9, [%%r31]; add.u32 %%r28, %%r28, %%r9; ld.shared.u32 %%r9, [%%r31+4]; mad.lo.u32 %%r28, %%r28, 5, %%r9; st.global.u32 [%%out+8], %%r28;")
	return w.String()
}

// TestCompiledLanes: random kernels whose lanes part, meet and exchange values give what their PTX does, and end.
func TestCompiledLanes(t *testing.T) {
	input := rowInput()
	for seed := range alltests.Count(60, 4000) {
		body := lanesBody(uint64(seed))
		want, _, err := bodyRun(t, program.PTXCode, body, input)
		if err != nil {
			t.Fatalf("kernel %d as PTX: %v\n%s", seed, err, body)
		}
		got, refused, err := bodyRun(t, program.CompiledCode, body, input)
		if err != nil || refused != "" || !bytes.Equal(got, want) {
			t.Fatalf("kernel %d differs: %v %s\n%s", seed, err, refused, body)
		}
	}
}
