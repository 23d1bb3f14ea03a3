package kepler

import "fmt"

// Level is a conformance level: which machine the core is to equal.
type Level uint8

// The levels.
const (
	// RTL is what the hardware description does, its accidents included.
	RTL Level = iota
	// Datasheet is what its datasheet promises.
	Datasheet
)

// levels are the names of the levels.
var levels = [...]string{RTL: "rtl", Datasheet: "datasheet"}

// LevelByName finds a level; the error says which there are.
func LevelByName(name string) (Level, error) {
	for l, n := range levels {
		if n == name {
			return Level(l), nil
		}
	}
	return RTL, fmt.Errorf("there is no conformance level %q; there are rtl and datasheet", name)
}

func (l Level) String() string { return levels[l] }

// Name is what the machine with the settings that nobody has changed is called.
const Name = "kepler-edu"

// Config says which machine is simulated.
type Config struct {
	Name  string `key:"-"` // what it is called in results
	Level Level  `key:"conform" help:"the machine to be equal to; it sets every kepler.switch" enum:"rtl|datasheet" source:"our choice; recorded cases run at rtl"`
	Delay int    `key:"memory.delay" help:"how long the mock memory works on a request; 0: by the cycle, 2 to 7, as in the RTL" unit:"cycles" want:"0..10000" source:"RTL"`
	Chip  Chip   `key:"."` // one SM with the mock memory, unless it asks for more

	Switches `key:"switch"`
}

// Switches are the differences between the levels, all off at level RTL and
// all on at level Datasheet. Each has a key of its own, see Keys.
type Switches struct {
	// Greedy: the scheduler stays with a warp while it is eligible. The RTL
	// turns to the next one after every selection.
	Greedy bool `help:"the scheduler stays with a warp while it is eligible" source:"datasheet 2.2.2"`
	// SeparateSFU: a floating-point and a special-function operation may be
	// issued together. The RTL takes them for one unit.
	SeparateSFU bool `help:"operations of the FPU and the SFU may be issued together" source:"datasheet table 2"`
	// Rendezvous: a barrier holds each warp until all that have not exited
	// have come, epoch after epoch. In the RTL's epoch zero nobody waits.
	Rendezvous bool `help:"a barrier holds each warp until all have come" source:"datasheet 4.3"`
	// OwnTransactions: each part of a split access has a transaction slot and
	// the direction of its own warp, and answers may overtake each other. The
	// RTL takes both from the request that happens to be at hand (Q3).
	OwnTransactions bool `help:"parts of a split access have slots and direction of their own, and answers may overtake" source:"datasheet 4.2 and table 4"`
	// IEEE: arithmetic, comparison and conversion of floating-point numbers
	// follow IEEE-754; the RTL's do not. Special functions are the same.
	IEEE bool `help:"floating-point arithmetic follows IEEE-754" source:"datasheet 1.1"`
	// NoSideEffects: ISETP, FSETP, NOP, CALL, RET and STS write no general
	// register (Q4 is the last of them).
	NoSideEffects bool `help:"ISETP, FSETP, NOP, CALL, RET and STS write no general register" source:"accidents of the RTL"`
	// FullScoreboard: every register and predicate that an instruction reads
	// or writes is waited for, guards are read in order, results release only
	// what their instruction has marked, and nothing overtakes an unresolved
	// branch of its warp. The RTL's lists have gaps.
	FullScoreboard bool `help:"every register and predicate is waited for, and nothing passes an unresolved branch" source:"datasheet 2.3 and table 4"`
	// GuardedControl: guards apply to every control instruction, and lanes
	// that a guard excludes from a branch fall through. The RTL ignores the
	// guards of JOIN, CALL, RET, BAR and EXIT.
	GuardedControl bool `help:"guards hold for JOIN, CALL, RET, BAR and EXIT, and excluded lanes fall through branches" source:"datasheet 4.3"`
	// Lossless: queues drop nothing, collectors release in order whatever is
	// refused, a stall executes nothing twice (Q6, Q7, Q8).
	Lossless bool `help:"queues drop nothing, and a stall executes nothing twice" source:"accidents of the RTL"`
	// OneResponse: an access to shared memory answers once, when all its
	// banks have been served. The RTL answers several times, first in the
	// middle of a conflict.
	OneResponse bool `help:"an access to shared memory writes back once" source:"accidents of the RTL"`
	// PatientExit: EXIT waits for what is on its way and then ends the warp.
	// In the RTL it jumps to itself until it happens to find nothing, and an
	// empty queue writes back for warp 0 (Q1).
	PatientExit bool `help:"EXIT waits in its queue for what is on its way" source:"accidents of the RTL"`
	// Checked: an unknown operation, a misaligned or out-of-range address, a
	// jump out of program memory, overflow of a stack and underflow of the
	// call stack end the run with a fault. In the RTL they wrap around or do
	// nothing.
	Checked bool `help:"unknown operations, bad addresses and full stacks end the run with a message" source:"a simulator should say so"`
	// Extras: the atomics, the rasteriser, the texture unit and SMID exist, in
	// opcode space that is free. In the RTL these opcodes are unknown. Needs
	// OwnTransactions and OneResponse.
	Extras bool `help:"the atomics, the rasteriser, the texture unit and SMID exist" source:"datasheet 6"`
}

// ConfigFor returns the machine of a conformance level.
func ConfigFor(l Level) Config {
	return Config{Name: Name, Level: l, Switches: switchesOf(l), Chip: oneSM()}
}

// switchesOf are the switches of a level.
func switchesOf(l Level) Switches {
	if l == RTL {
		return Switches{}
	}
	return Switches{
		Greedy: true, SeparateSFU: true, Rendezvous: true, OwnTransactions: true, IEEE: true, NoSideEffects: true,
		FullScoreboard: true, GuardedControl: true, Lossless: true, OneResponse: true, PatientExit: true, Checked: true, Extras: true,
	}
}

// Config returns the machine that the core is. Of its settings, the delay
// of the memory may be changed before it runs, and those of the chip before it
// is made part of one.
func (k *Core) Config() *Config { return &k.cfg }

// Level returns the core's conformance level.
func (k *Core) Level() Level { return k.cfg.Level }
