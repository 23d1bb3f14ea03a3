package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// head returns the header of a launch of two blocks with two warps each.
func head(version, lineInfo int) string {
	s := "-kernel name = _Z1kv\n-kernel id = 3\n-grid dim = (2,1,1)\n-block dim = (48,1,1)\n-shmem = 64\n-nregs = 20\n-binary version = 80\n-cuda stream id = 7\n"
	if version >= 3 {
		s += "-shmem base_addr = 0x00007f5e00000000\n-local mem base_addr = 0x00007f5ddd000000\n-nvbit version = 1.7.4\n"
	}
	if version > 0 {
		s += fmt.Sprintf("-accelsim tracer version = %d\n", version)
	}
	if version >= 4 {
		s += fmt.Sprintf("-enable lineinfo = %d\n", lineInfo)
	}
	s += "\n#traces format =" + formatNote(version) + "\n\n\n"
	if version >= 3 {
		s += "\n"
	}
	return s
}

// two is a whole launch of version 5.
var two = head(5, 0) + `#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 3
0000 ffffffff 1 R1 MOV 0 0 0 
0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 4 0 
0020 ffffffff 0 EXIT 0 0 0 

warp = 1
insts = 2
0000 0000ffff 1 R1 MOV 0 0 0 
0020 0000ffff 0 EXIT 0 0 0 

#END_TB

#BEGIN_TB

thread block = 1,0,0

warp = 0
insts = 2
0010 00000005 1 R2 LDG.E 1 R4 4 2 0x7f0000000080 -64 0 
0020 ffffffff 0 EXIT 0 0 0 

warp = 1
insts = 1
0020 0000ffff 0 EXIT 0 0 0 

#END_TB
`

// file writes a file and returns its path.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// read opens a text as a launch and reads it whole.
func read(t testing.TB, text string) (*trace.Kernel, error) {
	t.Helper()
	k, err := sourceOf(file(t, "kernel-1.traceg", text), 1<<30).Open()
	if err != nil {
		var e *trace.Error
		if !errors.As(err, &e) {
			t.Fatalf("%T is not an error of a trace: %v", err, err)
		}
		if !strings.HasSuffix(e.File, "kernel-1.traceg") {
			t.Errorf("the error does not name the file: %v", err)
		}
		return nil, err
	}
	return k, nil
}

// The header is read unchanged, and missing lines have defaults.
func TestHeader(t *testing.T) {
	k, err := read(t, strings.Replace(two, "-shmem = 64\n", "-shmem = 64\n-cluster dim = (1,1,1)\n", 1))
	if err != nil {
		t.Fatal(err)
	}
	want := trace.Header{Kernel: "_Z1kv", ID: 3, Grid: trace.Dim{2, 1, 1}, Block: trace.Dim{48, 1, 1}, Shared: 64, Registers: 20, Arch: 80, Stream: 7,
		SharedBase: 0x7f5e00000000, LocalBase: 0x7f5ddd000000, NVBit: "1.7.4", Version: 5, Extra: []string{"-cluster dim = (1,1,1)"}}
	if d := cmp.Diff(want, k.Header); d != "" {
		t.Error(d)
	}
	k, err = read(t, "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n#traces\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0 0 0 0 0000 ffffffff 0 EXIT 0 0\n#END_TB\n")
	if err != nil {
		t.Fatal(err)
	}
	want = trace.Header{Kernel: "k", Grid: trace.Dim{1, 1, 1}, Block: trace.Dim{32, 1, 1}}
	if d := cmp.Diff(want, k.Header); d != "" {
		t.Error(d)
	}
}

