package job

import (
	"io"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// Options are the settings of a run that are not part of its job.
type Options struct {
	GPU      string         // name of the machine; "" is the job's, or else DefaultGPU
	Threads  int            // worker goroutines; 0: one per core. Changes no result
	Timing   bool           // count cycles; else only compute
	MaxInsts uint64         // stop after so many warp instructions, cycles with Timing; 0: never
	Select   *run.Selection // launches to run; nil is all of them
	Dumps    []Dump         // buffers to be written to files at the end
	Settings run.Settings
	Out      io.Writer // what kernels print; nil discards it
	// Warn is called with what a kernel does wrong and a GPU lets pass, once for
	// each line; nil for silence.
	Warn     func(*exec.Warning)
	Series   *run.Series        // with Timing: counters as they grow; may be nil
	Timeline *timeline.Recorder // with Timing: gets the way of every instruction; may be nil
	AccelSim io.Writer          // with Timing: gets the counters under GPGPU-Sim's names after every launch; may be nil
	// Record, with Timing, gets what the job executes as a trace; may be nil. Who
	// gives it calls its Finish.
	Record *record.Recorder
	// Inside, with Timing, is told that the run is about to begin; what it
	// returns is called before the first cycle and after every one in which
	// anything happens, and an error from it ends the run. May be nil.
	Inside   func(*Inside) func() error
	Progress func(run.Progress) // called now and then; nil for silence
	// Hazards, with Timing, has every SM look for what control bits do not wait
	// for. It changes nothing else.
	Hazards bool
}

// Dump asks for a buffer's bytes in a file.
type Dump struct{ Buffer, File string }
