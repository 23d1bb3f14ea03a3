package program

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
)

// Machine code reads textures as PTX does: the same access written in both, on the same texels, leaves
// the same memory, bit for bit. The order of the operands stands here once more, as each case gives it.

// texInputs are the words that each thread loads, by name: coordinates (x, y, z; i, j, k as integers), a
// level (d as an integer), a depth, derivatives, a layer, a sample, bytes along a row, values.
var texInputs = []string{"x", "y", "z", "lod", "ref", "ax", "ay", "az", "bx", "by", "bz", "layer", "i", "j", "k", "n", "d", "at", "v0", "v1", "v2", "v3"}

const (
	texThreads = 96
	texFirst   = 20 // register of the first input
	texA, texB = 48, 56
	texD2      = 70
	texD       = 68
)

// texRows draws the inputs of a run's threads.
func texRows(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	special := []float32{0, 1, -1, 0.5, 3.5, float32(math.Inf(1)), float32(math.NaN()), 1e9}
	var b []byte
	for range texThreads {
		for _, name := range texInputs {
			var v uint32
			switch name {
			case "x", "y", "z":
				f := (r.Float32() - 0.3) * []float32{1, 3, 12, 40}[r.IntN(4)]
				if r.IntN(12) == 0 {
					f = special[r.IntN(len(special))]
				}
				v = math.Float32bits(f)
			case "lod":
				v = math.Float32bits(r.Float32()*4 - 1)
			case "ref":
				v = math.Float32bits(r.Float32())
			case "layer":
				v = uint32(r.IntN(6))
			case "i", "j", "k":
				v = uint32(r.IntN(24) - 3)
			case "n":
				v = uint32(r.IntN(4))
			case "d":
				v = uint32(r.IntN(4))
			case "at":
				v = uint32(16 * (r.IntN(10) - 1))
			case "v0", "v1", "v2", "v3":
				if v = r.Uint32(); r.IntN(3) == 0 {
					v = math.Float32bits(r.Float32()*3 - 1)
				}
			default:
				v = math.Float32bits((r.Float32() - 0.5) * 2)
			}
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return b
}

// texSide runs a program that reads a texture, and returns what it leaves: its output and the texels.
func texSide(t *testing.T, name, text string, rows, texels []byte, tex texture.Texture) ([]byte, error) {
	t.Helper()
	load := Load
	if sm := map[string]int{"sm_75.ptx": 75, "sm_86.ptx": 86}[name]; sm > 0 {
		c := &Choice{Code: CompiledCode, SM: sm, Refused: func(err error) { t.Fatal(err) }}
		load = c.Load
	}
	p, err := load(Source{Name: name, Text: []byte(text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	mem := device.New(device.Config{})
	m, err := NewMachine(p, mem)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte, what string) uint64 {
		a, err := mem.Alloc(uint64(len(b)), what)
		if err == nil {
			err = mem.Write(a, b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	out := make([]byte, 16*texThreads)
	at := []uint64{put(out, "out"), put(rows, "rows"), put(texels, "texels")}
	tex.Addr = at[2]
	h, err := m.TextureObject(tex)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for _, v := range []uint64{at[0], at[1], h} {
		params = binary.LittleEndian.AppendUint64(params, v)
	}
	k, ok := p.Kernel("k")
	if !ok {
		t.Fatal("no kernel")
	}
	l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: texThreads, Y: 1, Z: 1}, Params: params}
	if _, err := m.Run(t.Context(), l, exec.Options{MaxInsts: 1 << 16}); err != nil {
		return nil, err
	}
	left := slices.Concat(out, texels)
	if err := mem.Read(at[0], left[:len(out)]); err != nil {
		t.Fatal(err)
	}
	if err := mem.Read(at[2], left[len(out):]); err != nil {
		t.Fatal(err)
	}
	return left, nil
}

// texPTX is a kernel around lines of PTX; $name is an input, %y0 to %y3 the output.
func texPTX(body string) string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_86\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 obj)\n{\n")
	b.WriteString(".reg .b32 %t<4>, %y<4>, %in<32>;\n.reg .b64 %a<4>, %obj;\n.reg .pred %p;\n.reg .b16 %h<4>;\n.reg .b64 %w<4>;\n")
	b.WriteString("ld.param.u64 %a0, [out];\nld.param.u64 %a1, [in];\nld.param.u64 %obj, [obj];\nmov.u32 %t0, %tid.x;\n")
	fmt.Fprintf(&b, "mad.wide.u32 %%a1, %%t0, %d, %%a1;\nmad.wide.u32 %%a0, %%t0, 16, %%a0;\n", 4*len(texInputs))
	for n := range texInputs {
		fmt.Fprintf(&b, "ld.global.b32 %%in%d, [%%a1+%d];\n", n, 4*n)
	}
	// By its type a depth differs from an offset in one dimension.
	fmt.Fprintf(&b, ".reg .f32 %%ref;\nmov.b32 %%ref, %%in%d;\n", slices.Index(texInputs, "ref"))
	b.WriteString("mov.b32 %y0, 0; mov.b32 %y1, 0; mov.b32 %y2, 0; mov.b32 %y3, 0;\n")
	b.WriteString(texNames(strings.ReplaceAll(body, "$ref", "%ref"), func(n int) string { return fmt.Sprintf("%%in%d", n) }))
	b.WriteString("\nst.global.v4.b32 [%a0], {%y0,%y1,%y2,%y3};\nret;\n}\n")
	return b.String()
}

// texNames replaces $name by what an input is called.
func texNames(s string, called func(n int) string) string {
	order := slices.Clone(texInputs)
	slices.SortFunc(order, func(a, b string) int { return len(b) - len(a) })
	for _, name := range order {
		s = strings.ReplaceAll(s, "$"+name, called(slices.Index(texInputs, name)))
	}
	return s
}

// texSASS is a kernel around lines of machine code, whose results are in R68, R69, R70 and R71.
func texSASS(body string) string {
	var b strings.Builder
	b.WriteString(".arch sm_86\n.kernel k\n.regs 96\n.param out, 8\n.param in, 8\n.param obj, 8\n")
	fmt.Fprintf(&b, "S2R R0, SR_TID.X ;\nMOV R2, c[0x0][0x168] ;\nMOV R3, c[0x0][0x16c] ;\nIMAD.WIDE.U32 R2, R0, %#x, R2 ;\n", 4*len(texInputs))
	b.WriteString("MOV R4, c[0x0][0x160] ;\nMOV R5, c[0x0][0x164] ;\nIMAD.WIDE.U32 R4, R0, 0x10, R4 ;\nULDC UR4, c[0x0][0x170] ;\nULDC UR6, c[0x0][0x170] ;\n")
	for n := range texInputs {
		fmt.Fprintf(&b, "LDG.E R%d, [R2.64+%#x] ;\n", texFirst+n, 4*n)
	}
	for n := range 4 {
		fmt.Fprintf(&b, "MOV R%d, RZ ;\n", texD+n)
	}
	b.WriteString(body)
	b.WriteString("STG.E.128 [R4.64], R68 ;\nEXIT ;\n")
	return b.String()
}

// place moves operands, by name, into registers from n on; #number is a literal, obj the object.
func texPlace(names []string, n int) string {
	var b strings.Builder
	for k, name := range names {
		switch {
		case name == "obj":
			fmt.Fprintf(&b, "MOV R%d, c[0x0][0x170] ;\n", n+k)
		case name[0] == '#':
			fmt.Fprintf(&b, "MOV R%d, %s ;\n", n+k, name[1:])
		default:
			fmt.Fprintf(&b, "MOV R%d, R%d ;\n", n+k, texFirst+slices.Index(texInputs, name))
		}
	}
	return b.String()
}

// texAccess is one access in PTX and in machine code.
type texAccess struct {
	name, ptx     string
	op, comp      string // the opcode, and what follows .SCR
	mods          string
	first, second []string // without the handle
	dim           string
	plain         bool // without .SCR only
	shape         string
}

// forms writes the access as machine code with the handle in each place, with and without .SCR.
func (a *texAccess) forms() map[string]string {
	list := map[string]string{}
	for _, handle := range []string{"bank", "uniform", "register"} {
		first, second := slices.Clone(a.first), slices.Clone(a.second)
		op, where := a.op, " 0x0, 0x5c,"
		switch handle {
		case "uniform":
			where = " UR4, 0x0,"
		case "register":
			if where = ""; a.op == "TXD" {
				first = append([]string{"obj"}, first...)
			} else {
				second = append([]string{"obj"}, second...)
			}
		}
		write := func(op string, first, second []string) string {
			if op += a.comp; handle == "register" {
				op += ".B"
			}
			rb := fmt.Sprintf("R%d", texB)
			if len(second) == 0 {
				if rb = "RZ"; a.op == "TLD" {
					rb = ""
				}
			}
			if rb != "" {
				rb = ", " + rb
			}
			return texPlace(first, texA) + texPlace(second, texB) + fmt.Sprintf("%s R%d, R%d, R%d%s,%s %s ;\n", op+a.mods, texD2, texD, texA, rb, where, a.dim)
		}
		list[handle] = write(op, first, second)
		all := append(first, second...)
		if a.plain || len(all) > 4 || a.op == "TLD" && len(all) == 3 && first[0] == "layer" {
			continue
		}
		list[handle+", .SCR"] = write(op+".SCR", all[:(len(all)+1)/2], all[(len(all)+1)/2:])
	}
	return list
}

// texShapes are the textures of a shape.
func texShapes(shape string) (list []texture.Texture) {
	modes := [][3]string{{"clamp", "clamp", "clamp"}, {"wrap", "mirror", "border"}, {"border", "wrap", "mirror"}}
	for n, f := range []texture.Texture{
		{Format: "f32", Channels: 4}, {Format: "f32", Channels: 1, Linear: true}, {Format: "u8", Channels: 4, ReadNormalized: true, Linear: true},
		{Format: "s16", Channels: 2, ReadNormalized: true}, {Format: "f16", Channels: 4, Linear: true}, {Format: "u8", Channels: 4, ReadNormalized: true, SRGB: true, Linear: true},
		{Format: "u32", Channels: 4}, {Format: "s8", Channels: 2},
	} {
		f.Normalized = n%2 == 0
		f.Address = modes[n%len(modes)]
		f.Border = [4]float32{0.25, 1, 2, 0.5}
		f.LevelBias = []float32{0, 0.75, -0.5, 1.25}[n%4]
		switch shape {
		case "1D":
			f.Width = 17
		case "2D":
			f.Width, f.Height, f.Levels, f.MipLinear = 11, 9, 3, f.Linear
		case "3D":
			f.Width, f.Height, f.Depth = 5, 7, 6
		case "ARRAY_1D":
			f.Width, f.Layers = 13, 4
		case "ARRAY_2D":
			f.Width, f.Height, f.Layers, f.Levels, f.MipLinear = 10, 6, 3, 2, f.Linear
		case "CUBE":
			f.Width, f.Height, f.Cube = 8, 8, true
		case "ARRAY_CUBE":
			f.Width, f.Height, f.Cube, f.Layers = 6, 6, true, 2
		case "MS", "ARRAY_MS":
			if f.Linear {
				continue
			}
			if f.Width, f.Height, f.Samples = 12, 7, 4; shape == "ARRAY_MS" {
				f.Layers = 3
			}
		}
		list = append(list, f)
	}
	return list
}

// texAccesses lists the accesses.
func texAccesses() (list []texAccess) {
	type geometry struct{ dim, ptx, coords, ints, first, fetch string }
	geometries := []geometry{
		{"1D", "1d", "$x", "$i", "x", "i"}, {"2D", "2d", "$x,$y", "$i,$j", "x y", "i j"}, {"3D", "3d", "$x,$y,$z,$z", "$i,$j,$k,$k", "x y z", "i j k"},
		{"ARRAY_1D", "a1d", "$layer,$x", "$layer,$i", "layer x", "layer i"}, {"ARRAY_2D", "a2d", "$layer,$x,$y,$y", "$layer,$i,$j,$j", "layer x y", "layer i j"},
		{"CUBE", "cube", "$x,$y,$z,$z", "", "x y z", ""}, {"ARRAY_CUBE", "acube", "$layer,$x,$y,$z", "", "layer x y z", ""},
	}
	const to = "{%y0,%y1,%y2,%y3}"
	for _, g := range geometries {
		n := len(strings.Fields(strings.TrimPrefix(g.first, "layer ")))
		offsets, packed, packed8 := []string{"{1}", "{1,-2}", "{1,-2,3,0}"}[n-1], []string{"#0x1", "#0xe1", "#0x3e1"}[n-1], []string{"", "#0xfe01", ""}[n-1]
		if n == 1 {
			offsets = "1"
		}
		add := func(name, kind, address, rest string, a texAccess) {
			a.name, a.dim, a.shape = g.dim+" "+name, g.dim, g.dim
			a.ptx = fmt.Sprintf("%s %s, [%%obj, {%s}]%s;", kind, to, address, rest)
			list = append(list, a)
		}
		tex := func(name, level, mods, rest string, second ...string) {
			add(name, "tex"+level+"."+g.ptx+".v4.f32.f32", g.coords, rest, texAccess{op: "TEX", mods: mods, first: strings.Fields(g.first), second: second})
		}
		tex("no level", "", ".LL", "", "#0xc2000000")
		tex("level 0", ".level", ".LZ", ", 0f00000000")
		tex("level", ".level", ".LL", ", $lod", "lod")
		tex("depth", ".level", ".LZ.DC", ", 0f00000000, $ref", "ref")
		tex("level and depth", ".level", ".LL.DC", ", $lod, $ref", "lod", "ref")
		cube := strings.Contains(g.dim, "CUBE")
		if !cube {
			tex("offset", ".level", ".LZ.AOFFI", ", 0f00000000, "+offsets, packed)
			tex("level, offset and depth", ".level", ".LL.AOFFI.DC", ", $lod, "+offsets+", $ref", "lod", packed, "ref")
			fetch := func(name, level, mods, rest string, second ...string) {
				add(name, "tex"+level+"."+g.ptx+".v4.s32.s32", g.ints, rest, texAccess{op: "TLD", mods: mods, first: strings.Fields(g.fetch), second: second})
			}
			fetch("fetch", "", ".LZ", "")
			fetch("fetch with level", ".level", ".LL", ", $d", "d")
			fetch("fetch with offset", "", ".LZ.AOFFI", ", "+offsets, packed)
			if n < 3 {
				grad := func(name, mods, rest string, last ...string) {
					ddx, ddy, second := []string{"{$ax}", "{$ax,$ay}"}[n-1], []string{"{$bx}", "{$bx,$by}"}[n-1], strings.Fields("ax bx ay by")[:2*n]
					first := append(strings.Fields(strings.TrimPrefix(g.first, "layer ")), last...)
					add(name, "tex.grad."+g.ptx+".v4.f32.f32", g.coords, ", "+ddx+", "+ddy+rest, texAccess{op: "TXD", mods: mods, first: first, second: second, plain: true})
				}
				if g.first[0] == 'l' {
					grad("derivatives", "", "", "layer")
				} else {
					grad("derivatives", "", "")
					grad("derivatives and offset", ".AOFFI", ", "+offsets, packed+"0000")
				}
			}
		}
		if n == 2 || cube {
			for _, c := range "rgba" {
				comp := "." + strings.ToUpper(string(c))
				four := func(name, mods, rest string, second ...string) {
					add(name+" of "+string(c), "tld4."+string(c)+"."+g.ptx+".v4.f32.f32", g.coords, rest, texAccess{op: "TLD4", comp: comp, mods: mods, first: strings.Fields(g.first), second: second})
				}
				four("gather", "", "")
				four("gather with depth", ".DC", ", $ref", "ref")
				if !cube {
					four("gather with offset", ".AOFFI", ", "+offsets, packed8)
					four("gather with offset and depth", ".AOFFI.DC", ", "+offsets+", $ref", packed8, "ref")
				}
			}
		}
	}
	list = append(list,
		// As NVIDIA's compiler writes tex1D and tex1DLod.
		texAccess{name: "2D of one dimension", ptx: "tex.1d.v4.f32.f32 " + to + ", [%obj, {$x}];", op: "TEX", mods: ".LL", first: []string{"x", "#0x0"}, second: []string{"#0xc2000000"}, dim: "2D", shape: "1D"},
		texAccess{name: "2D of one dimension with level", ptx: "tex.level.1d.v4.f32.f32 " + to + ", [%obj, {$x}], $lod;", op: "TEX", mods: ".LL", first: []string{"x", "#0x0"}, second: []string{"lod"}, dim: "2D", shape: "1D"},
		texAccess{name: "sample", ptx: "tex.2dms.v4.s32.s32 " + to + ", [%obj, {$n,$i,$j,$j}];", op: "TLD", mods: ".LZ.MS", first: []string{"i", "j"}, second: []string{"n"}, dim: "2D", shape: "MS"},
		texAccess{name: "sample of a layer", ptx: "tex.a2dms.v4.s32.s32 " + to + ", [%obj, {$layer,$n,$i,$j}];", op: "TLD", mods: ".LZ.MS", first: []string{"layer", "i", "j"}, second: []string{"n"}, dim: "ARRAY_2D", shape: "ARRAY_MS"})
	return list
}

// texBytes is enough for the texels of a texture.
func texBytes(t *texture.Texture) int {
	n := 16 * t.Width * max(1, t.Height) * max(1, t.Depth) * max(1, t.Layers) * max(1, t.Samples)
	if t.Cube {
		n *= 6
	}
	return 2 * n
}

// texTexels draws texels: for floats, numbers that do not overflow when they are blended.
func texTexels(t *texture.Texture, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 3))
	b := make([]byte, texBytes(t))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for i := 0; t.Format == "f32" && i < len(b); i += 4 {
		binary.LittleEndian.PutUint32(b[i:], math.Float32bits(r.Float32()*4-1))
	}
	for i := 0; t.Format == "f16" && i < len(b); i += 2 {
		b[i+1] &= 0xbf // below 2
	}
	return b
}

func TestTexturesAgree(t *testing.T) {
	alltests.Only(t, "textures by PTX and by machine code")
	cases := 0
	for _, a := range texAccesses() {
		t.Run(a.name, func(t *testing.T) {
			for n, tex := range texShapes(a.shape) {
				rows, texels := texRows(uint64(n)), texTexels(&tex, uint64(n))
				want, err := texSide(t, "k.ptx", texPTX(a.ptx), rows, texels, tex)
				for form, code := range a.forms() {
					got, err2 := texSide(t, "k.sass", texSASS(code), rows, texels, tex)
					switch {
					case (err == nil) != (err2 == nil):
						t.Fatalf("%s, texture %d: PTX ends with %v, machine code with %v", form, n, err, err2)
					case !bytes.Equal(got, want):
						t.Fatalf("%s, texture %d: differs\n%s\n%s", form, n, a.ptx, code)
					}
					if err == nil {
						cases++
					}
				}
				if gathers := strings.TrimPrefix(a.comp, "."); gathers != "" && strings.Index("RGBA", gathers) >= tex.Channels {
					continue // zero, or one
				}
				if err == nil && bytes.Equal(want[:16*texThreads], make([]byte, 16*texThreads)) {
					t.Errorf("texture %d: all results are zero", n)
				}
			}
		})
	}
	t.Logf("%d runs were equal", cases)
	if cases < 1000 {
		t.Errorf("only %d runs could be compared", cases)
	}
}

// TestCompiledTextures: compiled code reads textures as PTX does, in all forms of texAccesses, with offsets that
// are numbers and such that are in registers.
func TestCompiledTextures(t *testing.T) {
	list := texAccesses()
	for _, a := range texAccesses() {
		if strings.Contains(a.mods, "AOFFI") {
			a.name += " in registers"
			a.ptx = "mov.s32 %t1, 1; mov.s32 %t2, -2; mov.s32 %t3, 3; " + strings.NewReplacer("{1}", "{%t1}", ", 1,", ", {%t1},", ", 1;", ", {%t1};", "{1,-2}", "{%t1,%t2}", "{1,-2,3,0}", "{%t1,%t2,%t3,%t3}").Replace(a.ptx)
			list = append(list, a)
		}
	}
	compiled := 0
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			for n, tex := range texShapes(a.shape) {
				rows, texels := texRows(uint64(n)), texTexels(&tex, uint64(n))
				want, err := texSide(t, "k.ptx", texPTX(a.ptx), rows, texels, tex)
				got, err2 := texSide(t, []string{"sm_75.ptx", "sm_86.ptx"}[n%2], texPTX(a.ptx), rows, texels, tex)
				if (err == nil) != (err2 == nil) || !bytes.Equal(got, want) {
					t.Fatalf("texture %d: differs: %v, %v\n%s", n, err, err2, a.ptx)
				}
				if err == nil {
					compiled++
				}
			}
		})
	}
	t.Logf("%d accesses are equal", compiled)
	if compiled < 500 {
		t.Errorf("only %d accesses compile", compiled)
	}
}

