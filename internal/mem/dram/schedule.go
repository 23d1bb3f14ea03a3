package dram

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: schedulers that a program registers. FIFO and FRFCFS are in device.go
// and need no interface call.

// Policy chooses the request that goes to its bank next. Every channel has its own.
type Policy interface {
	// Next returns the index in Waiting of the request that goes to its bank in
	// this cycle, or -1 for none. The bank must not be busy. Next is called in
	// every cycle in which the bank of some request is not busy. c must not be used
	// after the call.
	Next(c *Channel) int
}

// Channel is what a Policy sees of a channel.
type Channel struct {
	Cycle   uint64   // of the command clock
	Turn    int      // bank from which the channel looks for its next command
	Waiting []Queued // requests in order of arrival
	Banks   []State
}

// Queued is a request that waits for its bank.
type Queued struct {
	Bank  int
	Row   uint32
	Write bool
	Since uint64 // core cycle in which it arrived
	entry int32
}

// State is the state of a bank.
type State struct {
	Busy bool   // it has a request
	Open bool   // a row is open
	Row  uint32 // the last row opened
}

// Schedulers are the constructors of schedulers by name, for the given number of
// banks.
var Schedulers = plug.New[func(banks int) Policy]("DRAM scheduler", schedulerNames[:]...)

// plugged is a channel's registered scheduler with its input.
type plugged struct {
	Policy
	view Channel
	per  []int32 // waiting requests by bank
}

// newPlugged returns the scheduler that the settings name, nil if it is built in.
func newPlugged(cfg *Config) *plugged {
	maker, ok := Schedulers.Maker(int(cfg.Scheduler))
	if !ok {
		return nil
	}
	return &plugged{Policy: maker(cfg.Banks), view: Channel{Banks: make([]State, cfg.Banks)}, per: make([]int32, cfg.Banks)}
}

// queue adds the request of an entry to what the scheduler sees.
func (d *Device) queue(r *mem.Req, i int32) {
	p, b := d.plugged, d.entries[i].bank
	p.view.Waiting = append(p.view.Waiting, Queued{Bank: int(b), Row: r.Row, Write: r.Write, Since: d.entries[i].since, entry: i})
	p.per[b]++
	d.waiting[0] |= 1 << b
	d.pending[0]++
}

// schedulePlugged gives the request that the scheduler chooses to its bank.
func (d *Device) schedulePlugged(core uint64) {
	if d.waiting[0]&^d.busy == 0 {
		return
	}
	p := d.plugged
	v := &p.view
	v.Cycle, v.Turn = d.now, d.prio
	for b := range v.Banks {
		v.Banks[b] = State{Busy: d.busy>>b&1 != 0, Open: d.banks[b].open, Row: d.banks[b].row}
	}
	n := p.Next(v)
	if n == -1 {
		return
	}
	if n < 0 || n >= len(v.Waiting) || v.Banks[v.Waiting[n].Bank].Busy {
		panic(fmt.Sprintf("heddle: the DRAM scheduler %v returned request %d of %d: want the index of a request whose bank is not busy, or -1", d.cfg.Scheduler, n, len(v.Waiting)))
	}
	w := v.Waiting[n]
	v.Waiting = append(v.Waiting[:n], v.Waiting[n+1:]...)
	d.pending[0]--
	if p.per[w.Bank]--; p.per[w.Bank] == 0 {
		d.waiting[0] &^= 1 << w.Bank
	}
	d.hand(w.entry, d.banks[w.Bank].row == w.Row, core)
}