// A line of each version, with its meaning.
func TestLines(t *testing.T) {
	r := func(n uint16) trace.Reg { return trace.Reg{File: isa.RegGPR, N: n} }
	u := func(n uint16) trace.Reg { return trace.Reg{File: isa.RegUGPR, N: n} }
	for _, c := range []struct {
		version, lineInfo int
		line              string
		want              trace.Static
		mask              uint32
	}{
		{0, 0, "0 0 0 0 0010 ffffffff 1 R1 MOV 0 0 ", trace.Static{PC: 0x10, Op: "MOV", Dsts: []trace.Reg{r(1)}}, 0xffffffff},
		{2, 0, "0 0 0 0 0430 ffff0000 0 STS 2 R25 R8 4 1 0x0000000000000200 4 ", trace.Static{PC: 0x430, Op: "STS", Srcs: []trace.Reg{r(25), r(8)}, Width: 4}, 0xffff0000},
		{3, 0, "0050 00000000 0 EXIT 0 0 ", trace.Static{PC: 0x50, Op: "EXIT"}, 0},
		{3, 0, "00d0 00000001 0 STG.E.U8 2 R4 R255 1 2 0x7fc841520000 ", trace.Static{PC: 0xd0, Op: "STG.E.U8", Srcs: []trace.Reg{r(4), r(255)}, Width: 1}, 1},
		{4, 1, "77 0018 ffffffff 1 R0 S2R 0 0", trace.Static{PC: 0x18, Line: 77, Op: "S2R", Dsts: []trace.Reg{r(0)}}, 0xffffffff},
		{5, 0, "12345678 ffffffff 1 R0 MOV 0 0 1073742663 ", trace.Static{PC: 0x12345678, Op: "MOV", Dsts: []trace.Reg{r(0)}, Imms: []int64{1073742663}}, 0xffffffff},
		{5, 1, "9 0030 00000003 1 R8 LDG.E.128.CONSTANT.SYS 1 R44 16 1 0x7efe7b60c300 -16 -5 ",
			trace.Static{PC: 0x30, Line: 9, Op: "LDG.E.128.CONSTANT.SYS", Dsts: []trace.Reg{r(8)}, Srcs: []trace.Reg{r(44)}, Width: 16, Imms: []int64{-5}}, 3},
		{5, 0, "00a0 00000000 1 R8 LDG.E 1 R2 4 1 0x0 0 0 ", trace.Static{PC: 0xa0, Op: "LDG.E", Dsts: []trace.Reg{r(8)}, Srcs: []trace.Reg{r(2)}, Width: 4, Imms: []int64{0}}, 0},
		{6, 0, "0010 ffffffff 1 R4 LDG.E.128 2 R2 UR63 16 1 0x7f00 0 7 2912 NoVal",
			trace.Static{PC: 0x10, Op: "LDG.E.128", Dsts: []trace.Reg{r(4)}, Srcs: []trace.Reg{r(2), u(63)}, Width: 16, Imms: []int64{7, 2912}}, 0xffffffff},
		{6, 0, "0030 ffffffff 4 R20 R21 R22 R23 HMMA.16816.F32 3 R20 R24 R26 0 0 0 NoVal",
			trace.Static{PC: 0x30, Op: "HMMA.16816.F32", Dsts: []trace.Reg{r(20), r(21), r(22), r(23)}, Srcs: []trace.Reg{r(20), r(24), r(26)}, Imms: []int64{0, 0}}, 0xffffffff},
		{6, 0, "0040 0000000f 1 UR4 MOV 1 R3 0 0 0 Val 1 0x5 1 0x6", trace.Static{PC: 0x40, Op: "MOV", Dsts: []trace.Reg{u(4)}, Srcs: []trace.Reg{r(3)}, Imms: []int64{0, 0}}, 15},
		{5, 0, "0060 ffffffff 1 R1  MOV 0 0\t0", trace.Static{PC: 0x60, Op: "MOV", Dsts: []trace.Reg{r(1)}, Imms: []int64{0}}, 0xffffffff},
	} {
		// Twice: the second time the line's form is known.
		text := head(c.version, c.lineInfo) + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n" + c.line + "\n" + c.line + "\n#END_TB\n"
		k, err := read(t, text)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if d := cmp.Diff([]trace.Static{c.want}, k.Code, cmpEmpty); d != "" {
			t.Errorf("%s:\n%s", c.line, d)
		}
		b, err := k.Blocks.Block(0)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range b.Insts {
			if in.Mask != isa.LaneMask(c.mask) || in.Active != in.Mask || (in.Mem >= 0) != (c.want.Width > 0) {
				t.Errorf("%s: %+v", c.line, in)
			}
		}
		if len(b.Insts) != 2 {
			t.Errorf("%s: %d records", c.line, len(b.Insts))
		}
		var out bytes.Buffer
		if err := WriteKernel(&out, k, 0); err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(strings.TrimSpace(c.line), " Val")
		want = strings.Join(strings.Fields(want), " ")
		if strings.Count(out.String(), "\n"+want) != 2 {
			t.Errorf("%q is missing in the output:\n%s", want, out.String())
		}
	}
}

// cmpEmpty treats empty and nil lists as equal.
var cmpEmpty = cmp.FilterValues(func(a, b any) bool { return fmt.Sprint(a) == "[]" && fmt.Sprint(b) == "[]" }, cmp.Ignore())