// TestCompiledSurfaces: compiled code loads and stores surfaces as PTX does, for sm_75 and sm_86 in turn.
func TestCompiledSurfaces(t *testing.T) {
	compiled := 0
	agree := func(t *testing.T, ptx string, tex texture.Texture, seed uint64) {
		t.Helper()
		for _, rows := range [][]byte{texRows(seed), texInside(seed)} {
			texels := texTexels(&tex, 5)
			want, err := texSide(t, "k.ptx", texPTX(ptx), rows, texels, tex)
			got, err2 := texSide(t, []string{"sm_75.ptx", "sm_86.ptx"}[compiled/2%2], texPTX(ptx), rows, texels, tex)
			if (err == nil) != (err2 == nil) || !bytes.Equal(got, want) {
				t.Fatalf("differs: %v, %v\n%s", err, err2, ptx)
			}
			if err == nil {
				compiled++
			}
		}
	}
	const words = "mov.b32 %y0, $v0; mov.b32 %y1, $v1; mov.b32 %y2, $v2; mov.b32 %y3, $v3; "
	for _, g := range []struct {
		ptx, at, texel string
		tex            texture.Texture
	}{
		{"1d", "$at", "$i", texture.Texture{Width: 9}},
		{"1d", "16", "3", texture.Texture{Width: 9}},
		{"2d", "$at,$j", "$i,$j", texture.Texture{Width: 9, Height: 11}},
		{"3d", "$at,$j,$k,$k", "$i,$j,$k,$k", texture.Texture{Width: 9, Height: 11, Depth: 6}},
		{"a1d", "$layer,$at", "", texture.Texture{Width: 9, Layers: 4}},
		{"a2d", "$layer,$at,$j,$j", "", texture.Texture{Width: 9, Height: 11, Layers: 4}},
	} {
		for _, mode := range []string{"clamp", "zero", "trap"} {
			for _, e := range []struct{ form, before, values, after string }{
				{"b8", "cvt.u16.u32 %h0, $v0;", "%h0", "cvt.u32.u16 %y0, %h0;"}, {"b16", "cvt.u16.u32 %h0, $v0;", "%h0", "cvt.u32.u16 %y0, %h0;"},
				{"v2.b8", "mov.b32 {%h0,%h1}, $v0;", "{%h0,%h1}", "mov.b32 %y0, {%h0,%h1};"}, {"v2.b16", "mov.b32 {%h0,%h1}, $v0;", "{%h0,%h1}", "mov.b32 %y0, {%h0,%h1};"},
				{"v4.b8", "mov.b32 {%h0,%h1}, $v0; mov.b32 {%h2,%h3}, $v1;", "{%h0,%h1,%h2,%h3}", "mov.b32 %y0, {%h0,%h1}; mov.b32 %y1, {%h2,%h3};"},
				{"v4.b16", "mov.b32 {%h0,%h1}, $v0; mov.b32 {%h2,%h3}, $v1;", "{%h0,%h1,%h2,%h3}", "mov.b32 %y0, {%h0,%h1}; mov.b32 %y1, {%h2,%h3};"},
				{"b32", words, "%y0", ""}, {"v2.b32", words, "{%y0,%y1}", ""}, {"v4.b32", words, "{%y0,%y1,%y2,%y3}", ""},
				{"b64", "mov.b64 %w0, {$v0,$v1};", "%w0", "mov.b64 {%y0,%y1}, %w0;"},
				{"v2.b64", "mov.b64 %w0, {$v0,$v1}; mov.b64 %w1, {$v2,$v3};", "{%w0,%w1}", "mov.b64 {%y0,%y1}, %w0; mov.b64 {%y2,%y3}, %w1;"},
			} {
				t.Run(fmt.Sprintf("%s {%s} %s %s", g.ptx, g.at, e.form, mode), func(t *testing.T) {
					g.tex.Format, g.tex.Channels = "u32", 4
					agree(t, fmt.Sprintf("suld.b.%s.%s.%s %s, [%%obj, {%s}]; %s", g.ptx, e.form, mode, e.values, g.at, e.after), g.tex, 3)
					agree(t, fmt.Sprintf("%s sust.b.%s.%s.%s [%%obj, {%s}], %s; suld.b.%s.%s.%s %s, [%%obj, {%s}]; %s", e.before, g.ptx, e.form, mode, g.at, e.values, g.ptx, e.form, mode, e.values, g.at, e.after), g.tex, 4)
				})
			}
			for _, format := range []string{"u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32"} {
				for n, values := range map[int]string{1: "$v0", 2: "{$v0,$v1}", 4: "{$v0,$v1,$v2,$v3}"} {
					if g.texel == "" { // PTX has formatted stores without layers only
						continue
					}
					t.Run(fmt.Sprintf("%s {%s} %s %d %s", g.ptx, g.texel, format, n, mode), func(t *testing.T) {
						g.tex.Format, g.tex.Channels = format, n
						agree(t, fmt.Sprintf("sust.p.%s.%sb32.%s [%%obj, {%s}], %s;", g.ptx, map[int]string{2: "v2.", 4: "v4."}[n], mode, g.texel, values), g.tex, 5)
					})
				}
			}
		}
	}
	t.Logf("%d accesses are equal", compiled)
	if compiled < 500 {
		t.Errorf("only %d accesses compile", compiled)
	}
}

