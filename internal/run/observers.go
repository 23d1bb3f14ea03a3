package run

import (
	"fmt"
	"slices"
)

// This file: which kind of work has which observer.

// Kind is what gives a session its launches.
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

// Observer is something that watches a timing run.
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
	observers
)

// observer is what messages say about one.
type observer struct {
	name   string
	cycles string          // why it has nothing to do in a functional run; "" if it may be asked for there
	again  bool            // it cannot go with StepObserver, whose runs begin anew when the user goes back
	refuse map[Kind]string // the kinds of work that cannot have it, and why
}

// notChip refuses what looks at SMs of the chip.
const notChip = "the Kepler-style core is not the chip that it looks at"

var table = [observers]observer{
	SeriesObserver:   {name: "a series of counters", cycles: "it shows cycles", again: true},
	TimelineObserver: {name: "a timeline", cycles: "it shows cycles", again: true},
	HazardObserver: {name: "the hazard checker", cycles: "it is about cycles", refuse: map[Kind]string{
		CUDA:       "it looks at the control bits of SASS, and CUDA programs run as PTX, which scoreboards guard; write the kernel as a job of SASS text",
		KeplerJob:  notChip + ", and that core guards dependences by itself",
		KeplerCore: notChip + ", and that core guards dependences by itself",
	}},
	AccelSimObserver: {name: "GPGPU-Sim's counters", cycles: "they are counters of a timing run", again: true, refuse: map[Kind]string{
		KeplerJob:  "these counters are not those of the Kepler-style core; its own are in the JSON result",
		KeplerCore: "these counters are not those of the Kepler-style core; its own are in the JSON result",
	}},
	RecordObserver: {name: "a recording", cycles: "it has what a core model issues, in its order", again: true, refuse: map[Kind]string{
		Trace:      "the input is a trace already; heddle trace convert writes it in other forms",
		KeplerJob:  "a trace is made of PTX or SASS, and the Kepler-style core has none",
		KeplerCore: "a trace is made of PTX or SASS, and the Kepler-style core has none",
	}},
	StepObserver: {name: "stepping", cycles: "it walks through cycles", refuse: map[Kind]string{
		CUDA: "going back repeats the run, and a program, with its files and its terminal, cannot be repeated; record a trace of it and walk through that",
	}},
	WatchObserver: {name: "watching functions", cycles: "they are told what happens in which cycle", again: true, refuse: map[Kind]string{
		KeplerJob: notChip, KeplerCore: notChip,
	}},
	BlockLogObserver: {name: "the log of blocks", refuse: map[Kind]string{
		KeplerJob:  "warps of the Kepler-style core are not handed out in blocks",
		KeplerCore: "warps of the Kepler-style core are not handed out in blocks",
	}},
}

// Refusal is an observer that a run cannot have.
type Refusal struct {
	Observer   Observer
	Kind       Kind
	Why        string
	Functional bool // because the run counts no cycles
	Stepped    bool // because the user may go back
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
			return &Refusal{Observer: o, Kind: kind, Why: x.cycles + ", and a functional run counts none", Functional: true}
		case x.again && slices.Contains(list, StepObserver):
			return &Refusal{Observer: o, Kind: kind, Why: fmt.Sprintf("going back runs %v again, and would write it twice", kind), Stepped: true}
		}
	}
	return nil
}

// observed lists the observers that options ask for. Inside is none: who looks into
// a run need not repeat it.
func (o *Options) observed() []Observer {
	var list []Observer
	for _, x := range [...]struct {
		on bool
		o  Observer
	}{
		{o.Series != nil, SeriesObserver}, {o.Timeline != nil, TimelineObserver}, {o.Hazards, HazardObserver},
		{o.AccelSim != nil, AccelSimObserver}, {o.Record != nil, RecordObserver}, {o.Watch != nil, WatchObserver},
	} {
		if x.on {
			list = append(list, x.o)
		}
	}
	return list
}

// Refused returns why a kind of work cannot have what options ask for.
func (o *Options) Refused(kind Kind) error { return Refuse(kind, o.Timing, o.observed()...) }
