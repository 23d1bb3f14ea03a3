package simt

import "math/bits"

// regset is a set of pipeline registers.
type regset struct {
	used uint64
	all  uint64
	slot []int32
}

func (r *regset) init(n int) {
	r.slot = make([]int32, n)
	r.all = 1<<n - 1
}

// room reports whether register k (sub-core mode) or any is free.
func (r *regset) room(own bool, k int) bool {
	if own {
		return r.used>>k&1 == 0
	}
	return r.used != r.all
}

func (r *regset) put(own bool, k int, f int32) {
	if !own {
		k = bits.TrailingZeros64(^r.used)
	}
	r.used |= 1 << k
	r.slot[k] = f
}

// oldest returns the register that holds the instruction issued first, of
// those in mask; -1 if there is none.
func (r *regset) oldest(c *Core, mask uint64) int {
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
		if u := c.flight[r.slot[i]].uid; best < 0 || u < uid {
			best, uid = i, u
		}
	}
	return best
}

// cunit is a collector unit.
type cunit struct {
	f    int32 // instruction
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
}

// dispatcher moves ready instructions of a set to the units.
type dispatcher struct{ set, last int }

// port takes instructions from issue registers into collector units.
type port struct {
	in   []Set
	sets []int
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
	disp    []dispatcher
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
		col.sets = append(col.sets, s)
		for range x.Out {
			col.disp = append(col.disp, dispatcher{set: n})
		}
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
		for range cfg.Generic.In {
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
		for range cfg.Special[s].In {
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

func (col *collector) dispatch(c *Core) {
	for i := range col.disp {
		d := &col.disp[i]
		s := &col.sets[d.set]
		if s.ready == 0 {
			continue
		}
		from := d.last + 1
		if c.cfg.SubCore {
			from = d.last + s.per - d.last%s.per
		}
		from %= s.n
		hi := s.ready >> from << from
		lo := s.ready &^ hi
	search:
		for _, m := range [2]uint64{hi, lo} {
			for ; m != 0; m &= m - 1 {
				k := bits.TrailingZeros64(m)
				u := &col.units[s.first+k]
				o := &c.ocex[u.out]
				if !o.room(c.cfg.SubCore, int(u.reg)) {
					continue
				}
				o.put(c.cfg.SubCore, int(u.reg), u.f)
				s.ready &^= 1 << k
				s.free |= 1 << k
				col.held--
				d.last = k
				break search
			}
		}
	}
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

func (col *collector) allocate(c *Core) {
	for i := range col.ports {
		p := &col.ports[i]
		for _, in := range p.in {
			rs := &c.idoc[in]
			for mask := rs.used; mask != 0; {
				r := rs.oldest(c, mask)
				if col.place(c, p, in, r) {
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
		u.f, u.out, u.need = fi, in, int16(len(f.op.reads))
		s.free &^= 1 << k
		col.held++
		rs.used &^= 1 << r
		for _, reg := range f.op.reads {
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
	for _, r := range f.op.dsts {
		col.written |= 1 << col.bankOf(c, r, f.warp, f.sched)
	}
}