// TestTextureMasks: a mask chooses channels; the first two reach Rd and the register after it, the
// others Rd2.
func TestTextureMasks(t *testing.T) {
	tex := texture.Texture{Format: "f32", Channels: 4, Width: 11, Height: 9}
	rows, texels := texRows(1), texTexels(&tex, 1)
	for mask := 1; mask < 16; mask++ {
		t.Run(fmt.Sprintf("%#x", mask), func(t *testing.T) {
			names, n := [4]string{"_", "_", "_", "_"}, 0
			for c := range names {
				if mask>>c&1 != 0 {
					names[c] = fmt.Sprintf("%%y%d", n)
					n++
				}
			}
			first, last := "R70", ", "+fmt.Sprintf("%#x", mask)
			if n <= 2 {
				first = "RZ"
			}
			if n == 4 {
				last = ""
			}
			want, err := texSide(t, "k.ptx", texPTX("tex.2d.v4.f32.f32 {"+strings.Join(names[:], ",")+"}, [%obj, {$x,$y}];"), rows, texels, tex)
			if err != nil {
				t.Fatal(err)
			}
			got, err := texSide(t, "k.sass", texSASS(texPlace([]string{"x", "y"}, texA)+"TEX.LZ "+first+", R68, R48, RZ, 0x0, 0x5c, 2D"+last+" ;\n"), rows, texels, tex)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("differs (%v)", err)
			}
		})
	}
}

