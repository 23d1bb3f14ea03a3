package kepler_test

import (
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Any program words run at both levels without a panic, every cycle is counted once,
// and a run that stops has a reason.
func FuzzRun(f *testing.F) {
	words := func(text string) []byte {
		p, err := kasm.Assemble("f.kasm", text, kasm.RTL)
		if err != nil {
			f.Fatal(err)
		}
		var b []byte
		for _, w := range p.Words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	f.Add(words(busy), uint8(24), uint32(0xffffffff))
	f.Add(words("TID R1\nSHL R2, R1, R63, 7\nSTR [R2], R1\nLDR R3, [R2]\nSTS [R2], R3\nLDS R4, [R2]\nBAR\nEXIT"), uint8(3), uint32(0xffff))
	f.Add(words("f: SSY 1\nBNE R1, R2, f\nCALL f\nJOIN\nRET"), uint8(1), uint32(1))
	f.Add(words(".word 0xdeadbeefcafef00d\n.word 0x1200000070000001"), uint8(2), uint32(0))
	f.Fuzz(func(t *testing.T, program []byte, warps uint8, mask uint32) {
		var list []uint64
		for ; len(program) >= 8 && len(list) < kasm.ProgramWords; program = program[8:] {
			list = append(list, binary.LittleEndian.Uint64(program))
		}
		for level := range kepler.Datasheet + 1 {
			k := kepler.New(kepler.ConfigFor(level))
			k.Trace(true)
			for w := range int(warps) % (kepler.Warps + 1) {
				if err := k.Load(list, w); err != nil {
					t.Fatal(err)
				}
				if err := k.SetRegister(w, 1, -1, uint32(w)); err != nil {
					t.Fatal(err)
				}
				if err := k.Start(w, 0, mask); err != nil {
					t.Fatal(err)
				}
			}
			k.Record(func(*kepler.Way) {})
			k.Run(2000)
			k.Record(nil)
			addsUp(t, k)
			switch {
			case k.Done(), k.Fault() != nil, k.Cycle() == 2000, k.Stuck() && len(k.Waits()) > 0:
			default:
				t.Errorf("stops in cycle %d without a reason", k.Cycle())
			}
		}
	})
}
