package modern

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// loadSASS prepares a block of a kernel for sm_86, or for what stands before " | ", whose parameter is the address of a
// buffer of the given size.
func loadSASS(t testing.TB, cfg Config, threads, bytes int, body string) (*rig, *Kernel, exec.Work, func() []byte) {
	t.Helper()
	arch, rest, given := strings.Cut(body, " | ")
	if !given {
		arch, rest = "sm_86", body
	}
	text := ".arch " + arch + "\n.kernel probe\n.param out, 8\n.regs 64\n.shared 4096\n" + rest
	f, err := sass.Parse("probe.sass", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := xsass.Load(f).Kernel("probe")
	if !ok || len(k.Unusable()) > 0 {
		t.Fatalf("kernel: %v", k.Unusable())
	}
	dev := device.New(device.Config{})
	at, err := dev.Alloc(uint64(bytes), "out")
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Write(at, make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	w, err := xsass.NewMachine(dev).NewWork(xsass.Launch{
		Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: uint32(threads), Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, at),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, cfg)
	w.Traits().SetTime(&g.cycle, 1e9)
	mk, err := NewKernel(g.core.Config(), w, core.KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g, mk, w, func() []byte {
		b := make([]byte, bytes)
		if err := dev.Read(at, b); err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// trySASS runs a block of a kernel for sm_86 whose parameter is the address of a buffer
// of 4 KiB, and returns the buffer as words; the error is the fault that ended it.
func trySASS(t *testing.T, cfg Config, threads int, body string) ([]uint32, *rig, error) {
	t.Helper()
	g, k, w, read := loadSASS(t, cfg, threads, 4096, body)
	g.core.CheckHazards()
	if !g.core.Launch(k, w.Block(0)) {
		t.Fatal("no room")
	}
	for g.ended == 0 {
		if g.tick(); g.cycle > 100_000 {
			t.Fatalf("no end; states %v", g.core.Stats.States)
		}
		if err := g.core.Err(); err != nil {
			return nil, g, err
		}
	}
	b := read()
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out, g, nil
}

func runSASS(t *testing.T, cfg Config, threads int, body string) ([]uint32, *rig) {
	t.Helper()
	out, g, err := trySASS(t, cfg, threads, body)
	if err != nil {
		t.Fatal(err)
	}
	return out, g
}

// Listing 2 with real instructions, timed by its own clock reads.
func TestSASSListing2(t *testing.T) {
	for _, c := range []struct {
		stall  int
		cycles uint32
		r5     uint32
		found  int
	}{{1, 5, 0x40000000, 1}, {4, 8, 0x40c00000, 0}} {
		out, g := runSASS(t, warm(), 32, fmt.Sprintf(`
[B------:R-:W-:-:S02]      MOV R8, c[0x0][0x160] ;
[B------:R-:W-:-:S04]      MOV R9, c[0x0][0x164] ;
[B------:R-:W-:-:S04]      MOV R1, 0x3f800000 ;
[B------:R-:W-:-:S01]      FADD R1, RZ, 1 ;
[B------:R-:W-:-:S01]      FADD R2, RZ, 1 ;
[B------:R-:W-:-:S02]      FADD R3, RZ, 1 ;
[B------:R-:W-:-:S01]      CS2R.32 R14, SR_CLOCKLO ;
[B------:R-:W-:-:S01]      NOP ;
[B------:R-:W-:-:S%02d]      FADD R1, R2, R3 ;
[B------:R-:W-:-:S01]      FFMA R5, R1, R1, R1 ;
[B------:R-:W-:-:S01]      NOP ;
[B------:R-:W-:-:S05]      CS2R.32 R24, SR_CLOCKLO ;
[B------:R-:W-:-:S05]      IADD3 R24, R24, -R14, RZ ;
[B------:R0:W-:-:S02]      STG.E [R8.64], R24 ;
[B------:R0:W-:-:S02]      STG.E [R8.64+0x4], R5 ;
[B0-----:R-:W-:-:S05]      EXIT ;
`, c.stall))
		if out[0] != c.cycles || out[1] != c.r5 {
			t.Errorf("stall %d: %d cycles and R5 = %#x, measured %d and %#x", c.stall, out[0], out[1], c.cycles, c.r5)
		}
		list := g.core.Hazards()
		if len(list) != c.found || c.found > 0 && !strings.Contains(list[0].String(), "FFMA") {
			t.Errorf("stall %d: hazards %v", c.stall, list)
		}
	}
}

// Listing 3 with real instructions: the upper half of an address is one cycle too late
// for a load.
func TestSASSListing3(t *testing.T) {
	for stall, ok := range map[int]bool{4: false, 5: true} {
		_, g, err := trySASS(t, warm(), 32, fmt.Sprintf(`
[B------:R-:W-:-:S01]      MOV R41, 0x7777 ;
[B------:R-:W-:-:S02]      MOV R40, c[0x0][0x160] ;
[B------:R-:W-:-:S04]      MOV R43, c[0x0][0x164] ;
[B------:R-:W-:-:S%02d]      MOV R41, R43 ;
[B------:R-:W0:-:S02]      LDG.E R36, [R40.64] ;
[B0-----:R-:W-:-:S05]      EXIT ;
`, stall))
		var fault *exec.Fault
		if (err == nil) != ok || err != nil && !errors.As(err, &fault) {
			t.Errorf("stall %d: %v", stall, err)
		}
		if n := len(g.core.Hazards()); (n == 0) != ok {
			t.Errorf("stall %d: %d hazards", stall, n)
		}
	}
}

// A reduction over shared memory with barriers, two warps per sub-core.
func TestSASSReduction(t *testing.T) {
	out, g := runSASS(t, Ampere(), 256, `
[B------:R-:W0:-:S02]      S2R R0, SR_TID.X ;
[B------:R-:W-:-:S02]      MOV R8, c[0x0][0x160] ;
[B------:R-:W-:-:S04]      MOV R9, c[0x0][0x164] ;
[B0-----:R-:W-:-:S05]      SHF.L.U32 R2, R0, 0x2, RZ ;
[B------:R0:W-:-:S02]      STS [R2], R0 ;
[B------:R-:W-:-:S04]      MOV R4, 0x80 ;
loop:
[B------:R-:W-:-:S05]      BAR.SYNC 0x0 ;
[B------:R-:W-:Y:S13]      ISETP.GE.AND P0, PT, R0, R4, PT ;
[B------:R-:W-:-:S05]      LEA R5, R4, R2, 0x2 ;
[B------:R-:W1:-:S02] @!P0 LDS R6, [R5] ;
[B------:R-:W1:-:S02] @!P0 LDS R7, [R2] ;
[B01----:R-:W-:-:S05] @!P0 IADD3 R6, R6, R7, RZ ;
[B------:R0:W-:-:S02] @!P0 STS [R2], R6 ;
[B------:R-:W-:-:S05]      SHF.R.U32.HI R4, RZ, 0x1, R4 ;
[B------:R-:W-:Y:S13]      ISETP.NE.AND P1, PT, R4, RZ, PT ;
[B------:R-:W-:-:S05]  @P1 BRA loop ;
[B------:R-:W-:-:S05]      BAR.SYNC 0x0 ;
[B------:R-:W-:Y:S13]      ISETP.NE.AND P0, PT, R0, RZ, PT ;
[B------:R-:W-:-:S05]  @P0 EXIT ;
[B------:R-:W1:-:S02]      LDS R6, [RZ] ;
[B-1----:R0:W-:-:S02]      STG.E [R8.64], R6 ;
[B0-----:R-:W-:-:S05]      EXIT ;
`)
	if out[0] != 255*256/2 {
		t.Errorf("sum %d, want %d", out[0], 255*256/2)
	}
	for _, h := range g.core.Hazards() {
		t.Error(h.String())
	}
}

// BenchmarkSASS times a block of 32 warps of real instructions, with values and
// loads that miss the L1D.
func BenchmarkSASS(b *testing.B) {
	g, k, w, _ := loadSASS(b, Ampere(), 1024, 1<<20, `
[B------:R-:W0:-:S02]      S2R R0, SR_TID.X ;
[B------:R-:W-:-:S02]      MOV R8, c[0x0][0x160] ;
[B------:R-:W-:-:S05]      MOV R9, c[0x0][0x164] ;
[B0-----:R-:W-:-:S05]      IMAD.WIDE.U32 R8, R0, 0x10, R8 ;
[B------:R-:W-:-:S01]      MOV R20, RZ ;
[B------:R-:W-:-:S05]      MOV R21, RZ ;
loop:
[B------:R-:W-:-:S04]      LOP3.LUT R28, R20, 0x3f, RZ, 0xc0, !PT ;
[B------:R-:W-:-:S05]      IMAD.WIDE.U32 R10, R28, 0x4000, R8 ;
[B------:R-:W1:-:S01]      LDG.E.128 R12, [R10.64] ;
[B------:R-:W-:-:S01]      FADD R22, R20, 1 ;
[B------:R-:W-:-:S01]      FMUL R23, R21, R20 ;
[B------:R-:W-:-:S04]      IADD3 R20, R20, 0x1, RZ ;
[B-1----:R-:W-:-:S01]      FFMA R24, R12, R13, R24 ;
[B------:R-:W-:-:S01]      FFMA R25, R14, R15, R25 ;
[B------:R-:W-:-:S01]      FFMA R26, R12, R15, R26 ;
[B------:R-:W-:-:S01]      FFMA R27, R14, R13, R27 ;
[B------:R-:W-:-:S05]      BRA loop ;
[B------:R-:W-:-:S05]      EXIT ;
`)
	g.delay = 300
	if !g.core.Launch(k, w.Block(0)) {
		b.Fatal("no room")
	}
	for range 5000 {
		g.tick()
	}
	from := g.core.Stats.WarpInsts
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 {
			g.tick()
		}
	}
	b.ReportMetric(float64(g.core.Stats.WarpInsts-from)/b.Elapsed().Seconds()/1e6, "M-insts/s")
	if err := g.core.Err(); err != nil {
		b.Fatal(err)
	}
	l1 := &g.core.L1D().Stats
	b.ReportMetric(float64(l1.Of(cache.Miss)+l1.Of(cache.SectorMiss))/float64(l1.Of(cache.Hit)+1), "misses/hit")
}

// Instructions at the least distance that NVIDIA's compiler keeps in machine code for sm_86
// compute what they compute at any distance, and the checker says nothing.
func TestDistancesOfCompilers(t *testing.T) {
	for _, c := range []struct{ name, code string }{
		{"packed halves", "[B------:R-:W-:-:S04] HFMA2 R6, R4, R5, R4\n[-] HFMA2 R7, R6, R5, R4"},
		{"a half into a queue", "[B------:R-:W-:-:S04] HADD2.F32 R6, R4.H0_H0, R5.H0_H0\n[B------:R-:W0:-:S02] MUFU.RCP R7, R6"},
		{"an integer into a queue", "[B------:R-:W-:-:S04] IADD3 R6, R4, R5, RZ\n[B------:R-:W0:-:S02] I2F.U32.RP R7, R6"},
		{"an integer into an address unit", "[B------:R-:W-:-:S05] LOP3.LUT R6, R4, 0xc, RZ, 0xc0, !PT\n[B------:R-:W0:-:S02] LDS R7, [R6]"},
		{"a matrix product", "[B------:R-:W-:Y:S12] HMMA.16816.F32 R28, R12, R16, R20\n[B------:R-:W-:Y:S12] NOP\n[-] MOV R7, R28"},
		{"a matrix product into a queue", "[B------:R-:W-:Y:S12] HMMA.16816.F32 R28, R12, R16, R20\n[B------:R-:W-:-:S10] NOP\n[B------:R-:W0:-:S02] MUFU.RCP R7, R28"},
		{"a constant in a uniform register", "[B------:R-:W-:-:S02] ULDC UR4, c[0x0][0x0]\n[-] IADD3 R7, R4, UR4, RZ"},
		{"a uniform sum", "[B------:R-:W-:-:S06] UIADD3 UR4, UR4, 0x3, URZ\n[-] IADD3 R7, R4, UR4, RZ"},
		{"a uniform address", "[B------:R-:W-:-:S09] UIADD3 UR4, UR4, 0x8, URZ\n[B------:R-:W0:-:S02] LDS R7, [UR4]"},
		{"a uniform register by its counter", "[B------:R-:W-:-:S05] LOP3.LUT R6, R4, 0xc, RZ, 0xc0, !PT\n[B------:R-:W0:-:S02] R2UR UR4, R6\n[B0-----:R-:W0:-:S02] LDS R7, [UR4]"},
		{"a predicate as an operand", "[B------:R-:W-:-:S04] ISETP.NE.AND P0, PT, R4, R5, PT\n[-] SEL R7, R4, R5, P0"},
		{"predicates in a register", "[B------:R-:W-:-:S04] P2R R6, PR, RZ, 0x3\n[-] IADD3 R7, R6, R4, RZ"},
		{"predicates are written in order", "[B------:R-:W-:-:S01] ISETP.NE.AND P0, PT, R4, R5, PT\n[B------:R-:W-:Y:S13] IADD3 R6, P0, R4, R5, RZ\n[-] @P0 MOV R7, R4"},
		{"a uniform register is read at issue", "[B------:R-:W0:-:S01] I2F.U32.RP R7, UR4\n[-] UIADD3 UR4, UR4, 0x80, URZ"},
		{"a guard is read at issue", "[B------:R-:W0:-:S01] @!P0 LDS R7, [RZ+0x4]\n[-] ISETP.NE.AND P0, PT, R4, R5, PT"},
		{"queues read in order", "[B------:R-:W-:-:S01] MUFU.RCP R6, R4\n[B------:R-:W0:-:S02] MUFU.RCP R4, R5\n[B0-----:R-:W-:-:S04] FADD R7, R6, R4"},
	} {
		run := func(wait bool) (uint32, []core.Hazard) {
			between := ""
			if wait {
				between = strings.Repeat(" ;\n[B0-----:R-:W-:-:S11] NOP", 3)
			}
			code := strings.ReplaceAll(strings.ReplaceAll(c.code, "[-]", "[B------:R-:W-:-:S05]"), "\n", between+" ;\n")
			out, g := runSASS(t, warm(), 32, fmt.Sprintf(`
[B------:R-:W-:-:S02]      MOV R8, c[0x0][0x160] ;
[B------:R-:W-:-:S02]      MOV R9, c[0x0][0x164] ;
[B------:R-:W-:-:S02]      MOV R4, 0x40404080 ;
[B------:R-:W-:-:S02]      MOV R5, 0x40c04100 ;
[B------:R-:W-:-:S02]      MOV R7, 0x1234 ;
[B------:R-:W-:-:S02]      MOV R12, 0x3c004000 ;
[B------:R-:W-:-:S02]      MOV R13, 0x3c004000 ;
[B------:R-:W-:-:S02]      MOV R16, 0x3c004000 ;
[B------:R-:W-:-:S02]      UMOV UR4, 0x4 ;
[B------:R-:W-:Y:S15]      ISETP.NE.AND P0, PT, R4, R4, PT ;
[B------:R-:W0:-:S02]      STS [RZ], R4 ;
[B------:R-:W0:-:S02]      STS [RZ+0x4], R5 ;
[B0-----:R-:W0:-:S02]      STS [RZ+0xc], R7 ;
[B0-----:R-:W-:Y:S15]      NOP ;
%s ;
[B0-----:R-:W-:Y:S15]      NOP ;
[B0-----:R0:W-:-:S02]      STG.E [R8.64], R7 ;
[B0-----:R-:W-:-:S05]      EXIT ;
`, code))
			return out[0], g.core.Hazards()
		}
		got, list := run(false)
		if want, _ := run(true); got != want || len(list) > 0 {
			t.Errorf("%s: %#x, want %#x; hazards %v", c.name, got, want, list)
		}
	}
}

// The results of a queue are written in order, however many results of fixed latency keep the
// write ports busy: a program waits for the last of several only.
func TestResultsInOrder(t *testing.T) {
	for n := range 60 {
		adds := ""
		for i := range n {
			adds += fmt.Sprintf("[B------:R-:W-:-:S01]      FADD R%d, RZ, 1 ;\n", 40+i%8)
		}
		out, g := runSASS(t, warm(), 32, `
[B------:R-:W-:-:S02]      MOV R8, c[0x0][0x160] ;
[B------:R-:W-:-:S05]      MOV R9, c[0x0][0x164] ;
[B------:R-:W-:-:S05]      MOV R4, 0x1234 ;
[B------:R-:W0:-:S02]      STS [RZ], R4 ;
[B0-----:R-:W-:Y:S15]      NOP ;
[B------:R-:W-:-:S04]      LDS.128 R28, [RZ] ;
[B------:R-:W0:-:S02]      LDS.128 R32, [RZ+0x10] ;
`+adds+`[B0-----:R-:W-:-:S05]      MOV R7, R28 ;
[B------:R0:W-:-:S02]      STG.E [R8.64], R7 ;
[B0-----:R-:W-:-:S05]      EXIT ;
`)
		if out[0] != 0x1234 || len(g.core.Hazards()) > 0 {
			t.Errorf("%d results of fixed latency: %#x; hazards %v", n, out[0], g.core.Hazards())
		}
	}
}
