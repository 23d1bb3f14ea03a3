package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/run"
)

func TestText(t *testing.T) {
	const empty = "░░░░░░░░░░░░░░░░░░░░"
	now := time.Now()
	for _, c := range []struct {
		name     string
		terminal bool
		s        run.Progress
		took     time.Duration // of the run; of the launch it is a second
		before   uint64
		want     string
	}{
		{
			name: "a job on a chip", terminal: true, took: 10 * time.Second,
			s: run.Progress{
				Input: "dir/matmul.toml", GPU: "rtx-a6000", Each: "launch", Launch: 1, Launches: 5, Kernel: "k",
				Blocks: 250, Total: 1000, Cycles: 5000, WarpInsts: 30_000_000, Share: 0.25,
			},
			want: "matmul.toml on rtx-a6000  █████░░░░░░░░░░░░░░░  25 %  10 s, 30 s left  launch 2 of 5: k  250 of 1,000 blocks  5,000 cycles  30,000,000 warp instr  3.0 million/s",
		},
		{
			name: "in a log", took: 10 * time.Second,
			s:    run.Progress{Input: "matmul.toml", GPU: "v100", Each: "launch", Launches: 1, Kernel: "k", Blocks: 250, Total: 1000, Share: 0.25},
			want: "25 %  10 s, 30 s left  launch 1 of 1: k  250 of 1,000 blocks  0 warp instr",
		},
		{
			name: "nothing has ended", terminal: true, took: 2 * time.Second,
			s:    run.Progress{Input: "a.toml", Each: "launch", Launches: 1, Kernel: "k", Total: 4, WarpInsts: 10},
			want: "a.toml, functional  2 s  launch 1 of 1: k  0 of 4 blocks  10 warp instr  5/s",
		},
		{
			name: "all has ended", terminal: true, took: 90 * time.Second,
			s:    run.Progress{Input: "a.toml", Each: "launch", Launches: 1, Kernel: "k", Blocks: 4, Total: 4, Share: 1},
			want: "a.toml, functional  ████████████████████  100 %  1 min 30 s  launch 1 of 1: k  4 of 4 blocks  0 warp instr",
		},
		{
			name: "less than a hundredth", terminal: true, took: 10 * time.Hour,
			s:    run.Progress{Input: "a.toml", Each: "launch", Launches: 1, Kernel: "k", Blocks: 1, Total: 400, Share: 0.0025},
			want: "a.toml, functional  " + empty + "  0 %  10 h 00 min  launch 1 of 1: k  1 of 400 blocks  0 warp instr",
		},
		{
			name: "frames", terminal: true, took: 2 * time.Second,
			s:    run.Progress{Input: "cube.toml", GPU: "kepler-edu", Each: "frame", Launch: 1, Launches: 2, Kernel: "cube", Cycles: 7, WarpInsts: 9, Share: 0.5},
			want: "cube.toml on kepler-edu  ██████████░░░░░░░░░░  50 %  2 s, 2 s left  frame 2 of 2: cube  7 cycles  9 warp instr  4/s",
		},
		{
			name: "a launch of a program", terminal: true, took: time.Hour, before: 1000,
			s:    run.Progress{Input: "app", GPU: "v100", Each: "launch", Launch: 12, Kernel: "_Z1kIiEvPT_", Blocks: 1, Running: 2, Total: 4, Cycles: 5000, WarpInsts: 5000},
			want: "launch 12: k  ██████████░░░░░░░░░░  50 %  1 s, 1 s left  1 of 4 blocks  5,000 cycles  5,000 warp instr  4.0 thousand/s",
		},
		{
			name: "names with control characters", terminal: true, took: time.Second,
			s:    run.Progress{Input: "a\x1b[2J.toml", Each: "launch", Launches: 1, Kernel: "k\x1b[2J"},
			want: "a\ufffd[2J.toml, functional  1 s  launch 1 of 1: k\ufffd[2J  0 warp instr",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Line{terminal: c.terminal, start: now.Add(-c.took), began: now.Add(-time.Second), before: c.before}
			if got := p.text(&c.s, now); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A running block counts as half done once one has ended.
func TestDone(t *testing.T) {
	for _, c := range []struct {
		name                  string
		ended, running, total uint64
		want                  float64
	}{
		{"none has ended", 0, 80, 100, 0},
		{"one has ended", 1, 80, 100, 0.41},
		{"as many as run", 40, 40, 100, 0.6},
		{"the last run", 90, 10, 100, 0.95},
		{"all", 100, 0, 100, 1},
		{"no blocks", 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := run.Progress{Blocks: c.ended, Running: c.running, Total: c.total}
			if got := p.Done(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// late is a line whose next update is due.
func late(t *testing.T, b *bytes.Buffer, terminal bool) *Line {
	t.Helper()
	p := New(b, "always", true)
	p.terminal = terminal
	p.last, p.start = p.last.Add(-time.Minute), p.start.Add(-10*time.Second)
	return p
}

func TestShow(t *testing.T) {
	s := run.Progress{Input: "a.toml", GPU: "v100", Each: "launch", Launches: 1, Kernel: "k", Total: 4}
	var b bytes.Buffer
	p := New(&b, "always", false)
	p.terminal = true
	if p.Show(s); b.Len() > 0 {
		t.Errorf("a short run shows %q", b.String())
	}
	p = late(t, &b, true)
	p.Show(s)
	s.Kernel = "too soon"
	p.Show(s)
	p.Clear()
	if got, want := b.String(), "\x1b7\x1b[?7la.toml on v100  10 s  launch 1 of 1: k  0 of 4 blocks  0 warp instr\x1b[K\x1b[?7h\x1b8\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if New(&b, "auto", false) != nil || New(&b, "never", false) != nil {
		t.Error("progress is shown where there is no terminal")
	}
	b.Reset()
	p = late(t, &b, false)
	p.Show(s)
	p.Show(s)
	p.Clear()
	if got, want := b.String(), "a.toml on v100: 1 launch\n10 s  launch 1 of 1: too soon  0 of 4 blocks  0 warp instr\n"; got != want {
		t.Errorf("not a terminal: got %q, want %q", got, want)
	}
}

// Other work than launches has a bar and an estimate, too.
func TestThings(t *testing.T) {
	for name, c := range map[string]struct {
		show func(*Line)
		want string
	}{
		"runs":   {func(p *Line) { p.Ran(5, 20) }, "█████░░░░░░░░░░░░░░░  25 %  10 s, 30 s left  5 of 20 runs"},
		"blocks": {func(p *Line) { p.Converted(1000, 2000) }, "██████████░░░░░░░░░░  50 %  10 s, 10 s left  1,000 of 2,000 blocks"},
		"none":   {func(p *Line) { p.Converted(0, 0) }, "10 s  0 of 0 blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			c.show(late(t, &b, true))
			if !strings.Contains(b.String(), "l"+c.want+"\x1b[K") {
				t.Errorf("got %q, want %s", b.String(), c.want)
			}
		})
	}
}
