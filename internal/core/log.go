package core

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: the way of every instruction through a core, for those who ask.
// It is written down beside the simulation and changes nothing in it.

// MaxStages bounds the stages of a core model's pipeline.
const MaxStages = 10

// Record is a warp instruction that has left a core.
type Record struct {
	Work  exec.Work
	Block uint64 // in its grid
	ID    uint64 // instructions that the core issued before it
	At    int32  // instruction, in the order of the work's code
	Warp  int16  // in its block
	Slot  int16  // of the core
	Sched int16  // scheduler, sub-core
	Lanes isa.LaneMask
	// Times are the core cycles in which it came into each stage of its core's
	// model; they do not fall. A stage that it did not pass begins with the next.
	Times [MaxStages]uint64
}

// logSize is how many records are kept before HandOn hands them on.
const logSize = 512

// Log keeps records. A nil Log keeps none: only HandOn and Flush may be called.
type Log struct {
	sink   func(list []Record)
	stages int
	buf    []Record
	open   []Record // by record of the instruction in flight
}

// NewLog returns a log of instructions that pass so many stages. Sink gets them;
// the list is used again after the call.
func NewLog(stages int, sink func(list []Record)) *Log {
	return &Log{sink: sink, stages: stages, buf: make([]Record, 0, logSize+64)}
}

// HandOn hands on the records kept if there are many.
func (l *Log) HandOn() {
	if l != nil && len(l.buf) >= logSize {
		l.Flush()
	}
}

// Flush hands on the records kept.
func (l *Log) Flush() {
	if l != nil && len(l.buf) > 0 {
		l.sink(l.buf)
		l.buf = l.buf[:0]
	}
}

// Begin is told that an instruction was issued as in-flight record fi.
func (l *Log) Begin(fi int32, r Record) {
	for len(l.open) <= int(fi) {
		l.open = append(l.open, Record{})
	}
	l.open[fi] = r
}

// Reach is told that the instruction of an in-flight record comes into a stage
// in a core cycle.
func (l *Log) Reach(fi int32, stage int, cycle uint64) { l.open[fi].Times[stage] = cycle }

// End is told that the in-flight record is given back: in this core cycle
// nothing of the instruction is left.
func (l *Log) End(fi int32, lanes isa.LaneMask, cycle uint64) {
	r := &l.open[fi]
	r.Lanes = lanes
	if t := r.Times[l.stages-1]; t > 0 {
		cycle = t
	}
	for i := l.stages - 1; i >= 0; i-- {
		if t := r.Times[i]; t > 0 && t < cycle {
			cycle = t
		}
		r.Times[i] = cycle
	}
	l.buf = append(l.buf, *r)
}
