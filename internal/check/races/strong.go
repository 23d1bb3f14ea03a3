package races

import "github.com/heddle-sim/heddle/internal/isa"

// This file: strong operations, and what threads learn by them.

// stamp is a place in the order in which strong operations were executed.
type stamp struct {
	time uint32
	lane uint8
}

func (s stamp) before(t stamp) bool { return s.time < t.time || s.time == t.time && s.lane < t.lane }

// chain is a strong write to a location and the atomic operations that follow, each of which
// read what the one before it wrote. Its heads are what those released who wrote it.
type chain struct {
	addr   uint64
	next   *chain // others that begin in the word
	size   uint8
	launch uint32
	cell   cell   // of the word, after the last write
	from   stamp  // the first write
	last   stamp  // the last
	wide   *clock // released in the scope of the GPU
	own    map[uint32]*clock
	sights []sight
	nsight int
}

// sight is a strong read of a chain: the thread knows, at this location, the writes from the
// chain's first to the one that it read.
type sight struct {
	block, from, at uint32 // times
	fromLane, lane  uint8
	warp            uint8
}

func (s *sight) start() stamp { return stamp{s.from, s.fromLane} }
func (s *sight) end() stamp   { return stamp{s.at, s.lane} }

// mostSights bounds the sights of a location. Our choice: those that matter are recent.
const mostSights = 64

// pending is what a thread has read without acquiring it.
type pending struct {
	of        *chain
	wide, own *clock
}

// release is what a thread released by an operation on a location.
type release struct {
	clock *clock
	wide  bool
}

// chain returns the chain at an address, nil if there is none.
func (p *page) chain(addr uint64, size uint8) *chain {
	part := p.chains[addr/4%pageWords/partWords]
	if part == nil {
		return nil
	}
	ch := part[addr/4%partWords]
	for ch != nil && (ch.addr != addr || ch.size != size) {
		ch = ch.next
	}
	return ch
}

// begin makes or finds the chain at an address.
func (p *page) begin(addr uint64, size uint8) *chain {
	if ch := p.chain(addr, size); ch != nil {
		return ch
	}
	part := &p.chains[addr/4%pageWords/partWords]
	if *part == nil {
		*part = new([partWords]*chain)
	}
	at := &(*part)[addr/4%partWords]
	ch := p.spare
	if ch == nil {
		ch = &chain{}
	} else {
		p.spare = ch.next
	}
	*ch = chain{addr: addr, size: size, next: *at, sights: ch.sights[:0]}
	*at = ch
	return ch
}

// retire keeps the chains of a block that has ended for the next one.
func (p *page) retire() {
	for _, part := range p.chains {
		if part == nil {
			continue
		}
		for i, ch := range part {
			for ch != nil {
				next := ch.next
				*ch = chain{next: p.spare, sights: ch.sights[:0]}
				p.spare, ch = ch, next
			}
			part[i] = nil
		}
	}
}

// excused reports whether two strong operations on one location are morally strong.
func (b *block) excused(e, n *record) bool {
	return e.class&n.class&strong != 0 && e.size == n.size &&
		(e.class&n.class&wide != 0 || e.form != blocks && e.launch == n.launch && e.block == n.block)
}

// intact reports whether the last write of all bytes of a location is one that an access may
// observe.
func (b *block) intact(x *access, p *page, addr uint64) bool {
	var id uint32
	for at := addr &^ 3; at < addr+uint64(x.r.size); at += 4 {
		var one [1]entry
		list, _ := b.c.entries(p.cell(ofWrites, int(at/4%pageWords)), &one)
		if len(list) == 0 {
			return false
		}
		e := list[len(list)-1]
		if id != 0 && e.record != id || !b.excused(b.c.rec(e.record), &x.r) {
			return false
		}
		id = e.record
		for _, o := range list[:len(list)-1] { // two operations on parts of one word
			if r := b.c.rec(o.record); x.r.size < 4 && o.bytes&e.bytes == 0 && r.class&strong != 0 && r.time > b.c.rec(id).time {
				return false
			}
		}
	}
	return true
}

// poll is a strong read of one location by lanes of a warp, and what it depended on. The same
// read again, while all of this is the same, finds and changes nothing.
type poll struct {
	addr               uint64
	site               int
	lanes              uint32
	class              class
	page               *page
	chain              *chain
	last               stamp // of the chain
	cells              [2]cell
	base, rel, learned uint32 // of the warp
	swept              int    // since then, another record may have the name of one in a cell
}

// polls returns what a read of lanes at one address depends on.
func (b *block) polls(x *access) (p poll) {
	f := first(uint32(x.Lanes))
	p = poll{addr: x.Addr[f], site: x.Site, lanes: uint32(x.Lanes), class: x.r.class, base: x.w.base, rel: x.w.rel, learned: x.w.learned, swept: b.c.swept}
	p.page = x.mem.page(p.addr)
	if p.chain = p.page.chain(p.addr, x.r.size); p.chain != nil {
		p.last = p.chain.last
	}
	i := int(p.addr / 4 % pageWords)
	p.cells = [2]cell{p.page.cell(ofReads, i), p.page.cell(ofWrites, i)}
	return p
}

