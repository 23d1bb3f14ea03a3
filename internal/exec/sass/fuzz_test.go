package sass

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// sandbox runs the instructions to which the words decode, with an EXIT at the end, in two
// blocks of 40 threads. It must neither panic nor hang; any outcome is fine, if it is the same with
// probes.
func sandbox(t testing.TB, words []byte) (ran bool) {
	k := &sass.Kernel{Name: "k", Arch: 86, Regs: 255, Shared: 512, Local: 64, Params: []sass.Param{{Name: "p", Bytes: 8, Offset: 0x160}}}
	for n := 0; n+16 <= len(words) && len(k.Code) < 64; n += 16 {
		w := [2]uint64{binary.LittleEndian.Uint64(words[n:]), binary.LittleEndian.Uint64(words[n+8:])}
		if in, err := sass.Decode(86, w, uint32(16*len(k.Code))); err == nil {
			k.Code = append(k.Code, in)
		}
	}
	if len(k.Code) == 0 {
		return false
	}
	end, err := sass.Parse("end.sass", ".arch sm_86\n.kernel k\n.regs 8\nEXIT\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	last := end.Kernels[0].Code[0]
	last.Addr = uint32(16 * len(k.Code))
	k.Code = append(k.Code, last)
	p := Load(&sass.File{Name: "f.hex", Arch: 86, Kernels: []*sass.Kernel{k}})
	kernel := p.Kernels()[0]
	if len(kernel.bad) > 0 {
		for _, err := range kernel.bad {
			if err.Error() == "" {
				t.Fatal("a refusal without words")
			}
		}
		return false
	}
	want := sandboxRun(t, kernel, nil)
	for _, follows := range []bool{false, true} {
		if got := sandboxRun(t, kernel, &logProbe{follows: follows}); got != want {
			t.Fatalf("with a probe that follows values: %v, it is\n%s\nwithout a probe\n%s", follows, got, want)
		}
	}
	return true
}

// sandboxRun runs a kernel, and returns what came of it: counts, the error, and the memory.
func sandboxRun(t testing.TB, kernel *Kernel, p exec.Probe) string {
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(1<<16, "buf")
	if err != nil {
		t.Fatal(err)
	}
	res, err := NewMachine(mem).Run(context.Background(), Launch{
		Kernel: kernel, Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 40, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, addr),
		Cooperative: true, Probe: p, // blocks in turn, as with a probe
	}, Options{MaxInsts: 3000})
	if err != nil && err.Error() == "" {
		t.Fatal("an end without words")
	}
	left := make([]byte, 1<<16)
	if err := mem.Read(addr, left); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v, %v, memory %x", res, err, sha256.Sum256(left))
}

// fuzzTexts have one or more instructions of every family; their words are where
// the search begins.
var fuzzTexts = []string{
	"IADD3.X R0, P0, P1, R4, ~R5, R6, P2, P3", "IMAD.WIDE.U32 R0, P0, R4, R5, R6", "LEA.HI.X.SX32 R0, R4, R5, 0x2, P2", "LOP3.LUT P0, R0, R4, R5, R6, 0xe4, !PT",
	"SHF.R.S64 R0, R4, R5, R6", "PRMT R0, R4, R5, R6", "FLO.U32.SH R0, R4", "ISETP.GT.AND.EX P0, PT, R4, R5, PT, P2", "FFMA.RZ R0, R4, R5, R6", "FMNMX R0, R4, R5, P2",
	"MUFU.RSQ R0, R4", "HFMA2 R0, R4, R5, R6", "DFMA R0, R4, R6, R8", "F2I.U64.TRUNC R0, R4", "I2F.F64.S64 R0, R4", "LDG.E.128 R4, [R2+0x10]", "STG.E.64 [R2], R4",
	"LDS.U8 R4, [R5.X4+0x10]", "STL [R1], R4", "ATOMS.CAS R4, [R5], R6, R7", "RED.E.ADD.STRONG.GPU [R2], R4", "LDGSTS.E.128 [R4], [R2.64]", "LDSM.16.M88.4 R4, [R8]",
	"SHFL.BFLY P0, R0, R4, R5, R6", "VOTE.ANY R0, P0, P1", "MATCH.ANY R0, R4", "REDUX.SUM UR4, R4", "HMMA.16816.F32 R0, R4, R8, R12", "HMMA.SP.16832.F32 R0, R4, R8, R12, R16, 0x1",
	"IMMA.SP.16864.S8.U8 R0, R4.ROW, R8.COL, R12, R16, 0x0", "FSWZADD.NDV R0, R4, R5, PNNPZPPP", "UIADD3.64 UR4, UR6, -UR8, UR10", "S2R R0, SR_TID.X", "CS2R R0, SR_CLOCKLO",
	"R2UR UR4, R4", "UIADD3 UR4, UR5, UR6, URZ", "ULDC.64 UR4, c[0x0][0x160]", "BSSY B0, 0x20", "BSYNC B0", "BREAK B0", "BMOV.32.CLEAR R0, B0", "BMOV.32 B0, R4",
	"WARPSYNC R4", "YIELD", "BAR.SYNC 0x0", "BAR.ARV 0x1, 0x40", "BAR.RED.POPC 0x0, P0", "B2R.RESULT R0, P0", "RET.REL.NODEC R4 0x0", "BRX R4 0x0", "LEPC R4",
	"P2R.B1 R0, PR, R4, 0x1c", "R2P PR, R4.B2, 0x3", "@P0 BRA 0x0", "@P0 EXIT", "MEMBAR.SC.GPU", "DEPBAR.LE SB0, 0x1", "QSPC.E.S P0, R0, [R2]", "IDP.4A.S8.U8 R0, R4, R5, R6",
}

func seedWords(t testing.TB) [][]byte {
	var list [][]byte
	for _, text := range fuzzTexts {
		f, err := sass.Parse("s.sass", header+text+"\nEXIT\nEXIT\nEXIT\n", 0)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		w := f.Kernels[0].Code[0].Words
		list = append(list, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, w[0]), w[1]))
	}
	return list
}

// TestSandbox runs random mixtures of changed instructions.
func TestSandbox(t *testing.T) {
	seeds := seedWords(t)
	r := rand.New(rand.NewPCG(2026, 1))
	ran := 0
	all := alltests.Count(600, 3000)
	for range all {
		var words []byte
		for range 1 + r.IntN(8) {
			w := append([]byte(nil), seeds[r.IntN(len(seeds))]...)
			for range r.IntN(4) {
				w[r.IntN(12)] ^= 1 << r.IntN(8)
			}
			words = append(words, w...)
		}
		if sandbox(t, words) {
			ran++
		}
	}
	if ran < all/10 {
		t.Errorf("only %d of %d mixtures could run", ran, all)
	}
}

func FuzzRun(f *testing.F) {
	for _, w := range seedWords(f) {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, words []byte) { sandbox(t, words) })
}
