package ptx_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
)

// TestEndlessLoops: a launch that waits for ever ends; one that may go on does not.
func TestEndlessLoops(t *testing.T) {
	alltests.Only(t, "loops without end, of every kind")
	const decls = ".reg .b32 %r, %n; .reg .b64 %l; .reg .pred %p, %q; .shared .align 8 .b64 bar; .local .align 4 .b32 x;"
	for i, c := range []struct {
		name, body string
		o          bodyOpts
		stuck      bool
	}{
		{"a flag that nobody sets", "L: ld.volatile.global.u32 %r, [%out]; setp.eq.u32 %p, %r, 0; @%p bra L;", bodyOpts{grid: 4}, true},
		{"by one thread, which others wait for", "setp.ne.u32 %p, %t, 0; @%p bra M; L: ld.volatile.global.u32 %r, [%out]; setp.eq.u32 %p, %r, 0; @%p bra L; M: bar.sync 0; st.global.u32 [%out], %r;", bodyOpts{grid: 2, block: 64}, true},
		{"a lock that is never released", "L: atom.global.cas.b32 %r, [%out], 0, 1; setp.ne.u32 %p, %r, 0; @%p bra L; mov.u32 %r, %ctaid.x;", bodyOpts{block: 1, grid: 3}, true},
		{"jump to itself", "L: bra L;", bodyOpts{grid: 3}, true},
		{"stores to local and to shared memory", "L: st.local.u32 [x], %t; ld.local.u32 %r, [x]; st.shared.u32 [bar], 5; bra L;", bodyOpts{grid: 3}, true},
		{"an mbarrier that no phase of ends", "setp.ne.u32 %q, %t, 0; @!%q mbarrier.init.shared.b64 [bar], 40; bar.sync 0; mbarrier.arrive.shared.b64 %l, [bar]; L: mbarrier.try_wait.shared.b64 %p, [bar], %l; @!%p bra L;", bodyOpts{}, true},
		{"a flag that nobody sets, with a barrier each time", "L: bar.sync 0; ld.volatile.global.u32 %r, [%out]; setp.eq.u32 %p, %r, 0; @%p bra L;", bodyOpts{grid: 4, block: 96}, true},
		{"the same in shared memory", "st.shared.u32 [bar], 0; L: bar.sync 0; ld.volatile.shared.u32 %r, [bar]; setp.eq.u32 %p, %r, 0; @%p bra L;", bodyOpts{grid: 2, block: 96}, true},
		{"a barrier and nothing else", "L: bar.sync 0; bra L;", bodyOpts{block: 160}, true},
		{"a barrier that reduces", "L: setp.eq.u32 %p, %t, 70; barrier.red.or.pred %q, 0, %p; @%q bra L;", bodyOpts{grid: 2, block: 96}, true},
		{"one thread looks, and all wait for it", "L: setp.ne.u32 %p, %t, 0; @%p bra M; ld.volatile.global.u32 %r, [%out]; M: bar.sync 0; bra L;", bodyOpts{grid: 3, block: 96}, true},
		{"two barriers, one of half of the warps", "L: bar.sync 0; setp.ge.u32 %p, %t, 64; @%p bra L; bar.sync 1, 64; ld.volatile.global.u32 %r, [%out]; bra L;", bodyOpts{grid: 2, block: 128}, true},
		{"barriers of a function that all call", "L: call f, (%t); bra L;", bodyOpts{block: 96, module: ".func f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; bar.sync 0; ret; }"}, true},
		{"a counter beside a barrier", "mov.u32 %n, 0; L: bar.sync 0; add.u32 %n, %n, 1; setp.ne.u32 %p, %n, 20000000; @%p bra L;", bodyOpts{grid: 2, block: 96, maxInsts: 1 << 24}, false},
		{"a counter of one warp, whose barrier has the others", "mov.u32 %n, 0; L: setp.lt.u32 %p, %t, 64; @%p bra M; add.u32 %n, %n, 1; M: bar.sync 0; ld.volatile.global.u32 %r, [%out]; setp.ne.u32 %p, %n, 20000000; @%p bra L;", bodyOpts{grid: 2, block: 96, maxInsts: 1 << 22}, false},
		{"a counter in shared memory beside a barrier", "L: bar.sync 0; setp.ne.u32 %p, %t, 5; @%p bra L; ld.shared.u32 %n, [bar]; add.u32 %n, %n, 1; st.shared.u32 [bar], %n; bra L;", bodyOpts{block: 96, maxInsts: 1 << 24}, false},
		{"a counter of lanes that a barrier parts, in a function", "setp.eq.u32 %p, %t, 0; @%p bra L; call f, (%t); L: barrier.sync 0; ld.volatile.global.u32 %r, [%out]; bra L;",
			bodyOpts{grid: 2, block: 64, maxInsts: 1 << 22, module: ".func f(.param .b32 a) { .reg .b32 %x; mov.u32 %x, 0; N: add.u32 %x, %x, 1; barrier.sync 0; bra N; }"}, false},
		{"a counter of lanes that meet others of their warp", "setp.eq.u32 %p, %t, 0; @%p bra L; call f, (%t); L: bar.warp.sync -1; ld.volatile.global.u32 %r, [%out]; bra L;",
			bodyOpts{grid: 2, maxInsts: 1 << 22, module: ".func f(.param .b32 a) { .reg .b32 %x; mov.u32 %x, 0; N: add.u32 %x, %x, 1; bar.warp.sync -1; bra N; }"}, false},
		{"a counter that a barrier hands on, until it is the number of threads", "mov.u32 %n, 1; L: setp.lt.u32 %p, %t, %n; barrier.red.popc.u32 %n, 0, %p; add.u32 %n, %n, 1; bra L;", bodyOpts{block: 1024, maxInsts: 1 << 25}, true},
		{"a counter in a register", "mov.u32 %n, 0; L: add.u32 %n, %n, 1; setp.ne.u32 %p, %n, 20000000; @%p bra L;", bodyOpts{maxInsts: 1 << 22}, false},
		{"a counter in local memory", "st.local.u32 [x], 0; L: ld.local.u32 %n, [x]; add.u32 %n, %n, 1; st.local.u32 [x], %n; setp.ne.u32 %p, %n, 0; @%p bra L;", bodyOpts{maxInsts: 1 << 22}, false},
		{"a counter in shared memory", "L: ld.shared.u32 %n, [bar]; add.u32 %n, %n, 1; st.shared.u32 [bar], %n; bra L;", bodyOpts{maxInsts: 1 << 22}, false},
		{"a counter in global memory", "L: atom.global.add.u32 %n, [%out], 1; bra L;", bodyOpts{maxInsts: 1 << 22}, false},
		{"a clock", "L: mov.u32 %n, %clock; setp.ne.u32 %p, %n, 0xffffffff; @%p bra L;", bodyOpts{maxInsts: 1 << 22}, false},
	} {
		if i%3 != 0 && !alltests.On() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			_, err := tryBody(t, c.o, decls, c.body, nil, 64)
			var stuck *exec.StuckError
			var limit *exec.LimitError
			if errors.As(err, &stuck) != c.stuck || errors.As(err, &limit) == c.stuck {
				t.Errorf("%v; want that it loops: %v", err, c.stuck)
			} else if c.stuck && (len(stuck.Loops) == 0 || stuck.Loops[0].Kernel != "k") {
				t.Errorf("it loops at %v", stuck.Loops)
			}
		})
	}
}

