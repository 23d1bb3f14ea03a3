package sass

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// TestControlWords reads recorded words of sm_120, whose control bits are where
// those of sm_75 are, and writes them again.
func TestControlWords(t *testing.T) {
	const none = isa.NoCounter
	for _, test := range []struct {
		text string
		high uint64 // the upper word
		ctl  isa.Control
	}{
		{"LDC R1, c[0x0][0x37c]", 0x000e220000000800, isa.Control{Stall: 1, Write: 0, Read: none}},
		{"S2R R0, SR_TID.X", 0x000e6e0000002100, isa.Control{Stall: 7, Write: 1, Read: none}},
		{"S2UR UR5, SR_CTAID.X", 0x000e620000002500, isa.Control{Stall: 1, Write: 1, Read: none}},
		{"LDCU UR6, c[0x0][0x398]", 0x000ea20008000800, isa.Control{Stall: 1, Write: 2, Read: none}},
		{"BSSY.RECONVERGENT B0, 0x1c0", 0x000fec0003800200, isa.Control{Stall: 6, Write: none, Read: none}},
		{"LDC R7, c[0x0][0x360]", 0x000e620000000800, isa.Control{Stall: 1, Write: 1, Read: none}},
		{"UIADD3 UR4, UPT, UPT, -UR6, 0x1800, URZ", 0x004fe2000fffe1ff, isa.Control{Stall: 1, Write: none, Read: none, Wait: 4}},
		{"IMAD R0, R7, UR5, R0", 0x002fca000f8e0200, isa.Control{Stall: 5, Yield: true, Write: none, Read: none, Wait: 2}},
		{"ISETP.GE.U32.AND P1, PT, R0.reuse, UR4, PT", 0x040fe2000bf26070, isa.Control{Stall: 1, Write: none, Read: none}},
		{"ISETP.NE.AND P0, PT, R0, RZ, PT", 0x000fd80003f05270, isa.Control{Stall: 12, Yield: true, Write: none, Read: none}},
		{"@P1 BRA 0x1b0", 0x001fea0003800000, isa.Control{Stall: 5, Write: none, Read: none, Wait: 1}},
		{"S2R R3, SR_CgaCtaId", 0x000e220000008800, isa.Control{Stall: 1, Write: 0, Read: none}},
	} {
		got, err := decodeControl(word128{0, test.high})
		if err != nil || got != test.ctl {
			t.Errorf("%s: %+v, %v, want %+v", test.text, got, err, test.ctl)
		}
		w := word128{0, test.high}.and(controlMask.not())
		encodeControl(&w, test.ctl)
		if w[1] != test.high {
			t.Errorf("%s: %016x, want %016x", test.text, w[1], test.high)
		}
	}
}

// TestControlCodes round-trips every combination, as text and as bits.
func TestControlCodes(t *testing.T) {
	counters := []uint8{0, 1, 2, 3, 4, 5, isa.NoCounter}
	seen := map[word128]bool{}
	for stall := range uint8(16) {
		for _, yield := range []bool{false, true} {
			for _, write := range counters {
				for _, read := range counters {
					for wait := range uint8(64) {
						c := isa.Control{Stall: stall, Yield: yield, Write: write, Read: read, Wait: wait}
						back, bad := parseControl(c.String())
						if bad != nil || back != c {
							t.Fatalf("%s: %+v, %v, want %+v", c.String(), back, bad, c)
						}
						var w word128
						encodeControl(&w, c)
						if got, err := decodeControl(w); err != nil || got != c {
							t.Fatalf("%s: %+v, %v, want %+v", c.String(), got, err, c)
						}
						if w.and(controlMask.not()) != (word128{}) || seen[w] {
							t.Fatalf("%s: %x", c.String(), w)
						}
						seen[w] = true
					}
				}
			}
		}
	}
}

func TestControlText(t *testing.T) {
	for _, test := range []struct {
		text string
		ctl  isa.Control
	}{
		{"[B------:R-:W-:-:S01]", isa.Control{Stall: 1, Write: 7, Read: 7}},
		{"[B01----:R2:W0:-:S04]", isa.Control{Stall: 4, Write: 0, Read: 2, Wait: 3}},
		{"[B0-2---:R-:W5:Y:S15]", isa.Control{Stall: 15, Yield: true, Write: 5, Read: 7, Wait: 5}},
		{"[B012345:R0:W-:Y:S00]", isa.Control{Yield: true, Write: 7, Read: 0, Wait: 63}},
	} {
		if got := test.ctl.String(); got != test.text {
			t.Errorf("%+v: %s, want %s", test.ctl, got, test.text)
		}
		if got, err := parseControl(test.text); err != nil || got != test.ctl {
			t.Errorf("%s: %+v, %v, want %+v", test.text, got, err, test.ctl)
		}
	}
}

// TestIllegalWords: words that no compiler writes are rejected.
func TestIllegalWords(t *testing.T) {
	ffma, err := Assemble(86, "FFMA R5, R5.reuse, R6, R7", 0)
	if err != nil {
		t.Fatal(err)
	}
	word := func(stall uint8, yield bool, write, read uint8) [2]uint64 {
		w := word128(ffma)
		encodeControl(&w, isa.Control{Stall: stall, Yield: yield, Write: write, Read: read})
		return w
	}
	if in, err := Decode(86, word(4, false, 7, 7), 0); err != nil || !in.Operands[1].Reuse {
		t.Errorf("a legal word: %v, %v", in.Text(), err)
	}
	for name, w := range map[string][2]uint64{
		"write counter 6":      word(4, false, 6, 7),
		"read counter 6":       word(4, false, 7, 6),
		"reuse and yield":      word(4, true, 7, 7),
		"an opcode of nothing": {0x0000000000000fff, 0x000fea0000000000},
		"a bit of no field":    {ffma[0], ffma[1] | 1<<(100-64) | 0x000fea0000000000},
	} {
		if in, err := Decode(86, w, 0); err == nil {
			t.Errorf("%s: %s", name, in.Text())
		}
	}
}
