package program

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// referencesPTX are two kernels with references to textures and to a surface: in a register, and named by the instruction; as
// floats and as integers; k1 does not name them in the order of k0.
const referencesPTX = `.version 6.0
.target sm_60
.address_size 64
.visible .global .texref t0;
.global .texref t1;
.visible .global .surfref t2;
.func (.reg .b32 %d) fetch(.reg .b64 %h, .reg .b32 %i) { .reg .f32 %q<4>; tex.1d.v4.f32.s32 {%q0, %q1, %q2, %q3}, [%h, {%i}]; mov.b32 %d, %q1; ret; }
.visible .entry k0(.param .u64 out) {
 .reg .b64 %a, %h; .reg .b32 %i, %y<9>; .reg .f32 %f<5>, %x;
 ld.param.u64 %a, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %a, %i, 32, %a; cvt.rn.f32.u32 %x, %i; mul.f32 %x, %x, 0f3e99999a;
 mov.u64 %h, t0;
 tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%h, {%i}]; mov.b32 %y0, %f0; mov.b32 %y1, %f1;
 tex.1d.v4.s32.f32 {%y2, %y3, %y4, %y5}, [t1, {%x}];
 call (%y6), fetch, (%h, %i);
 st.global.v4.u32 [%a], {%y0, %y1, %y2, %y3}; st.global.v4.u32 [%a+16], {%y4, %y5, %y6, %i}; ret; }
.visible .entry k1(.param .u64 out, .param .u8 n) {
 .reg .b64 %a, %s; .reg .b32 %i, %y<9>;
 ld.param.u64 %a, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %a, %i, 32, %a;
 tex.1d.v4.u32.s32 {%y0, %y1, %y2, %y3}, [t1, {%i}]; tex.1d.v4.u32.s32 {%y4, %y5, %y6, %y7}, [t0, {%i}]; shl.b32 %y8, %i, 2; suld.b.1d.b32.zero %y7, [t2, {%y8}]; mov.b64 %s, t2; add.u32 %y4, %y4, 1; sust.b.1d.b32.zero [%s, {%y8}], %y4;
 st.global.v4.u32 [%a], {%y0, %y1, %y2, %y3}; st.global.v4.u32 [%a+16], {%y4, %y5, %y6, %y7}; ret; }
`

// TestCompiledReferences: kernels read what the host has bound to references, as their PTX does.
func TestCompiledReferences(t *testing.T) {
	run := func(code Code, sm int) (left []byte) {
		c := &Choice{Code: code, SM: sm, Refused: func(err error) { t.Fatal(err) }}
		from := Source{Name: "refs.ptx", Text: []byte(referencesPTX)}
		if code == SASSCode { // through a cubin
			m, err := ptx.Parse(from.Name, from.Text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := compile.Module(m, compile.Options{Arch: sass.Arch(sm)})
			if err != nil || len(r.Refused) > 0 {
				t.Fatal(err, r.Refused)
			}
			from.Name = "refs.cubin"
			if from.Text, err = WriteCubin(r.File); err != nil {
				t.Fatal(err)
			}
		}
		p, err := c.Load(from)
		if err != nil {
			t.Fatal(err)
		}
		mem := device.New(device.Config{})
		m, err := NewMachine(p, mem)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 6))
		for n, tex := range []texture.Texture{{Format: "f32", Channels: 4, Width: 40}, {Format: "u8", Channels: 4, Width: 50, ReadNormalized: true}, {Format: "u32", Channels: 1, Width: 50}} {
			texels := make([]byte, 16*50)
			for i := range texels {
				texels[i] = byte(r.Uint32())
			}
			if tex.Addr, err = mem.Alloc(uint64(len(texels)), "texels"); err == nil {
				err = mem.Write(tex.Addr, texels)
			}
			if err == nil {
				err = m.BindTexture(fmt.Sprintf("t%d", n), tex)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for n := range 2 {
			out := make([]byte, 32*64)
			at, err := mem.Alloc(uint64(len(out)), "out")
			if err != nil {
				t.Fatal(err)
			}
			k, _ := p.Kernel(fmt.Sprintf("k%d", n))
			if want := map[Code]Code{CompiledCode: SASSCode, SASSCode: SASSCode, PTXCode: PTXCode}[code]; CodeOf(k) != want {
				t.Fatalf("%s is %s", k.Name(), CodeOf(k))
			}
			params := binary.LittleEndian.AppendUint64(nil, at)
			l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: append(params, make([]byte, n)...)}
			if _, err := m.Run(t.Context(), l, exec.Options{MaxInsts: 1 << 16}); err != nil {
				t.Fatal(err)
			}
			if err := mem.Read(at, out); err != nil {
				t.Fatal(err)
			}
			left = append(left, out...)
		}
		return left
	}
	want := run(PTXCode, 86)
	for _, sm := range []int{75, 86} {
		for _, code := range []Code{CompiledCode, SASSCode} {
			if got := run(code, sm); !slices.Equal(got, want) {
				t.Errorf("%s, sm_%d:\ngot  %x\nwant %x", code, sm, got[:96], want[:96])
			}
		}
	}
	if slices.Equal(want, make([]byte, len(want))) {
		t.Error("the textures are empty")
	}
}

