package races

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// A test's program is a list of actions in the order in which they happen, such as
// "A:w0 A:Frg D:Rq0". Threads: A and B are lanes of warp 0 of block 0, C and D are lanes of
// its warp 1, E to H the same of block 1. Actions of a thread:
//
//	w r       plain write, plain read
//	W R U     strong store, load, atomic operation; then an order (x relaxed, a acquire,
//	          r release, b both; h weak, with a cache operator) and a scope (c block, g GPU)
//	f         asynchronous copy: a write
//	F         fence, with order and scope
//	v         waits for its copies
//	i j k     arrives at the block's mbarrier, which completes its phase; waits for it; waits
//	          relaxed
//
// An access ends with its word, and ! if it is of 8 bytes. Actions of groups: | is a barrier
// of the thread's block, m one of its warp, n a named one: warp 0 waits, warp 1 only arrives;
// p is a plain write of the thread's warp, one word for each of its two lanes.
type action struct {
	t           int // thread
	op          byte
	order       isa.Order
	scope       isa.Scope
	word, bytes int
	hinted      bool // it is relaxed and wide by a cache operator alone
}

func (a action) block() int  { return a.t / 4 }
func (a action) warp() int   { return a.t / 2 % 2 }
func (a action) wide() bool  { return a.scope == isa.ScopeGPU }
func (a action) reads() bool { return strings.IndexByte("rRU", a.op) >= 0 }
func (a action) writes() bool {
	return strings.IndexByte("wWUfp", a.op) >= 0
}
func (a action) strong() bool { return strings.IndexByte("WRU", a.op) >= 0 }

var orderOf = map[byte]isa.Order{'x': isa.Relaxed, 'a': isa.Acquire, 'r': isa.Release, 'b': isa.AcqRel}

func parse(text string) (list []action) {
	for _, s := range strings.Fields(text) {
		a := action{t: int(s[0] - 'A'), op: s[2], bytes: 4}
		s = s[3:]
		if strings.IndexByte("WRUF", a.op) >= 0 {
			if a.hinted = s[0] == 'h'; a.hinted {
				s = "x" + s[1:]
			}
			a.order, a.scope, s = orderOf[s[0]], map[byte]isa.Scope{'c': isa.ScopeCTA, 'g': isa.ScopeGPU}[s[1]], s[2:]
		}
		if s != "" {
			a.word = int(s[0] - '0')
		}
		if strings.HasSuffix(s, "!") {
			a.bytes = 8
		}
		list = append(list, a)
	}
	return list
}

// note is what tests write after the rule of a race that is a note.
func (f *find) note() string {
	if f.level() == check.Note {
		return "?"
	}
	return ""
}

// stub is a block of two warps of two lanes.
type stub struct{ n, site int }

func (s *stub) Index() exec.Dim3                { return exec.Dim3{X: uint32(s.n)} }
func (s *stub) Linear() uint64                  { return uint64(s.n) }
func (s *stub) Warps() int                      { return 2 }
func (s *stub) LiveLanes(int) isa.LaneMask      { return 3 }
func (s *stub) SharedBytes() []byte             { return nil }
func (s *stub) Site(int) int                    { return s.site }
func (s *stub) Where(warp, lane int) exec.Where { return exec.Where{} }
func (s *stub) Chain(int) []exec.Where          { return nil }

// pair is a race: the sites of the later and the earlier access, -1 for one of several blocks.
type pair struct{ later, earlier int }

// checked runs a program through the checker.
func checked(list []action, space isa.Space) (got map[pair]string, all []*check.Finding) {
	return checkedBy(New().(*Checker), list, space)
}

