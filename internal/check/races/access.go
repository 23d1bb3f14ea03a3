package races

import (
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// access is an access of a warp on its way through the shadow.
type access struct {
	*exec.Access
	w      *warp
	mem    *memory
	r      record // what it becomes
	id     uint32 // of its record, 0 until it has one
	kind   int    // ofReads or ofWrites: where it is noted
	shared bool
	from   stamp // of the chain that a strong write is part of
}

// Access is as in exec.BlockProbe.
func (b *block) Access(a *exec.Access) {
	if a.Lanes == 0 || a.Space != isa.Global && a.Space != isa.Shared && a.Space != isa.TensorMem {
		return
	}
	if failed := a.Failed & a.Lanes; failed != 0 { // they have only read
		done := *a
		done.Failed, done.Lanes, done.Write = 0, failed, false
		b.Access(&done)
		done.Lanes, done.Write = a.Lanes&^failed, a.Write
		b.Access(&done)
		return
	}
	c := b.c
	b.launch.room()
	w := &b.warps[a.Warp]
	x := access{Access: a, w: w, mem: c.global, shared: a.Space != isa.Global}
	if a.Space == isa.TensorMem {
		x.Access = inTensorMemory(a)
	}
	if x.shared {
		o := b.of(a.Peer)
		if o == nil {
			return
		}
		x.mem = o.shared
	}
	elem := int(a.Inst.Elem)
	if elem == 0 || elem > a.Bytes || a.Flight {
		elem = min(a.Bytes, 16)
	}
	lanes := uint32(a.Lanes)
	x.r = record{site: uint32(a.Site), time: c.time, block: b.id, launch: b.launch.id, lanes: lanes, warp: w.id, size: uint8(elem), class: classOf(a.Inst, b.launch.far, a.Read, a.Write, !x.shared)}
	if lanes == w.live {
		x.r.class |= lockstep
	}
	if a.Write {
		x.kind = ofWrites
	}
	if !x.shared && b.launch.foes {
		b.againstHost(&x)
	}
	if a.Peer != 0 {
		b.reaches(&x)
	}
	switch {
	case a.Flight:
		x.r.class = x.r.class&^(strong|wide|lockstep|hinted) | flight
		if a.Read && a.Write && a.By != isa.ByCommit { // a reduction is atomic, and relaxed in the scope of the GPU (PTX manual, cp.reduce.async.bulk)
			x.r.class |= strong | wide
		}
		if a.By == isa.ByProduct {
			x.w = b.groupOf(w)
		}
		if a.By == isa.ByCommit {
			x.w = b.issuer(w, a.Issuer)
		}
		if a.Space == isa.Shared && byAsyncProxy(a) {
			b.unfenced(&x)
		}
		b.depart(&x)
	case x.r.class&strong != 0 && !(x.r.class&(hinted|write) == hinted && b.unflagged(&x)):
		b.strong(&x)
	default:
		b.weak(&x, lanes)
	}
}

// WantsSilent is as in exec.SilentProbe: stores of equal values are notes.
func (b *block) WantsSilent() {}

// weak notes a plain access. Rows of lanes are the common case.
func (b *block) weak(x *access, lanes uint32) {
	f := first(lanes)
	n := bits.OnesCount32(lanes)
	lo, size := x.Addr[f], uint64(x.Bytes)
	m := lanes >> f
	if m&(m+1) == 0 && lo%4 == 0 && size*uint64(n)%4 == 0 && (size%4 == 0 || size <= 2) {
		ok := true
		for i := 1; i < n; i++ {
			ok = ok && x.Addr[(f+i)&31] == lo+uint64(i)*size
		}
		if ok {
			if size < 4 {
				x.r.form = run
			}
			b.row(x, lo, f, size*uint64(n))
			return
		}
	}
	if size%4 != 0 || !b.rows(x, lanes) {
		b.scattered(x, lanes)
	}
}

// rows notes an access of lanes that lie in some rows, each beyond the one before it. It
// reports false, having done nothing, if they do not.
func (b *block) rows(x *access, lanes uint32) bool {
	size := uint64(x.Bytes)
	var starts uint32 // first lanes of rows
	prev, end := -2, uint64(0)
	for k := lanes; k != 0; k &= k - 1 {
		i := first(k)
		at := x.Addr[i]
		switch {
		case at%4 != 0 || at < end:
			return false
		case i != prev+1 || at != end:
			starts |= 1 << i
		}
		prev, end = i, at+size
	}
	if 2*bits.OnesCount32(starts) > bits.OnesCount32(lanes) {
		return false
	}
	for ; starts != 0; starts &= starts - 1 {
		i := first(starts)
		mine := lanes >> i << i // up to the next row
		if rest := starts & (starts - 1); rest != 0 {
			mine &= 1<<first(rest) - 1
		}
		n := bits.OnesCount32(mine)
		b.row(x, x.Addr[i], i, size*uint64(n))
	}
	return true
}

// groups finds the lanes at each address: of the first lane at an address it says which others
// are there.
func (a *access) groups(lanes uint32, of *[32]uint32) (leaders uint32) {
	var table [64]uint8 // one more than the first lane at an address, by a hash of it
	last, lead := uint64(0), -1
	for k := lanes; k != 0; k &= k - 1 {
		i := first(k)
		at := a.Addr[i]
		if at == last && lead >= 0 { // neighbours often access the same
			of[lead&31] |= 1 << i
			continue
		}
		h := (at>>2 ^ at>>8) % 64
		for table[h] != 0 && a.Addr[(table[h]-1)&31] != at {
			h = (h + 1) % 64
		}
		if table[h] == 0 {
			table[h] = uint8(i + 1)
			leaders |= 1 << i
			of[i] = 0
		}
		last, lead = at, int(table[h]-1)
		of[lead&31] |= 1 << i
	}
	return leaders
}

// scattered notes an access lane by lane; lanes at one address together.
func (b *block) scattered(x *access, lanes uint32) {
	var of [32]uint32
	own := *x
	own.r.form = many
	for k := x.groups(lanes, &of); k != 0; k &= k - 1 {
		i := first(k)
		g := x
		if group := of[i]; group&(group-1) != 0 {
			own.id, own.r.lanes = 0, group
			if own.r.class&write != 0 {
				b.siblings(&own, x.Addr[i], group)
			}
			g = &own
		}
		b.at(g, x.Addr[i], i, uint64(x.Bytes))
	}
}

// at notes an access of one lane, or of lanes together.
func (b *block) at(x *access, addr uint64, lane int, bytes uint64) {
	for bytes > 0 {
		in := addr % 4
		n := min(4-in, bytes)
		p, i := x.mem.page(addr), addr/4%pageWords
		b.word(x, p, int(i), addr&^3, lane, uint8(1<<n-1)<<in)
		addr, bytes = addr+n, bytes-n
	}
}

// word notes an access of bytes of a word.
func (b *block) word(x *access, p *page, i int, addr uint64, lane int, bytes uint8) {
	n, j := i/partWords, i%partWords
	if part := p.cells[ofWrites][n]; part != nil && part[j] != 0 {
		b.test(x, p, part[j], addr, lane, bytes)
	}
	if x.kind == ofWrites {
		if part := p.cells[ofReads][n]; part != nil && part[j] != 0 {
			b.test(x, p, part[j], addr, lane, bytes)
			part[j] = b.merge(x, part[j], lane, bytes, false)
		}
	}
	part := b.c.part(p, x.kind, n)
	part[j] = b.merge(x, part[j], lane, bytes, true)
}

// memo is how the last word was treated; words whose cells stand in the same relation to
// their lanes are treated alike.
type memo struct {
	old, rel, to cell
	ok, none     bool
}

func (m *memo) fits(old cell, k cell) bool {
	return m.ok && (old^m.old)>>5 == 0 && old-k == m.rel
}

// row notes an access of lanes that follow each other in memory, from lane f on.
func (b *block) row(x *access, addr uint64, f int, bytes uint64) {
	r := row{x: x, per: 1, step: 1, split: x.w.split, f: f}
	if x.Bytes >= 4 {
		r.per = x.Bytes / 4
	} else {
		r.step = cell(4 / x.Bytes)
	}
	for bytes > 0 {
		p, i := x.mem.page(addr), int(addr/4%pageWords)
		n := min(int(bytes/4), partWords-i%partWords)
		b.inPart(&r, p, i, n, addr)
		addr, bytes = addr+4*uint64(n), bytes-4*uint64(n)
	}
}

// row is a row of lanes on its way through the shadow.
type row struct {
	x                      *access
	per                    int  // words of a lane
	step                   cell // lanes of a word
	split                  bool // lanes differ in what they know
	f                      int  // the first lane
	k                      cell // lanes that have passed
	in                     int  // words of the current one that have
	tested, cleared, noted memo
}

// inPart notes n words of a row that lie in one part of a page.
func (b *block) inPart(r *row, p *page, i, n int, addr uint64) {
	x := r.x
	writes, reads := p.cells[ofWrites][i/partWords], p.cells[ofReads][i/partWords]
	if x.kind != ofWrites {
		reads = nil
	}
	to := b.c.part(p, x.kind, i/partWords)
	for j := i % partWords; n > 0; n-- {
		k, lane := r.k, r.f+int(r.k)
		if writes != nil {
			if old := writes[j]; old != 0 && !r.tested.fits(old, k) {
				b.exact = r.split
				ok := b.test(x, p, old, addr, lane, 15)
				r.tested = memo{old: old, rel: old - k, ok: ok && !b.exact}
			}
		}
		if reads != nil {
			if old := reads[j]; old == 0 {
			} else if r.cleared.fits(old, k) {
				reads[j] = r.cleared.apply(k)
			} else {
				b.exact = r.split
				ok := b.test(x, p, old, addr, lane, 15)
				to := b.merge(x, old, lane, 15, false)
				reads[j] = to
				r.cleared = memo{old: old, rel: old - k, to: to - k, none: to == 0, ok: ok && !b.exact}
			}
		}
		if old := to[j]; old == 0 && x.id != 0 {
			to[j] = cellOf(x.id, lane)
		} else if old != 0 && r.noted.fits(old, k) {
			to[j] = r.noted.apply(k)
		} else {
			b.exact = r.split
			c := b.merge(x, old, lane, 15, true)
			to[j] = c
			r.noted = memo{old: old, rel: old - k, to: c - k, ok: !b.exact}
		}
		j++
		addr += 4
		if r.in++; r.in == r.per {
			r.k, r.in = k+r.step, 0
		}
	}
}

func (m *memo) apply(k cell) cell {
	if m.none {
		return 0
	}
	return m.to + k
}

// conflict reports whether two accesses of one byte conflict and are not morally strong.
// Natural alignment makes overlapping accesses of one size overlap completely.
func (b *block) conflict(e, n *record) bool {
	if (e.class|n.class)&write == 0 || b.pipelined(e, n) {
		return false
	}
	if e.class&n.class&strong == 0 || e.size != n.size || (e.class|n.class)&hinted != 0 {
		return true
	}
	if e.class&n.class&wide != 0 {
		return false
	}
	return e.form == blocks || e.launch != n.launch || e.block != n.block
}

// ordered reports whether what lane el of record e did happened before what a lane does now.
func (b *block) ordered(e *record, el int, w *warp, lane int) bool {
	l := b.launch
	if e.time <= l.base {
		return true
	}
	if e.launch != l.id {
		return l.before(e.launch)
	}
	time := e.time
	if e.flight != 0 {
		var ok, known bool
		if time, ok, known = b.landed(e, el, w, lane); known || !ok {
			return known
		}
	}
	switch e.form {
	case blocks:
		return false
	case warps:
		return e.block == b.id && time <= b.base
	}
	if e.block == b.id {
		if time <= b.base || e.warp == w.id && (time <= w.base || el == lane) {
			return true
		}
	}
	if time > w.learned {
		return false
	}
	c := w.of(lane)
	if c.get(blockKey(e.block)) >= time || c.get(warpKey(e.block, e.warp)) >= time {
		return true
	}
	if c.get(threadKey(e.block, e.warp, el)) >= time {
		b.exact = true
		return true
	}
	return false
}

// settled reports whether barriers or the ends of launches alone order all that a record
// stands for before what lanes of a warp do now. If not, ordered may still say so of some.
func (b *block) settled(e *record, w *warp) bool {
	switch l := b.launch; {
	case e.time <= l.base:
		return true
	case e.launch != l.id:
		return l.before(e.launch)
	case e.flight != 0 || e.block != b.id || e.form == blocks:
		return false
	}
	return e.time <= b.base || e.warp == w.id && e.form != warps && e.time <= w.base
}

// alike reports whether two records have the same lanes at all bytes of a word.
func alike(e, n *record) bool { return e.form != run && n.form != run }

// reached reports whether what lane el of record e did happened before what one of the lanes
// in m does now. Lanes that share a clock know the same, but for what each did itself.
func (b *block) reached(e *record, el int, w *warp, m uint32) bool {
	var last *clock
	tried := false
	for ; m != 0; m &= m - 1 {
		i := first(m)
		c := w.of(i)
		if tried && c == last && i != el {
			continue
		}
		if b.ordered(e, el, w, i) {
			return true
		}
		if i != el {
			last, tried = c, true
		}
	}
	return false
}

// test looks for races of an access with those of a cell, and reports whether there are none.
func (b *block) test(x *access, p *page, c cell, addr uint64, lane int, bytes uint8) bool {
	if c&inSet == 0 { // the common case: one record, lane against lane
		if e := b.c.rec(c.id()); e.time <= b.launch.base || !b.conflict(e, &x.r) || b.settled(e, x.w) {
			return true
		}
	}
	var one [1]entry
	list, off := b.c.entries(c, &one)
	clean := true
	for _, t := range list {
		both := t.bytes & bytes
		e := b.c.rec(t.record)
		if both == 0 || e.time <= b.launch.base || !b.conflict(e, &x.r) || b.settled(e, x.w) {
			continue
		}
		el := off + int(t.lane)
		var pairs uint64
		var bad [2]int
		same := stores(e.class) && stores(x.r.class) // all pairs store equal values: the later one changed nothing
		some, times := both, uint64(1)
		if alike(e, &x.r) && e.class&strong == 0 {
			some, times = both&-both, uint64(bits.OnesCount8(both))
		}
		for k := some; k != 0; k &= k - 1 {
			i := bits.TrailingZeros8(k)
			for em := e.at(el, i); em != 0; em &= em - 1 {
				for nm := x.r.at(lane, i); nm != 0; nm &= nm - 1 {
					y, z := first(em), first(nm)
					if !b.ordered(e, y, x.w, z) && !b.observed(x, p, e, y, addr+uint64(i), z) {
						if pairs == 0 {
							bad = [2]int{y, z}
						}
						if same && x.Silent>>z&1 == 0 { // this pair matters: show it
							bad, same = [2]int{y, z}, false
						}
						pairs += times
					}
				}
			}
		}
		if pairs > 0 {
			clean = false
			b.race(x, e, bad, addr+uint64(bits.TrailingZeros8(both)), pairs, same)
		}
	}
	return clean
}

// mostEntries bounds the accesses of a word that no other replaces. Our choice: many times
// what programs without races need.
const mostEntries = 32

// merge returns the cell with the access noted, or, unless add is set, only without what it
// replaces.
func (b *block) merge(x *access, old cell, lane int, bytes uint8, add bool) cell {
	s := &b.c.shadow
	if old == 0 {
		if !add {
			return 0
		}
		if bytes == 15 {
			b.name(x)
			return cellOf(x.id, lane)
		}
	}
	var one [1]entry
	list, off := s.entries(old, &one)
	if add && x.id == 0 && b.reuse(x, list, off, lane, bytes) {
		return old
	}
	if add && old != 0 && old&inSet == 0 { // noted before, or by a record that stands for it
		if id := old.id(); id == x.id && off == lane || x.kind == ofReads && bytes == 15 && b.summary(x, s.rec(id), id, 0) == id {
			return old
		}
	}
	var room [mostEntries + 2]entry
	kept := room[:0]
	changed := false
	sum, sumBytes := uint32(0), uint8(0) // a record of form blocks or warps that stands for the access
	for _, t := range list {
		e := s.rec(t.record)
		if add && t.record == x.id && off+int(t.lane) == lane && bytes&^t.bytes == 0 {
			return old
		}
		if add && t.bytes&^bytes == 0 {
			if id := b.summary(x, e, t.record, sum); id != 0 {
				sum, sumBytes = id, sumBytes|t.bytes
				changed = changed || id != t.record
				continue
			}
		}
		if b.replaces(x, e, off+int(t.lane), lane, t.bytes&bytes) {
			if t.bytes &^= bytes; t.bytes == 0 {
				changed = true
				continue
			}
			changed = true
		}
		kept = append(kept, entry{t.record, int8(off + int(t.lane) - lane), t.bytes})
	}
	switch {
	case sum != 0:
		if !changed && sumBytes == bytes && (x.kind == ofReads || list[len(list)-1].record == sum) {
			return old
		}
		kept = append(kept, entry{sum, 0, bytes})
	case add:
		b.name(x)
		kept = append(kept, entry{x.id, 0, bytes})
	case !changed:
		return old
	}
	if len(kept) > mostEntries {
		kept = kept[1:]
	}
	switch {
	case len(kept) == 0:
		return 0
	case len(kept) == 1 && kept[0].bytes == 15:
		return cellOf(kept[0].record, int(kept[0].lane)+lane)
	}
	return inSet | cellOf(s.set(kept), lane)
}

// name gives an access its record.
func (b *block) name(x *access) {
	if x.id == 0 {
		x.id = b.c.record(&x.r)
	}
}

// reuse takes the record of an earlier access that differs in nothing: nobody can know of one
// and not of the other. It reports whether the word names that access, as after a poll.
func (b *block) reuse(x *access, list []entry, off, lane int, bytes uint8) bool {
	if x.r.class&flight != 0 || x.r.class&(strong|write) == strong|write {
		return false // strong writes of a location have an order
	}
	for _, t := range list {
		e := b.c.rec(t.record)
		if e.lanes != x.r.lanes || e.time <= x.w.rel || e.time <= b.base || e.time <= b.launch.base {
			continue
		}
		same := *e
		same.time = x.r.time
		if same == x.r {
			x.id = t.record
			return off+int(t.lane) == lane && bytes&^t.bytes == 0
		}
	}
	return false
}

// replaces reports whether an access makes an entry superfluous: it happened before, and
// whatever races with it races with the access too.
func (b *block) replaces(x *access, e *record, el, lane int, bytes uint8) bool {
	if bytes == 0 || e.class&write&^x.r.class != 0 {
		return false
	}
	if x.r.class&strong != 0 && e.time > b.launch.base {
		if e.class&strong == 0 || e.size != x.r.size || e.form == blocks || e.launch != x.r.launch || e.block != x.r.block || x.r.class&wide > e.class&wide || e.class&hinted > x.r.class&hinted {
			return false
		}
		// Who observes the write knows its chain, but neither reads nor earlier writes.
		if x.r.class&write != 0 && (e.class&write == 0 || stamp{e.time, uint8(el)}.before(x.from)) {
			return false
		}
	}
	if b.settled(e, x.w) || b.pipelined(e, &x.r) {
		return true
	}
	if alike(e, &x.r) {
		bytes &= -bytes
	}
	own := e.launch == b.launch.id && e.block == b.id && e.warp == x.w.id && e.flight == 0 && e.form <= many
	for k := bytes; k != 0; k &= k - 1 {
		i := bits.TrailingZeros8(k)
		em, nm := e.at(el, i), x.r.at(lane, i)
		if own {
			em &^= nm // each lane knows what it did itself
		}
		for ; em != 0; em &= em - 1 {
			if !b.reached(e, first(em), x.w, nm) {
				return false
			}
		}
	}
	return true
}

// summary returns the record that stands for an access and one of the same instruction by
// threads that it cannot be ordered with: other blocks' where no block can wait for another,
// other warps' where only barriers of the block order. 0 if there is none.
func (b *block) summary(x *access, e *record, id, sum uint32) uint32 {
	l := b.launch
	n := &x.r
	if !l.mute || e.launch != n.launch || e.site != n.site || (e.class^n.class)&^lockstep != 0 || n.class&flight != 0 || e.time <= l.base || e.size != n.size {
		return 0
	}
	at := 2 * n.site
	if n.class&write != 0 {
		at++
	}
	if e.form == blocks || e.block != b.id || sum != 0 && b.c.rec(sum).form == blocks {
		if int(at) >= len(l.sums) {
			return 0
		}
		if l.sums[at] == 0 {
			r := *n
			r.form, r.block = blocks, e.block
			l.sums[at] = b.c.record(&r)
		}
		return l.sums[at]
	}
	if !l.plain || e.time <= b.base || e.warp == n.warp && e.form != warps {
		return 0
	}
	if e.form == warps {
		return id
	}
	if b.sums == nil {
		b.sums = make([]uint32, 2*len(l.code))
	}
	if int(at) >= len(b.sums) {
		return 0
	}
	if s := b.sums[at]; s == 0 || b.c.rec(s).time <= b.base {
		r := *n
		r.form = warps
		b.sums[at] = b.c.record(&r)
	}
	return b.sums[at]
}

// siblings reports lanes of one instruction that write the same bytes.
func (b *block) siblings(x *access, addr uint64, group uint32) {
	if x.r.class&(strong|hinted) == strong {
		return
	}
	n := uint64(bits.OnesCount32(group))
	e := x.r
	i := first(group)
	b.race(x, &e, [2]int{i, first(group &^ (1 << i))}, addr, n*(n-1)/2*uint64(x.Bytes), stores(x.r.class) && group&^(1<<i)&^uint32(x.Silent) == 0)
}

// isWhole reports whether the text of an instruction is a barrier of all threads of the
// block: without a number of threads.
func isWhole(text string) bool {
	return !strings.Contains(text, ",") && !strings.Contains(text, "arrive") && !strings.Contains(text, "cluster")
}
