package ptx_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
)

const regs = ".reg .b64 %a<10>; .reg .b32 %r<12>; .reg .pred %p<6>;\n"

// at returns code that sets a register to the thread's place in the output, one word per
// thread, by its number in the block.
func at(reg string) string {
	return "mul.wide.u32 %a9, %t, 4;\nadd.u64 %a9, %out, %a9;\nst.global.u32 [%a9], " + reg + ";\n"
}

// TestRandomGotos runs random programs of blocks that jump anywhere, with calls, against one
// lane at a time in Go. Reconvergence must change nothing.
func TestRandomGotos(t *testing.T) {
	type blk struct {
		mul, add, mask, eq uint32
		yes, no            int // targets; len(blocks) is the end
		call               bool
		ret                bool // lanes with an odd value leave
		sync               bool // bar.warp.sync by what lanes are there
		exit               bool // some lanes store their value and end
		table              []int
	}
	type prog struct{ blocks []blk }
	random := func(rnd *rand.Rand, calls bool) prog {
		var p prog
		n := 2 + rnd.IntN(9)
		for range n {
			p.blocks = append(p.blocks, blk{
				mul: rnd.Uint32() | 1, add: rnd.Uint32(), mask: 1<<rnd.IntN(3) - 1, eq: rnd.Uint32N(4),
				yes: rnd.IntN(n + 1), no: rnd.IntN(n + 1), call: calls && rnd.IntN(4) == 0, ret: rnd.IntN(12) == 0, sync: rnd.IntN(6) == 0,
				exit: calls && rnd.IntN(10) == 0,
			})
			if rnd.IntN(5) == 0 {
				for range 4 {
					p.blocks[len(p.blocks)-1].table = append(p.blocks[len(p.blocks)-1].table, rnd.IntN(n+1))
				}
			}
		}
		return p
	}
	// text writes a program as PTX: value in %v, instructions left in %fuel.
	text := func(p prog, leave string) string {
		var s strings.Builder
		for i, b := range p.blocks {
			fmt.Fprintf(&s, "B%d:\nsub.u32 %%fuel, %%fuel, 1;\nsetp.eq.u32 %%q0, %%fuel, 0;\n@%%q0 bra B%d;\n", i, len(p.blocks))
			fmt.Fprintf(&s, "mad.lo.u32 %%v, %%v, %d, %d;\n", int32(b.mul), int32(b.add))
			if b.sync {
				s.WriteString("activemask.b32 %m;\nbar.warp.sync %m;\n")
			}
			if b.ret {
				fmt.Fprintf(&s, "and.b32 %%x, %%v, 256;\nsetp.ne.u32 %%q0, %%x, 0;\n%s", leave)
			}
			if b.call {
				s.WriteString("setp.gt.u32 %q0, %v, 0x40000000;\n@%q0 call (%v), callee, (%v);\n")
			}
			if b.exit {
				fmt.Fprintf(&s, "and.b32 %%x, %%v, 0x3000;\nsetp.ne.u32 %%q0, %%x, 0;\n@%%q0 bra X%d;\n%sexit;\nX%d:\n", i, at("%v"), i)
			}
			if b.table != nil {
				fmt.Fprintf(&s, "T%d: .branchtargets B%d, B%d, B%d, B%d;\nshr.u32 %%x, %%v, 30;\nsetp.lt.u32 %%q0, %%v, 0xe0000000;\n@%%q0 brx.idx %%x, T%d;\n", i, b.table[0], b.table[1], b.table[2], b.table[3], i)
			}
			fmt.Fprintf(&s, "shr.u32 %%x, %%v, 16;\nand.b32 %%x, %%x, %d;\nsetp.eq.u32 %%q0, %%x, %d;\n@%%q0 bra B%d;\nbra B%d;\n", b.mask, b.eq, b.yes, b.no)
		}
		fmt.Fprintf(&s, "B%d:\n", len(p.blocks))
		return s.String()
	}
	var run func(p prog, callee *prog, v uint32) uint32
	run = func(p prog, callee *prog, v uint32) uint32 {
		for pc, fuel := 0, 40; pc < len(p.blocks); {
			if fuel--; fuel == 0 {
				break
			}
			b := p.blocks[pc]
			v = v*b.mul + b.add
			if b.ret && v&256 != 0 {
				break
			}
			if b.call && v > 0x40000000 {
				v = run(*callee, nil, v)
			}
			if b.exit && v&0x3000 == 0 {
				return v
			}
			if b.table != nil && v < 0xe0000000 {
				pc = b.table[v>>30]
				continue
			}
			if pc = b.no; v>>16&b.mask == b.eq {
				pc = b.yes
			}
		}
		return v
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	for round := range 400 {
		callee, main := random(rnd, false), random(rnd, true)
		module := `.func (.reg .u32 %r) callee(.reg .u32 %v)
		{ .reg .u32 %fuel, %x, %m; .reg .pred %q0;
		mov.u32 %r, %v;
		mov.u32 %fuel, 40;
		` + text(callee, "mov.u32 %r, %v;\n@%q0 ret;\n") + "mov.u32 %r, %v;\nret;\n}\n"
		in := make([]uint32, 64)
		for i := range in {
			in[i] = rnd.Uint32()
		}
		target := []string{"sm_60", "sm_80"}[round%2]
		body := "mul.wide.u32 %a0, %t, 4;\nadd.u64 %a0, %in0, %a0;\nld.global.u32 %v, [%a0];\nmov.u32 %fuel, 40;\n" +
			text(main, fmt.Sprintf("@%%q0 bra B%d;\n", len(main.blocks))) + at("%v")
		got := runBody(t, bodyOpts{module: module, target: target, version: "7.0", block: 64, stepped: round%4 >= 2}, regs+".reg .u32 %v, %fuel, %x, %m; .reg .pred %q0;", body, [][]byte{words(in...)}, 4*64)
		for i, v := range in {
			if g, w := word(got, i), run(main, &callee, v); g != w {
				t.Fatalf("round %d, lane %d: got %#x, want %#x\n%s\n%s", round, i, g, w, module, body)
			}
		}
	}
}

// TestSpinLocks: threads of a warp take turns in a critical section guarded by a lock, in the
// form that needs no independent progress and in the one that does.
func TestSpinLocks(t *testing.T) {
	const polite = `
		LOOP:
		atom.SPACE.cas.b32 %r0, [%a0], 0, 1;
		setp.ne.u32 %p0, %r0, 0;
		@%p0 bra LOOP2;
		CRITICAL
		atom.SPACE.exch.b32 %r2, [%a0], 0;
		bra DONE;
		LOOP2:
		bra LOOP;
		DONE:`
	const greedy = `
		LOOP:
		atom.SPACE.cas.b32 %r0, [%a0], 0, 1;
		setp.ne.u32 %p0, %r0, 0;
		@%p0 bra LOOP;
		CRITICAL
		atom.SPACE.exch.b32 %r2, [%a0], 0;`
	const volatile = `
		LOOP:
		ld.volatile.SPACE.u32 %r0, [%a0];
		setp.ne.u32 %p0, %r0, 0;
		@%p0 bra LOOP;
		atom.SPACE.cas.b32 %r0, [%a0], 0, 1;
		setp.ne.u32 %p0, %r0, 0;
		@%p0 bra LOOP;
		CRITICAL
		st.volatile.SPACE.u32 [%a0], 0;`
	for _, space := range []string{"global", "shared"} {
		for name, src := range map[string]string{"polite": polite, "greedy": greedy, "volatile": volatile} {
			critical := `ld.volatile.SPACE.u32 %r1, [%a0+4];
				mul.lo.u32 %r1, %r1, 3;
				add.u32 %r1, %r1, 1;
				st.volatile.SPACE.u32 [%a0+4], %r1;
				membar.gl;`
			src := strings.ReplaceAll(strings.ReplaceAll(src, "CRITICAL", critical), "SPACE", space)
			const threads = 96
			want := uint32(0)
			for range threads {
				want = want*3 + 1
			}
			body := "mov.u64 %a0, %out;\n"
			end := ""
			if space == "shared" {
				body = "mov.u64 %a0, lock;\nst.shared.u64 [%a0], 0;\nbar.sync 0;\n"
				end = "bar.sync 0;\nld.shared.u32 %r1, [lock+4];\nst.global.u32 [%out+4], %r1;\n"
			}
			for _, stepped := range []bool{false, true} {
				got := runBody(t, bodyOpts{target: "sm_70", version: "7.0", block: threads, stepped: stepped}, regs+".shared .align 8 .b32 lock[2];", body+src+end, nil, 8)
				if g := word(got, 1); g != want {
					t.Errorf("%s lock in %s memory (stepped %v): %#x, want %#x", name, space, stepped, g, want)
				}
			}
		}
	}
	// Before sm_70 a warp has one program counter: the greedy lock hangs.
	_, err := tryBody(t, bodyOpts{target: "sm_60", version: "7.0", maxInsts: 1 << 18}, regs, "mov.u64 %a0, %out;\n"+strings.ReplaceAll(strings.ReplaceAll(greedy, "CRITICAL", ""), "SPACE", "global"), nil, 8)
	var stuck *exec.StuckError
	if !errors.As(err, &stuck) {
		t.Errorf("greedy lock on sm_60: %v, want that it does not go on", err)
	}
}

// TestLockPerLane: lanes of one warp lock two of several locks in order.
func TestLockPerLane(t *testing.T) {
	got := runBody(t, bodyOpts{target: "sm_70", version: "7.0", block: 64, grid: 3}, regs, `
		rem.u32 %r4, %t, 5;
		add.u32 %r5, %r4, 1;
		mul.wide.u32 %a1, %r4, 8;
		add.u64 %a1, %out, %a1;
		mul.wide.u32 %a2, %r5, 8;
		add.u64 %a2, %out, %a2;
	FIRST:
		atom.acquire.gpu.global.cas.b32 %r0, [%a1], 0, 1;
		setp.ne.u32 %p0, %r0, 0;
		@%p0 bra FIRST;
	SECOND:
		atom.acquire.gpu.global.cas.b32 %r0, [%a2], 0, 1;
		setp.ne.u32 %p0, %r0, 0;
		@%p0 bra SECOND;
		ld.volatile.global.u32 %r1, [%a1+4];
		ld.volatile.global.u32 %r2, [%a2+4];
		add.u32 %r1, %r1, 1;
		add.u32 %r2, %r2, 1000;
		st.volatile.global.u32 [%a1+4], %r1;
		st.volatile.global.u32 [%a2+4], %r2;
		st.release.gpu.global.u32 [%a2], 0;
		st.release.gpu.global.u32 [%a1], 0;`, nil, 6*8)
	for i := range 6 {
		want := uint32(0)
		for l := range 64 {
			if l%5 == i {
				want += 3
			}
			if l%5+1 == i {
				want += 3000
			}
		}
		if g := word(got, 2*i+1); g != want {
			t.Errorf("counter %d is %d, want %d", i, g, want)
		}
	}
}

// TestFlagsBetweenWarps: each warp waits for a flag of the next one.
func TestFlagsBetweenWarps(t *testing.T) {
	const threads = 256
	body := `
		mov.u64 %a0, flags;
		shr.u32 %r0, %t, 5;
		mul.wide.u32 %a1, %r0, 4;
		add.u64 %a0, %a0, %a1;
		st.shared.u32 [%a0], 0;
		bar.sync 0;
		setp.eq.u32 %p0, %r0, 7;
		mov.u32 %r1, 100;
		@%p0 bra SET;
	WAIT:
		ld.volatile.shared.u32 %r1, [%a0+4];
		setp.eq.u32 %p1, %r1, 0;
		@%p1 bra WAIT;
		add.u32 %r1, %r1, 1;
	SET:
		bar.warp.sync -1;
		st.volatile.shared.u32 [%a0], %r1;
	` + at("%r1")
	got := runBody(t, bodyOpts{block: threads}, regs+".shared .b32 flags[9];", body, nil, 4*threads)
	expect(t, got, func(i int) uint32 { return 107 - uint32(i/32) })
}

// TestFlagsBetweenBlocks: block i waits for block i-1, and, in a launch that
// fits, for block i+1, by all the ways to wait.
func TestFlagsBetweenBlocks(t *testing.T) {
	const fenced = "membar.gl; @%p2 st.volatile.global.u32 [%a0], %r1;"
	for wait, set := range map[string]string{
		"ld.volatile.global.u32 %r1, [%a1];":             fenced,
		"ld.acquire.gpu.global.u32 %r1, [%a1];":          fenced,
		"ld.relaxed.sys.u32 %r1, [%a1];":                 fenced,
		"atom.global.add.u32 %r1, [%a1], 0;":             fenced,
		"atom.or.b32 %r1, [%a1], 0;":                     fenced,
		"nanosleep.u32 20;\nld.volatile.u32 %r1, [%a1];": fenced,
		"membar.cta; ld.cg.u32 %r1, [%a1];":              "membar.cta; @%p2 st.cg.u32 [%a0], %r1;",
		"ld.global.cg.u32 %r1, [%a1];":                   "membar.gl; @%p2 st.global.u32 [%a0], %r1;",
	} {
		for _, step := range []int{-4, 4} { // the flag of the block before, or after
			body := fmt.Sprintf(`
			mov.u32 %%r0, %%ctaid.x;
			mul.wide.u32 %%a0, %%r0, 4;
			add.u64 %%a0, %%out, %%a0;
			add.u64 %%a0, %%a0, 4;
			add.s64 %%a1, %%a0, %d;
			mov.u32 %%r3, %%nctaid.x;
			sub.u32 %%r3, %%r3, 1;
			setp.eq.u32 %%p0, %%r0, %s;
			mov.u32 %%r1, 1;
			@%%p0 bra SET;
		WAIT:
			%s
			setp.eq.u32 %%p1, %%r1, 0;
			@%%p1 bra WAIT;
			add.u32 %%r1, %%r1, 1;
		SET:
			setp.eq.u32 %%p2, %%t, 0;
			%s`, step, map[int]string{-4: "0", 4: "%r3"}[step], wait, set)
			for _, threads := range []int{0, 1, 3} {
				got := runBody(t, bodyOpts{grid: 60, block: 64, threads: threads, maxInsts: 1 << 20, stepped: threads == 0}, regs, body, nil, 62*4)
				for i := range 60 {
					want := uint32(i + 1)
					if step > 0 {
						want = uint32(60 - i)
					}
					if g := word(got, i+1); g != want {
						t.Fatalf("%s: block %d has %d, want %d", wait, i, g, want)
					}
				}
			}
		}
	}
}

// TestWarpsWaitForLaterWarps: the first warp of a block waits in global memory
// for the last one, which waits for the block's last thread of all.
func TestWarpsWaitForLaterWarps(t *testing.T) {
	got := runBody(t, bodyOpts{block: 1024, grid: 2}, regs, `
		mov.u32 %r5, %ctaid.x;
		mul.wide.u32 %a0, %r5, 8;
		add.u64 %a0, %out, %a0;
		setp.eq.u32 %p0, %t, 1023;
		@%p0 bra LAST;
		setp.ge.u32 %p0, %t, 32;
		@%p0 bra END;
	FIRST:
		ld.volatile.global.u32 %r0, [%a0];
		setp.eq.u32 %p0, %r0, 0;
		@%p0 bra FIRST;
		st.global.u32 [%a0+4], %r0;
		bra END;
	LAST:
		st.volatile.global.u32 [%a0], 9;
	END:`, nil, 16)
	expect(t, got, func(int) uint32 { return 9 })
}

// TestGridBarrier: all blocks of a cooperative launch meet, more of them than an ordinary
// launch runs concurrently.
func TestGridBarrier(t *testing.T) {
	const grid = 200
	got := runBody(t, bodyOpts{grid: grid, block: 32, cooperative: true, maxInsts: 1 << 26}, regs, `
		mov.u32 %r0, %ctaid.x;
		mov.u32 %r5, %nctaid.x;
		mov.u32 %r6, 0;                    // round
		mul.wide.u32 %a0, %r0, 4;
		add.u64 %a0, %out, %a0;
		setp.ne.u32 %p3, %t, 0;
	ROUND:
		@%p3 bra SKIP;
		ld.volatile.global.u32 %r1, [%a0+8];
		add.u32 %r2, %r1, %r6;
		st.volatile.global.u32 [%a0+8], %r2;
		membar.gl;
		atom.global.add.u32 %r3, [%out], 1;
		add.u32 %r7, %r6, 1;
		mul.lo.u32 %r4, %r5, %r7;
	WAIT:
		ld.volatile.global.u32 %r3, [%out];
		setp.lt.u32 %p0, %r3, %r4;
		@%p0 bra WAIT;
		add.u32 %r8, %r0, 1;               // read what the next block wrote
		setp.eq.u32 %p1, %r8, %r5;
		selp.u32 %r8, 0, %r8, %p1;
		mul.wide.u32 %a1, %r8, 4;
		add.u64 %a1, %out, %a1;
		ld.volatile.global.u32 %r9, [%a1+8];
		setp.ne.u32 %p2, %r9, %r2;
		@%p2 atom.global.add.u32 %r10, [%out+4], 1;
		atom.global.add.u32 %r3, [%out], 0;
	SKIP:
		bar.sync 0;
		add.u32 %r6, %r6, 1;
		setp.lt.u32 %p0, %r6, 2;
		@%p0 bra ROUND;`, nil, 4*grid+8)
	if word(got, 0) != 2*grid || word(got, 2) != 1 || word(got, grid+1) != 1 {
		t.Errorf("counter %d, sums %d and %d; want %d, 1, 1", word(got, 0), word(got, 2), word(got, grid+1), 2*grid)
	}
}

// TestBarriers: results of reducing barriers and of named ones, with partial warps and
// exited threads.
func TestBarriers(t *testing.T) {
	const threads = 72 // the last warp has 8 lanes
	body := `
		and.b32 %r0, %t, 3;
		setp.eq.u32 %p0, %r0, 1;
		bar.red.popc.u32 %r1, 0, %p0;
		barrier.cta.red.popc.aligned.u32 %r2, 3, !%p0;
		setp.lt.u32 %p1, %t, 72;
		bar.red.and.pred %p2, 1, %p1;
		setp.lt.u32 %p1, %t, 71;
		bar.red.and.pred %p3, 1, %p1;
		setp.eq.u32 %p1, %t, 70;
		bar.red.or.pred %p4, 1, %p1;
		bar.red.or.pred %p5, 15, 0;
		selp.u32 %r3, 1, 0, %p2;
		selp.u32 %r4, 2, 0, %p3;
		selp.u32 %r5, 4, 0, %p4;
		selp.u32 %r6, 8, 0, %p5;
		add.u32 %r3, %r3, %r4;
		add.u32 %r3, %r3, %r5;
		add.u32 %r3, %r3, %r6;
		mad.lo.u32 %r1, %r1, 1000, %r2;
		mad.lo.u32 %r1, %r1, 1000, %r3;
	` + at("%r1")
	got := runBody(t, bodyOpts{block: threads}, strings.ReplaceAll(regs, "%p<6>", "%p<8>"), strings.ReplaceAll(body, "%p5, 15, 0", "%p5, 15, !%p6"), nil, 4*threads)
	expect(t, got, func(int) uint32 { return (18*1000+54)*1000 + 1 + 4 + 8 })
}

// TestNamedBarriers: producers arrive and continue, consumers wait, for a number of threads.
func TestNamedBarriers(t *testing.T) {
	body := `
		mov.u64 %a0, box;
		and.b32 %r0, %t, 31;
		mul.wide.u32 %a1, %r0, 4;
		add.u64 %a1, %a0, %a1;
		setp.ge.u32 %p0, %t, 32;
		mov.u32 %r2, 0;
		mov.u32 %r5, 0;
		@%p0 bra CONSUMER;
	PRODUCER:
		bar.sync 2, 64;              // the box is empty
		mad.lo.u32 %r1, %t, 10, %r2;
		st.shared.u32 [%a1], %r1;
		bar.arrive 1, 64;            // the box is full
		add.u32 %r2, %r2, 1;
		setp.lt.u32 %p1, %r2, 20;
		@%p1 bra PRODUCER;
		bra END;
	CONSUMER:
		bar.arrive 2, 64;
		bar.sync 1, 64;
		ld.shared.u32 %r1, [%a1];
		mad.lo.u32 %r5, %r5, 3, %r1;
		add.u32 %r2, %r2, 1;
		setp.lt.u32 %p1, %r2, 20;
		@%p1 bra CONSUMER;
	END:
	` + at("%r5")
	got := runBody(t, bodyOpts{block: 64}, regs+".shared .b32 box[32];", body, nil, 256)
	expect(t, got, func(i int) uint32 {
		if i < 32 {
			return 0
		}
		v := uint32(0)
		for k := range uint32(20) {
			v = v*3 + uint32(i-32)*10 + k
		}
		return v
	})
}

// TestArriveTwice: a warp that arrives at a barrier and then waits there counts twice, also one of
// which half has exited. (FlashAttention's warps do before one of them stores.)
func TestArriveTwice(t *testing.T) {
	body := `
		setp.ge.u32 %p0, %t, 80;
		@%p0 exit;
		setp.lt.u32 %p0, %t, 64;
		st.shared.u32 [flag], 0;
		bar.sync 0;
		@%p0 st.shared.u32 [flag], 7;
		bar.arrive 5, 128;
		@%p0 bra END;
		bar.sync 5, 128;
		ld.shared.u32 %r1, [flag];
	END:
	` + at("%r1")
	got := runBody(t, bodyOpts{block: 96}, regs+".shared .b32 flag;", "mov.u32 %r1, 0;\n"+body, nil, 4*96)
	expect(t, got, func(i int) uint32 {
		if i < 64 || i >= 80 {
			return 0
		}
		return 7
	})
}

// TestBarrierAndExit: exited threads are not waited for, whole warps and lanes.
func TestBarrierAndExit(t *testing.T) {
	for _, leave := range []string{
		"setp.ge.u32 %p0, %t, 64;\n@%p0 exit;",
		"and.b32 %r0, %t, 1;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 exit;",
		"and.b32 %r0, %t, 1;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 ret;",
		"setp.lt.u32 %p0, %t, 33;\n@%p0 bra L;\nbra M;\nL: exit;\nM:",
	} {
		for _, bar := range []string{"bar.sync 0;", "barrier.sync 5;", "bar.sync 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"} {
			body := at("1") + "mov.u64 %a0, s;\nmul.wide.u32 %a1, %t, 4;\nadd.u64 %a0, %a0, %a1;\nst.shared.u32 [%a0], %t;\n" + leave + bar + "xor.b32 %r1, %t, 2;\nmov.u64 %a0, s;\nmul.wide.u32 %a1, %r1, 4;\nadd.u64 %a0, %a0, %a1;\nld.shared.u32 %r2, [%a0];\nadd.u32 %r2, %r2, 2;\n" + at("%r2")
			got := runBody(t, bodyOpts{block: 128}, regs+".shared .b32 s[128];", body, nil, 512)
			expect(t, got, func(i int) uint32 {
				gone := []bool{i >= 64, i%2 == 1, i%2 == 1, i < 33}[indexOf(leave)]
				if gone {
					return 1
				}
				return uint32(i^2) + 2
			})
		}
	}
}

func indexOf(leave string) int {
	switch {
	case strings.Contains(leave, "64"):
		return 0
	case strings.Contains(leave, "@%p0 exit"):
		return 1
	case strings.Contains(leave, "@%p0 ret"):
		return 2
	}
	return 3
}

// TestDivergentBarrier: from sm_70 on, lanes of one warp may arrive at a barrier from
// different places, at different times.
func TestDivergentBarrier(t *testing.T) {
	body := `
		mov.u64 %a0, s;
		mul.wide.u32 %a1, %t, 4;
		add.u64 %a0, %a0, %a1;
		and.b32 %r0, %t, 1;
		setp.eq.u32 %p0, %r0, 0;
		@%p0 bra EVEN;
		st.shared.u32 [%a0], %t;
		barrier.sync 0;
		bra JOIN;
	EVEN:
		mul.lo.u32 %r1, %t, 7;
		st.shared.u32 [%a0], %r1;
		barrier.sync 0;
	JOIN:
		mov.u64 %a0, s;
		xor.b32 %r2, %t, 63;
		mul.wide.u32 %a1, %r2, 4;
		add.u64 %a0, %a0, %a1;
		ld.shared.u32 %r3, [%a0];
	` + at("%r3")
	got := runBody(t, bodyOpts{block: 64}, regs+".shared .b32 s[64];", body, nil, 256)
	expect(t, got, func(i int) uint32 {
		j := uint32(i ^ 63)
		if j%2 == 0 {
			j *= 7
		}
		return j
	})
	// Lanes loop over a barrier different numbers of times and then leave.
	got = runBody(t, bodyOpts{block: 64}, regs, `
		mov.u32 %r0, 0;
		mov.u32 %r2, 0;
	L:	setp.gt.u32 %p0, %r0, %t;
		@%p0 bra OUT;
		barrier.red.popc.u32 %r1, 1, %p0;
		setp.le.u32 %p1, %r0, %t;
		barrier.red.popc.u32 %r1, 2, %p1;
		mad.lo.u32 %r2, %r2, 3, %r1;
		add.u32 %r0, %r0, 1;
		bra L;
	OUT:
	`+at("%r2")+"exit;", nil, 256)
	expect(t, got, func(i int) uint32 {
		v := uint32(0)
		for r := 0; r <= i; r++ {
			v = v*3 + uint32(64-r)
		}
		return v
	})
}

// TestGuardedBarrier: lanes whose guard is off. Before sm_70 the barrier holds their whole
// warp; from then on it counts threads, and they arrive on another path.
func TestGuardedBarrier(t *testing.T) {
	for _, target := range []string{"sm_60", "sm_80"} {
		body := `
			setp.eq.u32 %p1, %t, 0;
			@%p1 st.shared.u32 [s], 1;
			bar.sync 0;
			mov.u32 %r5, 0;
			setp.lt.u32 %p0, %t, 32;
			@%p0 bra HERE;
			mov.u32 %r0, 3000;
		DELAY:
			sub.u32 %r0, %r0, 1;
			setp.ne.u32 %p1, %r0, 0;
			@%p1 bra DELAY;
			st.shared.u32 [s], 2;
		HERE:
			and.b32 %r1, %t, 31;
			setp.lt.u32 %p2, %r1, 8;
			setp.eq.u32 %p3, %r1, 4;
			@%p2 bar.red.popc.u32 %r5, 1, %p3;
			OTHERS
			ld.volatile.shared.u32 %r3, [s];
			mad.lo.u32 %r3, %r5, 10, %r3;`
		others := ""
		if target == "sm_80" {
			others = "setp.eq.u32 %p3, %r1, 9;\n@!%p2 bar.red.popc.u32 %r5, 1, %p3;"
		}
		got := runBody(t, bodyOpts{target: target, version: "6.3", block: 64}, regs+".shared .b32 s;", strings.Replace(body, "OTHERS", others, 1)+at("%r3"), nil, 256)
		expect(t, got, func(i int) uint32 {
			switch {
			case target == "sm_80":
				return 42
			case i%32 < 8:
				return 22
			}
			return 2
		})
	}
}

// TestBarriersThatCannotComplete: the report names what each warp waits for.
func TestBarriersThatCannotComplete(t *testing.T) {
	for _, c := range []struct {
		body string
		want []string
	}{
		{"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1, 96;", []string{"no forward progress in kernel k, block (0,0,0)", "warp 0, lanes 0xffffffff", "waits at barrier 1, where 32 of 96 threads have arrived", "test.ptx:"}},
		{"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1;\n@!%p0 bar.sync 2;", []string{"waits at barrier 1, where 32 of 64", "waits at barrier 2, where 32 of 64"}},
		{"bar.sync 3, 33;", []string{"barrier 3 for 33 threads", "multiple of the warp size"}},
		{"mov.u32 %r0, 16;\nbar.sync %r0;", []string{"barrier 16 does not exist: a block has barriers 0 to 15"}},
		{"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.arrive 1, 128;\n@!%p0 bar.sync 1, 96;", []string{"expects 96 threads, others in the same phase expect 128"}},
	} {
		_, err := tryBody(t, bodyOpts{block: 64}, regs, c.body, nil, 4)
		if err == nil {
			t.Errorf("%s: no error", c.body)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v\nhas no %q", c.body, err, w)
			}
		}
	}
	// One that can: the whole block by name and by number.
	runBody(t, bodyOpts{block: 64}, regs, "setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 0;\n@!%p0 bar.sync 0, 64;", nil, 4)
}

