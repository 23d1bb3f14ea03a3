package sass

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// TestDirect: an instruction that is executed in one go computes its results in their registers, which may be
// those of its sources. That gives what it does in three parts, in lanes that execute; others keep what they have.
// So does a burst, which takes those without memory, and words of shared memory.
func TestDirect(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"one register", "IADD3 R4, R4, R4, R4"},
		{"carries", "IADD3 R5, P0, P1, R5, -R6, R7"},
		{"carry in and out", "IADD3.X R5, P0, R5, ~R6, RZ, P2, !PT"},
		{"pair over its source", "IMAD.WIDE R4, R5, R4, R4"},
		{"pair one below", "IMAD.WIDE.U32 R4, R6, R7, R4"},
		{"shifted sum", "LEA R4, P0, R5, R4, 0x3"},
		{"shifted pair", "LEA.HI.X R4, R4, R5, R4, 0x3, P2"},
		{"logic", "LOP3.LUT P0, R4, R4, R5, R6, 0x5c, !PT"},
		{"funnel", "SHF.R.S32.HI R4, RZ, R5, R4"},
		{"bytes", "PRMT R4, R4, 0x7219, R5"},
		{"bytes by register", "PRMT R4, R4, R5, R4"},
		{"least", "IMNMX R4, R4, R5, P2"},
		{"comparison", "ISETP.GE.AND P0, P1, R4, R5, P2"},
		{"comparison of pairs", "ISETP.GT.U32.AND.EX P0, PT, R4, R5, PT, P2"},
		{"selection", "SEL R4, R5, R4, P2"},
		{"move", "MOV R4, R5"},
		{"move of some lanes", "MOV R4, R5, 0x5"},
		{"float", "FFMA R4, R4, -R5, R4"},
		{"sum of floats", "FADD R4, -R4, |R4|"},
		{"difference of floats", "FADD R4, R5, -R4"},
		{"less", "FSETP.LT.AND P0, P1, R4, R5, P2"},
		{"greater", "FSETP.GT.OR P0, PT, R4, R5, P2"},
		{"doubles", "DFMA R4, R4, R6, R4"},
		{"narrowed", "F2F.F32.F64 R5, R4"},
		{"halves", "HFMA2 R4, R4, R5, R4"},
		{"halves modified", "HFMA2.RELU R4, R4.H1_H1, -R5, R4"},
		{"greater halves", "HMNMX2 R4, R4, R5, !PT"},
		{"load over its address", "LDS R10, [R10]"},
		{"load of a word", "LDS R4, [R10+0x4]"},
		{"load by a shifted address", "LDS R10, [R10.X4+0x8]"},
		{"load of the last word", "LDS R4, [RZ+0xffc]"},
		{"load of four", "LDS.128 R8, [R10]"},
		{"load of two by a shifted address", "LDS.64 R10, [R10.X8+0x8]"},
		{"load of the last four", "LDS.128 R4, [RZ+0xff0]"},
		{"store of two", "STS.64 [R10+0x8], R4"},
		{"store of four", "STS.128 [R10], R8"},
		{"store of a word", "STS [R10+0x4], R4"},
		{"store of an address", "STS [R10.X4], R10"},
		{"constant", "LDC R10, c[0x0][R10]"},
		{"discarded", "IADD3 RZ, P0, R4, R5, RZ"},
		{"shuffle", "SHFL.BFLY PT, R4, R4, 0x1, 0x1f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := load(t, "@P5 "+c.text+"\nEXIT\n")
			if len(k.bad) > 0 {
				t.Fatal(k.bad)
			}
			r := rand.New(rand.NewPCG(5, uint64(len(c.text))))
			for n := range 50 {
				whole, parts, burst := &begin(t, k, Launch{}, nil).warps[0], &begin(t, k, Launch{}, nil).warps[0], &begin(t, k, Launch{}, nil).warps[0]
				m := r.Uint32() | 1<<r.IntN(32)
				if n%4 == 0 {
					m = full
				}
				for i := range 32 {
					for j := range 12 {
						whole.rows[4+j][i] = word(r, 'a')
					}
					whole.rows[10][i] = r.Uint32N(32) * 16
				}
				whole.pr[2], whole.pr[5] = r.Uint32(), m
				for i := range whole.blk.Shared {
					whole.blk.Shared[i] = byte(r.Uint32())
				}
				copy(parts.blk.Shared, whole.blk.Shared)
				copy(burst.blk.Shared, whole.blk.Shared)
				copy(parts.rows, whole.rows)
				copy(burst.rows, whole.rows)
				parts.pr, burst.pr = whole.pr, whole.pr
				whole.step(&k.code[0], m)
				inParts(t, parts)
				equalWarps(t, m, "in one go", whole, parts)
				if used := burst.burst(1); used == 1 {
					equalWarps(t, m, "in a burst", burst, parts)
				} else if k.code[0].quick || k.code[0].word {
					t.Fatalf("a burst of one takes %d", used)
				}
			}
		})
	}
}

