package job

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// stop is the state of a block between two cycles, as the debugger sees it.
type stop struct {
	now  uint64
	regs map[string][32]uint64 // by warp and register, of live lanes
	live map[string]uint32
	mem  map[uint64]uint32
}

// TestLessons compares every cycle of a lesson with the machine: all registers, predicates and words of
// memory, of PTX, which shows results at once, and of SASS, which shows them when they are written.
func TestLessons(t *testing.T) {
	alltests.Only(t, "every cycle of a lesson")
	for _, c := range []struct {
		name, file, gpu, set string
		warps                int
	}{
		{"PTX that diverges", "../../../examples/learn/diverge.toml", "rtx-a6000", "ptx", 2},
		{"PTX on the SIMT core", "../../../examples/learn/diverge.toml", "v100", "ptx", 2},
		{"SASS", "../../../examples/learn/reduction.toml", "rtx-a6000", "sass", 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stops []stop
			opt := Options{GPU: c.gpu, Timing: true, Page: true}
			opt.Inside = func(in *run.Inside) func() error {
				return func() error {
					stops = append(stops, look(in))
					return nil
				}
			}
			ready, err := Load(c.file, opt)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ready.Run(context.Background(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Lessons) != 1 {
				t.Fatalf("%d lessons", len(res.Lessons))
			}
			l := res.Lessons[0]
			if !l.Complete || l.Set != c.set || len(l.Warps) != c.warps {
				t.Errorf("a lesson of %s, complete: %t, warps %v", l.Set, l.Complete, l.Warps)
			}
			issues, cycle, changed := uint64(0), uint64(0), map[uint64]bool{}
			for i, k := range l.Steps.Kind {
				cycle += l.Steps.Cycle[i]
				changed[cycle] = true
				if k == lesson.Issue {
					issues++
				}
			}
			if issues != res.WarpInstructions {
				t.Errorf("%d steps issue an instruction, want %d", issues, res.WarpInstructions)
			}
			compared := 0
			for i := range stops {
				if i%16 != 0 && !changed[stops[i].now-1] {
					continue // nothing is new
				}
				compared += stops[i].compare(t, l)
				if t.Failed() {
					return
				}
			}
			if compared < 10_000 {
				t.Errorf("only %d values were compared", compared)
			}
		})
	}
}

// look returns the state of the machine.
func look(in *run.Inside) stop {
	s := stop{now: in.Chip.Now(), regs: map[string][32]uint64{}, live: map[string]uint32{}, mem: map[uint64]uint32{}}
	for sm := range in.Chip.Config().SMs() {
		for _, v := range in.Chip.Core(sm).Views() {
			x, ok := v.Exec.(exec.Inspector)
			if !ok || v.Live == 0 {
				continue
			}
			f, _ := x.Frame(v.Live.First())
			for _, r := range f.Registers {
				key := fmt.Sprintf("%d %s", v.InBlock, r.Name)
				s.regs[key], s.live[key] = r.Lo, uint32(f.Lanes)
			}
		}
	}
	for _, b := range in.Buffers {
		if a, ok := in.Memory.Find(b.Addr); ok {
			data, _ := in.Memory.Bytes(a.Addr, a.Size)
			for i := 0; i+4 <= len(data); i += 4 {
				s.mem[a.Addr+uint64(i)] = binary.LittleEndian.Uint32(data[i:])
			}
		}
	}
	return s
}

// compare finds the state in a lesson, and returns how many values it has compared.
func (s *stop) compare(t *testing.T, l *lesson.Lesson) (n int) {
	t.Helper()
	steps, cycle := 0, uint64(0)
	for _, d := range l.Steps.Cycle {
		if cycle += d; cycle >= s.now {
			break
		}
		steps++
	}
	have := l.State(steps)
	for w, number := range l.Warps {
		for _, r := range l.Cells {
			key := fmt.Sprintf("%d %s", number, r.Name)
			want, ok := s.regs[key]
			if !ok {
				continue
			}
			for lane := range 32 {
				if s.live[key]>>lane&1 == 0 {
					continue
				}
				got := uint64(have.Values[w][r.Cell][lane])
				if r.Bits > 32 {
					got |= uint64(have.Values[w][r.Cell+1][lane]) << 32
				}
				if n++; got != want[lane] {
					t.Errorf("cycle %d: warp %s, lane %d is %#x, want %#x", s.now, key, lane, got, want[lane])
					return n
				}
			}
		}
	}
	for i, addr := range l.Words.Addr {
		want, ok := s.mem[addr]
		if l.Words.Space[i] != lesson.Global || !ok {
			continue
		}
		if n++; have.Words[i] != int64(want) {
			t.Errorf("cycle %d: the word at %#x is %#x, want %#x", s.now, addr, have.Words[i], want)
			return n
		}
	}
	return n
}

