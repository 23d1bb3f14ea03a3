package compile

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
)

// This file: registers. Values that share a register, or need neighbouring ones, form a bundle; copies
// join bundles where nothing speaks against it; then each bundle gets the first registers that are
// free wherever its values are needed.

// stay is a piece of code in which a register has a value. Copies of a value are the same one, and do
// not disturb each other: root is what they are copies of.
type stay struct {
	segment
	root *ir.Value
}

// lane are the stays in one register in ascending order; no two overlap.
type lane []stay

// bundle is what gets registers together.
type bundle struct {
	class ir.Class
	slots []lane // of 1, 2 or 4 neighbouring registers; as many as the first number must be a multiple of
	vals  []member
	seen  bool          // it is in the list of what gets registers
	from  int           // where it is needed first
	busy  []ranges      // by slot: where it is needed
	avoid []registerSet // by slot: registers that it must not have, nil if it may have all
	again int           // 1 + the first of the registers that spread chooses, 0 before
}

type member struct {
	v    *ir.Value
	slot int
}

// allocator gives the values of a function registers.
type allocator struct {
	f     *ir.Func
	live  *liveness
	of    []*bundle // by value
	slot  []int     // by value
	busy  [ir.Classes][]ranges
	wish  []int          // by value: the register that a call wants it in, 0 if none does
	avoid []*registerSet // by value: registers of routines that are called while it is needed, nil without routines
}

// allocate gives every value a register. groups come from isolate.
func allocate(f *ir.Func, groups []group, m *machine.Machine) {
	a := &allocator{f: f, live: findLive(f), of: make([]*bundle, len(f.Values)), slot: make([]int, len(f.Values)), wish: wishes(f)}
	a.begin()
	for _, g := range groups {
		a.group(g)
	}
	a.coalesce()
	a.color(m)
}

// begin gives each value a bundle of its own.
func (a *allocator) begin() {
	n := len(a.f.Values)
	segments := 0
	for _, r := range a.live.of {
		segments += len(r)
	}
	bundles, lanes, members, stays := make([]bundle, n), make([]lane, n), make([]member, n), make(lane, 0, segments)
	for i, v := range a.f.Values {
		if r := a.live.of[i]; len(r) > 0 {
			root, from := copied(v), len(stays)
			for _, s := range r {
				stays = append(stays, stay{s, root})
			}
			lanes[i] = stays[from:len(stays):len(stays)]
		}
		members[i].v = v
		bundles[i] = bundle{class: v.Class, slots: lanes[i : i+1 : i+1], vals: members[i : i+1 : i+1]}
		a.of[i] = &bundles[i]
	}
}

// group puts values where they must be.
func (a *allocator) group(g group) {
	all := &bundle{class: g[0][0].Class, slots: make([]lane, len(g))}
	for n, row := range g {
		for _, v := range row {
			if !a.join(all, a.of[v.ID], n) {
				stop("the register allocator", fmt.Sprintf("cannot place %s, a fault of the compiler", v))
			}
		}
	}
}

// join puts what is in one bundle into another, from a slot on, if nothing overlaps.
func (a *allocator) join(to, from *bundle, at int) bool {
	if to == from {
		return false
	}
	if at < 0 {
		return a.join(from, to, -at)
	}
	size := max(len(to.slots), at+len(from.slots))
	if size == 3 {
		size = 4
	}
	if size > 4 || at%len(from.slots) != 0 || to.class != from.class {
		return false
	}
	for i, l := range from.slots {
		if at+i < len(to.slots) && disturb(to.slots[at+i], l) {
			return false
		}
	}
	for len(to.slots) < size {
		to.slots = append(to.slots, nil)
	}
	for i, r := range from.slots {
		to.slots[at+i] = unite(to.slots[at+i], r)
	}
	for _, m := range from.vals {
		a.of[m.v.ID], a.slot[m.v.ID] = to, m.slot+at
		to.vals = append(to.vals, member{m.v, m.slot + at})
	}
	return true
}

