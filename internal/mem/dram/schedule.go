package dram

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: schedulers that a program registers. FIFO and FRFCFS are in device.go,
// without a call through an interface.

// Policy says which request is handed to its bank next. Every channel has one of its
// own.
type Policy interface {
	// Next returns the place in Waiting of the request that goes to its bank in this
	// cycle, which must not be busy, or -1 for none. It is asked in every cycle in
	// which some request's bank is not busy. c is the caller's after the call.
	Next(c *Channel) int
}

// Channel is what a Policy sees of a channel.
type Channel struct {
	Cycle   uint64   // of the command clock
	Turn    int      // bank from which the channel looks for its next command
	Waiting []Queued // requests, in the order in which they came
	Banks   []State
}

// Queued is a request that waits for its bank.
type Queued struct {
	Bank  int
	Row   uint32
	Write bool
	Since uint64 // core cycle in which it came
	entry int32
}

// State is the state of a bank.
type State struct {
	Busy bool   // it has a request
	Open bool   // a row is open
	Row  uint32 // the row that was opened last
}

// Schedulers are the schedulers, each made for a channel of so many banks.
var Schedulers = plug.New[func(banks int) Policy]("DRAM scheduler", schedulerNames[:]...)

// plugged is a channel's registered scheduler, and what it sees.
type plugged struct {
	Policy
	view Channel
	per  []int32 // waiting requests by bank
}

// newPlugged returns the scheduler that the settings name, nil if that is built in.
func newPlugged(cfg *Config) *plugged {
	maker, ok := Schedulers.Maker(int(cfg.Scheduler))
	if !ok {
		return nil
	}
	return &plugged{Policy: maker(cfg.Banks), view: Channel{Banks: make([]State, cfg.Banks)}, per: make([]int32, cfg.Banks)}
}

// queue takes in the request of an entry.
func (d *Device) queue(r *mem.Req, i int32) {
	p, b := d.plugged, d.entries[i].bank
	p.view.Waiting = append(p.view.Waiting, Queued{Bank: int(b), Row: r.Row, Write: r.Write, Since: d.entries[i].since, entry: i})
	p.per[b]++
	d.waiting[0] |= 1 << b
	d.pending[0]++
}

// schedulePlugged hands the request that the scheduler names to its bank.
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
		panic(fmt.Sprintf("heddle: the DRAM scheduler %v names request %d of %d: want one whose bank is not busy, or -1", d.cfg.Scheduler, n, len(v.Waiting)))
	}
	w := v.Waiting[n]
	v.Waiting = append(v.Waiting[:n], v.Waiting[n+1:]...)
	d.pending[0]--
	if p.per[w.Bank]--; p.per[w.Bank] == 0 {
		d.waiting[0] &^= 1 << w.Bank
	}
	d.hand(w.entry, d.banks[w.Bank].row == w.Row, core)
}
