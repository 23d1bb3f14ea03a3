package sass

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// busy is a loop of what programs do most.
const busy = `
    S2R R1, SR_LANEID
again:
    IADD3 R4, R4, 0x1, RZ
    IMAD R5, R4, R4, R5
    LOP3.LUT R6, R5, R4, R6, 0x96, !PT
    FFMA R7, R5, R6, R7
    FADD R8, R7, -R8
    SHF.R.U32.HI R9, RZ, 0x3, R6
    LEA R10, R9, R4, 0x2
    STS [R1.X4], R10
    LDS R11, [R1.X4]
    SHFL.BFLY PT, R12, R11, 0x1, 0x1f
    ATOMS.ADD RZ, [R1.X4+0x100], R12
    MUFU.RCP R13, R8
    HFMA2 R14, R13, R12, R14
    UIADD3 UR4, UR4, 0x1, URZ
    HMMA.16816.F32 R20, R24, R28, R20
    IMMA.16832.S8.S8 R32, R24.ROW, R28.COL, R32
    BSSY B0, join
    LOP3.LUT P0, RZ, R1, 0x1, RZ, 0xc0, !PT
    @P0 BRA side
    MOV R15, R4
side:
    BSYNC B0
join:
    ISETP.NE.AND P1, PT, R4, RZ, PT
    @P1 BRA again
    EXIT
`

// TestAllocations: stepping a warp allocates nothing.
func TestAllocations(t *testing.T) {
	k := load(t, busy)
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	w := &begin(t, k, Launch{}, nil).warps[0]
	var e exec.Effects
	step := func() {
		for range 200 {
			if err := w.Step(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	step()
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%v allocations in 200 steps", n)
	}
}

// TestInspect: inspecting a warp of which some parts wait.
func TestInspect(t *testing.T) {
	k := load(t, `
    S2R R1, SR_LANEID
    ISETP.LT.AND P0, PT, R1, 0x8, PT
    BSSY B1, join
    @P0 BRA side
    BSYNC B1
join:
    EXIT
side:
    NOP
    BRA back
back:
    BSYNC B1
    EXIT
`)
	w := &begin(t, k, Launch{}, device.New(device.Config{})).warps[0]
	var e exec.Effects
	for range 6 {
		if err := w.Step(&e); err != nil {
			t.Fatal(err)
		}
	}
	f, j := w.Fragments(), w.Joins()
	if len(f) != 2 || f[0].Lanes != 0xff || f[0].Waits != "" || f[1].Lanes != 0xffffff00 || f[1].Waits == "" {
		t.Errorf("fragments %+v", f)
	}
	if len(j) != 1 || j[0].PC != 4 || j[0].Came != 0xffffff00 || j[0].Missing != 0xff {
		t.Errorf("joins %+v", j)
	}
	fr, ok := w.Frame(3)
	if !ok || fr.Lanes != isa.FullMask || fr.Registers[1].Name != "R1" || fr.Registers[1].Lo[3] != 3 {
		t.Errorf("frame %+v", fr.Lanes)
	}
	var p0 *exec.Register
	for i := range fr.Registers {
		if fr.Registers[i].Name == "P0" {
			p0 = &fr.Registers[i]
		}
	}
	if p0 == nil || p0.Lo[7] != 1 || p0.Lo[8] != 0 {
		t.Errorf("P0 is %+v", p0)
	}
	a, ok := w.Digest()
	b, _ := w.Digest()
	if !ok || a != b {
		t.Errorf("digests %x and %x, %v", a, b, ok)
	}
	w.rows[9][5]++
	if c, _ := w.Digest(); c == a {
		t.Error("another register and the same digest")
	}
}

func BenchmarkSteps(b *testing.B) {
	w := &begin(b, load(b, busy), Launch{}, nil).warps[0]
	var e exec.Effects
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Step(&e); err != nil {
			b.Fatal(err)
		}
	}
}