// TestEndlessSearchChangesNothing: blocks that wait very long for each other end with the same
// numbers of instructions, whether a search was going on or not: each waits for the one after it,
// which counts for long.
func TestEndlessSearchChangesNothing(t *testing.T) {
	const decls = ".reg .b32 %r, %n, %c; .reg .b64 %a; .reg .pred %p;"
	const body = `mov.u32 %c, %ctaid.x; mul.wide.u32 %a, %c, 4; add.u64 %a, %a, %out;
		setp.eq.u32 %p, %c, 3; @%p bra M;
	L:	ld.volatile.global.u32 %r, [%a+4]; setp.eq.u32 %p, %r, 0; @%p bra L;
	M:	mov.u32 %n, 0;
	N:	add.u32 %n, %n, 1; setp.ne.u32 %p, %n, 200000; @%p bra N;
		membar.gl; st.volatile.global.u32 [%a], %n;`
	got := runBody(t, bodyOpts{grid: 4, block: 32}, decls, body, nil, 20)
	for i := range 4 {
		if n := uint32(got[4*i]) | uint32(got[4*i+1])<<8 | uint32(got[4*i+2])<<16; n != 200000 {
			t.Errorf("block %d has counted to %d", i, n)
		}
	}
}

// TestEndlessBarriersEnd: loops with barriers that end after long, each with its own way to
// count, end as they would without a search.
func TestEndlessBarriersEnd(t *testing.T) {
	alltests.Only(t, "barriers that nobody completes")
	const decls = ".reg .b32 %r, %n; .reg .b64 %a; .reg .pred %p, %q; .shared .align 4 .b32 x;"
	for _, c := range alltests.Some([]struct{ name, body string }{
		{"in registers", "mov.u32 %n, 0; L: bar.sync 0; ld.volatile.global.u32 %r, [%out+64]; add.u32 %n, %n, 1; setp.ne.u32 %p, %n, 600000; @%p bra L; st.global.u32 [%out], %n;"},
		{"in one warp, which sets a flag", `mov.u32 %n, 0;
		L: setp.ge.u32 %q, %t, 32; @%q bra M; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 600000; @%p bra M; st.volatile.shared.u32 [x], 600000;
		M: bar.sync 0; ld.volatile.shared.u32 %r, [x]; setp.eq.u32 %p, %r, 0; @%p bra L; st.global.u32 [%out], %r;`},
		{"in another block, which sets a flag", `mov.u32 %n, 0; mov.u32 %r, %ctaid.x; setp.ne.u32 %q, %r, 0; @%q bra N;
		L: bar.sync 0; ld.volatile.global.u32 %r, [%out]; setp.eq.u32 %p, %r, 0; @%p bra L; bra E;
		N: bar.sync 0; add.u32 %n, %n, 1; setp.ne.u32 %p, %n, 600000; @%p bra N; st.volatile.global.u32 [%out], %n; E:`},
	}, 1) {
		t.Run(c.name, func(t *testing.T) {
			got := runBody(t, bodyOpts{grid: 2, block: 96, maxInsts: 1 << 27}, decls, c.body, nil, 68)
			if n := uint32(got[0]) | uint32(got[1])<<8 | uint32(got[2])<<16; n != 600000 {
				t.Errorf("counted to %d", n)
			}
		})
	}
}

