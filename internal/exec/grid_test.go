package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// script is a block that issues a number of instructions and then ends in some way. It
// writes its number to its overlay first.
type script struct {
	grid   *fakeGrid
	n      uint64
	length uint64
	end    Status
	done   uint64
	needs  int64 // blocks that must have begun before it can end; 0 for none
	search *Search
	state  func(done uint64) uint64 // what it is after that many instructions; nil: always something else
	stores func(done uint64) bool   // to global memory
	shares bool                     // each instruction stores to shared memory

	followed bool // to its end
}

// State is as in Stater.
func (s *script) State() (uint64, bool) { return s.state(s.done), true }

func (s *script) Index() Dim3                    { return Dim3{X: uint32(s.n)} }
func (s *script) Counts() (warp, threads uint64) { return s.done, 32 * s.done }
func (s *script) Failure() error                 { return &Fault{What: fmt.Sprintf("block %d", s.n)} }
func (s *script) Waits() []string                { return []string{"waits"} }
func (s *script) Somewhere() Where               { return Where{Kernel: "k", Block: s.Index()} }
func (s *script) Free() (moved, ok bool)         { return false, true }
func (s *script) Quiet() bool                    { return s.grid.say == nil && !s.followed }
func (s *script) Recycle()                       { s.grid.recycled.Add(1) }
func (s *script) Loops() []Where                 { return []Where{s.Somewhere()} }
func (s *script) Watch(x *Search)                { s.search = x }

func (s *script) Say(io.Writer, *Warner) error {
	if s.grid.say == nil {
		return nil
	}
	return s.grid.say(s.n)
}

func (s *script) Run(budget uint64) Status {
	if s.search != nil && s.state != nil {
		s.search.at(s, true)
	}
	for ; budget > 0; budget-- {
		if s.done >= s.length && s.grid.begun.Load() >= s.needs {
			return s.end
		}
		s.done++
		if s.search != nil && s.state != nil {
			e := Effects{Inst: &isa.Inst{}, Space: isa.Global, Wrote: s.stores != nil && s.stores(s.done)}
			if s.shares {
				e.Space, e.Wrote = isa.Shared, true
			}
			s.search.Saw(&e, nil)
			s.search.at(s, false)
		}
	}
	if s.done >= s.length && s.grid.begun.Load() >= s.needs {
		return s.end
	}
	return Stopped
}

// fakeGrid is memory of one word, which every block sets to its number.
type fakeGrid struct {
	begun    atomic.Int64
	recycled atomic.Int64
	most     atomic.Int64 // blocks that had storage at a time, with one goroutine
	word     uint64
	commits  []uint64
	overlays []*fakeOverlay
	say      func(block uint64) error
}

type fakeOverlay struct {
	grid *fakeGrid
	word uint64
}

func (o *fakeOverlay) DirtyBytes() int { return 8 }
func (o *fakeOverlay) Discard()        { o.word = 0 }
func (o *fakeOverlay) Commit() {
	o.grid.word = o.word
	o.grid.commits = append(o.grid.commits, o.word)
}

// launch makes a grid of scripts; edit changes them.
func (f *fakeGrid) launch(blocks uint64, edit func(s *script)) *Grid {
	return &Grid{
		Kernel: "k", Blocks: blocks,
		Begin: func(worker int, n uint64, overlay int) GridBlock {
			f.most.Store(max(f.most.Load(), f.begun.Add(1)-f.recycled.Load()))
			s := &script{grid: f, n: n, length: 10 + n%7, end: Finished}
			if edit != nil {
				edit(s)
			}
			if overlay == Direct {
				f.word = n
			} else {
				f.overlays[overlay].word = n
			}
			return s
		},
		Overlay: func(i int) Overlay {
			for len(f.overlays) <= i {
				f.overlays = append(f.overlays, &fakeOverlay{grid: f})
			}
			return f.overlays[i]
		},
	}
}

// length returns the total number of instructions of blocks 0 to n-1.
func length(n uint64) (sum uint64) {
	for i := range n {
		sum += 10 + i%7
	}
	return sum
}