// checkedBy runs a program through a checker that has seen nothing yet.
func checkedBy(c *Checker, list []action, space isa.Space) (got map[pair]string, all []*check.Finding) {
	got = map[pair]string{}
	c.found.hook = func(f *find) {
		if f.rule != forgotten {
			got[pair{f.a.site, f.b.site}] = f.rule.ID + f.note()
		}
	}
	l := c.Launch(&check.Launch{At: check.Clock{0: 1}})
	var code []*isa.Inst
	for _, a := range list {
		in := &isa.Inst{Elem: uint8(a.bytes), Order: a.order, Scope: a.scope, Barrier: a.op == '|' || a.op == 'n'}
		if a.hinted {
			in.Order, in.Scope, in.Cache = isa.Weak, isa.ScopeNone, isa.CacheCG
		}
		switch a.op {
		case 'F':
			in.Kind = isa.KindFence
		case 'i', 'j':
			in.Order = isa.Release
		}
		code = append(code, in)
	}
	text := func(i int) string {
		if list[i].op == 'n' {
			return "bar.sync 1, 64;"
		}
		return "bar.sync 0;"
	}
	l.Begin(&exec.Launch{Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}}, code, func(int) exec.Where { return exec.Where{} }, text)
	stubs := []*stub{{n: 0}, {n: 1}}
	probes := []exec.BlockProbe{l.Block(stubs[0]), l.Block(stubs[1])}
	for i, a := range list {
		p, w, m := probes[a.block()], a.warp(), isa.LaneMask(1)<<(a.t%2)
		stubs[a.block()].site = i
		var addr [32]uint64
		addr[a.t%2] = uint64(4 * a.word)
		switch a.op {
		case 'F':
			p.Fence(w, m, a.order, a.scope)
		case 'v':
			p.Group(w, m, isa.Async{Does: isa.AsyncWaitAll, Done: isa.ByGroup})
		case '|':
			p.Arrive(0, 3, 0, true)
			p.Arrive(1, 3, 0, true)
			p.Open(0)
		case 'm':
			p.Meet(w, 3)
		case 'n':
			p.Arrive(1, 3, 1, false)
			p.Arrive(0, 3, 1, true)
			p.Open(1)
		case 'i', 'j', 'k':
			s := exec.Signal{Warp: w, Site: i, Does: exec.SignalArrive, Lanes: m, Done: m, Addr: &addr, Order: isa.Release, Scope: isa.ScopeCTA}
			addr[a.t%2] = 1024
			switch a.op {
			case 'j':
				s.Does, s.Order = exec.SignalWait, isa.Acquire
			case 'k':
				s.Does, s.Order = exec.SignalWait, isa.Relaxed
			}
			p.Signal(&s)
		case 'p':
			addr[0], addr[1] = uint64(4*a.word), uint64(4*a.word+4)
			p.Access(&exec.Access{Warp: w, Site: i, Inst: code[i], Lanes: 3, Space: space, Addr: &addr, Bytes: 4, Write: true})
		default:
			x := exec.Access{Warp: w, Site: i, Inst: code[i], Lanes: m, Space: space, Addr: &addr, Bytes: a.bytes, Read: a.reads(), Write: a.writes()}
			if a.op == 'f' {
				x.Flight, x.By = true, isa.ByGroup
			}
			p.Access(&x)
		}
	}
	probes[0].End()
	probes[1].End()
	return got, c.Findings()
}

// event is an access of the oracle: one thread, some bytes.
type event struct {
	action
	site  int
	heads []head
	chain uint64 // a write's: the writes that who reads it observes
	saw   uint64 // a read's: the writes that it observes
}

// head is what a thread released.
type head struct {
	what  uint64
	block int
	wide  bool
}

type waiting struct {
	head
	word, bytes int
}

