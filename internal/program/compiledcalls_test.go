package program_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/program"
)

const callsHead = ".version 7.8\n.target sm_86\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n.extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"

const callsKernel = `
.visible .entry k(.param .u64 in, .param .u64 out) {
 .reg .b64 %in, %out, %at, %d<20>; .reg .b32 %i, %r<40>; .reg .b16 %h<20>; .reg .pred %p<20>; .reg .f32 %f<20>; .reg .f64 %e<20>;
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 24; add.s64 %in, %in, %at;
 mul.wide.u32 %at, %i, 8; add.s64 %out, %out, %at;
 ld.global.u32 %r0,[%in]; ld.global.u32 %r1,[%in+4]; ld.global.u32 %r2,[%in+8]; ld.global.u64 %d0,[%in];
 and.b32 %r9, %r1, 1; setp.eq.u32 %p0, %r9, 1;
`

// Functions in which a lane waits for another one, and that have a redux of their own.
const (
	callWaits = ".shared .align 4 .u32 flag[64]; .func (.param .b32 d) f(.param .b64 a) { .reg .b64 %a; .reg .b32 %x<4>; .reg .pred %q; ld.param.u64 %a, [a]; L: ld.volatile.u32 %x0, [%a]; setp.eq.u32 %q, %x0, 0; @%q bra L; st.param.b32 [d], %x0; ret; } .func (.param .b32 d) g(.param .b64 a) { .reg .b64 %a; .reg .b32 %x<4>; ld.param.u64 %a, [a]; ld.u32 %x0, [%a]; st.param.b32 [d], %x0; ret; } "
	callRedux = ".func (.param .b32 d) f(.param .b32 a); .func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<9>; .reg .pred %q<3>; ld.param.u32 %x0, [a]; redux.sync.add.u32 %x5, %x0, -1; redux.sync.max.u32 %x7, %x0, -1; setp.eq.u32 %q0, %x0, 0; mov.u32 %x2, 1; @%q0 bra E; { .param .b32 p; .param .b32 s; sub.u32 %x1, %x0, 1; st.param.b32 [p], %x1; call (s), f, (p); ld.param.b32 %x2, [s]; } redux.sync.xor.b32 %x6, %x2, -1; add.u32 %x2, %x2, %x6; E: mad.lo.u32 %x2, %x2, 3, %x5; add.u32 %x2, %x2, %x7; st.param.b32 [d], %x2; ret; } "
)

// A table of functions, and a call of one of them.
const (
	callTable   = ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 5; st.param.b32 [d], %x; ret; } .func (.param .b32 d) g(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, 3; st.param.b32 [d], %x; ret; } .global .align 8 .u64 table[3] = {7, f, g};"
	callByTable = "{ .param .b32 p; .param .b32 s; st.param.b32 [p], %r0; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (s), %d3, (p), P; ld.param.b32 %r3, [s]; } ld.global.u64 %d1, [table]; cvt.u32.u64 %r4, %d1; st.global.v2.u32 [%out], {%r3, %r4}; ret; }"
)