// TestGridCounts: all blocks run, stores are applied in the order of blocks, and
// nothing depends on the number of goroutines.
func TestGridCounts(t *testing.T) {
	for _, blocks := range []uint64{1, 2, 31, 32, 33, 100, 3000} {
		for _, threads := range []int{1, 2, 5} {
			f := &fakeGrid{}
			res, err := f.launch(blocks, nil).Run(context.Background(), Options{Threads: threads}, 0)
			want := Result{Blocks: blocks, WarpInsts: length(blocks), ThreadInsts: 32 * length(blocks)}
			if err != nil || res != want {
				t.Errorf("%d blocks, %d threads: %+v, %v, want %+v", blocks, threads, res, err, want)
			}
			if f.word != blocks-1 || uint64(f.recycled.Load()) != blocks {
				t.Errorf("%d blocks, %d threads: block %d stored last, %d were recycled", blocks, threads, f.word, f.recycled.Load())
			}
			for i, n := range f.commits {
				if n != uint64(i) {
					t.Fatalf("%d blocks, %d threads: commit %d was of block %d", blocks, threads, i, n)
				}
			}
		}
	}
}

// TestGridStorage: a block that nobody needs any more has no storage when the next one begins; others keep it until those
// before them have ended.
func TestGridStorage(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(f *fakeGrid, o *Options)
		loud uint64 // one of this many blocks is followed; 0: none
		most int64
	}{
		{"quiet", nil, 0, 1},
		{"one of eight is followed", nil, 8, 5},
		{"blocks that print", func(f *fakeGrid, _ *Options) { f.say = func(uint64) error { return nil } }, 0, 32},
		{"with a limit", func(_ *fakeGrid, o *Options) { o.MaxInsts = 1 << 30 }, 0, 32},
	} {
		f, o := &fakeGrid{}, Options{Threads: 1}
		if c.edit != nil {
			c.edit(f, &o)
		}
		res, err := f.launch(32, func(s *script) { s.followed = c.loud > 0 && s.n%c.loud == 3 }).Run(context.Background(), o, 0)
		if err != nil || res.Blocks != 32 || res.WarpInsts != length(32) || f.recycled.Load() != 32 {
			t.Errorf("%s: %+v, %v; %d were recycled", c.name, res, err, f.recycled.Load())
		}
		if most := f.most.Load(); most != c.most {
			t.Errorf("%s: %d blocks had storage, want %d", c.name, most, c.most)
		}
	}
}

// TestGridWorkers: no more workers than can have work.
func TestGridWorkers(t *testing.T) {
	for _, c := range []struct {
		g       Grid
		threads int
		want    int
	}{
		{Grid{Blocks: 100}, 3, 3},
		{Grid{Blocks: 2}, 3, 2},
		{Grid{Blocks: 100, Talks: true}, 3, 1},
		{Grid{Blocks: 100, Cooperative: true}, 3, 1},
		{Grid{Blocks: 1 << 40}, 1_000_000, mostBatch},
	} {
		if got := c.g.Workers(Options{Threads: c.threads}); got != c.want {
			t.Errorf("%+v, %d threads: %d workers, want %d", c.g, c.threads, got, c.want)
		}
	}
	if n := (&Grid{Blocks: 100}).Workers(Options{}); n < 1 {
		t.Errorf("%d workers by default", n)
	}
}

// TestGridEnds: the first block that ends badly, in block order, ends the launch; later
// blocks leave no trace.
func TestGridEnds(t *testing.T) {
	for _, talks := range []bool{false, true} {
		for _, threads := range []int{1, 4} {
			for end, is := range map[Status]func(error) bool{
				Failed: func(err error) bool { var e *Fault; return errors.As(err, &e) && e.What == "block 40" },
				Stuck: func(err error) bool {
					var e *StuckError
					return errors.As(err, &e) && e.Block.X == 40 && e.Kernel == "k"
				},
			} {
				f := &fakeGrid{}
				g := f.launch(500, func(s *script) {
					if s.n == 40 || s.n == 41 || s.n == 60 {
						s.end = end
					}
				})
				g.Talks = talks
				res, err := g.Run(context.Background(), Options{Threads: threads}, 0)
				if !is(err) {
					t.Errorf("talks %v, %d threads: ended with %v", talks, threads, err)
				}
				if talks { // which blocks run beside it is a matter of turns
					continue
				}
				if res.Blocks != 40 || res.WarpInsts != length(41) || f.word != 40 {
					t.Errorf("%d threads: %+v, block %d stored last; want 40 blocks and %d instructions", threads, res, f.word, length(41))
				}
			}
		}
	}
}

