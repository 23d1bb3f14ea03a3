package simt

import "math/bits"

// regset is a set of pipeline registers.
type regset struct {
	used uint64
	all  uint64
	slot []int32
	uid  []uint64 // of the instructions
}

func (r *regset) init(n int) {
	r.slot = make([]int32, n)
	r.uid = make([]uint64, n)
	r.all = 1<<n - 1
}

// room reports whether register k (sub-core mode) or any is free.
func (r *regset) room(own bool, k int) bool {
	if own {
		return r.used>>k&1 == 0
	}
	return r.used != r.all
}

func (r *regset) put(own bool, k int, f int32, uid uint64) {
	if !own {
		k = bits.TrailingZeros64(^r.used)
	}
	r.used |= 1 << k
	r.slot[k], r.uid[k] = f, uid
}

// oldest returns the register that holds the instruction issued first, of
// those in mask; -1 if there is none.
func (r *regset) oldest(mask uint64) int {
	m := r.used & mask
	if m&(m-1) == 0 {
		if m == 0 {
			return -1
		}
		return bits.TrailingZeros64(m)
	}
	best := -1
	var uid uint64
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if u := r.uid[i]; best < 0 || u < uid {
			best, uid = i, u
		}
	}
	return best
}

// cunit is a collector unit.
type cunit struct {
	f    int32 // instruction
	uid  uint64
	need int16 // operands missing
	out  Set
	reg  uint8 // its register of the output set in sub-core mode
}

// cset is a set of collector units: consecutive, a bit each in its masks.
type cset struct {
	first, n int
	free     uint64
	ready    uint64 // taken, no operand missing
	per      int    // units per scheduler
	// last is the unit that each of the set's dispatchers took last, from where
	// its search begins after each unit.
	last []uint8
	from []uint8
}

// port takes instructions from issue registers into collector units.
type port struct {
	in   []Set
	sets []int
	same bool // as the port before
}

// bank is the queue of a register bank's reads: the units that wait.
type bank struct {
	buf  []uint16
	head int
	n    int
}

func (b *bank) push(u uint16) {
	if b.n == len(b.buf) {
		bigger := make([]uint16, max(16, 2*len(b.buf)))
		for i := range b.n {
			bigger[i] = b.buf[(b.head+i)%len(b.buf)]
		}
		b.buf, b.head = bigger, 0
	}
	b.buf[(b.head+b.n)&(len(b.buf)-1)] = u
	b.n++
}

func (b *bank) pop() uint16 {
	u := b.buf[b.head]
	b.head = (b.head + 1) & (len(b.buf) - 1)
	b.n--
	return u
}

// collector is the operand collector.
type collector struct {
	units   []cunit
	sets    []cset
	setOf   []uint8 // of each unit
	ports   []port
	banks   []bank
	waiting uint64 // banks with reads queued
	written uint64 // banks taken by a write until the end of the next step
	held    int    // units taken
	nBanks  int
	per     int // banks per scheduler in sub-core mode
}

func (c *Core) newCollector() {
	cfg := &c.cfg
	col := &c.col
	col.nBanks = cfg.RegisterBanks
	col.banks = make([]bank, cfg.RegisterBanks)
	col.per = max(1, cfg.RegisterBanks/cfg.Schedulers)
	add := func(x Collectors) int {
		if x.Units == 0 {
			return -1
		}
		n := len(col.sets)
		s := cset{first: len(col.units), n: x.Units, free: 1<<x.Units - 1, per: max(1, x.Units/cfg.Schedulers)}
		for range x.Units {
			col.units = append(col.units, cunit{})
			col.setOf = append(col.setOf, uint8(n))
		}
		s.last = make([]uint8, x.Out)
		for last := range x.Units {
			next := last + 1
			if cfg.SubCore && cfg.Compat.NextGroupFirst {
				next = last + s.per - last%s.per
			}
			s.from = append(s.from, uint8(next%x.Units))
		}
		col.sets = append(col.sets, s)
		return n
	}
	gen := add(cfg.Generic)
	var own [Sets]int
	for _, s := range [...]Set{SP, DP, Tensor, SFU, Mem, Int} {
		own[s] = add(cfg.Special[s])
	}
	if gen >= 0 {
		p := port{sets: []int{gen}}
		for _, s := range [...]Set{SP, SFU, Mem, Tensor, DP, Int} {
			if cfg.Units[s] > 0 {
				p.in = append(p.in, s)
			}
		}
		for i := range cfg.Generic.In {
			p.same = i > 0
			col.ports = append(col.ports, p)
		}
	}
	for _, s := range [...]Set{SP, DP, SFU, Tensor, Mem, Int} {
		if own[s] < 0 || cfg.Units[s] == 0 {
			continue
		}
		p := port{in: []Set{s}, sets: []int{own[s]}}
		if gen >= 0 {
			p.sets = append(p.sets, gen)
		}
		for i := range cfg.Special[s].In {
			p.same = i > 0
			col.ports = append(col.ports, p)
		}
	}
	if share := len(col.units) / cfg.Schedulers; cfg.SubCore && share > 0 {
		for i := range col.units {
			col.units[i].reg = uint8(min(i/share, cfg.Schedulers-1))
		}
	}
}

