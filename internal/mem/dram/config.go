package dram

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/param"
)

// Scheduler says in which order requests go to the banks: a scheduler below, or a
// registered one (Schedulers).
type Scheduler uint8

// The schedulers.
const (
	FIFO   Scheduler = iota // strictly by arrival; the head waits for its bank
	FRFCFS                  // per bank: open row first, then the oldest
)

var schedulerNames = [...]string{"fifo", "frfcfs"}

func (s Scheduler) String() string { return Schedulers.Name(int(s), schedulerNames[:]) }

// GroupBy says which bits of a bank's number name its bank group.
type GroupBy uint8

// The choices.
const (
	GroupByHighBits GroupBy = iota // neighbouring banks share a group
	GroupByLowBits                 // neighbouring banks lie in different groups
)

func (g GroupBy) String() string {
	switch g {
	case GroupByHighBits:
		return "high bits"
	case GroupByLowBits:
		return "low bits"
	}
	return "grouping " + strconv.Itoa(int(g))
}

// Timing is what a data sheet says about the device, in command clock cycles
// except for the counts of banks and groups. The names are those of the
// standards without their leading t.
type Timing struct {
	Banks  int `help:"banks, a power of two" unit:"banks" want:"1..64"`
	Groups int `help:"bank groups, a power of two" unit:"groups" want:"1..64" def:"1"`
	CCD    int `help:"column command to column command" unit:"cycles" want:"0..1048576"`
	CCDL   int `help:"the same within a bank group" unit:"cycles" want:"0..1048576" def:"0"`
	RRD    int `help:"activate to activate, other bank" unit:"cycles" want:"0..1048576"`
	RCD    int `help:"activate to read" unit:"cycles" want:"0..1048576"`
	RAS    int `help:"activate to precharge" unit:"cycles" want:"0..1048576"`
	RP     int `help:"precharge to activate" unit:"cycles" want:"0..1048576"`
	RC     int `help:"activate to activate, same bank" unit:"cycles" want:"0..1048576"`
	CL     int `help:"read to its data" unit:"cycles" want:"1..1048576"`
	WL     int `help:"write to its data" unit:"cycles" want:"1..1048576"`
	CDLR   int `help:"end of written data to read" unit:"cycles" want:"0..1048576"`
	WR     int `help:"end of written data to precharge" unit:"cycles" want:"0..1048576"`
	RTPL   int `help:"read to precharge within a bank group" unit:"cycles" want:"0..1048576" def:"0"`
	REFI   int `help:"interval between refreshes; 0: none" unit:"cycles" want:"0..1048576" def:"0"`
	RFC    int `help:"length of a refresh" unit:"cycles" want:"0..1048576" def:"0"`
}

// WriteQueue keeps writes apart from reads. Reads go first until High writes
// wait, then writes go until fewer than Low wait.
type WriteQueue struct {
	Enabled bool
	Size    int // requests
	High    int // pending writes that start a phase of writes
	Low     int // phase ends when fewer are pending
}

// Config describes a channel. It does not change once a Device has been made from
// it.
type Config struct {
	Timing

	BusBytes    int // width of one chip's data pins, in bytes
	BurstLength int // transfers per column command
	DataRatio   int // transfers per command clock: 2 for double data rate, 4 for quad
	Chips       int // chips side by side in the channel; they widen the burst

	Scheduler   Scheduler
	QueueSize   int // requests waiting for a bank, except under FIFO; 0: no limit
	ReturnQueue int // answered requests that wait to leave; 0: 1024, as in GPGPU-Sim
	Writes      WriteQueue

	// DualCommand lets a row and a column command go out in the same cycle, as
	// HBM's two command buses do.
	DualCommand bool
	GroupBy     GroupBy
	// NoTurnaround drops the wait between reading and writing, both ways.
	NoTurnaround bool

	Compat Compat
}

// Compat has a switch for each behaviour of GPGPU-Sim that nobody would design but
// that changes cycles or counters. In the zero value all are off.
type Compat struct {
	// ColumnBehindRow allows a column command in the cycle of a row command without
	// DualCommand. The scan of the banks continues after the row command's bank,
	// skips as many banks as it had already passed, and issues the first column
	// command that it finds ready. (Reference runs on one command bus print cycles
	// with both commands.) Off: one command a cycle.
	ColumnBehindRow bool `help:"a column command may follow a row command in the same cycle although there is one command bus" def:"false"`
}

