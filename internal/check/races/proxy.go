package races

import (
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
	for ; m != 0; m &= m - 1 {
		l := w.special(first(m))
		if l.made = b.c.time; all {
			l.proxied = b.c.time
		}
	}
	b.launch.tick()
}

// signalled looks whether a copy that signals an mbarrier can know that it has been made.
func (b *block) signalled(s *exec.Signal, m *mbar) {
	if m.maker == nil || s.Site >= len(b.launch.code) || !strings.Contains(b.launch.code[s.Site].Op, ".bulk") {
		return
	}
	e := m.maker
	m.maker = nil
	o := b
	if e.block != b.id {
		o = b.of(exec.Peer(e.block) + 1)
	}
	lane := first(e.lanes)
	if l := o.warps[e.warp].lanes; l != nil && l[lane].made >= e.time {
		return
	}
	if i := first(uint32(s.Lanes)); b.warps[s.Warp].lanes != nil && b.warps[s.Warp].lanes[i].made >= e.time {
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
	return a.By == isa.ByBulk || a.By == isa.ByProduct || strings.Contains(a.Inst.Op, ".bulk")
}

// unfenced looks for writes of threads that an access of the asynchronous proxy to shared memory may not see: the one
// who wrote, or the one who uses them, must have executed a fence since.
func (b *block) unfenced(x *access) {
	for k := uint32(x.Lanes); k != 0; k &= k - 1 {
		i := first(k)
		for at, end := x.Addr[i]&^3, x.Addr[i]+uint64(x.Bytes); at < end; at += 4 {
			if c := x.mem.page(at).cell(ofWrites, int(at/4%pageWords)); c != 0 && b.unfencedWord(x, c, at, i) {
				return
			}
		}
	}
}

// unfencedWord is unfenced for a word. It reports whether it has found something.
func (b *block) unfencedWord(x *access, c cell, addr uint64, lane int) bool {
	var one [1]entry
	list, off := b.c.entries(c, &one)
	for _, t := range list {
		e := b.c.rec(t.record)
		if e.launch != b.launch.id || e.time <= b.launch.base || e.flight != 0 || e.class&flight != 0 || e.form == blocks || e.form == warps {
			continue
		}
		el := first(e.at(off+int(t.lane), bits.TrailingZeros8(t.bytes)))
		if b.proxied(e, el) || b.warps[x.Warp].special(lane).proxied >= e.time || !b.ordered(e, el, x.w, lane) {
			continue
		}
		earlier := *e
		l := b.launch
		b.c.found.add(&find{rule: proxy, a: l.side(&x.r, lane, b), b: l.side(&earlier, el, nil), addr: addr, count: 1, launch: l.number, kernel: l.kernel, space: "shared"})
		return true
	}
	return false
}

// proxied reports whether lane el of a record has executed a fence between proxies since.
func (b *block) proxied(e *record, el int) bool {
	o := b
	if e.block != b.id {
		o = b.of(exec.Peer(e.block) + 1)
	}
	w := &o.warps[e.warp]
	return w.lanes != nil && w.lanes[el&31].proxied >= e.time
}
