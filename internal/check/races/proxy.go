package races

import (
	"iter"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what Hopper's asynchronous proxy does, bulk copies and products of warp groups, against what
// threads do (PTX manual, proxies and asynchronous operations).

var proxy = &check.Rule{
	ID: "proxy-fence", Checker: Name, Level: check.Error, Short: "Shared memory that threads have written is used by a bulk copy or a product without a fence between the proxies.",
	Full: "Bulk copies (cp.async.bulk, TMA) and products of warp groups (wgmma) access memory by the asynchronous proxy. What threads have written by st and the like may not be visible there yet, whatever barriers they have passed.",
	Mend: "Let each thread that has written execute fence.proxy.async (cuda::ptx::fence_proxy_async, cutlass::arch::fence_view_async_shared) after its writes and before the barrier.",
	Tags: []string{"race", "shared", "proxy"},
}

// productsAt is where a block's products of warp groups are kept among its mbarriers, by warp groups: no mbarrier
// has such an address.
const productsAt = 1 << 40

// products is the sequence of groups of products of a warp's group: a product is one of all four warps, so that what
// one of them has waited for is over for all.
func (b *block) products(w *warp) *mbar { return b.mbarrier(productsAt + uint64(w.id)/exec.GroupWarps) }

// groupOf is a warp of which a product is one, as it knows all that the four of its group know: the product begins
// when the last of them has issued it, and what they have done before comes before it. They do not learn
// from each other by that.
func (b *block) groupOf(w *warp) *warp {
	all := &warp{id: w.id, live: w.live, base: b.base, rel: w.rel, learned: b.c.time}
	from := int(w.id) / exec.GroupWarps * exec.GroupWarps
	for i := from; i < min(from+exec.GroupWarps, len(b.warps)); i++ {
		all.clock = all.clock.join(b.release(&b.warps[i], ^uint32(0), true))
	}
	return all
}

// waitForProducts lets lanes know that all but the last groups of their products are over.
func (b *block) waitForProducts(w *warp, m uint32, leave int32) {
	slot := b.products(w).slot
	for ; m != 0; m &= m - 1 {
		i := first(m)
		if n := w.special(i).group[groups(isa.ByProduct)] - leave; n > 0 {
			w.learn(i, (*clock)(nil).set(mbarKey(b.id, slot), uint32(n)), b.c.time)
		}
	}
	b.launch.tick()
}

// fenceProxy notes a fence of lanes, if it is one between proxies.
func (b *block) fenceProxy(w *warp, m uint32) {
	s := b.probed.Site(int(w.id))
	if s >= len(b.launch.code) {
		return
	}
	op := b.launch.code[s].Op
	all := strings.HasPrefix(op, "fence.proxy.async") && !strings.Contains(op, ".global")
	if !all && !strings.HasPrefix(op, "fence.mbarrier_init") {
		return
	}
	b.proxies.add(proxyFence{all: all, r: record{time: b.c.time, block: b.id, launch: b.launch.id, lanes: m, warp: w.id}, base: b.base, by: w.now()})
	b.launch.tick()
}

// proxyFence is a fence between proxies by lanes of a warp, with what they knew: all that they knew of is fenced,
// for those who know of the fence.
type proxyFence struct {
	all  bool // for all of shared memory, not only for mbarriers that were made
	r    record
	base uint32 // of its block
	by   warp   // as it was
}

// fencesKept is how many fences between proxies a block remembers. Our choice: more than any
// program has between a write and the copy of it; what older ones may have fenced is not looked at.
const fencesKept = 256

// proxies are the last fences of a block.
type proxies struct {
	list []proxyFence
	n    int
	lost uint32 // time of the last one that is forgotten
}

func (p *proxies) add(f proxyFence) {
	if len(p.list) < fencesKept {
		p.list = append(p.list, f)
	} else {
		old := &p.list[p.n%fencesKept]
		p.lost, *old = old.r.time, f
	}
	p.n++
}

// now is a copy of what a warp knows.
func (w *warp) now() warp {
	n := *w
	if n.lanes = nil; w.split {
		n.lanes = new([32]lane)
		for i := range n.lanes {
			n.lanes[i].clock = w.lanes[i].clock
		}
	}
	return n
}

// fenced reports whether a fence between proxies stands between what lane el of a record did and what a lane of
// warp w does now: by a thread that knew of the one, and of which the other knows.
func (b *block) fenced(e *record, el int, w *warp, lane int, all bool) bool {
	if b.fencedBy(b, e, el, w, lane, all) {
		return true
	}
	for o := range b.teamMates() {
		if o != b && b.fencedBy(o, e, el, w, lane, all) {
			return true
		}
	}
	return false
}

// fencedBy is fenced for the fences of a block.
func (b *block) fencedBy(o *block, e *record, el int, w *warp, lane int, all bool) bool {
	if e.time <= o.proxies.lost {
		return true
	}
	for i := range o.proxies.list {
		f := &o.proxies.list[(o.proxies.n-1-i+len(o.proxies.list))%len(o.proxies.list)] // the latest first
		if f.r.time < e.time {
			return false
		}
		if all && !f.all {
			continue
		}
		then := block{c: b.c, launch: b.launch, id: o.id, base: f.base}
		for m := f.r.lanes; m != 0; m &= m - 1 {
			k := first(m)
			if then.ordered(e, el, &f.by, k) && b.ordered(&f.r, k, w, lane) {
				return true
			}
		}
	}
	return false
}

// teamMates yields the blocks of the cluster that run.
func (b *block) teamMates() iter.Seq[*block] {
	return func(yield func(*block) bool) {
		if b.team == nil {
			return
		}
		for o := range b.launch.clusters.peers.All() {
			if o.team == b.team && !yield(o) {
				return
			}
		}
	}
}

// signalled looks whether a copy that signals an mbarrier can know that it has been made.
func (b *block) signalled(s *exec.Signal, m *mbar) {
	if m.maker == nil || s.Site >= len(b.launch.code) || !strings.Contains(b.launch.code[s.Site].Op, ".bulk") {
		return
	}
	e := m.maker
	m.maker = nil
	lane := first(e.lanes)
	if b.fenced(e, lane, &b.warps[s.Warp], first(uint32(s.Lanes)), false) {
		return
	}
	l := b.launch
	n := record{site: uint32(s.Site), time: b.c.time, block: b.id, launch: l.id, lanes: uint32(s.Lanes), warp: uint8(s.Warp), size: 8, class: flight | write}
	b.c.found.add(&find{rule: proxy, a: l.side(&n, first(n.lanes), b), b: l.side(e, lane, nil), addr: s.Addr[first(n.lanes)], count: 1, launch: l.number, kernel: l.kernel, space: "shared",
		excuse: unmade})
}

// byAsyncProxy reports whether an asynchronous access is one of the asynchronous proxy. Copies of cp.async and
// st.async are taken for accesses of their thread's.
func byAsyncProxy(a *exec.Access) bool {
	return a.By == isa.ByBulk || a.By == isa.ByProduct || a.By == isa.ByCommit || strings.Contains(a.Inst.Op, ".bulk")
}

// unfenced looks for writes of threads that an access of the asynchronous proxy to shared memory may not see: a thread
// must have executed a fence between them, in an order with both.
func (b *block) unfenced(x *access) {
	var last settledWrite
	for k := uint32(x.Lanes); k != 0; k &= k - 1 {
		i := first(k)
		for at, end := x.Addr[i]&^3, x.Addr[i]+uint64(x.Bytes); at < end; at += 4 {
			if c := x.mem.page(at).cell(ofWrites, int(at/4%pageWords)); c != 0 && b.unfencedWord(x, c, at, i, &last) {
				return
			}
		}
	}
}

// settledWrite is a write that is fenced for a lane.
type settledWrite struct {
	record   uint32
	el, lane int
}

// unfencedWord is unfenced for a word; last is what it looked at last, as words are mostly written in turn. It reports whether it has found something.
func (b *block) unfencedWord(x *access, c cell, addr uint64, lane int, last *settledWrite) bool {
	var one [1]entry
	list, off := b.c.entries(c, &one)
	for _, t := range list {
		e := b.c.rec(t.record)
		if e.launch != b.launch.id || e.time <= b.launch.base || e.flight != 0 || e.class&flight != 0 || e.form == blocks || e.form == warps {
			continue
		}
		el := first(e.at(off+int(t.lane), bits.TrailingZeros8(t.bytes)))
		if this := (settledWrite{t.record, el, lane}); this == *last {
			continue
		} else if !b.ordered(e, el, x.w, lane) || b.fenced(e, el, x.w, lane, true) {
			*last = this
			continue
		}
		earlier := *e
		l := b.launch
		b.c.found.add(&find{rule: proxy, a: l.side(&x.r, lane, b), b: l.side(&earlier, el, nil), addr: addr, count: 1, launch: l.number, kernel: l.kernel, space: "shared"})
		return true
	}
	return false
}