// oracle finds all races of a program by its definition: the events that happened before each
// thread's next one, as sets.
func oracle(list []action, space isa.Space) map[pair]string {
	var events []*event
	var know, mbars [8]uint64
	var flying [8]uint64
	var fenced [8][2]uint64
	var pending [8][]waiting
	released := map[[3]int]head{}
	last := map[int]int{} // by byte: one more than the last write
	races := map[pair]string{}
	key := func(a action, byte int) int {
		if space == isa.Shared {
			return a.block()*1024 + byte
		}
		return byte
	}
	excused := func(e, n *event) bool {
		return e.strong() && n.strong() && e.bytes == n.bytes && e.word == n.word && (e.block() == n.block() || e.wide() && n.wide())
	}
	take := func(t int, h head, wide bool) {
		if h.block == t/4 || h.wide && wide {
			know[t] |= h.what
		}
	}
	access := func(a action, site int) {
		n := &event{action: a, site: site}
		id := len(events)
		self := uint64(1) << id
		from := -1
		for i := range a.bytes {
			w := last[key(a, 4*a.word+i)] - 1
			if i == 0 {
				from = w
			}
			if w != from || w >= 0 && !excused(events[w], n) {
				from = -1
				break
			}
		}
		if a.strong() && a.reads() && from >= 0 {
			n.saw, n.heads, n.chain = events[from].chain, slices.Clone(events[from].heads), events[from].chain
			for _, h := range n.heads {
				if a.order.Acquires() {
					take(a.t, h, a.wide())
				} else {
					pending[a.t] = append(pending[a.t], waiting{h, a.word, a.bytes})
				}
			}
			if a.order.Acquires() {
				for _, q := range pending[a.t] {
					if q.word == a.word && q.bytes == a.bytes {
						take(a.t, q.head, a.wide())
					}
				}
			}
		}
		for i, e := range events {
			over := e.word*4 < a.word*4+a.bytes && a.word*4 < e.word*4+e.bytes && (space == isa.Global || e.block() == a.block())
			if !over || !e.writes() && !a.writes() || excused(e, n) && !e.hinted && !n.hinted || know[a.t]>>i&1 != 0 {
				continue
			}
			ordered := false
			for z, o := range events {
				ordered = ordered || know[a.t]>>z&1 != 0 && o.saw>>i&1 != 0
			}
			if ordered {
				continue
			}
			kind := "race-global-interblock"
			switch {
			case e.block() == a.block() && space == isa.Shared && e.warp() == a.warp():
				kind = "race-shared-intrawarp"
			case e.block() == a.block() && space == isa.Shared:
				kind = "race-shared-interwarp"
			case e.block() == a.block() && e.warp() == a.warp():
				kind = "race-global-intrawarp"
			case e.block() == a.block():
				kind = "race-global-intrablock"
			}
			if excused(e, n) {
				kind += "?"
			}
			races[pair{site, e.site}] = kind
		}
		events = append(events, n)
		if a.op == 'f' {
			flying[a.t] |= self
		} else {
			know[a.t] |= self
		}
		if !a.writes() {
			return
		}
		n.chain |= self
		if a.op == 'W' || from < 0 {
			n.chain, n.heads = self, nil
		}
		if a.strong() {
			at := [3]int{a.t, a.word, a.bytes}
			if a.order.Releases() {
				released[at] = head{know[a.t], a.block(), a.wide()}
			}
			if h, ok := released[at]; ok {
				n.heads = append(n.heads, h)
			}
			for k, f := range fenced[a.t] {
				if f != 0 {
					n.heads = append(n.heads, head{f, a.block(), k == 1})
				}
			}
		}
		for i := range a.bytes {
			last[key(a, 4*a.word+i)] = id + 1
		}
	}
	for site, a := range list {
		b, w := 4*a.block(), a.t&^1
		switch a.op {
		case 'F':
			var kept []waiting
			for _, q := range pending[a.t] {
				if a.order.Acquires() {
					take(a.t, q.head, a.wide())
				}
				kept = append(kept, q)
			}
			pending[a.t] = kept
			if a.order.Releases() {
				if a.wide() {
					fenced[a.t][1] = know[a.t]
				} else {
					fenced[a.t][0] = know[a.t]
				}
			}
		case 'k': // observes, and learns nothing
		case 'v':
			know[a.t] |= flying[a.t]
		case '|':
			all := know[b] | know[b+1] | know[b+2] | know[b+3]
			know[b], know[b+1], know[b+2], know[b+3] = all, all, all, all
		case 'm':
			all := know[w] | know[w+1]
			know[w], know[w+1] = all, all
		case 'n':
			all := know[b] | know[b+1] | know[b+2] | know[b+3]
			know[b], know[b+1] = all, all
		case 'i':
			mbars[a.block()] |= know[a.t]
		case 'j':
			know[a.t] |= mbars[a.block()]
		case 'p':
			one, two := a, a
			one.t, two.t, two.word = w, w+1, a.word+1
			access(one, site)
			access(two, site)
		default:
			access(a, site)
		}
	}
	return races
}

