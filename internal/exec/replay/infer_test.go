package replay

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// program is code with the compiler's control bits and its possible successors.
type program struct {
	name string
	code []isa.Inst
	bits []isa.Control
	next [][]int32
}

// flowOf finds the possible successors from the text alone.
func flowOf(list []isa.Inst) [][]int32 {
	next := make([][]int32, len(list))
	for i := range list {
		in := &list[i]
		next[i] = append(next[i], in.Targets...)
		falls := in.Guarded
		switch in.Flow {
		case isa.FlowNext, isa.FlowCall:
			falls = true
		}
		if falls && i+1 < len(list) {
			next[i] = append(next[i], int32(i+1))
		}
	}
	return next
}

func programOf(k *sass.Kernel) program {
	p := program{name: k.Name, code: k.Infos()}
	for i := range p.code {
		p.bits = append(p.bits, *p.code[i].Control)
		p.code[i].Control = nil
	}
	p.next = flowOf(p.code)
	return p
}

var (
	firstWord  = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/`)
	secondWord = regexp.MustCompile(`^\s*/\* 0x([0-9a-f]{16}) \*/`)
)

// programs are the examples of the repository, and a kernel that a compiler
// made.
func programs(t *testing.T) []program {
	t.Helper()
	var list []program
	paths, err := filepath.Glob("../../../examples/sass/*.sass")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := sass.Parse(path, string(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range f.Kernels {
			list = append(list, programOf(k))
		}
	}
	return append(list, compiled(t))
}

// listing is the text of the compiler's kernel.
func listing(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("../../isa/sass/testdata/gemm.sm80.listing.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compiled(t testing.TB) program {
	t.Helper()
	k := sass.Kernel{Name: "gemm", Arch: 80, Control: true}
	var addr uint32
	var words [2]uint64
	for line := range strings.Lines(listing(t)) {
		if m := firstWord.FindStringSubmatch(line); m != nil {
			a, _ := strconv.ParseUint(m[1], 16, 32)
			addr, words[0] = uint32(a), hex(m[3])
		} else if m := secondWord.FindStringSubmatch(line); m != nil {
			words[1] = hex(m[1])
			in, err := sass.Decode(80, words, addr)
			if err != nil {
				t.Fatal(err)
			}
			for i := range in.Operands {
				if o := &in.Operands[i]; o.Kind == sass.Target {
					o.Index = int32(o.Imm / 16)
				}
			}
			k.Code = append(k.Code, in)
		}
	}
	return programOf(&k)
}

// hazard is a dependence that control bits do not guard.
type hazard struct {
	at, by int
	what   string
}

// walk follows a path and reports every dependence that the control bits do not guard: an
// independent implementation of the rules, over one path at a time, in cycles.
func walk(list []isa.Inst, bits []isa.Control, path []int, l Latencies, late func(*isa.Inst) bool) []hazard {
	type result struct {
		at    int
		ready int // cycle from which it can be read; of variable latency unknown
		late  bool
	}
	type started struct {
		at     int
		cycle  int
		writes bool
	}
	results := map[isa.Reg]result{}       // last writer of a register
	reading := map[isa.Reg]map[int]bool{} // instructions that may not have read it
	counter := [isa.Counters][]started{}
	var found []hazard
	each := func(rs []isa.Reg, f func(r isa.Reg)) {
		for _, r := range rs {
			for i := range uint32(max(r.Count, 1)) {
				f(isa.Reg{File: r.File, Index: r.Index + i})
			}
		}
	}
	cycle := 0
	for _, at := range path {
		in, c := &list[at], &bits[at]
		for n := range counter {
			if c.Wait>>n&1 == 0 {
				continue
			}
			var left []started
			for _, s := range counter[n] {
				if cycle < s.cycle+2 {
					left = append(left, s) // it has not been raised yet
					continue
				}
				each(list[s.at].Srcs, func(r isa.Reg) { delete(reading[r], s.at) })
				if s.writes {
					each(list[s.at].Dsts, func(r isa.Reg) {
						if w := results[r]; w.at == s.at && w.late {
							delete(results, r)
						}
					})
				}
			}
			counter[n] = left
		}
		bad := func(by int, format string, a ...any) {
			found = append(found, hazard{at, by, fmt.Sprintf(format, a...)})
		}
		each(in.Srcs, func(r isa.Reg) {
			w, ok := results[r]
			need := w.ready
			if late(in) {
				need += int(l.Late)
			}
			switch {
			case ok && w.late:
				bad(w.at, "%v is read without a wait", r)
			case ok && cycle < need:
				bad(w.at, "%v is read %d cycles too soon", r, need-cycle)
			}
		})
		each(in.Dsts, func(r isa.Reg) {
			if w, ok := results[r]; ok {
				ready := cycle + 1
				if !late(in) {
					ready = cycle + int(l.of(in, r))
				}
				switch {
				case w.late:
					bad(w.at, "%v is overwritten without a wait", r)
				case ready <= w.ready:
					bad(w.at, "%v is overwritten by an older result", r)
				}
			}
			for by := range reading[r] {
				if by != at {
					bad(by, "%v is overwritten before it is read", r)
				}
			}
		})
		each(in.Dsts, func(r isa.Reg) {
			results[r] = result{at: at, ready: cycle + int(l.of(in, r)), late: late(in)}
		})
		if late(in) {
			each(in.Srcs, func(r isa.Reg) {
				if reading[r] == nil {
					reading[r] = map[int]bool{}
				}
				reading[r][at] = true
			})
		}
		if c.Write < isa.Counters {
			counter[c.Write] = append(counter[c.Write], started{at, cycle, true})
		}
		if c.Read < isa.Counters {
			counter[c.Read] = append(counter[c.Read], started{at, cycle, false})
		}
		cycle += max(int(c.Stall), 1)
	}
	return found
}

// paths are random ways through a program from its begin.
func paths(p *program, n, length int, r *rand.Rand) [][]int {
	var list [][]int
	for range n {
		at := 0
		path := []int{0}
		for len(path) < length && len(p.next[at]) > 0 {
			at = int(p.next[at][r.IntN(len(p.next[at]))])
			path = append(path, at)
		}
		list = append(list, path)
	}
	return list
}

// Inferred control bits guard every dependence on every path.
func TestInferGuards(t *testing.T) {
	l := AmpereLatencies()
	for _, p := range programs(t) {
		bits := Infer(p.code, p.next, l)
		r := rand.New(rand.NewPCG(1, 2))
		all := paths(&p, 40, 3000, r)
		for _, path := range all {
			if h := walk(p.code, bits, path, l, l.late); len(h) > 0 {
				t.Errorf("%s: %d hazards, first: %s [%d] after %s [%d]: %s", p.name, len(h), p.code[h[0].at].Op, h[0].at, p.code[h[0].by].Op, h[0].by, h[0].what)
				break
			}
		}
		for i, c := range bits {
			if c.Stall > 15 || c.Stall == 0 || c.Wait >= 1<<isa.Counters || c.Stall > 11 && !c.Yield {
				t.Errorf("%s: instruction %d has %v", p.name, i, c)
			}
		}
	}
}

// Anything removed from inferred bits is detected by the checker, so the checker can fail.
func TestCheckerFails(t *testing.T) {
	l := AmpereLatencies()
	for _, p := range programs(t)[:3] {
		bits := Infer(p.code, p.next, l)
		r := rand.New(rand.NewPCG(3, 4))
		all := paths(&p, 40, 2000, r)
		missed, tried := 0, 0
		for i := range bits {
			b := append([]isa.Control(nil), bits...)
			switch {
			case b[i].Wait != 0:
				b[i].Wait = 0
			case b[i].Stall >= 4 && p.code[i].Flow == isa.FlowNext && p.code[i].Class != isa.ClassBranch:
				b[i].Stall--
			default:
				continue
			}
			tried++
			found, seen := false, false
			for _, path := range all {
				for _, at := range path {
					seen = seen || at == i
				}
				found = found || len(walk(p.code, b, path, l, l.late)) > 0
			}
			if !seen {
				tried--
			} else if !found {
				missed++
				t.Logf("%s: %s [%d] with %v instead of %v goes unnoticed", p.name, p.code[i].Op, i, b[i], bits[i])
			}
		}
		if tried == 0 || missed*10 > tried {
			t.Errorf("%s: of %d changed control codes %d go unnoticed", p.name, tried, missed)
		}
	}
}

// Prints how close inferred bits come to those of compilers and of hand-written code. They
// require no more than a compiler's. A compiler also leaves room for busy pipes, which a core
// handles by itself, and knows about loads that return in order.
func TestInferCloseness(t *testing.T) {
	l := AmpereLatencies()
	for _, p := range programs(t) {
		bits := Infer(p.code, p.next, l)
		var sum, theirs, equal, waits, sameWait, theirWaits int
		var used, theirUsed uint8
		for i := range bits {
			a, b := bits[i], p.bits[i]
			sum += int(a.Stall)
			theirs += max(int(b.Stall), 1)
			if a.Stall == b.Stall {
				equal++
			}
			if a.Wait != 0 {
				waits++
			}
			if b.Wait != 0 {
				theirWaits++
			}
			if (a.Wait != 0) == (b.Wait != 0) {
				sameWait++
			}
			for _, n := range [2]uint8{a.Write, a.Read} {
				if n != isa.NoCounter {
					used |= 1 << n
				}
			}
			for _, n := range [2]uint8{b.Write, b.Read} {
				if n != isa.NoCounter {
					theirUsed |= 1 << n
				}
			}
		}
		n := len(bits)
		t.Logf("%-12s %4d instructions: stalls sum %5d, theirs %5d, equal at %3d %%; waits %4d, theirs %4d, alike at %3d %%; counters %06b, theirs %06b",
			p.name, n, sum, theirs, 100*equal/n, waits, theirWaits, 100*sameWait/n, used, theirUsed)
		if sum > theirs || 100*sameWait < 80*n {
			t.Errorf("%s: stalls of %d cycles in all, theirs %d; waits alike at %d of %d", p.name, sum, theirs, sameWait, n)
		}
	}
}
