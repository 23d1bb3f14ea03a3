package cache

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/plug"
)

// oldest is LRU or FIFO as a plug-in.
type oldest struct {
	ways   int
	fifo   bool
	stamps []uint64
}

func (o *oldest) OnHit(set, way int, now uint64) {
	if !o.fifo {
		o.stamps[set*o.ways+way] = now
	}
}
func (o *oldest) OnFill(set, way int, addr, now uint64) { o.stamps[set*o.ways+way] = now }
func (o *oldest) OnInvalidate(set, way int)             {}

func (o *oldest) Victim(set int, from Ways) int {
	best := from.Next(0)
	for w := best; w >= 0; w = from.Next(w + 1) {
		if o.stamps[set*o.ways+w] < o.stamps[set*o.ways+best] {
			best = w
		}
	}
	return best
}

// note records a cache's calls of its policy. It evicts the way in next.
type note struct {
	heard []string
	next  int
}

func (n *note) say(format string, a ...any) { n.heard = append(n.heard, fmt.Sprintf(format, a...)) }

func (n *note) OnHit(set, way int, now uint64) { n.say("hit %d.%d at %d", set, way, now) }
func (n *note) OnFill(set, way int, addr, now uint64) {
	n.say("fill %d.%d %#x at %d", set, way, addr, now)
}
func (n *note) OnInvalidate(set, way int) { n.say("drop %d.%d", set, way) }
func (n *note) Victim(set int, from Ways) int {
	var list []int
	for w := from.Next(0); w >= 0; w = from.Next(w + 1) {
		list = append(list, w)
	}
	n.say("victim %d of %v", set, list)
	return n.next
}

// The numbers of these tests' policies in settings.
const (
	oldestUse Replacement = plug.First + iota
	oldestFill
	noted
)

var notes *note // of the last cache made

func init() {
	for _, fifo := range []bool{false, true} {
		Replacements.Register(fmt.Sprintf("test, fifo %v", fifo), func(sets, ways int) Policy {
			return &oldest{ways: ways, fifo: fifo, stamps: make([]uint64, sets*ways)}
		})
	}
	Replacements.Register("test, noted", func(sets, ways int) Policy {
		notes = &note{}
		notes.say("%d sets of %d", sets, ways)
		return notes
	})
}

// The calls of a policy, in order. Empty ways are taken first, without a call of
// Victim; lines that wait for data are not victims.
func TestPolicyHears(t *testing.T) {
	cfg, err := ParseConfig("S:2:128:3,L:B:m:L:L,A:8:4,8:0,32")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Replace, cfg.MaxWays = noted, 4
	var pool mem.Pool
	c, err := New(cfg, &pool)
	if err != nil {
		t.Fatal(err)
	}
	heard := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(notes.heard, want) {
			t.Errorf("%s: heard %q, want %q", what, notes.heard, want)
		}
		notes.heard = nil
	}
	read := func(now, addr uint64) *mem.Req {
		r := pool.Get()
		r.Addr, r.Size, r.Sectors = addr, 32, 1
		c.Access(now, r)
		return r
	}
	come := func(now uint64) {
		for r := c.PopMiss(); r != nil; r = c.PopMiss() {
			c.Fill(now, r)
		}
	}
	heard("made", "2 sets of 3")
	read(1, 0)
	read(2, 256)
	heard("misses take the last empty way", "fill 0.2 0x0 at 1", "fill 0.1 0x100 at 2")
	come(3)
	read(4, 256)
	heard("a hit", "hit 0.1 at 4")
	r := pool.Get()
	r.Addr, r.Size, r.Sectors = 32, 32, 2
	c.Access(5, r)
	heard("another sector", "hit 0.2 at 5")
	read(6, 512)
	heard("the last empty way", "fill 0.0 0x200 at 6")
	notes.next = 1
	read(7, 768)
	heard("sets are full, ways 0 and 2 wait for data", "victim 0 of [1]", "victim 0 of [1]", "fill 0.1 0x300 at 7")
	come(8)
	c.SetWays(4)
	heard("one way more", "2 sets of 4", "fill 0.2 0x0 at 5", "fill 0.0 0x200 at 6", "fill 0.1 0x300 at 7")
	c.Invalidate()
	heard("invalidated", "drop 0.0", "drop 0.1", "drop 0.2")
}

// A way that was not offered panics: only a fault in the program can cause that.
func TestPolicyAnswersWrong(t *testing.T) {
	for _, answer := range []int{-1, 2, 64} {
		cfg, err := ParseConfig("S:1:128:2,L:B:m:L:L,A:8:4,8:0,32")
		if err != nil {
			t.Fatal(err)
		}
		cfg.Replace = noted
		var pool mem.Pool
		c, err := New(cfg, &pool)
		if err != nil {
			t.Fatal(err)
		}
		notes.next = answer
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("way %d was taken", answer)
				}
			}()
			for i := range uint64(3) {
				r := pool.Get()
				r.Addr, r.Size, r.Sectors = i*128, 32, 1
				c.Access(i, r)
				if r = c.PopMiss(); r != nil {
					c.Fill(i, r)
				}
			}
		}()
	}
}

// Next finds all ways, across words.
func TestWays(t *testing.T) {
	w := make(Ways, 3)
	for _, i := range []int{0, 63, 64, 130} {
		w[i>>6] |= 1 << (i & 63)
	}
	var got []int
	for i := w.Next(0); i >= 0; i = w.Next(i + 1) {
		got = append(got, i)
	}
	if want := []int{0, 63, 64, 130}; !slices.Equal(got, want) {
		t.Errorf("ways %v, want %v", got, want)
	}
	if w.Has(1) || !w.Has(130) || w.Has(192) {
		t.Errorf("1: %v, 130: %v, 192: %v", w.Has(1), w.Has(130), w.Has(192))
	}
}

// An unregistered policy is refused, and a registered one has no letter.
func TestPolicyWithoutName(t *testing.T) {
	cfg, err := ParseConfig("S:1:128:2,L:B:m:L:L,A:8:4,8:0,32")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Replace = plug.First + 100
	if err := cfg.Check(); err == nil {
		t.Error("an unknown policy was accepted")
	}
	cfg.Replace = oldestUse
	if got, want := cfg.String(), "S:1:128:2,?:B:m:L:L,A:8:4,8:0"; got[:len(want)] != want {
		t.Errorf("%s, want %s…", got, want)
	}
	if _, err := ParseConfig(cfg.String()); err == nil {
		t.Error("? was accepted as a policy")
	}
}
