package job

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBroken loads and runs every job of testdata/broken: each has its one
// mistake, and says in its first lines which message it must bring.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.toml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".toml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := wants(t, string(src))
			t.Chdir(filepath.Dir(file))
			name := filepath.Base(file)
			ready, err := Load(name, Options{})
			if err == nil {
				_, err = ready.Run(context.Background(), Options{})
			}
			if err == nil {
				t.Fatal("the job ran")
			}
			match(t, name, messages(err), want)
		})
	}
}

// TestJobs runs jobs whose expected results were computed elsewhere, on one
// and on several threads, with the same outcome.
func TestJobs(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/reference/gpgpusim/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".toml"), func(t *testing.T) {
			var first []byte
			for _, threads := range []int{1, 2, 5} {
				ready, err := Load(file, Options{})
				if err != nil {
					t.Fatal(err)
				}
				res, err := ready.Run(context.Background(), Options{Threads: threads})
				if err != nil {
					t.Fatal(err)
				}
				if len(res.Checks) == 0 {
					t.Error("nothing was checked")
				}
				for _, c := range res.Checks {
					if !c.OK {
						t.Errorf("threads %d: %s: %d mismatches of %d, the first: %+v", threads, c.Buffer, c.Mismatches, c.Elements, *c.First)
					}
				}
				res.Seconds = 0
				var b bytes.Buffer
				if err := res.WriteJSON(&b); err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = b.Bytes()
				} else if !bytes.Equal(first, b.Bytes()) {
					t.Errorf("threads %d: the result differs from that of 1", threads)
				}
			}
		})
	}
}

const symbolsPTX = `.version 7.8
.target sm_80
.address_size 64
.const .align 4 .f32 weights[4] = {1.0, 2.0, 3.0, 4.0};
.global .align 8 .b64 total;
.global .align 2 .u16 marks[3] = {7, 8, 9};
.visible .entry sum(.param .u64 out)
{
	.reg .f32 %f<8>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [out];
	ld.const.f32 %f0, [weights];
	ld.const.f32 %f1, [weights+4];
	ld.const.f32 %f2, [weights+8];
	ld.const.f32 %f3, [weights+12];
	add.f32 %f4, %f0, %f1;
	add.f32 %f5, %f2, %f3;
	add.f32 %f6, %f4, %f5;
	st.global.f32 [%rd0], %f6;
	mov.u64 %rd1, -2;
	st.global.u64 [total], %rd1;
	ret;
}
`

func TestSymbols(t *testing.T) {
	const head = `program = "k.ptx"
[buffers.out]
type = "f32"
count = 1
[[launches]]
grid = 1
block = 1
args = [{ buffer = "out" }]
`
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"initial values", "[[checks]]\nbuffer = \"out\"\nvalues = [10]\n", true},
		{"set in part", "[symbols.weights]\ntype = \"f32\"\nvalues = [10, 20]\n[[checks]]\nbuffer = \"out\"\nvalues = [37]\n", true},
		{"set by file", "[symbols.weights]\ntype = \"f32\"\nfile = \"w.bin\"\n[[checks]]\nbuffer = \"out\"\nvalues = [5]\n", true},
		{"whole by iota", "[symbols.weights]\ntype = \"f32\"\ninit = \"iota\"\n[[checks]]\nbuffer = \"out\"\nvalues = [6]\n", true},
		{"zeroed", "[symbols.weights]\ntype = \"f32\"\ninit = \"zero\"\n[[checks]]\nbuffer = \"out\"\nvalues = [0]\n", true},
		{"check by the declared type", "[[checks]]\nsymbol = \"marks\"\nvalues = [8, 9]\noffset = 1\n", true},
		{"check of bits", "[[checks]]\nsymbol = \"total\"\nvalues = [\"0xfffffffffffffffe\"]\n", true},
		{"check as another type", "[[checks]]\nsymbol = \"total\"\ntype = \"s32\"\nvalues = [-2, -1]\n", true},
		{"check that fails", "[[checks]]\nsymbol = \"marks\"\nvalues = [7, 8, 10]\n", false},
		{"check of a constant by file", "[[checks]]\nsymbol = \"weights\"\nfile = \"initial.bin\"\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{
				"k.ptx": symbolsPTX, "job.toml": head + c.text,
				"w.bin":       "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x3f\x00\x00\xc0\x3f",
				"initial.bin": "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40",
			})
			ready, err := Load(filepath.Join(dir, "job.toml"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			res, err := ready.Run(context.Background(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if res.OK != c.ok {
				t.Errorf("%+v", res.Checks)
			}
		})
	}
}

