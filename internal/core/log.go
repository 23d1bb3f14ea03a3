package core

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: an optional log of every instruction's path through a core. It does not
// affect the simulation.

// MaxStages bounds the stages of a core model's pipeline.
const MaxStages = 10

// Record is a warp instruction that has left a core.
type Record struct {
	Work  exec.Work
	Block uint64 // in its grid
	ID    uint64 // instructions that the core issued before it
	At    int32  // index into the work's code
	Warp  int16  // in its block
	Slot  int16  // of the core
	Sched int16  // scheduler, sub-core
	Lanes isa.LaneMask
	// For is the instruction of the same work for which the warp waited last before this one, -1 if
	// that is not kept, or if it waited for none.
	For int32
	// Open: the log has ended before the instruction was complete.
	Open bool
	// Times are the core cycles in which it entered each stage of its core's model; they
	// never decrease. A stage that it did not pass has the time of the next.
	Times [MaxStages]uint64
}

// logSize is how many records are kept before HandOn passes them on.
const logSize = 512

// Log keeps records of the instructions that issue while it is there. A nil Log keeps none: only
// HandOn, Flush and Close may be called.
type Log struct {
	sink   func(list []Record)
	stages int
	buf    []Record
	open   []Record // by number of the instruction's in-flight record; those without work are not recorded
}

// NewLog returns a log for a pipeline with the given number of stages. It passes
// records to sink, which must not keep the list: it is reused. There is no log for nobody.
func NewLog(stages int, sink func(list []Record)) *Log {
	if sink == nil {
		return nil
	}
	return &Log{sink: sink, stages: stages, buf: make([]Record, 0, logSize+64)}
}

// HandOn passes on the kept records if there are many.
func (l *Log) HandOn() {
	if l != nil && len(l.buf) >= logSize {
		l.Flush()
	}
}

// Flush passes on the kept records.
func (l *Log) Flush() {
	if l != nil && len(l.buf) > 0 {
		l.sink(l.buf)
		l.buf = l.buf[:0]
	}
}

// Begin notes that an instruction was issued as in-flight record fi.
func (l *Log) Begin(fi int32, r Record) {
	for len(l.open) <= int(fi) {
		l.open = append(l.open, Record{})
	}
	l.open[fi] = r
}

// Reach notes that the instruction of an in-flight record enters a stage in a core
// cycle.
func (l *Log) Reach(fi int32, stage int, cycle uint64) {
	if l.has(fi) {
		l.open[fi].Times[stage] = cycle
	}
}

// has reports whether an instruction in flight is recorded: it may have issued before the log began.
func (l *Log) has(fi int32) bool { return int(fi) < len(l.open) && l.open[fi].Work != nil }

// Close ends the log in a core cycle, and passes on the kept records and those of instructions in
// flight.
func (l *Log) Close(cycle uint64) {
	if l == nil {
		return
	}
	for fi := range l.open {
		if l.has(int32(fi)) {
			l.open[fi].Open = true
			l.End(int32(fi), 0, cycle)
		}
	}
	l.Flush()
}

// End notes that an instruction is complete and its in-flight record free, in a core
// cycle.
func (l *Log) End(fi int32, lanes isa.LaneMask, cycle uint64) {
	if !l.has(fi) {
		return
	}
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
	r.Work = nil
}
