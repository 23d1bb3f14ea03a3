package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

// An instruction of a disassembly in every supported notation; the words are those of the
// compiler's listing.
const (
	movWords  = "                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;                  /* 0x00000a00ff017624 */\n"
	movWords2 = "                                                            /* 0x000fe400078e00ff */\n"
)

func TestReadListing(t *testing.T) {
	mov := Listed{Text: "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]", Op: "IMAD.MOV.U32", Guard: trace.Guard{Known: true, Reg: 7}}
	words := [2]uint64{0x00000a00ff017624, 0x000fe400078e00ff}
	bits := isa.Control{Stall: 2, Write: isa.NoCounter, Read: isa.NoCounter}
	exit := Listed{PC: 0x10, Text: "@!P0 EXIT", Op: "EXIT", Guard: trace.Guard{Known: true, Negated: true, Reg: 0}}
	with := func(x Listed, w [2]uint64, c *isa.Control, line int) Listed {
		x.Words, x.Control, x.Line = w, c, line
		return x
	}
	for name, c := range map[string]struct {
		text string
		fn   string
		want []Listed
	}{
		"cuobjdump": {"\tcode for sm_80\n\t\tFunction : k\n\t.headerflags @\"x\"\n        /*0000*/" + movWords + movWords2,
			"k", []Listed{with(mov, words, &bits, 4)}},
		"nvdisasm without words": {"//--------------------- .text.k --------------------------\n\t.section .text.k,\"ax\",@progbits\n.text.k:\n        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;\n        /*0010*/              @!P0 EXIT ;\n.L_x_0:\n",
			"k", []Listed{with(mov, [2]uint64{}, nil, 4), with(exit, [2]uint64{}, nil, 5)}},
		"CUDA 13": {".text.k:\n /*0000*/ IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] &req={1,3} &wr=0x2 &rd=0x0 ?trans7 ;\n /*0010*/ @!P0 EXIT ?WAIT13_END_GROUP ;\n",
			"k", []Listed{with(mov, [2]uint64{}, &isa.Control{Stall: 7, Wait: 0b1010, Write: 2, Read: 0}, 2),
				with(exit, [2]uint64{}, &isa.Control{Stall: 13, Yield: true, Write: isa.NoCounter, Read: isa.NoCounter}, 3)}},
		"CuAssembler": {".text.k:\n[B0-2---:R1:W-:Y:S04]         /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;\n[B------:R-:W5:-:S15]  /*0010*/ @!P0 EXIT ;\n",
			"k", []Listed{with(mov, [2]uint64{}, &isa.Control{Stall: 4, Yield: true, Wait: 0b101, Write: isa.NoCounter, Read: 1}, 2),
				with(exit, [2]uint64{}, &isa.Control{Stall: 15, Write: 5, Read: isa.NoCounter}, 3)}},
		"words": {"# .arch sm_80\n# .kernel k\n00000a00ff017624 000fe400078e00ff\n0x00000a00ff017624, 0x000fe400078e00ff\n",
			"k", []Listed{{Words: words, Control: &bits, Line: 3}, {PC: 0x10, Words: words, Control: &bits, Line: 4}}},
		"before Volta": {"code for sm_61\nFunction : k\n /* 0x001cfc00e22007f6 */\n /*0008*/ MOV R1, c[0x0][0x20] ; /* 0x4c98078000870001 */\n /*0010*/ EXIT ; /* 0xe30000000007000f */\n /* 0x001cfc00e22007f6 */\n",
			"k", []Listed{{PC: 8, Text: "MOV R1, c[0x0][0x20]", Op: "MOV", Guard: trace.Guard{Known: true, Reg: 7}, Line: 4},
				{PC: 0x10, Text: "EXIT", Op: "EXIT", Guard: trace.Guard{Known: true, Reg: 7}, Line: 5}}},
	} {
		l, err := ReadListing("x.sass", strings.NewReader(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.want, l.Code[c.fn]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestBadListing(t *testing.T) {
	for want, text := range map[string]string{
		"x.sass: no instruction found":                                      "hello\n",
		"x.sass:1: the instruction at 0x0 does not end":                     "/*0000*/ EXIT\n",
		"x.sass:1: no mnemonic at 0x0":                                      "/*0000*/ ;\n",
		"x.sass:2: function  has address 0x0 twice; the first is in line 1": "/*0000*/ EXIT ;\n/*0000*/ EXIT ;\n",
		"x.sass:1: control code \"[B0\": want five parts":                   "[B0] /*0000*/ EXIT ;\n",
		"position 1 of the wait mask is '3'":                                "[B-3----:R-:W-:-:S01] /*0000*/ EXIT ;\n",
		"no such counter: '6'":                                              "[B------:R6:W-:-:S01] /*0000*/ EXIT ;\n",
		"stall is \"16\"; want 00 to 15":                                    "[B------:R-:W-:-:S16] /*0000*/ EXIT ;\n",
		"yield is \"X\"; want Y or -":                                       "[B------:R-:W-:X:S01] /*0000*/ EXIT ;\n",
		"\"?trans12\" is not a stall; want ?trans1 to ?trans11":             "/*0000*/ EXIT ?trans12 ;\n",
		"invalid counter in \"&wr=0x6\"":                                    "/*0000*/ EXIT &wr=0x6 ;\n",
		"invalid counter in \"&req={7}\"":                                   "/*0000*/ EXIT &req={7} ;\n",
		"cannot read the listing: bufio.Scanner: token too long":            strings.Repeat("x", maxLine+1),
	} {
		if _, err := ReadListing("x.sass", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// traceOf makes a trace of a straight run through a program, as a tracer of
// version 5 writes it: mnemonics, the first destination, general registers.
func traceOf(t *testing.T, p program, text []string) *trace.Kernel {
	var b strings.Builder
	fmt.Fprintf(&b, "-kernel name = %s\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 64\n-binary version = 80\n-accelsim tracer version = 5\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n", p.name, len(p.code))
	for i := range p.code {
		in := &p.code[i]
		regs := func(list []isa.Reg, most int) string {
			var s []string
			for _, r := range list {
				if r.File == isa.RegGPR && len(s) < most {
					s = append(s, fmt.Sprint("R", r.Index))
				}
			}
			return fmt.Sprint(len(s), " ", strings.Join(s, " "))
		}
		op := strings.Fields(guards.ReplaceAllString(text[i], ""))[0]
		fmt.Fprintf(&b, "%04x ffffffff %s %s %s 0 0\n", 16*i, regs(in.Dsts, 1), op, regs(in.Srcs, 5))
	}
	return readText(t, b.String())
}

var guards = regexp.MustCompile(`^@!?U?P[0-7T] `)

// A trace of a compiled kernel and the kernel's listing together give as much information as
// the kernel itself.
func TestJoin(t *testing.T) {
	p := compiled(t)
	text := listing(t)
	var lines []string
	for line := range strings.Lines(text) {
		if m := firstWord.FindStringSubmatch(line); m != nil {
			lines = append(lines, squeeze(m[2]))
		}
	}
	l, err := ReadListing("gemm.sass", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if l.Arch != 80 || len(l.Names) != 1 {
		t.Fatalf("sm_%d, functions %v", l.Arch, l.Names)
	}
	p.name = l.Names[0]
	// With words, and with the text alone.
	for _, what := range []string{"words", "text"} {
		k := traceOf(t, p, lines)
		if what == "text" {
			for i := range l.Code[p.name] {
				l.Code[p.name][i].Words = [2]uint64{}
			}
		}
		r, err := Join(k, l)
		if err != nil {
			t.Fatal(err)
		}
		if r.Covered != r.Total || r.Control != r.Total || len(r.Missing) > 0 {
			t.Errorf("%s: %+v", what, r)
		}
		w, err := New(k, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rep := w.Report()
		if rep.Control != "recorded" {
			t.Errorf("%s: control bits %s, %s", what, rep.Control, rep.Why)
		}
		if rep.Mnemonic > 4 && what == "words" || rep.Mnemonic > len(p.code)/20 {
			t.Errorf("%s: %d of %d instructions are known by their mnemonics only", what, rep.Mnemonic, len(p.code))
		}
		t.Logf("%s: %d described in full, %d by mnemonic", what, rep.Words, rep.Mnemonic)
		for i := range p.code {
			got := w.Code()[i]
			bits := p.bits[i]
			if d := cmp.Diff(bits, *got.Control); d != "" && !(what == "text" && p.code[i].Class == isa.ClassBranch) {
				t.Errorf("%s: %#x %s: %s", what, 16*i, lines[i], d)
			}
			if what == "words" {
				if d := cmp.Diff(p.code[i].Srcs, got.Srcs); d != "" {
					t.Errorf("%#x %s reads: %s", 16*i, lines[i], d)
				}
				if d := cmp.Diff(p.code[i].Dsts, got.Dsts); d != "" {
					t.Errorf("%#x %s writes: %s", 16*i, lines[i], d)
				}
			}
		}
	}
}

// A listing of another binary is rejected with its place, and instructions that it lacks are
// listed.
func TestJoinMismatch(t *testing.T) {
	k := readText(t, head+"warp = 0\ninsts = 2\n0000 ffffffff 1 R1 MOV 0 0 0\n0010 ffffffff 0 EXIT 0 0 0\n")
	read := func(text string) *Listing {
		l, err := ReadListing("x.sass", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	_, err := Join(k, read("Function : k\n/*0000*/ IADD3 R1, R2, R3, R4 ;\n"))
	var e *trace.Error
	if !errors.As(err, &e) || e.Line != 2 || !strings.Contains(err.Error(), "has IADD3 at 0x0, but the trace has MOV") {
		t.Errorf("%v", err)
	}
	if _, err = Join(k, read(".target sm_75\nFunction : k\n/*0000*/ MOV R1, R2 ;\n")); err == nil || !strings.Contains(err.Error(), "for sm_75") {
		t.Errorf("%v", err)
	}
	r, err := Join(k, read("Function : k\n[B------:R-:W-:-:S01] /*0000*/ MOV R1, R2 ;\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(JoinReport{Functions: []string{"k"}, Covered: 1, Control: 1, Total: 2, Missing: []string{"0x10 EXIT"}}, r); d != "" {
		t.Error(d)
	}
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rep := w.Report(); rep.Control != "none" || rep.Why != "only 1 of 2 instructions have control bits" {
		t.Errorf("%q %q", rep.Control, rep.Why)
	}
	if r, err = Join(k, read("Function : other\n/*0000*/ MOV R1, R2 ;\n")); err != nil || len(r.Functions) != 0 || len(r.Missing) != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

// Words without text are compared with the trace as well.
func TestJoinWords(t *testing.T) {
	k := readText(t, head+"warp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0\n")
	l, err := ReadListing("x.hex", strings.NewReader("00000a00ff017624 000fe400078e00ff\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Join(k, l); err == nil || !strings.Contains(err.Error(), "has IMAD.MOV.U32 at 0x0, but the trace has EXIT") {
		t.Errorf("%v", err)
	}
}

func FuzzReadListing(f *testing.F) {
	f.Add("\tcode for sm_80\n\t\tFunction : k\n        /*0000*/" + movWords + movWords2)
	f.Add(".text.k:\n[B0-2---:R1:W-:Y:S04] /*0000*/ MOV R1, R2 ;\n")
	f.Add("# .kernel k\n00000a00ff017624 000fe400078e00ff\n")
	f.Add("/*0000*/ EXIT &req={1} &wr=0x2 ?trans7 ;\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadListing("x", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, name := range l.Names {
			k := &trace.Kernel{Header: trace.Header{Kernel: name, Arch: 80}, Code: []trace.Static{{Op: "EXIT"}, {Op: "MOV", PC: 16}}}
			_, _ = Join(k, l)
		}
	})
}

// Words that a tracer recorded on a later architecture give the control bits that
// it found in them, and the classes of their instructions.
func TestRecordedWords(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(tracetest.Dir(t), "control-bits-sample.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	k := &trace.Kernel{Header: trace.Header{Kernel: "k", Grid: trace.Dim{1, 1, 1}, Block: trace.Dim{32, 1, 1}, Arch: 120}}
	var want []isa.Control
	for l := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if len(f) != 10 || l[0] == '#' {
			continue
		}
		k.Code = append(k.Code, trace.Static{PC: uint32(hex(f[0])), Op: f[1], Words: [2]uint64{hex(f[3]), hex(f[4])}})
		want = append(want, isa.Control{Stall: uint8(number(f[5])), Yield: f[6] == "1", Write: uint8(number(f[7])), Read: uint8(number(f[8])), Wait: uint8(number(f[9]))})
	}
	if len(want) < 8 {
		t.Fatalf("only %d instructions", len(want))
	}
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := w.Report(); r.Words != len(want) || r.Control != "recorded" {
		t.Errorf("%+v", r)
	}
	for i, addr := range map[int]uint64{0: 0x37c, 5: 0x398} { // LDC R1, c[0x0][0x37c] and so on
		if got := w.stat[i].konst[31]; got != addr {
			t.Errorf("%s reads the constant at %#x, want %#x", k.Code[i].Op, got, addr)
		}
	}
	for i, c := range want {
		in := w.Code()[w.At(i)]
		got := *in.Control
		got.Reuse = 0
		if got != c {
			t.Errorf("%#x %s: %v, want %v", k.Code[i].PC, in.Op, got, c)
		}
		if in.Class == isa.ClassNone {
			t.Errorf("%s has no class", in.Op)
		}
	}
}
