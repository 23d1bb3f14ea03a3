package heddle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// These tests register the built-in parts of the memory system as plug-ins: a
// machine with one of them equals the machine with the built-in part in every
// counter.

// lru is the built-in LRU.
type lru struct {
	ways int
	used []uint64
}

func (l *lru) OnHit(set, way int, now uint64)        { l.used[set*l.ways+way] = now }
func (l *lru) OnFill(set, way int, addr, now uint64) { l.used[set*l.ways+way] = now }
func (l *lru) OnInvalidate(set, way int)             {}

func (l *lru) Victim(set int, from heddle.Ways) int {
	best := from.Next(0)
	for w := best; w >= 0; w = from.Next(w + 1) {
		if l.used[set*l.ways+w] < l.used[set*l.ways+best] {
			best = w
		}
	}
	return best
}

// mru evicts the most recently used line.
type mru struct{ lru }

func (m *mru) Victim(set int, from heddle.Ways) int {
	best := from.Next(0)
	for w := best; w >= 0; w = from.Next(w + 1) {
		if m.used[set*m.ways+w] > m.used[set*m.ways+best] {
			best = w
		}
	}
	return best
}

func init() {
	heddle.RegisterReplacement("test-mru", func(sets, ways int) heddle.ReplacementPolicy {
		return &mru{lru{ways, make([]uint64, sets*ways)}}
	})
	heddle.RegisterReplacement("test-lru", func(sets, ways int) heddle.ReplacementPolicy {
		return &lru{ways, make([]uint64, sets*ways)}
	})
}

// jobFile is the job of an example or, with "gpgpusim/", a smaller one.
func jobFile(name string) string {
	if strings.HasPrefix(name, "gpgpusim/") {
		return "testdata/reference/" + name + ".toml"
	}
	return fmt.Sprintf("examples/%s/%[1]s.toml", name)
}

