package ptx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// logProbe writes what it is called with as a line each. Global addresses are relative to
// the first one seen.
type logProbe struct {
	strings.Builder
	code []*isa.Inst
	base uint64
}

func (p *logProbe) Begin(_ *exec.Launch, code []*isa.Inst, _ func(int) exec.Where, _ func(int) string) {
	p.code = code
}

func (p *logProbe) Block(b exec.ProbedBlock) exec.BlockProbe { return &logBlock{p, b} }

type logBlock struct {
	*logProbe
	b exec.ProbedBlock
}

func (b *logBlock) say(warp int, lanes isa.LaneMask, format string, args ...any) {
	fmt.Fprintf(b, "b%d w%d %08x "+format+"\n", append([]any{b.b.Linear(), warp, uint32(lanes)}, args...)...)
}

func (b *logBlock) Access(a *exec.Access) {
	at := a.Addr[a.Lanes.First()]
	if a.Space == isa.Global {
		if b.base == 0 {
			b.base = at
		}
		at -= b.base
	}
	does := map[[2]bool]string{{true, false}: "reads", {false, true}: "writes", {true, true}: "updates"}[[2]bool{a.Read, a.Write}]
	s := fmt.Sprintf("%s %d of %v at %d: %s", does, a.Bytes, a.Space, at, b.code[a.Site].Op)
	if a.Inst.Order != isa.Weak {
		s += fmt.Sprintf(", %v.%v", a.Inst.Order, a.Inst.Scope)
	}
	if a.Failed != 0 {
		s += fmt.Sprintf(", fails for %08x", uint32(a.Failed))
	}
	if a.Flight {
		s += ", in flight"
	}
	if a.Inst != b.code[a.Site] || b.b.Site(a.Warp) != a.Site {
		s += ", WRONG SITE"
	}
	b.say(a.Warp, a.Lanes, "%s", s)
}

func (b *logBlock) Arrive(warp int, lanes isa.LaneMask, bar int, waits bool) {
	b.say(warp, lanes, "arrives at barrier %d, waits: %v", bar, waits)
}
func (b *logBlock) Open(bar int)                      { fmt.Fprintf(b, "b%d barrier %d opens\n", b.b.Linear(), bar) }
func (b *logBlock) Meet(warp int, lanes isa.LaneMask) { b.say(warp, lanes, "meets") }
func (b *logBlock) Fence(warp int, lanes isa.LaneMask, o isa.Order, s isa.Scope) {
	b.say(warp, lanes, "fence %v.%v", o, s)
}
func (b *logBlock) Signal(s *exec.Signal) {
	kinds := [...]string{"init", "inval", "arrive", "expect", "bytes", "wait", "copies"}
	b.say(s.Warp, s.Lanes, "mbarrier %s at %d, done %08x, %v.%v", kinds[s.Does], s.Addr[s.Lanes.First()], uint32(s.Done), s.Order, s.Scope)
}
func (b *logBlock) Group(warp int, lanes isa.LaneMask, a isa.Async) {
	b.say(warp, lanes, "group %d of %d, leaves %d", a.Does, a.Done, a.Leave)
}
func (b *logBlock) Misuse(kind exec.Misuse, warp int, lanes, mask isa.LaneMask) {
	b.say(warp, lanes, "misuse %d, mask %08x", kind, uint32(mask))
}
func (b *logBlock) Exit(warp int, lanes isa.LaneMask) { b.say(warp, lanes, "exits") }
func (b *logBlock) End()                              { fmt.Fprintf(b, "b%d ends\n", b.b.Linear()) }

// silentBlock is a logBlock that asks which stores change nothing.
type silentBlock struct{ logBlock }

func (silentBlock) WantsSilent() {}

func (b *silentBlock) Access(a *exec.Access) {
	if a.Write {
		fmt.Fprintf(b, "%08x of %08x\n", uint32(a.Silent), uint32(a.Lanes))
	}
}