// TestCalls: direct and indirect calls with structures, registers and
// predicates, recursion by different depths, several results.
func TestCalls(t *testing.T) {
	module := `
	.func (.param .b32 r) fib(.param .b32 n)
	{
		.reg .u32 %n, %x, %y, %r; .reg .pred %p;
		ld.param.u32 %n, [n];
		mov.u32 %r, %n;
		setp.lt.u32 %p, %n, 2;
		@%p bra OUT;
		sub.u32 %x, %n, 1;
		{
			.param .b32 a; .param .b32 b;
			st.param.u32 [a], %x;
			call.uni (b), fib, (a);
			ld.param.u32 %y, [b];
		}
		sub.u32 %x, %n, 2;
		{
			.param .b32 a; .param .b32 b;
			st.param.u32 [a], %x;
			call (b), fib, (a);
			ld.param.u32 %x, [b];
		}
		add.u32 %r, %x, %y;
	OUT:
		st.param.u32 [r], %r;
		ret;
	}
	.func (.reg .u32 %r) odd (.reg .u32 %n);
	.func (.reg .u32 %r) even (.reg .u32 %n)
	{
		.reg .pred %p;
		mov.u32 %r, 1;
		setp.eq.u32 %p, %n, 0;
		@%p ret;
		sub.u32 %n, %n, 1;
		call (%r), odd, (%n);
		ret;
	}
	.func (.reg .u32 %r) odd (.reg .u32 %n)
	{
		.reg .pred %p;
		mov.u32 %r, 0;
		setp.eq.u32 %p, %n, 0;
		@!%p sub.u32 %n, %n, 1;
		@!%p call (%r), even, (%n);
		ret;
	}
	.func (.param .align 8 .b8 out[24]) twist(.param .align 8 .b8 in[24], .param .b16 s)
	{
		.reg .u64 %x, %y; .reg .u32 %z; .reg .u16 %s;
		ld.param.u64 %x, [in];
		ld.param.u32 %z, [in+8];
		ld.param.u64 %y, [in+16];
		ld.param.u16 %s, [s];
		st.param.u64 [out], %y;
		st.param.u32 [out+8], %z;
		st.param.u16 [out+12], %s;
		st.param.u64 [out+16], %x;
		ret;
	}
	.func (.reg .u32 %r, .reg .pred %q) two(.reg .u32 %a, .reg .pred %b)
	{
		selp.u32 %r, 100, 200, %b;
		add.u32 %r, %r, %a;
		setp.gt.u32 %q, %a, 15;
	}
	.func (.reg .u32 %r) f0(.reg .u32 %x) { add.u32 %r, %x, 1000; ret; }
	.func (.reg .u32 %r) f1(.reg .u32 %x) { mul.lo.u32 %r, %x, 3; call (%r), f0, (%r); ret; }
	.func (.reg .u32 %r) f2(.reg .u32 %x) { .reg .pred %p; mov.u32 %r, 7; setp.lt.u32 %p, %x, 16; @%p ret; mov.u32 %r, 8; }
	.global .u64 table[3] = {f0, f1, f2};
	`
	fib := func(n int) uint32 {
		a, b := uint32(0), uint32(1)
		for range n {
			a, b = b, a+b
		}
		return a
	}
	for _, target := range []string{"sm_35", "sm_80"} {
		o := bodyOpts{module: module, target: target, version: "7.0"}
		got := runBody(t, o, regs, "{\n.param .b32 a;\n.param .b32 b;\nrem.u32 %r0, %t, 13;\nst.param.u32 [a], %r0;\ncall (b), fib, (a);\nld.param.u32 %r1, [b];\n}\n"+at("%r1"), nil, 128)
		expect(t, got, func(i int) uint32 { return fib(i % 13) })

		got = runBody(t, o, regs, "setp.ne.u32 %p0, %t, 9;\nmov.u32 %r1, 5;\n@%p0 call (%r1), even, (%t);\n"+at("%r1"), nil, 128)
		expect(t, got, func(i int) uint32 {
			if i == 9 {
				return 5
			}
			return 1 - uint32(i)%2
		})

		got = runBody(t, o, regs+".reg .b16 %h;", `{
			.param .align 8 .b8 a[24];
			.param .b16 s;
			.param .align 8 .b8 b[24];
			cvt.u64.u32 %a0, %t;
			mul.lo.u64 %a1, %a0, 0x100000001;
			st.param.u64 [a], %a1;
			st.param.u32 [a+8], 17;
			st.param.u64 [a+16], %a0;
			st.param.u16 [s], 0x1234;
			call (b), twist, (a, s);
			ld.param.u64 %a2, [b];
			ld.param.u32 %r0, [b+8];
			ld.param.u16 %h, [b+12];
			ld.param.u64 %a3, [b+16];
			cvt.u32.u16 %r1, %h;
			shr.u64 %a3, %a3, 32;
			cvt.u32.u64 %r2, %a2;
			cvt.u32.u64 %r3, %a3;
			mad.lo.u32 %r2, %r2, 1000, %r3;
			add.u32 %r0, %r0, %r1;
			mad.lo.u32 %r2, %r2, 10000, %r0;
		}`+at("%r2"), nil, 128)
		expect(t, got, func(i int) uint32 { return (uint32(i)*1000+uint32(i))*10000 + 17 + 0x1234 })

		got = runBody(t, o, regs, "and.b32 %r0, %t, 1;\nsetp.eq.u32 %p0, %r0, 1;\ncall (%r1, %p1), two, (%t, %p0);\nselp.u32 %r2, 1000, 2000, %p1;\nadd.u32 %r1, %r1, %r2;\n"+at("%r1"), nil, 128)
		expect(t, got, func(i int) uint32 {
			v := uint32(i) + 200
			if i%2 == 1 {
				v -= 100
			}
			if i > 15 {
				return v + 1000
			}
			return v + 2000
		})

		got = runBody(t, o, regs, `
			PROTO: .callprototype (.reg .u32 _) _ (.reg .u32 _);
			rem.u32 %r0, %t, 3;
			mul.wide.u32 %a0, %r0, 8;
			mov.u64 %a1, table;
			add.u64 %a1, %a1, %a0;
			ld.global.u64 %a2, [%a1];
			setp.ne.u32 %p0, %t, 30;
			mov.u32 %r1, 1;
			@%p0 call (%r1), %a2, (%t), PROTO;
		`+at("%r1"), nil, 128)
		expect(t, got, func(i int) uint32 {
			x := uint32(i)
			switch {
			case i == 30:
				return 1
			case i%3 == 0:
				return x + 1000
			case i%3 == 1:
				return 3*x + 1000
			case i < 16:
				return 7
			}
			return 8
		})
	}
}