// TestCompiledOneForm: what several modules, or two forms, would know under one name or address stays PTX.
func TestCompiledOneForm(t *testing.T) {
	const (
		f       = ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 1000; st.param.b32 [d], %x; ret; }"
		other   = "\n.visible .entry other(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d; "
		stay    = other + "mov.u32 %r0, %clusterid.x; ret; }\n"
		calls   = other + "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1; call (b), f, (a); ld.param.b32 %r1, [b]; } ret; }\n"
		through = other + "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1; ld.param.u64 %d, [p]; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %d, (a), P; ld.param.b32 %r1, [b]; } ret; }\n"
	)
	one := callsHead + callTable + callsKernel + "mov.u64 %d3, g; " + callByTable
	for _, c := range []struct {
		name, first, second string
		want                string // why the last kernel of the first module is refused
	}{
		{"a kernel that stays PTX may call the others' functions", one + stay, "", "kernel k: addresses of functions would be others for the kernel other, which stays PTX"},
		{"a module that calls through addresses", one, callsHead + through, "kernel k: addresses of functions would be others for another module that has some"},
		{"a weak function and its like", callsHead + ".weak " + f + strings.Replace(calls, "other", "k", 1), callsHead + ".visible " + f + calls, ""},
		{"functions of their modules that are compiled together", callsHead + ".extern .global .u32 v; " + f + strings.Replace(calls, "other", "k", 1), callsHead + ".visible .global .u32 v; " + f + calls, "kernel k: the function f is defined several times"},
		{"functions of their modules", callsHead + f + strings.Replace(calls, "other", "k", 1), callsHead + f + calls, ""},
		{"a variable of a function", callsHead + ".global .u32 cnt = 7;" + strings.Replace(other, "other", "k", 1) + ".global .u32 cnt = 3; ld.global.u32 %r0, [cnt]; ret; }\n", "", "kernel k: the variable cnt is defined several times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := ""
			choice := program.Choice{Code: program.CompiledCode, SM: *forSM, Refused: func(err error) {
				if strings.Contains(err.Error(), "kernel k:") {
					refused = err.Error()
				}
			}}
			list := []program.Source{{Name: "one.ptx", Text: []byte(c.first)}}
			if c.second != "" {
				list = append(list, program.Source{Name: "two.ptx", Text: []byte(c.second)})
			}
			if _, err := choice.Load(list...); err != nil {
				t.Fatal(err)
			}
			if want := c.want; want != "" && !strings.HasSuffix(refused, want) || want == "" && refused != "" {
				t.Errorf("got %q\nwant %q", refused, want)
			}
		})
	}
}

// TestCompiledPointerAlone: a function whose address is taken, and which no kernel calls, is in the cubin.
func TestCompiledPointerAlone(t *testing.T) {
	m, err := ptx.Parse("alone.ptx", []byte(callsHead+callTable+callsKernel+"mov.u64 %d1, table; st.global.u64 [%out], %d1; ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := compile.Module(m, compile.Options{})
	if err != nil || len(r.Refused) > 0 {
		t.Fatal(err, r.Refused)
	}
	if _, err := program.WriteCubin(r.File); err != nil {
		t.Error(err)
	}
}

// callsRun runs kernel k of a module in one block, and returns what it leaves and prints.
func callsRun(t *testing.T, code program.Code, text string, input []byte) (out, printed []byte) {
	t.Helper()
	p, m, mem, in := inMemory(t, code, text, input)
	at, err := mem.Alloc(4096, "out")
	if err != nil {
		t.Fatal(err)
	}
	k, _ := p.Kernel("k")
	var text2 bytes.Buffer
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in), at)
	_, err = m.Run(t.Context(), exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: params}, exec.Options{MaxInsts: 1 << 20, Out: &text2})
	if err != nil {
		t.Fatal(err)
	}
	out = make([]byte, 4096)
	if err := mem.Read(at, out); err != nil {
		t.Fatal(err)
	}
	return out, text2.Bytes()
}

// callLoops are two functions, of which lanes leave the first apart.
const callLoops = ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<4>; .reg .pred %q; ld.param.u32 %x0, [a]; and.b32 %x1, %x0, 7; L: mad.lo.u32 %x0, %x0, 5, %x1; sub.u32 %x1, %x1, 1; setp.gt.s32 %q, %x1, 0; @%q bra L; st.param.b32 [d], %x0; ret; } .func (.param .b32 d) g(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, 3; st.param.b32 [d], %x; ret; }"

