package heddle_test

import (
	"context"
	"testing"

	"github.com/heddle-sim/heddle"
)

// RunJob also takes jobs of the Kepler-style core.
func TestRunKeplerJob(t *testing.T) {
	res, err := heddle.RunJob(context.Background(), "examples/kepler/tiled.toml", heddle.JobOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !res.OK || len(res.Checks) != 1 || res.Cycles == 0 || res.Kepler == nil {
		t.Errorf("%+v", res)
	}
	if _, err := heddle.RunJob(context.Background(), "examples/kepler/tiled.toml", heddle.JobOptions{MaxInsts: 100}); err == nil {
		t.Error("a limit of 100 cycles does not end the run")
	}
}