// TestCallErrors: what ends a run inside calls.
func TestCallErrors(t *testing.T) {
	const module = `
	.func deep(.reg .u32 %n) { .local .b32 l[4]; st.local.u32 [l], %n; add.u32 %n, %n, 1; call deep, (%n); ret; }
	.func big(.reg .u32 %n) { .local .b8 l[100000]; st.local.u32 [l], %n; call big, (%n); ret; }
	.func one(.reg .u32 %n) { ret; }
	.func (.reg .u32 %r) res(.reg .u32 %n) { mov.u32 %r, 1; ret; }
	.func leave(.reg .u32 %n) { .reg .pred %p; setp.eq.u32 %p, %n, 3; @%p exit; @!%p ret; }
	.global .u64 tab[2] = {one, res};`
	for _, c := range []struct{ body, want string }{
		{"call deep, (%t);", "stack overflow: 1024 nested calls"},
		{"call big, (%t);", "stack overflow"},
		{"P: .callprototype _ (.reg .u32 _);\nmov.u64 %a0, 12345;\ncall %a0, (%t), P;", "indirect call to 0x3039, which is not a function"},
		{"P: .callprototype _ (.reg .u32 _);\nld.global.u64 %a0, [tab+8];\ncall %a0, (%t), P;", "expects 0 results, but res has 1 and 1"},
	} {
		_, err := tryBody(t, bodyOpts{module: module}, regs, c.body, nil, 4)
		var fault *exec.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want a fault with %q", c.body, err, c.want)
		}
	}
	got := runBody(t, bodyOpts{module: module}, regs, "mov.u32 %r0, 1;\n"+at("%r0")+"call leave, (%t);\nmov.u32 %r0, 2;\n"+at("%r0"), nil, 128)
	expect(t, got, func(i int) uint32 {
		if i == 3 {
			return 1
		}
		return 2
	})
}