// TestGridLimit: a limit that is just sufficient, and one that is one too low.
func TestGridLimit(t *testing.T) {
	const blocks, before = 70, 1000
	for _, talks := range []bool{false, true} {
		for _, threads := range []int{1, 3} {
			for _, short := range []uint64{0, 1, 300, length(blocks)} {
				f := &fakeGrid{}
				g := f.launch(blocks, nil)
				g.Talks = talks
				res, err := g.Run(context.Background(), Options{Threads: threads, MaxInsts: before + length(blocks) - short}, before)
				var l *LimitError
				if (short != 0) != errors.As(err, &l) || short == 0 && err != nil {
					t.Errorf("talks %v, %d threads, %d too few: %v", talks, threads, short, err)
				}
				if short != 0 && res.Blocks >= blocks {
					t.Errorf("talks %v, %d threads, %d too few: %d blocks ended", talks, threads, short, res.Blocks)
				}
			}
		}
	}
}

// TestGridTalk: blocks that wait for others which have not begun get them, up to the number
// of concurrent blocks; cooperative ones all at once.
func TestGridTalk(t *testing.T) {
	for _, c := range []struct {
		blocks      uint64
		cooperative bool
		resident    int
		ends        bool
	}{{residents, false, 0, true}, {residents + 1, false, 0, false}, {1000, true, 0, true}, {300, false, 300, true}, {300, false, 299, false}} {
		f := &fakeGrid{}
		g := f.launch(c.blocks, func(s *script) { s.needs = int64(c.blocks) })
		g.Talks, g.Spins, g.Cooperative, g.Resident = true, true, c.cooperative, c.resident
		res, err := g.Run(context.Background(), Options{Threads: 2, MaxInsts: 20_000_000}, 0)
		if (err == nil) != c.ends || c.ends && res.Blocks != c.blocks {
			t.Errorf("%+v: %+v, %v", c, res, err)
		}
	}
}

// TestGridCancel: a cancelled run reports it and counts what was done.
func TestGridCancel(t *testing.T) {
	for _, talks := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		f := &fakeGrid{}
		g := f.launch(2000, nil)
		g.Talks = talks
		res, err := g.Run(ctx, Options{Threads: 2, Progress: func(blocks, total, _ uint64) {
			if total != 2000 {
				t.Errorf("progress of %d blocks", total)
			}
			if blocks >= 96 {
				cancel()
			}
		}}, 0)
		if !errors.Is(err, context.Canceled) || res.Blocks < 96 || res.Blocks == 2000 {
			t.Errorf("talks %v: %+v, %v", talks, res, err)
		}
	}
}

// TestGridSays: blocks speak in order, and one that cannot ends the run.
func TestGridSays(t *testing.T) {
	for _, talks := range []bool{false, true} {
		f := &fakeGrid{}
		g := f.launch(300, nil)
		g.Talks = talks
		var heard []uint64
		f.say = func(n uint64) error {
			heard = append(heard, n)
			if len(heard) == 50 {
				return errors.New("no more")
			}
			return nil
		}
		_, err := g.Run(context.Background(), Options{Threads: 3}, 0)
		if err == nil || err.Error() != "no more" || len(heard) != 50 {
			t.Errorf("talks %v: %v after %d blocks", talks, err, len(heard))
		}
		for i, n := range heard {
			if !talks && n != uint64(i) {
				t.Fatalf("heard of block %d as number %d", n, i)
			}
		}
	}
}

