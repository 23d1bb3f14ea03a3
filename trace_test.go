package heddle_test

import (
	"context"
	"testing"

	"github.com/heddle-sim/heddle"
)

// TestRunTrace replays launches through the library.
func TestRunTrace(t *testing.T) {
	r, err := heddle.RunTrace(context.Background(), "internal/trace/text/testdata/lud", heddle.TraceOptions{GPU: "v100"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Kernels) != 1 || r.WarpInstructions != 52 || r.Cycles == 0 {
		t.Errorf("%d launches, %d warp instructions, %d cycles", len(r.Kernels), r.WarpInstructions, r.Cycles)
	}
	if r, err := heddle.RunTrace(context.Background(), "no/such/folder", heddle.TraceOptions{}); err == nil || r != nil {
		t.Errorf("a folder that is not there gives %v, %v", r, err)
	}
}
