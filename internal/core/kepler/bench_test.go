package kepler_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
)

// busy keeps all pipes busy: two instructions per cycle if they pair, including loads,
// stores and shared memory, in an endless loop.
const busy = `
	TID R1
	SHL R2, R1, R63, 2
top:	FFMA R10, R11, R12, R13
	ADD R20, R21, R22
	FMUL R14, R15, R16
	SUB R23, R24, R25, 7
	LDR R30, [R2 + 256]
	IMAD R26, R27, R28, R29
	FADD R17, R18, R19
	XOR R31, R21, R22
	STR [R2 + 512], R20
	MUL R32, R33, R34, 3
	LDS R35, [R2 + 128]
	SIN R36, R11
	STS [R2 + 1024], R23
	ISETP.LT P1, R20, R23 rd=57
	FDIV R37, R18, R19
	@P1 ADD R38, R39, R40, 1
	SHR R41, R42, R43, 2
	BRA top
`

// Simulated cycles per second with 24 busy warps of 32 lanes.
func BenchmarkBusy(b *testing.B) {
	warps := make([]int, kepler.Warps)
	for w := range warps {
		warps[w] = w
	}
	for level := range kepler.Datasheet + 1 {
		b.Run(level.String(), func(b *testing.B) {
			k := start(b, level, busy, warps...)
			k.Trace(false)
			for range 5000 {
				k.Step()
			}
			before := k.Stats()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				k.Step()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
			b.ReportMetric(float64(k.Stats().Executed-before.Executed)/float64(b.N), "instr/cycle")
			if k.Stuck() || k.Fault() != nil || k.Done() {
				b.Fatal(k.Fault(), k.Waits())
			}
		})
	}
}
