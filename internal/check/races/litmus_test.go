package races

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// litmus are small programs with the answer of the memory model (PTX manual, memory
// consistency model): the kinds of the races, "" for none.
var litmus = []struct{ name, program, want string }{
	// Plain accesses.
	{"two reads", "A:r0 E:r0", ""},
	{"a thread after itself", "A:w0 A:r0 A:w0", ""},
	{"different words", "A:w0 B:w1 C:w2 E:w3", ""},
	{"write, write by another block", "A:w0 E:w0", "interblock"},
	{"write, read by another block", "A:w0 E:r0", "interblock"},
	{"read, write by another block", "A:r0 E:w0", "interblock"},
	{"write, read by another warp", "A:w0 C:r0", "intrablock"},
	{"write, read by another lane", "A:w0 B:r0", "intrawarp"},
	{"many readers, one writer of their block", "A:r0 B:r0 C:r0 D:w0", "intrablock intrawarp"},
	{"a lane reads what its neighbour wrote in one instruction", "A:p0 B:r0", "intrawarp"},
	{"a lane reads its own word of the warp's row", "A:p0 B:r1", ""},
	{"8 bytes over a word", "A:w0! E:r1", "interblock"},
	{"8 bytes beside a word", "A:w0! E:r2", ""},
	{"a write between hides no earlier one", "A:w0 E:w0 E:r0", "interblock"},

	// Barriers.
	{"barrier of the block", "A:w0 A:|0 D:r0", ""},
	{"barrier of the block, then write after read", "A:r0 A:|0 D:w0", ""},
	{"barrier of one block says nothing to another", "A:w0 A:|0 E:|0 E:r0", "interblock"},
	{"barrier before the write only", "A:|0 A:w0 D:r0", "intrablock"},
	{"two phases, one missing", "A:w0 A:|0 D:r0 A:w0", "intrablock"},
	{"two phases", "A:w0 A:|0 D:r0 A:|0 A:w0", ""},
	{"barrier of the warp", "A:w0 A:m0 B:r0", ""},
	{"barrier of the warp says nothing to another", "A:w0 A:m0 C:m0 C:r0", "intrablock"},
	{"barriers of the warp and then of the block", "A:w0 B:m0 B:|0 C:m0 D:r0", ""},
	{"named barrier: who arrives releases", "C:w0 A:n0 B:r0", ""},
	{"named barrier: who waits sees all of the warp", "D:w0 A:n0 A:r0", ""},
	{"named barrier: who arrives learns nothing", "A:w0 A:n0 C:r0", "intrablock"},
	{"named barrier: not what comes after the arrival", "A:n0 C:w0 A:r0", "intrablock"},
	{"named barrier joins the waiting lanes", "A:w0 A:n0 B:r0", ""},
	{"named barrier does not join the arriving lanes", "C:w0 A:n0 D:r0", "intrawarp"},
	{"barrier of the warp hands on a named one", "C:w0 C:m0 A:n0 A:m0 B:r0", ""},

	// Mbarriers.
	{"mbarrier", "A:w0 A:i0 C:j0 C:r0", ""},
	{"mbarrier without wait", "A:w0 A:i0 C:r0", "intrablock"},
	{"mbarrier: not what comes after the arrival", "A:i0 A:w0 C:j0 C:r0", "intrablock"},
	{"mbarrier: the arriving thread learns nothing", "C:w0 A:i0 A:r0", "intrablock"},
	{"mbarrier of a sibling lane", "A:w0 B:i0 C:j0 C:r0", "intrablock"},
	{"mbarrier: a relaxed wait learns nothing", "A:w0 A:i0 C:k0 C:r0", "intrablock"},
	{"mbarrier: a phase after one that was waited for relaxed", "A:w0 A:i0 C:k0 B:i0 C:j0 C:r0", ""},
	{"mbarrier: two phases, and what comes after the first arrival", "A:i0 A:w0 C:k0 B:i0 C:j0 C:r0", "intrablock"},
	{"mbarrier after a barrier of the warp", "A:w0 A:m0 B:i0 C:j0 C:r0", ""},

	// Asynchronous copies.
	{"copy, read by its thread", "A:f0 A:r0", "intrawarp"},
	{"copy waited for", "A:f0 A:v0 A:r0", ""},
	{"copy waited for, read by another", "A:f0 A:v0 C:r0", "intrablock"},
	{"copy waited for, barrier", "A:f0 A:v0 A:|0 C:r0", ""},
	{"barrier before the wait", "A:f0 A:|0 A:v0 C:r0", "intrablock"},
	{"wait of another thread", "A:f0 B:v0 A:|0 A:r0", "intrawarp"},
	{"two copies to one place", "A:f0 A:f0", "intrawarp"},
	{"two copies with a wait between", "A:f0 A:v0 A:f0 A:v0 A:r0", ""},
	{"what came before the copy", "A:w0 A:f0 A:v0 A:r0", ""},
	{"read before a copy by another", "C:r0 A:f0", "intrablock"},
	{"read and barrier before a copy by another", "C:r0 C:|0 A:f0 A:v0", ""},

	// Strong accesses that excuse themselves.
	{"atomics of two blocks", "A:Uxg0 E:Uxg0", ""},
	{"atomics of a block in two blocks", "A:Uxc0 E:Uxc0", "interblock"},
	{"scopes must include each other", "A:Uxg0 E:Uxc0", "interblock"},
	{"atomics of a block within it", "A:Uxc0 C:Uxc0", ""},
	{"mixed scopes within a block", "A:Uxg0 C:Uxc0", ""},
	{"strong store and load", "A:Wxg0 E:Rxg0", ""},
	{"strong stores", "A:Wxg0 E:Wxg0", ""},
	{"atomic and plain read", "A:Uxg0 E:r0", "interblock"},
	{"atomic and plain write", "A:Uxg0 E:w0", "interblock"},
	{"plain write and atomic", "A:w0 E:Uxg0", "interblock"},
	{"plain read and strong load", "A:r0 E:Rxg0", ""},
	{"mixed sizes", "A:Uxg0! E:Uxg0", "interblock"},
	{"mixed sizes, other half", "A:Uxg0! E:Uxg1", "interblock"},
	{"mixed sizes of loads", "A:Rxg0! E:Rxg0", ""},
	{"mixed sizes of one thread", "A:Uxg0! A:Uxg0", ""},
	{"8 bytes of one size", "A:Uxg0! E:Uxg0!", ""},

	// Patterns that lack something. The flag's own accesses excuse themselves.
	{"flag without fences", "A:w1 A:Wxg0 E:Rxg0 E:r1", "interblock"},
	{"flag with the first fence only", "A:w1 A:Fbg A:Wxg0 E:Rxg0 E:r1", "interblock"},
	{"flag with the second fence only", "A:w1 A:Wxg0 E:Rxg0 E:Fbg E:r1", "interblock"},
	{"fence after the flag", "A:w1 A:Wxg0 A:Fbg E:Rxg0 E:Fbg E:r1", "interblock"},
	{"fence before the flag's read", "A:w1 A:Fbg A:Wxg0 E:Fbg E:Rxg0 E:r1", "interblock"},
	{"flag not yet seen", "E:Rag0 A:w1 A:Wrg0 E:r1", "interblock"},
	{"data after the release", "A:Wrg0 A:w1 E:Rag0 E:r1", "interblock"},
	{"red in place of a read", "A:w1 A:Wrg0 E:Wxg0 E:Fbg E:r1", "interblock"},
	{"plain flag", "A:w1 A:Fbg A:w0 E:r0 E:Fbg E:r1", "interblock"},
	{"fences alone order nothing", "A:w1 A:Fbg E:Fbg E:r1", "interblock"},
	{"fence of the block before a flag of the GPU", "A:w1 A:Fbc A:Wxg0 E:Rxg0 E:Fbg E:r1", "interblock"},
	{"fence of the block after a flag of the GPU", "A:w1 A:Fbg A:Wxg0 E:Rxg0 E:Fbc E:r1", "interblock"},
	{"another thread's fence", "A:w1 B:Fbg A:Wxg0 E:Rag0 E:r1", "interblock"},
	{"the fence before the barrier covers one thread", "A:w1 A:Fbg C:Fbg A:|0 C:Wxg0 E:Rag0 E:r1", "interblock"},
	{"the fence after the barrier covers all", "A:w1 A:|0 C:Fbg C:Wxg0 E:Rag0 E:r1", ""},
	{"release after the barrier covers all", "A:w1 A:|0 C:Wrg0 E:Rag0 E:r1", ""},
	{"acquire before the barrier covers all", "A:w1 A:Wrg0 E:Rag0 E:|0 H:r1", ""},
	{"acquire after the barrier covers one", "A:w1 A:Wrg0 E:|0 E:Rag0 H:r1", "interblock"},
	{"acquire before a barrier of the warp", "A:w1 A:Wrg0 E:Rag0 E:m0 F:r1", ""},
	{"acquire by one lane", "A:w1 A:Wrg0 E:Rag0 F:r1", "interblock"},
	{"release by a sibling lane", "A:w1 B:Wrg0 E:Rag0 E:r1", "interblock"},

	// Cache operators: notes, and with fences they order what they guard.
	{"flag by cache operators", "A:Whg0 E:Rhg0", "interblock?"},
	{"flag by cache operators, polled first", "E:Rhg0 A:Whg0", "interblock?"},
	{"one side relaxed", "A:Wxg0 E:Rhg0", "interblock?"},
	{"one side atomic", "A:Uxg0 E:Rhg0", "interblock?"},
	{"relaxed in the scope of a block", "A:Wxc0 E:Rhg0", "interblock"},
	{"one side plain", "A:w0 E:Rhg0", "interblock"},
	{"plain read of what goes to the L2", "A:Whg0 E:r0", "interblock"},
	{"sizes differ", "A:Whg0! E:Rhg0", "interblock"},
	{"two loads to the L2", "A:Rhg0 E:Rhg0", ""},
	{"of one thread", "A:Whg0 A:Rhg0 A:Whg0", ""},
	{"barrier of the block between them", "A:Whg0 A:|0 C:Rhg0", ""},
	{"flag by cache operators with fences", "A:w1 A:Fbg A:Whg0 E:Rhg0 E:Fbg E:r1", "interblock?"},
	{"without the first fence", "A:w1 A:Whg0 E:Rhg0 E:Fbg E:r1", "interblock interblock?"},
	{"without the second", "A:w1 A:Fbg A:Whg0 E:Rhg0 E:r1", "interblock interblock?"},
	{"without fences", "A:w1 A:Whg0 E:Rhg0 E:r1", "interblock interblock?"},
	{"fences of the block", "A:w1 A:Fbc A:Whg0 E:Rhg0 E:Fbc E:r1", "interblock interblock?"},
	{"plain flag, polled by way of the L2", "A:w1 A:Fbg A:w0 E:Rhg0 E:Fbg E:r1", "interblock"},
	{"release to a load by way of the L2", "A:w1 A:Wrg0 E:Rhg0 E:Fbg E:r1", "interblock?"},
	{"store by way of the L2 to an acquire", "A:w1 A:Fbg A:Whg0 E:Rag0 E:r1", "interblock?"},
	{"look-back: value, then flag", "A:Whg1 A:Fbg A:Whg0 E:Rhg0 E:Fbg E:Rhg1", "interblock?"},
	{"look-back by two blocks", "A:w2 A:Fbg A:Whg0 E:Rhg0 E:Fbg E:r2 E:w3 E:Fbg E:Whg1 C:Rhg1 C:Fbg C:r2 C:r3", "interblock?"},

	// Chains.
	{"release through an atomic operation of a third", "A:w1 A:Wrg0 C:Uxg0 E:Rag0 E:r1", ""},
	{"release through two", "A:w1 A:Urg0 C:Uxg0 G:Uxg0 E:Rag0 E:r1", ""},
	{"a store ends the chain", "A:w1 A:Wrg0 C:Wxg0 E:Rag0 E:r1", "interblock"},
	{"the releasing thread's own store goes on", "A:w1 A:Wrg0 A:Wxg0 E:Rag0 E:r1", ""},
	{"a plain write ends the chain", "A:w1 A:Wrg0 A:w0 E:Rag0 E:r1", "interblock"},
	{"an atomic operation of too narrow a scope ends the chain", "A:w1 A:Wrg0 G:Uxc0 E:Rag0 E:r1", "interblock"},
	{"heads of two threads", "A:w1 C:w2 A:Urg0 C:Urg0 E:Rag0 E:r1 E:r2", ""},
	{"one of two has no head", "A:w1 C:w2 A:Urg0 C:Uxg0 E:Rag0 E:r1 E:r2", "interblock"},
	{"hand over hand", "A:w2 A:Wrg0 C:Rag0 C:Wrg1 E:Rag1 E:r2", ""},
	{"hand over hand without acquire", "A:w2 A:Wrg0 C:Rxg0 C:Wrg1 E:Rag1 E:r2", "interblock"},
	{"scopes of the steps: block, then GPU", "A:w2 A:Wrc0 C:Rac0 C:Wrg1 E:Rag1 E:r2", ""},
	{"acquire completes an earlier read of the location", "A:w1 A:Wrg0 E:Rxg0 C:Wxg0 E:Rag0 E:r1", ""},
	{"fence completes an earlier read", "A:w1 A:Wrg0 E:Rxg0 E:Rxg2 E:Fbg E:r1", ""},
	{"lock", "A:Uag0 A:w1 A:Urg0 E:Uag0 E:w1 E:Urg0", ""},
	{"lock of the block between blocks", "A:Uac0 A:w1 A:Urc0 E:Uac0 E:w1 E:Urc0", "interblock"},
	{"lock of the block within it", "A:Uac0 A:w1 A:Urc0 C:Uac0 C:w1 C:Urc0", ""},
	{"lock without release", "A:Uag0 A:w1 A:Uxg0 E:Uag0 E:w1", "interblock"},
	{"the last block", "A:w1 A:Fbg A:Uxg0 E:w2 E:Fbg E:Uxg0 E:Fbg E:r1", ""},
	{"the last block without its fence", "A:w1 A:Fbg A:Uxg0 E:Fbg E:Uxg0 E:r1", "interblock"},

	// Observation orders accesses of the location, and nothing else.
	{"reset by who has seen the atomic operation", "A:Uxg0 E:Uxg0 E:w0", ""},
	{"reset by who has not", "A:Uxg0 E:w0", "interblock"},
	{"reset after a barrier behind who has", "A:Uxg0 E:Uxg0 E:|0 H:w0", ""},
	{"reset without the barrier", "A:Uxg0 E:Uxg0 H:w0", "interblock intrablock"},
	{"observation orders no other location", "A:w1 A:Uxg0 E:Uxg0 E:w1", "interblock"},
	{"a load observes", "A:Wxg0 E:Rxg0 E:w0", ""},
	{"an overwritten store is not observed", "A:Wxg0 C:Wxg0 E:Rxg0 E:w0", "interblock"},
	{"readers are not observed", "A:Rxg0 E:Uxg0 E:w0", "interblock"},
}

