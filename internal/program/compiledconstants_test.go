package program_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/program"
)

// constantsHead are constants and variables that lead to them. In the second form the addresses are those of constant
// memory, in the first generic ones.
const constantsHead = `.version 8.0
.target sm_90
.address_size 64
.visible .const .align 4 .b32 first[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
.const .align 2 .b16 odd = 3;
.visible .const .align 4 .b32 second[4] = {10, 20, 30, 40};
.visible .global .align 8 .u64 to[2] = {generic(second), generic(first)+4};
`

const constantsFar = "\n.visible .const .align 8 .u64 far[2] = {second+4, first};\n.visible .global .align 8 .u64 near[2] = {first+8, second};\n"

// constantsKernels: k reads constants in all ways, and gives addresses to k2, which reads what is there.
const constantsKernels = `
.visible .entry k(.param .u64 out, .param .u32 n) {
 .reg .b64 %out, %a, %b, %c, %d, %n; .reg .b32 %r<9>, %i; .reg .b16 %h;
 ld.param.u64 %out, [out]; ld.param.u32 %i, [n]; mul.wide.u32 %n, %i, 4;
 ld.const.u32 %r0, [second+4]; mov.u64 %a, second; add.u64 %b, %a, %n; ld.const.u32 %r1, [%b];
 cvta.const.u64 %c, %b; ld.u32 %r2, [%c]; cvta.to.const.u64 %d, %c; ld.const.u32 %r3, [%d+-4];
 ld.global.u64 %c, [to]; ld.u32 %r4, [%c+8]; cvta.to.const.u64 %d, %c; ld.const.u32 %r5, [%d];
 mov.u64 %c, generic(first); add.u64 %c, %c, %n; ld.u32 %r6, [%c]; ld.const.u16 %h, [odd]; cvt.u32.u16 %r7, %h;
 st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%out+16], {%r4, %r5, %r6, %r7};
 NEAR
 cvta.const.u64 %c, %a; st.global.u64 [%out+64], %c; ret; }
.visible .entry k2(.param .u64 out, .param .u32 n) {
 .reg .b64 %out, %a, %b; .reg .b32 %r<4>;
 ld.param.u64 %out, [out]; ld.global.u64 %a, [%out+64]; ld.v2.u32 {%r0, %r1}, [%a]; FAR st.global.v2.u32 [%out+72], {%r0, %r1}; ret; }
`

// Of the second form: what else the kernels do.
const (
	constantsNear = `ld.const.u64 %a, [far]; ld.const.u32 %r0, [%a]; ld.const.u64 %b, [far+8]; ld.const.u32 %r1, [%b+12]; ld.global.u64 %c, [near]; ld.const.u32 %r2, [%c];
 mov.u64 %d, first; sub.u64 %d, %c, %d; cvt.u32.u64 %r3, %d; st.global.v4.u32 [%out+32], {%r0, %r1, %r2, %r3}; mov.u64 %a, second; st.global.u64 [%out+48], %a;`
	constantsBack = `ld.global.u64 %b, [%out+48]; ld.const.u32 %r1, [%b+12];`
	constantsStay = ` .reg .b32 %x; mov.u32 %x, %clusterid.x; ret; }`
)

// TestCompiledConstants: compiled kernels read the constants that the host has written, by names, by addresses of all
// kinds, and by those in initial values, and mean the same by them as kernels that stay PTX.
func TestCompiledConstants(t *testing.T) {
	far := constantsHead + constantsFar + strings.NewReplacer("NEAR", constantsNear, "FAR", constantsBack).Replace(constantsKernels)
	plain := constantsHead + strings.NewReplacer("NEAR", "", "FAR", "").Replace(constantsKernels)
	stays := func(text string, name string) string {
		n := strings.Index(text, ".entry "+name+"(")
		end := n + strings.Index(text[n:], " ret; }")
		return text[:end] + constantsStay + text[end+len(" ret; }"):]
	}
	for _, c := range []struct {
		name, text string
		ptx        string // a kernel that stays PTX
	}{
		{"generic addresses", plain, ""}, {"generic addresses, to PTX", stays(plain, "k2"), "k2"}, {"generic addresses, from PTX", stays(plain, "k"), "k"},
		{"addresses of constant memory", far, ""}, {"addresses of constant memory, to PTX", stays(far, "k2"), "k2"}, {"addresses of constant memory, from PTX", stays(far, "k"), "k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(code program.Code) (out []byte) {
				choice := program.Choice{Code: code, SM: *forSM}
				p, err := choice.Load(program.Source{Name: "constants.ptx", Text: []byte(c.text)})
				if err != nil {
					t.Fatal(err)
				}
				mem := device.New(device.Config{})
				at, err := mem.Alloc(128, "out")
				if err != nil {
					t.Fatal(err)
				}
				before := mem.Allocated()
				m, err := program.NewMachine(p, mem)
				if err != nil {
					t.Fatal(err)
				}
				for round := range 2 {
					if s, ok := m.Symbol("second"); ok && round > 0 {
						if err := mem.Write(s.Addr, []byte{1, 1, 0, 0, 2, 2, 0, 0, 3, 3, 0, 0, 4, 4, 0, 0}); err != nil {
							t.Fatal(err)
						}
					}
					for _, name := range []string{"k", "k2"} {
						k, _ := p.Kernel(name)
						if compiled := program.CodeOf(k) == program.SASSCode; compiled != (code == program.CompiledCode && name != c.ptx) {
							t.Fatalf("%s: %s is compiled: %v", code, name, compiled)
						}
						params := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, at), 2)
						one := exec.Dim3{X: 1, Y: 1, Z: 1}
						if _, err := m.Run(t.Context(), exec.Launch{Kernel: k, Grid: one, Block: one, Params: params}, exec.Options{MaxInsts: 999}); err != nil {
							t.Fatal(err)
						}
					}
					b := make([]byte, 128)
					if err := mem.Read(at, b); err != nil {
						t.Fatal(err)
					}
					clear(b[48:56]) // addresses
					clear(b[64:72])
					out = append(out, b...)
				}
				if err := m.Release(); err != nil {
					t.Error(err)
				}
				if n := mem.Allocated() - before; n != 0 {
					t.Errorf("%d bytes are left", n)
				}
				return out
			}
			if want, got := run(program.PTXCode), run(program.CompiledCode); !bytes.Equal(got, want) {
				t.Errorf("got\n%x\nwant\n%x", got, want)
			}
		})
	}
}