// Programs with 32-bit addresses take buffers in four bytes.
func TestShortAddresses(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"k.ptx": `.version 2.3
.target sm_20
.address_size 32
.entry store(.param .u32 out, .param .u32 v)
{
	.reg .u32 %r<2>;
	ld.param.u32 %r0, [out];
	ld.param.u32 %r1, [v];
	st.global.u32 [%r0+4], %r1;
	exit;
}
`,
		"job.toml": `program = "k.ptx"
[buffers.out]
type = "u32"
count = 3
[[launches]]
grid = 1
block = 1
args = [{ buffer = "out", offset = 4 }, { u32 = 77 }]
[[checks]]
buffer = "out"
values = [0, 0, 77]
`})
	ready, err := Load(filepath.Join(dir, "job.toml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := ready.Run(context.Background(), Options{})
	if err != nil || !res.OK {
		t.Errorf("%v %+v", err, res.Checks)
	}
}

// What a job fills its buffers with is what a dump brings back.
func TestDump(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"k.ptx": ".version 7.8\n.target sm_80\n.address_size 64\n.entry nothing() { ret; }\n",
		"job.toml": `program = "k.ptx"
[buffers.r]
type = "f64"
count = 100
init = "random"
seed = 3
range = [10, 20]
[buffers.v]
type = "s16"
count = 4
values = [-1, 2]
[[launches]]
grid = 1
block = 1
`})
	ready, err := Load(filepath.Join(dir, "job.toml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, v := filepath.Join(dir, "r.bin"), filepath.Join(dir, "v.bin")
	if _, err := ready.Run(context.Background(), Options{Dumps: []Dump{{Buffer: "r", File: r}, {Buffer: "v", File: v}}}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(v); !bytes.Equal(b, []byte{0xff, 0xff, 2, 0, 0, 0, 0, 0}) {
		t.Errorf("v: %x", b)
	}
	b, _ := os.ReadFile(r)
	if len(b) != 800 {
		t.Fatalf("%d bytes", len(b))
	}
	rng := splitMix64(3)
	for i := range 100 {
		want := 10 + 10*(float64(rng.next()>>11)/(1<<53))
		if got := math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])); math.Abs(got-want) > 1e-14 {
			t.Fatalf("r[%d] = %v, want %v", i, got, want)
		}
	}
}

// A cancelled run says so and keeps what was done. Its kernel counts, as one that repeats itself would be found.
func TestCancel(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"k.ptx":    ".version 7.8\n.target sm_80\n.address_size 64\n.entry count()\n{\n\t.reg .u64 %n;\n\tmov.u64 %n, 0;\nL:\tadd.u64 %n, %n, 1;\n\tbra L;\n}\n",
		"job.toml": "program = \"k.ptx\"\n[[launches]]\ngrid = 3\nblock = 64\n",
	})
	ready, err := Load(filepath.Join(dir, "job.toml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	res, err := ready.Run(ctx, Options{})
	if err == nil || res.OK || res.Error == nil || res.Error.Kind != "interrupted" {
		t.Errorf("%v, %+v", err, res.Error)
	}
}

// A texture object and a texture reference read the same image: the texel at
// (x, y), with coordinates beyond the edge clamped.
func TestTextures(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"k.ptx": `.version 7.8
.target sm_80
.address_size 64
.global .texref ref;
.visible .entry look(.param .u64 out, .param .u64 tex)
{
	.reg .b32 %r<16>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd0, [out];
	ld.param.u64 %rd1, [tex];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %tid.y;
	tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r0, %r1}];
	tex.2d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [ref, {%r0, %r1}];
	shl.b32 %r10, %r2, 16;
	shl.b32 %r11, %r7, 8;
	or.b32 %r12, %r10, %r11;
	or.b32 %r12, %r12, %r3;
	mad.lo.u32 %r13, %r1, 4, %r0;
	mul.wide.u32 %rd2, %r13, 4;
	add.u64 %rd3, %rd0, %rd2;
	st.global.u32 [%rd3], %r12;
	ret;
}
`,
		"job.toml": `program = "k.ptx"
[buffers.image]
type = "u8"
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
[buffers.out]
type = "u32"
count = 12
[textures.ref]
buffer = "image"
format = "u8x2"
width = 3
height = 2
[[launches]]
grid = 1
block = [4, 3]
args = [{ buffer = "out" }, { texture = "ref" }]
[[checks]]
buffer = "out"
values = [0x010202, 0x030404, 0x050606, 0x050606, 0x070808, 0x090a0a, 0x0b0c0c, 0x0b0c0c, 0x070808, 0x090a0a, 0x0b0c0c, 0x0b0c0c]
`})
	ready, err := Load(filepath.Join(dir, "job.toml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := ready.Run(context.Background(), Options{})
	if err != nil || !res.OK {
		t.Errorf("%v %+v", err, res.Checks)
	}
}