type silentProbe struct{ logProbe }

func (p *silentProbe) Block(b exec.ProbedBlock) exec.BlockProbe {
	return &silentBlock{logBlock{&p.logProbe, b}}
}

// TestProbe holds what a probe is called with against what a kernel does, in functional
// runs and stepped as by a core model.
func TestProbe(t *testing.T) {
	const decls = ".reg .b64 %a<4>; .reg .b32 %r<4>; .reg .pred %p<4>; .shared .align 16 .b8 sm[1024];\n"
	cases := []struct {
		name  string
		block uint32
		body  string
		want  string
	}{
		{"plain accesses, space by space", 32, `
			mul.wide.u32 %a0, %t, 4;
			add.u64 %a0, %a0, %out;
			st.global.u32 [%a0], %t;
			setp.lt.u32 %p0, %t, 16;
			mov.u64 %a1, sm;
			cvta.shared.u64 %a1, %a1;
			@%p0 mov.u64 %a0, %a1;
			ld.volatile.u32 %r0, [%a0];
		`, `
			b0 w0 ffffffff writes 4 of global at 0: st.global.u32
			b0 w0 0000ffff reads 4 of shared at 0: ld.volatile.u32, relaxed.sys
			b0 w0 ffff0000 reads 4 of global at 64: ld.volatile.u32, relaxed.sys
			b0 w0 ffffffff exits
			b0 ends
		`},
		{"a vector with a guard", 32, `
			setp.eq.u32 %p0, %t, 3;
			@%p0 ld.global.v2.u32 {%r0, %r1}, [%out+8];
		`, `
			b0 w0 00000008 reads 8 of global at 0: ld.global.v2.u32
			b0 w0 ffffffff exits
			b0 ends
		`},
		{"a compare-and-swap that one lane wins", 4, `
			atom.cas.b32 %r0, [%out], 0, 7;
			atom.shared.cas.b32 %r0, [sm], 1, 2;
		`, `
			b0 w0 0000000f updates 4 of global at 0: atom.cas.b32, relaxed.gpu, fails for 0000000e
			b0 w0 0000000f updates 4 of shared at 0: atom.shared.cas.b32, relaxed.gpu, fails for 0000000f
			b0 w0 0000000f exits
			b0 ends
		`},
		{"atomics and fences", 32, `
			atom.global.add.u32 %r0, [%out], 1;
			fence.acq_rel.sys;
			membar.cta;
			red.release.cta.shared.add.u32 [sm+4], 1;
		`, `
			b0 w0 ffffffff updates 4 of global at 0: atom.global.add.u32, relaxed.gpu
			b0 w0 ffffffff fence acq_rel.sys
			b0 w0 ffffffff fence sc.cta
			b0 w0 ffffffff updates 4 of shared at 4: red.release.cta.shared.add.u32, release.cta
			b0 w0 ffffffff exits
			b0 ends
		`},
		{"barriers of two warps", 64, `
			setp.lt.u32 %p0, %t, 32;
			@%p0 bar.arrive 3, 64;
			@!%p0 bar.sync 3, 64;
			bar.sync 0;
			bar.warp.sync -1;
		`, `
			b0 w0 ffffffff arrives at barrier 3, waits: false
			b0 w0 ffffffff arrives at barrier 0, waits: true
			b0 w1 ffffffff arrives at barrier 3, waits: true
			b0 barrier 3 opens
			b0 w1 ffffffff arrives at barrier 0, waits: true
			b0 barrier 0 opens
			b0 w1 ffffffff meets
			b0 w1 ffffffff exits
			b0 w0 ffffffff meets
			b0 w0 ffffffff exits
			b0 ends
		`},
		{"a copy in flight", 32, `
			setp.eq.u32 %p0, %t, 1;
			mov.u32 %r0, sm;
			@%p0 cp.async.ca.shared.global [%r0+16], [%out], 8;
			cp.async.commit_group;
			cp.async.wait_group 1;
		`, `
			b0 w0 00000002 reads 8 of global at 0: cp.async.ca.shared.global, in flight
			b0 w0 00000002 writes 8 of shared at 16: cp.async.ca.shared.global, in flight
			b0 w0 ffffffff group 2 of 1, leaves 0
			b0 w0 ffffffff group 3 of 1, leaves 1
			b0 w0 ffffffff exits
			b0 ends
		`},
		{"an mbarrier", 32, `
			setp.eq.u32 %p0, %t, 0;
			mov.u32 %r0, sm;
			@%p0 mbarrier.init.shared.b64 [%r0], 32;
			bar.warp.sync -1;
			mbarrier.arrive.shared.b64 %a0, [%r0];
			mbarrier.test_wait.shared.b64 %p1, [%r0], %a0;
		`, `
			b0 w0 00000001 mbarrier init at 0, done 00000000, release.cta
			b0 w0 ffffffff meets
			b0 w0 ffffffff mbarrier arrive at 0, done 80000000, release.cta
			b0 w0 ffffffff mbarrier wait at 0, done ffffffff, acquire.cta
			b0 w0 ffffffff exits
			b0 ends
		`},
		{"a shuffle from outside, a mask without the caller", 32, `
			setp.lt.u32 %p0, %t, 16;
			@!%p0 bra DONE;
			shfl.sync.idx.b32 %r0, %t, 20, 31, 0xffff;
			DONE:
			bar.warp.sync 0x0000ffff;
		`, `
			b0 w0 00000001 misuse 2, mask 00100000
			b0 w0 00000002 misuse 2, mask 00100000
			b0 w0 00000004 misuse 2, mask 00100000
			b0 w0 00000008 misuse 2, mask 00100000
			b0 w0 00000010 misuse 2, mask 00100000
			b0 w0 00000020 misuse 2, mask 00100000
			b0 w0 00000040 misuse 2, mask 00100000
			b0 w0 00000080 misuse 2, mask 00100000
			b0 w0 00000100 misuse 2, mask 00100000
			b0 w0 00000200 misuse 2, mask 00100000
			b0 w0 00000400 misuse 2, mask 00100000
			b0 w0 00000800 misuse 2, mask 00100000
			b0 w0 00001000 misuse 2, mask 00100000
			b0 w0 00002000 misuse 2, mask 00100000
			b0 w0 00004000 misuse 2, mask 00100000
			b0 w0 00008000 misuse 2, mask 00100000
			b0 w0 ffff0000 misuse 0, mask 0000ffff
			b0 w0 ffffffff meets
			b0 w0 ffffffff exits
			b0 ends
		`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, stepped := range []bool{false, true} {
				p := &logProbe{}
				runBody(t, bodyOpts{block: c.block, probe: p, stepped: stepped}, decls, c.body, nil, 256)
				want := strings.ReplaceAll(strings.TrimSpace(c.want), "\t", "")
				if got := strings.TrimSpace(p.String()); got != want && !(stepped && sorted(got) == sorted(want)) {
					t.Errorf("stepped %v: got\n%s\nwant\n%s", stepped, got, want)
				}
			}
		})
	}
}

