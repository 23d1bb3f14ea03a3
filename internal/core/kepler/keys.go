package kepler

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Limits of the keys, our choice.
const (
	maxSMs     = Warps // more would have no warp
	maxSets    = 1024
	maxWays    = 32
	maxLatency = 10_000
	maxMisses  = 1024
	maxSlices  = 16
)

// Key is a setting of the machine. The table below is the one place where a
// setting's name, unit, bounds, explanation and source are written.
type Key struct {
	Name     string   // as users write it, such as "kepler.l1.ways"
	Help     string   // what the value is
	Unit     string   // what it counts; "" if nothing
	Source   string   // where its default comes from
	Words    []string // that it may be; nil for numbers
	Min, Max int      // bounds of a number, both included
	Power    bool     // the number is a power of two
	Switch   bool     // one of the differences between the levels

	chip  bool                 // of several SMs, or of what lies between them and memory
	at    func(*Config) any    // a *Level, *bool or *int
	needs func(*Config) string // what to set as well; may be nil
}

// LevelKey is the name of the setting that sets all switches.
const LevelKey = "kepler.conform"

// keys are all settings, in the order in which they are listed.
var keys = func() []Key {
	list := []Key{
		{
			Name: LevelKey, Help: "the machine to be equal to; it sets every kepler.switch", Source: "our choice; recorded cases run at rtl",
			Words: levels[:], at: func(c *Config) any { return &c.Level },
		},
		{
			Name: "kepler.memory.delay", Help: "how long the mock memory works on a request; 0: by the cycle, 2 to 7, as in the RTL", Unit: "cycles", Source: "RTL",
			Max: maxLatency, at: func(c *Config) any { return &c.Delay },
		},
		{
			Name: "kepler.sms", Help: "SMs; warp w runs on SM w modulo that", Unit: "SMs", Source: "RTL; more of them are our assumption",
			Min: 1, Max: maxSMs, chip: true, at: func(c *Config) any { return &c.Chip.SMs },
		},
	}
	cache := func(name, what string, latency string, at func(*Config) *Cache) {
		const ours = "our assumption"
		on := func(c *Config) string { return orOn(at(c).On, name+".on") }
		timed := on
		if name == "kepler.l2" {
			timed = onChip // the way through a slice takes time with and without a cache
		}
		list = append(list,
			Key{Name: name + ".on", Help: what, Source: ours + ": the RTL has no caches", Words: boolWords, chip: true, at: func(c *Config) any { return &at(c).On }},
			Key{Name: name + ".sets", Help: "sets", Unit: "sets", Source: ours, Min: 1, Max: maxSets, Power: true, chip: true, at: func(c *Config) any { return &at(c).Sets }, needs: on},
			Key{Name: name + ".ways", Help: "lines of 128 bytes in a set", Unit: "lines", Source: ours, Min: 1, Max: maxWays, chip: true, at: func(c *Config) any { return &at(c).Ways }, needs: on},
			Key{Name: name + ".latency", Help: latency, Unit: "cycles", Source: ours, Max: maxLatency, chip: true, at: func(c *Config) any { return &at(c).Latency }, needs: timed},
			Key{Name: name + ".misses", Help: "lines that may be on their way", Unit: "lines", Source: ours, Min: 1, Max: maxMisses, chip: true, at: func(c *Config) any { return &at(c).Misses }, needs: on},
		)
	}
	cache("kepler.l1", "each SM has an L1", "from a request to its look-up", func(c *Config) *Cache { return &c.Chip.L1 })
	cache("kepler.l2", "each slice has a cache", "from the network to the look-up; without a cache as well", func(c *Config) *Cache { return &c.Chip.L2 })
	list = append(list,
		Key{
			Name: "kepler.l2.slices", Help: "L2 slices, each with a DRAM channel", Unit: "slices", Source: "our assumption", Min: 1, Max: maxSlices, Power: true,
			chip: true, at: func(c *Config) any { return &c.Chip.Slices }, needs: onChip,
		},
		Key{
			Name: "kepler.dram.latency", Help: "from the L2 to the DRAM, before the DRAM's own", Unit: "cycles", Source: "our assumption", Max: maxLatency,
			chip: true, at: func(c *Config) any { return &c.Chip.DRAMLatency }, needs: onChip,
		})
	for _, s := range switches {
		list = append(list, Key{
			Name: SwitchTable + s.name, Help: s.help, Source: s.source, Words: boolWords, Switch: true,
			at: func(c *Config) any { return s.at(&c.Switches) },
		})
	}
	return list
}()

