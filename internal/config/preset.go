package config

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// presetKey selects a kind of memory. It is read before the other keys of a file,
// so that they can override its values.
const presetKey = "dram.preset"

// usePreset sets a channel's values to those of a kind of memory.
func (g *GPU) usePreset() error {
	p, ok := dram.Named(g.DRAM.Preset)
	if !ok {
		return fmt.Errorf("unknown %s = %q", presetKey, g.DRAM.Preset)
	}
	c := &p.Config
	word := func(key string, i int) string { return keyAt(key).Enum[i] }
	source := fmt.Sprintf("%s %s: %s", presetKey, p.Name, p.Source)
	for _, v := range []struct {
		key string
		v   any
	}{
		{"clocks.dram", p.MHz},
		{"dram.scheduler", word("dram.scheduler", int(c.Scheduler))}, {"dram.group_by", word("dram.group_by", int(c.GroupBy))},
		{"dram.queue", int64(c.QueueSize)}, {"dram.return_queue", int64(c.ReturnQueue)},
		{"dram.bus_bytes", int64(c.BusBytes)}, {"dram.burst_length", int64(c.BurstLength)}, {"dram.data_ratio", int64(c.DataRatio)},
		{"dram.chips", int64(c.Chips)}, {"dram.dual_command", c.DualCommand}, {"dram.no_turnaround", c.NoTurnaround},
		{"dram.fixed_latency", false},
	} {
		if err := g.put(keyAt(v.key), v.v, source); err != nil {
			return err
		}
	}
	return putTiming(&c.Timing, func(key string, n int64) error { return g.put(keyAt(key), n, source) })
}

// putTiming passes each number of a data sheet except refresh to put.
func putTiming(t *dram.Timing, put func(key string, n int64) error) error {
	sheet := &GPU{DRAM: DRAM{Timing: *t}}
	for i := range keys() {
		k := &keys()[i]
		if !strings.HasPrefix(k.Name, "dram.timing.") || k.Name == "dram.timing.refi" || k.Name == "dram.timing.rfc" {
			continue
		}
		if err := put(k.Name, sheet.at(k).Int()); err != nil {
			return err
		}
	}
	return nil
}