// Addresses in each mode, lane by lane, with the traps of the format: a difference
// for each lane but the first, none for a single lane, and an immediate after them
// that is not a difference.
func TestAddresses(t *testing.T) {
	lanes := func(m map[int]uint64) (a [32]uint64) {
		for l, x := range m {
			a[l] = x
		}
		return a
	}
	for _, c := range []struct {
		name, text string // of version 5, after the width
		mask       uint32
		want       map[int]uint64
		imm        int64
	}{
		{"list", "0 0x0000000000001000 0xffffffffffffff00 9", 0x80000001, map[int]uint64{0: 0x1000, 31: 0xffffffffffffff00}, 9},
		{"list of none", "0 9", 0, nil, 9},
		{"stride", "1 0x1000 4 9", 0xf0, map[int]uint64{4: 0x1000, 5: 0x1004, 6: 0x1008, 7: 0x100c}, 9},
		{"stride down", "1 0x1000 -16 0", 3, map[int]uint64{0: 0x1000, 1: 0xff0}, 0},
		{"stride 0", "1 0xfffbc8 0 0", 3, map[int]uint64{0: 0xfffbc8, 1: 0xfffbc8}, 0},
		{"stride of none", "1 0x0 0 5", 0, nil, 5},
		{"differences", "2 0x1000 8 -4096 9", 0x85, map[int]uint64{0: 0x1000, 2: 0x1008, 7: 0x8}, 9},
		{"one lane", "2 0x1000 9", 0x10, map[int]uint64{4: 0x1000}, 9},
		{"the last lane", "2 0x1000 9", 0x80000000, map[int]uint64{31: 0x1000}, 9},
		{"far apart", "2 0xffffffffffffffff -9223372036854775807 -1", 3, map[int]uint64{0: 0xffffffffffffffff, 1: 0x8000000000000000}, -1},
	} {
		line := fmt.Sprintf("0010 %08x 1 R2 LDS 1 R4 4 %s \n", c.mask, c.text)
		k, err := read(t, head(5, 0)+"#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n"+line+line+"#END_TB\n")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if k.Code[0].Imms[0] != c.imm {
			t.Errorf("%s: the immediate is %d, want %d", c.name, k.Code[0].Imms[0], c.imm)
		}
		b, _ := k.Blocks.Block(0)
		for _, in := range b.Insts {
			var addr [32]uint64
			b.Expand(&b.Mems[in.Mem], in.Mask, &addr)
			if want := lanes(c.want); addr != want {
				t.Errorf("%s: %x, want %x", c.name, addr, want)
			}
		}
	}
}

// Instructions that differ in anything but addresses are distinct, even with the
// same pc, and are sorted by pc.
func TestOnePC(t *testing.T) {
	lines := []string{"0020 ffffffff 0 EXIT 0 0 0", "0010 ffffffff 1 R1 MOV 0 0 0", "0010 ffffffff 1 R1 MOV 0 0 1", "0010 ffffffff 1 R2 MOV 0 0 0",
		"0010 ffffffff 1 R1 FADD 0 0 0", "0010 ffffffff 1 R1 LDS 1 R2 4 1 0x10 4 0", "0010 ffffffff 1 R1 LDS 1 R2 4 1 0x10 4 1"}
	lines = append(lines, lines...)
	k, err := read(t, head(5, 0)+fmt.Sprintf("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n", len(lines))+strings.Join(lines, "\n")+"\n#END_TB\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Code) != 7 || k.Code[6].Op != "EXIT" {
		t.Errorf("the code is %+v", k.Code)
	}
	b, _ := k.Blocks.Block(0)
	for i, in := range b.Insts {
		if st := k.Code[in.At]; !strings.Contains(lines[i], " "+st.Op+" ") || !strings.HasSuffix(lines[i], fmt.Sprint(st.Imms[0])) {
			t.Errorf("line %q was read as %+v", lines[i], st)
		}
	}
}

