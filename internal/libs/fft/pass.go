package fft

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// form is how elements lie in memory, as the kernels number it.
type form int32

const (
	complexForm   form = iota
	realForm           // only real parts
	hermitianForm      // the first half of complex elements, whose others are their conjugates
)

// size is the size of an element in bytes.
func (s *Shape) size(f form) int64 {
	size := int64(8)
	if types[s.Type].double {
		size = 16
	}
	if f == realForm {
		size /= 2
	}
	return size
}

// place is where data lies.
type place int

const (
	input place = iota
	output
	area // the work area
)

// view is an array: how far apart its elements are in each dimension, the last of which is
// the batch.
type view struct {
	place   place
	first   int64 // element of the work area
	form    form
	strides []int64
}

// dense returns an array without gaps; order lists its dimensions, that with the most
// distant elements first.
func dense(extents []int64, order []int) view {
	v := view{strides: make([]int64, len(extents))}
	stride := int64(1)
	for _, d := range slices.Backward(order) {
		v.strides[d] = stride
		stride *= extents[d]
	}
	return v
}

// natural is the order of dimensions in memory where nothing else is said.
func natural(extents []int64) []int {
	order := []int{len(extents) - 1}
	for d := range len(extents) - 1 {
		order = append(order, d)
	}
	return order
}

// volume is a number of elements.
func volume(extents []int64) int64 {
	v := int64(1)
	for _, n := range extents {
		v *= n
	}
	return v
}

// half are the extents of the complex elements, and the batch.
func (s *Shape) half() []int64 {
	list, t := append(slices.Clone(s.N), s.Batch), types[s.Type]
	if t.from != t.to {
		list[len(s.N)-1] = list[len(s.N)-1]/2 + 1
	}
	return list
}

// view is what a transform reads, side 0, or writes.
func (s *Shape) view(side int, inPlace bool) view {
	rank, t := len(s.N), types[s.Type]
	f, v := [2]form{t.from, t.to}[side], view{}
	if s.Layouts != nil {
		l := s.Layouts[side]
		v.strides = make([]int64, rank+1)
		v.strides[rank], v.strides[rank-1] = l.Dist, l.Stride
		for d := rank - 2; d >= 0; d-- {
			v.strides[d] = v.strides[d+1] * l.Embed[d+1]
		}
	} else {
		extents := s.half()
		if f == realForm && inPlace {
			extents[rank-1] *= 2
		} else if f == realForm {
			extents[rank-1] = s.N[rank-1]
		}
		v = dense(extents, natural(extents))
	}
	v.place, v.form = place(side), f
	return v
}

// pass is a launch: its parameters without addresses, which the plan and its execution
// know.
type pass struct {
	params
	places  [2]place // of what is read and written
	firsts  [2]int64
	factors [2]table // kind none: no factors
}

// params is the kernels' struct pass.
type params struct {
	From, To                            side
	Groups                              int64
	Roots, Coarse, Fine                 uint64
	Extent                              [4]int32
	Own, N, Radix, Before, Rooms, Shift int32
	Radices                             uint64
}

// side is the kernels' struct side.
type side struct {
	At        uint64
	Step      int64
	Strides   [4]int64
	Factors   uint64
	Form      form
	Count     int32
	Conjugate int32
	Across    int32
	Plain, _  int32
}

// Conjugations, before or after the multiplication with factors.
const (
	conjugateBefore = 1
	conjugateAfter  = 2
)

// passes are the launches of an execution, and how many elements of work area they use.
// The dimension in which elements are real comes first when they are read, and last when
// they are written: until then a copy is transformed, as the input is not to change.
func (s *Shape) passes(inPlace bool, d Direction) (list []pass, elements int64) {
	rank := len(s.N)
	from, last := s.view(0, inPlace), s.view(1, inPlace)
	between, order := last, natural(s.N)
	if last.form == realForm {
		order = append(order[1:], rank-1)
		if rank > 1 {
			elements = volume(s.half())
		}
		between = dense(s.half(), natural(s.half()))
		between.place = area
	}
	begin := elements
	for i, axis := range order {
		to := between
		if i == rank-1 {
			to = last
		}
		if to.form == realForm {
			from.form = hermitianForm
		}
		more, end := s.line(axis, from, to, d == Inverse, begin)
		list, elements = append(list, more...), max(elements, end)
		from = between
	}
	return list, elements
}

