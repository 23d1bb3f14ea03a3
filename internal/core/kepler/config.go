package kepler

import "fmt"

// Level is a conformance level: the machine that the core reproduces.
type Level uint8

// The levels.
const (
	// RTL is the behaviour of the hardware description, including its quirks.
	RTL Level = iota
	// Datasheet is the behaviour that its datasheet promises.
	Datasheet
)

// levels are the names of the levels.
var levels = [...]string{RTL: "rtl", Datasheet: "datasheet"}

// LevelByName returns the level with a name. The error lists the valid names.
func LevelByName(name string) (Level, error) {
	for l, n := range levels {
		if n == name {
			return Level(l), nil
		}
	}
	return RTL, fmt.Errorf("there is no conformance level %q; want rtl or datasheet", name)
}

func (l Level) String() string { return levels[l] }

// Name is the name of the machine with default settings.
const Name = "kepler-edu"

// Config describes the simulated machine.
type Config struct {
	Name  string `key:"-"` // its name in results
	Level Level  `key:"conform" help:"the machine to reproduce; sets every kepler.switch" enum:"rtl|datasheet" source:"our choice; recorded cases run at rtl"`
	Delay int    `key:"memory.delay" help:"time that the mock memory takes for a request; 0: 2 to 7 depending on the cycle, as in the RTL" unit:"cycles" want:"0..10000" source:"RTL"`
	Chip  Chip   `key:"."` // default: one SM with the mock memory

	Switches `key:"switch"`
}

// Switches are the differences between the levels, all off at level RTL and all on at
// level Datasheet. Each has its own key, see Keys.
type Switches struct {
	// Greedy: the scheduler stays with a warp while it is eligible. The RTL switches
	// to the next one after every selection.
	Greedy bool `help:"the scheduler stays with a warp while it is eligible" source:"datasheet 2.2.2"`
	// SeparateSFU: a floating-point and a special-function operation may be issued
	// together. The RTL treats FPU and SFU as one unit.
	SeparateSFU bool `help:"operations of the FPU and the SFU may be issued together" source:"datasheet table 2"`
	// Rendezvous: a barrier holds each warp until all that have not exited have
	// arrived, in every epoch. In the RTL no warp waits in epoch zero.
	Rendezvous bool `help:"a barrier holds each warp until all have arrived" source:"datasheet 4.3"`
	// OwnTransactions: each part of a split access uses the transaction slots and the
	// direction of its own warp, and answers may arrive out of order. The RTL takes
	// both from whatever request is current (Q3).
	OwnTransactions bool `help:"parts of a split access use their own warp's slots and direction, and answers may arrive out of order" source:"datasheet 4.2 and table 4"`
	// IEEE: arithmetic, comparison and conversion of floating-point numbers
	// follow IEEE-754; the RTL's do not. Special functions are the same.
	IEEE bool `help:"floating-point arithmetic follows IEEE-754" source:"datasheet 1.1"`
	// NoSideEffects: ISETP, FSETP, NOP, CALL, RET and STS write no general register
	// (STS is Q4).
	NoSideEffects bool `help:"ISETP, FSETP, NOP, CALL, RET and STS write no general register" source:"quirks of the RTL"`
	// FullScoreboard: an instruction waits for every register and predicate that it
	// reads or writes, guards are read in order, results release only what their
	// instruction has marked, and nothing overtakes an unresolved branch of its warp.
	// The RTL's lists have gaps.
	FullScoreboard bool `help:"instructions wait for all their registers and predicates, and none passes an unresolved branch" source:"datasheet 2.3 and table 4"`
	// GuardedControl: guards apply to every control instruction, and lanes that a
	// guard excludes from a branch fall through. The RTL ignores the guards of JOIN,
	// CALL, RET, BAR and EXIT.
	GuardedControl bool `help:"guards apply to JOIN, CALL, RET, BAR and EXIT, and excluded lanes fall through branches" source:"datasheet 4.3"`
	// Lossless: queues drop nothing, collectors release in order even if an
	// instruction is refused, and nothing executes twice during a stall (Q6, Q7, Q8).
	Lossless bool `help:"queues drop nothing, and nothing executes twice during a stall" source:"quirks of the RTL"`
	// OneResponse: an access to shared memory answers once, when all its banks have
	// been served. The RTL answers several times, the first time in the middle of a
	// conflict.
	OneResponse bool `help:"an access to shared memory writes back once" source:"quirks of the RTL"`
	// PatientExit: EXIT waits for operations in flight and then ends the warp. In the
	// RTL it jumps to itself until it happens to find none, and an empty queue writes
	// back for warp 0 (Q1).
	PatientExit bool `help:"EXIT waits in its queue for operations in flight" source:"quirks of the RTL"`
	// Checked: an unknown operation, a misaligned or out-of-range address, a
	// jump out of program memory, overflow of a stack and underflow of the
	// call stack end the run with a fault. In the RTL they wrap around or do
	// nothing.
	Checked bool `help:"unknown operations, bad addresses and full stacks end the run with a message" source:"our choice: a simulator should report them"`
	// Extras: the atomics, the rasteriser, the texture unit and SMID exist, with
	// opcodes that are unknown in the RTL. Needs OwnTransactions and OneResponse.
	Extras bool `help:"the atomics, the rasteriser, the texture unit and SMID exist" source:"datasheet 6"`
}

// ConfigFor returns the machine of a conformance level.
func ConfigFor(l Level) Config {
	return Config{Name: Name, Level: l, Switches: switchesOf(l), Chip: oneSM()}
}

// switchesOf returns the switches of a level.
func switchesOf(l Level) Switches {
	if l == RTL {
		return Switches{}
	}
	return Switches{
		Greedy: true, SeparateSFU: true, Rendezvous: true, OwnTransactions: true, IEEE: true, NoSideEffects: true,
		FullScoreboard: true, GuardedControl: true, Lossless: true, OneResponse: true, PatientExit: true, Checked: true, Extras: true,
	}
}

// Config returns the core's settings. Delay may be changed before the core runs, and
// Chip before it is made part of a chip.
func (k *Core) Config() *Config { return &k.cfg }

// Level returns the core's conformance level.
func (k *Core) Level() Level { return k.cfg.Level }
