package modern

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// access is an instruction's access to one 128-byte line.
type access struct {
	addr    uint64
	bytes   mem.ByteMask
	lanes   isa.LaneMask
	sectors uint8
	local   bool
}

// coalesce makes the accesses of lanes to global memory, and of the lanes in local to
// local memory: one for every line. Lanes of an atomic on the same bytes are
// serialised.
func (c *Core) coalesce(f *flight, lanes, local isa.LaneMask, addr *[32]uint64) {
	width := uint64(f.op.elem)
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.First() & 31
		if local>>lane&1 == 0 {
			if !f.joins(lane, addr[lane], uint(width)) {
				f.touch(lane, addr[lane], width, false)
			}
			continue
		}
		// The words of a thread are not adjacent: each is next to the same word of the
		// neighbouring threads.
		n, piece := uint64(1), width
		if width >= 4 {
			n, piece = width/4, 4
		}
		for i := range n {
			f.touch(lane, core.LocalAddress(c.cfg.LocalBase, addr[lane]+4*i, 32*int(f.warp)+lane, 32*c.cfg.Warps, c.id, c.cfg.SMs), piece, true)
		}
	}
}

// joins adds n bytes at an address of global memory to the last access, if they are in
// one half of its line and the instruction is no atomic one: touch in the common case.
func (f *flight) joins(lane int, at uint64, n uint) bool {
	if len(f.acc) == 0 || f.op.inst.Atomic {
		return false
	}
	a := &f.acc[len(f.acc)-1]
	off := uint(at - a.addr)
	if off >= mem.LineBytes || off&63+n > 64 {
		return false
	}
	a.local = false
	a.lanes |= 1 << lane
	a.bytes[off>>6] |= (1<<n - 1) << (off & 63)
	a.sectors |= 1<<(off/mem.SectorBytes) | 1<<((off+n-1)/mem.SectorBytes)
	return true
}

// touch adds n bytes at an address.
func (f *flight) touch(lane int, at, n uint64, local bool) {
	for n > 0 {
		base := at &^ (mem.LineBytes - 1)
		k := min(n, base+mem.LineBytes-at)
		off := uint(at - base)
		var want mem.ByteMask
		want.Set(int(off), int(k))
		a := f.find(base, want)
		a.local = local
		a.lanes |= 1 << lane
		a.bytes = a.bytes.Or(want)
		for s := off / mem.SectorBytes; s <= (off+uint(k)-1)/mem.SectorBytes; s++ {
			a.sectors |= 1 << s
		}
		at += k
		n -= k
	}
}

// find returns the access to a line, for an atomic one that does not touch the bytes
// in want; a new one if there is none.
func (f *flight) find(base uint64, want mem.ByteMask) *access {
	for i := len(f.acc) - 1; i >= 0; i-- {
		a := &f.acc[i]
		if a.addr != base {
			continue
		}
		if f.op.inst.Atomic {
			if both := a.bytes.And(want); both[0]|both[1] != 0 {
				continue
			}
		}
		return a
	}
	f.acc = append(f.acc, access{addr: base})
	return &f.acc[len(f.acc)-1]
}

// linesOf makes an access for every line of the L0VL that a load of constants touches, and
// counts the addresses of its lanes.
func (c *Core) linesOf(f *flight, addr *[32]uint64) {
	line := uint64(c.cfg.L0VL.Line)
	var known [32]uint64
	n := 0
	for m := f.lanes; m != 0; m &= m - 1 {
		lane := m.First() & 31
		at := addr[lane]
		if slices.Contains(known[:n], at) {
			continue
		}
		known[n&31] = at
		n++
		base := (constBase | at) &^ (line - 1)
		if !slices.ContainsFunc(f.acc, func(a access) bool { return a.addr == base }) {
			f.acc = append(f.acc, access{addr: base, lanes: 1 << lane})
		}
	}
	f.passes = uint16(n)
}

// passes returns the number of passes that an access needs through the banks of shared
// memory: the largest number of distinct words that one bank must supply. Accesses of
// 8 and 16 bytes are served by halves and quarters of the warp. Lanes of an atomic on
// the same word get a pass each.
func passes(lanes isa.LaneMask, addr *[32]uint64, width, banks int, atomic bool) int {
	words, parts := 1, 1
	switch {
	case width > 8:
		words, parts = 4, 4
	case width > 4:
		words, parts = 2, 2
	}
	if lanes&(lanes-1) == 0 {
		parts = 1
	}
	per := 32 / parts
	total := 0
	for p := range parts {
		part := lanes & isa.LaneMask((uint64(1)<<per-1)<<(p*per))
		if part != 0 {
			total += degree(part, addr, words, uint64(banks-1), atomic)
		}
	}
	return max(total, 1)
}

// degree returns the passes of one part of a warp.
func degree(lanes isa.LaneMask, addr *[32]uint64, words int, mask uint64, atomic bool) int {
	if words == 1 && !atomic && distinct(lanes, addr, mask) {
		return 1
	}
	var word [32 * 4]uint64
	var next [32 * 4]int16
	var head [64]int16 // of the words of a bank, one more than the index
	var per [64]uint8
	n, most := 0, uint8(0)
	for m := lanes; m != 0; m &= m - 1 {
		w := addr[m.First()&31] / 4
	word:
		for range words {
			b := w & mask
			if !atomic {
				for i := head[b]; i > 0; i = next[i-1] {
					if word[i-1] == w {
						w++
						continue word
					}
				}
			}
			word[n], next[n] = w, head[b]
			n++
			head[b] = int16(n)
			per[b]++
			most = max(most, per[b])
			w++
		}
	}
	return int(most)
}

