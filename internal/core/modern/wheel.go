package modern

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
)

// wheelSize is the number of ticks that the wheel covers. Configured latencies are
// less; results that are later, because they wait for many others, are scheduled in
// steps.
const wheelSize = 8192

// event is an event of an instruction in flight at a tick.
type event struct {
	next int32
	f    int32
	kind eventKind
}

type eventKind uint8

const (
	evRead    eventKind = iota // its sources have been read
	evLower                    // its read counter is decremented
	evSend                     // it moves on in the memory unit
	evWrite                    // its result is written
	evLater                    // its result was beyond the wheel's reach: schedule it again
	evVisible                  // fixed latency: its result can be read
	evFence                    // a barrier's minimum time has passed; f is the warp

	evResume    // the phase that a suspended warp waits for has ended; f is the warp
	evGiveUp    // its wait has been suspended as long as it may; f is the warp
	evRelease   // a warp has heard that a barrier of its block has opened; f is the warp
	evProduct   // the products that a warp waits for have ended; f is the warp
	evBulkStart // a copy begins to make requests
	evBulkDone  // it is complete
)

// wheel holds events by tick, those of one tick in the order in which they were added.
type wheel struct {
	head, tail [wheelSize]int32
	used       [wheelSize / 64]uint64
	list       []event
	free       int32
	n          int
}

func (w *wheel) init() {
	w.free = none
	w.list = make([]event, 0, 256)
}

// add schedules an event for a tick, which must be less than wheelSize ahead and not in
// the past.
func (w *wheel) add(tick uint64, kind eventKind, f int32) {
	i := w.free
	if i < 0 {
		i = int32(len(w.list))
		w.list = append(w.list, event{})
	} else {
		w.free = w.list[i].next
	}
	w.list[i] = event{none, f, kind}
	t := tick % wheelSize
	if w.used[t>>6]>>(t&63)&1 == 0 {
		w.used[t>>6] |= 1 << (t & 63)
		w.head[t] = i
	} else {
		w.list[w.tail[t]].next = i
	}
	w.tail[t] = i
	w.n++
}

// pop removes the first event of a tick.
func (w *wheel) pop(tick uint64) (event, bool) {
	t := tick % wheelSize
	if w.used[t>>6]>>(t&63)&1 == 0 {
		return event{}, false
	}
	i := w.head[t]
	e := w.list[i]
	if e.next < 0 {
		w.used[t>>6] &^= 1 << (t & 63)
	}
	w.head[t] = e.next
	w.list[i].next = w.free
	w.free = i
	w.n--
	return e, true
}

// next returns the first tick after this one that has events, core.Never if there is
// none.
func (w *wheel) next(tick uint64) uint64 {
	if w.n == 0 {
		return core.Never
	}
	from := tick + 1
	for off := uint64(0); off <= wheelSize; {
		t := (from + off) % wheelSize
		if m := w.used[t>>6] >> (t & 63); m != 0 {
			return from + off + uint64(bits.TrailingZeros64(m))
		}
		off += 64 - t&63
	}
	return core.Never
}

// tags is a small set-associative cache of lines with LRU replacement.
type tags struct {
	sets, ways uint64
	line       []uint64 // number of the line + 1, 0 if empty
	used       []uint64
	clock      uint64
	guess      [64]int32 // by the low bits of a line's number: where such a line was last
}

func newTags(t Tags) tags {
	n := t.Sets * t.Ways
	return tags{sets: uint64(t.Sets), ways: uint64(t.Ways), line: make([]uint64, n), used: make([]uint64, n)}
}

// find looks up a line and marks its use; hint is the place where it was found last.
func (t *tags) find(line uint64, hint int32) (int32, bool) {
	if t.line[hint] != line+1 {
		if hint = t.where(line); hint < 0 {
			return 0, false
		}
	}
	t.clock++
	t.used[hint] = t.clock
	return hint, true
}

// where returns the place of a line, -1 if it is not there.
func (t *tags) where(line uint64) int32 {
	guess := &t.guess[line&63]
	if t.line[*guess] == line+1 {
		return *guess
	}
	first := line % t.sets * t.ways
	for i, x := range t.line[first : first+t.ways] {
		if x == line+1 {
			*guess = int32(first) + int32(i)
			return *guess
		}
	}
	return none
}

// put inserts a line.
func (t *tags) put(line uint64) {
	if t.where(line) >= 0 {
		return
	}
	first := line % t.sets * t.ways
	at := first
	for i := first; i < first+t.ways; i++ {
		if t.line[i] == 0 {
			at = i
			break
		}
		if t.used[i] < t.used[at] {
			at = i
		}
	}
	t.clock++
	t.line[at], t.used[at] = line+1, t.clock
}

func (t *tags) clear() { clear(t.line) }

// maxPorts is the maximum number of read ports of a bank.
const maxPorts = 4

// ports holds the bookings of a bank's read or write ports for the next 64 ticks.
type ports struct {
	busy [maxPorts]uint64
	base uint64 // tick of bit 0
}

// at moves to a tick.
func (p *ports) at(tick uint64) {
	d := tick - p.base
	p.base = tick
	switch {
	case d == 0:
	case d >= 64:
		p.busy = [maxPorts]uint64{}
	default:
		for i := range p.busy {
			p.busy[i] >>= d & 63
		}
	}
}

// free returns the number of free slots of n ports in the w ticks after base.
func (p *ports) free(n, w int) int {
	k := 0
	for i := range n {
		k += w - bits.OnesCount64(p.busy[i]>>1&(1<<w-1))
	}
	return k
}

// book books k slots of n ports, the earliest from tick base+from on.
func (p *ports) book(n, k, from int) {
	for b := from; b < 64 && k > 0; b++ {
		for i := 0; i < n && k > 0; i++ {
			if p.busy[i]>>b&1 == 0 {
				p.busy[i] |= 1 << b
				k--
			}
		}
	}
}
