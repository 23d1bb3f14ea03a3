package lesson

import (
	"math/bits"
	"slices"
)

// Recorder makes a Lesson. It is used by one goroutine at a time.
type Recorder struct {
	Lesson
	most  int
	cycle uint64 // of the last step
	full  bool

	cells  int // so far
	byName map[regKey]int
	warps  map[int]*warpState // by number
	words  map[place]int
	now    []uint32 // value of each word

	// The step that is open.
	open         bool
	warp         *warpState
	values, sets int // rows before it
}

// regKey names a register.
type regKey struct{ function, name string }

// place is a word of memory.
type place struct {
	space int
	addr  uint64
}

// warpState is the last known state of a warp.
type warpState struct {
	index  int
	values [][32]uint32 // by cell
	group  Group
	seen   bool // group was recorded
}

// NewRecorder starts a lesson of at most so many steps.
func NewRecorder(most int) *Recorder {
	r := &Recorder{most: most, byName: map[regKey]int{}, warps: map[int]*warpState{}, words: map[place]int{}}
	r.Values.Data = make([]uint32, 0, 8*most) // most of a lesson: less copying while it grows
	return r
}

// Full reports whether no further step fits. The lesson is then not complete.
func (r *Recorder) Full() bool { return r.full }

// Register returns the index of a register, which is new if its name is.
func (r *Recorder) Register(function, name, typ string, bits int) int {
	k := regKey{function, name}
	i, ok := r.byName[k]
	if !ok {
		i = len(r.Cells)
		r.byName[k] = i
		r.Cells = append(r.Cells, Register{Name: name, Type: typ, Bits: bits, Cell: r.cells, Function: function})
		r.cells += cells(bits)
	}
	return i
}

// Warp makes a warp known, by its number.
func (r *Recorder) Warp(number int) {
	if r.warps[number] == nil {
		r.warps[number] = &warpState{index: len(r.Warps)}
		r.Warps = append(r.Warps, number)
	}
}

// Step begins a step of a warp, by its number; -1 is none. It reports whether it fits; if not, nothing
// more is recorded. A step of kind Arrival in which nothing changes is dropped by the next call.
func (r *Recorder) Step(cycle uint64, kind, warp, at int, active, lanes uint32) bool {
	r.Close()
	if r.full || len(r.Steps.Kind) >= r.most {
		r.full = true
		return false
	}
	index := -1
	r.warp = nil
	if warp >= 0 {
		r.Warp(warp)
		r.warp = r.warps[warp]
		index = r.warp.index
	}
	s := &r.Steps
	s.Cycle, s.Kind, s.Warp, s.At = append(s.Cycle, cycle-r.cycle), append(s.Kind, kind), append(s.Warp, index), append(s.At, at)
	s.Active, s.Lanes = append(s.Active, active), append(s.Lanes, lanes)
	s.Values, s.Stores = append(s.Values, 0), append(s.Stores, 0)
	r.open, r.values, r.sets = true, len(r.Values.Cell), len(r.Groups)
	return true
}

// Close ends the open step.
func (r *Recorder) Close() {
	if !r.open {
		return
	}
	r.open = false
	s := &r.Steps
	last := len(s.Kind) - 1
	if s.Kind[last] == Arrival && s.Values[last] == 0 && s.Stores[last] == 0 && len(r.Groups) == r.sets {
		for _, c := range []*[]int{&s.Kind, &s.Warp, &s.At, &s.Values, &s.Stores} {
			*c = (*c)[:last]
		}
		s.Cycle, s.Active, s.Lanes = s.Cycle[:last], s.Active[:last], s.Lanes[:last]
		return
	}
	r.cycle += s.Cycle[last]
}

// Started ends the steps that set the start up.
func (r *Recorder) Started() {
	r.Close()
	r.Begin = len(r.Steps.Kind)
}

// Value shows a register of the open step's warp: lo and, above 64 bits, hi by lane, of which the
// given lanes count. What differs from the last value becomes part of the step.
func (r *Recorder) Value(reg int, lanes uint32, lo, hi *[32]uint64) {
	if !r.open || r.warp == nil {
		return
	}
	x := &r.Cells[reg]
	for i := range cells(x.Bits) {
		var v [32]uint32
		from := lo
		if i >= 2 {
			from = hi
		}
		for l := range v {
			v[l] = uint32(from[l] >> (32 * (i & 1)))
		}
		r.cell(x.Cell+i, x.Bits == 1, lanes, &v)
	}
}