// equalWarps compares what warps have after an instruction.
func equalWarps(t *testing.T, m uint32, how string, w, parts *warp) {
	t.Helper()
	for i := range w.rows {
		if w.rows[i] != parts.rows[i] {
			t.Fatalf("lanes %#x: row %d is %x %s, %x in parts", m, i, w.rows[i], how, parts.rows[i])
		}
	}
	if !bytes.Equal(w.blk.Shared, parts.blk.Shared) {
		t.Fatalf("lanes %#x: shared memory differs %s", m, how)
	}
	if w.pr != parts.pr || w.pc != parts.pc || w.insts != parts.insts || w.thrInsts != parts.thrInsts {
		t.Fatalf("lanes %#x: predicates %x %s, %x in parts; at %d and %d", m, w.pr, how, parts.pr, w.pc, parts.pc)
	}
}

// TestWordsThatFault: a burst ends before a word of shared memory that some lane must not touch, and
// changes nothing that the fault depends on.
func TestWordsThatFault(t *testing.T) {
	for _, c := range []struct {
		name, text string
		at         uint32
		want       string
	}{
		{"load beyond", "LDS R10, [R10]", 1 << 20, "out-of-bounds"},
		{"load at the end", "LDS R10, [R10+0x4]", 0xfffffffe, "misaligned"},
		{"load between words", "LDS R10, [R10]", 2, "misaligned"},
		{"store beyond", "STS [R10], R4", 1 << 20, "out-of-bounds"},
		{"store between words", "STS [R10], R4", 2, "misaligned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := load(t, c.text+"\nEXIT\n")
			if len(k.bad) > 0 || !k.code[0].word {
				t.Fatalf("%v, a word: %v", k.bad, k.code[0].word)
			}
			w := &begin(t, k, Launch{}, nil).warps[0]
			for i := range 32 {
				w.rows[10][i] = uint32(i) * 4
			}
			w.rows[10][20] = c.at
			was := w.rows[10]
			if used := w.burst(5); used != 0 || w.rows[10] != was || w.pc != 0 {
				t.Fatalf("a burst takes %d", used)
			}
			w.step(&k.code[0], full)
			if w.fault == nil || w.fault.lane != 20 || !strings.Contains(w.failure().Error(), c.want) {
				t.Fatalf("fault %v, want lane 20: %s", w.fault, c.want)
			}
		})
	}
}

// inParts executes an instruction in three parts.
func inParts(t *testing.T, w *warp) {
	t.Helper()
	var e exec.Effects
	h, err := w.Issue(&e)
	if err != nil {
		t.Fatal(err)
	}
	if w.Late(h) {
		if err := w.Access(h, &e); err != nil {
			t.Fatal(err)
		}
	}
	w.Commit(h)
}

// TestZero: a block begins with registers of zero, whichever block had its storage before.
func TestZero(t *testing.T) {
	dirty := `
    UMOV UR4, 0x7
    UMOV UR20, 0x8
    IADD3 R2, R2, 0x1, RZ
    UIADD3 UR4, UR4, 0x1, URZ
    EXIT
`
	m := NewMachine(device.New(device.Config{}))
	wk, view := m.crew.Borrow()
	for _, name := range []string{"first", "again", "another", "the first again"} {
		k := load(t, dirty)
		if name == "another" {
			k = load(t, "MOV R3, 0x9\nUMOV UR2, 0x5\nEXIT\n")
		}
		for range 2 {
			im, err := m.prepare(&Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: make([]byte, k.ParamBytes())})
			if err != nil {
				t.Fatal(err)
			}
			l := &Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: make([]byte, k.ParamBytes())}
			im.begin(l)
			b := wk.newBlock(im, l, 0, view)
			for i, row := range b.warps[0].rows {
				if row != [32]uint32{} {
					t.Errorf("%s: row %d begins with %x", name, i, row)
				}
			}
			finish(t, &b.warps[0])
			b.Recycle()
		}
	}
}
