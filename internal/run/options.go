package run

import (
	"io"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// Options are the settings of a run apart from its work, for every kind of work.
type Options struct {
	GPU      string // name or file of the machine; "" is the work's own, or else DefaultGPU
	Threads  int    // worker goroutines; 0: one per core. Changes no result
	Timing   bool   // count cycles; else only compute
	MaxInsts uint64 // stop after this many warp instructions, cycles with Timing; 0: never
	Select   *Selection
	Settings Settings
	Out      io.Writer // what kernels print; nil discards it
	// Warn is called with what a kernel does wrong and a GPU lets pass, once for
	// each line; nil for silence.
	Warn     func(*exec.Warning)
	Progress func(Progress) // called now and then; nil for silence

	// Observers of a timing run. They change no result. Which kind of work has
	// which is a table: see Refuse.
	Series   *Series            // counters as they grow; may be nil
	Timeline *timeline.Recorder // gets the way of every instruction; may be nil
	AccelSim io.Writer          // gets the counters under GPGPU-Sim's names after every launch; may be nil
	Hazards  bool               // look for what control bits do not wait for
	// Record gets what runs as a trace; may be nil. Its owner calls Finish.
	Record *record.Recorder
	Watch  *Watch // is told what happens; may be nil
	// Inside is called when the run is about to begin. The function that it
	// returns is called before the first cycle and after every one in which
	// anything happens; an error from it ends the run. May be nil.
	Inside func(*Inside) func() error

	Dumps   []Dump          // of a job: buffers that are written to files at the end
	Listing *replay.Listing // of a trace: a disassembly that adds control bits; may be nil
}

// Dump asks for a buffer's bytes in a file.
type Dump struct{ Buffer, File string }

// Progress is how far a run has come.
type Progress struct {
	Launch, Launches int     // the launch that runs, from 0, and how many there are; 0 if unknown
	Kernel           string  // its kernel
	Blocks, Total    uint64  // its blocks: done, and all
	WarpInsts        uint64  // of the run so far
	Cycles           uint64  // of the run so far, where they are counted
	Share            float64 // of the whole run that is done, 0 if unknown
}

// Inside is a timing run as seen by those who look into it between two cycles.
// They change nothing.
type Inside struct {
	Chip    *gpu.GPU
	Memory  *device.Memory // nil where there are no values
	Buffers []Buffer
}

// Buffer is a piece of device memory with a name.
type Buffer struct {
	Name string
	Addr uint64
	Type string // of its elements: f32, u8 and the like
}
