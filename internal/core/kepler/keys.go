package kepler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/param"
)

// What the names of settings begin with: of all, of the differences between the
// levels. LevelKey is the name of the setting that sets all of these.
const (
	table       = "kepler."
	SwitchTable = table + "switch."
	LevelKey    = table + "conform"
)

// keys are all settings, in the order in which they are listed.
var keys = param.Of(new(Config), table, false)

// Keys returns all settings, in the order in which they are listed.
func Keys() []param.Param { return keys }

// KeyByName finds a setting; nil if there is none of that name.
func KeyByName(name string) *param.Param {
	if i := slices.IndexFunc(keys, func(k param.Param) bool { return k.Name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// chipKeys are those of several SMs, and of what lies between them and memory.
var chipKeys = param.Of(new(Chip), table, false)

// ofChip reports whether a setting is one of chipKeys.
func ofChip(name string) bool {
	return slices.ContainsFunc(chipKeys, func(k param.Param) bool { return k.Name == name })
}

// Needs says what to set for a setting to mean anything on this machine, as a user
// would write it; "" if nothing is missing.
func (c *Config) Needs(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "on":
	case name == table+"l2.slices", name == table+"dram.latency", name == table+"l2.latency": // the way through a slice takes time with and without a cache
		if !c.Chip.Wanted() {
			return "kepler.sms=2 or kepler.l2.on=true"
		}
	case strings.HasPrefix(name, table+"l1.") && !c.Chip.L1.On, strings.HasPrefix(name, table+"l2.") && !c.Chip.L2.On:
		return strings.TrimSuffix(name, last) + "on=true"
	}
	return ""
}

// Assign gives a setting a value as package toml returns it. The conformance level
// sets every switch, so it comes before them.
func (c *Config) Assign(k *param.Param, v any) error {
	if err := k.Assign(c, v); err != nil {
		return err
	}
	if k.Name == LevelKey {
		c.Switches = switchesOf(c.Level)
	}
	return nil
}

// Set changes a setting by its name to a value as text.
func (c *Config) Set(name, value string) error {
	k := KeyByName(name)
	if k == nil {
		return fmt.Errorf("there is no key %q", name)
	}
	v, err := k.Parse(value)
	if err != nil {
		return err
	}
	return c.Assign(k, v)
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
		if chip := ofChip(k.Name); chip && c.Chip.Wanted() || !chip && k.Value(c) != k.Value(&plain) {
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
