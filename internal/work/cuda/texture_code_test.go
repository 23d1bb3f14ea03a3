package cuda

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

// textureModes are the ways to run machine code of sm_75: functional, with cycles by its control bits,
// and with cycles under scoreboards.
var textureModes = map[string]func(*Options){
	"functional":   func(o *Options) {},
	"control bits": func(o *Options) { o.Timing = true },
	"scoreboards": func(o *Options) {
		o.Timing = true
		if err := o.Settings.Set("modern.dependences=scoreboard"); err != nil {
			panic(err)
		}
	},
}

// A kernel that adds element tid of a row, by its object, to texel (tid + 0.5, 1.5) of a reference, and
// stores the sum.
const (
	sampleCode = `
.version 7.0
.target sm_75
.address_size 64
.global .texref image;
.visible .entry sample(.param .u64 out, .param .u64 row)
{
	.reg .b32 %i;
	.reg .f32 %f<8>;
	.reg .b64 %o, %t;
	ld.param.u64 %o, [out];
	ld.param.u64 %t, [row];
	mov.u32 %i, %tid.x;
	mad.wide.u32 %o, %i, 4, %o;
	tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%t, {%i}];
	cvt.rn.f32.u32 %f6, %i;
	add.f32 %f6, %f6, 0f3F000000;
	mov.f32 %f7, 0f3FC00000;
	tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [image, {%f6,%f7}];
	add.f32 %f0, %f0, %f1;
	st.global.f32 [%o], %f0;
	ret;
}
`
	sampleWords = `
.arch sm_75
.kernel sample
.param out, 8
.param row, 8
.regs 16
.address .nv.constant0+0x170, 6, image
[B------:R-:W0:-:S02] S2R R0, SR_TID.X ;
[B------:R-:W-:-:S02] MOV R9, 0x3fc00000 ;
[B------:R-:W-:-:S02] MOV R10, 0xc2000000 ;
[B0-----:R-:W1:-:S02] TLD.LZ RZ, R4, R0, 0x0, 0x5a, 1D, 0x1 ;
[B------:R-:W2:-:S02] I2F.U32 R8, R0 ;
[B--2---:R-:W-:-:S06] FADD R8, R8, 0.5 ;
[B------:R-:W3:-:S02] TEX.LL RZ, R5, R8, R10, 0x0, 0x5c, 2D, 0x1 ;
[B------:R-:W-:-:S05] MOV R2, 0x4 ;
[B------:R-:W-:-:S06] IMAD.WIDE.U32 R2, R0, R2, c[0x0][0x160] ;
[B-1-3--:R-:W-:-:S06] FADD R4, R4, R5 ;
[B------:R0:W-:-:S02] STG.E.SYS [R2], R4 ;
[B------:R-:W-:-:S05] EXIT ;
`
)

// TestTexturesOfCubins: a program loads a cubin with a reference, gives its kernel a texture object, and
// gets what the PTX of the kernel gives.
func TestTexturesOfCubins(t *testing.T) {
	f, err := sass.Parse("sample.sass", sampleWords, 0)
	if err != nil {
		t.Fatal(err)
	}
	words, err := program.WriteCubin(f)
	if err != nil {
		t.Fatal(err)
	}
	var texels []uint32
	for i := range uint32(16) {
		texels = append(texels, 0x3f800000+i<<18) // 1 and above
	}
	want, reads := []uint32(nil), uint64(0)
	for _, image := range []string{sampleCode, string(words)} {
		for _, mode := range []string{"functional", "control bits", "scoreboards"} {
			d := drive(t, func(o *Options) { o.GPU = "rtx-2070-super"; textureModes[mode](o) }).ready()
			mod := d.module(image)
			if _, res := d.Texture(mod, "image", true); res != ResultNotFound {
				t.Errorf("a texture is not a surface: %v", res)
			}
			ref, res := d.Texture(mod, "image", false)
			d.is("texture", res, ResultSuccess)
			at, out := d.alloc(64), d.alloc(16)
			var row uint64
			d.put(stack, texels...)
			d.is("copy", d.Do(func(t *Thread) Error { return t.Copy(at, stack, 64, HostToDevice, 0, false) }), ResultSuccess)
			d.is("object", d.Do(func(t *Thread) (err Error) {
				row, err = t.TextureObject(Image{Addr: at, Channel: floats, Bytes: 64}, Sampling{}, nil)
				return err
			}), ResultSuccess)
			d.is("edit", d.EditTexture(ref, false, func(x *TexRef) Result {
				x.Image = Image{Addr: at, Width: 4, Height: 4, Pitch: 16, Channel: floats}
				return ResultSuccess
			}), ResultSuccess)
			d.is("launch", d.Launch(d.function(mod, "sample"), one, false, params(out, row), nil), ResultSuccess)
			got := d.read(out, 4)
			if want == nil {
				want = slices.Clone(got)
			}
			if !slices.Equal(got, want) || got[0] == 0 {
				t.Errorf("%s: %x; PTX gives %x", mode, got, want)
			}
			if k := d.r.Result().Kernels; mode != "functional" && (len(k) != 1 || k[0].Cycles < 100) {
				t.Errorf("%s: %+v", mode, k)
			} else if mode != "functional" {
				if reads == 0 {
					reads = k[0].Memory.L1.Accesses
				}
				if got := k[0].Memory.L1.Accesses; got != reads || got < 2 {
					t.Errorf("%s: %d accesses to the L1; PTX makes %d", mode, got, reads)
				}
			}
		}
	}
}

