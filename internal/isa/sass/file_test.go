package sass

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestErrors checks the messages for broken programs: place, mistake and fix, for all mistakes
// in one run.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.sass")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(filepath.Base(path), string(text), 0)
		var list ErrorList
		if !errors.As(err, &list) {
			t.Errorf("%s: %v", path, err)
			continue
		}
		golden(t, strings.TrimSuffix(path, ".sass")+".golden", list.Detail()+"\n")
	}
}

const program = `.arch sm_86
// a comment
.kernel probe   # another
.param a, 4
.param b, 8
.param c, 1
.regs 32
.shared 1024
.local 16
.barriers 1
.const 3, 0x10, 3f800000 40000000
[B------:R-:W-:-:S02]      MOV R2, c[0x0][0x160] ;
[B------:R-:W-:-:S02]      MOV R3, c[0x0][0x164] ;
loop:
[B------:R-:W0:Y:S01]  @P0 LDG.E R8, [R2.64+0x10] ; /* in the middle */
[B0-2---:R3:W-:-:S05]      STG.E [R2.64], R8
 one: two: [B------:R-:W-:-:S05]  @!P0 BRA loop ;
.word 0x0000000000000fff, 0x000fea0003800000
[B------:R-:W-:-:S05]      BRA 0x70 ;
[B------:R-:W-:-:S05]      EXIT ;

.kernel other
MOV R0, RZ
EXIT
`

// TestParse reads a program with everything in it.
func TestParse(t *testing.T) {
	f, err := Parse("a.sass", program, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Kernels) != 2 || f.Arch != 86 || f.Kernel("probe") == nil || f.Kernel("none") != nil {
		t.Fatalf("%+v", f)
	}
	k := f.Kernel("probe")
	if k.Regs != 32 || k.Shared != 1024 || k.Local != 16 || k.Barriers != 1 || !k.Control {
		t.Errorf("%+v", k)
	}
	if d := cmp.Diff([]Param{{"a", 4, 0x160}, {"b", 8, 0x168}, {"c", 1, 0x170}}, k.Params); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]ConstData{{3, 0x10, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}}}, k.Consts); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Label{{"loop", 2}, {"one", 4}, {"two", 4}}, k.Labels); d != "" {
		t.Error(d)
	}
	if o := k.Code[4].Find(Dest); o == nil || o.Index != 2 || o.Imm != 0x20 {
		t.Errorf("branch by label: %+v", o)
	}
	if o := k.Code[6].Find(Dest); o == nil || o.Index != 7 {
		t.Errorf("branch by address: %+v", o)
	}
	if k.Code[5].Op != NoOp || k.Code[5].Words != [2]uint64{0xfff, 0x000fea0003800000} {
		t.Errorf(".word: %+v", k.Code[5])
	}
	if p := k.Code[2].Pos; p.Line != 15 || p.Col != 24 {
		t.Errorf("position %+v", p)
	}
	other := f.Kernel("other")
	if other.Control || other.Regs != 1 || len(other.Code) != 2 {
		t.Errorf("%+v", other)
	}
	for _, i := range other.Infos() {
		if i.Control != nil {
			t.Errorf("%s has control bits", i.Op)
		}
	}
	for i, in := range k.Infos() {
		if in.Control == nil {
			t.Errorf("instruction %d has no control bits", i)
		}
	}
}

// TestThereAndBack: text to words and back, repeatedly, changes nothing.
func TestThereAndBack(t *testing.T) {
	f, err := Parse("a.sass", program, 0)
	if err != nil {
		t.Fatal(err)
	}
	hex := FormatHex(f)
	if !IsHex(hex) {
		t.Error("its own words are not known again")
	}
	g, err := ParseHex("a.hex", hex, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again := FormatHex(g); again != hex {
		t.Errorf("words:\n%s\nwere\n%s", again, hex)
	}
	if g.Text() != f.Text() {
		t.Errorf("text:\n%s\nwas\n%s", g.Text(), f.Text())
	}
	h, err := Parse("b.sass", g.Text(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if FormatHex(h) != hex {
		t.Errorf("words of the text:\n%s\nwere\n%s", FormatHex(h), hex)
	}
}

// TestHexListing takes a real kernel's words through text and back.
func TestHexListing(t *testing.T) {
	var b strings.Builder
	b.WriteString("# .arch sm_80\n# .kernel gemm\n")
	f := &File{Arch: 80, Kernels: []*Kernel{{Name: "gemm", Arch: 80}}}
	for _, l := range readListing(t) {
		f.Kernels[0].Code = append(f.Kernels[0].Code, Inst{Words: l.words})
	}
	hex := FormatHex(f)
	g, err := ParseHex("gemm.hex", hex, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(g.Text(), ".word"); n > 0 {
		t.Errorf("%d words are not instructions", n)
	}
	h, err := Parse("gemm.sass", g.Text(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if FormatHex(h) != hex {
		t.Error("the text does not give the words")
	}
}

func TestHexErrors(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		arch       Arch
	}{
		"no architecture": {"000000000000794d 000fea0003800000\n", "a.hex:1:1: the architecture is unknown (put .arch sm_86 in the first line, or give --arch)", 0},
		"one word":        {"000000000000794d\n", "a.hex:1:1: expected two words of 16 hex digits", 86},
		"no digits":       {" 000000000000794d 000fea000380000x\n", `a.hex:1:19: "000fea000380000x" is not a hexadecimal number`, 86},
		"bad directive":   {"# .kernel a\n# .regs 300\n", `a.hex:2:1: "300" is not in range (1 to 255)`, 86},
	} {
		_, err := ParseHex("a.hex", test.text, test.arch)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(program)
	f.Add(".arch sm_75\n.kernel a\nHFMA2 R1, -|R2|.H0_H0, 1, -0.5, R3 ;\nEXIT ;\n")
	f.Add(".arch sm_80\n.kernel a\nLDGSTS.E.128 [R1+UR4], desc[UR5][R2.64+0x10], !P1 ;\n@UP0 ULDC.64 UR4, c[0x0][UR6+0x118]\nEXIT ;\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("a.sass", text, 86)
		if err != nil {
			return
		}
		for _, k := range file.Kernels {
			k.Infos()
		}
		again, err := Parse("b.sass", file.Text(), 0)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, file.Text())
		}
		if FormatHex(again) != FormatHex(file) {
			t.Fatalf("words:\n%s\nwere\n%s", FormatHex(again), FormatHex(file))
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(uint64(0x0000000605057223), uint64(0x040fe80000000007), uint8(0))
	f.Add(uint64(0xffffffd000008947), uint64(0x000fea000383ffff), uint8(2))
	f.Fuzz(func(t *testing.T, lo, hi uint64, n uint8) {
		arch := assembled[int(n)%len(assembled)]
		in, err := Decode(arch, [2]uint64{lo, hi}, 0)
		if err != nil {
			return
		}
		if got, err := Assemble(arch, in.Text(), 0); err != nil || word128(got) != (word128{lo, hi}).and(controlMask.not()) {
			t.Fatalf("%s: %016x %016x, %v", in.Text(), got[0], got[1], err)
		}
	})
}