// line are the passes that transform all lines of a dimension. Their data between passes
// begins in the work area at an element; they return where it ends.
func (s *Shape) line(axis int, from, to view, inverse bool, begin int64) (list []pass, end int64) {
	n := s.N[axis]
	m, bluestein := n, !smooth(n)
	if bluestein {
		m = padded(n)
	}
	radices := s.radices(m, from.strides[axis] == 1 && to.strides[axis] == 1)
	count := len(radices)
	if bluestein {
		count *= 2
	}

	// Between passes lines lie in the order in which the last one writes them.
	extents := s.half()
	extents[axis] = m
	order := natural(extents)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(to.strides[b], to.strides[a]) })
	scratch := dense(extents, order)
	scratch.place = area

	before := int64(1)
	for k := range count {
		i := k % len(radices)
		p := pass{params: params{N: int32(m), Radix: int32(radices[i]), Before: int32(before), Shift: int32(shift(m)), Radices: factors(radices[i])}}
		p.From.Count, p.To.Count = int32(m), int32(m)
		sides := [2]view{scratch, scratch}
		sides[0].first = begin + int64((k+1)%2)*volume(extents)
		sides[1].first = begin + int64(k%2)*volume(extents)
		if k < count-1 {
			end = max(end, sides[1].first+volume(extents))
		}
		if k == 0 {
			sides[0], p.From.Count = from, int32(n)
			if inverse {
				p.From.Conjugate = conjugateBefore
			}
		}
		if k == count-1 {
			sides[1], p.To.Count = to, int32(n)
			if from.form == realForm {
				p.To.Count = int32(n/2 + 1)
			}
			if inverse {
				p.To.Conjugate = conjugateAfter
			}
		}
		if bluestein {
			// The convolution's second transform is an inverse one.
			first, second := k < len(radices), k >= len(radices)
			if k == 0 {
				p.factors[0] = table{chirp, n}
			}
			if first && i == len(radices)-1 {
				p.factors[1] = table{convolution, n}
			}
			if second && i == 0 {
				p.From.Conjugate = conjugateBefore
			}
			if k == count-1 {
				p.To.Conjugate |= conjugateBefore
				p.factors[1] = table{chirp, n}
			}
		}
		p.spread(axis, extents, sides)
		for i, s := range []*side{&p.From, &p.To} {
			if s.Form == complexForm && s.Count == p.N && s.Conjugate == 0 && p.factors[i].kind == none {
				s.Plain = 1
			}
		}
		list = append(list, p)
		before *= radices[i]
		if before == m {
			before = 1
		}
	}
	return list, end
}

// spread fills in what a pass does with the lines: in which order its groups follow one
// another, and where they lie.
func (p *pass) spread(axis int, extents []int64, sides [2]view) {
	type direction struct {
		extent  int64
		strides [2]int64
		own     bool
	}
	own := direction{extent: int64(p.N / p.Radix), strides: [2]int64{sides[0].strides[axis], sides[1].strides[axis]}, own: true}
	if p.Before == 1 {
		own.strides[1] *= int64(p.Radix)
	}
	list := []direction{own}
	for d, extent := range extents {
		if d != axis && extent > 1 {
			list = append(list, direction{extent: extent, strides: [2]int64{sides[0].strides[d], sides[1].strides[d]}})
		}
	}
	// Neighbouring groups are neighbours in what is read.
	slices.SortStableFunc(list, func(a, b direction) int {
		if one := cmp.Compare(min(a.extent, 2), min(b.extent, 2)); one != 0 {
			return -one
		}
		return cmp.Compare(a.strides[0], b.strides[0])
	})
	p.Groups = 1
	for i := range p.Extent {
		p.Extent[i] = 1
	}
	for i, d := range list {
		p.Groups *= d.extent
		p.Extent[i] = int32(d.extent)
		if d.own {
			p.Own = int32(i)
		} else {
			p.From.Strides[i], p.To.Strides[i] = d.strides[0], d.strides[1]
		}
	}
	within := [2]int64{int64(p.N / p.Radix), int64(p.Before)} // elements of the line between those of a group
	for i, side := range []*side{&p.From, &p.To} {
		side.Form, side.Step = sides[i].form, sides[i].strides[axis]
		if list[0].extent > 1 && list[0].strides[i] < side.Step*within[i] {
			side.Across = 1
		}
		p.places[i], p.firsts[i] = sides[i].place, sides[i].first
	}
}

// room is how many elements a block holds: 17 or 18 KB with the gaps, so that several
// blocks fit on an SM.
func (s *Shape) room() int64 { return (16 << 10) / s.size(complexForm) }

// radices splits the length of a line into those of passes. One is enough if the elements
// of a line lie side by side, or if a block has room for four lines, so that elements lie
// side by side there; otherwise each pass leaves room for four groups.
func (s *Shape) radices(n int64, dense bool) []int64 {
	if dense && n <= s.room() {
		return []int64{n}
	}
	for count := 1; ; count++ {
		if list := split(n, count, s.room()/4); list != nil {
			return list
		}
	}
}

// split writes a number without prime factors above 7 as a product of similar factors, none
// above a limit. It returns nil if there is no such product.
func split(n int64, count int, limit int64) []int64 {
	if count == 1 {
		if n > limit {
			return nil
		}
		return []int64{n}
	}
	want := math.Pow(float64(n), 1/float64(count))
	var divisors []int64
	for d := int64(2); d <= limit; d++ {
		if n%d == 0 {
			divisors = append(divisors, d)
		}
	}
	far := func(d int64) float64 { return max(float64(d)/want, want/float64(d)) }
	slices.SortStableFunc(divisors, func(a, b int64) int { return cmp.Compare(far(a), far(b)) })
	for _, d := range divisors {
		if rest := split(n/d, count-1, limit); rest != nil {
			return append(rest, d)
		}
	}
	return nil
}

// factors are the radices of a transform in shared memory, 4 bits each.
func factors(n int64) (list uint64) {
	at := 0
	for _, r := range []int64{8, 4, 2, 7, 5, 3} {
		for ; n%r == 0; n /= r {
			list |= uint64(r) << at
			at += 4
		}
	}
	return list
}

// smooth reports whether a length has no prime factor above 7.
func smooth(n int64) bool {
	for _, p := range []int64{2, 3, 5, 7} {
		for n%p == 0 {
			n /= p
		}
	}
	return n == 1
}

// padded is the length of the transforms with which one of another length is computed, by
// the method of Bluestein: a power of two.
func padded(n int64) int64 { return 1 << bits.Len64(uint64(2*n-2)) }

// maxPadded bounds such lengths: the host computes their factors, which takes seconds. It
// is our choice.
const maxPadded = 1 << 26