// sorted returns a text's lines as a set: stepping takes the warps in another order.
func sorted(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestSilent: which lanes of a store change nothing, one after the other.
func TestSilent(t *testing.T) {
	const decls = ".reg .b64 %a<4>; .reg .b32 %r<4>; .reg .pred %p<4>; .shared .align 16 .b8 sm[1024];\n"
	for _, c := range []struct{ name, body, want string }{
		{"distinct addresses", `
			mul.wide.u32 %a0, %t, 4;
			add.u64 %a0, %a0, %out;
			st.global.u32 [%a0], %t;
			st.global.u32 [%a0], %t;
			and.b32 %r0, %t, 1;
			st.global.u32 [%a0], %r0;
		`, "00000001 of 0000000f\n0000000f of 0000000f\n00000003 of 0000000f"},
		{"one address, one value", `
			mov.u32 %r0, 7;
			st.global.u32 [%out], %r0;
			st.global.u32 [%out], %r0;
		`, "0000000e of 0000000f\n0000000f of 0000000f"},
		{"one address, several values", `
			st.global.u32 [%out], %t;
			shr.u32 %r0, %t, 1;
			st.shared.u8 [sm], %r0;
		`, "00000000 of 0000000f\n0000000a of 0000000f"},
		{"two addresses, in part", `
			and.b32 %r0, %t, 1;
			mul.wide.u32 %a0, %r0, 8;
			add.u64 %a0, %a0, %out;
			mov.b64 %a1, {%r0, %r0};
			st.global.v2.u32 [%a0], {%r0, %t};
			st.u64 [%a0], %a1;
		`, "00000000 of 0000000f\n0000000c of 0000000f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &silentProbe{}
			runBody(t, bodyOpts{block: 4, probe: p}, decls, c.body, nil, 256)
			if got := strings.TrimSpace(strings.Join(slices.DeleteFunc(strings.Split(p.String(), "\n"), func(s string) bool { return strings.HasPrefix(s, "b0") }), "\n")); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// flowProbe writes a line for each instruction that it is called with.
type flowProbe struct{ logProbe }

func (p *flowProbe) Block(b exec.ProbedBlock) exec.BlockProbe {
	return &flowBlock{logBlock{&p.logProbe, b}}
}

func (p *flowProbe) Follows() bool { return true }

type flowBlock struct{ logBlock }

func (b *flowBlock) Executed(warp, site int, lanes, active isa.LaneMask, depth int) {
	in := b.code[site]
	s := in.Op
	if in.Bases|in.Then|in.Else != 0 {
		s += fmt.Sprintf(", of %d sources %b are bases, %b then, %b else", len(in.Srcs), in.Bases, in.Then, in.Else)
	}
	if in.Op == "selp.u32" {
		s += fmt.Sprintf(", false for %08x", uint32(b.b.(exec.RegisterReader).Zero(warp, in.Srcs[len(in.Srcs)-1])))
	}
	b.say(warp, lanes, "of %08x at depth %d: %s", uint32(active), depth, s)
}

func (b *flowBlock) Shuffled(warp, site int, lanes isa.LaneMask, from *[32]uint8, depth int) {
	b.say(warp, lanes, "from %v: %s", from[:4], b.code[site].Op)
}
func (b *flowBlock) Enter(warp int, lanes isa.LaneMask, f *exec.Callee) {
	b.say(warp, lanes, "enters %+v", *f)
}
func (b *flowBlock) Passed(warp int, lanes isa.LaneMask, depth int, reg isa.Reg, addr uint64, bytes int) {
	b.say(warp, lanes, "passes at depth %d: %+v, %d bytes at %d", depth, reg, bytes, addr)
}

// TestFlowProbe holds what a probe that follows values is called with against what a kernel
// does.
func TestFlowProbe(t *testing.T) {
	const decls = ".reg .b64 %a<4>; .reg .b32 %r<4>; .reg .pred %p<4>;\n"
	cases := []struct{ name, body, want string }{
		{"a guard, and a branch that diverges", `
			setp.lt.u32 %p0, %t, 2;
			@%p0 mov.u32 %r0, 7;
			@!%p0 bra ON;
			bar.sync 0;
			ON:
		`, `
			b0 w0 0000000f of 0000000f at depth 0: setp.lt.u32
			b0 w0 00000003 of 0000000f at depth 0: mov.u32
			b0 w0 0000000c of 0000000f at depth 0: bra
			b0 w0 00000003 arrives at barrier 0, waits: true
			b0 w0 0000000c exits
			b0 barrier 0 opens
			b0 w0 00000003 exits
			b0 ends
		`},
		{"addresses and choices", `
			setp.lt.u32 %p0, %t, 2;
			st.global.u32 [%out], %t;
			@%p0 ld.global.u32 %r0, [%out];
			selp.u32 %r1, 1, %r0, %p0;
			@%p0 selp.u32 %r1, %r0, %r1, !%p0;
		`, `
			b0 w0 0000000f of 0000000f at depth 0: setp.lt.u32
			b0 w0 0000000f writes 4 of global at 0: st.global.u32
			b0 w0 0000000f of 0000000f at depth 0: st.global.u32, of 2 sources 10 are bases, 0 then, 0 else
			b0 w0 00000003 reads 4 of global at 0: ld.global.u32
			b0 w0 00000003 of 0000000f at depth 0: ld.global.u32, of 2 sources 10 are bases, 0 then, 0 else
			b0 w0 0000000f of 0000000f at depth 0: selp.u32, of 2 sources 0 are bases, 0 then, 1 else, false for fffffffc
			b0 w0 00000003 of 0000000f at depth 0: selp.u32, of 4 sources 0 are bases, 100 then, 10 else, false for fffffffc
			b0 w0 0000000f exits
			b0 ends
		`},
		{"a shuffle", `
			shfl.sync.bfly.b32 %r0, %t, 1, 31, 15;
		`, `
			b0 w0 0000000f from [1 0 3 2]: shfl.sync.bfly.b32
			b0 w0 0000000f exits
			b0 ends
		`},
		{"a call of a function, and of a library's", `
			.param .b32 x;
			.param .b64 y, z;
			st.param.b32 [x], 5;
			call (%r1), twice, (%t, x);
			call (y), malloc, (z);
		`, `
			b0 w0 0000000f writes 4 of local at 0: st.param.b32
			b0 w0 0000000f of 0000000f at depth 0: call
			b0 w0 0000000f enters {Depth:1 Registers:2 Predicates:0 Base:32 Bytes:16}
			b0 w0 0000000f passes at depth 1: {File:1 Count:1 Number:0 Index:0}, 0 bytes at 0
			b0 w0 0000000f passes at depth 1: {File:0 Count:0 Number:0 Index:0}, 4 bytes at 32
			b0 w0 0000000f of 0000000f at depth 1: mov.u32
			b0 w0 0000000f passes at depth 0: {File:1 Count:1 Number:0 Index:2}, 0 bytes at 0
			b0 w0 00000001 passes at depth 0: {File:0 Count:0 Number:0 Index:0}, 8 bytes at 8
			b0 w0 00000002 passes at depth 0: {File:0 Count:0 Number:0 Index:0}, 8 bytes at 8
			b0 w0 00000004 passes at depth 0: {File:0 Count:0 Number:0 Index:0}, 8 bytes at 8
			b0 w0 00000008 passes at depth 0: {File:0 Count:0 Number:0 Index:0}, 8 bytes at 8
			b0 w0 0000000f exits
			b0 ends
		`},
	}
	const module = `.extern .func (.param .b64 r) malloc(.param .b64 n);
		.func (.reg .b32 %r) twice(.reg .b32 %a, .param .b32 %b) { mov.u32 %r, %a; ret; }
	`
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, stepped := range []bool{false, true} {
				p := &flowProbe{}
				runBody(t, bodyOpts{block: 4, probe: p, stepped: stepped, module: module}, decls, c.body, nil, 256)
				want := strings.ReplaceAll(strings.TrimSpace(c.want), "\t", "")
				got := strings.SplitN(strings.TrimSpace(p.String()), "\n", 3)[2] // without runBody's own ld.param and mov
				if got != want && !(stepped && sorted(got) == sorted(want)) {
					t.Errorf("stepped %v: got\n%s\nwant\n%s", stepped, got, want)
				}
			}
		})
	}
}
