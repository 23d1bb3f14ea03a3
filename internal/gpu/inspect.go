package gpu

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/system"
)

// This file: inspecting the chip between two core cycles, and describing what warps
// wait for. Nothing here affects the simulation.

// OnCycle makes the chip call f when the first kernel has begun, before any cycle,
// and then after every simulated core cycle. Cycles in which nothing happens may be
// skipped; see LookAt. An error from f ends the run.
func (g *GPU) OnCycle(f func() error) { g.onCycle = f }

// LookAt makes the chip call the function of OnCycle after the given core cycle
// even if nothing happens in it.
func (g *GPU) LookAt(cycle uint64) { g.lookAt = cycle }

// Core returns an SM. The caller must not change it.
func (g *GPU) Core(sm int) Core { return g.cores[sm] }

// Memory returns the memory system. The caller must not change it.
func (g *GPU) Memory() *system.Memory { return g.mem }

// Running returns the kernels that have started and not ended.
func (g *GPU) Running() []*Kernel { return g.active }

// Launches returns the kernels of all launches so far, in their order.
func (g *GPU) Launches() []*Kernel {
	var list []*Kernel
	for _, o := range g.ops.list {
		if o.Kernel != nil {
			list = append(list, o.Kernel)
		}
	}
	return list
}

// Placed returns the number of blocks placed so far.
func (k *Kernel) Placed() uint64 { return k.next }

// Latency returns the rest of the launch latency, in core cycles.
func (k *Kernel) Latency() uint64 { return k.latency }

// Runs reports whether k is the kernel of the given work.
func (k *Kernel) Runs(w exec.Work) bool { return k.work == w }

// Source returns the location of an instruction of a work; its Inst is empty if the
// work does not know it.
func Source(w exec.Work, at int) exec.Where {
	if source := w.Traits().Source; source != nil && at >= 0 && at < len(w.Code()) {
		return source(at)
	}
	return exec.Where{PC: at}
}

// Line names an instruction: pc, operation and source line.
func Line(w exec.Work, at int) string { return describe(w, Source(w, at)) }

// lookUp returns the location of an instruction of a function of a work.
func lookUp(w exec.Work, function string, pc int) exec.Where {
	for i := range w.Code() {
		if x := Source(w, i); x.Function == function && x.PC == pc {
			return x
		}
	}
	return exec.Where{Function: function, PC: pc}
}

// describe names the location of an instruction.
func describe(w exec.Work, x exec.Where) string {
	s := fmt.Sprintf("pc %d", x.PC)
	if x.Function != "" && x.Function != w.Name() {
		s = fmt.Sprintf("pc %s:%d", x.Function, x.PC)
	}
	if x.Inst == "" {
		return s
	}
	s += fmt.Sprintf(" %s (%s:%d", x.Inst, filepath.Base(x.File), x.Pos.Line)
	if x.SrcLine > 0 {
		s += fmt.Sprintf(", %s:%d", filepath.Base(x.SrcFile), x.SrcLine)
	}
	return s + ")"
}

// Requests is a snapshot of all requests and their places.
type Requests struct {
	list   []*mem.Req // each once
	at     map[*mem.Req]string
	behind map[*mem.Req]pending
	pieces map[*mem.Req][]*mem.Req
}

// pending is a miss table's entry that serves a request.
type pending struct {
	cache string
	sent  *mem.Req
}

// Requests finds all requests of the chip.
func (g *GPU) Requests() *Requests {
	q := &Requests{at: map[*mem.Req]string{}, behind: map[*mem.Req]pending{}, pieces: map[*mem.Req][]*mem.Req{}}
	seen := map[*mem.Req]bool{}
	know := func(r *mem.Req) {
		for r != nil && !seen[r] {
			seen[r] = true
			q.list = append(q.list, r)
			if r.Orig != nil {
				q.pieces[r.Orig] = append(q.pieces[r.Orig], r)
			}
			r = r.Orig
		}
	}
	in := func(r *mem.Req, place string) {
		know(r)
		q.at[r] = place
	}
	miss := func(name string, p cache.Pending) {
		for _, r := range p.Waiting {
			know(r)
			q.behind[r] = pending{name, p.Sent}
		}
	}
	for _, c := range g.cores {
		c.EachRequest(in)
		c.EachPending(miss)
	}
	g.mem.Each(in, miss)
	return q
}

// LiveRequests returns the number of requests that were taken from the pools and
// not returned.
func (g *GPU) LiveRequests() int {
	n := g.pool.Live
	for i := range g.clusters {
		n += g.clusters[i].own.Live
	}
	return n
}

// Count returns the number of requests.
func (q *Requests) Count() int { return len(q.list) }

// Each calls f for every request.
func (q *Requests) Each(f func(r *mem.Req)) {
	for _, r := range q.list {
		f(r)
	}
}

// Place says where a request is, "nowhere" if nothing holds it.
func (q *Requests) Place(r *mem.Req) string { return q.place(r, 0) }