// TestKeplerLesson compares every cycle of a frame with the core: registers, predicates, lanes and
// memory; and the picture that the page draws with that of the job.
func TestKeplerLesson(t *testing.T) {
	for _, file := range []string{"../../../examples/kepler/cube8.toml", "../../../examples/kepler/tiled.toml"} {
		t.Run(file, func(t *testing.T) {
			ready, err := LoadKepler(file)
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := ready.Config("")
			if err != nil {
				t.Fatal(err)
			}
			opt := KeplerOptions{Options: Options{Timing: true, Page: true}, Config: cfg, Pictures: t.TempDir()}
			res, err := ready.Run(context.Background(), opt)
			if err != nil {
				t.Fatal(err)
			}
			core, err := ready.Prepare(cfg, 0)
			if err != nil {
				t.Fatal(err)
			}
			compareKepler(t, res.Lessons[0], core)
		})
	}
}

// compareKepler runs a core, and compares it with its lesson after every cycle.
func compareKepler(t *testing.T, l *lesson.Lesson, r *krun.Run) {
	t.Helper()
	var screen []byte
	var last *lesson.State
	for !r.Over() {
		k := r.Core
		k.Step()
		steps, cycle := 0, uint64(0)
		for i, d := range l.Steps.Cycle {
			if cycle += d; cycle >= k.Cycle() && i >= l.Begin {
				break
			}
			steps++
		}
		s := l.State(steps)
		last = s
		for w, number := range l.Warps {
			for i := range 64 {
				if got, want := s.Values[w][i], [32]uint32(k.Register(number, i)); got != want {
					t.Fatalf("cycle %d: R%d of warp %d is %x, want %x", k.Cycle(), i, number, got, want)
				}
			}
			for i := range 7 {
				m := uint32(0)
				for lane, v := range s.Values[w][64+i] {
					m |= v << lane
				}
				if want := k.Predicate(number, i); m != want {
					t.Fatalf("cycle %d: P%d of warp %d is %x, want %x", k.Cycle(), i, number, m, want)
				}
			}
			if g := s.Groups[w]; k.Status(number) != kepler.Exited && g.Live != k.Mask(number) {
				t.Fatalf("cycle %d: the lanes of warp %d are %x, want %x", k.Cycle(), number, g.Live, k.Mask(number))
			}
		}
		for i, addr := range l.Words.Addr {
			want := int64(k.Shared(int(addr/4) % (kepler.SharedBytes / 4)))
			if l.Words.Space[i] == lesson.Global {
				want = int64(k.Memory(uint32(addr)))
			}
			if s.Words[i] != want {
				t.Fatalf("cycle %d: the word at %#x is %#x, want %#x", k.Cycle(), addr, s.Words[i], want)
			}
		}
	}
	for _, m := range l.Screens {
		screen = make([]byte, m.Height*(m.Width+7)/8)
		copy(screen, m.First)
		for i, addr := range l.Words.Addr {
			if off := int(addr) - int(m.Addr); l.Words.Space[i] == lesson.Global && off >= 0 && off < len(screen) {
				binary.LittleEndian.PutUint32(screen[off:], uint32(last.Words[i]))
			}
		}
		want := make([]byte, len(screen))
		for i := 0; i < len(want); i += 4 {
			binary.LittleEndian.PutUint32(want[i:], r.Core.Memory(uint32(m.Addr)+uint32(i)))
		}
		if d := cmp.Diff(want, screen); d != "" {
			t.Errorf("the screen differs: %s", d)
		}
	}
}

// TestLessonsLimits: what is too large, or needs no page, is not recorded, and the steps of a result have a
// limit.
func TestLessonsLimits(t *testing.T) {
	for _, c := range []struct {
		name, file string
		page       bool
		lessons    int
	}{
		{"no page", "../../../examples/learn/diverge.toml", false, 0},
		{"several blocks", matmul, true, 0},
		{"one block", "../../../examples/learn/diverge.toml", true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := Options{GPU: "rtx-a6000", Timing: true, Page: c.page}
			ready, err := Load(c.file, opt)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ready.Run(context.Background(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Lessons) != c.lessons {
				t.Errorf("%d lessons, want %d", len(res.Lessons), c.lessons)
			}
		})
	}
	t.Run("many frames", func(t *testing.T) {
		ready, err := LoadKepler("../../../examples/kepler/cube1.toml")
		if err != nil {
			t.Fatal(err)
		}
		cfg, _ := ready.Config("")
		opt := KeplerOptions{Options: Options{Timing: true, Page: true}, Config: cfg, Pictures: t.TempDir()}
		res, err := ready.Run(context.Background(), opt)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for _, l := range res.Lessons {
			steps += len(l.Steps.Kind)
		}
		if steps != lesson.MostSteps || res.Lessons[len(res.Lessons)-1].Complete {
			t.Errorf("%d steps in %d lessons, want %d, and the last one incomplete", steps, len(res.Lessons), lesson.MostSteps)
		}
		opt.Page = false
		plain, err := ready.Run(context.Background(), opt)
		if err != nil {
			t.Fatal(err)
		}
		res.Lessons, res.Films, res.Seconds, plain.Seconds = nil, nil, 0, 0
		if d := cmp.Diff(plain, res); d != "" {
			t.Errorf("a page changes the result: %s", d)
		}
	})
}
