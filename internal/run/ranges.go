package run

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
)

// This file: intervals of the program with names. The host takes no simulated time, so
// what counts is which launches the program submits within an interval, not when.

// Range is an interval of the program with a name.
type Range struct {
	of         *report.Range // all intervals of this name
	outer      *Range
	begun      bool
	start, end uint64 // from the start of its first launch to the end of its last, in cycles
}

// mostRanges limits the ranges in a result, our choice: a program may give every
// iteration a name of its own.
const mostRanges = 1000

// otherRanges is the name of the ranges beyond mostRanges.
const otherRanges = "(other ranges)"

// Enter begins an interval, within another one unless outer is nil.
func (s *Session) Enter(outer *Range, name string) *Range {
	list := &s.Res.Ranges
	if outer != nil {
		list = &outer.of.Ranges
	}
	name = plain.Text(name)
	find := func(name string) *report.Range {
		i := slices.IndexFunc(*list, func(r *report.Range) bool { return r.Name == name })
		if i < 0 {
			return nil
		}
		return (*list)[i]
	}
	of := find(name)
	if of == nil && s.named >= mostRanges {
		name = otherRanges
		if of = find(name); of == nil && outer != nil {
			return outer // its launches count there
		}
	}
	if of == nil {
		of = &report.Range{Name: name}
		*list = append(*list, of)
		s.named++
	}
	of.Times++
	r := &Range{of: of, outer: outer}
	if s.opt.Timeline != nil {
		s.ranges = append(s.ranges, r)
	}
	return r
}

// add counts a completed launch in a range and all outer ones, but not in those where it
// has been counted: several intervals of one name may be open.
func (r *Range) add(k *report.Kernel, counted []*report.Range) []*report.Range {
	for ; r != nil; r = r.outer {
		if !slices.Contains(counted, r.of) {
			r.of.Add(k)
			counted = append(counted, r.of)
		}
		if k.KernelTiming == nil {
			continue
		}
		if !r.begun {
			r.begun, r.start = true, k.StartCycle
		}
		r.start, r.end = min(r.start, k.StartCycle), max(r.end, k.EndCycle)
	}
	return counted
}

// rangeSpans returns the ranges with launches for the timeline. A track holds spans that
// do not overlap or lie within each other, so others get tracks of their own.
func rangeSpans(list []*Range) []timeline.Span {
	list = slices.DeleteFunc(list, func(r *Range) bool { return !r.begun })
	slices.SortStableFunc(list, func(a, b *Range) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var spans []timeline.Span
	var tracks [][]uint64 // the ends of the spans that are open there, the innermost last
	for _, r := range list {
		t := 0
		for ; t < len(tracks); t++ {
			for n := len(tracks[t]); n > 0 && tracks[t][n-1] <= r.start; n-- {
				tracks[t] = tracks[t][:n-1]
			}
			if n := len(tracks[t]); n == 0 || tracks[t][n-1] >= r.end {
				break
			}
		}
		if t == len(tracks) {
			tracks = append(tracks, nil)
		}
		tracks[t] = append(tracks[t], r.end)
		name := "ranges"
		if t > 0 {
			name = fmt.Sprintf("ranges %d", t+1)
		}
		spans = append(spans, timeline.Span{Name: r.of.Name, Track: name, Start: r.start, End: r.end})
	}
	return spans
}