// distinct reports whether no bank must supply two words, as is common.
func distinct(lanes isa.LaneMask, addr *[32]uint64, mask uint64) bool {
	var word [64]uint64
	var taken uint64
	for m := lanes; m != 0; m &= m - 1 {
		w := addr[m.First()&31] / 4
		b := w & mask & 63
		if taken>>b&1 == 0 {
			taken |= 1 << b
			word[b] = w
		} else if word[b] != w {
			return false
		}
	}
	return true
}

// sequence is a sequence of groups of copies.
type sequence uint8

// The sequences. Only a core with Hopper's additions tells them apart.
const (
	asyncGroups  sequence = iota // of cp.async and LDGSTS
	bulkGroups                   // of bulk copies
	bulkReads                    // of what they read of shared memory
	arriveGroups                 // of cp.async, closed by arrivals (cp.async.mbarrier.arrive)
	sequences
)

// copies counts a warp's asynchronous copies in flight, by group. The last group is
// the open one; the others are closed and end in order.
type copies struct {
	under []int32
	sb    []uint8 // counter that a closed group decrements
	first uint32  // number of under[0]
}

func (q *copies) reset() {
	q.under, q.sb, q.first = q.under[:0], q.sb[:0], 0
}

// last returns the open group.
func (q *copies) last() *int32 {
	if len(q.under) == 0 {
		q.under, q.sb = append(q.under, 0), append(q.sb, isa.NoCounter)
	}
	return &q.under[len(q.under)-1]
}

// open reports whether a group that is closed now would be incomplete.
func (q *copies) open() bool {
	for _, n := range q.under {
		if n > 0 {
			return true
		}
	}
	return false
}

// closed returns the number of closed groups from the oldest incomplete one on.
func (q *copies) closed() int { return max(0, len(q.under)-1) }

// copiesOf returns the groups of a warp in a sequence.
func (c *Core) copiesOf(g int32, of sequence) *copies {
	if of == asyncGroups {
		return &c.warps[g].copies
	}
	return &c.more[g].bulk[of-bulkGroups]
}

// groups executes a copy, a commit or a wait for groups of copies of a warp.
func (c *Core) groups(g int32, f *flight) {
	o := f.op
	if o.sequence == bulkGroups && o.group != isa.AsyncWait {
		c.groupsOf(g, f, bulkReads)
	}
	if o.sequence == asyncGroups && o.group == isa.AsyncStart && c.warps[g].K.arrives {
		c.groupsOf(g, f, arriveGroups)
	}
	c.groupsOf(g, f, o.sequence)
}

// groupsOf does it in one sequence.
func (c *Core) groupsOf(g int32, f *flight, of sequence) {
	w := &c.warps[g]
	q := c.copiesOf(g, of)
	o := f.op
	switch o.group {
	case isa.AsyncStart:
		*q.last()++
		n := q.first + uint32(len(q.under)-1)
		if of != o.sequence {
			f.reading = n
			return
		}
		f.group = n
		return
	case isa.AsyncCommit, isa.AsyncWaitAll:
		q.last()
		if o.ctl != nil && q.open() {
			q.sb[len(q.sb)-1] = o.ctl.Write
		}
		q.under, q.sb = append(q.under, 0), append(q.sb, isa.NoCounter)
		c.trim(g, f.at, of)
	}
	if (o.group == isa.AsyncWaitAll || o.group == isa.AsyncWait) && q.closed() > o.leave {
		if of == asyncGroups {
			c.copying |= 1 << g
		} else {
			c.bulk |= 1 << g
			c.more[g].waitsFor = of
		}
		w.leave = int32(o.leave)
	}
}

// groupEnded notes that an asynchronous copy has ended, as far as a sequence counts it.
func (c *Core) groupEnded(f *flight, of sequence) {
	g := int32(f.warp)
	q := c.copiesOf(g, of)
	n := f.group
	if of != f.op.sequence {
		n = f.reading
	}
	q.under[n-q.first]--
	c.trim(g, f.at, of)
}

// trim drops complete groups from the front; the last of them was completed by an
// instruction.
func (c *Core) trim(g, by int32, of sequence) {
	w := &c.warps[g]
	q := c.copiesOf(g, of)
	k := 0
	for k < len(q.under)-1 && q.under[k] == 0 {
		c.lower(g, q.sb[k], by)
		k++
	}
	if k > 0 {
		q.under = q.under[:copy(q.under, q.under[k:])]
		q.sb = q.sb[:copy(q.sb, q.sb[k:])]
		q.first += uint32(k)
		if of == arriveGroups {
			c.copied(g, k)
		}
	}
	waits := &c.copying
	if of != asyncGroups {
		waits = &c.bulk
	}
	if *waits>>g&1 != 0 && (of == asyncGroups || c.more[g].waitsFor == of) {
		if q.closed() <= int(w.leave) {
			*waits &^= 1 << g
			c.stir = true
			if w.Edges != nil {
				c.acct.Ended(g, by)
			}
		}
	}
}
