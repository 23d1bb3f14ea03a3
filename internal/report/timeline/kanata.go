package timeline

import (
	"bufio"
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"slices"
	"strings"
)

func sortInsts(list []*Inst, less func(a, b *Inst) int) { slices.SortStableFunc(list, less) }

// pending is an instruction in flight at the current point of the file, and its next
// stage.
type pending struct {
	i    *Inst
	id   int
	next int // ends: it ends
	open int // its current stage, ends if none
}

// ends is the index after the last stage.
const ends = MaxStages

func (p *pending) when() uint64 {
	if p.next == ends {
		return p.i.end()
	}
	return p.i.At[p.next]
}

// way is a heap of pending instructions by time.
type way []*pending

func (w way) Len() int { return len(w) }
func (w way) Less(a, b int) bool {
	if x, y := w[a].when(), w[b].when(); x != y {
		return x < y
	}
	return w[a].id < w[b].id
}
func (w way) Swap(a, b int) { w[a], w[b] = w[b], w[a] }
func (w *way) Push(x any)   { *w = append(*w, x.(*pending)) }
func (w *way) Pop() any {
	old := *w
	x := old[len(old)-1]
	*w = old[:len(old)-1]
	return x
}

// WriteKanata writes Konata's format, version 4: a line for every event, in
// the order of time. Instructions are numbered in the order in which they were
// fetched; the thread of an instruction is its SM and warp slot.
func (r *Recorder) WriteKanata(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Kanata\t0004\n")
	list := r.all(func(x, y *Inst) int {
		return cmp.Or(cmp.Compare(x.At[Fetch], y.At[Fetch]), cmp.Compare(x.SM, y.SM), cmp.Compare(x.Slot, y.Slot), cmp.Compare(x.At[Issue], y.At[Issue]))
	})
	slots := int32(1)
	for _, i := range list {
		slots = max(slots, i.Slot+1)
	}
	var now uint64
	started := false
	at := func(t uint64) {
		switch {
		case !started:
			fmt.Fprintf(b, "C=\t%d\n", t)
			started = true
		case t > now:
			fmt.Fprintf(b, "C\t%d\n", t-now)
		}
		now = max(now, t)
	}
	var open way
	retired, last := 0, len(r.stages)-1
	step := func() {
		p := open[0]
		at(p.when())
		if p.open != ends {
			fmt.Fprintf(b, "E\t%d\t0\t%s\n", p.id, r.cell(p.open))
			p.open = ends
		}
		if p.next == ends {
			how := 0
			if p.i.Flushed {
				how = 1
			}
			fmt.Fprintf(b, "R\t%d\t%d\t%d\n", p.id, retired, how)
			retired++
			heap.Pop(&open)
			return
		}
		// Stages that take no time are not shown.
		for p.next < last && p.i.At[p.next+1] == p.i.At[p.next] {
			p.next++
		}
		fmt.Fprintf(b, "S\t%d\t0\t%s\n", p.id, r.cell(p.next))
		p.open = p.next
		if p.next++; p.next > last {
			p.next = ends
		}
		heap.Fix(&open, 0)
	}
	for id, i := range list {
		for len(open) > 0 && open[0].when() <= i.At[Fetch] {
			step()
		}
		at(i.At[Fetch])
		fmt.Fprintf(b, "I\t%d\t%d\t%d\n", id, id, i.SM*slots+i.Slot)
		fmt.Fprintf(b, "L\t%d\t0\tSM%d w%d: %s\n", id, i.SM, i.Slot, clean(r.name(i)))
		fmt.Fprintf(b, "L\t%d\t1\t%s\n", id, clean(r.detail(i)))
		heap.Push(&open, &pending{i: i, id: id, open: ends})
	}
	for len(open) > 0 {
		step()
	}
	return b.Flush()
}

// detail is the text of an instruction that is shown on demand.
func (r *Recorder) detail(i *Inst) string {
	s := fmt.Sprintf("%s, kernel %s, block %d, warp %d, scheduler %d, lanes %08x", r.name(i), r.kernel(i), i.Block, i.Warp, i.Sched, i.Lanes)
	if p := r.place(i); p != "" {
		s += ", " + p
	}
	return s
}

// clean makes a text fit on one line and in one field.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\r' || c == '\t' {
			return ' '
		}
		return c
	}, s)
}