// Thousands of instructions may share a pc without slowing reading down or being
// mixed up.
func TestCrowdedPC(t *testing.T) {
	const n = 50_000
	var s strings.Builder
	fmt.Fprintf(&s, "%s#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n", head(5, 0), n)
	for i := range n {
		fmt.Fprintf(&s, "0010 ffffffff 1 R1 MOV 0 0 %d\n", i)
	}
	s.WriteString("#END_TB\n")
	before := time.Now()
	k, err := read(t, s.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Code) != n {
		t.Errorf("%d instructions", len(k.Code))
	}
	if d := time.Since(before); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Errors in a file name the line and block.
func TestWrong(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"-kernel name = _Z1kv\n", "", "no line \"-kernel name"},
		{"-grid dim = (2,1,1)", "-grid dim = (2,1", ":3: \"(2,1\" is not an extent"},
		{"-grid dim = (2,1,1)", "-grid dim = (2,0,1)", "y is between 1 and 65535"},
		{"-grid dim = (2,1,1)", "-grid dim = (99999999999,1,1)", "is not an extent"},
		{"-block dim = (48,1,1)", "-block dim = (1024,1024,1)", "more than the 1024 of any GPU"},
		{"-block dim = (48,1,1)", "-block dim = (48,1,1)\n-block dim = (48,1,1)", ":5: the header has \"block dim\" twice"},
		{"-nregs = 20", "-nregs = many", "\"many\" is not a number, as \"nregs\" needs"},
		{"-shmem = 64", "-shmem = 107374182400", "is not a possible value of \"shmem\""},
		{"version = 5", "version = 7", "unknown tracer version 7"},
		{"-shmem = 64", "shmem = 64", ":5: header lines begin with '-'"},
		{"#BEGIN_TB", "#BEGIN", ":19: expected #BEGIN_TB"},
		{"thread block = 1,0,0", "thread block = 2,0,0", "no thread block 2,0,0 in a grid of 2,1,1"},
		{"thread block = 1,0,0", "thread block = 0,0,0", "thread block 0,0,0: this thread block appears twice"},
		{"thread block = 1,0,0", "thread block = 1,0", "expected \"thread block = x,y,z\""},
		{"warp = 1", "warp = 2", "thread block 0,0,0, warp 0: there is no warp 2 in a thread block of 2 warps"},
		{"warp = 1", "warp = 0", "thread block 0,0,0, warp 0: warp 0 after warp 0"},
		{"warp = 1", "warp = one", "expected \"warp = N\" or #END_TB"},
		{"insts = 3", "insts = 4", ":29: thread block 0,0,0, warp 0: only 3 of 4 instructions are present"},
		{"insts = 3", "insts = 2", ":27: thread block 0,0,0, warp 0: there are more instructions"},
		{"insts = 3", "insts = 99999999999", "99999999999 instructions of one warp are more than"},
		{"insts = 3", "insts = 99999999999999999999999", "expected \"insts = N\""},
		{"insts = 3\n", "", "expected \"insts = N\""},
		{"0000 ffffffff", "00x0 ffffffff", ":25: thread block 0,0,0, warp 0: expected an instruction, which begins with its pc"},
		{"0000 ffffffff", "000000000 ffffffff", "begins with its pc"},
		{"0000 ffffffff", "0000 fffffff", "a mask of eight"},
		{"1 R1 MOV", "2 R1 MOV", "destinations"},
		{"1 R1 MOV", "1 R256 MOV", "destinations"},
		{"1 R1 MOV", "99999999 R1 MOV", "destinations"},
		{"1 R1 MOV", "1 R1 mov", "expected an opcode"},
		{"MOV 0 0", "MOV 1 0", "sources"},
		{"MOV 0 0", "MOV 0 256", "a width in bytes"},
		{"MOV 0 0 0", "MOV 0 0", "the immediate is missing"},
		{"MOV 0 0 0", "MOV 0 0 0 0", "more than version 5 allows"},
		{"MOV 0 0 0", "MOV 0 0 x", "expected an immediate"},
		{"4 1 0x7f", "4 3 0x7f", "invalid mode of addresses; want 0, 1 or 2"},
		{"4 1 0x7f0000000000 4 0", "4", "the mode of the addresses is missing"},
		{"4 1 0x7f0000000000 4 0", "4 1 0xx", "expected a base address"},
		{"4 1 0x7f0000000000 4 0", "4 1 0x10000000000000000 4 0", "expected a base address"},
		{"4 1 0x7f0000000000 4 0", "4 1 0x7f0000000000 4294967296 0", "a stride of at most 32 bits"},
		{"4 2 0x7f0000000080 -64 0", "4 2 0x7f0000000080", "a difference of addresses"},
		{"4 2 0x7f0000000080 -64 0", "4 0 0x7f0000000080", "an address for each lane"},
		{"#END_TB\n\n#BEGIN_TB", "#BEGIN_TB", "expected \"warp = N\" or #END_TB"},
		{"#BEGIN_TB\n\nthread block = 1", "thread block = 1", "expected #BEGIN_TB"},
		{"0x7f0000000000 4", "0x0 4", ""}, // one of two: a warning
	} {
		if !strings.Contains(two, c.from) {
			t.Fatalf("%q is not in the file", c.from)
		}
		k, err := read(t, strings.Replace(two, c.from, c.to, 1))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q for %q: %v", c.to, c.from, err)
		case c.want == "" && !strings.Contains(fmt.Sprint(k.Warnings), ":26: thread block 0,0,0, warp 0: a lane accesses global memory at address 0"):
			t.Errorf("%q for %q: the warnings are %v", c.to, c.from, k.Warnings)
		case c.want != "" && err == nil:
			t.Errorf("%q for %q: no error", c.to, c.from)
		case c.want != "" && !strings.Contains(err.Error(), c.want):
			t.Errorf("%q for %q: the error is\n%v, want\n%s", c.to, c.from, err, c.want)
		}
	}
}

