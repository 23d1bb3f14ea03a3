package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// none ends the index-linked lists of this package.
const none = int32(-1)

// miss is one pending miss. req went to the next level to read the whole atom; addr
// and size are its original values.
type miss struct {
	key     uint64 // address of the atom
	req     *mem.Req
	addr    uint64
	size    uint32
	line    int32 // reserved for it, none if lines are taken at the fill
	head    int32 // waiting requests, oldest first
	tail    int32
	n       int32
	pending int32 // pieces of the reply still to come, 0 before the first
	chain   int32 // next of the hash bucket, or of the free list
	ready   bool
	atomic  bool
}

type waiter struct {
	r    *mem.Req
	next int32
}

// mshr is the table of pending misses: entries found by address through a
// chained hash, each with a list of the requests that wait for it.
type mshr struct {
	miss    []miss
	free    int32
	live    int
	hash    []int32
	hmask   uint64
	waiters []waiter
	spare   int32            // free waiters
	ready   ring.Ring[int32] // entries whose data have come, in that order
}

func newMSHR(entries int) mshr {
	m := mshr{
		miss: make([]miss, entries), hash: make([]int32, 1<<bits.Len(uint(entries))),
		ready: ring.Of(make([]int32, entries)), spare: none,
	}
	m.hmask = uint64(len(m.hash) - 1)
	for i := range m.hash {
		m.hash[i] = none
	}
	for i := range m.miss {
		m.miss[i].chain = int32(i) + 1
	}
	m.miss[entries-1].chain = none
	return m
}

// mix spreads addresses over hash buckets.
func mix(a uint64) uint64 {
	a >>= 5
	a *= 0x9e3779b97f4a7c15
	return a >> 32
}

// find returns the entry of an atom, none if there is none.
func (m *mshr) find(key uint64) int32 {
	i := m.hash[mix(key)&m.hmask]
	for i != none && m.miss[i].key != key {
		i = m.miss[i].chain
	}
	return i
}

// open makes an entry; the caller has checked that there is room.
func (m *mshr) open(key uint64, r *mem.Req, line int32) int32 {
	i := m.free
	e := &m.miss[i]
	m.free = e.chain
	h := mix(key) & m.hmask
	*e = miss{key: key, req: r, addr: r.Addr, size: r.Size, line: line, head: none, tail: none, chain: m.hash[h]}
	m.hash[h] = i
	m.live++
	return i
}

// wait appends a request to those that an entry will serve.
func (m *mshr) wait(i int32, r *mem.Req) {
	w := m.spare
	if w == none {
		w = int32(len(m.waiters))
		m.waiters = append(m.waiters, waiter{})
	} else {
		m.spare = m.waiters[w].next
	}
	m.waiters[w] = waiter{r, none}
	e := &m.miss[i]
	if e.tail == none {
		e.head = w
	} else {
		m.waiters[e.tail].next = w
	}
	e.tail = w
	e.n++
	e.atomic = e.atomic || r.Atomic
}

// arrived queues an entry for service.
func (m *mshr) arrived(i int32) {
	m.miss[i].ready = true
	m.ready.Push(i)
}

// next takes the oldest request of the oldest entry whose data have come.
func (m *mshr) next() *mem.Req {
	if m.ready.Len() == 0 {
		return nil
	}
	i := *m.ready.Front()
	e := &m.miss[i]
	w := e.head
	r := m.waiters[w].r
	e.head = m.waiters[w].next
	e.n--
	m.waiters[w] = waiter{nil, m.spare}
	m.spare = w
	if e.head == none {
		m.close(i)
		m.ready.Pop()
	}
	return r
}

// close frees an entry.
func (m *mshr) close(i int32) {
	e := &m.miss[i]
	p := &m.hash[mix(e.key)&m.hmask]
	for *p != i {
		p = &m.miss[*p].chain
	}
	*p = e.chain
	*e = miss{chain: m.free}
	m.free = i
	m.live--
}

// readAfterWrite reports whether a read is queued after a write, or after the read
// that a write caused.
func (m *mshr) readAfterWrite(i int32) bool {
	write := false
	for w := m.miss[i].head; w != none; w = m.waiters[w].next {
		switch r := m.waiters[w].r; {
		case r.Write || r.Kind == mem.L1WriteAlloc || r.Kind == mem.L2WriteAlloc:
			write = true
		case write:
			return true
		}
	}
	return false
}