func TestLitmus(t *testing.T) {
	for _, c := range litmus {
		t.Run(c.name, func(t *testing.T) { hold(t, c.program, c.want) })
	}
}

// TestMessagePassing: each form of release, with each form of acquire, in scopes that reach
// or do not. Within a block every scope reaches; between blocks those of both sides must be
// the GPU's, and the flag's own accesses then excuse themselves too.
func TestMessagePassing(t *testing.T) {
	release := map[string]string{"store": "A:Wr%c0", "fence and store": "A:Fb%[1]c A:Wx%[1]c0", "atomic": "A:Ur%c0", "fence and atomic": "A:Fb%[1]c A:Ux%[1]c0"}
	acquire := map[string]string{"load": "%c:Ra%c0", "load and fence": "%[1]c:Rx%[2]c0 %[1]c:Fb%[2]c", "atomic": "%c:Ua%c0", "atomic and fence": "%[1]c:Ux%[2]c0 %[1]c:Fb%[2]c"}
	for r, first := range release {
		for a, second := range acquire {
			for _, s := range []string{"cc", "cg", "gc", "gg"} {
				for _, reader := range "CE" {
					t.Run(fmt.Sprintf("%s, %s, scopes %s, thread %c", r, a, s, reader), func(t *testing.T) {
						want := "interblock"
						if reader == 'C' || s == "gg" {
							want = ""
						}
						program := "A:w1 " + fmt.Sprintf(first, s[0]) + " " + fmt.Sprintf(second, reader, s[1]) + fmt.Sprintf(" %c:r1", reader)
						hold(t, program, want)
					})
				}
			}
		}
	}
}