// copied is what a value is a copy of in the end.
func copied(v *ir.Value) *ir.Value {
	for v.Def != nil && v.Def.Name == ir.Copy {
		n := len(v.Def.Args) / 2
		next := v
		for i := range n {
			if s := v.Def.Args[n+i].Vals; v.Def.Args[i].Vals[0] == v && len(s) == 1 && s[0] != nil && !v.Def.Args[n+i].Not {
				next = s[0]
			}
		}
		if next == v {
			break
		}
		v = next
	}
	return v
}

// after is the place of the first stay that ends after a number.
func (l lane) after(at int) int {
	return sort.Search(len(l), func(i int) bool { return l[i].to > at })
}

// disturb reports whether two different values are needed in one register at once.
func disturb(x, y lane) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) == 0 {
		return false
	}
	j := y.after(x[0].from)
	for i := 0; i < len(x) && j < len(y); {
		switch {
		case x[i].to <= y[j].from:
			i++
		case y[j].to <= x[i].from:
			j++
		case x[i].root != y[j].root:
			return true
		case x[i].to < y[j].to:
			i++
		default:
			j++
		}
	}
	return false
}

// unite is what is needed in a register that takes both, which do not disturb each other. It changes
// the longer one.
func unite(x, y lane) lane {
	if len(x) < len(y) {
		x, y = y, x
	}
	if len(y) == 0 {
		return x
	}
	from := x.after(y[0].from - 1)
	to := from
	for to < len(x) && x[to].from <= y[len(y)-1].to {
		to++
	}
	var mixed lane
	for a, z := x[from:to], y; len(a) > 0 || len(z) > 0; {
		next := &a
		if len(a) == 0 || len(z) > 0 && z[0].from < a[0].from {
			next = &z
		}
		s := (*next)[0]
		*next = (*next)[1:]
		if n := len(mixed); n > 0 && mixed[n-1].root == s.root && mixed[n-1].to >= s.from {
			mixed[n-1].to = max(mixed[n-1].to, s.to)
		} else {
			mixed = append(mixed, s)
		}
	}
	return slices.Replace(x, from, to, mixed...)
}

// ranges are where a register is needed.
func (l lane) ranges() ranges {
	var out ranges
	for _, s := range l {
		if n := len(out); n > 0 && out[n-1].to == s.from {
			out[n-1].to = s.to
		} else {
			out = append(out, s.segment)
		}
	}
	return out
}

// coalesce makes copies disappear, those in loops first.
func (a *allocator) coalesce() {
	type pair struct {
		d, s   *ir.Value
		weight int
	}
	var list []pair
	g := a.f.Graph()
	for _, b := range a.f.Blocks {
		weight := 1
		for range min(g.Depth(b.ID), 6) {
			weight *= 10
		}
		for _, in := range b.Insts {
			switch {
			case in.Name == ir.Copy:
				n := len(in.Args) / 2
				for i := range n {
					if s := in.Args[n+i].Vals; len(s) == 1 && s[0] != nil {
						list = append(list, pair{in.Args[i].Vals[0], s[0], weight})
					}
				}
			case in.Name == "MOV" && in.Guard.Val == nil && in.Args[1].Kind == ir.Reg && in.Args[1].Vals[0] != nil:
				list = append(list, pair{in.Args[0].Vals[0], in.Args[1].Vals[0], weight})
			}
		}
	}
	slices.SortStableFunc(list, func(x, y pair) int { return y.weight - x.weight })
	for _, p := range list {
		to, from := a.of[p.d.ID], a.of[p.s.ID]
		at := a.slot[p.d.ID] - a.slot[p.s.ID]
		if at == 0 && len(from.vals) > len(to.vals) { // the smaller one moves
			to, from = from, to
		}
		a.join(to, from, at)
	}
}

// firstUniform is the first uniform register that is chosen: UR4 and UR5 have the descriptor of global
// memory, and compilers leave those before.
const firstUniform = 6

