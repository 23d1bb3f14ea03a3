package replay

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
)

// Hidden is the treatment of dependences that a trace does not name: those through
// predicates and, before version 6, uniform registers (trace.hidden_dependences).
type Hidden uint8

// The treatments.
const (
	// HiddenOff leaves them out, as Accel-Sim does.
	HiddenOff Hidden = iota
	// HiddenRecover finds them from the static code as far as possible.
	HiddenRecover
)

var hiddenNames = [...]string{"off", "recover"}

func (h Hidden) String() string { return hiddenNames[h] }

// ParseHidden reads the name of a treatment.
func ParseHidden(s string) (Hidden, error) {
	for i, n := range hiddenNames {
		if s == n {
			return Hidden(i), nil
		}
	}
	return 0, fmt.Errorf("hidden dependences %q: want off or recover", s)
}

// Dependences selects the control bits of the instructions.
type Dependences uint8

// The choices.
const (
	// AsRecorded uses the trace's control bits, or none if any is missing.
	AsRecorded Dependences = iota
	// Scoreboard uses none: the core's scoreboards guard the program.
	Scoreboard
	// Inferred uses bits as a compiler would set them if the trace's are
	// incomplete.
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
	return 0, fmt.Errorf("dependences %q: want recorded, scoreboard or inferred", s)
}

// Options decide how a launch is replayed.
type Options struct {
	// AsAccelSim reads a trace as Accel-Sim does, even where that is not what the
	// program did and changes cycles: R255 is an ordinary register, uniform registers
	// do not exist, the width of an access is the first number in the mnemonic,
	// generic addresses without known windows are shared memory, and loads bypass the
	// L1 only if they are .STRONG.GPU.
	AsAccelSim bool
	Hidden     Hidden
	// Dependences chooses control bits; Latencies are the latencies for inferred bits.
	// Their zero value means Ampere's.
	Dependences Dependences
	Latencies   Latencies
	// Rules classify unknown mnemonics.
	Rules mnemonic.Rules
}

// Report describes the basis of a replayed launch.
type Report struct {
	// Source of control bits: "none", "recorded" or "inferred". Why explains why not
	// another source, if there is a reason.
	Control, Why string
	// Words counts static instructions described from their encoded words or full
	// text, Mnemonic those described from the mnemonic alone.
	Words, Mnemonic int
	// Unknown are mnemonics that no table has, with the number of records.
	Unknown []mnemonic.Count
	// Hidden reports how far dependences through predicates and uniform registers were
	// recovered.
	Hidden HiddenReport
	// Blocks without a record in the trace, of how many.
	Absent, Grid uint64
	// Warnings are oddities of the trace.
	Warnings []string
}

// HiddenReport counts the outcomes for dependences that a trace does not name.
type HiddenReport struct {
	// Needed counts reads of predicates and uniform registers that the trace does not
	// name, by records; Recovered those whose producer was found.
	Needed, Recovered uint64
	// Static counts are the same by static instruction.
	NeededStatic, RecoveredStatic int
}

// Lost is the fraction of the reads, 0 to 1, whose producer is unknown.
func (h HiddenReport) Lost() float64 {
	if h.Needed == 0 {
		return 0
	}
	return 1 - float64(h.Recovered)/float64(h.Needed)
}

// noControl is the control bits that request nothing.
var noControl = isa.Control{Stall: 1, Write: isa.NoCounter, Read: isa.NoCounter}
