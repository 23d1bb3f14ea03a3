package simt

import (
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: groups of asynchronous copies (PTX manual, cp.async). A commit closes
// the group that a warp's copies have joined so far and opens the next. A wait with
// operand n stops the warp until only the n youngest closed groups have copies in
// flight. cp.async and cp.async.bulk have separate groups; copies that report to an
// mbarrier join none.

// copies are a warp's incomplete groups, oldest first; the last is the open one.
type copies struct {
	under []int32 // copies in flight
	first uint32  // number of the oldest
}

func (q *copies) reset() {
	q.under = append(q.under[:0], 0)
	q.first = 0
}

// join adds a copy to the open group and returns its number.
func (q *copies) join() uint32 {
	n := len(q.under) - 1
	q.under[n]++
	return q.first + uint32(n)
}

// commit closes the open group.
func (q *copies) commit() {
	q.under = append(q.under, 0)
	q.trim()
}

// done notes that a copy of a group has ended.
func (q *copies) done(n uint32) {
	q.under[n-q.first]--
	q.trim()
}

// trim drops complete groups from the front. The open one stays.
func (q *copies) trim() {
	k := 0
	for k < len(q.under)-1 && q.under[k] == 0 {
		k++
	}
	if k > 0 {
		q.under = q.under[:copy(q.under, q.under[k:])]
		q.first += uint32(k)
	}
}

// closed returns the number of closed groups from the oldest incomplete one on.
func (q *copies) closed() int { return len(q.under) - 1 }

// copying decodes the instructions of asynchronous copies. Those of SASS count in
// traces only: in a program guarded by control bits this core waits for registers
// only, and a copy is treated as a load.
func (o *op) copying() {
	in := o.inst
	if in.Control != nil && in.Pipe == isa.PipeNone {
		return
	}
	a := in.Async
	o.copy = a.Does == isa.AsyncStart
	o.commit = a.Does == isa.AsyncCommit || a.Does == isa.AsyncWaitAll
	o.await = a.Does == isa.AsyncWait || a.Does == isa.AsyncWaitAll
	o.leave = int(a.Leave)
	if o.group = a.Done; o.group == isa.ByMbarrier {
		o.group = isa.ByNothing
	}
}

// groups executes a commit or a wait for groups of copies of warp s.
func (c *Core) groups(s int32, o *op) {
	q := &c.copies[s][o.group]
	if o.commit {
		q.commit()
	}
	if o.await && q.closed() > o.leave {
		bit := uint64(1) << s
		c.copying |= bit
		c.atomic |= bit
		c.warps[s].waits = o
	}
}

// copied notes that an asynchronous copy has ended.
func (c *Core) copied(f *flight) {
	s := int32(f.warp)
	c.warps[s].copies--
	if f.op.group == isa.ByNothing {
		return
	}
	c.copies[s][f.op.group].done(f.group)
	if bit := uint64(1) << s; c.copying&bit != 0 {
		if o := c.warps[s].waits; c.copies[s][o.group].closed() <= o.leave {
			c.copying &^= bit
			c.atomic &^= bit
			if c.warps[s].Edges != nil {
				c.acct.Ended(s, f.at)
			}
			c.answered(s, 0)
		}
	}
}