// differ says how the checker's answer differs from the oracle's: it must name an earlier
// access for just those accesses that race with one, no note in place of an error, and only true pairs.
func differ(list []action, space isa.Space) string {
	got, _ := checked(list, space)
	want := oracle(list, space)
	for p, kind := range got {
		if w, ok := want[p]; !ok {
			return fmt.Sprintf("no race, but reported: %v %s", p, kind)
		} else if w != kind && list[p.later].op != 'p' && list[p.earlier].op != 'p' {
			return fmt.Sprintf("%v is %s, want %s", p, kind, w)
		}
	}
	for p := range want {
		found := false
		for q := range got {
			found = found || q.later == p.later && (strings.HasSuffix(want[p], "?") || !strings.HasSuffix(got[q], "?"))
		}
		if !found {
			return fmt.Sprintf("missed %v %s", p, want[p])
		}
	}
	return ""
}

func (a action) String() string {
	name := func(m map[byte]isa.Order) string {
		for k, o := range m {
			if o == a.order {
				return string(k)
			}
		}
		return ""
	}
	s := fmt.Sprintf("%c:%c", 'A'+a.t, a.op)
	switch {
	case a.hinted:
		s += "hg"
	case strings.IndexByte("WRUF", a.op) >= 0:
		s += name(orderOf) + a.scope.String()[:1]
	}
	if strings.IndexByte("Fvijk|mn", a.op) < 0 {
		s += fmt.Sprint(a.word)
	}
	if a.bytes == 8 {
		s += "!"
	}
	return s
}

// random makes a program of n actions, with cache operators if they matter.
func random(r *rand.Rand, n int, hints bool) (list []action) {
	ops := []string{"wwrrWWRRUUFF|mp", "wrrp|mwp", "wwrrWRUFF|mnvfijijkp", "WRUUFFwr", "wwrrfv|m", "wrUUU|p"}[r.IntN(6)]
	words := 1 + r.IntN(3)
	for range n {
		a := action{t: r.IntN(8), op: ops[r.IntN(len(ops))], word: r.IntN(words), bytes: 4}
		switch {
		case a.op == 'F':
			a.order = isa.AcqRel
		case a.op == 'W':
			a.order = []isa.Order{isa.Relaxed, isa.Release}[r.IntN(2)]
		case a.op == 'R':
			a.order = []isa.Order{isa.Relaxed, isa.Acquire}[r.IntN(2)]
		case a.op == 'U':
			a.order = []isa.Order{isa.Relaxed, isa.Release, isa.Acquire, isa.AcqRel, isa.Relaxed}[r.IntN(5)]
		}
		if a.order != isa.Weak {
			a.scope = []isa.Scope{isa.ScopeCTA, isa.ScopeGPU, isa.ScopeGPU}[r.IntN(3)]
			a.hinted = hints && strings.IndexByte("WR", a.op) >= 0 && a.order == isa.Relaxed && a.wide() && r.IntN(2) == 0
		}
		if a.order == isa.Weak && a.op != 'p' && r.IntN(8) == 0 || a.strong() && r.IntN(16) == 0 {
			a.word, a.bytes = 0, 8
		}
		list = append(list, a)
	}
	return list
}

func TestRandomPrograms(t *testing.T) {
	bad := 0
	for seed := range uint64(alltests.Count(4000, 20000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		n, space := 2+r.IntN(24), isa.Global
		if r.IntN(4) == 0 {
			space = isa.Shared
		}
		list := random(r, n, space == isa.Global && seed%2 == 0)
		if d := differ(list, space); d != "" {
			for i := 0; i < len(list); i++ { // the shortest program that still differs
				if less := slices.Delete(slices.Clone(list), i, i+1); differ(less, space) != "" {
					list, i = less, -1
				}
			}
			t.Errorf("seed %d, %s memory: %v: %s", seed, space, list, differ(list, space))
			if bad++; bad > 5 {
				return
			}
		}
	}
}

// TestFirstBytes: the first access of a word is noted when it covers only part of it.
func TestFirstBytes(t *testing.T) {
	for _, space := range []isa.Space{isa.Global, isa.Shared} {
		for op := range 2 {
			first := action{t: 0, op: "wr"[op], bytes: 1}
			got, _ := checked([]action{first, {t: 2, op: 'w', bytes: 1}}, space)
			if len(got) != 1 {
				t.Errorf("%s memory, %c and write of its first byte: %v, want one race", space, first.op, got)
			}
			got, _ = checked([]action{first, {t: 2, op: 'w', bytes: 1, word: 1}}, space)
			if len(got) != 0 {
				t.Errorf("%s memory, %c and write of another word: %v, want no race", space, first.op, got)
			}
		}
	}
}
