package cuda

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
)

// A program that fetches element 1 of a row by an object's handle, in a module of
// its own and in one that also has a reference.
const fetchCode = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry fetch(.param .u64 out, .param .u64 tex)
{
	.reg .b32 %r<4>;
	.reg .b64 %o, %t;
	ld.param.u64 %o, [out];
	ld.param.u64 %t, [tex];
	mov.u32 %r0, 1;
	tex.1d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%t, {%r0}];
	st.global.u32 [%o], %r0;
	ret;
}
`

// fetchers starts the program with both modules, and returns their kernels.
func fetchers(t *testing.T, mode func(*Options)) (b *bench, kernels [2]uint64) {
	b = start(t, mode)
	kernels = [2]uint64{0x90, 0x91}
	for i, head := range []string{"", ".visible .global .texref other;\n"} {
		text := strings.Replace(fetchCode, ".visible .entry", head+".visible .entry", 1)
		h := b.r.Register(fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(text)}))
		b.r.RegisterFunction(h, kernels[i], "fetch")
	}
	return b, kernels
}

func (b *bench) fetch(kernel, out, tex uint64) Error {
	return b.Launch(kernel, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, func(n, _ int, to []byte) {
		v := []uint64{out, tex}[n]
		for i := range to {
			to[i] = byte(v >> (8 * i))
		}
	})
}

// TestObjectLife: an object is valid in every module, loaded before or after it,
// for all work that was enqueued before it was destroyed, and no longer.
func TestObjectLife(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b, kernels := fetchers(t, mode)
		d := b.malloc(64)
		b.want("fill", b.Fill(d, 7, Rows{Width: 64, Height: 1, Depth: 1}, 0), Success)
		out := b.malloc(16)
		row := Image{Addr: d, Channel: Channel{Bits: [4]int32{32}, Kind: 1}, Bytes: 64}
		tex, err := b.TextureObject(row, Sampling{}, nil)
		b.want("object", err, Success)
		for i, k := range kernels {
			b.want("launch", b.fetch(k, out+4*uint64(i), tex), Success)
		}
		b.want("destroyed before they have run", b.FreeObject(tex, false), Success)
		b.want("and again", b.FreeObject(tex, false), InvalidValue)
		b.want("copy", b.Copy(stack, out, 8, DeviceToHost, 0, false), Success)
		for i, v := range b.words(stack, 2) {
			if v != 0x07070707 {
				t.Errorf("module %d fetched %#x", i, v)
			}
		}
		b.fetch(kernels[0], out, tex)
		if err := b.Synchronize(); err == Success || !strings.Contains(b.log.String(), "the host has destroyed it") {
			t.Errorf("after it was destroyed: %v\n%s", err, b.log)
		}
	})
}

// TestTextureImages: the images that textures, surfaces and arrays accept.
func TestTextureImages(t *testing.T) {
	ints := Channel{Bits: [4]int32{32}, Kind: 0}
	array := func(b *bench, w, h, d uint64, flags uint32) uint64 {
		a, err := b.MallocArray(floats, w, h, d, flags)
		b.want("array", err, Success)
		return a
	}
	object := func(b *bench, i Image, s Sampling, v *View) Error {
		h, err := b.TextureObject(i, s, v)
		if err == Success {
			b.want("destroy", b.FreeObject(h, false), Success)
		}
		return err
	}
	mipmap := func(b *bench, w, h, d uint64, levels int, flags uint32) uint64 {
		m, err := b.MallocMipmap(floats, w, h, d, levels, flags)
		b.want("mipmap", err, Success)
		return m
	}
	normal := Sampling{Normalized: true, MaxLevel: 9}
	for _, c := range []struct {
		name string
		call func(b *bench) Error
		want Error
	}{
		{"layers", func(b *bench) Error { return object(b, Image{Array: array(b, 4, 4, 9, arrayLayered)}, Sampling{}, nil) }, Success},
		{"rows of layers", func(b *bench) Error { return object(b, Image{Array: array(b, 4, 0, 9, arrayLayered)}, Sampling{}, nil) }, Success},
		{"cube", func(b *bench) Error { return object(b, Image{Array: array(b, 4, 4, 6, arrayCubemap)}, Sampling{}, nil) }, Success},
		{"seamless cube", func(b *bench) Error {
			return object(b, Image{Array: array(b, 4, 4, 6, arrayCubemap)}, Sampling{Seamless: true}, nil)
		}, NotSupported},
		{"mipmap of planes", func(b *bench) Error { return object(b, Image{Mipmap: mipmap(b, 8, 4, 2, 99, 0)}, normal, nil) }, Success},
		{"mipmap of cubes", func(b *bench) Error {
			return object(b, Image{Mipmap: mipmap(b, 8, 8, 12, 99, arrayCubemap|arrayLayered)}, normal, nil)
		}, Success},
		{"mipmap without normalized coordinates", func(b *bench) Error {
			return object(b, Image{Mipmap: mipmap(b, 8, 4, 0, 2, 0)}, Sampling{}, nil)
		}, InvalidValue},
		{"no such mipmap", func(b *bench) Error { return object(b, Image{Mipmap: 7}, normal, nil) }, InvalidHandle},
		{"no such level", func(b *bench) Error { _, err := b.Level(mipmap(b, 8, 4, 2, 99, 0), 4); return err }, InvalidValue},
		{"level of no mipmap", func(b *bench) Error { _, err := b.Level(7, 0); return err }, InvalidHandle},
		{"free a level", func(b *bench) Error {
			a, _ := b.Level(mipmap(b, 8, 4, 2, 99, 0), 1)
			return b.FreeArray(a)
		}, InvalidHandle},
		{"levels of a freed mipmap", func(b *bench) Error {
			m := mipmap(b, 8, 4, 2, 99, 0)
			a, _ := b.Level(m, 1)
			b.want("free", b.FreeMipmap(m), Success)
			return object(b, Image{Array: a}, Sampling{}, nil)
		}, InvalidHandle},
		{"interpolated integers", func(b *bench) Error {
			a, _ := b.MallocArray(ints, 4, 4, 0, 0)
			return object(b, Image{Array: a}, Sampling{Linear: true}, nil)
		}, InvalidFilter},
		{"the same, taken as floats", func(b *bench) Error {
			a, _ := b.MallocArray(ints, 4, 4, 0, 0)
			return object(b, Image{Array: a}, Sampling{Linear: true}, &View{Format: 22, Width: 4, Height: 4})
		}, Success},
		{"taken as something smaller", func(b *bench) Error {
			return object(b, Image{Array: array(b, 4, 4, 0, 0)}, Sampling{}, &View{Format: 1, Width: 4, Height: 4})
		}, InvalidValue},
		{"taken as compressed", func(b *bench) Error {
			return object(b, Image{Array: array(b, 4, 4, 0, 0)}, Sampling{}, &View{Format: 25})
		}, NotSupported},
		{"a view of other sides", func(b *bench) Error {
			return object(b, Image{Array: array(b, 4, 4, 0, 0)}, Sampling{}, &View{Width: 4, Height: 5})
		}, InvalidValue},
		{"a view of levels", func(b *bench) Error {
			return object(b, Image{Mipmap: mipmap(b, 8, 4, 2, 3, 0)}, normal, &View{Width: 4, Height: 2, Depth: 1, FirstLevel: 1, LastLevel: 2})
		}, Success},
		{"a view of missing levels", func(b *bench) Error {
			return object(b, Image{Mipmap: mipmap(b, 8, 4, 2, 3, 0)}, normal, &View{FirstLevel: 1, LastLevel: 3})
		}, InvalidValue},
		{"a view of half a cube", func(b *bench) Error {
			return object(b, Image{Array: array(b, 4, 4, 6, arrayCubemap)}, Sampling{}, &View{LastLayer: 2})
		}, InvalidValue},
		{"a view of the second cube", func(b *bench) Error {
			return object(b, Image{Array: array(b, 4, 4, 12, arrayCubemap|arrayLayered)}, Sampling{}, &View{FirstLayer: 6, LastLayer: 11})
		}, Success},
		{"surface", func(b *bench) Error {
			h, err := b.SurfaceObject(array(b, 4, 4, 0, arraySurface))
			b.want("as a texture", b.FreeObject(h, false), InvalidValue)
			b.want("destroy", b.FreeObject(h, true), Success)
			return err
		}, Success},
		{"surface of an array that is not made for it", func(b *bench) Error { _, err := b.SurfaceObject(array(b, 4, 4, 0, 0)); return err }, InvalidValue},
		{"surface of nothing", func(b *bench) Error { _, err := b.SurfaceObject(7); return err }, InvalidHandle},
		{"invalid surface reference", func(b *bench) Error { return b.BindSurface(aTexture, array(b, 4, 4, 0, arraySurface)) }, InvalidSurface},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t, nil)
			b.want("call", c.call(b), c.want)
		})
	}
}

// TestCopyBox: sides that do not contain the box, or are absurd, are refused.
func TestCopyBox(t *testing.T) {
	b := start(t, nil)
	d := b.malloc(4 * 4 * 4 * 4)
	a, err := b.MallocArray(floats, 4, 4, 4, 0)
	b.want("array", err, Success)
	tight := Side{Addr: d, Pitch: 16, Plane: 64}
	for _, c := range []struct {
		name        string
		dst, src    Side
		width, side uint64
		want        Error
	}{
		{"all", Side{Array: a}, tight, 16, 4, Success},
		{"and back", tight, Side{Array: a}, 16, 4, Success},
		{"a part", Side{Array: a, X: 4, Y: 1, Z: 1}, tight, 12, 3, Success},
		{"nothing", Side{Array: a}, tight, 0, 4, Success},
		{"too wide", Side{Array: a, X: 8}, tight, 12, 3, InvalidValue},
		{"too high and deep", Side{Array: a}, tight, 16, 5, InvalidValue},
		{"beside it", Side{Array: a, Y: 4}, tight, 4, 1, InvalidValue},
		{"no such array", Side{Array: 7}, tight, 4, 1, InvalidHandle},
		{"beyond the memory", Side{Array: a}, Side{Addr: d, Pitch: 20, Plane: 80}, 16, 4, InvalidValue},
		{"rows that overlap", Side{Array: a}, Side{Addr: d, Pitch: 8, Plane: 64}, 16, 4, InvalidPitchValue},
		{"products beyond all bounds", Side{Array: a}, Side{Addr: d, Pitch: 1 << 40, Y: 1 << 40}, 16, 1, InvalidValue},
		{"sums beyond all bounds", Side{Array: a, X: 1<<64 - 8}, tight, 16, 1, InvalidValue},
	} {
		b.want(c.name, b.CopyBox(c.dst, c.src, c.width, c.side, c.side, AnyWay, 0, false), c.want)
	}
}

// TestReferenceNames: nvcc registers references by their qualified names.
func TestReferenceNames(t *testing.T) {
	for registered, want := range map[string]string{
		"image": "image", "::image": "image", "::outer::inner::image": "_ZN5outer5inner5imageE", "_ZN5outer5imageE": "_ZN5outer5imageE", "": "", "::": "",
	} {
		if got := symbol(registered); got != want {
			t.Errorf("%q is %q, want %q", registered, got, want)
		}
	}
	b := start(t, nil)
	d, err := b.Malloc(64)
	b.want("allocate", err, Success)
	b.r.RegisterTexture(b.r.Register(fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(code)})), 5, "::image", false)
	b.want("bind", b.Bind(5, Image{Addr: d, Channel: floats, Bytes: 64}, Sampling{}), Success)
}