// TestTextureQueries: sizes, layers and levels.
func TestTextureQueries(t *testing.T) {
	for _, c := range []struct {
		name, attribute string
		tex             texture.Texture
		mask            int
		header          string
		fault           string
	}{
		{name: "width", attribute: "width", tex: texture.Texture{Width: 24, Height: 10, Levels: 4}, mask: 1},
		{name: "height", attribute: "height", tex: texture.Texture{Width: 24, Height: 10, Levels: 4}, mask: 2},
		{name: "height of a row", attribute: "height", tex: texture.Texture{Width: 24, Levels: 4}, mask: 2},
		{name: "depth", attribute: "depth", tex: texture.Texture{Width: 24, Height: 10, Depth: 9, Levels: 4}, mask: 4},
		{name: "layers", attribute: "array_size", tex: texture.Texture{Width: 24, Height: 10, Layers: 5, Levels: 4}, mask: 4},
		{name: "levels", attribute: "num_mipmap_levels", tex: texture.Texture{Width: 24, Height: 10, Levels: 4}, mask: 8},
		{name: "samples", attribute: "num_samples", tex: texture.Texture{Width: 24, Height: 10, Samples: 4}, mask: 4, header: "TEX_HEADER_TEXTURE_TYPE"},
		{name: "layers of cubes", tex: texture.Texture{Width: 8, Height: 8, Cube: true, Layers: 2, Levels: 4}, mask: 4, fault: "what TXQ gives for its layers is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.tex.Format, c.tex.Channels = "f32", 1
			rows, texels := texRows(1), texTexels(&c.tex, 1)
			ptx := fmt.Sprintf("txq.level.%s.b32 %%y0, [%%obj], $d;", c.attribute)
			header, level := "TEX_HEADER_DIMENSION", []string{"d"}
			if c.attribute == "array_size" || c.attribute == "num_mipmap_levels" { // of all levels
				ptx = fmt.Sprintf("txq.%s.b32 %%y0, [%%obj];", c.attribute)
			}
			if c.header != "" {
				ptx, header, level = fmt.Sprintf("txq.%s.b32 %%y0, [%%obj];", c.attribute), c.header, []string{"#0x0"}
			}
			var want []byte
			if c.fault == "" {
				var err error
				if want, err = texSide(t, "k.ptx", texPTX(ptx), rows, texels, c.tex); err != nil {
					t.Fatal(err)
				}
			}
			for form, code := range map[string]string{
				"bank":     texPlace(level, texA) + fmt.Sprintf("TXQ RZ, R68, R48, %s, 0x0, 0x5c, %#x ;\n", header, c.mask),
				"uniform":  texPlace(level, texA) + fmt.Sprintf("TXQ RZ, R68, R48, %s, UR6, 0x0, %#x ;\n", header, c.mask),
				"register": texPlace(append([]string{"obj"}, level...), texA) + fmt.Sprintf("TXQ.B RZ, R68, R48, %s, %#x ;\n", header, c.mask),
			} {
				got, err := texSide(t, "k.sass", texSASS(code), rows, texels, c.tex)
				if c.fault != "" {
					if err == nil || !strings.Contains(err.Error(), c.fault) {
						t.Errorf("%s: %v", form, err)
					}
					continue
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: differs (%v)", form, err)
				}
			}
		})
	}
}