// TestCompiledReferences: NVIDIA's compiler's kernel for sm_75 with references, by its control bits and
// under scoreboards, computes what it computes without cycles, and what its source says:
//
//	v[idx] = tex2D(texRef2d, y+0.5, y-0.5) + sinf(0.35*y) + tex1D(texRef1d, y+0.5), where y = idx + v[idx]
//	surf2Dwrite(surf2Dread(inputSurfRef, 4*idx, idx), outputSurfRef, 4*idx, idx)
func TestCompiledReferences(t *testing.T) {
	image, err := os.ReadFile("../../binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	const n = 16
	for name, mode := range textureModes {
		t.Run(name, func(t *testing.T) {
			d := drive(t, func(o *Options) { o.GPU = "rtx-2070-super"; mode(o) }).ready()
			mod := d.module(string(image))
			fill := func(to uint64, words ...uint32) uint64 {
				d.put(stack, words...)
				d.is("copy", d.Do(func(t *Thread) Error { return t.Copy(to, stack, 4*uint64(len(words)), HostToDevice, 0, false) }), ResultSuccess)
				return to
			}
			word := Channel{Bits: [4]int32{32}, Kind: 1}
			array := func(first uint32) (h, at uint64) {
				d.is("array", d.Do(func(t *Thread) (err Error) {
					h, err = t.MallocArray(word, n, n, 0, arraySurface)
					a, _ := t.Array(h)
					at, _, _, _ = a.Place(0, 0, 0, 4*n*n)
					return err
				}), ResultSuccess)
				list := make([]uint32, n*n)
				for i := range list {
					list[i] = first + uint32(i)
				}
				return h, fill(at, list...)
			}
			bind := func(name string, surface bool, i Image) {
				ref, res := d.Texture(mod, name, surface)
				d.is(name, res, ResultSuccess)
				d.is(name, d.EditTexture(ref, surface, func(x *TexRef) Result { x.Image = i; return ResultSuccess }), ResultSuccess)
			}
			plane, row := make([]uint32, n*n), make([]uint32, n)
			for i := range plane {
				plane[i] = math.Float32bits(float32(3*i) + 0.25)
			}
			for i := range row {
				row[i] = math.Float32bits(float32(1000*i) + 0.5)
			}
			in, _ := array(0x10000)
			out, copied := array(0)
			bind("texRef2d", false, Image{Addr: fill(d.alloc(4*n*n), plane...), Width: n, Height: n, Pitch: 4 * n, Channel: floats})
			var line, lineAt uint64
			d.is("line", d.Do(func(t *Thread) (err Error) {
				line, err = t.MallocArray(floats, n, 0, 0, 0)
				a, _ := t.Array(line)
				lineAt, _, _, _ = a.Place(0, 0, 0, 4*n)
				return err
			}), ResultSuccess)
			fill(lineAt, row...)
			bind("texRef1d", false, Image{Array: line})
			bind("inputSurfRef", true, Image{Array: in})
			bind("outputSurfRef", true, Image{Array: out})
			arg, v := fill(d.alloc(8), 4, 1<<20), fill(d.alloc(16), 3, 0, 2, 5)
			d.is("launch", d.Launch(d.function(mod, "_Z7argtestPiS_S_"), one, false, params(arg, v, uint64(0)), nil), ResultSuccess)
			got, moved := slices.Clone(d.read(v, 4)), d.read(copied, 4*n)
			for i, add := range []int{3, 0, 2, 5} {
				y := i + add
				want := float32(3*(max(y-1, 0)*n+y)) + 0.25 + float32(math.Sin(0.35*float64(y))) + float32(1000*y) + 0.5
				if got[i] != uint32(want) {
					t.Errorf("v[%d] is %d; want %d", i, got[i], uint32(want))
				}
				if w := uint32(0x10000 + i*n + i); moved[i*n+i] != w {
					t.Errorf("word %d of the surface is %#x; want %#x", i*n+i, moved[i*n+i], w)
				}
			}
		})
	}
}

// orderWords sums four elements that are not in the L1. It fetches each before one that is there; DEPBAR
// waits for all but the last fetch.
const orderWords = `
.arch sm_75
.kernel order
.param out, 8
.param row, 8
.regs 16
[B------:R-:W0:-:S02] S2R R0, SR_TID.X ;
[B------:R-:W-:-:S02] MOV R8, 0x400 ;
[B------:R-:W-:-:S02] MOV R10, RZ ;
[B------:R-:W-:-:S02] MOV R6, RZ ;
[B------:R-:W-:-:S02] MOV R9, RZ ;
[B------:R-:W-:-:S05] MOV R2, 0x4 ;
[B0-----:R-:W-:-:S06] IMAD.WIDE.U32 R2, R0, R2, c[0x0][0x160] ;
L:
[B------:R-:W-:-:S06] MOV R4, RZ ;
[B------:R-:W1:-:S02] TLD.LZ RZ, R5, R9, 0x0, 0x5a, 1D, 0x1 ;
[B-1----:R-:W1:-:S02] TLD.LZ RZ, R4, R8, 0x0, 0x5a, 1D, 0x1 ;
[B------:R-:W1:-:S02] TLD.LZ RZ, R5, R9, 0x0, 0x5a, 1D, 0x1 ;
[B------:R-:W-:Y:S04] DEPBAR.LE SB1, 0x1 ;
[B------:R-:W-:-:S06] IADD3 R6, R6, R4, RZ ;
[B-1----:R-:W-:-:S06] IADD3 R8, R8, 0x800, RZ ;
[B------:R-:W-:-:S06] IADD3 R10, R10, 0x1, RZ ;
[B------:R-:W-:Y:S13] ISETP.NE.AND P0, PT, R10, 0x4, PT ;
[B------:R-:W-:-:S05] @P0 BRA L ;
[B------:R0:W-:-:S02] STG.E.SYS [R2], R6 ;
[B------:R-:W-:-:S05] EXIT ;
`

// TestTexturesEndInOrder: the results of a warp's texture accesses come in the order of the accesses, on
// which NVIDIA's compiler relies.
func TestTexturesEndInOrder(t *testing.T) {
	f, err := sass.Parse("order.sass", orderWords, 0)
	if err != nil {
		t.Fatal(err)
	}
	words, err := program.WriteCubin(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range textureModes {
		t.Run(name, func(t *testing.T) {
			d := drive(t, func(o *Options) { o.GPU = "rtx-2070-super"; mode(o) }).ready()
			const bytes = 1 << 16
			at, out := d.alloc(bytes), d.alloc(16)
			d.is("fill", d.Do(func(t *Thread) Error {
				return t.FillWith(at, params(uint32(77)), Rows{Width: bytes, Height: 1, Depth: 1}, 0)
			}), ResultSuccess)
			var row uint64
			d.is("object", d.Do(func(t *Thread) (err Error) {
				row, err = t.TextureObject(Image{Addr: at, Channel: floats, Bytes: bytes}, Sampling{}, nil)
				return err
			}), ResultSuccess)
			d.is("launch", d.Launch(d.function(d.module(string(words)), "order"), one, false, params(out, row), nil), ResultSuccess)
			if got := d.read(out, 4); !slices.Equal(got, []uint32{308, 308, 308, 308}) {
				t.Errorf("%d", got)
			}
		})
	}
}