// hold runs a program and compares the kinds of its races, in global memory.
func hold(t *testing.T, program, want string) {
	t.Helper()
	got, _ := checked(parse(program), isa.Global)
	var kinds []string
	for _, k := range got {
		if k = strings.TrimPrefix(k, "race-global-"); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	if k := strings.Join(kinds, " "); k != want {
		t.Errorf("%s: %q, want %q: %v", program, k, want, got)
	}
}

// TestCauses: why two accesses race.
func TestCauses(t *testing.T) {
	for _, c := range []struct{ name, program, want string }{
		{"nothing orders them", "A:w0 E:r0", noCause},
		{"scope of atomics", "A:Uxc0 E:Uxc0", narrowScope},
		{"scope of the flag", "A:w1 A:Wrc0 E:Rac0 E:r1", narrowScope},
		{"scope of a fence", "A:w1 A:Fbc A:Uxg0 E:Uxg0 E:Fbc E:r1", narrowScope},
		{"no fence", "A:w1 A:Uxg0 E:Uxg0 E:r1", fenceMissing},
		{"no fence after a ticket, behind which the last block reads the others' sums", "A:w1 A:Fbg A:Uxg0 E:Uxg0 E:|0 G:r1", fenceMissing},
		{"copy", "A:f0 A:r0", notWaitedFor},
		{"plain beside atomic", "A:Uxg0 E:w0", besideAtomic},
		{"sizes", "A:Uxg0! E:Uxg0", mixedSize},
		{"cache operators", "A:Whg0 E:Rhg0", byOperator},
		{"cache operator beside atomic", "A:Uxg0 E:Whg0", byOperator},
		{"cache operator beside plain", "A:w0 E:Rhg0", noCause},
		{"flag by cache operators, no fence", "A:w1 A:Whg0 E:Rhg0 E:r1", fenceMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all := checked(parse(c.program), isa.Global)
			if len(all) == 0 || all[len(all)-1].Cause != c.want {
				t.Errorf("%s: %+v, want %s", c.program, all, c.want)
			}
		})
	}
}

// FuzzPrograms: no program of accesses makes the checker panic.
func FuzzPrograms(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []action
		for len(data) >= 4 && len(list) < 64 {
			a := action{t: int(data[0] & 7), op: "wrWRUFvijk|mnfp"[data[1]%15], word: int(data[2] % 8), bytes: []int{1, 2, 4, 8, 16}[data[3]%5]}
			if strings.IndexByte("WRUF", a.op) >= 0 {
				a.order, a.scope = isa.Order(1+data[3]>>3%5), isa.Scope(1+data[3]>>6)
			}
			list, data = append(list, a), data[4:]
		}
		checked(list, isa.Global)
		checked(list, isa.Shared)
	})
}