// single reports whether an access is of one word, the same for all lanes.
func single(x *access) bool {
	f := first(uint32(x.Lanes))
	for k := uint32(x.Lanes); k != 0; k &= k - 1 {
		if x.Addr[first(k)] != x.Addr[f] {
			return false
		}
	}
	return x.Bytes == 4 && x.r.size == 4 && x.Addr[f]%4 == 0
}

// strong notes a strong access. Sibling lanes of one atomic operation pass on what they
// released in the order of lanes.
func (b *block) strong(x *access) {
	c := b.c
	x.r.time = c.time
	poll, raced := !x.Write && single(x), c.found.raced
	if poll && b.polls(x) == x.w.poll {
		if ch := x.w.poll.chain; ch != nil {
			b.see(ch)
		}
		b.launch.tick()
		return
	}
	var of [32]uint32
	own := *x
	own.r.form = many
	for k := x.groups(uint32(x.Lanes), &of); k != 0; k &= k - 1 {
		i := first(k)
		g := x
		if group := of[i]; group&(group-1) != 0 {
			own.id, own.r.lanes = 0, group
			if x.r.class&(hinted|write) == hinted|write {
				b.siblings(&own, x.Addr[i], group)
			}
			g = &own
		}
		for at := x.Addr[i]; at < x.Addr[i]+uint64(x.Bytes); at += uint64(x.r.size) {
			b.location(g, at, i, of[i])
		}
	}
	if x.Write && x.Inst.Order.Releases() {
		x.w.rel = max(x.w.rel, x.r.time)
	}
	b.launch.tick()
	if poll && c.found.raced == raced {
		x.w.poll = b.polls(x)
	}
}

// unflagged reports whether no strong operation has written near what a load reads. It is then noted
// as a plain one is, in rows: programs load whole arrays by way of the L2.
func (b *block) unflagged(x *access) bool {
	for k := uint32(x.Lanes); k != 0; k &= k - 1 {
		at := x.Addr[first(k)]
		for _, addr := range [2]uint64{at, at + uint64(x.Bytes) - 1} {
			if x.mem.page(addr).chains[addr/4%pageWords/partWords] != nil {
				return false
			}
		}
	}
	return true
}

// location notes the strong access of lanes to one location.
func (b *block) location(x *access, addr uint64, lane int, group uint32) {
	p := x.mem.page(addr)
	i := int(addr / 4 % pageWords)
	ch := p.chain(addr, x.r.size)
	valid := ch != nil && ch.launch == b.launch.id && ch.cell == p.cell(ofWrites, i)
	seen := x.Read && valid && b.intact(x, p, addr)
	if x.Read && ch != nil {
		b.see(ch)
	}
	if x.Write {
		ch = p.begin(addr, x.r.size)
	}
	for k := group; k != 0; k &= k - 1 {
		j := first(k)
		if seen {
			b.observe(x, ch, j)
		}
		if x.Write {
			b.wrote(x, ch, j, seen)
			seen = x.Read
			x.from = ch.from
		}
	}
	b.at(x, addr, lane, uint64(x.r.size))
	if x.Write {
		ch.cell = p.cell(ofWrites, i)
	}
}

// await remembers what a lane has read of a chain; what it has read of one chain is one entry,
// or soon becomes one.
func (l *lane) await(p pending) {
	n := len(l.waiting)
	if n > 0 && l.waiting[n-1] == p { // polls
		return
	}
	if n >= mostSights && n == cap(l.waiting) {
		at := map[*chain]int{}
		kept := l.waiting[:0]
		for _, q := range l.waiting {
			if k, ok := at[q.of]; ok {
				kept[k].wide, kept[k].own = kept[k].wide.join(q.wide), kept[k].own.join(q.own)
				continue
			}
			at[q.of] = len(kept)
			kept = append(kept, q)
		}
		l.waiting = kept
	}
	l.waiting = append(l.waiting, p)
}

