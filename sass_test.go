package heddle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin/fatbintest"
)

const sassText = `
.arch sm_86
.kernel double
.param p, 8
.param n, 4
.regs 8
[B------:R-:W0:-:S02]         S2R R0, SR_TID.X ;
[B0-----:R-:W-:Y:S13]         ISETP.GE.U32.AND P0, PT, R0, c[0x0][0x168], PT ;
[B------:R-:W-:-:S05]     @P0 EXIT ;
[B------:R-:W-:-:S05]         MOV R4, 0x4 ;
[B------:R-:W-:-:S05]         IMAD.WIDE.U32 R2, R0, R4, c[0x0][0x160] ;
[B------:R-:W0:-:S02]         LDG.E R5, [R2] ;
[B0-----:R-:W-:-:S05]         IADD3 R5, R5, R5, RZ ;
[B------:R-:W-:-:S01]         STG.E [R2], R5 ;
[B------:R-:W-:-:S05]         EXIT ;
`

// TestLoadFor: of a library of the host with device code, what runs depends on the machine and on the
// options; NVIDIA's machine code for sm_75 makes 18 of a 2, the PTX of the same name 1.
func TestLoadFor(t *testing.T) {
	image, err := os.ReadFile("internal/binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	const text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry _Z5childPii(.param .u64 v, .param .u32 n) {\n" +
		".reg .b64 %a; ld.param.u64 %a, [v]; st.global.u32 [%a], 1; ret; }"
	file := filepath.Join(t.TempDir(), "library.so")
	code := fatbin.Append(nil, fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image}, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(text)})
	if err := os.WriteFile(file, fatbintest.Object(".nv_fatbin", code), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gpu, code, ran string
		want           uint32
	}{
		{"rtx-2070-super", "", "sass", 18},
		{"rtx-2070-super", "ptx", "ptx", 1},
		{"rtx-2060", "auto", "ptx", 1},
		{"rtx-2060", "sass", "sass", 18},
		{"", "", "ptx", 1},
	} {
		t.Run(c.gpu+" "+c.code, func(t *testing.T) {
			o := heddle.RunOptions{GPU: c.gpu, Code: c.code}
			prog, err := heddle.LoadFor(o, file)
			if err != nil {
				t.Fatal(err)
			}
			gpu, err := heddle.New(prog, heddle.With(o))
			if err != nil {
				t.Fatal(err)
			}
			v, err := heddle.Upload(gpu, "v", []uint32{2})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gpu.Launch(context.Background(), "_Z5childPii", heddle.Dim(1), heddle.Dim(1), v, uint32(9)); err != nil {
				t.Fatal(err)
			}
			got, err := heddle.Download[uint32](gpu, v, 1)
			if err != nil || got[0] != c.want {
				t.Errorf("%v, %v; want %d", got, err, c.want)
			}
			if res, err := gpu.Result(); err != nil || res.Kernels[0].Code != c.ran {
				t.Errorf("%v, %+v; want %s", err, res.Kernels, c.ran)
			}
		})
	}
	if _, err := heddle.LoadFor(heddle.RunOptions{Code: "sass"}, file); err == nil || !strings.Contains(err.Error(), "no machine code that runs on sm_86") {
		t.Errorf("%v", err)
	}
}

// A program in SASS is loaded and launched like one in PTX.
func TestSASS(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "double.sass", Text: sassText})
	if err != nil {
		t.Fatal(err)
	}
	if names := prog.Kernels(); len(names) != 1 || names[0] != "double" || prog.Unusable("double") != nil {
		t.Fatalf("kernels %v", names)
	}
	gpu, err := heddle.New(prog)
	if err != nil {
		t.Fatal(err)
	}
	p, err := heddle.Upload(gpu, "p", []uint32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := gpu.Launch(context.Background(), "double", heddle.Dim(1), heddle.Dim(32), p, uint32(3))
	if err != nil || stats.WarpInstructions != 9 {
		t.Fatalf("%+v, %v", stats, err)
	}
	out, err := heddle.Download[uint32](gpu, p, 4)
	if err != nil || out[0] != 2 || out[2] != 6 || out[3] != 4 {
		t.Errorf("%v, %v", out, err)
	}
	_, err = gpu.Launch(context.Background(), "double", heddle.Dim(1), heddle.Dim(32), p, uint32(32))
	var fault *heddle.Fault
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "LDG.E R5") || fault.Where.Thread.X != 4 {
		t.Errorf("a launch that reads out of bounds ends with %v", err)
	}
	if err := gpu.BindTexture("image", heddle.Texture{Addr: p, Format: "f32", Channels: 1, Width: 4}); err == nil || !strings.Contains(err.Error(), `no texture, surface or sampler reference "image"`) {
		t.Errorf("binding a texture that the program lacks: %v", err)
	}
	if _, err := heddle.LoadSource(heddle.Source{Name: "double.sass", Text: sassText}, heddle.Source{Name: "a.ptx", Text: ".version 7.0\n.target sm_80\n.address_size 64\n"}); err == nil {
		t.Error("SASS and PTX in one program")
	}
	if _, err := heddle.LoadSource(heddle.Source{Name: "a.sass", Text: sassText}, heddle.Source{Name: "b.sass", Text: sassText}); err == nil {
		t.Error("two kernels with one name")
	}
}

