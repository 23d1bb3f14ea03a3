package ptx_test

import (
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
)

// TestTexBorder: outside the image, address mode border gives the border colour in the type of
// the texels; a fetch beyond a row is zero.
func TestTexBorder(t *testing.T) {
	for _, c := range []struct {
		format string
		border float32
		want   uint32
	}{
		{"f32", -0.5, math.Float32bits(-0.5)},
		{"u8", 200, 200},
		{"u16", -3, 0},
		{"s16", -3, math.MaxUint32 - 2},
		{"s32", 1e30, math.MaxInt32},
		{"u32", float32(math.NaN()), 0},
	} {
		dtype := map[byte]string{'u': "u32", 's': "s32", 'f': "f32"}[c.format[0]]
		tex := texture.Texture{Format: c.format, Channels: 1, Width: 2, Height: 2, Address: [3]string{"border", "clamp"}, Border: [4]float32{c.border}}
		out, _ := texProgram{nOut: 2, objects: []texBinding{{tex: tex, data: make([]byte, 16)}}, body: strings.ReplaceAll(`
tex.2d.v4.TYPE.f32 {%y0,_,_,_}, [%obj0, {%x0,%x1}];
tex.1d.v4.TYPE.s32 {%y1,_,_,_}, [%obj0, {%x2}];`, "TYPE", dtype)}.mustRun(t, [][]uint32{{math.Float32bits(5), 0, 2}})
		if out[0][0] != c.want || out[0][1] != 0 {
			t.Errorf("%s, border %v: %#x and %#x, want %#x and 0", c.format, c.border, out[0][0], out[0][1], c.want)
		}
	}
}

// TestTexSRGB: red, green and blue become linear before they are blended, alpha is
// a fraction.
func TestTexSRGB(t *testing.T) {
	tex := texture.Texture{Format: "u8", Channels: 4, Width: 2, ReadNormalized: true, SRGB: true, Linear: true}
	out, _ := texProgram{nOut: 4, objects: []texBinding{{tex: tex, data: []byte{0, 10, 188, 51, 255, 10, 0, 255}}},
		body: "tex.1d.v4.f32.f32 {%y0,%y1,%y2,%y3}, [%obj0, {%x0}];"}.mustRun(t, [][]uint32{{math.Float32bits(0.5)}, {math.Float32bits(1)}})
	low, bright := 10/255.0/12.92, math.Pow((188/255.0+0.055)/1.055, 2.4)
	for i, want := range [][4]float64{{0, low, bright, 0.2}, {0.5, low, bright / 2, 0.6}} {
		for k, w := range want {
			if got := float64(math.Float32frombits(out[i][k])); math.Abs(got-w) > 1e-7 {
				t.Errorf("point %d, channel %d: %v, want %v", i, k, got, w)
			}
		}
	}
}

