package tracerun

import (
	"errors"
	"slices"

	"github.com/heddle-sim/heddle/internal/checkpoint"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// This file: what a checkpoint keeps of a trace. The runner is a run.Resumable.

// submitted is the action of a command.
type submitted struct {
	command int
	op      *gpu.Op
}

// submit remembers the action of the command before the next one.
func (x *runner) submit(op *gpu.Op) *gpu.Op {
	x.settle()
	x.fed = append(x.fed, submitted{x.next - 1, op})
	return op
}

// settle forgets actions that have ended.
func (x *runner) settle() {
	x.fed = slices.DeleteFunc(x.fed, func(s submitted) bool {
		if s.op.Ended() {
			x.past[s.command] = true
		}
		return s.op.Ended()
	})
}

// state are the values that a checkpoint keeps.
func (x *runner) state() []any {
	return []any{&x.past, &x.done, &x.warned, &x.unknown, x.ses.Res.Trace}
}

// Save writes which commands have ended, and what was learnt of the trace.
func (x *runner) Save(e *checkpoint.Encoder) error {
	x.settle()
	for _, s := range x.state() {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// Load reads it, before the first command.
func (x *runner) Load(d *checkpoint.Decoder) error {
	n := len(x.past)
	for _, s := range x.state() {
		if err := d.Decode(s); err != nil {
			return err
		}
	}
	if len(x.past) != n {
		return errors.New("it is of a trace with another number of commands")
	}
	return nil
}