// TestSurfacesAgree: loads and stores of surfaces, of all shapes, sizes and modes.
func TestSurfacesAgree(t *testing.T) {
	alltests.Only(t, "surfaces by PTX and by machine code")
	type geometry struct {
		dim, ptx, at, texel string
		first               []string // after x
		tex                 texture.Texture
	}
	geometries := []geometry{
		{"1D", "1d", "$at", "$i", nil, texture.Texture{Width: 9}},
		{"2D", "2d", "$at,$j", "$i,$j", []string{"j"}, texture.Texture{Width: 9, Height: 11}},
		{"3D", "3d", "$at,$j,$k,$k", "$i,$j,$k,$k", []string{"j", "k"}, texture.Texture{Width: 9, Height: 11, Depth: 6}},
		{"1D_ARRAY", "a1d", "$layer,$at", "$layer,$i", []string{"layer"}, texture.Texture{Width: 9, Layers: 4}},
		{"2D_ARRAY", "a2d", "$layer,$at,$j,$j", "$layer,$i,$j,$j", []string{"j", "layer"}, texture.Texture{Width: 9, Height: 11, Layers: 4}},
	}
	modes := map[string]string{"": "clamp", ".IGN": "zero", ".TRAP": "trap"}
	cases := 0
	// side runs the access in PTX, and in machine code with the handle in each place.
	side := func(t *testing.T, ptx, code string, tex texture.Texture, rows []byte) {
		t.Helper()
		texels := texTexels(&tex, 5)
		want, err := texSide(t, "k.ptx", texPTX(ptx), rows, texels, tex)
		for form, handle := range map[string]string{"bank": "0x0, 0x5c", "uniform": "UR4, 0x0", "register": "R64"} {
			text := "MOV R64, c[0x0][0x170] ;\n" + strings.ReplaceAll(code, "HANDLE", handle)
			got, err2 := texSide(t, "k.sass", texSASS(text), rows, texels, tex)
			if (err == nil) != (err2 == nil) {
				t.Fatalf("%s: PTX ends with %v, machine code with %v", form, err, err2)
			}
			if err != nil {
				if a, b := err.Error(), err2.Error(); strings.Contains(a, "out of bounds") != strings.Contains(b, "out of bounds") {
					t.Fatalf("%s: %s\n%s", form, a, b)
				}
				continue
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: differs\n%s\n%s", form, ptx, text)
			}
			cases++
		}
	}
	for _, g := range geometries {
		for mode, name := range modes {
			for _, size := range []struct{ sass, ptx, values string }{
				{".U8", "b8", "%h0"}, {".U16", "b16", "%h0"}, {"", "b32", "%y0"}, {".64", "v2.b32", "{%y0,%y1}"}, {".128", "v4.b32", "{%y0,%y1,%y2,%y3}"},
			} {
				t.Run(fmt.Sprintf("%s%s%s bytes", g.dim, size.sass, mode), func(t *testing.T) {
					g.tex.Format, g.tex.Channels = "u32", 4
					place := texPlace(append([]string{"at"}, g.first...), texA)
					after, before := "", "mov.b32 %y0, $v0; mov.b32 %y1, $v1; mov.b32 %y2, $v2; mov.b32 %y3, $v3;"
					if size.values == "%h0" {
						after, before = "cvt.u32.u16 %y0, %h0;", "cvt.u16.u32 %h0, $v0;"
					}
					zero := "mov.b32 %y0, 0; mov.b32 %y1, 0; mov.b32 %y2, 0; mov.b32 %y3, 0;"
					for _, rows := range [][]byte{texRows(3), texInside(3)} {
						side(t, fmt.Sprintf("suld.b.%s.%s.%s %s, [%%obj, {%s}]; %s", g.ptx, size.ptx, name, size.values, g.at, after),
							place+fmt.Sprintf("SULD.D.BA.%s%s.STRONG.SM%s R68, [R48], HANDLE ;\n", g.dim, size.sass, mode), g.tex, rows)
						side(t, fmt.Sprintf("%s sust.b.%s.%s.%s [%%obj, {%s}], %s; %s", before, g.ptx, size.ptx, name, g.at, size.values, zero),
							place+texPlace([]string{"v0", "v1", "v2", "v3"}, texB)+fmt.Sprintf("SUST.D.BA.%s%s.STRONG.SM%s [R48], R56, HANDLE ;\n", g.dim, size.sass, mode), g.tex, rows)
					}
				})
			}
			if g.tex.Layers > 0 { // PTX has formatted stores without layers only
				continue
			}
			for _, format := range []string{"u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32"} {
				for n, channels := range map[int]string{1: ".R", 2: ".RG", 4: ""} {
					t.Run(fmt.Sprintf("%s %s%s%s texels", g.dim, format, channels, mode), func(t *testing.T) {
						g.tex.Format, g.tex.Channels = format, n
						place := texPlace(append([]string{"i"}, g.first...), texA)
						values := map[int]string{1: "$v0", 2: "{$v0,$v1}", 4: "{$v0,$v1,$v2,$v3}"}[n]
						vector := map[int]string{1: "", 2: "v2.", 4: "v4."}[n]
						for _, rows := range [][]byte{texRows(3), texInside(3)} {
							side(t, fmt.Sprintf("sust.p.%s.%sb32.%s [%%obj, {%s}], %s;", g.ptx, vector, name, g.texel, values),
								place+texPlace([]string{"v0", "v1", "v2", "v3"}, texB)+fmt.Sprintf("SUST.P.%s.STRONG.SM%s%s [R48], R56, HANDLE ;\n", g.dim, channels, mode), g.tex, rows)
						}
					})
				}
			}
		}
	}
	t.Logf("%d runs were equal", cases)
	if cases < 1500 {
		t.Errorf("only %d runs could be compared", cases)
	}
}

