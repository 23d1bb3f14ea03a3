package simt

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/ring"
)

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

// oldest returns the register in mask that holds the oldest instruction, -1 if there
// is none.
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
	// to are the ready units by the set that they go to; any has a bit for each set
	// that is not empty in to.
	to  [Sets]uint64
	any uint16
	// open are the registers of an issue set whose instructions find a free unit: in
	// sub-core mode those of the schedulers that have one, otherwise all or none.
	open uint64
	// groups are the units by output register, in sub-core mode.
	groups []uint64
	// last has for each dispatcher of the set the unit that it served last; from has
	// for each unit where the search after it starts.
	last []uint8
	from []uint8
}

// order is the order in which a port checks the issue register sets.
var order = [Sets]Set{SP, SFU, Mem, Tensor, DP, Int, Spec1, Spec2, Spec3, Spec4, Spec5, Spec6, Spec7, Spec8}

// rankOf is a set's index in order.
var rankOf = [Sets]uint8{SP: 0, SFU: 1, Mem: 2, Tensor: 3, DP: 4, Int: 5,
	Spec1: 6, Spec2: 7, Spec3: 8, Spec4: 9, Spec5: 10, Spec6: 11, Spec7: 12, Spec8: 13}

// port moves instructions from issue registers into collector units.
type port struct {
	in   uint16 // sets that it serves, a bit each by rank
	sets []int
	same bool // same as the previous port
}

// collector is the operand collector.
type collector struct {
	units   []cunit
	sets    []cset
	setOf   []uint8 // of each unit
	ports   []port
	banks   []ring.Ring[uint16] // by register bank, the units that wait to read it
	waiting uint64              // banks with queued reads
	atOnce  []uint16            // units that read all operands in the next step (Ideal.RegisterPorts)
	written uint64              // banks taken by a write until the end of the next step
	held    int                 // units taken
	pend    uint16              // issue register sets that hold an instruction, a bit each by rank
	per     uint                // number of banks that a register can be in
	mask    uint                // per − 1 if per is a power of two, else 0
	stride  uint                // banks per scheduler; 0 if all share them
}