// Lines of the first generation name their block and warp; lines of other blocks
// are detected.
func TestMixedUp(t *testing.T) {
	text := head(0, 0) + "#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\ninsts = 1\n0 0 0 1 0000 0000ffff 0 EXIT 0 0\n#END_TB\n"
	_, err := read(t, text)
	if err == nil || !strings.Contains(err.Error(), "this line belongs to thread block 0,0,0, warp 1") {
		t.Error(err)
	}
}

// A trace without addresses is useless, and the message says so.
func TestNoAddresses(t *testing.T) {
	text := strings.NewReplacer("0x7f0000000000 4", "0x0 0", "0x7f0000000080 -64", "0x0 0").Replace(two)
	_, err := read(t, text)
	if err == nil || !strings.Contains(err.Error(), "all 2 accesses to global memory have address 0") || !strings.Contains(err.Error(), ":26: thread block 0,0,0, warp 0") {
		t.Error(err)
	}
}

// Oddities that leave a trace usable cause a warning.
func TestOdd(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"0020 0000ffff 0 EXIT", "0020 0000ffff 0 NOP", "thread block 0,0,0, warp 1: the warp does not end with EXIT"},
		{"warp = 1\ninsts = 2\n0000 0000ffff 1 R1 MOV 0 0 0 \n0020 0000ffff 0 EXIT 0 0 0 \n\n", "", "thread block 0,0,0: only 1 of 2 warps are present"},
		{"insts = 2\n0000 0000ffff 1 R1 MOV 0 0 0 \n0020 0000ffff 0 EXIT 0 0 0 \n\n", "insts = 0\n\n", "thread block 0,0,0, warp 1: the warp has no instructions"},
		{"0000 0000ffff 1 R1 MOV 0 0 0 \n0020 0000ffff 0 EXIT 0 0 0 ", "0020 00000001 0 EXIT 0 0 0 \n0020 0000ffff 0 EXIT 0 0 0 ", ":32: thread block 0,0,0, warp 1: a lane continues after its EXIT"},
		{"-grid dim = (2,1,1)", "-grid dim = (9,1,1)", "2 of 9 thread blocks are present"},
	} {
		k, err := read(t, strings.Replace(two, c.from, c.to, 1))
		if err != nil {
			t.Errorf("%q: %v", c.to, err)
			continue
		}
		if !strings.Contains(strings.Join(k.Warnings, "\n"), c.want) {
			t.Errorf("%q: the warnings are %q", c.to, k.Warnings)
		}
	}
	k, err := read(t, two)
	if err != nil || len(k.Warnings) > 0 {
		t.Errorf("a launch without faults: %v, %v", err, k.Warnings)
	}
}

// Blocks may come in any order, which Present gives.
func TestBlockOrder(t *testing.T) {
	text := strings.NewReplacer("thread block = 0,", "thread block = 1,", "thread block = 1,", "thread block = 0,").Replace(two)
	k, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]uint64{1, 0}, k.Present); d != "" {
		t.Error(d)
	}
	flat(t, k)
}