// TestBarrierAgain: arrivals of lanes that have arrived count again, a complete warp for 32.
func TestBarrierAgain(t *testing.T) {
	const part, half, rest = 0x00ffffff, 0xfff, 0xfff000 // of a warp with 24 lanes
	for _, c := range []struct {
		name     string
		arrivals []uint32
		whole    bool
		want     int
	}{
		{"once", []uint32{part}, false, 32},
		{"in pieces", []uint32{half, rest}, false, 32},
		{"twice", []uint32{part, part}, false, 64},
		{"twice in pieces", []uint32{half, rest, half, rest}, false, 64},
		{"twice in half", []uint32{half, half}, false, 24},
		{"once and half", []uint32{part, half}, false, 44},
		{"three times", []uint32{part, part, part}, false, 96},
		{"three times in half", []uint32{half, half, half}, false, 36},
		{"whole warps, half of one twice", []uint32{half, half}, true, 64},
	} {
		var b Barrier
		b.Size(1)
		for _, lanes := range c.arrivals {
			if wrong := b.Arrive(1, 0, lanes, part, c.whole, 96); wrong != "" {
				t.Fatal(wrong)
			}
		}
		if got, _ := b.Count([]uint32{part}, c.whole); got != c.want {
			t.Errorf("%s: %d threads have arrived, want %d", c.name, got, c.want)
		}
	}
}

// TestBarrier: threads that have arrived, and that can, counted one by one.
func TestBarrier(t *testing.T) {
	count := func(live, came [5]uint32, whole bool) bool {
		var b Barrier
		b.Size(5)
		for i, c := range came {
			if c != 0 {
				if wrong := b.Arrive(3, i, c, live[i], whole, 0); wrong != "" {
					t.Fatal(wrong)
				}
			}
		}
		wantCame, wantAll := 0, 0
		for i := range live {
			if live[i] != 0 {
				wantAll += 32
			}
			n, missing := 0, false
			for lane := range 32 {
				if came[i]>>lane&1 != 0 {
					n++
				} else if live[i]>>lane&1 != 0 {
					missing = true
				}
			}
			if n > 0 && (!missing || whole) {
				n = 32
			}
			wantCame += n
		}
		gotCame, gotAll := b.Count(live[:], whole)
		return gotCame == wantCame && gotAll == wantAll && b.Complete(live[:], whole) == (wantCame >= wantAll)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var live, came [5]uint32
		for i := range live {
			live[i], came[i] = r.Uint32(), r.Uint32()
			switch r.IntN(4) {
			case 0:
				live[i] = 0
			case 1:
				came[i] = 0
			case 2:
				came[i] |= live[i]
			}
		}
		if whole := r.IntN(2) == 0; !count(live, came, whole) {
			t.Errorf("live %x, come %x, whole warps %v", live, came, whole)
		}
	}
	full := ^uint32(0)
	var b Barrier
	b.Size(2)
	if wrong := b.Arrive(1, 0, full, full, false, 64) + b.Arrive(1, 1, 1, full, false, 0); wrong != "" {
		t.Errorf("all 64 threads of a block and 64 are the same: %s", wrong)
	}
	if b.Complete([]uint32{full, full}, false) {
		t.Error("complete with 33 of 64")
	}
	if wrong := b.Arrive(1, 1, full, full, false, 32); wrong == "" {
		t.Error("32 and 64 threads in one phase are accepted")
	}
	b.Reduce(0x0f, 0xff)
	b.Reduce(full, full)
	if b.Pop != 36 || b.And || !b.Or {
		t.Errorf("4 of 8 and 32 of 32 give %d, %v, %v", b.Pop, b.And, b.Or)
	}
	b.Reset()
	b.Reduce(full, 0xff)
	if b.Pop != 8 || !b.And || !b.Or || b.Used {
		t.Errorf("8 of 8 give %d, %v, %v", b.Pop, b.And, b.Or)
	}
}