// texInside are inputs whose coordinates are inside of every surface.
func texInside(seed uint64) []byte {
	b := texRows(seed)
	for n := 0; n < len(b)/4; n++ {
		v := b[4*n:]
		switch x := binary.LittleEndian.Uint32(v); texInputs[n%len(texInputs)] {
		case "i", "j", "k", "layer":
			binary.LittleEndian.PutUint32(v, x%4)
		case "at":
			binary.LittleEndian.PutUint32(v, x&0x70)
		}
	}
	return b
}

// TestFormattedLoads: SULD.P, which PTX does not have, reads the texel that TLD reads.
func TestFormattedLoads(t *testing.T) {
	for _, format := range []string{"u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32"} {
		for n, channels := range map[int]string{1: ".R", 2: ".RG", 4: ""} {
			t.Run(format+channels, func(t *testing.T) {
				tex := texture.Texture{Format: format, Channels: n, Width: 9, Height: 11, Layers: 4}
				rows, texels := texInside(4), texTexels(&tex, 4)
				fetch := map[int]string{1: "TLD.LZ RZ, R68, R48, 0x0, 0x5c, ARRAY_2D, 0x1 ;\n", 2: "TLD.LZ RZ, R68, R48, 0x0, 0x5c, ARRAY_2D, 0x3 ;\n", 4: "TLD.LZ R70, R68, R48, 0x0, 0x5c, ARRAY_2D ;\n"}[n]
				want, err := texSide(t, "k.sass", texSASS(texPlace([]string{"layer", "i", "j"}, texA)+fetch), rows, texels, tex)
				got, err2 := texSide(t, "k.sass", texSASS(texPlace([]string{"i", "j", "layer"}, texA)+"SULD.P.2D_ARRAY.STRONG.SM"+channels+".TRAP R68, [R48], 0x0, 0x5c ;\n"), rows, texels, tex)
				if err != nil || err2 != nil || !bytes.Equal(got, want) {
					t.Errorf("differs (%v, %v)", err, err2)
				}
			})
		}
	}
}