// A file truncated anywhere causes an error, except between blocks: then blocks are
// missing, which causes a warning. Nothing panics, with any compression.
func TestCutOff(t *testing.T) {
	whole, err := read(t, two)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, packing := range []string{"", "gz", "xz", "zst"} {
		var packed bytes.Buffer
		w, err := pack(&packed, packing)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, two)
		w.Close()
		path := filepath.Join(dir, "kernel-1.traceg"+packing)
		step := 1
		if packing != "" {
			step = alltests.Count(3, 1)
		}
		for n := 0; n < packed.Len(); n += step {
			if err := os.WriteFile(path, packed.Bytes()[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			k, err := sourceOf(path, 0).Open()
			if err != nil {
				var e *trace.Error
				if !errors.As(err, &e) {
					t.Fatalf("%s cut at %d: %T: %v", packing, n, err, err)
				}
				continue
			}
			have := string(packed.Bytes()[:n])
			complete := k.WarpInsts == whole.WarpInsts // except for a checksum or the last newline
			switch {
			case packing == "" && strings.HasSuffix(strings.TrimSpace(have), lineEnd) && (complete || len(k.Warnings) == 1):
			case packing != "" && complete:
			default:
				t.Errorf("%s cut at %d of %d: no error, %d instructions, warnings %q", packing, n, packed.Len(), k.WarpInsts, k.Warnings)
			}
			if len(flat(t, k)) != int(k.WarpInsts) {
				t.Errorf("%s cut at %d: records that were counted are missing", packing, n)
			}
			k.Blocks.Close()
		}
	}
}

// Damaged data is reported with the file; one byte is inverted at a time.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	for _, packing := range []string{"gz", "xz", "zst"} {
		var packed bytes.Buffer
		w, err := pack(&packed, packing)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, two)
		w.Close()
		path := filepath.Join(dir, "kernel-1.traceg."+packing)
		errs := 0
		for n := range packed.Len() {
			b := bytes.Clone(packed.Bytes())
			b[n] ^= 0xff
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			k, err := sourceOf(path, 0).Open()
			if err != nil {
				errs++
				continue
			}
			k.Blocks.Close()
		}
		// Some bytes have no effect: times, and checksums that are not verified.
		if errs < packed.Len()*8/10 {
			t.Errorf("%s: only %d of %d damaged bytes were detected", packing, errs, packed.Len())
		}
	}
}

// An .xz file cannot claim a dictionary of gigabytes.
func TestDictionary(t *testing.T) {
	var packed bytes.Buffer
	w, _ := pack(&packed, "xz")
	io.WriteString(w, two)
	w.Close()
	b := packed.Bytes()
	if n := xzDictionary(b); n != 8<<20 {
		t.Errorf("the dictionary has %d bytes; the writer's default is 8 MiB", n)
	}
	at := bytes.IndexByte(b[12:], 0x21) + 14
	b[at] = 40
	_, err := sourceOf(file(t, "kernel-1.traceg.xz", string(b)), 0).Open()
	if err == nil || !strings.Contains(err.Error(), "dictionary of 4096 MiB") && !strings.Contains(err.Error(), "dictionary of 6144 MiB") {
		t.Error(err)
	}
}

// Blocks that are read again are the same in any order of requests, from a plain
// and a compressed file, and buffers are reused.
func TestStream(t *testing.T) {
	text := string(generated(700, 2))
	plain := file(t, "kernel-1.traceg", text)
	var packed bytes.Buffer
	w, _ := pack(&packed, "gz")
	io.WriteString(w, text)
	w.Close()
	zipped := file(t, "kernel-1.traceg.gz", packed.String())
	kept := openWith(t, plain, 1<<30)
	for _, path := range []string{plain, zipped} {
		k := openWith(t, path, 50_000)
		r := rand.New(rand.NewPCG(3, 4))
		at := 0
		for n := range alltests.Count(120, 300) {
			switch {
			case n%50 == 49:
				at = r.IntN(700)
			case at < 699:
				at++
			}
			b, err := k.Blocks.Block(at)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := kept.Blocks.Block(at)
			if d := cmp.Diff(want, b, cmpEmpty); d != "" {
				t.Fatalf("%s, block %d: %s", path, at, d)
			}
			if n%3 > 0 {
				k.Blocks.Free(b)
				k.Blocks.Free(b)
			}
		}
		k.Blocks.Close()
		if _, err := k.Blocks.Block(0); err == nil {
			t.Error("a block of a closed launch was returned")
		}
	}
}

// A pass allocates memory for the blocks in use, not for those in the file.
func TestMemory(t *testing.T) {
	path := file(t, "kernel-1.traceg", string(generated(2000, 10)))
	k := openWith(t, path, 0)
	defer k.Blocks.Close()
	var before, after runtime.MemStats
	pass := func() {
		for i := range k.Present {
			b, err := k.Blocks.Block(i)
			if err != nil {
				t.Fatal(err)
			}
			k.Blocks.Free(b)
		}
	}
	runtime.ReadMemStats(&before)
	pass()
	runtime.ReadMemStats(&after)
	// A record takes at least 20 bytes, so all blocks would take 22 MB.
	if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
		t.Errorf("a pass over %d records allocated %d bytes", k.WarpInsts, n)
	}
}