// TestBranchTable: brx.idx with lanes that go to different places, guarded,
// and one that goes nowhere.
func TestBranchTable(t *testing.T) {
	body := `
		ts: .branchtargets A, B, C, B;
		mov.u32 %r1, 5;
		and.b32 %r0, %t, 3;
		setp.lt.u32 %p0, %t, 24;
		@%p0 brx.idx %r0, ts;
		mov.u32 %r1, 6;
		bra END;
	A:	add.u32 %r1, %r1, 100;
	B:	add.u32 %r1, %r1, 10;
		bra END;
	C:	add.u32 %r1, %r1, 1000;
	END:
	` + at("%r1")
	got := runBody(t, bodyOpts{}, regs, body, nil, 128)
	expect(t, got, func(i int) uint32 {
		if i >= 24 {
			return 6
		}
		return []uint32{115, 15, 1005, 15}[i%4]
	})
	_, err := tryBody(t, bodyOpts{}, regs, strings.Replace(body, "and.b32 %r0, %t, 3;", "mov.u32 %r0, %t;", 1), nil, 128)
	if err == nil || !strings.Contains(err.Error(), "branch index 4 is outside its table of 4 targets") || !strings.Contains(err.Error(), "thread (4,0,0)") {
		t.Errorf("index beyond the table: %v", err)
	}
}