// SwitchTable is what the names of the switches begin with.
const SwitchTable = "kepler.switch."

var boolWords = []string{"true", "false"}

// switches are the keys of the fields of Switches, in their order: what is so
// where it is true, and why the level Datasheet has it so.
var switches = []struct {
	name, help, source string
	at                 func(*Switches) *bool
}{
	{"greedy", "the scheduler stays with a warp while it is eligible", "datasheet 2.2.2", func(s *Switches) *bool { return &s.Greedy }},
	{"separate_sfu", "operations of the FPU and the SFU may be issued together", "datasheet table 2", func(s *Switches) *bool { return &s.SeparateSFU }},
	{"rendezvous", "a barrier holds each warp until all have come", "datasheet 4.3", func(s *Switches) *bool { return &s.Rendezvous }},
	{"own_transactions", "parts of a split access have slots and direction of their own, and answers may overtake", "datasheet 4.2 and table 4", func(s *Switches) *bool { return &s.OwnTransactions }},
	{"ieee", "floating-point arithmetic follows IEEE-754", "datasheet 1.1", func(s *Switches) *bool { return &s.IEEE }},
	{"no_side_effects", "ISETP, FSETP, NOP, CALL, RET and STS write no general register", "accidents of the RTL", func(s *Switches) *bool { return &s.NoSideEffects }},
	{"full_scoreboard", "every register and predicate is waited for, and nothing passes an unresolved branch", "datasheet 2.3 and table 4", func(s *Switches) *bool { return &s.FullScoreboard }},
	{"guarded_control", "guards hold for JOIN, CALL, RET, BAR and EXIT, and excluded lanes fall through branches", "datasheet 4.3", func(s *Switches) *bool { return &s.GuardedControl }},
	{"lossless", "queues drop nothing, and a stall executes nothing twice", "accidents of the RTL", func(s *Switches) *bool { return &s.Lossless }},
	{"one_response", "an access to shared memory writes back once", "accidents of the RTL", func(s *Switches) *bool { return &s.OneResponse }},
	{"patient_exit", "EXIT waits in its queue for what is on its way", "accidents of the RTL", func(s *Switches) *bool { return &s.PatientExit }},
	{"checked", "unknown operations, bad addresses and full stacks end the run with a message", "a simulator should say so", func(s *Switches) *bool { return &s.Checked }},
	{"extras", "the atomics, the rasteriser, the texture unit and SMID exist", "datasheet 6", func(s *Switches) *bool { return &s.Extras }},
}

// orOn is what to turn on, if it is off.
func orOn(on bool, key string) string {
	if on {
		return ""
	}
	return key + "=true"
}

// onChip says what to turn on for the settings of the memory behind a network.
func onChip(c *Config) string {
	if c.Chip.Wanted() {
		return ""
	}
	return "kepler.sms=2 or kepler.l2.on=true"
}

// Keys returns all settings, in the order in which they are listed.
func Keys() []Key { return keys }

// KeyNames returns the names of all settings.
func KeyNames() []string {
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Name
	}
	return names
}

