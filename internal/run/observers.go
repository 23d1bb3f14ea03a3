package run

import (
	"fmt"
	"slices"
)

// This file: the table of observers that each kind of work supports.

// Kind is a kind of work: the source of a session's launches.
type Kind uint8

// The kinds of work.
const (
	Job        Kind = iota // a job file on a chip
	Trace                  // a recorded run
	CUDA                   // a CUDA program
	Library                // a Go program that launches kernels itself
	KeplerJob              // a job file of the Kepler-style core
	KeplerCore             // a program or a recorded case of that core
	kinds
)

var kindNames = [kinds]string{"a job", "a trace", "a CUDA program", "a Go program", "a job of the Kepler-style core", "a program of the Kepler-style core"}

func (k Kind) String() string { return kindNames[k] }

// Observer is an observer of a timing run.
type Observer uint8

// The observers.
const (
	SeriesObserver Observer = iota
	TimelineObserver
	HazardObserver
	AccelSimObserver
	RecordObserver
	StepObserver
	BlockLogObserver
	WatchObserver
	CheckObserver
	CoverageObserver
	SamplingObserver
	CheckpointObserver
	observers
)

// observer holds an observer's texts for messages.
type observer struct {
	name   string
	cycles string          // why it does not apply to functional runs; "" if it does
	again  bool            // cannot be combined with StepObserver, which reruns from the start to step back
	whole  bool            // cannot be combined with SamplingObserver, which leaves launches out
	kept   bool            // can be combined with CheckpointObserver: what it has seen is part of a checkpoint
	refuse map[Kind]string // the kinds of work that cannot have it, and why
}

// notChip refuses what observes SMs of the chip.
const notChip = "it does not support the Kepler-style core"

var table = [observers]observer{
	SeriesObserver:   {name: "a series of counters", cycles: "it shows cycles", again: true, whole: true, kept: true},
	TimelineObserver: {name: "a timeline", cycles: "it shows cycles", again: true, whole: true},
	HazardObserver: {name: "the hazard checker", cycles: "it is about cycles", whole: true, refuse: map[Kind]string{
		KeplerJob:  notChip + ", which guards dependences by itself",
		KeplerCore: notChip + ", which guards dependences by itself",
	}},
	AccelSimObserver: {name: "GPGPU-Sim's counters", cycles: "they are counters of a timing run", again: true, whole: true, refuse: map[Kind]string{
		KeplerJob:  "the Kepler-style core does not have these counters; its own are in the JSON result",
		KeplerCore: "the Kepler-style core does not have these counters; its own are in the JSON result",
	}},
	RecordObserver: {name: "a recording", cycles: "it records the order in which a core model issues instructions", again: true, whole: true, refuse: map[Kind]string{
		Trace:      "the input is already a trace; heddle trace convert writes it in other forms",
		KeplerJob:  "traces are made from PTX or SASS, which the Kepler-style core does not run",
		KeplerCore: "traces are made from PTX or SASS, which the Kepler-style core does not run",
	}},
	StepObserver: {name: "stepping", cycles: "it steps through cycles", refuse: map[Kind]string{
		CUDA: "stepping back repeats the run, and a program, with its files and its terminal, cannot be repeated; record a trace of it and step through that",
	}},
	WatchObserver: {name: "watching functions", cycles: "they hear what happens in which cycle", again: true, whole: true, refuse: map[Kind]string{
		KeplerJob: notChip, KeplerCore: notChip,
	}},
	CheckObserver: {name: "a checker of memory and threads", again: true, whole: true, refuse: map[Kind]string{
		Trace:      "a trace has addresses, but no values and no barriers with their threads; check the program that it was recorded from",
		KeplerJob:  notChip,
		KeplerCore: notChip,
	}},
	CoverageObserver: {name: "coverage", again: true, whole: true, refuse: map[Kind]string{
		Trace:      "a trace says which instructions ran, but not which a program has beside them; run the program that it was recorded from",
		KeplerJob:  notChip,
		KeplerCore: notChip,
	}},
	SamplingObserver: {name: "sampling", cycles: "it chooses launches whose cycles are counted", again: true, kept: true, refuse: map[Kind]string{
		Trace:      "to pass a launch over, it must be executed, and a trace has no values; choose launches with --kernels",
		KeplerJob:  notChip,
		KeplerCore: notChip,
	}},
	CheckpointObserver: {name: "checkpoints", cycles: "they keep the state of the chip", again: true, kept: true, refuse: map[Kind]string{
		CUDA:       "the program itself, with its memory and its files, cannot be stopped and continued; record a trace of it (--record), and make checkpoints of that",
		Library:    "the program itself, with its memory and its files, cannot be stopped and continued",
		KeplerJob:  notChip,
		KeplerCore: notChip,
	}},
	BlockLogObserver: {name: "the log of blocks", whole: true, kept: true, refuse: map[Kind]string{
		KeplerJob:  "the Kepler-style core has warps, but no blocks",
		KeplerCore: "the Kepler-style core has warps, but no blocks",
	}},
}

// Refusal is the error for an observer that a run cannot have.
type Refusal struct {
	Observer   Observer
	Kind       Kind
	Why        string
	Functional bool // because the run counts no cycles
	Stepped    bool // because the user may step back
	Sampled    bool // because not all launches are simulated
	Kept       bool // because a checkpoint does not keep what it has seen
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%v cannot have %s: %s", r.Kind, table[r.Observer].name, r.Why)
}

// Refuse returns why a kind of work cannot have the observers, a *Refusal, or
// nil if it can.
func Refuse(kind Kind, timing bool, list ...Observer) error {
	for _, o := range list {
		x := &table[o]
		switch why, no := x.refuse[kind]; {
		case no:
			return &Refusal{Observer: o, Kind: kind, Why: why}
		case !timing && x.cycles != "":
			return &Refusal{Observer: o, Kind: kind, Why: x.cycles + ", but a functional run counts none", Functional: true}
		case x.again && slices.Contains(list, StepObserver):
			return &Refusal{Observer: o, Kind: kind, Why: fmt.Sprintf("stepping back reruns %v, which would write it twice", kind), Stepped: true}
		case !x.kept && slices.Contains(list, CheckpointObserver):
			return &Refusal{Observer: o, Kind: kind, Why: "a checkpoint does not keep what it has seen, so that a run that goes on would miss it", Kept: true}
		case x.whole && slices.Contains(list, SamplingObserver):
			return &Refusal{Observer: o, Kind: kind, Why: "sampling does not simulate all launches, so that it would miss some", Sampled: true}
		}
	}
	return nil
}

// observed lists the observers in the options. Inside is not among them: looking into a
// run does not require repeating it.
func (o *Options) observed() []Observer {
	var list []Observer
	for _, x := range [...]struct {
		on bool
		o  Observer
	}{
		{o.Series != nil, SeriesObserver}, {o.Timeline != nil, TimelineObserver}, {o.Hazards, HazardObserver},
		{o.AccelSim != nil, AccelSimObserver}, {o.Record != nil, RecordObserver}, {o.Watch != nil, WatchObserver}, {o.Checks != nil, CheckObserver}, {o.Coverage != nil, CoverageObserver}, {o.Sample != nil, SamplingObserver}, {o.Checkpoint != nil, CheckpointObserver},
	} {
		if x.on {
			list = append(list, x.o)
		}
	}
	return list
}

// Refused returns why a kind of work cannot have the observers in the options.
func (o *Options) Refused(kind Kind) error { return Refuse(kind, o.Timing, o.observed()...) }
