package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestCompare: jobs compute the right values on the toy (compare checks them), in
// fewer cycles than on a core with memory, and in no fewer than 30 SMs need that issue
// four instructions a cycle.
func TestCompare(t *testing.T) {
	var out bytes.Buffer
	jobs := alltests.Some([]string{"reduction", "matmul", "transpose"}, 1)
	if err := compare(&out, "../../..", jobs...); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")[1:]
	if len(lines) != len(jobs) {
		t.Fatalf("%d jobs, want %d", len(lines), len(jobs))
	}
	for _, line := range lines {
		var job string
		var toy, simt uint64
		if _, err := fmt.Sscan(line, &job, &toy, &simt); err != nil {
			t.Fatal(err)
		}
		res, err := heddle.RunJob(context.Background(), "../../../examples/"+job+"/"+job+".toml", heddle.JobOptions{})
		if err != nil {
			t.Fatal(err)
		}
		insts := res.WarpInstructions
		if toy < insts/(30*4) || toy >= simt {
			t.Errorf("%s: %d warp instructions take %d cycles on the toy, %d on the SIMT core", job, insts, toy, simt)
		}
	}
}