// TestCompiledCalls: functions in place of their calls, called ones, and those of the machine give what PTX gives.
func TestCompiledCalls(t *testing.T) {
	input := rowInput()
	for _, c := range []struct{ name, functions, body string }{
		{"parameters in registers", ".func (.reg .u32 %d) f(.reg .u32 %a, .reg .u32 %b) { sub.u32 %d, %a, %b; ret; }",
			"call (%r3), f, (%r0, %r1); call (%r4), f, (%r3, 7); st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"16 bytes of constants at an address in a register", ".const .align 16 .f64 table[4] = {1.5, -2.25, 3.0, 4.5};",
			"and.b32 %r3, %r0, 16; mov.u32 %r4, table; add.u32 %r4, %r4, %r3; ld.const.v2.b64 {%d3, %d4}, [%r4]; xor.b64 %d3, %d3, %d4; st.global.u64 [%out], %d3; ret; }"},
		{"early returns under guards", ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<5>; .reg .pred %q; ld.param.u32 %x0, [a]; and.b32 %x1, %x0, 3; setp.eq.u32 %q, %x1, 2; st.param.b32 [d], %x1; @%q ret; @!%q bra L; add.u32 %x1, %x1, 100; L: mul.lo.u32 %x2, %x0, 5; st.param.b32 [d], %x2; setp.eq.u32 %q, %x1, 1; @%q ret; st.param.b32 [d+0], %x0; ret; }",
			"{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call (q), f, (p); ld.param.b32 %r3, [q]; } mov.u32 %r5, 9; { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; @%p0 call (q), f, (p); @%p0 ld.param.b32 %r5, [q]; } st.global.v2.u32 [%out], {%r3, %r5}; ret; }"},
		{"a structure with bytes and halves", ".func (.param .align 8 .b8 d[16]) f(.param .align 8 .b8 a[16]) { .reg .b32 %x<9>; .reg .b64 %y; .reg .b16 %z; ld.param.u8 %x0, [a]; ld.param.s8 %x1, [a+1]; ld.param.s16 %x2, [a+2]; ld.param.u32 %x3, [a+4]; ld.param.b64 %y, [a+8]; add.u32 %x4, %x0, %x1; add.u32 %x4, %x4, %x2; cvt.u16.u32 %z, %x4; st.param.b16 [d+2], %z; st.param.b8 [d+1], %x1; st.param.b32 [d+4], %x3; st.param.b64 [d+8], %y; ret; }",
			"{ .param .align 8 .b8 p[16]; .param .align 8 .b8 q[16]; st.param.b64 [p+8], %d0; st.param.v2.b16 [p], {%h0, %h1}; st.param.b8 [p+1], %r0; st.param.b8 [p+0], %r1; st.param.b32 [p+4], %r2; call (q), f, (p); ld.param.v2.b32 {%r3, %r4}, [q]; ld.param.b64 %d3, [q+8]; } and.b32 %r3, %r3, 0xffffff00; xor.b32 %r3, %r3, %r4; cvt.u32.u64 %r5, %d3; st.global.v2.u32 [%out], {%r3, %r5}; ret; }"},
		{"the address of a structure that nobody reads", ".func (.param .b32 d) f(.param .align 8 .b8 a[8]) { .reg .b64 %x<2>; .reg .b32 %y<2>; mov.b64 %x1, a; mov.b64 %x0, 5; add.u64 %x0, %x0, 1; ld.param.v2.b32 {%y0, %y1}, [a]; sub.u32 %y0, %y0, %y1; st.param.b32 [d], %y0; ret; }",
			"{ .param .align 8 .b8 p[8]; .param .b32 q; st.param.v2.b32 [p], {%r0, %r1}; call (q), f, (p); ld.param.b32 %r3, [q]; st.param.b32 [p], %r2; call (q), f, (p); ld.param.b32 %r4, [q]; } st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"a function with branches by a table", ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<4>; T: .branchtargets A, B, C; ld.param.u32 %x0, [a]; and.b32 %x1, %x0, 3; min.u32 %x1, %x1, 2; mov.u32 %x2, 0; brx.idx %x1, T; A: add.u32 %x2, %x2, %x0; B: add.u32 %x2, %x2, 10; C: add.u32 %x2, %x2, 100; st.param.b32 [d], %x2; ret; }",
			"{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call (q), f, (p); ld.param.b32 %r3, [q]; st.param.b32 [p], %r1; call (q), f, (p); ld.param.b32 %r4, [q]; } st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"a function that calls itself in some lanes", ".func (.param .b32 d) f(.param .b32 a, .param .b64 b); .func (.param .b32 d) f(.param .b32 a, .param .b64 b) { .reg .b32 %x<9>; .reg .b64 %y; .reg .pred %q<3>; ld.param.u32 %x0, [a]; ld.param.u64 %y, [b]; and.b32 %x1, %x0, 1; setp.eq.u32 %q0, %x1, 0; setp.lt.s32 %q1, %x0, 3; mov.u32 %x5, %x0; @%q1 bra E; sub.u32 %x2, %x0, 2; add.s64 %y, %y, 3; { .param .b32 p; .param .b64 r; .param .b32 s; st.param.b32 [p], %x2; st.param.b64 [r], %y; call (s), f, (p, r); ld.param.b32 %x3, [s]; } @%q0 bra O; { .param .b32 p; .param .b64 r; .param .b32 s; sub.u32 %x2, %x2, 2; st.param.b32 [p], %x2; st.param.b64 [r], %y; call (s), f, (p, r); ld.param.b32 %x4, [s]; } add.u32 %x3, %x3, %x4; O: mad.lo.u32 %x5, %x3, 7, %x0; E: cvt.u32.u64 %x6, %y; xor.b32 %x5, %x5, %x6; @%q0 add.u32 %x5, %x5, 11; st.param.b32 [d], %x5; ret; }",
			"{ .param .b32 p; .param .b64 r; .param .b32 s; and.b32 %r5, %r0, 15; st.param.b32 [p], %r5; st.param.b64 [r], %d0; call (s), f, (p, r); ld.param.b32 %r3, [s]; } shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"two functions that call each other, one with a variable", ".func (.param .b32 d) g(.param .b32 a); .func (.param .b32 d) f(.param .b32 a) { .local .align 8 .b8 v[24]; .reg .b32 %x<9>; .reg .b64 %y; .reg .pred %q; ld.param.u32 %x0, [a]; mov.u64 %y, v; st.local.u32 [%y+8], %x0; setp.eq.u32 %q, %x0, 0; mov.u32 %x2, 1; @%q bra E; { .param .b32 p; .param .b32 s; sub.u32 %x1, %x0, 1; st.param.b32 [p], %x1; call (s), g, (p); ld.param.b32 %x2, [s]; } E: ld.local.u32 %x3, [%y+8]; mad.lo.u32 %x2, %x2, 3, %x3; st.param.b32 [d], %x2; ret; } .func (.param .b32 d) g(.param .b32 a) { .reg .b32 %x<9>; ld.param.u32 %x0, [a]; { .param .b32 p; .param .b32 s; shr.u32 %x1, %x0, 1; st.param.b32 [p], %x1; call (s), f, (p); ld.param.b32 %x2, [s]; } sub.u32 %x2, %x2, %x0; st.param.b32 [d], %x2; ret; }",
			"{ .param .b32 p; .param .b32 s; and.b32 %r5, %r0, 63; st.param.b32 [p], %r5; call (s), f, (p); ld.param.b32 %r3, [s]; } st.global.v2.u32 [%out], {%r3, %r5}; ret; }"},
		{"calls by addresses", ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 5; st.param.b32 [d], %x; ret; } .func (.param .b32 d) g(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, 3; st.param.b32 [d], %x; ret; }",
			"mov.u64 %d1, f; mov.u64 %d2, g; selp.b64 %d3, %d1, %d2, %p0; { .param .b32 p; .param .b32 s; st.param.b32 [p], %r0; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (s), %d3, (p), P; ld.param.b32 %r3, [s]; } st.global.v2.u32 [%out], {%r3, %r0}; ret; }"},
		{"lanes that call different functions meet after it", callLoops,
			"mov.u64 %d1, f; mov.u64 %d2, g; selp.b64 %d3, %d1, %d2, %p0; { .param .b32 p; .param .b32 s; st.param.b32 [p], %r0; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (s), %d3, (p), P; ld.param.b32 %r3, [s]; } activemask.b32 %r4; st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"lanes that call different functions in a loop that they leave apart", callLoops,
			"mov.u64 %d1, f; mov.u64 %d2, g; and.b32 %r5, %r0, 7; mov.u32 %r3, %r1; mov.u32 %r4, 0; L: and.b32 %r6, %r3, 4; setp.eq.u32 %p1, %r6, 0; selp.b64 %d3, %d1, %d2, %p1; { .param .b32 p; .param .b32 s; st.param.b32 [p], %r3; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (s), %d3, (p), P; ld.param.b32 %r3, [s]; } activemask.b32 %r7; mad.lo.u32 %r4, %r4, 3, %r7; sub.u32 %r5, %r5, 1; setp.gt.s32 %p2, %r5, 0; @%p2 bra L; activemask.b32 %r7; add.u32 %r4, %r4, %r7; st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"a lock that a function that calls itself tries", ".shared .align 4 .u32 lock; .shared .align 4 .u32 sum; .func (.param .b32 d) f(.param .b32 a); .func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<9>; .reg .pred %q<3>; ld.param.u32 %x0, [a]; setp.eq.u32 %q0, %x0, 0; @%q0 bra E; { .param .b32 p; .param .b32 s; sub.u32 %x1, %x0, 1; st.param.b32 [p], %x1; call (s), f, (p); ld.param.b32 %x2, [s]; } bra R; E: atom.shared.cas.b32 %x2, [lock], 0, 1; R: st.param.b32 [d], %x2; ret; } ",
			"st.shared.u32 [lock], 0; st.shared.u32 [sum], 0; bar.sync 0; L: { .param .b32 p; .param .b32 s; st.param.b32 [p], 2; call (s), f, (p); ld.param.b32 %r4, [s]; } setp.ne.u32 %p1, %r4, 0; @%p1 bra L; ld.volatile.shared.u32 %r5, [sum]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [sum], %r5; membar.cta; st.volatile.shared.u32 [lock], 0; bar.sync 0; ld.shared.u32 %r6, [sum]; st.global.v2.u32 [%out], {%r6, %i}; ret; }"},
		{"a lock that a function at an address tries", ".shared .align 4 .u32 lock; .shared .align 4 .u32 sum; .func (.param .b32 d) f(.param .b64 a) { .reg .b64 %a; .reg .b32 %x<4>; ld.param.u64 %a, [a]; atom.cas.b32 %x0, [%a], 0, 1; st.param.b32 [d], %x0; ret; }",
			"st.shared.u32 [lock], 0; st.shared.u32 [sum], 0; bar.sync 0; mov.u32 %r3, lock; cvt.u64.u32 %d5, %r3; cvta.shared.u64 %d5, %d5; mov.u64 %d3, f; L: { .param .b64 p; .param .b32 s; st.param.b64 [p], %d5; P: .callprototype (.param .b32 _) _ (.param .b64 _); call (s), %d3, (p), P; ld.param.b32 %r4, [s]; } setp.ne.u32 %p1, %r4, 0; @%p1 bra L; ld.volatile.shared.u32 %r5, [sum]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [sum], %r5; membar.cta; st.volatile.shared.u32 [lock], 0; bar.sync 0; ld.shared.u32 %r6, [sum]; st.global.v2.u32 [%out], {%r6, %i}; ret; }"},
		{"a wait in a function at an address", callWaits,
			"mov.u32 %r3, flag; shl.b32 %r4, %i, 2; add.u32 %r3, %r3, %r4; cvt.u64.u32 %d5, %r3; cvta.shared.u64 %d5, %d5; st.shared.u32 [%r3], 0; bar.sync 0; mov.u64 %d1, f; mov.u64 %d2, g; and.b32 %r9, %i, 1; setp.eq.u32 %p1, %r9, 0; setp.gt.s32 %p2, %i, -1; selp.b64 %d3, %d1, %d2, %p2; mov.u32 %r7, 3; @%p1 bra G; { .param .b64 p; .param .b32 s; st.param.b64 [p], %d5; P: .callprototype (.param .b32 _) _ (.param .b64 _); call (s), %d3, (p), P; ld.param.b32 %r7, [s]; } G: xor.b32 %r4, %i, 1; shl.b32 %r4, %r4, 2; mov.u32 %r5, flag; add.u32 %r5, %r5, %r4; st.volatile.shared.u32 [%r5], 9; bar.sync 0; st.global.v2.u32 [%out], {%r7, %i}; ret; }"},
		{"a lock, noted in shared memory", ".shared .align 4 .u32 lock; .shared .align 4 .u32 sum; .shared .align 4 .u32 own[64];",
			"mov.u32 %r3, own; shl.b32 %r4, %i, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], 0; st.shared.u32 [lock], 0; st.shared.u32 [sum], 0; bar.sync 0; L: atom.shared.cas.b32 %r4, [lock], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra NEXT; st.shared.u32 [%r3], 1; NEXT: ld.shared.u32 %r5, [%r3]; setp.eq.u32 %p2, %r5, 0; @%p2 bra L; ld.volatile.shared.u32 %r5, [sum]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [sum], %r5; membar.cta; st.volatile.shared.u32 [lock], 0; bar.sync 0; ld.shared.u32 %r6, [sum]; st.global.v2.u32 [%out], {%r6, %i}; ret; }"},
		{"a lock, noted in global memory", ".shared .align 4 .u32 lock; .shared .align 4 .u32 sum;",
			"st.global.u32 [%out], 0; st.shared.u32 [lock], 0; st.shared.u32 [sum], 0; bar.sync 0; L: atom.shared.cas.b32 %r4, [lock], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra NEXT; st.global.u32 [%out], 1; NEXT: ld.global.u32 %r5, [%out]; setp.eq.u32 %p2, %r5, 0; @%p2 bra L; ld.volatile.shared.u32 %r5, [sum]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [sum], %r5; membar.cta; st.volatile.shared.u32 [lock], 0; bar.sync 0; ld.shared.u32 %r6, [sum]; st.global.v2.u32 [%out], {%r6, %i}; ret; }"},
		{"redux before a call that has one", callRedux,
			"redux.sync.add.u32 %r3, %r0, -1; { .param .b32 p; .param .b32 s; st.param.b32 [p], 3; call (s), f, (p); ld.param.b32 %r4, [s]; } st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"redux before a call by an address", ".func (.param .b32 d) g(.param .b32 a) { .reg .b32 %x<3>; ld.param.u32 %x0, [a]; redux.sync.add.u32 %x1, %x0, -1; st.param.b32 [d], %x1; ret; }",
			"mov.u64 %d3, g; redux.sync.max.u32 %r3, %r0, -1; { .param .b32 p; .param .b32 s; st.param.b32 [p], %r1; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (s), %d3, (p), P; ld.param.b32 %r4, [s]; } st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"several redux before a call", callRedux,
			"redux.sync.add.u32 %r3, %r0, -1; redux.sync.min.u32 %r7, %r1, -1; redux.sync.max.u32 %r8, %r1, -1; { .param .b32 p; .param .b32 s; st.param.b32 [p], 3; call (s), f, (p); ld.param.b32 %r4, [s]; } xor.b32 %r3, %r3, %r7; add.u32 %r3, %r3, %r8; st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"a parameter that is argument and result", ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<3>; st.param.b32 [d], 7; ld.param.b32 %x0, [a]; mul.lo.u32 %x0, %x0, 3; st.param.b32 [d], %x0; ret; }",
			"{ .param .b32 p; st.param.b32 [p], %r0; call (p), f, (p); @%p0 call (p), f, (p); ld.param.b32 %r3, [p]; } st.global.v2.u32 [%out], {%r3, %r0}; ret; }"},
		{"results that are the arguments, changed about", ".func (.param .b32 d, .param .b32 e) f(.param .b32 a, .param .b32 b) { .reg .b32 %x<3>; ld.param.b32 %x0, [a]; st.param.b32 [e], %x0; ld.param.b32 %x1, [b]; st.param.b32 [d], %x1; ret; }",
			"{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; st.param.b32 [q], %r1; call (p, q), f, (p, q); ld.param.b32 %r3, [p]; ld.param.b32 %r4, [q]; } st.global.v2.u32 [%out], {%r3, %r4}; ret; }"},
		{"a structure that is argument and result", ".func (.param .align 8 .b8 d[24]) f(.param .align 8 .b8 a[24]) { .reg .b64 %x<3>; .reg .b32 %y<3>; ld.param.b64 %x0, [a]; st.param.b64 [d+8], %x0; ld.param.v2.b32 {%y0, %y1}, [a+8]; st.param.v2.b32 [d], {%y1, %y0}; ld.param.u8 %y0, [a+17]; st.param.b8 [d+16], %y0; ld.param.u8 %y0, [a+16]; st.param.b8 [d+17], %y0; st.param.b16 [d+18], %y1; ret; }",
			"{ .param .align 8 .b8 p[24]; st.param.v2.b32 [p], {%r0, %r1}; st.param.b32 [p+8], %r2; st.param.b32 [p+12], %r1; st.param.b64 [p+16], %d0; call (p), f, (p); ld.param.v4.u32 {%r3, %r4, %r5, %r6}, [p]; ld.param.u32 %r7, [p+16]; } xor.b32 %r3, %r3, %r4; shl.b32 %r5, %r5, 1; add.u32 %r3, %r3, %r5; sub.u32 %r6, %r6, %r7; st.global.v2.u32 [%out], {%r3, %r6}; ret; }"},
		{"addresses that a variable begins with", callTable, "and.b32 %r4, %r0, 1; mul.wide.u32 %d3, %r4, 8; mov.u64 %d1, table; add.u64 %d3, %d3, %d1; ld.global.u64 %d3, [%d3+8]; " + callByTable},
		{"addresses that a constant begins with", strings.Replace(callTable, ".global", ".const", 1), strings.ReplaceAll("and.b32 %r4, %r0, 1; mul.wide.u32 %d3, %r4, 8; mov.u64 %d1, table; add.u64 %d3, %d3, %d1; cvta.const.u64 %d4, %d3; ld.global.u64 %d3, [%d3+8]; ld.u64 %d4, [%d4+8]; xor.b64 %d4, %d4, %d3; or.b64 %d3, %d3, %d4; "+callByTable, "ld.global", "ld.const")},
		{"a function that does nothing, by its address", ".func f() { ret; } .global .align 8 .u64 table[1] = {f};",
			"ld.global.u64 %d3, [table]; P: .callprototype _ (); call %d3, P; st.global.u32 [%out], %r0; ret; }"},
		{"memory of the device's heap, and text", ".global .align 1 .b8 text[8] = {37, 100, 32, 37, 100, 10, 0};",
			".local .align 8 .b8 v[8]; .reg .b64 %v; mov.u64 %v, v; setp.lt.u32 %p1, %i, 20; { .param .b64 p; .param .b64 s; st.param.b64 [p], 64; call (s), malloc, (p); ld.param.b64 %d5, [s]; } st.u32 [%d5+4], %r0; st.local.v2.u32 [%v], {%i, %r0}; cvta.local.u64 %v, %v; mov.u64 %d6, text; cvta.global.u64 %d6, %d6; mov.u32 %r7, 1; { .param .b64 p; .param .b64 q; .param .b32 s; st.param.b64 [p], %d6; st.param.b64 [q], %v; @%p1 call (s), vprintf, (p, q); @%p1 ld.param.b32 %r7, [s]; } ld.u32 %r3, [%d5+4]; { .param .b64 p; st.param.b64 [p], %d5; call free, (p); } st.global.v2.u32 [%out], {%r3, %r7}; ret; }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := callsHead + c.functions + callsKernel + c.body
			for at := 0; at < len(input)-64*24; at += 4 * 64 * 24 {
				want, printed := callsRun(t, program.PTXCode, text, input[at:])
				got, also := callsRun(t, program.CompiledCode, text, input[at:])
				if !bytes.Equal(got, want) {
					t.Fatalf("got %x\nwant %x", got[:64], want[:64])
				}
				if !bytes.Equal(printed, also) {
					t.Fatalf("prints %q\nwant %q", also, printed)
				}
			}
		})
	}
}