func (c *Core) newCollector() {
	cfg := &c.cfg
	col := &c.col
	col.banks = make([]ring.Ring[uint16], cfg.RegisterBanks)
	col.per = uint(cfg.RegisterBanks)
	if cfg.SubCore {
		col.per = uint(max(1, cfg.RegisterBanks/cfg.Schedulers))
		col.stride = col.per
	}
	if col.per&(col.per-1) == 0 {
		col.mask = col.per - 1
	}
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
		s.update(cfg.SubCore, 0)
		for k := range x.Units {
			s.update(cfg.SubCore, k)
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
		for r, s := range order {
			if cfg.Units[s] > 0 {
				p.in |= 1 << r
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
		p := port{in: 1 << rankOf[s], sets: []int{own[s]}}
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
			reg := min(i/share, cfg.Schedulers-1)
			col.units[i].reg = uint8(reg)
			s := &col.sets[col.setOf[i]]
			for len(s.groups) <= reg {
				s.groups = append(s.groups, 0)
			}
			s.groups[reg] |= 1 << (i - s.first)
		}
	}
}

// bankOf returns the bank of a warp's register.
func (col *collector) bankOf(reg uint16, warp, sched int16) uint {
	b := uint(reg) + uint(warp)
	if col.mask != 0 {
		b &= col.mask
	} else {
		b %= col.per
	}
	return b + uint(sched)*col.stride
}

// step simulates one step: dispatch, read, allocate.
func (col *collector) step(c *Core) {
	if col.held > 0 {
		col.dispatch(c)
		col.read(c)
	}
	if col.pend != 0 {
		col.allocate(c)
	}
	col.written = 0
}

// update sets the bits of open that depend on unit k.
func (s *cset) update(subCore bool, k int) {
	if !subCore {
		s.open = 0
		if s.free != 0 {
			s.open = ^uint64(0)
		}
		return
	}
	g := k / s.per
	s.open &^= 1 << g
	if s.free>>(g*s.per)&(1<<s.per-1) != 0 {
		s.open |= 1 << g
	}
}

// complete notes that unit k of the set, bound for set out, has all its operands.
func (s *cset) complete(k int, out Set) {
	s.ready |= 1 << k
	s.to[out] |= 1 << k
	s.any |= 1 << out
}

// leaving returns the units of a set that can dispatch: they are ready and their
// output register is free.
func (s *cset) leaving(c *Core) uint64 {
	var m uint64
	for x := s.any; x != 0; x &= x - 1 {
		out := bits.TrailingZeros16(x)
		o := &c.ocex[out]
		if s.groups == nil {
			if o.used != o.all {
				m |= s.to[out]
			}
			continue
		}
		var taken uint64
		for g, units := range s.groups {
			taken |= units & -(o.used >> g & 1)
		}
		m |= s.to[out] &^ taken
	}
	return m
}

// dispatch moves instructions with all operands to the execute registers, one for
// each dispatcher of a set until a dispatcher finds none.
func (col *collector) dispatch(c *Core) {
	for i := range col.sets {
		s := &col.sets[i]
		for d := range s.last {
			if s.ready == 0 {
				break
			}
			m := s.leaving(c)
			if m == 0 {
				break
			}
			k := nextBit(m, int(s.from[s.last[d]]))
			s.last[d] = uint8(k)
			col.send(c, s, k)
		}
	}
}

// send moves the instruction of unit k of a set to its execute register.
func (col *collector) send(c *Core, s *cset, k int) {
	u := &col.units[s.first+k]
	c.ocex[u.out].put(c.cfg.SubCore, int(u.reg), u.f, u.uid)
	c.moved = true
	if u.out != Mem {
		c.waiting++
	}
	if c.log != nil {
		c.log.Reach(u.f, stageDispatch, c.now)
	}
	bit := uint64(1) << k
	s.ready &^= bit
	s.free |= bit
	s.update(c.cfg.SubCore, k)
	if s.to[u.out] &^= bit; s.to[u.out] == 0 {
		s.any &^= 1 << u.out
	}
	col.held--
}

func (col *collector) read(c *Core) {
	if len(col.atOnce) > 0 {
		for _, n := range col.atOnce {
			s := &col.sets[col.setOf[n]]
			s.complete(int(n)-s.first, col.units[n].out)
		}
		col.atOnce = col.atOnce[:0]
		c.moved = true
	}
	m := col.waiting &^ col.written
	if m != 0 {
		c.moved = true
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		b := &col.banks[i]
		n := b.Pop()
		if b.Len() == 0 {
			col.waiting &^= 1 << i
		}
		u := &col.units[n]
		u.need--
		if u.need == 0 {
			s := &col.sets[col.setOf[n]]
			s.complete(int(n)-s.first, u.out)
		}
	}
}

// allocate moves instructions from the issue registers to collector units: each port
// moves one of every set that it serves.
func (col *collector) allocate(c *Core) {
	live := col.pend
	for i := range col.ports {
		p := &col.ports[i]
		if !p.same {
			live = col.pend
		}
		// If an identical port before this one could take nothing from a set, this one
		// cannot either.
		for m := live & p.in; m != 0; m &= m - 1 {
			bit := m & -m
			in := order[bits.TrailingZeros16(m)]
			rs := &c.idoc[in]
			var open uint64
			for _, si := range p.sets {
				open |= col.sets[si].open
			}
			can := rs.used
			if !c.cfg.Compat.OldestBlocks {
				can &= open
			}
			r := rs.oldest(can)
			placed := r >= 0 && open>>r&1 != 0
			if placed {
				col.place(c, p, in, r)
			}
			if rs.used == 0 {
				col.pend &^= bit
				placed = false
			}
			if !placed {
				live &^= bit
			}
		}
	}
}

// place puts the instruction in register r of a set into a collector unit.
func (col *collector) place(c *Core, p *port, in Set, r int) {
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
		c.moved = true
		u := &col.units[n]
		u.f, u.uid, u.out, u.need = fi, f.uid, in, int16(len(f.op.readBanks))
		if c.log != nil {
			c.log.Reach(fi, stageCollect, c.now)
		}
		s.free &^= 1 << k
		s.update(c.cfg.SubCore, k)
		col.held++
		rs.used &^= 1 << r
		if c.cfg.Ideal.RegisterPorts && u.need > 0 {
			col.atOnce = append(col.atOnce, uint16(n))
			return
		}
		for _, reg := range f.op.readBanks {
			b := col.bankOf(reg, f.warp, f.sched)
			col.banks[b].Push(uint16(n))
			col.waiting |= 1 << b
		}
		if u.need == 0 {
			s.complete(k, in)
		}
		return
	}
}

// write marks the banks of an instruction's results as taken, even if they already
// are.
func (col *collector) write(c *Core, f *flight) {
	for _, r := range f.op.dstBanks {
		if r != noBank {
			col.written |= 1 << col.bankOf(r, f.warp, f.sched)
		}
	}
}
