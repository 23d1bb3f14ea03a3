package run

import (
	"io"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/sample"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// MaxDevices is the number of GPUs that a machine can have.
const MaxDevices = device.MaxDevices

// Options are the settings of a run apart from its work, for every kind of work.
type Options struct {
	GPU      string // name or file of the machine; "" is the work's own, or else DefaultGPU
	Threads  int    // worker goroutines; 0: one per core. Does not affect results
	Timing   bool   // count cycles; otherwise only execute
	MaxInsts uint64 // stop after this many warp instructions, cycles with Timing; 0: never
	Select   *Selection
	Settings Settings
	// Code selects what of a program's device code runs: "auto" (or ""), "sass", "ptx" or "compiled".
	Code string
	// Tell is called with what the user should know of the program's code: why a kernel is not
	// compiled. It may be nil.
	Tell func(message string)
	Out  io.Writer // what kernels print; nil discards it
	// Warn is called for errors of a kernel that a GPU tolerates, once per line; may
	// be nil.
	Warn     func(*exec.Warning)
	Progress func(Progress) // called from time to time; may be nil

	// Observers of a timing run. They do not affect results. Refuse has the table of
	// observers that each kind of work supports.
	Series   *Series            // counters over time; may be nil
	Timeline *timeline.Recorder // gets the way of every instruction; may be nil
	AccelSim io.Writer          // gets the counters under GPGPU-Sim's names after every launch; may be nil
	Hazards  bool               // look for results that control bits do not wait for
	// Record gets the run as a trace; may be nil. Its owner calls Finish.
	Record *record.Recorder
	Watch  *Watch // is called for what happens; may be nil
	// Checks are checkers of what kernels do to memory and to each other, and of what the host
	// does; nil: none. Functional runs have them too.
	Checks *check.Set
	// Coverage counts who goes which way in PTX kernels; nil: nobody counts.
	Coverage *exec.Coverage
	// Order is the order in which blocks and warps run functionally.
	Order exec.Sequence
	// MemoryFile has large allocations of device memory; nil: this computer's memory has them.
	MemoryFile *device.File
	// Sample simulates only a part of the launches, and estimates the cycles of the others; nil:
	// all are simulated.
	Sample *sample.Options
	// Checkpoint makes checkpoints, and goes on from one; may be nil.
	Checkpoint *Checkpoint
	// Page keeps what only a page shows: counters over time, and where and when blocks ran,
	// if they are few.
	Page bool
	// Live is called from time to time between two cycles, with a function that returns the
	// result so far while Live has not returned; may be nil. With Page, the instructions of the
	// range of cycles that it returns are recorded, unless that is nil. For a run on a chip with
	// one device.
	Live func(soFar func() *report.Run) *Wish
	// Inside is called before the run begins. The function that it returns is called
	// before the first cycle and after every cycle in which anything happens; an
	// error from it ends the run. May be nil.
	Inside func(*Inside) func() error

	Dumps   []Dump          // of a job: buffers to write to files at the end
	Listing *replay.Listing // of a trace: a disassembly that adds control bits; may be nil
}

// Dump is a request to write a buffer's bytes to a file.
type Dump struct{ Buffer, File string }

// Progress is the progress of a run. As JSON, it is what --progress file:PATH keeps.
type Progress struct {
	Input     string  `json:"input"`             // what runs
	GPU       string  `json:"gpu,omitempty"`     // the machine of a timing run; "" in a functional one
	Each      string  `json:"each"`              // what a launch is called: launch, or frame
	Launch    int     `json:"launch"`            // the current launch, from 0
	Launches  int     `json:"launches"`          // their number; 0 if unknown
	Kernel    string  `json:"kernel"`            // its kernel
	Blocks    uint64  `json:"blocks"`            // its blocks that are done
	Total     uint64  `json:"total_blocks"`      // all of them
	Running   uint64  `json:"running_blocks"`    // those on SMs, in a timing run
	WarpInsts uint64  `json:"warp_instructions"` // of the run so far
	Cycles    uint64  `json:"cycles"`            // of the run so far, where they are counted
	Share     float64 `json:"share"`             // of the whole run that is done, 0 to 1; 0 if unknown
}

// Done estimates how much of the launch is done, 0 to 1, from its blocks. As soon as one has
// ended, those that run count as half done: without them, the time left would be far too
// long while the first ones end, and too short before the next ones do.
func (p *Progress) Done() float64 {
	if p.Blocks == 0 {
		return 0
	}
	return (float64(p.Blocks) + float64(p.Running)/2) / float64(p.Total)
}

// Inside is the state of a timing run between two cycles, for reading only.
type Inside struct {
	Chip    *gpu.GPU
	Memory  *device.Memory // nil for runs without values
	Buffers []Buffer
}

// Buffer is a named range of device memory.
type Buffer struct {
	Name string
	Addr uint64
	Type string // of its elements: f32, u8 and the like
}
