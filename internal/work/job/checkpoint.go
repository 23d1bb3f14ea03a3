package job

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/checkpoint"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// This file: what a checkpoint keeps of a job. All else is as at its start.

// progress is how far a run is: a run.Resumable.
type progress struct {
	*runner
	ops []*gpu.Op // by step, nil if left out
}

// past is a step that has ended.
type past struct {
	Step       int
	Start, End uint64
}

// sofar is what is written of a progress.
type sofar struct {
	Past    []past
	Numbers exec.Numbers
	Memory  *device.Image
}

// Save writes which steps have ended, and memory.
func (p *progress) Save(e *checkpoint.Encoder) (err error) {
	x := sofar{Numbers: p.machine.Numbers()}
	for i, o := range p.ops {
		if o != nil && o.Ended() {
			x.Past = append(x.Past, past{i, o.Start, o.End})
		}
	}
	if x.Memory, err = p.mem.Image(); err != nil {
		return err
	}
	return e.Encode(&x)
}

// Load ends these steps, and restores memory.
func (p *progress) Load(d *checkpoint.Decoder) error {
	var x sofar
	if err := d.Decode(&x); err != nil {
		return err
	}
	for _, s := range x.Past {
		if s.Step < 0 || s.Step >= len(p.ops) || p.ops[s.Step] == nil || p.ops[s.Step].Ended() {
			return fmt.Errorf("it ends step %d, which this run does not have", s.Step)
		}
		p.ses.Past(p.ops[s.Step], s.Start, s.End)
	}
	if x.Memory == nil {
		return fmt.Errorf("it has no memory")
	}
	p.machine.Renumber(x.Numbers)
	return p.mem.Restore(x.Memory)
}