// GPGPUSim returns the switches that reproduce GPGPU-Sim.
func GPGPUSim() Compat { return Compat{ColumnBehindRow: true} }

// fifoDepth is the length of the queue in front of the FIFO scheduler, as in
// GPGPU-Sim.
const fifoDepth = 2

const (
	maxBanks     = 64
	maxCycles    = 1 << 20 // larger settings are taken for mistakes
	maxRequests  = 1 << 20
	defaultReply = 1024
)

// AtomBytes is what one column command moves.
func (c Config) AtomBytes() int { return c.BurstLength * c.BusBytes * c.Chips }

// BurstCycles is how long one column command keeps the data pins busy, in
// command clocks.
func (c Config) BurstCycles() int { return c.BurstLength / c.DataRatio }

// RCDWR is the distance from an activate to a write: the data come WL later,
// so the command may come that much sooner.
func (c Config) RCDWR() int { return max(0, c.RCD-(c.WL+1)) }

// RTW is the distance from a read to a write command.
func (c Config) RTW() int {
	if c.NoTurnaround {
		return 0
	}
	return max(0, c.CL+c.BurstCycles()+2-c.WL)
}

// WTR is the distance from a write to a read command.
func (c Config) WTR() int {
	if c.NoTurnaround {
		return 0
	}
	return c.WL + c.BurstCycles() + c.CDLR
}

// WTP is the distance from a write to the precharge of its bank.
func (c Config) WTP() int { return c.WL + c.BurstCycles() + c.WR }

// Group returns the bank group of a bank.
func (c Config) Group(bank int) int {
	if c.GroupBy == GroupByLowBits {
		return bank & (c.Groups - 1)
	}
	return bank / (c.Banks / c.Groups)
}

// timings are the parameters of Timing.
var timings = param.Of(new(Timing), "dram.timing.", false)

// Check reports the first invalid setting.
func (c Config) Check() error {
	t := c.Timing
	if t.Banks < 1 || t.Banks > maxBanks || t.Banks&(t.Banks-1) != 0 {
		return param.Clash("dram.timing.banks", "dram: %d banks: want a power of two from 1 to %d", t.Banks, maxBanks)
	}
	if t.Groups < 1 || t.Groups > t.Banks || t.Groups&(t.Groups-1) != 0 {
		return param.Clash("dram.timing.groups dram.timing.banks", "dram: %d bank groups: want a power of two that divides the %d banks", t.Groups, t.Banks)
	}
	if err := param.Check(timings, &t); err != nil {
		return err
	}
	// Between two refreshes there must be time to open a row, use and close it.
	if least := t.RFC + max(t.RC, t.RAS+t.RP) + t.RCD + t.CL + t.WL + t.WR; t.REFI > 0 && least >= t.REFI {
		return param.Clash("dram.timing.rfc dram.timing.refi", "dram: a refresh takes RFC = %d cycles and comes every REFI = %d: no time is left to use a row; want REFI above %d", t.RFC, t.REFI, least)
	}
	for _, v := range []struct {
		key, name string
		val, high int
	}{
		{"bus_bytes", "bus width in bytes", c.BusBytes, 1 << 12}, {"burst_length", "burst length", c.BurstLength, 1 << 10},
		{"data_ratio", "transfers per command clock", c.DataRatio, 1 << 10}, {"chips", "chips in the channel", c.Chips, 1 << 10},
	} {
		if v.val < 1 || v.val > v.high {
			return param.Clash("dram."+v.key, "dram: %s is %d: want 1 to %d", v.name, v.val, v.high)
		}
	}
	if c.BurstLength%c.DataRatio != 0 {
		return param.Clash("dram.burst_length dram.data_ratio", "dram: burst of %d transfers: want a multiple of the %d transfers per command clock", c.BurstLength, c.DataRatio)
	}
	if !Schedulers.Has(int(c.Scheduler), schedulerNames[:]) {
		return param.Clash("dram.scheduler", "dram: unknown %v", c.Scheduler)
	}
	if c.GroupBy > GroupByLowBits {
		return param.Clash("dram.group_by", "dram: unknown %v of banks", c.GroupBy)
	}
	for _, v := range []struct {
		key, name string
		val       int
	}{{"queue", "scheduler queue", c.QueueSize}, {"return_queue", "return queue", c.ReturnQueue}} {
		if v.val < 0 || v.val > maxRequests {
			return param.Clash("dram."+v.key, "dram: %s of %d requests: want 0 to %d", v.name, v.val, maxRequests)
		}
	}
	if w := c.Writes; w.Enabled {
		if c.Scheduler != FRFCFS {
			return param.Clash("dram.write_queue dram.scheduler", "dram: a separate write queue needs the frfcfs scheduler, not %v", c.Scheduler)
		}
		if w.Size < 1 || w.Size > maxRequests {
			return param.Clash("dram.write_size", "dram: write queue of %d requests: want 1 to %d", w.Size, maxRequests)
		}
		if w.High < 1 || w.High > w.Size {
			return param.Clash("dram.write_high dram.write_size", "dram: high watermark %d is outside the write queue of %d", w.High, w.Size)
		}
		if w.Low < 0 || w.Low > w.High {
			return param.Clash("dram.write_low dram.write_high", "dram: low watermark %d is above the high one of %d", w.Low, w.High)
		}
	}
	return nil
}