// bankOf returns the bank of a warp's register.
func (col *collector) bankOf(c *Core, reg uint16, warp, sched int16) uint {
	b := uint(reg) + uint(warp)
	if c.cfg.SubCore {
		return b%uint(col.per) + uint(sched)*uint(col.per)
	}
	return b % uint(col.nBanks)
}

// step does one step: dispatch, read, allocate.
func (col *collector) step(c *Core) {
	if col.held > 0 {
		col.dispatch(c)
		col.read()
	}
	for s := range Sets {
		if c.idoc[s].used != 0 {
			col.allocate(c)
			break
		}
	}
	col.written = 0
}

// dispatch moves instructions that have their operands to the units: each
// dispatcher of a set one, until one finds none.
func (col *collector) dispatch(c *Core) {
	for i := range col.sets {
		s := &col.sets[i]
		for d := range s.last {
			if s.ready == 0 || !col.dispatchOne(c, s, &s.last[d]) {
				break
			}
		}
	}
}

func (col *collector) dispatchOne(c *Core, s *cset, last *uint8) bool {
	from := s.from[*last]
	hi := s.ready >> from << from
	for _, m := range [2]uint64{hi, s.ready &^ hi} {
		for ; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m)
			u := &col.units[s.first+k]
			o := &c.ocex[u.out]
			if !o.room(c.cfg.SubCore, int(u.reg)) {
				continue
			}
			o.put(c.cfg.SubCore, int(u.reg), u.f, u.uid)
			if c.log != nil {
				c.log.open[u.f].Dispatch = c.now
			}
			s.ready &^= 1 << k
			s.free |= 1 << k
			col.held--
			*last = uint8(k)
			return true
		}
	}
	return false
}

func (col *collector) read() {
	for m := col.waiting &^ col.written; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		b := &col.banks[i]
		n := b.pop()
		if b.n == 0 {
			col.waiting &^= 1 << i
		}
		u := &col.units[n]
		u.need--
		if u.need == 0 {
			s := &col.sets[col.setOf[n]]
			s.ready |= 1 << (int(n) - s.first)
		}
	}
}

// allocate moves instructions from the issue registers to collector units:
// each port one of every set that it serves.
func (col *collector) allocate(c *Core) {
	placed := true
	for i := range col.ports {
		p := &col.ports[i]
		if p.same && !placed {
			continue // it would find what the last one found
		}
		placed = false
		for _, in := range p.in {
			rs := &c.idoc[in]
			for mask := rs.used; mask != 0; {
				r := rs.oldest(mask)
				if col.place(c, p, in, r) {
					placed = true
					break
				}
				if c.cfg.Compat.OldestBlocks || !c.cfg.SubCore {
					break
				}
				mask &^= 1 << r
			}
		}
	}
}

// place finds a collector unit for the instruction in register r of a set.
func (col *collector) place(c *Core, p *port, in Set, r int) bool {
	rs := &c.idoc[in]
	fi := rs.slot[r]
	f := &c.flight[fi]
	for _, si := range p.sets {
		s := &col.sets[si]
		m := s.free
		if c.cfg.SubCore {
			m &= (1<<s.per - 1) << (int(f.sched) * s.per)
		}
		if m == 0 {
			continue
		}
		k := bits.TrailingZeros64(m)
		n := s.first + k
		u := &col.units[n]
		u.f, u.uid, u.out, u.need = fi, f.uid, in, int16(len(f.op.readBanks))
		if c.log != nil {
			c.log.open[fi].Collect = c.now
		}
		s.free &^= 1 << k
		col.held++
		rs.used &^= 1 << r
		for _, reg := range f.op.readBanks {
			b := col.bankOf(c, reg, f.warp, f.sched)
			col.banks[b].push(uint16(n))
			col.waiting |= 1 << b
		}
		if u.need == 0 {
			s.ready |= 1 << k
		}
		return true
	}
	return false
}

// write marks the banks of an instruction's results as taken, whatever takes
// them already.
func (col *collector) write(c *Core, f *flight) {
	for _, r := range f.op.dstBanks {
		if r != noBank {
			col.written |= 1 << col.bankOf(c, r, f.warp, f.sched)
		}
	}
}
