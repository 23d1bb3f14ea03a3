package flow

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what an assembler for machine code removes from code with any number of registers: what
// computes values that nobody reads, and copies whose two registers can be one.

// mostWords bounds the sets of live registers of a function: 32 MiB. It is enough for 20,000 instructions
// in blocks of ten with 64,000 registers. Our choice.
const mostWords = 1 << 22

// bitset is a set of registers.
type bitset []uint64

func (s bitset) has(n uint32) bool { return s[n/64]>>(n%64)&1 != 0 }
func (s bitset) add(n uint32)      { s[n/64] |= 1 << (n % 64) }
func (s bitset) drop(n uint32)     { s[n/64] &^= 1 << (n % 64) }

// lives walks over the live registers of a function. Of the registers of its code it knows the general
// ones, and from base on the predicates.
type lives struct {
	code  []isa.Inst
	g     *Graph
	base  uint32
	words int
	out   []bitset // by block: live where it ends
	now   bitset   // during a walk
}

// newLives returns nil if the function is too large.
func newLives(code []isa.Inst, g *Graph) *lives {
	l := &lives{code: code, g: g}
	preds := uint32(0)
	for i := range code {
		for _, list := range [2][]isa.Reg{code[i].Dsts, code[i].Srcs} {
			for _, r := range list {
				switch end := r.Index + uint32(r.Count); r.File {
				case isa.RegGPR:
					l.base = max(l.base, end)
				case isa.RegPred:
					preds = max(preds, end)
				}
			}
		}
	}
	l.words = int(l.base+preds)/64 + 1
	if l.words*(len(g.Blocks)+1) > mostWords {
		return nil
	}
	l.now = make(bitset, l.words)
	l.out = make([]bitset, len(g.Blocks))
	all := make(bitset, l.words*len(g.Blocks))
	for b := range l.out {
		l.out[b] = all[b*l.words : (b+1)*l.words]
	}
	return l
}

// each calls f with the number of each 32-bit register and predicate of a list.
func (l *lives) each(list []isa.Reg, f func(n uint32)) {
	for _, r := range list {
		base := uint32(0)
		switch r.File {
		case isa.RegPred:
			base = l.base
		case isa.RegGPR:
		default:
			continue
		}
		for i := range uint32(r.Count) {
			f(base + r.Index + i)
		}
	}
}

// walk goes backwards through a block from what is live where it ends. At calls visit before each
// instruction takes effect on the set; if it reports true the instruction is left out.
func (l *lives) walk(b int, visit func(pc int) bool) {
	copy(l.now, l.out[b])
	blk := &l.g.Blocks[b]
	for pc := blk.Last; pc >= blk.First; pc-- {
		if visit != nil && visit(pc) {
			continue
		}
		in := &l.code[pc]
		if !in.Guarded { // otherwise the old value may remain
			l.each(in.Dsts, l.now.drop)
		}
		l.each(in.Srcs, l.now.add)
	}
}

// solve finds what is live at the ends of all blocks. Skip is as visit in walk.
func (l *lives) solve(skip func(pc int) bool) {
	for b := range l.out {
		clear(l.out[b])
	}
	rpo := l.g.ReversePostOrder()
	for again := true; again; {
		again = false
		for i := len(rpo) - 1; i >= 0; i-- {
			b := rpo[i]
			l.walk(b, skip)
			for _, p := range l.g.Blocks[b].Preds {
				for k, x := range l.now {
					if y := l.out[p][k]; x&^y != 0 {
						l.out[p][k], again = y|x, true
					}
				}
			}
		}
	}
}

// Dead returns, by pc, the instructions that write only registers that nobody reads afterwards, among
// those that pure allows, which do nothing else. Of registers it regards general ones and predicates. It
// is nil if the function is too large to tell.
func Dead(code []isa.Inst, g *Graph, pure func(pc int) bool) []bool {
	l := newLives(code, g)
	if l == nil {
		return nil
	}
	dead := make([]bool, len(code))
	for again := true; again; {
		again = false
		l.solve(func(pc int) bool { return dead[pc] })
		for _, b := range g.rpo {
			l.walk(b, func(pc int) bool {
				if dead[pc] || !pure(pc) {
					return dead[pc]
				}
				read := false
				l.each(code[pc].Dsts, func(n uint32) { read = read || l.now.has(n) })
				dead[pc] = !read
				again = again || dead[pc]
				return dead[pc]
			})
		}
	}
	return dead
}

// Copy is an instruction that copies general registers one to one.
type Copy struct {
	PC       int
	Dst, Src []uint32 // as isa.Reg.Index, of 32 bits each, of equal length
}

// Place is where a register stands in a vector of consecutive ones, that an instruction names.
type Place struct{ At, Of int }

// fits reports whether a register can have two places. Vectors begin at a multiple of their length, the
// next power of two.
func (p Place) fits(q Place) bool {
	if p.Of == 0 || q.Of == 0 {
		return true
	}
	n := min(p.Of, q.Of)
	for n&(n-1) != 0 {
		n &= n - 1
	}
	return p.At%n == q.At%n
}

// Coalesced is the result of Coalesce.
type Coalesced struct {
	As   map[uint32]uint32 // the register that stands for another one
	Gone []bool            // by pc: copies whose registers are one
}

// Root returns the register that stands for one.
func (c *Coalesced) Root(r uint32) uint32 {
	if a, ok := c.As[r]; ok {
		return a
	}
	return r
}