func (q *Requests) place(r *mem.Req, depth int) string {
	const deep = 8 // more than the number of tables through which one request can wait for another
	if at, ok := q.at[r]; ok {
		return at
	}
	if depth > deep {
		return "behind many others"
	}
	b, waits := q.behind[r]
	switch {
	case waits && b.sent == nil:
		return "answered, in the miss table of " + b.cache
	case waits && b.sent != r:
		return fmt.Sprintf("in the miss table of %s with an earlier miss, which is %s", b.cache, q.place(b.sent, depth+1))
	}
	// Its place is that of its pieces, or of a read that it caused.
	if p := q.pieces[r]; len(p) > 0 {
		if len(p) == 1 {
			return q.place(p[0], depth+1)
		}
		return fmt.Sprintf("in %d pieces, the first %s", len(p), q.place(p[0], depth+1))
	}
	return "nowhere"
}

// Of returns the requests of a warp for which keep holds, without pieces.
func (q *Requests) Of(sm, slot int, keep func(r *mem.Req) bool) []*mem.Req {
	var list []*mem.Req
	for _, r := range q.list {
		if r.Orig == nil && int(r.SM) == sm && int(r.Warp) == slot && !r.IsWriteBack() && keep(r) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *mem.Req) int { return cmp.Or(cmp.Compare(a.Born, b.Born), cmp.Compare(a.Addr, b.Addr)) })
	return list
}

// describe names the first requests of a list and their places.
func (q *Requests) describe(list []*mem.Req) string {
	const most = 3
	var parts []string
	for i, r := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%#x, sent in cycle %d, is %s", r.Addr, r.Born, q.Place(r)))
	}
	return strings.Join(parts, "; ")
}

// WaitsFor says what a warp waits for, down to the queues of its requests. It
// returns "" for a warp that can issue.
func (q *Requests) WaitsFor(sm int, v *WarpView) string {
	k := v.Work
	var parts []string
	flights := func(keep func(f *Flight) bool) {
		for i := range v.Flights {
			f := &v.Flights[i]
			if !keep(f) {
				continue
			}
			s := Line(k, f.At) + ", in " + f.Place
			if f.Unsent > 0 {
				s += fmt.Sprintf(", %d accesses not sent", f.Unsent)
			}
			if f.Unanswered > 0 {
				s += fmt.Sprintf(", %d not answered", f.Unanswered)
				if list := q.Of(sm, v.Slot, func(r *mem.Req) bool {
					return int(r.Owner) == f.ID && r.Ahead == mem.NotAhead && !r.Write && r.Kind != mem.InstRead && r.Kind != mem.L1WriteAlloc
				}); len(list) > 0 {
					s += ": " + q.describe(list)
				}
			}
			parts = append(parts, s)
		}
	}
	all := func(*Flight) bool { return true }
	stores := func() {
		if v.Stores > 0 {
			s := fmt.Sprintf("the acknowledgement of %d stores", v.Stores)
			if list := q.Of(sm, v.Slot, func(r *mem.Req) bool { return r.Write && !r.Atomic }); len(list) > 0 {
				s += ": " + q.describe(list)
			}
			parts = append(parts, s)
		}
	}
	if v.At < 0 && v.Live != 0 {
		parts = append(parts, fragmentWaits(v)...)
	}
	switch v.Waits {
	case core.WaitsFetch:
		if v.Missed {
			s := "its instructions, after a miss in the instruction cache"
			if list := q.Of(sm, v.Slot, func(r *mem.Req) bool { return r.Kind == mem.InstRead }); len(list) > 0 {
				s += ": " + q.describe(list)
			}
			parts = append(parts, s)
		}
	case core.WaitsResult:
		flights(func(f *Flight) bool { return f.Blocks })
		if v.Copies > 0 {
			flights(func(f *Flight) bool { return !f.Blocks })
		}
	case core.WaitsPlace:
		parts = append(parts, "a free issue register")
	case core.WaitsAll:
		flights(all)
		stores()
	case core.WaitsAtomics:
		flights(all)
		if v.Atomics > 0 {
			parts = append(parts, fmt.Sprintf("replies for %d lanes of atomics", v.Atomics))
		}
	}
	return strings.Join(parts, "; ")
}

// fragmentWaits says what the stopped lanes of a warp wait for.
func fragmentWaits(v *WarpView) []string {
	x, ok := v.Exec.(exec.Inspector)
	if !ok {
		return nil
	}
	var parts []string
	line := func(function string, pc int) string { return describe(v.Work, lookUp(v.Work, function, pc)) }
	for _, f := range x.Fragments() {
		if f.Waits != "" {
			parts = append(parts, fmt.Sprintf("lanes %#08x at %s %s", f.Lanes, line(f.Function, f.PC), f.Waits))
		}
	}
	for _, j := range x.Joins() {
		if j.Came != 0 && j.Missing != 0 {
			where := "at the end of " + j.Function
			if j.PC >= 0 {
				where = "at " + line(j.Function, j.PC)
			}
			parts = append(parts, fmt.Sprintf("lanes %#08x wait for lanes %#08x %s, where they reconverge", j.Came, j.Missing, where))
		}
	}
	return parts
}

// DescribeWarp describes a warp, its position and what it waits for, in one line.
func (q *Requests) DescribeWarp(sm int, v *WarpView) string {
	s := fmt.Sprintf("warp %d of block %v (SM %d, slot %d)", v.InBlock, v.Block.Index(), sm, v.Slot)
	switch {
	case v.At >= 0:
		s += ", next " + Line(v.Work, v.At)
	case v.Live == 0:
		s += ", all lanes have exited"
	}
	s += ": " + v.State
	if w := q.WaitsFor(sm, v); w != "" {
		s += ": " + w
	}
	return s
}