// observe lets a lane learn from a chain that it has read.
func (b *block) observe(x *access, ch *chain, i int) {
	w := x.w
	own := ch.own[b.id]
	acquires := x.Inst.Order.Acquires()
	if own != nil || ch.wide != nil {
		if acquires {
			w.learn(i, own, b.c.time)
			if x.r.class&wide != 0 {
				w.learn(i, ch.wide, b.c.time)
			}
		} else {
			w.special(i).await(pending{ch, ch.wide, own})
		}
	}
	if acquires && w.lanes != nil { // an acquire completes earlier reads of the location
		for _, q := range w.lanes[i].waiting {
			if q.of == ch {
				w.learn(i, q.own, b.c.time)
				if x.r.class&wide != 0 {
					w.learn(i, q.wide, b.c.time)
				}
			}
		}
	}
	s := sight{block: b.id, from: ch.from.time, at: x.r.time, fromLane: ch.from.lane, lane: uint8(i), warp: w.id}
	// A poll sees what the one before it saw: nobody can know of one and not of the other.
	for k := range len(ch.sights) {
		o := &ch.sights[(ch.nsight-1-k)%mostSights]
		if o.at <= w.rel || !ch.last.before(o.end()) {
			break
		}
		if o.lane == s.lane && o.warp == s.warp && o.block == s.block {
			return
		}
	}
	if len(ch.sights) < mostSights {
		ch.sights = append(ch.sights, s)
	} else {
		ch.sights[ch.nsight%mostSights] = s
	}
	ch.nsight++
}

// wrote adds a lane's write to a chain, or begins one unless the lane has read the last.
func (b *block) wrote(x *access, ch *chain, i int, continues bool) {
	w, at := x.w, stamp{x.r.time, uint8(i)}
	if !continues {
		ch.launch, ch.from, ch.wide, ch.own = b.launch.id, at, nil, nil
		if len(ch.sights) > 0 && b.launch.mute && x.shared {
			ch.sights, ch.nsight = ch.sights[:0], 0
		}
	}
	ch.last = at
	if x.Inst.Order.Releases() {
		s := w.special(i)
		if s.released == nil {
			s.released = map[*chain]*release{}
		}
		past := b.past(w, 1<<i).set(threadKey(b.id, w.id, i), x.r.time)
		s.released[ch] = &release{past, x.r.class&wide != 0}
	}
	if w.lanes == nil {
		return
	}
	s := &w.lanes[i]
	b.head(ch, s.fenced[0], false)
	b.head(ch, s.fenced[1], true)
	if r := s.released[ch]; r != nil {
		b.head(ch, r.clock, r.wide)
	}
}

// head adds what a thread of the block has released to a chain.
func (b *block) head(ch *chain, c *clock, wide bool) {
	if c == nil {
		return
	}
	if ch.own == nil {
		ch.own = map[uint32]*clock{}
	}
	ch.own[b.id] = ch.own[b.id].join(c)
	if wide {
		ch.wide = ch.wide.join(c)
	}
}

// observed reports whether a strong write happened before a lane's access because somebody,
// of whom the lane knows, has observed it: this orders accesses of that location alone.
func (b *block) observed(x *access, p *page, e *record, el int, addr uint64, lane int) bool {
	if e.class&(strong|write) != strong|write || e.size == 0 {
		return false
	}
	ch := p.chain(addr&^uint64(e.size-1), e.size)
	if ch == nil || e.launch != b.launch.id {
		return false
	}
	at := stamp{e.time, uint8(el)}
	for k := len(ch.sights) - 1; k >= 0; k-- {
		s := &ch.sights[k]
		if s.at == x.r.time { // of the access itself: what it reads does not come before it
			continue
		}
		if e.form == blocks || e.form == warps {
			if s.start() != ch.from || s.end().before(ch.last) {
				continue
			}
		} else if at.before(s.start()) || !at.before(s.end()) {
			continue
		}
		own := s.block == b.id && s.warp == x.w.id && int(s.lane) == lane
		if own || b.ordered(&record{time: s.at, block: s.block, launch: ch.launch, warp: s.warp}, int(s.lane), x.w, lane) {
			b.exact = true
			return true
		}
	}
	return false
}

// see remembers where threads of the block have read strongly.
func (b *block) see(ch *chain) {
	for _, s := range b.seen {
		if s == ch {
			return
		}
	}
	b.seen[b.nseen%len(b.seen)] = ch
	b.nseen++
}

// Fence is as in exec.BlockProbe. The order of two fence.sc that the run happened to show
// orders nothing: it would order all blocks that run in turn.
func (b *block) Fence(warp int, lanes isa.LaneMask, order isa.Order, scope isa.Scope) {
	w := &b.warps[warp]
	b.fenceProxy(w, uint32(lanes))
	if order == isa.Weak {
		return // of a proxy
	}
	far := scope >= b.launch.far
	b.launch.narrow = b.launch.narrow || !far
	for k := uint32(lanes); k != 0; k &= k - 1 {
		i := first(k)
		s := w.special(i)
		if order.Acquires() {
			kept := s.waiting[:0]
			for _, q := range s.waiting {
				w.learn(i, q.own, b.c.time)
				if far {
					w.learn(i, q.wide, b.c.time)
				}
				if !far || order == isa.Acquire {
					kept = append(kept, q)
				}
			}
			s.waiting = kept
			if len(kept) > mostSights {
				s.waiting = kept[len(kept)-mostSights:]
			}
		}
		if order.Releases() {
			c := b.release(w, 1<<i, false)
			if far {
				s.fenced[1] = c
			} else {
				s.fenced[0] = c
			}
		}
	}
	b.launch.tick()
}
