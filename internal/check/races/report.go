package races

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Name is the checker's name.
const Name = "races"

func rule(id, short string, tags ...string) *check.Rule {
	return &check.Rule{
		ID: id, Checker: Name, Level: check.Error, Short: short,
		Full: "Two threads access the same bytes, at least one of them writes, and no synchronisation orders the two accesses. Which value is read or stays in memory depends on the order in which the hardware happens to run the threads; the compiler may assume that this does not occur.",
		Mend: mends[id], Tags: append([]string{"race"}, tags...),
	}
}

// mends says how to mend each kind of race, if nothing better is known.
var mends = map[string]string{
	"race-global-interblock": "Let each block write its own part, use atomic operations for both accesses, or order the blocks: end the kernel between the two accesses, or use grid.sync() of a cooperative launch.",
	"race-global-intrablock": "Put __syncthreads() between the two accesses, or use atomic operations for both.",
	"race-global-intrawarp":  "Put __syncwarp() between the two accesses, or use atomic operations for both.",
	"race-shared-interwarp":  "Put __syncthreads() between the two accesses, also before memory is used again in the next iteration of a loop.",
	"race-shared-interblock": "Put a barrier of the cluster (cluster.sync()) between the two accesses, or let an mbarrier signal that the first one is over.",
	"race-shared-intrawarp":  "Put __syncwarp() between the two accesses: lanes of a warp need not run in lockstep.",
	"race-tensor-memory":     "Wait for the product (tcgen05.commit to an mbarrier), load or store (tcgen05.wait) that comes first, and put a barrier between threads.",
	"race-streams":           "Use one stream for both, let one stream wait for an event of the other (cudaStreamWaitEvent), let an edge of the graph order the two nodes, or wait on the host.",
}

// The rules.
var (
	globalBlocks = rule("race-global-interblock", "Threads of two blocks access the same global memory without order.", "global")
	globalBlock  = rule("race-global-intrablock", "Threads of two warps of a block access the same global memory without order.", "global")
	globalWarp   = rule("race-global-intrawarp", "Threads of a warp access the same global memory without order.", "global")
	sharedBlock  = rule("race-shared-interwarp", "Threads of two warps access the same shared memory without order.", "shared")
	sharedBlocks = rule("race-shared-interblock", "Threads of two blocks of a cluster access the same shared memory without order.", "shared", "cluster")
	sharedWarp   = rule("race-shared-intrawarp", "Threads of a warp access the same shared memory without order.", "shared")
	streams      = rule("race-streams", "Work on two streams, of two nodes of a graph, or of the host accesses the same memory without order.", "streams")
)

// Rules lists the rules of the checker.
func Rules() []*check.Rule {
	return []*check.Rule{globalBlocks, globalBlock, globalWarp, sharedBlock, sharedWarp, sharedBlocks, tensorMemory, streams, proxy, lifetime, forgotten}
}

// The causes of races.
const (
	noCause      = "none"
	narrowScope  = "scope-too-narrow"
	fenceMissing = "fence-missing"
	notWaitedFor = "copy-not-waited-for"
	stillRead    = "product-not-waited-for"
	notCommitted = "commit-not-waited-for"
	moveUnderWay = "tensor-move-not-waited-for"
	besideAtomic = "plain-beside-atomic"
	mixedSize    = "mixed-size"
	byOperator   = "cache-operator"
)

// excuse is why a race is less serious than others of its rule.
type excuse struct {
	level  check.Level
	reason string
}

var (
	inLockstep = &excuse{check.Warning, " In this run the lanes ran in lockstep, which nothing guarantees."}
	equal      = &excuse{check.Note, " In this run both wrote the same value."}
	unmade     = &excuse{check.Warning, " The copy signals an mbarrier, which a thread has initialised: fence.mbarrier_init.release.cluster is such a fence too."}
	throughL2  = &excuse{check.Note, ""}
)