// color chooses the registers: first what calls want in one of them, then wide bundles, then in the order of the code.
func (a *allocator) color(m *machine.Machine) {
	var list []*bundle
	for _, v := range a.f.Values {
		if b := a.of[v.ID]; !b.seen && !b.empty() {
			b.seen, b.from, b.busy = true, b.begin(), b.ranges()
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(x, y *bundle) int {
		return cmp.Or(a.wishes(y)-a.wishes(x), len(y.slots)-len(x.slots), cmp.Compare(x.from, y.from))
	})
	if a.avoid = a.crossed(m); a.avoid != nil {
		for _, b := range list {
			b.avoid = a.avoided(b)
		}
	}
	limit := [ir.Classes]int{ir.GPR: m.Registers, ir.Pred: m.Predicates, ir.UGPR: m.Uniform}
	for c, n := range limit {
		a.busy[c] = make([]ranges, n)
	}
	for r := range firstUniform {
		a.busy[ir.UGPR][r] = ranges{{0, 1 << 60}}
	}
	for r := range a.f.Reserved {
		a.busy[ir.GPR][r] = ranges{{0, 1 << 60}}
	}
	if sp := a.stack(); sp != nil {
		list = slices.DeleteFunc(list, func(b *bundle) bool { return b == sp })
		for _, m := range sp.vals {
			m.v.Reg = stackRegister
		}
	}
	used := 0
	for _, b := range list {
		if !a.place(b) {
			stop(tooMany(b.class, limit[b.class]), "at once, which "+notYet)
		}
		if b.class == ir.GPR {
			used = max(used, b.vals[0].v.Reg-b.vals[0].slot+len(b.slots))
		}
	}
	if a.f.IsRoutine {
		return
	}
	granule := (used+m.Reserved+m.Granule-1)/m.Granule*m.Granule - m.Reserved
	a.spread(list, min(granule, m.Registers), m.Banks)
}

// stack is what can stay in the register of the stack pointer: the one that all calls name, nil if they name several.
func (a *allocator) stack() (found *bundle) {
	for _, b := range a.f.Blocks {
		for _, in := range b.Insts {
			if v := stackOf(in); v != nil {
				if x := a.of[v.ID]; len(x.slots) > 1 || found != nil && found != x {
					return nil
				} else {
					found = x
				}
			}
		}
	}
	return found
}

// spread chooses the general registers again, among n, as many as a thread gets anyway: of those in the bank that
// the fewest other operands have, the one whose last value was needed the longest time before, so that fewer
// instructions wait for others that read them. If that does not fit, the first choice stays.
func (a *allocator) spread(list []*bundle, n, banks int) {
	busy := make([]ranges, n)
	for r := range min(a.f.Reserved, n) {
		busy[r] = ranges{{0, 1 << 60}}
	}
	var placed []*bundle
	operands, last := a.operands()
	crowd := make([]int, banks) // by bank of the first register: operands that would share a bank
	for _, b := range list {
		if b.class != ir.GPR {
			continue
		}
		clear(crowd)
		for _, m := range b.vals {
			for i := last[m.v.ID]; i > 0; i = operands[i-1].before {
				w := operands[i-1].with
				if r := a.of[w].again - 1; r >= 0 {
					crowd[((r+a.slot[w]-m.slot)%banks+banks)%banks]++
				}
			}
		}
		r := a.wished(b, busy)
		if r < 0 {
			r = b.longest(busy, crowd)
		}
		if r < 0 {
			return
		}
		for i, x := range b.busy {
			busy[r+i] = busy[r+i].with(x)
		}
		b.again = r + 1
		placed = append(placed, b)
	}
	for _, b := range placed {
		for _, m := range b.vals {
			m.v.Reg = b.again - 1 + m.slot
		}
	}
}

// neighbour is another register that an instruction of fixed latency reads with a value: two of one bank take a cycle
// more.
type neighbour struct{ with, before int32 } // the other value, and 1 + the place of the value's neighbour before this one

// operands are the neighbours of all values; last is, by value, 1 + the place of its last one.
func (a *allocator) operands() (list []neighbour, last []int32) {
	last = make([]int32, len(a.f.Values))
	var read []*ir.Value
	for _, b := range a.f.Blocks {
		for _, in := range b.Insts {
			read = read[:0]
			for i := range in.Args {
				if x := in.Args[i].Vals; !in.Args[i].Dst && len(x) == 1 && x[0] != nil && x[0].Class == ir.GPR {
					read = append(read, x[0])
				}
			}
			if len(read) < 2 || machine.ClassOf(in.Name).Late() {
				continue
			}
			for _, v := range read {
				for _, w := range read {
					if v != w {
						list = append(list, neighbour{int32(w.ID), last[v.ID]})
						last[v.ID] = int32(len(list))
					}
				}
			}
		}
	}
	return list, last
}

// longest is the first of neighbouring registers that are free and have been so the longest, of those whose bank is
// the least crowded; -1 if there are none.
func (b *bundle) longest(busy []ranges, crowd []int) int {
	all := b.busy
	best, since, least := -1, 0, 0
next:
	for r := 0; r+len(b.slots) <= len(busy); r += len(b.slots) {
		free := 1 << 60
		for i, x := range all {
			if len(x) == 0 {
				continue
			}
			if busy[r+i].overlaps(x) || b.avoids(i, r) {
				continue next
			}
			k := sort.Search(len(busy[r+i]), func(k int) bool { return busy[r+i][k].to > x[0].from })
			if k > 0 {
				free = min(free, x[0].from-busy[r+i][k-1].to)
			}
		}
		c := crowd[r%len(crowd)]
		if best < 0 || c < least || c == least && free > since {
			best, since, least = r, free, c
		}
	}
	return best
}

// wishes is 1 if a call wants a bundle in some registers.
func (a *allocator) wishes(b *bundle) int {
	if a.wish != nil && slices.ContainsFunc(b.vals, func(m member) bool { return a.wish[m.v.ID] > 0 }) {
		return 1
	}
	return 0
}

// wished is the first of the registers that a call wants a bundle in, if they are free, else -1.
func (a *allocator) wished(b *bundle, busy []ranges) int {
	if a.wish == nil || b.class != ir.GPR {
		return -1
	}
	for _, m := range b.vals {
		if r := a.wish[m.v.ID] - m.slot; a.wish[m.v.ID] > 0 && r%len(b.slots) == 0 && r+len(b.slots) <= len(busy) && b.fits(busy, r) {
			return r
		}
	}
	return -1
}

// tooMany is why a kernel is refused that needs more than n registers of a class.
func tooMany(c ir.Class, n int) string {
	return fmt.Sprintf("more than %d %s", n, [ir.Classes]string{"registers", "predicates", "uniform registers"}[c])
}

// place gives a bundle the registers that a call wants it in, or else the first that are free.
func (a *allocator) place(b *bundle) bool {
	busy := a.busy[b.class]
	r := a.wished(b, busy)
	if r < 0 {
		for r = 0; !b.fits(busy, r); r += len(b.slots) {
			if r >= len(busy) {
				return false
			}
		}
	}
	for i, x := range b.busy {
		if len(x) > 0 {
			busy[r+i] = busy[r+i].with(x)
		}
	}
	for _, m := range b.vals {
		m.v.Reg = r + m.slot
	}
	return true
}

// ranges are where the registers of a bundle are needed.
func (b *bundle) ranges() []ranges {
	all := make([]ranges, len(b.slots))
	for i, l := range b.slots {
		all[i] = l.ranges()
	}
	return all
}

// fits reports whether a bundle may have the registers from number r on: they are free.
func (b *bundle) fits(busy []ranges, r int) bool {
	for i, x := range b.busy {
		if len(x) > 0 && (r+i >= len(busy) || busy[r+i].overlaps(x) || b.avoids(i, r)) {
			return false
		}
	}
	return true
}

// avoids reports whether slot i must not be in register r + i.
func (b *bundle) avoids(i, r int) bool {
	return b.avoid != nil && b.avoid[i].has(registerOf(&ir.Value{Class: b.class, Reg: r + i}))
}

// avoided are, by slot, the registers that a bundle must not have, nil if it may have all.
func (a *allocator) avoided(b *bundle) (list []registerSet) {
	for _, m := range b.vals {
		if set := a.avoid[m.v.ID]; set != nil {
			if list == nil {
				list = make([]registerSet, len(b.slots))
			}
			list[m.slot].include(set)
		}
	}
	return list
}

func (b *bundle) empty() bool {
	return !slices.ContainsFunc(b.slots, func(l lane) bool { return len(l) > 0 })
}

func (b *bundle) begin() int {
	n := 1 << 60
	for _, l := range b.slots {
		if len(l) > 0 {
			n = min(n, l[0].from)
		}
	}
	return n
}
