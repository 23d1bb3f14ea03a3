package heddle_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
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
		t.Errorf("a launch that reads too far ends with %v", err)
	}
	if _, err := gpu.TextureObject(heddle.Texture{}); err == nil {
		t.Error("a texture for SASS")
	}
	if _, err := heddle.LoadSource(heddle.Source{Name: "double.sass", Text: sassText}, heddle.Source{Name: "a.ptx", Text: ".version 7.0\n.target sm_80\n.address_size 64\n"}); err == nil {
		t.Error("SASS and PTX in one program")
	}
	if _, err := heddle.LoadSource(heddle.Source{Name: "a.sass", Text: sassText}, heddle.Source{Name: "b.sass", Text: sassText}); err == nil {
		t.Error("two kernels of one name")
	}
}

// TestLongListing loads and runs a kernel of more than 2^20 instructions, all but
// three of which a branch leaves out. What bounds a listing is memory: text, words
// and decoded instructions grow with its length.
func TestLongListing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
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
