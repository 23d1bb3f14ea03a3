package cuda

import (
	"maps"
	"slices"

	"github.com/heddle-sim/heddle/internal/run"
)

// This file: ranges, the intervals that programs name with NVTX. Launches submitted
// within one count for it in the report.

// ranges are the open ranges of a program that belong to no thread, and the texts that
// it has registered.
type ranges struct {
	started map[uint64]pushed // RangeStart
	issued  uint64            // ids of these
	domains map[uint64]string // their names, by handle
	strings map[uint64]string // registered, by handle
}

// pushed is an open range of a thread.
type pushed struct {
	domain uint64
	r      *run.Range
	marker uint32 // its number for profilers
}

// deepestRanges limits the open ranges of a thread, our choice.
const deepestRanges = 1 << 12

// title is the name of a range in the report.
func (r *Runtime) title(domain uint64, name string) string {
	if d := r.ranges.domains[domain]; d != "" {
		return d + ": " + name
	}
	return name
}

// PushRange begins a range that ends with PopRange of the same thread and domain. It
// returns the number of ranges of the domain that were open, negative if there are too
// many.
func (t *Thread) PushRange(domain uint64, name string) (level int) {
	level = -1
	t.observed(func(r *Runtime) {
		if len(t.ranges) >= deepestRanges {
			return
		}
		var outer *run.Range
		if n := len(t.ranges); n > 0 {
			outer = t.ranges[n-1].r
		}
		level = t.openIn(domain)
		p := pushed{domain, r.devices[0].ses.Enter(outer, r.title(domain, name)), r.marker()}
		t.ranges = append(t.ranges, p)
		r.marked(MarkerDetail{ID: p.marker, Begin: true, Name: name, Domain: r.ranges.domains[domain]})
	})
	return level
}

// openIn returns the number of open ranges of a domain.
func (t *Thread) openIn(domain uint64) (n int) {
	for _, p := range t.ranges {
		if p.domain == domain {
			n++
		}
	}
	return n
}

// PopRange ends the innermost range of a domain, and returns the number of outer ones,
// negative if none is open.
func (t *Thread) PopRange(domain uint64) (level int) {
	level = -1
	t.observed(func(r *Runtime) {
		for i, p := range slices.Backward(t.ranges) {
			if p.domain == domain {
				t.ranges = slices.Delete(t.ranges, i, i+1)
				level = t.openIn(domain)
				r.marked(MarkerDetail{ID: p.marker, End: true, Domain: r.ranges.domains[domain]})
				return
			}
		}
	})
	return level
}

// StartRange begins a range that any thread ends with EndRange.
func (t *Thread) StartRange(domain uint64, name string) (id uint64) {
	t.observed(func(r *Runtime) {
		x := &r.ranges
		if len(x.started) >= deepestRanges {
			return
		}
		if x.started == nil {
			x.started = map[uint64]pushed{}
		}
		x.issued++
		id = x.issued
		p := pushed{domain, r.devices[0].ses.Enter(nil, r.title(domain, name)), r.marker()}
		x.started[id] = p
		r.marked(MarkerDetail{ID: p.marker, Begin: true, Name: name, Domain: x.domains[domain]})
	})
	return id
}

// EndRange ends a range of StartRange.
func (t *Thread) EndRange(id uint64) {
	t.observed(func(r *Runtime) {
		if p, ok := r.ranges.started[id]; ok {
			delete(r.ranges.started, id)
			r.marked(MarkerDetail{ID: p.marker, End: true, Domain: r.ranges.domains[p.domain]})
		}
	})
}

// Mark notes a moment of the thread, for profilers alone.
func (t *Thread) Mark(domain uint64, name string) {
	t.observed(func(r *Runtime) {
		r.marked(MarkerDetail{ID: r.marker(), Name: name, Domain: r.ranges.domains[domain]})
	})
}

// marker is the number of the next range or mark.
func (r *Runtime) marker() uint32 {
	r.trace.markers++
	return r.trace.markers
}

// mostTexts limits the texts that a program registers, our choice.
const mostTexts = 1 << 20

// RegisterString returns the handle of a text for ranges, 0 if there are too many.
func (t *Thread) RegisterString(text string) (h uint64) {
	t.observed(func(r *Runtime) { h = r.register(&r.ranges.strings, text) })
	return h
}

// CreateDomain returns the handle of a domain of ranges, 0 if there are too many.
func (t *Thread) CreateDomain(name string) (h uint64) {
	t.observed(func(r *Runtime) { h = r.register(&r.ranges.domains, name) })
	return h
}

// register adds a text to a table.
func (r *Runtime) register(table *map[uint64]string, text string) uint64 {
	if len(*table) >= mostTexts {
		return 0
	}
	if *table == nil {
		*table = map[uint64]string{}
	}
	h := r.handle()
	(*table)[h] = text
	return h
}

// RegisteredString returns the text of a handle, "" if there is none.
func (t *Thread) RegisteredString(h uint64) (text string) {
	t.observed(func(r *Runtime) { text = r.ranges.strings[h] })
	return text
}

// NameStream gives a stream a name for the timeline. An unknown stream is ignored.
func (t *Thread) NameStream(h uint64, name string) {
	t.observed(func(r *Runtime) {
		r.caller = t
		if s, err := r.stream(h); err == Success {
			s.on.ses.NameStream(s.id, name)
			r.record(Activity{Kind: ActivityName, Device: s.on.number, Context: r.contextOf(s.on), Stream: uint32(s.id), Detail: NameDetail{name}})
		}
	})
}

// inside returns the innermost ranges of a launch by the calling thread.
func (r *Runtime) inside() []*run.Range {
	var list []*run.Range
	if n := len(r.caller.ranges); n > 0 {
		list = append(list, r.caller.ranges[n-1].r)
	}
	for _, id := range slices.Sorted(maps.Keys(r.ranges.started)) {
		list = append(list, r.ranges.started[id].r)
	}
	return list
}
