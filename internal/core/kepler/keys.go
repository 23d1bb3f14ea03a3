package kepler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/param"
)

// The prefixes of the names of all settings and of the switches. LevelKey is the name of
// the setting that sets all switches.
const (
	table       = "kepler."
	SwitchTable = table + "switch."
	LevelKey    = table + "conform"
)

// keys are all settings, in listing order.
var keys = param.Of(new(Config), table, false)

// Keys returns all settings, in listing order.
func Keys() []param.Param { return keys }

// KeyByName returns the setting with a name, nil if there is none.
func KeyByName(name string) *param.Param {
	if i := slices.IndexFunc(keys, func(k param.Param) bool { return k.Name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// chipKeys are the settings of a chip: SMs, caches, slices and DRAM.
var chipKeys = param.Of(new(Chip), table, false)

// ofChip reports whether a setting is one of chipKeys.
func ofChip(name string) bool {
	return slices.ContainsFunc(chipKeys, func(k param.Param) bool { return k.Name == name })
}

// Needs returns the setting that must be given for another one to have an effect on this
// machine, as a user would write it; "" if none is missing.
func (c *Config) Needs(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "on":
	case name == table+"l2.slices", name == table+"dram.latency", name == table+"l2.latency": // a slice has a latency even without a cache
		if !c.Chip.Wanted() {
			return "kepler.sms=2 or kepler.l2.on=true"
		}
	case strings.HasPrefix(name, table+"l1.") && !c.Chip.L1.On, strings.HasPrefix(name, table+"l2.") && !c.Chip.L2.On:
		return strings.TrimSuffix(name, last) + "on=true"
	}
	return ""
}

// Assign gives a setting a value from package toml. The conformance level sets every
// switch, so assign it before them.
func (c *Config) Assign(k *param.Param, v any) error {
	if err := k.Assign(c, v); err != nil {
		return err
	}
	if k.Name == LevelKey {
		c.Switches = switchesOf(c.Level)
	}
	return nil
}

// Set changes a setting, by name, to a value in text form.
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

// Check reports settings that contradict each other, nil if there are none.
func (c *Config) Check() error {
	var errs []error
	if c.Chip.Wanted() {
		if !c.OwnTransactions {
			errs = append(errs, errors.New("several SMs and caches need kepler.switch.own_transactions, which kepler.conform=datasheet sets: without it a transaction may use another warp's slot"))
		}
		if c.Delay > 0 {
			errs = append(errs, errors.New("kepler.memory.delay has no effect with several SMs or caches, which do not use the mock memory; set kepler.dram.latency instead"))
		}
	}
	if c.Extras && !(c.OwnTransactions && c.OneResponse) {
		errs = append(errs, errors.New("kepler.switch.extras needs kepler.switch.own_transactions and kepler.switch.one_response: atomics and textures answer once, to the warp that asked; set kepler.switch.extras=false as well"))
	}
	return errors.Join(errs...)
}

// Conditions returns the settings that a result states, by name: the level, the settings
// that differ from the level's, and those of the chip if it is more than one core with
// the mock memory.
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

// Fact is a property that every machine of this kind has, whatever its settings.
type Fact struct {
	Name, Value string
	Source      string
}

// Facts returns the properties that no setting changes.
func Facts() []Fact {
	const rtl = "RTL"
	return []Fact{
		{"warps", fmt.Sprintf("%d of %d lanes", Warps, isa.Lanes), rtl},
		{"registers", fmt.Sprintf("%d of 32 bits per lane, and %d predicates", isa.Registers, isa.Predicates), rtl},
		{"program memory", fmt.Sprintf("%d instructions per warp", isa.ProgramWords), rtl},
		{"issue", "up to 2 instructions of a warp per cycle", rtl},
		{"operand collectors", fmt.Sprintf("%d over %d register banks", collectors, banks), rtl},
		{"unit queues", fmt.Sprintf("3 of %d instructions", queueDepth), rtl},
		{"shared memory", fmt.Sprintf("%d bytes in %d banks", SharedBytes, sharedBanks), rtl},
		{"transactions", fmt.Sprintf("%d outstanding per warp, of %d bytes", slots, lineBytes), rtl},
		{"divergence stack", fmt.Sprintf("%d entries per warp", StackDepth), rtl},
		{"call stack", fmt.Sprintf("%d return addresses per warp", CallDepth), rtl},
		{"global memory", fmt.Sprintf("%d MiB if addresses are checked, otherwise 4 GiB", MemoryBytes>>20), "our choice"},
	}
}