// timingKeys are the names of the values in a timing string of GPGPU-Sim, in
// the order of its older form without names.
var timingKeys = []struct {
	name     string
	at       func(*Timing) *int
	optional bool
}{
	{"nbk", func(t *Timing) *int { return &t.Banks }, false},
	{"CCD", func(t *Timing) *int { return &t.CCD }, false},
	{"RRD", func(t *Timing) *int { return &t.RRD }, false},
	{"RCD", func(t *Timing) *int { return &t.RCD }, false},
	{"RAS", func(t *Timing) *int { return &t.RAS }, false},
	{"RP", func(t *Timing) *int { return &t.RP }, false},
	{"RC", func(t *Timing) *int { return &t.RC }, false},
	{"CL", func(t *Timing) *int { return &t.CL }, false},
	{"WL", func(t *Timing) *int { return &t.WL }, false},
	{"CDLR", func(t *Timing) *int { return &t.CDLR }, false},
	{"WR", func(t *Timing) *int { return &t.WR }, false},
	{"nbkgrp", func(t *Timing) *int { return &t.Groups }, true},
	{"CCDL", func(t *Timing) *int { return &t.CCDL }, true},
	{"RTPL", func(t *Timing) *int { return &t.RTPL }, true},
}

// ParseTiming reads a timing string as GPGPU-Sim writes it: pairs key=value in
// any order, or the values alone in the fixed order nbk CCD RRD RCD RAS RP RC
// CL WL CDLR WR nbkgrp CCDL RTPL; separated by colons or blanks. The last three may
// be missing: one group, no further constraints.
func ParseTiming(s string) (Timing, error) {
	t := Timing{Groups: 1}
	parts := strings.FieldsFunc(s, func(r rune) bool {
		return r == ':' || r == ' ' || r == '\t' || r == '\n' || r == '\r'
	})
	if len(parts) == 0 {
		return Timing{}, fmt.Errorf("dram timing: empty")
	}
	named := strings.Contains(s, "=")
	seen := make([]bool, len(timingKeys))
	for i, p := range parts {
		k, text := i, p
		if named {
			key, val, ok := strings.Cut(p, "=")
			if !ok {
				return Timing{}, fmt.Errorf("dram timing: %q has no value", p)
			}
			k, text = -1, val
			for j := range timingKeys {
				if timingKeys[j].name == key {
					k = j
				}
			}
			if k < 0 {
				return Timing{}, fmt.Errorf("dram timing: unknown key %q", key)
			}
		} else if i >= len(timingKeys) {
			return Timing{}, fmt.Errorf("dram timing: %d values: at most %d", len(parts), len(timingKeys))
		}
		if seen[k] {
			return Timing{}, fmt.Errorf("dram timing: %s is given twice", timingKeys[k].name)
		}
		seen[k] = true
		v, err := strconv.Atoi(text)
		if err != nil {
			return Timing{}, fmt.Errorf("dram timing: %s=%q is not a whole number", timingKeys[k].name, text)
		}
		if v < 0 || v > maxCycles {
			return Timing{}, fmt.Errorf("dram timing: %s=%d: want 0 to %d", timingKeys[k].name, v, maxCycles)
		}
		*timingKeys[k].at(&t) = v
	}
	for k := range timingKeys {
		if !seen[k] && !timingKeys[k].optional {
			return Timing{}, fmt.Errorf("dram timing: %s is missing", timingKeys[k].name)
		}
	}
	return t, nil
}