// A file that changes between the passes is detected.
func TestChanged(t *testing.T) {
	path := file(t, "kernel-1.traceg", two)
	k := openWith(t, path, 0)
	defer k.Blocks.Close()
	os.WriteFile(path, []byte(strings.Replace(two, "1 R1 MOV", "1 R1 NOT", 1)), 0o666)
	_, err := k.Blocks.Block(0)
	if err == nil || !strings.Contains(err.Error(), "changed while it was being read") {
		t.Error(err)
	}
}

var blockLine = regexp.MustCompile(`^thread block = (\d+),(\d+),(\d+)$`)

// ungrouped turns a grouped file into what the tracer writes: the lines of all
// warps interleaved, each with its block and warp, and with further columns on
// request.
func ungrouped(text string, more string, r *rand.Rand) string {
	var out strings.Builder
	var queues [][]string
	block := ""
	for _, line := range strings.SplitAfter(text, "\n") {
		s := strings.TrimRight(line, "\n")
		switch m := blockLine.FindStringSubmatch(s); {
		case m != nil:
			block = m[1] + " " + m[2] + " " + m[3]
		case strings.HasPrefix(s, lineWarp):
			queues = append(queues, []string{block + " " + s[len(lineWarp):] + more + " "})
		case s == "" || strings.HasPrefix(s, lineInsts) || s == lineBegin || s == lineEnd:
		case len(queues) > 0:
			queues[len(queues)-1] = append(queues[len(queues)-1], s)
		default:
			out.WriteString(line)
		}
	}
	for len(queues) > 0 {
		i := r.IntN(len(queues))
		q := queues[i]
		fmt.Fprintf(&out, "%s%s\n", q[0], q[1])
		if queues[i] = append(q[:1], q[2:]...); len(queues[i]) == 1 {
			queues = append(queues[:i], queues[i+1:]...)
		}
	}
	return out.String()
}

// Files as the tracer wrote them are grouped when they are read.
func TestRaw(t *testing.T) {
	grouped := string(generated(5, 3))
	want := flat(t, mustRead(t, grouped))
	for _, more := range []string{"", " 17 3", " 0 0 0 0 0 0 0"} {
		raw := ungrouped(grouped, more, rand.New(rand.NewPCG(5, 6)))
		if strings.Contains(raw, lineBegin) || strings.Count(raw, "\n") < 100 {
			t.Fatal("the file is not raw")
		}
		k := mustRead(t, raw)
		if len(k.Warnings) > 0 {
			t.Errorf("columns %q: %v", more, k.Warnings)
		}
		if k.WarpInsts != uint64(len(want)) {
			t.Errorf("columns %q: %d records were counted, want %d", more, k.WarpInsts, len(want))
		}
		same(t, "columns "+more, flat(t, k), want)
	}
}

// The tracer writes two records for an LDGSTS: destination and source.
func TestRawAsync(t *testing.T) {
	raw := head(5, 0) + `0 0 0 0 0010 ffffffff 0 LDGSTS.E.128 2 R6 R8 16 1 0x400 16 0 
0 0 0 0 0010 ffffffff 0 LDGSTS.E.128 2 R6 R8 16 1 0x7f0000000000 16 0 
0 0 0 0 0020 ffffffff 0 EXIT 0 0 0 
`
	k := mustRead(t, raw)
	b, _ := k.Blocks.Block(0)
	if k.WarpInsts != 2 || len(b.Insts) != 2 || b.Insts[0].NMems != 2 || b.Mems[0].Base != 0x400 || b.Mems[1].Base != 0x7f0000000000 {
		t.Errorf("%d, %+v", k.WarpInsts, b)
	}
	var out bytes.Buffer
	if err := WriteKernel(&out, k, 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "insts = 2\n0010 ffffffff 0 LDGSTS.E.128 2 R6 R8 16 1 0x7f0000000000 16 0 \n0020") {
		t.Error(out.String())
	}
}

// Errors in raw files.
func TestRawWrong(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"0 0 0 0010 ffffffff 0 NOP 0 0 0", "expected block and warp, the pc and a mask"},
		{"7 0 0 0 0010 ffffffff 0 NOP 0 0 0", "no thread block 7,0,0"},
		{"0 0 0 2 0010 ffffffff 0 NOP 0 0 0", "no warp 2"},
		{"0 0 0 0 0010 ffffffff 0 nop 0 0 0", "expected an opcode"},
		{"0 0 0 0 0010 ffffffff 0 NOP 0 0 0\n#BEGIN_TB", "expected block and warp"},
	} {
		_, err := read(t, head(5, 0)+c.line+"\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.line, err)
		}
	}
}