// TestCompiledHandles: handles of references mean the same to kernels that are compiled and to those that stay PTX,
// also where each module has a reference of a name.
func TestCompiledHandles(t *testing.T) {
	const head = ".version 8.0\n.target sm_90\n.address_size 64\n"
	const give = ".visible .entry give(.param .u64 at) { .reg .b64 %a, %h; ld.param.u64 %a, [at]; mov.u64 %h, t1; st.global.u64 [%a], %h; ret; }\n"
	const take = `.visible .entry take(.param .u64 at) { .reg .b64 %a, %h; .reg .b32 %y<4>; ld.param.u64 %a, [at]; ld.global.u64 %h, [%a];
 tex.1d.v4.u32.s32 {%y0, %y1, %y2, %y3}, [%h, {0}]; st.global.v4.u32 [%a], {%y0, %y1, %y2, %y3}; ret; }` + "\n"
	const refs = ".visible .global .texref t0;\n.visible .global .texref t1;\n"
	stay := func(k string) string {
		return strings.Replace(k, "ret;", ".reg .b32 %x; mov.u32 %x, %clusterid.x; ret;", 1)
	}
	other := func(k string) string { return strings.Replace(k, ".entry ", ".entry other_", 1) }
	for _, c := range []struct {
		name    string
		sources []string
		want    map[string]Code
	}{
		{"from compiled code to PTX", []string{refs + give + stay(take)}, map[string]Code{"give": SASSCode, "take": PTXCode}},
		{"from PTX to compiled code", []string{refs + stay(give) + take}, map[string]Code{"give": PTXCode, "take": SASSCode}},
		{"from compiled code to compiled code of another module", []string{".visible .global .texref t2;\n" + stay(other(give[:strings.Index(give, "mov")]+"ret; }\n")) + take, refs + give}, map[string]Code{"give": SASSCode, "take": SASSCode}},
	} {
		t.Run(c.name, func(t *testing.T) {
			choice := &Choice{Code: CompiledCode, SM: 86}
			var sources []Source
			for i, s := range c.sources {
				sources = append(sources, Source{Name: fmt.Sprintf("%d.ptx", i), Text: []byte(head + s)})
			}
			p, err := choice.Load(sources...)
			if err != nil {
				t.Fatal(err)
			}
			mem := device.New(device.Config{})
			m, err := NewMachine(p, mem)
			if err != nil {
				t.Fatal(err)
			}
			at, err := mem.Alloc(256, "texels and output")
			if err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				a := at + 64 + 64*uint64(n)
				if err := mem.Write(a, bytes.Repeat([]byte{byte(5 + n)}, 16)); err != nil {
					t.Fatal(err)
				}
				if err := m.BindTexture(fmt.Sprintf("t%d", n), texture.Texture{Addr: a, Format: "u32", Channels: 4, Width: 1}); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"give", "take"} {
				k, _ := p.Kernel(name)
				if CodeOf(k) != c.want[name] {
					t.Fatalf("%s is %s", name, CodeOf(k))
				}
				one := exec.Dim3{X: 1, Y: 1, Z: 1}
				if _, err := m.Run(t.Context(), exec.Launch{Kernel: k, Grid: one, Block: one, Params: binary.LittleEndian.AppendUint64(nil, at)}, exec.Options{MaxInsts: 99}); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]byte, 16)
			if err := mem.Read(at, got); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{6}, 16)) {
				t.Errorf("%v, %x", err, got)
			}
		})
	}
}
