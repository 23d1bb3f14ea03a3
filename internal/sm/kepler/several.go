package kepler

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
)

// Chip describes several SMs and what lies between them and memory; package
// chip makes it. The datasheet names them as future work and gives no numbers:
// all defaults are our assumptions, those of a small teaching machine.
// Everything has one clock.
type Chip struct {
	SMs int   // 0 is 1
	L1  Cache // of each SM
	L2  Cache // of each slice
	// Slices is the number of L2 slices, each with a DRAM channel.
	Slices int
	// DRAMLatency is the cycles from the L2 to the DRAM, before the DRAM's own.
	DRAMLatency int
}

// Cache is a set-associative cache with lines of 128 bytes, of which the least
// recently used goes first.
type Cache struct {
	On      bool
	Sets    int // a power of two
	Ways    int
	Latency int // cycles from a request to its look-up
	Misses  int // lines that may be on their way
}

// oneSM is one SM without caches, and what caches are like once they are turned
// on.
func oneSM() Chip {
	return Chip{
		SMs:    1,
		L1:     Cache{Sets: 16, Ways: 4, Latency: 2, Misses: 16},
		L2:     Cache{Sets: 64, Ways: 8, Latency: 8, Misses: 32},
		Slices: 2, DRAMLatency: 20,
	}
}

// Wanted reports whether there is anything that a core with the mock memory does
// not have.
func (c *Chip) Wanted() bool { return c.SMs > 1 || c.L1.On || c.L2.On }

// Limits of the keys, our choice.
const (
	maxSMs     = Warps // more would have no warp
	maxSets    = 1024
	maxWays    = 32
	maxLatency = 10_000
	maxMisses  = 1024
	maxSlices  = 16
)

// field is a setting by its name.
type field struct {
	on       *bool
	n        *int
	min, max int
	power    bool // of two
}

// fields are the settings by name.
func (c *Chip) fields() map[string]field {
	m := map[string]field{
		"kepler.sms":          {n: &c.SMs, min: 1, max: maxSMs},
		"kepler.l2.slices":    {n: &c.Slices, min: 1, max: maxSlices, power: true},
		"kepler.dram.latency": {n: &c.DRAMLatency, max: maxLatency},
	}
	for name, k := range map[string]*Cache{"l1": &c.L1, "l2": &c.L2} {
		name = "kepler." + name + "."
		m[name+"on"] = field{on: &k.On}
		m[name+"sets"] = field{n: &k.Sets, min: 1, max: maxSets, power: true}
		m[name+"ways"] = field{n: &k.Ways, min: 1, max: maxWays}
		m[name+"latency"] = field{n: &k.Latency, max: maxLatency}
		m[name+"misses"] = field{n: &k.Misses, min: 1, max: maxMisses}
	}
	return m
}

// chipKeys are the names of the settings, sorted.
func chipKeys() []string {
	var list []string
	for name := range new(Chip).fields() {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// set changes a setting. The error says what values it takes.
func (f *field) set(key, value string) error {
	if f.on != nil {
		if value != "true" && value != "false" {
			return fmt.Errorf("%s is true or false, not %q", key, value)
		}
		*f.on = value == "true"
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < f.min || n > f.max || f.power && bits.OnesCount(uint(n)) != 1 {
		of := ""
		if f.power {
			of = " that is a power of two"
		}
		return fmt.Errorf("%s is a number from %d to %d%s, not %q", key, f.min, f.max, of, value)
	}
	*f.n = n
	return nil
}

// Settings are the settings as conditions of a run, by name: those of a machine
// that has more than one SM, or caches.
func (c *Chip) Settings() map[string]any {
	m := map[string]any{}
	if !c.Wanted() {
		return m
	}
	for name, f := range c.fields() {
		if f.on != nil {
			m[name] = *f.on
		} else {
			m[name] = *f.n
		}
	}
	return m
}
