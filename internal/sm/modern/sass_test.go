package modern

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// runSASS runs one warp of a kernel of sm_86 whose parameter is the address of
// 4 KiB, and returns those as words.
func runSASS(t *testing.T, cfg Config, threads int, body string) ([]uint32, *rig) {
	t.Helper()
	text := ".arch sm_86\n.kernel probe\n.param out, 8\n.regs 64\n.shared 4096\n" + body
	f, err := sass.Parse("probe.sass", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := xsass.Load(f).Kernel("probe")
	if !ok || len(k.Unusable()) > 0 {
		t.Fatalf("kernel: %v", k.Unusable())
	}
	dev := device.New(device.Config{})
	at, err := dev.Alloc(4096, "out")
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Write(at, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	w, err := xsass.NewMachine(dev).NewWork(xsass.Launch{
		Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: uint32(threads), Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, at),
	})
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, cfg)
	g.core.CheckHazards()
	if x, ok := w.(interface{ SetTime(*uint64, uint64) }); ok {
		x.SetTime(&g.cycle, 1e9)
	}
	mk, err := NewKernel(g.core.Config(), w, KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !g.core.Launch(mk, w.Block(0)) {
		t.Fatal("no room")
	}
	for g.ended == 0 {
		if g.tick(); g.cycle > 100_000 {
			t.Fatalf("no end; states %v", g.core.Stats.States)
		}
		if err := g.core.Err(); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 4096)
	if err := dev.Read(at, b); err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, 1024)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out, g
}

// Listing 2 with real instructions, by its own clocks.
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

// A reduction over shared memory with barriers, two warps a sub-core.
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
