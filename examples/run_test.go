package examples_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// A jobRun is what came out of a job.
type jobRun struct {
	result  *heddle.JobResult
	buffers map[string][]byte
	printed string
}

// runJob runs a job and reads the named buffers at its end.
func runJob(t *testing.T, path string, threads int, buffers []string) jobRun {
	t.Helper()
	dir := t.TempDir()
	var printed bytes.Buffer
	opt := heddle.JobOptions{Threads: threads, Out: &printed, MaxInsts: 1 << 30}
	for _, b := range buffers {
		opt.Dumps = append(opt.Dumps, job.Dump{Buffer: b, File: filepath.Join(dir, b+".bin")})
	}
	result, err := heddle.RunJob(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	run := jobRun{result: result, buffers: map[string][]byte{}, printed: printed.String()}
	for _, d := range opt.Dumps {
		b, err := os.ReadFile(d.File)
		if err != nil {
			t.Fatal(err)
		}
		run.buffers[d.Buffer] = b
	}
	return run
}

// TestRun runs every example, wants all its checks to hold, compares every buffer
// that the reference knows in full, and wants the same bytes from three workers as
// from one.
func TestRun(t *testing.T) {
	for _, ex := range examples {
		t.Run(ex.name, func(t *testing.T) {
			in := readJob(t, ex.name)
			out := ex.reference(in)
			tolerance := map[string]float64{}
			for _, c := range in.job.Checks {
				tolerance[c.target()] = c.Tolerance
			}
			var buffers []string
			for name := range out {
				if _, ok := in.job.Buffers[name]; ok {
					buffers = append(buffers, name)
				}
			}
			path := filepath.Join(ex.name, ex.name+".toml")
			run := runJob(t, path, 1, buffers)
			t.Logf("%d warp instructions, %d thread instructions, %.2f s", run.result.WarpInstructions,
				run.result.ThreadInstructions, run.result.Seconds)
			for _, c := range run.result.Checks {
				if !c.OK {
					t.Errorf("the job's check fails: %+v", c)
				}
			}
			if !run.result.OK || len(run.result.Checks) != len(in.job.Checks) {
				t.Errorf("ok is %v after %d of %d checks", run.result.OK, len(run.result.Checks), len(in.job.Checks))
			}
			for _, name := range buffers {
				typ := in.job.Buffers[name].Type
				if d := differs(typ, run.buffers[name], encode(t, typ, out[name]), tolerance[name]); d != "" {
					t.Errorf("%s: %s", name, d)
				}
			}
			if ex.stdout != nil && run.printed != ex.stdout(out) {
				t.Errorf("printed:\n%swant:\n%s", run.printed, ex.stdout(out))
			}
			if ex.stdout == nil && run.printed != "" {
				t.Errorf("printed %q", run.printed)
			}
			if run.result.ThreadInstructions < 1e6 {
				t.Errorf("only %d thread instructions: too small to be an example", run.result.ThreadInstructions)
			}
			if !alltests.On() {
				return
			}
			again := runJob(t, path, 3, buffers)
			for _, name := range buffers {
				if !bytes.Equal(run.buffers[name], again.buffers[name]) {
					t.Errorf("%s differs between one worker and three", name)
				}
			}
			if run.result.WarpInstructions != again.result.WarpInstructions || run.result.ThreadInstructions != again.result.ThreadInstructions {
				t.Errorf("%d and %d instructions with one worker, %d and %d with three", run.result.WarpInstructions,
					run.result.ThreadInstructions, again.result.WarpInstructions, again.result.ThreadInstructions)
			}
		})
	}
}
