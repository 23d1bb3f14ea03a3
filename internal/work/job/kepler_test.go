package job

import (
	"context"
	"encoding/binary"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// keplerFiles are the files that the jobs below name.
var keplerFiles = map[string]string{
	"add.kasm":  "ADD R3, R1, R2\nSTR [R63 + 256], R3\nstart: ADD R4, R4, R63, 1\nEXIT\n",
	"copy.kasm": "LDS R5, [R1]\nSTR [R1 + 512], R5\nISETP.EQ P2, R5, R63 rd=58\nEXIT\n",
	"bad.kasm":  "ADDD R1, R2\n",
	"word.bin":  "\x01\x00\x00\x00\x02\x00\x00\x00",
}

// keplerFolder returns a folder with them and a job file.
func keplerFolder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, s := range keplerFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "job.toml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// Two programs on three warps, with values of every form, in global and shared
// memory, checks of every kind.
func TestKeplerJob(t *testing.T) {
	file := keplerFolder(t, `
programs = ["add.kasm", "copy.kasm"]
gpu = "kepler-edu"
frames = 3

[kepler]
conform = "datasheet"

[[warps]]
warp = 2
program = "add.kasm"
registers = { R1 = -5, R2 = { start = 1, frame = 10 } }

[[warps]]
warps = [4, 5]
program = "copy.kasm"
lanes = 0x0000ffff
registers = { R1 = { start = -256, warp = 64, lane = 4 } }

[[warps]]
warp = 9
program = "add.kasm"
pc = "start"
lanes = 1
registers = { R4 = { frames = [7, 8, 9] }, R3 = [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31], R6 = 1.5 }

[buffers.tile]
type = "u32"
at = 0
space = "shared"
count = 32
init = "iota"

[buffers.out]
type = "u32"
at = 512
count = 32

[buffers.sum]
type = "s32"
at = 256
count = 1

[buffers.two]
type = "u32"
at = 0x400
init = "file"
file = "word.bin"

[[checks]]
buffer = "sum"
values = [16]                     # of the last frame

[[checks]]
buffer = "sum"
frame = 0
values = [-4]

[[checks]]
buffer = "sum"
frame = "all"
values = [-4, 6, 16]

[[checks]]
buffer = "out"
offset = 1
values = [1, 2, 3]

[[checks]]
buffer = "two"
file = "word.bin"

[[checks]]
register = "R4"
warp = 9
frame = 1
values = [9, 8]                   # lane 0 is active, lane 1 is not

[[checks]]
register = "R3"
warp = 9
offset = 30
values = [30, 31]

[[checks]]
register = "R6"
warp = 9
type = "f32"
values = [1.5]

[[checks]]
predicate = "P2"
warp = 4
lanes = 1

[[checks]]
buffer = "sum"
conform = "rtl"
values = [99]                     # not of this level

[[checks]]
cycles = 1
`)
	if !IsKepler(file) {
		t.Error("the job is not taken for one of this core")
	}
	r, err := LoadKepler(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := r.Config("")
	if err != nil || cfg.Level != kepler.Datasheet {
		t.Fatal(cfg.Level, err)
	}
	var exits []int
	res, err := r.Run(context.Background(), KeplerOptions{Config: cfg, Frame: func(run *krun.Run, frame int) {
		exits = append(exits, frame)
		for _, w := range []int{2, 4, 5, 9} {
			if run.Core.ExitCycle(w) == 0 {
				t.Errorf("warp %d has not exited in frame %d", w, frame)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(exits) != 3 || len(res.Checks) != 10 || len(res.Kernels) != 3 {
		t.Errorf("frames %v, %d checks, %d kernels", exits, len(res.Checks), len(res.Kernels))
	}
	for _, c := range res.Checks {
		if c.OK == (c.Buffer == "cycles") { // that one is wrong
			t.Errorf("check %+v", c)
		}
	}
	if res.OK {
		t.Error("the result is ok, though a check has failed")
	}
	total := uint64(0)
	for i, k := range res.Kernels {
		if k.Launch != i || k.StartCycle != total || k.EndCycle != total+k.Cycles {
			t.Errorf("frame %d: %d to %d, %d cycles", k.Launch, k.StartCycle, k.EndCycle, k.Cycles)
		}
		total += k.Cycles
	}
	if res.Cycles != total || total == 0 {
		t.Errorf("%d cycles in all, %d frame by frame", res.Cycles, total)
	}

	// One frame of three: what is about all of them is not checked.
	sel, err := run.ParseSelection("1")
	if err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(t.TempDir(), "sum.bin")
	res, err = r.Run(context.Background(), KeplerOptions{Config: cfg, Options: Options{Select: sel, Dumps: []Dump{{Buffer: "sum", File: dump}}}})
	if err != nil || res.LeftOut != 2 || len(res.Kernels) != 1 {
		t.Fatalf("%v, %d left out", err, res.LeftOut)
	}
	if len(res.Checks) != 1 || res.Checks[0].Buffer != "R4 of warp 9" || !res.Checks[0].OK {
		t.Errorf("of frame 1 alone: %+v", res.Checks)
	}
	if b, err := os.ReadFile(dump); err != nil || len(b) != 4 || binary.LittleEndian.Uint32(b) != 6 {
		t.Errorf("dumped %v, %v", b, err)
	}

	// A limit is for all frames together.
	_, err = r.Run(context.Background(), KeplerOptions{Config: cfg, Options: Options{MaxInsts: total / 2}})
	if err == nil || !strings.Contains(err.Error(), "limit reached") {
		t.Errorf("with half the cycles: %v", err)
	}
}

// What is wrong with a job is said, with its place.
func TestKeplerErrors(t *testing.T) {
	const head = "program = \"add.kasm\"\n"
	const warp = "[[warps]]\nwarp = 0\n"
	const buffer = "[buffers.a]\ntype = \"u32\"\nat = 0x100\ncount = 4\n"
	for _, c := range []struct{ text, want string }{
		{head, "job.toml:1:1: the job starts no warps: add [[warps]] with warp = 0"},
		{head + "frames = 0\n" + warp, ":2:10: frames is 0; it must be at least 1"},
		{head + "launches = 1\n" + warp, `:2:1: unknown key "launches"`},
		{"program = \"a.ptx\"\ngpu = \"kepler-edu\"\n" + warp, ":1:11: a.ptx is not .kasm"},
		{head + "gpu = \"v100\"\n" + warp, `:2:7: gpu = "v100": programs in .kasm run on "kepler-edu", or a file with extends = "kepler-edu"; remove gpu`},
		{"program = \"missing.kasm\"\n" + warp, ":1:11: cannot read the program"},
		{"program = \"bad.kasm\"\n" + warp, "bad.kasm:1:1: unknown operation"},
		{head + "[kepler]\nkonform = \"rtl\"\n" + warp, `:3:11: unknown key "kepler.konform"; did you mean "kepler.conform"?`},
		{head + "[kepler]\nconform = \"ibm\"\n" + warp, `:3:11: kepler.conform = "ibm" is invalid; want "rtl", "datasheet"`},
		{head + "[[warps]]\n", ":2:1: no warps given"},
		{head + "[[warps]]\nwarp = 24\n", ":3:8: warp is 24; the maximum is 23"},
		{head + "[[warps]]\nwarps = [1, 2, 1]\n", ":3:16: warp 1 is started twice"},
		{head + warp + "pc = \"begin\"\n", `:4:6: add.kasm has no label "begin"; labels: start`},
		{head + warp + "pc = 256\n", ":4:6: pc is 256; the maximum is 255"},
		{head + warp + "lanes = -1\n", ":4:9: lanes is -1"},
		{head + warp + "program = \"ad.kasm\"\n", `:4:11: unknown program "ad.kasm"; did you mean "add.kasm"?`},
		{"programs = [\"add.kasm\", \"copy.kasm\"]\n" + warp, ":2:1: the warps name no program"},
		{head + warp + "registers = { R64 = 1 }\n", ":4:15: R64 does not exist; want R0 to R63"},
		{head + warp + "registers = { R1 = [1, 2] }\n", ":4:20: R1 has 2 values; it needs 32, one for each lane"},
		{head + warp + "registers = { R1 = { frames = [1, 2] } }\n", ":4:31: R1.frames has 2 values; it needs 1"},
		{head + warp + "registers = { R1 = { step = 1 } }\n", `:4:22: unknown key "step"`},
		{head + warp + "registers = { R1 = 4294967296 }\n", ":4:20: R1 is 4294967296; the maximum is"},
		{head + warp + "registers = { R1 = \"x\" }\n", ":4:20: R1 must be an integer, not a string"},
		{head + warp + "[buffers.a]\ntype = \"u32\"\ncount = 4\n", `:4:10: buffer "a" has no address`},
		{head + warp + "[buffers.a]\ntype = \"u32\"\nat = 2\ncount = 4\n", ":6:6: at = 0x2 is not the address of a word"},
		{head + warp + "[buffers.a]\ntype = \"u32\"\nat = 16380\nspace = \"shared\"\ncount = 2\n", "exceeds the memory's 16384 bytes"},
		{head + warp + "[buffers.a]\ntype = \"u64\"\nat = 0\ncount = 1_000_000_000_000\n", "exceeds the memory's"},
		{head + warp + "[buffers.a]\ntype = \"u32\"\nat = 0\nspace = \"local\"\ncount = 4\n", `space = "local" is not known`},
		{head + warp + buffer + "[buffers.b]\ntype = \"u8\"\nat = 0x10c\ncount = 1\n", `:10:6: buffer "b" at 0x10c to 0x10c overlaps buffer "a"`},
		{head + warp + buffer + "[[checks]]\nbuffer = \"b\"\nvalues = [1]\n", `:9:10: unknown buffer "b"`},
		{head + warp + buffer + "[[checks]]\nbuffer = \"a\"\nvalues = [1, 2, 3, 4, 5]\n", `the check compares 5 elements, but "a" has 4`},
		{head + warp + buffer + "[[checks]]\nbuffer = \"a\"\nframe = 1\nvalues = [1]\n", ":10:9: frame is 1; the maximum is 0"},
		{head + warp + buffer + "[[checks]]\nbuffer = \"a\"\nframe = \"some\"\nvalues = [1]\n", `frame = "some" is not known`},
		{head + warp + "[[checks]]\nregister = \"R1\"\ncycles = 5\n", ":4:1: a check has exactly one of"},
		{head + warp + "[[checks]]\nregister = \"R1\"\nwarp = 3\nvalues = [1]\n", "the job does not start warp 3"},
		{head + warp + "[[checks]]\nregister = \"R1\"\n", "the check needs values"},
		{head + warp + "[[checks]]\nregister = \"R1\"\ntype = \"u8\"\nvalues = [1]\n", "a register is u32, s32 or f32, not u8"},
		{head + warp + "[[checks]]\npredicate = \"P7\"\nlanes = 1\n", "P7 does not exist; want P0 to P6"},
		{head + warp + "[[checks]]\npredicate = \"P1\"\n", "the check needs lanes"},
		{head + warp + "[[checks]]\ncycles = 5\nconform = \"ibm\"\n", `there is no conformance level "ibm"`},
		{head + warp + buffer + "[[images]]\nbuffer = \"a\"\nwidth = 64\nheight = 4\npng = \"a.png\"\n", `the picture takes 32 bytes, but buffer "a" has 16`},
		{head + warp + buffer + "[[images]]\nbuffer = \"a\"\nwidth = 8\nheight = 4\n", "the picture has no file"},
		{head + warp + buffer + "[[images]]\nwidth = 8\nheight = 4\npng = \"a.png\"\n", "the picture has no buffer"},
		{head + warp + buffer + "[[images]]\nbuffer = \"a\"\nwidth = 8\nheight = 4\npng = \"a.png\"\ncolours = [\"red\"]\n", `:13:12: not a colour; want "#rrggbb"`},
		{head + warp + buffer + "[[images]]\nbuffer = \"a\"\nwidth = 2\nheight = 2\npng = \"a.png\"\nformat = \"rgb\"\ncolours = [\"#000000\"]\n", `format = "rgb" has its own colours`},
		{head + warp + buffer + "[[images]]\nbuffer = \"a\"\nwidth = 64\nheight = 1\nscale = 65\npng = \"a.png\"\n", "scale is 65; the maximum is 64"},
		{head + warp + "[buffers.a]\ntype = \"u32\"\nat = 0\nfile = \"word.bin\"\n[[images]]\nbuffer = \"a\"\nwidth = 64\nheight = 2\npng = \"a.png\"\n", `the picture takes 16 bytes, but buffer "a" has 8`},
		{head + "frames = 2\n" + warp + buffer + "[[checks]]\nbuffer = \"a\"\nframe = \"all\"\noffset = 7\nvalues = [1, 2]\n", `the check compares 2 elements from offset 7, but all frames of "a" have 8`},
		{head + "frames = 2\n" + warp + buffer + "[[checks]]\nbuffer = \"a\"\nframe = \"all\"\nfile = \"none.bin\"\n", ":12:8: cannot read"},
		{head + "frames = 100_000\n" + warp + "[buffers.a]\ntype = \"u8\"\nat = 0\ncount = 20_000\n[[checks]]\nbuffer = \"a\"\nframe = \"all\"\nvalues = [1]\n", "exceed the limit of a check"},
		{head + "frames = 100_000\n" + warp + buffer + "[[images]]\nbuffer = \"a\"\nwidth = 32\nheight = 4\nscale = 64\ngif = \"a.gif\"\n", "exceed the limit of a GIF"},
	} {
		file := keplerFolder(t, c.text)
		_, err := LoadKepler(file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n gives: %v\n want: %s", c.text, err, c.want)
		}
	}
}

// Pictures have the colours of each format.
func TestKeplerImages(t *testing.T) {
	file := keplerFolder(t, `
program = "add.kasm"
frames = 2
[[warps]]
warp = 0
registers = { R1 = { start = 1, frame = 2 } }   # the word at 256 is 1, then 3

[buffers.bits]
type = "u8"
at = 256
count = 4
[buffers.bytes]
type = "u8"
at = 512
values = [0, 128, 255, 7]
[buffers.words]
type = "u32"
at = 1024
values = [0xff0000, 0x00ff00, 0x0000ff, 0x123456]

[[images]]
buffer = "bits"
width = 4
height = 1
colours = ["#000001", "#ffee00"]
scale = 3
png = "bits.png"
frame = 0
gif = "bits.gif"
delay = 9
[[images]]
buffer = "bytes"
format = "u8"
width = 2
height = 2
png = "bytes.png"
[[images]]
buffer = "words"
format = "rgb"
width = 2
height = 2
png = "words.png"
gif = "words.gif"
`)
	r, err := LoadKepler(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	res, err := r.Run(context.Background(), KeplerOptions{Config: kepler.ConfigFor(kepler.Datasheet), Pictures: dir})
	if err != nil || len(res.Pictures) != 5 {
		t.Fatal(res.Pictures, err)
	}
	rgba := func(v uint32) color.RGBA { return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }
	for name, want := range map[string][]uint32{
		"bits.png":  {0xffee00, 0x000001, 0x000001, 0x000001},
		"bytes.png": {0, 0x808080, 0xffffff, 0x070707},
		"words.png": {0xff0000, 0x00ff00, 0x0000ff, 0x123456},
	} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		im, err := png.Decode(f)
		if err != nil {
			t.Fatal(name, err)
		}
		scale, width := 1, 2
		if name == "bits.png" {
			scale, width = 3, 4
		}
		if b := im.Bounds(); b.Dx() != scale*width || b.Dy() != scale*4/width {
			t.Errorf("%s: %v", name, b)
		}
		for y := range im.Bounds().Dy() {
			for x := range im.Bounds().Dx() {
				got, want := color.RGBAModel.Convert(im.At(x, y)), rgba(want[y/scale*width+x/scale])
				if got != want {
					t.Errorf("%s: pixel %d, %d is %v, want %v", name, x, y, got, want)
				}
			}
		}
	}
	for name, want := range map[string][]uint32{"bits.gif": {0x000001, 0xffee00}, "words.gif": {0x00ff00, 0x00ff00}} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		g, err := gif.DecodeAll(f)
		if err != nil || len(g.Image) != 2 {
			t.Fatal(name, err)
		}
		for n, im := range g.Image {
			x := im.Bounds().Dx()/4 + 1 // within the second pixel
			if name == "words.gif" {
				x = 1
			}
			if got := color.RGBAModel.Convert(im.At(x, 0)); got != rgba(want[n]) {
				t.Errorf("%s: frame %d has %v, want %v", name, n, got, rgba(want[n]))
			}
		}
	}
}

// No text brings the reader down.
func FuzzKeplerJob(f *testing.F) {
	for _, name := range []string{"cube", "tiled"} {
		text, err := os.ReadFile("../../../examples/kepler/" + name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if j, err := ParseKepler("job.toml", []byte(text)); err == nil && len(j.Warps) == 0 {
			t.Error("a job without warps is accepted")
		}
	})
}