// Coalesce finds copies whose registers can be one: nowhere is one of them, or of those that are the same
// as they already, written while the other has a value that is still read (Chaitin, Register allocation and
// spilling via graph coloring, 1982). Copies in inner loops come first, then those that come first in the code. Places has the
// places of registers in vectors; registers whose places differ stay two. It is nil if the function is too
// large.
func Coalesce(code []isa.Inst, g *Graph, copies []Copy, places map[uint32]Place) *Coalesced {
	l := newLives(code, g)
	if l == nil {
		return nil
	}
	c := newColours(l, copies)
	if c == nil {
		return nil
	}
	l.solve(nil)
	for _, b := range g.rpo {
		l.walk(b, func(pc int) bool { c.interfere(l, pc); return false })
	}
	c.mirror()
	for n, r := range c.regs {
		c.place[n] = places[r]
	}
	order := slices.Clone(copies)
	slices.SortStableFunc(order, func(a, b Copy) int {
		return cmp.Or(g.Depth(g.BlockOf(b.PC))-g.Depth(g.BlockOf(a.PC)), a.PC-b.PC)
	})
	res := &Coalesced{As: map[uint32]uint32{}, Gone: make([]bool, len(code))}
	for _, x := range order {
		if g.Reachable(g.BlockOf(x.PC)) {
			res.Gone[x.PC] = c.join(x)
		}
	}
	for n, r := range c.regs {
		if to := c.regs[c.root(int32(n))]; to != r {
			res.As[r] = to
		}
	}
	return res
}

// colours are the registers of copies, and which of them have values at the same time.
type colours struct {
	regs  []uint32         // by number
	num   map[uint32]int32 // the number of a register
	from  map[int][]Copy   // by pc
	words int
	with  []bitset // by number: those that it cannot be
	as    []int32
	place []Place
	mine  bitset // buffer
}

func newColours(l *lives, copies []Copy) *colours {
	c := &colours{num: map[uint32]int32{}, from: map[int][]Copy{}}
	for _, x := range copies {
		c.from[x.PC] = append(c.from[x.PC], x)
		for _, list := range [2][]uint32{x.Dst, x.Src} {
			for _, r := range list {
				if _, ok := c.num[r]; !ok {
					c.num[r] = int32(len(c.regs))
					c.regs = append(c.regs, r)
				}
			}
		}
	}
	n := len(c.regs)
	c.words = n/64 + 1
	if n*c.words > mostWords || n*len(l.code) > 64*mostWords {
		return nil
	}
	all := make(bitset, n*c.words)
	for i := range n {
		c.with = append(c.with, all[i*c.words:(i+1)*c.words])
		c.as = append(c.as, int32(i))
	}
	c.place, c.mine = make([]Place, n), make(bitset, c.words)
	return c
}

// interfere notes that what an instruction writes differs from what is live after it, except that a copy
// writes what its source has.
func (c *colours) interfere(l *lives, pc int) {
	in := &l.code[pc]
	live := false
	for _, d := range in.Dsts {
		if d.File != isa.RegGPR {
			continue
		}
		for r := d.Index; r < d.Index+uint32(d.Count); r++ {
			n, ok := c.num[r]
			if !ok {
				continue
			}
			if !live {
				c.gather(l, in)
				live = true
			}
			src := int32(-1)
			if !in.Guarded {
				for _, x := range c.from[pc] {
					if i := slices.Index(x.Dst, r); i >= 0 {
						src = c.num[x.Src[i]]
					}
				}
			}
			had := src >= 0 && c.with[n].has(uint32(src))
			for i, w := range c.mine {
				c.with[n][i] |= w
			}
			c.with[n].drop(uint32(n))
			if src >= 0 && !had {
				c.with[n].drop(uint32(src))
			}
		}
	}
}

// gather collects what is live after an instruction, and what it writes.
func (c *colours) gather(l *lives, in *isa.Inst) {
	clear(c.mine)
	for n, r := range c.regs {
		if l.now.has(r) {
			c.mine.add(uint32(n))
		}
	}
	for _, d := range in.Dsts {
		if d.File != isa.RegGPR {
			continue
		}
		for r := d.Index; r < d.Index+uint32(d.Count); r++ {
			if n, ok := c.num[r]; ok {
				c.mine.add(uint32(n))
			}
		}
	}
}

// mirror makes the relation symmetric.
func (c *colours) mirror() {
	for a := range c.with {
		for i, w := range c.with[a] {
			for ; w != 0; w &= w - 1 {
				c.with[64*i+bits.TrailingZeros64(w)].add(uint32(a))
			}
		}
	}
}

func (c *colours) root(n int32) int32 {
	for c.as[n] != n {
		c.as[n] = c.as[c.as[n]]
		n = c.as[n]
	}
	return n
}

// join makes the registers of a copy one if it can, and reports whether they are.
func (c *colours) join(x Copy) bool {
	for i := range x.Dst {
		a, b := c.root(c.num[x.Dst[i]]), c.root(c.num[x.Src[i]])
		if a != b && (c.with[a].has(uint32(b)) || !c.place[a].fits(c.place[b])) {
			return false
		}
	}
	for i := range x.Dst {
		a, b := c.root(c.num[x.Dst[i]]), c.root(c.num[x.Src[i]])
		if a == b {
			continue
		}
		if c.with[a].has(uint32(b)) { // because of a half that has just been joined
			return false
		}
		c.merge(a, b)
	}
	return true
}

// merge lets b stand for a.
func (c *colours) merge(a, b int32) {
	c.as[a] = b
	for i, w := range c.with[a] {
		c.with[b][i] |= w
		for ; w != 0; w &= w - 1 {
			c.with[c.root(int32(64*i+bits.TrailingZeros64(w)))].add(uint32(b))
		}
	}
	if c.place[b].Of < c.place[a].Of {
		c.place[b] = c.place[a]
	}
}
