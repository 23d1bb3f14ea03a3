package cache

import "github.com/heddle-sim/heddle/internal/mem"

// This file: looking into a cache from outside. Nothing here changes it.

// Pending is a miss whose requests have not all been popped.
type Pending struct {
	Addr uint64
	// Sent is the request that went to the next level for it, nil once its reply
	// has come.
	Sent    *mem.Req
	Waiting []*mem.Req // requests that it serves, oldest first
}

// EachPending calls f for every pending miss, by entry.
func (c *Cache) EachPending(f func(Pending)) {
	m := &c.mshr
	for i := range m.miss {
		e := &m.miss[i]
		if e.req == nil {
			continue
		}
		p := Pending{Addr: e.key, Sent: e.req}
		if e.ready {
			p.Sent = nil
		}
		for w := e.head; w != none; w = m.waiters[w].next {
			p.Waiting = append(p.Waiting, m.waiters[w].r)
		}
		f(p)
	}
}

// EachQueued calls f for every request in the miss queue, oldest first.
func (c *Cache) EachQueued(f func(*mem.Req)) {
	for i := range c.queue.Len() {
		f(c.queue.At(i))
	}
}

// Lines counts the lines with data, those waiting for data, those with data that
// the next level does not have, and all lines.
func (c *Cache) Lines() (valid, reserved, dirty, all int) {
	for i := range c.lines {
		l := &c.lines[i]
		if l.set == none {
			continue
		}
		all++
		if l.val|l.mod != 0 {
			valid++
		}
		if l.rsv != 0 {
			reserved++
		}
		if l.mod != 0 {
			dirty++
		}
	}
	return
}

// Lines counts the lines in use, and all lines.
func (t *Texture) Lines() (valid, all int) {
	valid, _, _, all = t.tags.Lines()
	return
}

// Pending returns the number of accesses accepted and not yet popped.
func (t *Texture) Pending() int { return t.fragments.Len() + t.results.Len() }

// EachPending calls f for every access that waits, in order: a miss with the
// request it sent, a hit that waits for an earlier miss without one.
func (t *Texture) EachPending(f func(Pending)) {
	miss := 0
	for i := range t.fragments.Len() {
		x := t.fragments.At(i)
		p := Pending{Addr: x.r.Addr, Waiting: []*mem.Req{x.r}}
		if x.miss {
			if o := t.reorders.At(miss); !o.back {
				p.Addr, p.Sent = o.addr, o.r
			}
			miss++
		}
		f(p)
	}
	for i := range t.results.Len() {
		r := *t.results.At(i)
		f(Pending{Addr: r.Addr, Waiting: []*mem.Req{r}})
	}
}

// EachQueued calls f for every request for the next level, oldest first.
func (t *Texture) EachQueued(f func(*mem.Req)) {
	for i := range t.requests.Len() {
		f(t.requests.At(i))
	}
}

// MissLen returns the number of requests for the next level.
func (t *Texture) MissLen() int { return t.requests.Len() }
