package output_test

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
)

// TestWriteCompat: the texts and summaries of compute-sanitizer. Notes are not in them.
func TestWriteCompat(t *testing.T) {
	rule := func(id string) *check.Rule { return &check.Rule{ID: id, Level: check.Error} }
	at := []check.Step{{Role: check.First, Place: check.Place{File: "a.cu", Line: 39, Function: "f(int*)", PC: 7, Inst: "st.global.u32 [%rd1], %r1"}},
		{Role: check.Launched, Place: check.Place{File: "a.cu", Line: 80, Function: "main"}}}
	fault := map[string]string{check.Access: "write", check.Space: "global", check.Bytes: "4", check.Thread: "(0,0,0)", check.Block: "(1,0,0)", check.Address: "0x7f0000000400",
		check.Distance: "0 bytes after", check.AllocationAt: "0x7f0000000000", check.AllocationBytes: "1024"}
	race := *findings()[0]
	race.Steps = race.Steps[:2]
	soft := race
	soft.Level = check.Warning
	soft.Steps = append([]check.Step{}, race.Steps...)
	soft.Steps[1].Place.Line++
	same := race // of other threads: racecheck counts them together
	same.Count = 4
	list := []*check.Finding{
		{Rule: rule("oob-global"), Level: check.Error, Count: 2, Steps: at, Details: fault},
		{Rule: rule("misaligned"), Level: check.Error, Count: 1, Steps: at[:1], Details: fault},
		&race, &soft, &same,
		{Rule: rule("uninit-shared"), Level: check.Error, Count: 48, Steps: at[:1], Details: map[string]string{check.Space: "shared", check.Bytes: "4", check.Thread: "(3,0,0)", check.Block: "(0,0,0)"}},
		{Rule: rule("barrier-divergence"), Level: check.Error, Count: 32, Steps: at[:1]},
		{Rule: rule("sync-mask"), Level: check.Error, Count: 1, Steps: at[:1]},
		{Rule: rule("leak"), Level: check.Warning, Count: 2, Details: map[string]string{check.Leaked: "2048", check.AllocationAt: "0x7f0000000000"}},
		{Rule: rule("leak-device-heap"), Level: check.Warning, Count: 1, Details: map[string]string{check.Leaked: "16", check.AllocationAt: "0x7e0000000000"}},
		{Rule: rule("something-else"), Level: check.Error, Count: 1, Message: "In our words.", Steps: at[:1]},
		{Rule: rule("oob-global"), Level: check.Note, Message: "a note"},
	}
	var b bytes.Buffer
	if err := output.WriteCompat(&b, list); err != nil {
		t.Fatal(err)
	}
	golden(t, "compat.golden", b.Bytes())
}