// TestSASSAfterAFault launches again after a launch whose fourth block faulted when
// others had stored: the first has no effect on the second.
func TestSASSAfterAFault(t *testing.T) {
	const text = `
.arch sm_86
.kernel late
.param p, 8
.regs 8
[B------:R-:W0:-:S02]         S2R R0, SR_CTAID.X ;
[B0-----:R-:W-:-:S05]         MOV R4, 0x4 ;
[B------:R-:W-:-:S05]         IMAD.WIDE.U32 R2, R0, R4, c[0x0][0x160] ;
[B------:R-:W-:Y:S13]         ISETP.NE.U32.AND P0, PT, R0, 0x3, PT ;
[B------:R-:W-:-:S05]         MOV R5, 0x309 ;
[B------:R-:W-:-:S01]     @P0 STG.E [R2], R5 ;
[B------:R-:W-:-:S05]     @P0 EXIT ;
[B------:R-:W-:-:S05]         MOV R5, RZ ;
AGAIN:
[B------:R-:W-:-:S05]         IADD3 R5, R5, 0x1, RZ ;
[B------:R-:W-:Y:S13]         ISETP.LT.U32.AND P0, PT, R5, 0x4e20, PT ;
[B------:R-:W-:-:S05]     @P0 BRA AGAIN ;
[B------:R-:W-:-:S05]         MOV R2, 0x8 ;
[B------:R-:W-:-:S05]         MOV R3, RZ ;
[B------:R-:W-:-:S01]         STG.E [R2], R5 ;
[B------:R-:W-:-:S05]         EXIT ;
.kernel count
.param p, 8
.regs 8
[B------:R-:W0:-:S02]         S2R R0, SR_CTAID.X ;
[B0-----:R-:W-:-:S05]         MOV R4, 0x4 ;
[B------:R-:W-:-:S05]         IMAD.WIDE.U32 R2, R0, R4, c[0x0][0x160] ;
[B------:R-:W0:-:S02]         LDG.E R5, [R2] ;
[B0-----:R-:W-:-:S05]         IADD3 R5, R5, 0x1, RZ ;
[B------:R-:W-:-:S01]         STG.E [R2], R5 ;
[B------:R-:W-:-:S05]         EXIT ;
`
	prog, err := heddle.LoadSource(heddle.Source{Name: "late.sass", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 64
	for _, threads := range []int{1, 2, 4} {
		gpu, err := heddle.New(prog, heddle.Threads(threads))
		if err != nil {
			t.Fatal(err)
		}
		p, err := gpu.Alloc(blocks*4, "p")
		if err != nil {
			t.Fatal(err)
		}
		var fault *heddle.Fault
		if _, err := gpu.Launch(t.Context(), "late", heddle.Dim(blocks), heddle.Dim(1), p); !errors.As(err, &fault) {
			t.Fatalf("it ends with %v", err)
		}
		if _, err := gpu.Launch(t.Context(), "count", heddle.Dim(blocks), heddle.Dim(1), p); err != nil {
			t.Fatal(err)
		}
		got, err := heddle.Download[uint32](gpu, p, blocks)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range got {
			want := uint32(1)
			if i < 3 { // the blocks before the fault have stored
				want = 778
			}
			if n != want {
				t.Fatalf("%d threads: word %d is %d, want %d", threads, i, n, want)
			}
		}
	}
}

// TestLongListing loads and runs a kernel of more than 2^20 instructions, all but
// three of which a branch skips. Only memory bounds a listing: text, words and
// decoded instructions grow with its length.
func TestLongListing(t *testing.T) {
	alltests.Only(t, "a listing of more than a million instructions")
	const n = 1<<20 + 1000
	text := ".arch sm_86\n.kernel long\n[B------:R-:W-:-:S05] BRA END ;\n" + strings.Repeat("[B------:R-:W-:-:S01] NOP ;\n", n-3) +
		"END:\n[B------:R-:W-:-:S01] NOP ;\n[B------:R-:W-:-:S01] EXIT ;\n"
	p, err := heddle.LoadSource(heddle.Source{Name: "long.sass", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	g, err := heddle.New(p)
	if err != nil {
		t.Fatal(err)
	}
	st, err := g.Launch(t.Context(), "long", heddle.Dim(1), heddle.Dim(32))
	if err != nil || st.WarpInstructions != 3 {
		t.Errorf("%d instructions issued, want 3; %v", st.WarpInstructions, err)
	}
}

// TestSASSOlderResult: IADD3.X reads a predicate of IADD3 before all instructions can, which makes the whole result of
// IADD3 visible; the older result for R8 must not replace it.
func TestSASSOlderResult(t *testing.T) {
	const text = `
.arch sm_86
.kernel k
.param p, 8
.regs 16
[B------:R-:W-:-:S01]        MOV R2, c[0x0][0x160] ;
[B------:R-:W-:-:S01]        MOV R3, c[0x0][0x164] ;
[B------:R-:W-:-:S01]        MOV R4, 0x5 ;
[B------:R-:W-:Y:S15]        MOV R6, 0x7 ;
[B------:R-:W-:-:S02]        MOV R8, R4 ;
[B------:R-:W-:-:S04]        IADD3 R8, P4, R6, R4, RZ ;
[B------:R-:W-:-:S06]        IADD3.X R9, RZ, RZ, RZ, P4, !PT ;
[B------:R-:W-:-:S01]        STG.E [R2], R8 ;
[B------:R-:W-:-:S05]        EXIT ;
`
	prog, err := heddle.LoadSource(heddle.Source{Name: "k.sass", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := heddle.New(prog, heddle.Machine("rtx-a6000"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := heddle.Upload(gpu, "p", []uint32{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(context.Background(), "k", heddle.Dim(1), heddle.Dim(32), p); err != nil {
		t.Fatal(err)
	}
	if out, err := heddle.Download[uint32](gpu, p, 1); err != nil || out[0] != 12 {
		t.Errorf("%v, %v: want 12", out, err)
	}
}
