package dram

import "github.com/heddle-sim/heddle/internal/mem"

// This file: looking into a channel from outside. Nothing here changes it.

// Stage is the progress of a request in a channel.
type Stage uint8

// The stages.
const (
	Waiting  Stage = iota // for its bank
	InBank                // its bank works for it
	OnPins                // all its commands have been issued, its data have not all crossed the pins
	Answered              // waits to leave
)

var stageNames = [...]string{"waits for bank", "is served by bank", "moves its data from bank", "is answered by bank"}

func (s Stage) String() string { return stageNames[s] }

// Each calls f for every request in the channel.
func (d *Device) Each(f func(r *mem.Req, s Stage)) {
	for i := range d.entries {
		e := &d.entries[i]
		if e.req == nil {
			continue
		}
		s := Waiting
		switch {
		case d.banks[e.bank].cur == int32(i):
			s = InBank
		case e.asked > 0:
			s = OnPins
		}
		f(e.req, s)
	}
	for i := range d.reply.Len() {
		f(d.reply.At(i), Answered)
	}
}

// OpenRow returns the row that a bank holds open.
func (d *Device) OpenRow(bank int) (row uint32, open bool) {
	return d.banks[bank].row, d.banks[bank].open
}