// TestThreads: x varies fastest; the last warp may have fewer lanes.
func TestThreads(t *testing.T) {
	for _, dim := range []Dim3{{1, 1, 1}, {32, 1, 1}, {7, 5, 3}, {3, 1, 64}, {1024, 1, 1}} {
		thread := 0
		var at [3][32]uint32
		live := Threads(dim, 0, &at)
		for z := range dim.Z {
			for y := range dim.Y {
				for x := range dim.X {
					lane := thread % 32
					if lane == 0 && thread > 0 {
						live = Threads(dim, thread/32, &at)
					}
					if at[0][lane] != x || at[1][lane] != y || at[2][lane] != z || live>>lane&1 == 0 {
						t.Fatalf("%v: thread %d is (%d,%d,%d), want (%d,%d,%d)", dim, thread, at[0][lane], at[1][lane], at[2][lane], x, y, z)
					}
					thread++
				}
			}
		}
		if rest := thread % 32; rest != 0 && live>>rest != 0 {
			t.Errorf("%v: lanes %#x of the last warp, which has %d", dim, live, rest)
		}
	}
}

// ring is a block whose warps run one after another: warp i continues when warp i+1 has done
// its part; the last begins.
type ring struct {
	left  []uint64 // instructions that each warp still has
	meets bool     // at a barrier after each turn
}

func (r *ring) RunWarp(i int, most uint64) (used uint64, moved, ok bool) {
	if r.left[i] == 0 || i+1 < len(r.left) && r.left[i+1] != 0 {
		return 0, false, true
	}
	used = min(most, r.left[i])
	r.left[i] -= used
	return used, true, true
}
func (r *ring) Over() bool             { return r.left[0] == 0 }
func (r *ring) Free() (moved, ok bool) { return false, true }
func (r *ring) Met() bool              { return r.meets }

// TestTurns: no slice, however small, keeps a warp from its turn.
func TestTurns(t *testing.T) {
	for _, slice := range []uint64{1, 3, 10, 1000} {
		r := &ring{left: []uint64{5, 5, 5, 5, 5, 5}}
		var turns Turns
		st := Stopped
		for n := 0; st == Stopped && n < 1000; n++ {
			st = turns.Run(r, len(r.left), slice, 4)
		}
		if st != Finished {
			t.Errorf("slices of %d: status %d with %v left", slice, st, r.left)
		}
	}
	meeting := &ring{left: []uint64{5}, meets: true}
	var turns Turns
	for _, want := range []Status{Stopped, Stopped, Finished} {
		if st := turns.Run(meeting, 1, 1000, 2); st != want {
			t.Errorf("threads that have met: status %d with %v left, not %d", st, meeting.left, want)
		}
	}
	dead := &deadRing{}
	if st := new(Turns).Run(dead, 3, 100, 10); st != Stuck || dead.asked != 2 {
		t.Errorf("a block that cannot go on ends with status %d after it was asked %d times to let lanes go", st, dead.asked)
	}
}

// deadRing has lanes to release once, which does not help.
type deadRing struct{ asked int }

func (*deadRing) Met() bool                                         { return false }
func (*deadRing) RunWarp(int, uint64) (used uint64, moved, ok bool) { return 0, false, true }
func (*deadRing) Over() bool                                        { return false }
func (d *deadRing) Free() (moved, ok bool) {
	d.asked++
	return d.asked == 1, true
}

// TestPartOfClusters: parts are counted in blocks, which clusters are not, so that a grid of clusters refuses one.
func TestPartOfClusters(t *testing.T) {
	for _, c := range []struct {
		name    string
		per     uint64
		refused bool
	}{{"no clusters", 0, false}, {"clusters of one", 1, false}, {"clusters of two", 2, true}} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeGrid{}
			g := f.launch(8, nil)
			g.Per = c.per
			_, err := g.Run(context.Background(), Options{From: 2, Count: 4}, 0)
			var refused *LaunchError
			if errors.As(err, &refused) != c.refused || err != nil && !c.refused {
				t.Errorf("%v; want that it is refused: %t", err, c.refused)
			}
			if c.refused && f.begun.Load() > 0 {
				t.Errorf("%d blocks have begun", f.begun.Load())
			}
		})
	}
}
