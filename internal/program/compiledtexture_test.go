package program_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// texturedLoop is k0: in each round accesses to textures and surfaces, and video instructions, whose operands change right after them.
const texturedLoop = `.version 8.0
.target sm_75
.address_size 64
.visible .entry k0(.param .u64 in, .param .u64 out, .param .u64 tex, .param .u64 surf) {
 .reg .b64 %in, %out, %at, %tex, %surf; .reg .b32 %t, %i, %x, %y, %v<4>, %w<4>, %s, %n; .reg .f32 %f<2>; .reg .b16 %h<2>; .reg .pred %p, %odd;
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %tex, [tex]; ld.param.u64 %surf, [surf]; mov.u32 %t, %tid.x;
 mul.wide.u32 %at, %t, 4; add.s64 %in, %in, %at; add.s64 %out, %out, %at; ld.global.u32 %s, [%in];
 and.b32 %x, %t, 7; shr.u32 %y, %t, 3; mov.u32 %i, 0; and.b32 %n, %t, 1; setp.eq.u32 %odd, %n, 1;
LOOP:
 tex.2d.v4.f32.s32 {%v0, %v1, %v2, %v3}, [%tex, {%x, %y}];
 cvt.rn.f32.u32 %f0, %x; cvt.rn.f32.u32 %f1, %y;
 @%odd tld4.r.2d.v4.f32.f32 {%w0, %w1, %w2, %w3}, [%tex, {%f0, %f1}];
 mad.lo.u32 %s, %s, 31, %v0; @%odd xor.b32 %s, %s, %w2; vabsdiff4.u32.u32.u32.add %s, %s, %v1, %s; vadd4.u32.u32.u32.sat %n, %s, %v2, %s; xor.b32 %s, %s, %n;
 tex.grad.2d.v4.f32.f32 {%w0, %w1, %w2, %w3}, [%tex, {%f0, %f1}], {%f1, %f0}, {%f0, %f0};
 add.f32 %f0, %f0, 0f3F000000; mad.lo.u32 %s, %s, 31, %w3;
 shl.b32 %n, %x, 2; suld.b.2d.b32.clamp %w0, [%surf, {%n, %y}];
 xor.b32 %w1, %w0, %s; @!%odd sust.b.2d.b32.zero [%surf, {%n, %y}], %w1; add.u32 %w1, %w1, 5;
 cvt.u16.u32 %h0, %w1; suld.b.2d.b16.zero %h1, [%surf, {%n, %y}]; add.u32 %n, %n, 1; mov.b32 %w0, {%h0, %h1};
 xor.b32 %s, %s, %w0; tex.level.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%tex, {%f0, %f1}], %f0; xor.b32 %s, %s, %v1;
 add.u32 %x, %x, 1; and.b32 %x, %x, 7; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 4; @%p bra LOOP;
 st.global.u32 [%out], %s; ret; }
`

// TestCompiledTexturesTimed: on the core accesses to textures and surfaces have no hazard, and their values are those of
// the PTX.
func TestCompiledTexturesTimed(t *testing.T) {
	input := make([]uint32, 64)
	for i := range input {
		input[i] = uint32(i * i)
	}
	objects := func(g *heddle.GPU) (args []any) {
		for range 2 {
			texels := make([]float32, 4*8*8)
			for i := range texels {
				texels[i] = float32(i%13) / 3
			}
			at, err := heddle.Upload(g, "texels", texels)
			if err != nil {
				t.Fatal(err)
			}
			h, err := g.TextureObject(heddle.Texture{Addr: at, Format: "f32", Channels: 4, Width: 8, Height: 8})
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, h)
		}
		return args
	}
	m, err := ptx.Parse("k.ptx", []byte(texturedLoop))
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []int{75, 80, 86, 89} {
		t.Run(fmt.Sprintf("sm_%d", arch), func(t *testing.T) {
			want, _ := timedWith(t, heddle.Source{Name: "k.ptx", Text: texturedLoop}, arch, input, 64, 64, objects)
			for less := range compile.Most + 1 {
				c, err := compile.Module(m, compile.Options{Arch: sass.Arch(arch), Less: less})
				if err != nil || len(c.Refused) > 0 {
					t.Fatal(err, c.Refused)
				}
				got, hazards := timedWith(t, heddle.Source{Name: "k.sass", Text: c.File.Text()}, arch, input, 64, 64, objects)
				if hazards != 0 || !slices.Equal(got, want) {
					t.Errorf("-O%d: %d hazards\ngot  %x\nwant %x", compile.Most-less, hazards, got, want)
				}
			}
		})
	}
}