// TestTexLevelRange: bias and range move the level of detail, of fetches without
// one too; the base level stays the base level.
func TestTexLevelRange(t *testing.T) {
	for _, c := range []struct {
		bias      float32
		levels    *[2]float32
		lod       float32
		want, min float32 // with the level of detail, and without
	}{
		{0, nil, 1, 10, 0},
		{0.5, nil, 1, 15, 0},
		{-1, nil, 1, 0, 0},
		{9, nil, 0, 20, 0},
		{40, nil, 0, 20, 20},
		{0, &[2]float32{0.25, 1.5}, 0, 2.5, 2.5},
		{0, &[2]float32{0.25, 1.5}, 7, 15, 2.5},
		{0, &[2]float32{}, 2, 0, 0},
		{0, &[2]float32{2, 1}, 0, 10, 10}, // the upper bound is the stronger
		{0, nil, float32(math.NaN()), 0, 0},
	} {
		tex := texture.Texture{Format: "f32", Channels: 1, Width: 4, Levels: 3, MipLinear: true, Normalized: true, LevelBias: c.bias, LevelRange: c.levels}
		var data []byte
		for _, v := range []float32{0, 0, 0, 0, 10, 10, 20} {
			b := math.Float32bits(v)
			data = append(data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
		}
		out, _ := texProgram{nOut: 3, objects: []texBinding{{tex: tex, data: data}}, body: `
tex.level.1d.v4.f32.f32 {%y0,_,_,_}, [%obj0, {%x0}], %x1;
tex.1d.v4.f32.f32 {%y1,_,_,_}, [%obj0, {%x0}];
tex.base.1d.v4.f32.f32 {%y2,_,_,_}, [%obj0, {%x0}];`}.mustRun(t, [][]uint32{f32words([]float32{0.5, c.lod})})
		for k, want := range []float32{c.want, c.min, 0} {
			if got := math.Float32frombits(out[0][k]); got != want {
				t.Errorf("bias %v, range %v, level %v, instruction %d: %v, want %v", c.bias, c.levels, c.lod, k, got, want)
			}
		}
	}
}

// TestTexLayerView: a view sees some layers, and only those.
func TestTexLayerView(t *testing.T) {
	data := make([]byte, 24)
	for i := range data {
		data[i] = byte(i)
	}
	run := func(tex texture.Texture, body string, in ...[]uint32) ([][]uint32, error) {
		out, _, err := texProgram{nOut: 1, objects: []texBinding{{tex: tex, data: data}}, body: body}.run(t, in)
		return out, err
	}
	plane := texture.Texture{Format: "u8", Channels: 1, Width: 1, Height: 1, Layers: 6, FirstLayer: 2, LayerCount: 3}
	out, err := run(plane, "tex.a2d.v4.u32.f32 {%y0,_,_,_}, [%obj0, {%x0,%x1,%x1,%x1}];", []uint32{0, 0}, []uint32{2, 0}, []uint32{3, 0})
	if err != nil || out[0][0] != 2 || out[1][0] != 4 || out[2][0] != 4 {
		t.Errorf("layers 2 to 4: %v, %v", out, err)
	}
	if out, err = run(plane, "suld.b.a2d.b8.zero %y0, [%obj0, {%x0,%x1,%x1,%x1}];", []uint32{1, 0}, []uint32{3, 0}); err != nil || out[0][0] != 3 || out[1][0] != 0 {
		t.Errorf("as a surface: %v, %v", out, err)
	}
	cubes := texture.Texture{Format: "u8", Channels: 1, Width: 1, Height: 1, Layers: 4, Cube: true, FirstLayer: 1, LayerCount: 2}
	minusZ := math.Float32bits(-1)
	if out, err = run(cubes, "tex.acube.v4.u32.f32 {%y0,_,_,_}, [%obj0, {%x0,%x1,%x1,%x2}];", []uint32{0, 0, minusZ}, []uint32{9, 0, minusZ}); err != nil || out[0][0] != 11 || out[1][0] != 17 {
		t.Errorf("cubes 1 and 2: %v, %v", out, err)
	}
	for _, bad := range []texture.Texture{
		{Format: "u8", Channels: 1, Width: 1, Height: 1, Layers: 6, FirstLayer: 4, LayerCount: 3},
		{Format: "u8", Channels: 1, Width: 1, Height: 1, Layers: 6, FirstLayer: -1, LayerCount: 3},
		{Format: "u8", Channels: 1, Width: 1, Height: 1, Layers: 6, FirstLayer: 1},
		{Format: "u8", Channels: 1, Width: 1, Height: 1, FirstLayer: 1, LayerCount: 1},
		{Format: "u8", Channels: 1, Width: 1, Height: 1, Cube: true, LayerCount: 5},
	} {
		if _, err := run(bad, "", []uint32{0}); err == nil {
			t.Errorf("%d layers from %d on: no error", bad.LayerCount, bad.FirstLayer)
		}
	}
}

// TestTexObjects: machines can share objects, whose slots are reused; using a removed one is a
// fault.
func TestTexObjects(t *testing.T) {
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(16, "texels")
	if err != nil {
		t.Fatal(err)
	}
	tex := texture.Texture{Addr: addr, Format: "f32", Channels: 1, Width: 4}
	var o texture.Objects
	first, err := o.Add(mem, tex)
	if err != nil {
		t.Fatal(err)
	}
	second, err := o.Add(mem, tex)
	if err != nil || first == second || first == 0 {
		t.Errorf("%#x, %#x, %v", first, second, err)
	}
	if err := o.Remove(first); err != nil {
		t.Error(err)
	}
	for _, bad := range []uint64{first, 0, second + 1, second + 16, math.MaxUint64} {
		if err := o.Remove(bad); err == nil {
			t.Errorf("%#x was removed", bad)
		}
	}
	if again, err := o.Add(mem, tex); err != nil || again != first {
		t.Errorf("the next is %#x, %v", again, err)
	}
	tex.Width = 5
	if _, err := o.Add(mem, tex); err == nil {
		t.Error("one beyond its memory was made")
	}
	// The handle that the test program makes is the first; nothing has the next.
	_, _, err = texProgram{nOut: 1, objects: []texBinding{{tex: texture.Texture{Format: "u8", Channels: 1, Width: 4}, data: make([]byte, 4)}},
		regs: ".reg .b64 %h;", body: "add.u64 %h, %obj0, 16; tex.1d.v4.u32.s32 {%y0,_,_,_}, [%h, {%x0}];"}.run(t, [][]uint32{{0}})
	if err == nil || !strings.Contains(err.Error(), "is not the handle of a texture") {
		t.Errorf("no such object: %v", err)
	}
}
