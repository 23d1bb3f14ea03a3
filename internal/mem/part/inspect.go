package part

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// This file: looking into the partitions from outside. Nothing here changes
// them.

// Each calls f for every request in a queue of the partitions or in a DRAM
// channel, and says where.
func (m *Memory) Each(f func(r *mem.Req, place string)) {
	list := func(q *mem.Queue, place string) {
		for i := range q.Len() {
			f(q.At(i), place)
		}
	}
	for i := range m.subs {
		s := &m.subs[i]
		list(&s.delay, fmt.Sprintf("in the delay before L2 slice %d", i))
		list(&s.away, fmt.Sprintf("at another device, from L2 slice %d", i))
		list(&s.toL2, fmt.Sprintf("in the queue to L2 slice %d", i))
		if s.l2 != nil {
			s.l2.EachQueued(func(r *mem.Req) { f(r, fmt.Sprintf("in the miss queue of L2 slice %d", i)) })
		}
		list(&s.toDRAM, fmt.Sprintf("in the queue of L2 slice %d to the DRAM", i))
		list(&s.fromDRAM, fmt.Sprintf("in the queue from the DRAM to L2 slice %d", i))
		list(&s.toNet, fmt.Sprintf("in the queue of L2 slice %d to the reply network", i))
	}
	for ch := range m.chans {
		c := &m.chans[ch]
		list(&c.latency, fmt.Sprintf("in the delay before DRAM channel %d", ch))
		if c.dev != nil {
			c.dev.Each(func(r *mem.Req, s dram.Stage) {
				f(r, fmt.Sprintf("in DRAM channel %d, where it %s %d (row %d)", ch, s, r.Bank, r.Row))
			})
		}
	}
}

// L2 returns a slice, nil if the L2 is off. The caller must not change it.
func (m *Memory) L2(sub int) *cache.Cache { return m.subs[sub].l2 }