// advice says what a cause means and how to mend it.
var advice = map[string]string{
	narrowScope:  "The synchronisation between them holds within a block only: use the scope of the device (cuda::thread_scope_device, __threadfence(), atomicAdd in place of atomicAdd_block).",
	fenceMissing: "One thread sees what the other signals, but no fence orders their other accesses: release before the signal and acquire after it (__threadfence() on both sides, or cuda::atomic_ref with memory_order_release and memory_order_acquire). Within a block, __syncthreads() between the two accesses is enough.",
	notCommitted: "A product of tensor memory (tcgen05.mma), or a copy into it, is still under way: let a tcgen05.commit after it signal an mbarrier, and wait for that one.",
	moveUnderWay: "A load or a store of tensor memory is still under way: execute tcgen05.wait::ld or tcgen05.wait::st before others may use it, and then the fence and the barrier that order them.",
	notWaitedFor: "An asynchronous copy is still in flight: wait for it (cp.async.wait_group, pipeline.consumer_wait, or its mbarrier), and let other threads pass a barrier after that.",
	stillRead:    "A product of a warp group still reads its operands: wait for it (wgmma.wait_group) before their memory is given free.",
	besideAtomic: "One of the two is a plain access, which an atomic operation does not order: make both atomic, or put a barrier between them.",
	byOperator:   "Both go to the L2, one of them because of its cache operator (ld.cg, st.cg, ld.cv, st.wt), and hardware does not tear them. PTX takes cache operators for hints, which order nothing: use relaxed accesses (cuda::atomic_ref with memory_order_relaxed) or volatile ones for both.",
	mixedSize:    "Both are atomic, but of different sizes, so that neither guards the other: access the bytes with one size.",
}

// side is one of the two accesses of a race.
type side struct {
	launch *launch
	site   int
	host   string // what tells calls of the host apart
	what   string // in words
	place  func() (check.Place, []check.Place)
}

// side describes an access of a kernel; b is the block if the access happens now.
func (l *launch) side(r *record, lane int, b *block) side {
	verb := "read"
	if r.class&write != 0 {
		verb = "write"
	}
	if r.class&strong != 0 && r.class&(read|write) == read|write {
		verb = "atomic operation"
	}
	if r.class&flight != 0 {
		verb = "asynchronous " + verb
	}
	who := "threads of several blocks"
	if r.form != blocks {
		who = fmt.Sprintf("thread %v of block %v", l.dim.At(uint64(r.warp)*32+uint64(lane&31)), l.grid.At(uint64(r.block)))
	}
	site, warp := int(r.site), int(r.warp)
	return side{launch: l, site: site, what: fmt.Sprintf("%s of %d bytes by %s", verb, r.size, who), place: func() (check.Place, []check.Place) {
		if b == nil || b.probed == nil {
			if l.source == nil {
				return check.Place{}, nil
			}
			return check.PlaceOf(l.source(site)), nil
		}
		var chain []check.Place
		for _, w := range b.probed.Chain(warp) {
			chain = append(chain, check.PlaceOf(w))
		}
		return check.PlaceOf(b.probed.Where(warp, lane)), chain
	}}
}

// find is a race.
type find struct {
	rule   *check.Rule
	a, b   side // the access that found it, and the earlier one
	addr   uint64
	count  uint64
	launch int
	kernel string
	excuse *excuse // nil: none
	cause  func() string
	space  string
}

// level is how serious the race is.
func (x *find) level() check.Level {
	if x.excuse != nil {
		return x.excuse.level
	}
	return x.rule.Level
}

// findKey tells findings apart: a rule and a pair of sites.
type findKey struct {
	rule           *check.Rule
	kernelA, hostA string
	kernelB, hostB string
	siteA, siteB   int
}

// findings is what was found.
type findings struct {
	by    map[findKey]*check.Finding
	all   []*check.Finding
	raced int         // how often a race was found
	hook  func(*find) // of tests
}

func newFindings() findings { return findings{by: map[findKey]*check.Finding{}} }

func (f *findings) list() []*check.Finding { return f.all }

// add adds a race, or counts it with those at the same places.
func (f *findings) add(x *find) {
	f.raced++
	if f.hook != nil {
		f.hook(x)
	}
	k := findKey{rule: x.rule, hostA: x.a.host, siteA: x.a.site, hostB: x.b.host, siteB: x.b.site}
	if x.a.launch != nil {
		k.kernelA = x.a.launch.kernel
	}
	if x.b.launch != nil {
		k.kernelB = x.b.launch.kernel
	}
	if k.kernelA == k.kernelB && k.siteB < k.siteA {
		k.siteA, k.siteB = k.siteB, k.siteA
	}
	if old := f.by[k]; old != nil {
		count := old.Count + x.count
		if x.level() > old.Level { // show the more serious one
			*old = *x.finding()
		}
		old.Count = count
		return
	}
	n := x.finding()
	f.by[k], f.all = n, append(f.all, n)
}