// TestLanesOfPolledWarp: what a warp polls is set by lanes that wait for others of their warp, which
// wait at a barrier for the warp that polls.
func TestLanesOfPolledWarp(t *testing.T) {
	const decls = ".reg .b32 %r, %s; .reg .pred %p, %q; .shared .b32 flag;"
	parts := func(clear, polls, set, barrier string) string {
		return fmt.Sprintf(`
		mov.u32 %%s, flag;
		%[1]s
		@%%p bra poll;
		and.b32 %%r, %%t, 16;
		setp.eq.u32 %%q, %%r, 0;
		@%%q bra join;
		%[4]s
		join: @!%%q bra end;
		%[3]s
		%[4]s
		bra end;
		poll: %[2]s
		setp.eq.u32 %%q, %%r, 0;
		@%%q bra poll;
		%[4]s
		end: mul.wide.u32 %%off, %%t, 4;
		add.u64 %%out, %%out, %%off;
		st.global.u32 [%%out], 1;`, clear, polls, set, barrier)
	}
	const poll = "ld.volatile.shared.u32 %r, [flag];"
	for _, c := range []struct {
		name, body string
		o          bodyOpts
	}{
		{"of its block", parts("st.shared.u32 [flag], 0; bar.sync 0; setp.lt.u32 %p, %t, 32;", poll, "st.volatile.shared.u32 [flag], 1;", "barrier.sync 0;"), bodyOpts{block: 64}},
		{"of another block", parts(`st.shared.u32 [flag], 0; barrier.cluster.arrive; barrier.cluster.wait;
			mapa.shared::cluster.u32 %s, %s, 0; mov.u32 %r, %cluster_ctarank; setp.eq.u32 %p, %r, 0;`, poll, "st.relaxed.cluster.shared::cluster.u32 [%s], 1;", "barrier.cluster.arrive; barrier.cluster.wait;"),
			bodyOpts{grid: 2, cluster: exec.Dim3{X: 2, Y: 1, Z: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := int(max(32, c.o.block))
			got, err := tryBody(t, c.o, decls+".reg .b64 %off;", c.body, nil, 4*n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if word(got, i) != 1 {
					t.Errorf("thread %d did not come to its end", i)
				}
			}
		})
	}
}