func mustRead(t testing.TB, text string) *trace.Kernel {
	t.Helper()
	k, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Written as another version, a launch keeps everything that the version can
// express.
func TestOtherVersions(t *testing.T) {
	want := flat(t, mustRead(t, two))
	for version := 3; version <= maxVersion; version++ {
		var out bytes.Buffer
		if err := WriteKernel(&out, mustRead(t, two), version); err != nil {
			t.Fatal(err)
		}
		k := mustRead(t, out.String())
		if k.Version != version {
			t.Errorf("version %d was written as %d", version, k.Version)
		}
		var again bytes.Buffer
		if err := WriteKernel(&again, k, 0); err != nil {
			t.Fatal(err)
		}
		if again.String() != out.String() {
			t.Errorf("version %d is not the same when it is written again", version)
		}
		have := flat(t, k)
		for i := range have {
			have[i].imms = "0" // the file has only zeros, and versions have none, one or two of them
		}
		same(t, fmt.Sprintf("version %d", version), have, want)
	}
	for _, version := range []int{1, 2, 7, -1} {
		if err := WriteKernel(io.Discard, mustRead(t, two), version); err == nil {
			t.Errorf("version %d was written", version)
		}
	}
}

// A launch of the first generation becomes one of version 5, with defaults for what
// the first generation lacks.
func TestFirstGeneration(t *testing.T) {
	k := openWith(t, "testdata/lud/kernel-8.traceg", 0)
	defer k.Blocks.Close()
	var out bytes.Buffer
	if err := WriteKernel(&out, k, 5); err != nil {
		t.Fatal(err)
	}
	want := flat(t, k)
	for i := range want {
		want[i].imms = "0"
	}
	same(t, "lud as version 5", flat(t, mustRead(t, out.String())), want)
	for _, line := range []string{"-accelsim tracer version = 5\n", "-shmem base_addr = 0x0000000000000000\n", "0430 ffff0000 0 STS 2 R25 R8 4 1 0x200 4 0 \n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("there is no line %q", line)
		}
	}
}

// What a version cannot express is left out, by its rules for registers.
func TestLeftOut(t *testing.T) {
	k := mustRead(t, head(6, 0)+`#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 4
0010 ffffffff 4 R20 R21 R22 R23 HMMA.16816.F32 4 R20 UR4 R24 R26 0 1 2 NoVal
0020 ffffffff 1 UR4 R2UR 1 R3 0 0 4294967295 NoVal
0030 ffffffff 0 BRA 1 UR63 0 0 -96 NoVal
0040 ffffffff 0 EXIT 0 0 0 0 NoVal
#END_TB
`)
	var out bytes.Buffer
	if err := WriteKernel(&out, k, 5); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"0010 ffffffff 1 R20 HMMA.16816.F32 3 R20 R24 R26 0 2 \n",
		"0020 ffffffff 0 R2UR 1 R3 0 -1 \n",
		"0030 ffffffff 0 BRA 0 0 -96 \n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("there is no line %q in\n%s", line, out.String())
		}
	}
}

// Any bytes give an error or a readable launch, and what can be written can be
// read.
func FuzzKernel(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte(ungrouped(two, "", rand.New(rand.NewPCG(1, 1)))))
	f.Add([]byte(head(6, 1) + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n5 0010 00000003 1 R1 LDG.E 1 R2 4 0 0x10 0x20 0 0 NoVal\n#END_TB\n"))
	f.Add([]byte(head(0, 0) + "#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\ninsts = 1\n1 0 0 1 0000 0000ffff 0 EXIT 0 0\n#END_TB\n"))
	for _, packing := range []string{"gz", "xz", "zst"} {
		var b bytes.Buffer
		w, _ := pack(&b, packing)
		io.WriteString(w, two)
		w.Close()
		f.Add(b.Bytes())
	}
	path := filepath.Join(f.TempDir(), "kernel-1.traceg")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		k, err := sourceOf(path, 0).Open()
		if err != nil {
			var e *trace.Error
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		defer k.Blocks.Close()
		records := flat(t, k)
		if uint64(len(records)) != k.WarpInsts {
			t.Fatalf("%d records, %d were counted", len(records), k.WarpInsts)
		}
		var out bytes.Buffer
		if err := WriteKernel(&out, k, 0); err != nil {
			t.Fatal(err)
		}
		again := filepath.Join(t.TempDir(), "again.traceg")
		os.WriteFile(again, out.Bytes(), 0o666)
		k2, err := sourceOf(again, 1<<20).Open()
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.Bytes())
		}
		same(t, "written again", flat(t, k2), records)
	})
}