// finding describes a race.
func (x *find) finding() *check.Finding {
	n := &check.Finding{Rule: x.rule, Level: x.level(), Launch: x.launch, Kernel: plain.Instance(x.kernel), Count: x.count, Cause: noCause}
	if x.cause != nil {
		n.Cause = x.cause()
	}
	n.Message = x.rule.Short + " "
	if a := advice[n.Cause]; a != "" {
		n.Message += a
	} else {
		n.Message += x.rule.Mend
	}
	if x.excuse != nil {
		n.Message += x.excuse.reason
	}
	for i, s := range []side{x.a, x.b} {
		if s.place == nil {
			continue
		}
		role := []check.Role{check.First, check.Other}[i]
		if s.launch == nil {
			role = check.Called
		}
		place, chain := s.place()
		n.Steps = append(n.Steps, check.Step{Role: role, Text: s.what, Place: place, Chain: chain})
	}
	n.Details = map[string]string{"address": fmt.Sprintf("%#x", x.addr)}
	if x.space != "" {
		n.Details["space"] = x.space
	}
	return n
}

// race reports an access that races with a record; lanes are the record's and the access's.
// same is set if both wrote the same value.
func (b *block) race(x *access, e *record, lanes [2]int, addr uint64, count uint64, same bool) {
	earlier, later := *e, x.r // so that an access need not outlive its call
	e, n, l := &earlier, &later, b.launch
	f := &find{a: l.side(n, lanes[1], b), b: b.c.launches[e.launch].side(e, lanes[0], nil), addr: addr, count: count, launch: l.number, kernel: l.kernel, space: "global"}
	switch {
	case e.launch != l.id:
		f.rule = streams
	case e.form == blocks || e.block != b.id:
		f.rule = globalBlocks
	case e.form == warps || e.warp != n.warp:
		f.rule = globalBlock
	default:
		f.rule = globalWarp
		// Two lanes of one instruction have no order even in lockstep.
		if e.class&n.class&lockstep != 0 && !(e.time == n.time && e.site == n.site) {
			f.excuse = inLockstep
		}
	}
	switch {
	case same:
		f.excuse = equal
	case (e.class|n.class)&hinted != 0 && b.excused(e, n):
		f.excuse = throughL2
	}
	switch {
	case x.Space == isa.TensorMem:
		f.rule, f.space = tensorMemory, "tensor"
	case x.shared:
		f.space = "shared"
		switch f.rule {
		case globalBlock:
			f.rule = sharedBlock
		case globalWarp:
			f.rule = sharedWarp
		case globalBlocks:
			f.rule = sharedBlocks
		}
	}
	f.cause = func() string { return b.cause(&earlier, &later) }
	b.c.found.add(f)
}

// cause says why two accesses race.
func (b *block) cause(e, n *record) string {
	atomic := func(r *record) bool { return r.class&(strong|hinted) == strong }
	switch {
	case e.class&flight != 0 && b.launch.code[e.site].Tensor != nil:
		return stillRead
	case e.class&flight != 0:
		switch op := b.launch.code[e.site].Op; {
		case strings.HasPrefix(op, "tcgen05.ld"), strings.HasPrefix(op, "tcgen05.st"):
			return moveUnderWay
		case strings.HasPrefix(op, "tcgen05."):
			return notCommitted
		}
		return notWaitedFor
	case b.excused(e, n):
		return byOperator
	case e.class&n.class&strong != 0 && e.size != n.size:
		return mixedSize
	case e.class&n.class&strong != 0:
		return narrowScope
	case atomic(e) || atomic(n):
		return besideAtomic
	case e.launch != n.launch:
		return noCause
	}
	// Would a wider scope, or a fence, have ordered them? Then the thread's block has read what
	// the other's has strongly written after its access.
	for _, ch := range b.seen {
		if ch == nil {
			continue
		}
		for _, m := range []*memory{b.c.global, b.shared} {
			p := m.pages[ch.addr/pageBytes]
			if p == nil || p.chain(ch.addr, ch.size) != ch {
				continue
			}
			var one [1]entry
			list, _ := b.c.entries(p.cell(ofWrites, int(ch.addr/4%pageWords)), &one)
			for _, t := range list {
				w := b.c.rec(t.record)
				if w.class&strong == 0 || w.launch != e.launch || w.time < e.time || w.form != blocks && w.block != e.block {
					continue
				}
				if e.block != n.block && (w.class&wide == 0 || b.launch.narrow) {
					return narrowScope
				}
				return fenceMissing
			}
		}
	}
	return noCause
}
