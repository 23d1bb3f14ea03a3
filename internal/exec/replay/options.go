package replay

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
)

// Hidden says what to do about dependences that a trace does not name: those
// through predicates and, before version 6, uniform registers
// (trace.hidden_dependences).
type Hidden uint8

// The ways.
const (
	// HiddenOff leaves them out, as Accel-Sim does.
	HiddenOff Hidden = iota
	// HiddenRecover finds them from the static code as far as possible.
	HiddenRecover
)

var hiddenNames = [...]string{"off", "recover"}

func (h Hidden) String() string { return hiddenNames[h] }

// ParseHidden reads the name of a way.
func ParseHidden(s string) (Hidden, error) {
	for i, n := range hiddenNames {
		if s == n {
			return Hidden(i), nil
		}
	}
	return 0, fmt.Errorf("hidden dependences %q: there are off and recover", s)
}

// Dependences says which control bits the instructions have.
type Dependences uint8

// The choices.
const (
	// AsRecorded is the trace's control bits, none where one is missing.
	AsRecorded Dependences = iota
	// Scoreboard is none: the core's scoreboards guard the program.
	Scoreboard
	// Inferred is bits as a compiler would set them where the trace's are not
	// complete.
	Inferred
)

var dependenceNames = [...]string{"recorded", "scoreboard", "inferred"}

func (d Dependences) String() string { return dependenceNames[d] }

// ParseDependences reads the name of a choice.
func ParseDependences(s string) (Dependences, error) {
	for i, n := range dependenceNames {
		if s == n {
			return Dependences(i), nil
		}
	}
	return 0, fmt.Errorf("dependences %q: there are recorded, scoreboard and inferred", s)
}

// Options decide how a launch is replayed.
type Options struct {
	// AsAccelSim reads a trace as Accel-Sim does where that changes cycles and
	// is not what the program did: R255 is a register like others, uniform
	// registers are none, the width of an access is the first number in the
	// mnemonic, generic addresses without known windows are shared memory, and
	// loads pass by the L1 only if they are .STRONG.GPU.
	AsAccelSim bool
	Hidden     Hidden
	// Dependences chooses control bits, Latencies are those that inferred bits
	// are made for; the zero value is Ampere's.
	Dependences Dependences
	Latencies   Latencies
	// Rules say what unknown mnemonics are taken for.
	Rules mnemonic.Rules
}

// Report says what a replayed launch is based on.
type Report struct {
	// Source of control bits: "none", "recorded", "inferred", and why not
	// another, if there is a reason.
	Control, Why string
	// Words counts static instructions described from their encoded words or
	// full text, Mnemonic those described from the mnemonic alone.
	Words, Mnemonic int
	// Unknown are mnemonics that no table has, with the number of records.
	Unknown []mnemonic.Count
	// Hidden tells how far dependences through predicates and uniform registers
	// were recovered.
	Hidden HiddenReport
	// Blocks without a record in the trace, of how many.
	Absent, Grid uint64
	// Warnings are what is odd.
	Warnings []string
}

// HiddenReport counts what became of dependences that a trace does not name.
type HiddenReport struct {
	// Needed counts reads of predicates and uniform registers that the trace
	// does not name, by records; Recovered those whose producer was found.
	Needed, Recovered uint64
	// Static counts are the same by static instruction.
	NeededStatic, RecoveredStatic int
}

// Lost is the share of the reads, 0 to 1, whose producer is not known.
func (h HiddenReport) Lost() float64 {
	if h.Needed == 0 {
		return 0
	}
	return 1 - float64(h.Recovered)/float64(h.Needed)
}

// noControl is what instructions have that ask for nothing.
var noControl = isa.Control{Stall: 1, Write: isa.NoCounter, Read: isa.NoCounter}