// Cell shows a cell of the open step's warp whose register has only this one. It is Value for callers that have
// it at hand.
func (r *Recorder) Cell(reg int, lanes uint32, v *[32]uint32) {
	if r.open && r.warp != nil {
		x := &r.Cells[reg]
		r.cell(x.Cell, x.Bits == 1, lanes, v)
	}
}

// Last returns the last value of a cell that was shown, of a warp by its number; false if there is none.
func (r *Recorder) Last(warp, cell int) ([32]uint32, bool) {
	if w := r.warps[warp]; w != nil && cell < len(w.values) {
		return w.values[cell], true
	}
	return [32]uint32{}, false
}

// cell compares a cell of the open step's warp.
func (r *Recorder) cell(cell int, predicate bool, lanes uint32, v *[32]uint32) {
	w := r.warp
	for len(w.values) <= cell {
		w.values = append(w.values, [32]uint32{})
	}
	old := &w.values[cell]
	changed := uint32(0)
	for l := range v {
		if lanes>>l&1 != 0 && v[l] != old[l] {
			changed |= 1 << l
			old[l] = v[l]
		}
	}
	if changed == 0 {
		return
	}
	x := &r.Values
	form, data := pack(predicate, changed, v)
	x.Cell, x.Lanes, x.Form, x.Data = append(x.Cell, cell), append(x.Lanes, changed), append(x.Form, form), append(x.Data, data...)
	r.Steps.Values[len(r.Steps.Values)-1]++
}

// pack returns the shortest form of the values of some lanes.
func pack(predicate bool, lanes uint32, v *[32]uint32) (form int, data []uint32) {
	if predicate {
		m := uint32(0)
		for l := range v {
			m |= v[l] & 1 << l
		}
		return Bits, []uint32{m}
	}
	for m := lanes; m != 0; m &= m - 1 {
		data = append(data, v[bits.TrailingZeros32(m)])
	}
	rising := len(data) > 1
	for i := 1; i < len(data); i++ {
		rising = rising && data[i]-data[i-1] == data[1]-data[0]
	}
	switch {
	case len(data) == 1 || rising && data[0] == data[1]:
		return Equal, data[:1]
	case rising && len(data) > 2:
		return Rising, []uint32{data[0], data[1] - data[0]}
	}
	return Each, data
}

// Word shows a word of memory. If it has never been seen, first is its value at the start, -1 if that
// is not known. A new value becomes part of the open step.
func (r *Recorder) Word(space int, addr uint64, value uint32, first int64) {
	if !r.open {
		return
	}
	p := place{space, addr}
	i, ok := r.words[p]
	if !ok {
		if i = len(r.now); i == MostWords {
			return
		}
		r.words[p] = i
		r.Words.Space, r.Words.Addr, r.Words.First = append(r.Words.Space, space), append(r.Words.Addr, addr), append(r.Words.First, first)
		r.now = append(r.now, uint32(max(first, 0)))
		ok = first >= 0
	}
	if ok && r.now[i] == value {
		return
	}
	r.now[i] = value
	r.Stores.Word, r.Stores.Value = append(r.Stores.Word, i), append(r.Stores.Value, value)
	r.Steps.Stores[len(r.Steps.Stores)-1]++
}

// Group shows how the lanes of the open step's warp stand. Only a change is recorded.
func (r *Recorder) Group(g Group) {
	if !r.open || r.warp == nil {
		return
	}
	g.Step, g.Warp = len(r.Steps.Kind)-1, r.warp.index
	o := &r.warp.group
	if r.warp.seen && o.Live == g.Live && o.State == g.State && slices.Equal(o.Sets, g.Sets) && slices.Equal(o.Joins, g.Joins) && slices.Equal(o.Calls, g.Calls) {
		return
	}
	r.warp.group, r.warp.seen = g, true
	r.Groups = append(r.Groups, g)
}

// Result ends the lesson. Whole says that the run has come to its end.
func (r *Recorder) Result(whole bool) *Lesson {
	r.Close()
	r.Complete = whole && !r.full
	return &r.Lesson
}
