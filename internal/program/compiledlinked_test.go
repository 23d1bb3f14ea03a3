package program_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/program"
)

// Three modules that refer to each other: functions in place of their calls and such that stay calls, variables, constants
// by names and generic addresses, weak definitions, and values that begin with addresses of others' variables.
var linkedModules = []string{`.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 d) twice(.param .b32 a);
.extern .func (.param .b32 d) down(.param .b32 a);
.extern .global .align 4 .b32 counts[4];
.extern .const .align 4 .b32 table[4];
.visible .const .align 4 .b32 own[3] = {7, 8, 9};
.visible .global .align 8 .u64 to[2] = {counts+4, generic(table)};
.weak .func (.param .b32 d) both(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [d], %x; ret; }
.weak .global .align 4 .b32 shared_one = 5;
.visible .entry k(.param .u64 out) {
 .reg .b64 %out, %at, %p, %q; .reg .b32 %i, %r<12>;
 ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 32; add.u64 %out, %out, %at;
 { .param .b32 a; .param .b32 d; st.param.b32 [a], %i; call (d), twice, (a); ld.param.b32 %r0, [d]; }
 { .param .b32 a; .param .b32 d; and.b32 %r8, %i, 7; st.param.b32 [a], %r8; call (d), down, (a); ld.param.b32 %r1, [d]; }
 { .param .b32 a; .param .b32 d; st.param.b32 [a], %i; call (d), both, (a); ld.param.b32 %r2, [d]; }
 and.b32 %r8, %i, 3; mul.wide.u32 %at, %r8, 4; mov.u64 %p, table; add.u64 %q, %p, %at; ld.const.u32 %r3, [%q]; cvta.const.u64 %q, %q; ld.u32 %r4, [%q];
 mov.u64 %p, counts; add.u64 %p, %p, %at; ld.global.u32 %r5, [%p]; ld.global.u64 %q, [to]; ld.global.u32 %r6, [%q]; ld.global.u64 %q, [to+8]; ld.u32 %r7, [%q+4];
 ld.const.u32 %r9, [own+4]; xor.b32 %r7, %r7, %r9; ld.global.u32 %r9, [shared_one]; shl.b32 %r9, %r9, 8; xor.b32 %r7, %r7, %r9;
 st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%out+16], {%r4, %r5, %r6, %r7}; ret; }
`, `.version 8.0
.target sm_75
.address_size 64
.visible .const .align 2 .b16 before = 3;
.visible .const .align 4 .b32 table[4] = {11, 12, 13, 14};
.global .align 4 .b32 hidden = 100;
.weak .global .align 4 .b32 shared_one = 6;
.visible .func (.param .b32 d) twice(.param .b32 a) { .reg .b32 %x, %y; ld.param.u32 %x, [a]; ld.global.u32 %y, [hidden]; mad.lo.u32 %x, %x, 2, %y; st.param.b32 [d], %x; ret; }
.visible .func (.param .b32 d) both(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 1000; st.param.b32 [d], %x; ret; }
.extern .func (.param .b32 d) up(.param .b32 a);
.visible .func (.param .b32 d) down(.param .b32 a) { .reg .b32 %x<4>; .reg .pred %p; ld.param.u32 %x0, [a]; mov.u32 %x2, 1; setp.eq.u32 %p, %x0, 0; @%p bra E;
 { .param .b32 b; .param .b32 s; sub.u32 %x1, %x0, 1; st.param.b32 [b], %x1; call (s), up, (b); ld.param.b32 %x2, [s]; } mad.lo.u32 %x2, %x2, 3, %x0; E: st.param.b32 [d], %x2; ret; }
.visible .entry set(.param .u64 out) { .reg .b64 %out; .reg .b32 %x; ld.param.u64 %out, [out]; ld.global.u32 %x, [hidden]; add.u32 %x, %x, 1; st.global.u32 [hidden], %x; st.global.u32 [shared_one], 77; ret; }
`, `.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .b32 counts[4] = {21, 22, 23, 24};
.extern .func (.param .b32 d) down(.param .b32 a);
.visible .func (.param .b32 d) up(.param .b32 a) { .reg .b32 %x<4>; ld.param.u32 %x0, [a]; { .param .b32 b; .param .b32 s; st.param.b32 [b], %x0; call (s), down, (b); ld.param.b32 %x1, [s]; } add.u32 %x1, %x1, 5; st.param.b32 [d], %x1; ret; }
`}

// TestCompiledLinked: modules that refer to each other are compiled, in any order, and leave what their PTX leaves.
func TestCompiledLinked(t *testing.T) {
	run := func(t *testing.T, code program.Code, modules []string) (out []byte) {
		choice := program.Choice{Code: code, SM: *forSM, Refused: func(err error) { t.Error(err) }}
		var list []program.Source
		for i, s := range modules {
			list = append(list, program.Source{Name: string(rune('a'+i)) + ".ptx", Text: []byte(s)})
		}
		p, err := choice.Load(list...)
		if err != nil {
			t.Fatal(err)
		}
		mem := device.New(device.Config{})
		m, err := program.NewMachine(p, mem)
		if err != nil {
			t.Fatal(err)
		}
		at, err := mem.Alloc(32*64, "out")
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := m.Symbol("table"); !ok || mem.Write(s.Addr+8, []byte{99}) != nil {
			t.Fatal("there is no table")
		}
		for _, name := range []string{"k", "set", "k"} {
			k, _ := p.Kernel(name)
			l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, at)}
			if _, err := m.Run(t.Context(), l, exec.Options{MaxInsts: 1 << 16}); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 32*64)
			if err := mem.Read(at, b); err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		order []int
	}{{"as they are", []int{0, 1, 2}}, {"the other way", []int{2, 1, 0}}, {"the definitions first", []int{1, 0, 2}}} {
		t.Run(c.name, func(t *testing.T) {
			var modules []string
			for _, n := range c.order {
				modules = append(modules, linkedModules[n])
			}
			want, got := run(t, program.PTXCode, modules), run(t, program.CompiledCode, modules)
			if !bytes.Equal(got, want) {
				n := slices.IndexFunc(got, func(byte) bool { return true })
				for n < len(got) && got[n] == want[n] {
					n++
				}
				t.Errorf("byte %d differs: got %x, want %x", n, got[n&^31:n&^31+32], want[n&^31:n&^31+32])
			}
		})
	}
}
