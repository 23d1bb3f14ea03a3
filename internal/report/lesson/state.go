package lesson

import "math/bits"

// State is the state after some of a lesson's steps.
type State struct {
	Cycle  uint64         // of the last step
	Values [][][32]uint32 // by warp and cell
	Words  []int64        // by word; -1 if it is not known
	Groups []*Group       // by warp; nil before the first
}

// State returns the state after n steps, in the way in which the page finds it.
func (l *Lesson) State(n int) *State {
	s := &State{Values: make([][][32]uint32, len(l.Warps)), Groups: make([]*Group, len(l.Warps))}
	for w := range s.Values {
		for _, r := range l.Cells {
			s.Values[w] = append(s.Values[w], make([][32]uint32, cells(r.Bits))...)
		}
	}
	s.Words = append(s.Words, l.Words.First...)
	value, data, store := 0, 0, 0
	for i := range n {
		s.Cycle += l.Steps.Cycle[i]
		for range l.Steps.Values[i] {
			data += l.put(&s.Values[l.Steps.Warp[i]][l.Values.Cell[value]], value, data)
			value++
		}
		for range l.Steps.Stores[i] {
			s.Words[l.Stores.Word[store]] = int64(l.Stores.Value[store])
			store++
		}
	}
	for i := range l.Groups {
		if g := &l.Groups[i]; g.Step < n {
			s.Groups[g.Warp] = g
		}
	}
	return s
}

// put sets a cell to a row of Values, whose data are from a place on, and returns their number.
func (l *Lesson) put(to *[32]uint32, row, from int) int {
	n := 0
	d := l.Values.Data[from:]
	for m := l.Values.Lanes[row]; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		switch l.Values.Form[row] {
		case Equal:
			to[lane] = d[0]
		case Rising:
			to[lane] = d[0] + uint32(n)*d[1]
		case Each:
			to[lane] = d[n]
		case Bits:
			to[lane] = d[0] >> lane & 1
		}
		n++
	}
	switch l.Values.Form[row] {
	case Rising:
		return 2
	case Each:
		return n
	}
	return 1
}
