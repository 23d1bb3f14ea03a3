package replay

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// survey is what a pass over all records shows about the static instructions: which
// follows which, and which ran with fewer lanes than their neighbours.
type survey struct {
	count []uint64
	// next are the first few distinct successors of an instruction in a warp, more the
	// others.
	next [][4]int32
	more map[int32][]int32
	// guarded instructions ran without some lanes that the previous and the next
	// instruction had, or with no lane at all.
	guarded []bool
	// last was a warp's last record.
	last []bool
}

// survey reads all blocks once.
func (w *Work) survey() (*survey, error) {
	n := len(w.stat)
	s := &survey{count: make([]uint64, n), next: make([][4]int32, n), more: map[int32][]int32{}, guarded: make([]bool, n), last: make([]bool, n)}
	for i := range s.next {
		s.next[i] = [4]int32{-1, -1, -1, -1}
	}
	for i := range w.k.Present {
		b, err := w.k.Blocks.Block(i)
		if err != nil {
			return nil, err
		}
		x := block{w: w, rec: b, warps: make([]warp, (w.Threads()+31)/32)}
		if err := x.check(); err != nil {
			w.k.Blocks.Free(b)
			return nil, err
		}
		for _, v := range b.Warps {
			list := b.Insts[v.From:v.Upto]
			for j := range list {
				r := &list[j]
				s.count[r.At]++
				if r.Mask == 0 || r.Mask != r.Active {
					s.guarded[r.At] = true
				}
				if j+1 == len(list) {
					s.last[r.At] = true
					continue
				}
				s.edge(r.At, list[j+1].At)
				if j > 0 && w.stat[r.At].inst.Flow == isa.FlowNext && r.Mask != list[j-1].Mask && r.Mask&^list[j-1].Mask == 0 &&
					list[j+1].Mask&^r.Mask != 0 && list[j+1].Mask&^list[j-1].Mask == 0 && w.straight(list[j-1].At, r.At) && w.straight(r.At, list[j+1].At) {
					s.guarded[r.At] = true
				}
			}
		}
		w.k.Blocks.Free(b)
	}
	return s, nil
}

// straight reports whether b directly follows a and a does not change control flow.
func (w *Work) straight(a, b int32) bool {
	return w.stat[b].at == w.stat[a].at+1 && w.stat[a].inst.Class != isa.ClassBranch
}

func (s *survey) edge(a, b int32) {
	e := &s.next[a]
	for i := range e {
		switch e[i] {
		case b:
			return
		case -1:
			e[i] = b
			return
		}
	}
	if m := s.more[a]; !slices.Contains(m, b) {
		s.more[a] = append(m, b)
	}
}

// successors lists for each static instruction those that followed it.
func (s *survey) successors() [][]int32 {
	list := make([][]int32, len(s.next))
	for i := range s.next {
		for _, n := range s.next[i] {
			if n >= 0 {
				list[i] = append(list[i], n)
			}
		}
		list[i] = append(list[i], s.more[int32(i)]...)
	}
	return list
}