// result runs a job on a machine with some changed values, and returns the counters
// of all launches.
func result(t *testing.T, job, machine string, threads int, set ...string) (*heddle.JobResult, string) {
	t.Helper()
	opt := heddle.JobOptions{GPU: machine, Timing: true, Threads: threads}
	for _, s := range set {
		if err := opt.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := heddle.RunJob(context.Background(), jobFile(job), opt)
	if err != nil || !res.OK {
		t.Fatalf("%s on %s: OK %v, %v", job, machine, res != nil && res.OK, err)
	}
	counters, err := json.MarshalIndent(res.Kernels, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return res, string(counters)
}

// differ shows the first lines in which two results differ.
func differ(t *testing.T, a, b string) {
	t.Helper()
	x, y := bytes.Split([]byte(a), []byte("\n")), bytes.Split([]byte(b), []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			t.Fatalf("line %d of the counters: %s, with the built-in part %s", i+1, y[i], x[i])
		}
	}
	if len(x) != len(y) {
		t.Fatalf("%d lines of counters, with the built-in part %d", len(y), len(x))
	}
}

// TestPluggedReplacement: LRU as a plug-in gives the cycles and counters of the
// built-in LRU. The caches are small enough to evict lines all the time.
func TestPluggedReplacement(t *testing.T) {
	small := []string{"l2.ways=2", "l2.sets=4", "run.copies_fill_l2=false"}
	plugged := append([]string{"l1d.replace=test-lru", "l1i.replace=test-lru", "l1c.replace=test-lru", "l1t.replace=test-lru", "l2.replace=test-lru"}, small...)
	for _, c := range alltests.Some([]struct{ job, machine string }{
		{"gpgpusim/bfs", "rtx-a6000"}, {"gpgpusim/copy_s32", "rtx-2060"},
		{"transpose", "rtx-a6000"}, {"spmv", "rtx-2060"}, {"reduction", "gtx-480"}, {"histogram", "v100"}, {"texture", "titan-x-pascal"}, {"compact", "rtx-5070-ti"},
	}, 2) {
		t.Run(c.job+"-"+c.machine, func(t *testing.T) {
			built, want := result(t, c.job, c.machine, 0, small...)
			_, got := result(t, c.job, c.machine, 1, plugged...)
			differ(t, want, got)
			if m := built.Kernels[0].Memory; m.L2.Misses == 0 {
				t.Error("the L2 evicted nothing")
			}
		})
	}
	t.Run("the newest instead", func(t *testing.T) {
		_, oldest := result(t, "gpgpusim/bfs", "rtx-2060", 0, small...)
		if _, newest := result(t, "gpgpusim/bfs", "rtx-2060", 0, append([]string{"l2.replace=test-mru"}, small...)...); newest == oldest {
			t.Error("another policy changes nothing")
		}
	})
}

// twoLines prefetches the next two lines of every access. Its table belongs to its
// cache: threads that shared one would change results, and the race detector would
// report them.
type twoLines struct{ seen map[uint64]int }

func (p *twoLines) Access(a *heddle.MemoryAccess, list []uint64) []uint64 {
	p.seen[a.Addr]++
	if p.seen[a.Addr] > 3 {
		return list
	}
	return append(list, a.Addr+128, a.Addr+256)
}

func init() {
	heddle.RegisterPrefetcher("test-two-lines", func(line, fetch int) heddle.Prefetcher { return &twoLines{map[uint64]int{}} })
}

// TestPluggedPrefetcher: with prefetchers in both levels the job computes the same, and
// the run is the same for every number of threads. Every prefetch that was issued is
// useful, late, unused, or still in a cache. Without a prefetcher there are none.
func TestPluggedPrefetcher(t *testing.T) {
	for _, c := range alltests.Some([]struct{ job, machine string }{{"gpgpusim/vecadd", "gtx-480"}, {"histogram", "gtx-480"}, {"spmv", "rtx-2060"}, {"transpose", "rtx-5070-ti"}}, 1) {
		for _, name := range []string{"next-line", "test-two-lines"} {
			t.Run(c.job+"-"+c.machine+"-"+name, func(t *testing.T) {
				set := []string{"l1d.prefetcher=" + name, "l2.prefetcher=" + name, "run.copies_fill_l2=false"}
				res, want := result(t, c.job, c.machine, 1, set...)
				_, got := result(t, c.job, c.machine, 3, set...)
				differ(t, want, got)
				m := &res.Memory
				if m.L1Prefetch == nil || m.L2Prefetch == nil || m.L1Prefetch.Useful+m.L2Prefetch.Useful+m.L2Prefetch.Late == 0 {
					t.Fatalf("the L1s: %+v, the L2: %+v: want prefetches, and some useful ones", m.L1Prefetch, m.L2Prefetch)
				}
				for level, n := range map[string]*heddle.PrefetchCounts{"L1": m.L1Prefetch, "L2": m.L2Prefetch} {
					if n.Useful+n.Late+n.Unused > n.Issued {
						t.Errorf("%s: %+v do not sum to all", level, *n)
					}
				}
			})
		}
	}
	if res, _ := result(t, "gpgpusim/vecadd", "rtx-2060", 0); res.Memory.L1Prefetch != nil || res.Memory.L2Prefetch != nil {
		t.Error("there are prefetches without a prefetcher")
	}
}

// fields is the mapping of the RTX 2060 with consecutive slices, read from its letters
// by hand: the address from bit 8 up is divided by the channels; of the rest, bits 0
// to 6 and 8 to 11 are the column, 7 and 12 to 14 the bank, 15 to 27 the row.
type fields struct{ channels uint64 }

func (f fields) Find(addr uint64) heddle.AddressPlace {
	q := addr >> 8
	rest := q/f.channels<<8 | addr&0xff
	return heddle.AddressPlace{
		Sub:  int(q%f.channels)*2 + int(rest>>7&1),
		Bank: int(rest>>12&7<<1 | rest>>7&1),
		Row:  uint32(rest >> 15 & 0x1fff),
		Col:  uint32(rest>>8&15<<7 | rest&0x7f),
	}
}

// Local leaves out bit 7, the slice.
func (f fields) Local(addr uint64) uint64 {
	rest := addr>>8/f.channels<<8 | addr&0xff
	return rest>>8<<7 | rest&0x7f
}

// lines distributes lines to slices in turn, then to banks.
type lines struct{ heddle.AddressSpace }

func (l lines) Find(addr uint64) heddle.AddressPlace {
	slices := uint64(l.Channels * l.Slices)
	line := addr / 128
	in := line / slices
	return heddle.AddressPlace{
		Sub: int(line % slices), Bank: int(in % uint64(l.Banks)),
		Row: uint32(in / uint64(l.Banks) / 16), Col: uint32(in / uint64(l.Banks) % 16 * 128),
	}
}

func (l lines) Local(addr uint64) uint64 {
	return addr/128/uint64(l.Channels*l.Slices)*128 + addr%128
}

// firstReady is FR-FCFS: of the first bank that has requests and is not busy, the
// oldest for the row that was opened last, else the oldest.
type firstReady struct{}

func (firstReady) Next(c *heddle.DRAMChannel) int {
	for k := range c.Banks {
		b := (c.Turn + k) % len(c.Banks)
		oldest := -1
		for i := range c.Waiting {
			w := &c.Waiting[i]
			switch {
			case w.Bank != b || c.Banks[b].Busy:
			case w.Row == c.Banks[b].Row:
				return i
			case oldest < 0:
				oldest = i
			}
		}
		if oldest >= 0 {
			return oldest
		}
	}
	return -1
}

// idle schedules nothing.
type idle struct{}

func (idle) Next(*heddle.DRAMChannel) int { return -1 }

func init() {
	heddle.RegisterAddressMapping("test-fields", func(s heddle.AddressSpace) (heddle.AddressMapping, error) {
		if s.Slices != 2 || s.Banks != 16 {
			return nil, fmt.Errorf("%d slices and %d banks of a channel: want 2 and 16", s.Slices, s.Banks)
		}
		return fields{uint64(s.Channels)}, nil
	})
	heddle.RegisterAddressMapping("test-lines", func(s heddle.AddressSpace) (heddle.AddressMapping, error) { return lines{s}, nil })
	heddle.RegisterDRAMScheduler("test-first-ready", func(int) heddle.DRAMScheduler { return firstReady{} })
	heddle.RegisterDRAMScheduler("test-never", func(int) heddle.DRAMScheduler { return idle{} })
}

// TestPluggedMemory: the address mapping of a machine and FR-FCFS as plug-ins give the
// cycles and counters of the built-in ones; others do not.
func TestPluggedMemory(t *testing.T) {
	alltests.Only(t, "memory systems of a program's own")
	cold := []string{"run.copies_fill_l2=false", "partition.indexing=consecutive", "l2.ways=2"}
	for _, c := range alltests.Some([]struct {
		job, machine, part string
		equal              bool
	}{
		{"gpgpusim/copy_s32", "rtx-3070", "partition.indexing=test-fields", true},
		{"gpgpusim/copy_s32", "rtx-3070", "partition.indexing=test-lines", false},
		{"gpgpusim/bfs", "rtx-2060", "dram.scheduler=test-first-ready", true},
		{"gpgpusim/bfs", "rtx-2060", "dram.scheduler=fifo", false},
		{"transpose", "rtx-3070", "partition.indexing=test-fields", true},
		{"spmv", "rtx-2060", "dram.scheduler=fifo", false},
		{"spmv", "rtx-2060", "partition.indexing=test-fields", true},
		{"histogram", "rtx-2060", "partition.indexing=test-fields", true},
		{"transpose", "rtx-3070", "partition.indexing=test-lines", false},
		{"spmv", "rtx-2060", "dram.scheduler=test-first-ready", true},
		{"transpose", "rtx-5070-ti", "dram.scheduler=test-first-ready", true},
		{"histogram", "v100", "dram.scheduler=test-first-ready", true},
		{"transpose", "gtx-480", "dram.scheduler=test-first-ready", true},
	}, 4) {
		t.Run(c.job+"-"+c.machine+"-"+c.part, func(t *testing.T) {
			_, want := result(t, c.job, c.machine, 1, cold...)
			_, got := result(t, c.job, c.machine, 3, append(cold[:len(cold):len(cold)], c.part)...)
			if c.equal {
				differ(t, want, got)
			} else if want == got {
				t.Error("nothing has changed")
			}
		})
	}
}

// TestPluggedRefused: what a plug-in does not support is reported like an invalid
// setting, and a scheduler that schedules nothing ends the run.
func TestPluggedRefused(t *testing.T) {
	for _, c := range []struct {
		machine string
		set     []string
		want    []string
	}{
		{"rtx-5070-ti", []string{"partition.indexing=test-fields"}, []string{`partition.indexing = "test-fields"`, "8 slices and 16 banks of a channel: want 2 and 16"}},
		{"rtx-2060", []string{"partition.indexing=test-feilds"}, []string{`"test-feilds" is not known; did you mean "test-fields"?`}},
		{"rtx-2060", []string{"l2.replace=test-lur"}, []string{`did you mean "test-lru"?`}},
		{"rtx-2060", []string{"dram.scheduler=test-never", "dram.write_queue=true"}, []string{"dram.write_queue", "needs the frfcfs scheduler, not test-never"}},
		{"rtx-2060", []string{"dram.scheduler=test-never", "run.copies_fill_l2=false"}, []string{"no forward progress"}},
	} {
		t.Run(c.set[0]+"-"+c.machine, func(t *testing.T) {
			opt := heddle.JobOptions{GPU: c.machine, Timing: true}
			var err error
			for _, s := range c.set {
				err = errors.Join(err, opt.Settings.Set(s))
			}
			if err == nil {
				_, err = heddle.RunJob(context.Background(), jobFile("gpgpusim/bfs"), opt)
			}
			for _, w := range c.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%v, want %q", err, w)
				}
			}
		})
	}
}

// BenchmarkPlugged compares whole runs with built-in parts and with the same parts as
// plug-ins: docs/extending-memory.md has the figures.
func BenchmarkPlugged(b *testing.B) {
	for _, c := range []struct{ name, set string }{
		{"built-in", "l1d.replace=lru"}, {"l1d", "l1d.replace=test-lru"}, {"l2", "l2.replace=test-lru"},
		{"mapping", "partition.indexing=test-fields"}, {"dram", "dram.scheduler=test-first-ready"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				opt := heddle.JobOptions{GPU: "rtx-2060", Timing: true, Threads: 1}
				for _, s := range []string{"run.copies_fill_l2=false", "l2.ways=2", c.set} {
					if err := opt.Settings.Set(s); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := heddle.RunJob(context.Background(), "examples/spmv/spmv.toml", opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