// TestInstructionLimit: an endless loop ends at the limit, at the same count
// however many workers there are.
func TestInstructionLimit(t *testing.T) {
	for _, o := range []bodyOpts{{maxInsts: 1000}, {maxInsts: 1000, grid: 50, threads: 3}, {maxInsts: 100000, grid: 3, cooperative: true}, {maxInsts: 5000, target: "sm_60"}} {
		_, err := tryBody(t, o, regs, "L: add.u32 %r0, %r0, 1;\nbra L;", nil, 4)
		var limit *exec.LimitError
		if !errors.As(err, &limit) || limit.Limit != o.maxInsts {
			t.Errorf("%+v: %v, want the limit", o, err)
		}
	}
	// Exactly enough is enough: mov, mov, add, ret and the two of the prologue.
	if _, err := tryBody(t, bodyOpts{maxInsts: 4}, regs, "add.u32 %r0, %t, 1;", nil, 4); err != nil {
		t.Error(err)
	}
	if _, err := tryBody(t, bodyOpts{maxInsts: 3}, regs, "add.u32 %r0, %t, 1;", nil, 4); err == nil {
		t.Error("4 instructions ran with a limit of 3")
	}
}

// TestWorkersChangeNothing: a racy kernel gives the same bytes for every
// number of workers.
func TestWorkersChangeNothing(t *testing.T) {
	body := `
		mov.u32 %r0, %ctaid.x;
		mad.lo.u32 %r1, %r0, 64, %t;
		rem.u32 %r2, %r1, 97;
		mul.wide.u32 %a0, %r2, 4;
		add.u64 %a0, %out, %a0;
		ld.global.u32 %r3, [%a0];
		mad.lo.u32 %r3, %r3, 5, %r1;
		st.global.u32 [%a0], %r3;`
	var first []byte
	for _, threads := range []int{1, 2, 5} {
		got := runBody(t, bodyOpts{grid: 150, block: 64, threads: threads}, regs, body, nil, 97*4)
		if first == nil {
			first = got
		}
		if !bytes.Equal(got, first) {
			t.Errorf("%d workers give other bytes than one", threads)
		}
	}
}

// TestLabelAtTheEnd: a branch may go to a label after the last instruction.
func TestLabelAtTheEnd(t *testing.T) {
	for name, src := range map[string]string{
		"branch": "st.global.u32 [%a], 1; bra END; END: }",
		"table":  "ts: .branchtargets END, END; st.global.u32 [%a], 1; brx.idx 1, ts; END: }",
		"guard":  "setp.eq.u32 %p, %r, 5; @%p bra END; st.global.u32 [%a], 1; ret; END: }",
	} {
		m, p, mem := machine(t, name, ".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out) { .reg .b64 %a; .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; ld.param.u64 %a, [out]; "+src)
		out, err := mem.Alloc(4, "out")
		if err != nil {
			t.Fatal(err)
		}
		k, _ := p.Kernel("k")
		one := exec.Dim3{X: 1, Y: 1, Z: 1}
		l := xptx.Launch{Kernel: k, Grid: one, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, out)}
		if _, err := m.Run(context.Background(), l, xptx.Options{Threads: 1}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := make([]byte, 4)
		if err := mem.Read(out, got); err != nil || word(got, 0) != 1 {
			t.Errorf("%s: wrote %d (%v), want 1", name, word(got, 0), err)
		}
	}
}
