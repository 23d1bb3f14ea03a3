package job

import (
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// Inside is a timing run as those see it who look into it between two cycles.
// They change nothing.
type Inside struct {
	Job    *Job
	Chip   *gpu.GPU
	Memory *device.Memory
	// Place is where each buffer lies.
	Place map[string]uint64
}

// inside tells who asked that the run is about to begin.
func (x *runner) inside() {
	if x.opt.Inside == nil {
		return
	}
	in := &Inside{Job: x.job, Chip: x.timing.chip, Memory: x.mem, Place: x.addr}
	x.timing.chip.OnCycle(x.opt.Inside(in))
}
