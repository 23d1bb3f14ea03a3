package program_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/program"
)

// absent reports whether a kernel was refused for an instruction that sm_75 does not have: PTX has it since sm_80.
func absent(refused string) bool {
	return strings.HasSuffix(refused, ", which sm_75 does not have")
}

// TestCompiledTuring: for sm_75, too, all that compiles gives what its PTX gives, and has no hazard on the core of Turing.
func TestCompiledTuring(t *testing.T) {
	usual := *forSM
	defer func() { *forSM = usual }()
	*forSM = 75
	for _, c := range []struct {
		name string
		test func(t *testing.T)
		long bool
	}{
		{"conformance", TestCompiledConformance, false}, {"rows", TestCompiledRows, false}, {"bounds", TestCompiledBounds, false}, {"bodies", TestCompiledBodies, false}, {"wmma", TestCompiledWMMA, false}, {"mma", TestCompiledMMA, false},
		{"memory on the core", TestCompiledMemoryTimed, false}, {"random", TestCompiledRandom, true}, {"atomics", TestCompiledAtomics, true},
		{"calls", TestCompiledCalls, true}, {"doubles", TestCompiledDoubles, true}, {"hazards", TestCompiledHazards, true}, {"levels", TestCompiledLevels, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				alltests.Only(t, "compiled code for sm_75")
			}
			c.test(t)
		})
	}
}

// TestTuringLacks: what sm_75 does not have is refused by name, and what it can do otherwise is not.
func TestTuringLacks(t *testing.T) {
	usual := *forSM
	defer func() { *forSM = usual }()
	*forSM = 75
	for _, c := range []struct{ name, body, lacks string }{
		{"pairs of bfloat16", "fma.rn.bf16x2 %r3, %r0, %r1, %r2;", "fma.rn.bf16x2 needs HFMA2.BF16_V2"},
		{"the larger half", "mov.b32 {%h0, %h1}, %r0; max.f16 %h2, %h0, %h1;", "max.f16 needs HMNMX2"},
		{"a NaN that stays", "mov.b32 %f0, %r0; min.NaN.f32 %f1, %f0, %f0;", "min.NaN.f32 needs FMNMX.NAN"},
		{"halves", "mov.b32 %f0, %r0; mov.b32 %f1, %r1; cvt.rn.f16x2.f32 %r3, %f0, %f1; st.global.u32 [%out], %r3;", ""},
		{"copies", "cp.async.ca.shared.global [room], [%in], 8; cp.async.commit_group; cp.async.wait_all; ld.shared.u32 %r3, [room]; st.global.u32 [%out], %r3;", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, refused, err := bodyRun(t, program.CompiledCode, c.body, rowInput())
			if err != nil {
				t.Fatal(err)
			}
			if c.lacks == "" && refused != "" || !strings.Contains(refused, c.lacks) {
				t.Errorf("refused: %q, want %q", refused, c.lacks)
			}
		})
	}
}