// KeyByName finds a setting; nil if there is none of that name.
func KeyByName(name string) *Key {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

// Value returns a machine's value of a setting: a string, bool or int.
func (k *Key) Value(c *Config) any {
	switch p := k.at(c).(type) {
	case *Level:
		return p.String()
	case *bool:
		return *p
	case *int:
		return *p
	}
	return nil
}

// Needs says what to set for a setting to mean anything on a machine, as a user
// would write it; "" if nothing is missing.
func (k *Key) Needs(c *Config) string {
	if k.needs == nil {
		return ""
	}
	return k.needs(c)
}

// Set changes a setting. The conformance level sets every switch, so it comes
// before them. The error says which values there are.
func (k *Key) Set(c *Config, value string) error {
	switch p := k.at(c).(type) {
	case *Level:
		l, err := LevelByName(value)
		if err != nil {
			return err
		}
		c.Level, c.Switches = l, switchesOf(l)
	case *bool:
		if value != "true" && value != "false" {
			return fmt.Errorf("%s is true or false, not %q", k.Name, value)
		}
		*p = value == "true"
	case *int:
		n, err := strconv.Atoi(strings.ReplaceAll(value, "_", ""))
		if err != nil || n < k.Min || n > k.Max || k.Power && bits.OnesCount(uint(n)) != 1 {
			of := ""
			if k.Power {
				of = " that is a power of two"
			}
			return fmt.Errorf("%s is a number from %d to %d%s, not %q", k.Name, k.Min, k.Max, of, value)
		}
		*p = n
	}
	return nil
}

// Set changes a setting by its name, as Key.Set does.
func (c *Config) Set(name, value string) error {
	k := KeyByName(name)
	if k == nil {
		return fmt.Errorf("there is no key %q", name)
	}
	return k.Set(c, value)
}

// Check says why settings do not go together; nil if they do.
func (c *Config) Check() error {
	var errs []error
	if c.Chip.Wanted() {
		if !c.OwnTransactions {
			errs = append(errs, errors.New("several SMs and caches need kepler.switch.own_transactions, as kepler.conform=datasheet has it: without it a transaction does not know whose it is"))
		}
		if c.Delay > 0 {
			errs = append(errs, errors.New("kepler.memory.delay is of the mock memory, which several SMs and caches do not have; there is kepler.dram.latency"))
		}
	}
	if c.Extras && !(c.OwnTransactions && c.OneResponse) {
		errs = append(errs, errors.New("kepler.switch.extras needs kepler.switch.own_transactions and kepler.switch.one_response: atomics and textures answer once, to the warp that asked; set kepler.switch.extras=false as well"))
	}
	return errors.Join(errs...)
}

// Conditions are the settings that a result states, by name: the level, the
// switches that are not as the level has them, and whatever else a core by
// itself with the mock memory does not have.
func (c *Config) Conditions() map[string]any {
	plain := ConfigFor(c.Level)
	m := map[string]any{LevelKey: c.Level.String()}
	for i := range keys {
		k := &keys[i]
		if k.chip && c.Chip.Wanted() || !k.chip && k.Value(c) != k.Value(&plain) {
			m[k.Name] = k.Value(c)
		}
	}
	return m
}

// Fact is something that every machine of this kind has, whatever its settings.
type Fact struct {
	Name, Value string
	Source      string
}

// Facts are what no setting changes.
func Facts() []Fact {
	const rtl = "RTL"
	return []Fact{
		{"warps", fmt.Sprintf("%d of %d lanes", Warps, isa.Lanes), rtl},
		{"registers", fmt.Sprintf("%d of 32 bits a lane, and %d predicates", isa.Registers, isa.Predicates), rtl},
		{"program memory", fmt.Sprintf("%d instructions for each warp", isa.ProgramWords), rtl},
		{"issue", "up to 2 instructions of a warp a cycle", rtl},
		{"operand collectors", fmt.Sprintf("%d over %d register banks", collectors, banks), rtl},
		{"unit queues", fmt.Sprintf("3 of %d instructions", queueDepth), rtl},
		{"shared memory", fmt.Sprintf("%d bytes in %d banks", SharedBytes, sharedBanks), rtl},
		{"transactions", fmt.Sprintf("%d outstanding for each warp, of %d bytes", slots, lineBytes), rtl},
		{"divergence stack", fmt.Sprintf("%d entries for each warp", StackDepth), rtl},
		{"call stack", fmt.Sprintf("%d return addresses for each warp", CallDepth), rtl},
		{"global memory", fmt.Sprintf("%d MiB where addresses are checked; else all of 32 bits", MemoryBytes>>20), "our choice"},
	}
}
