package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/run"
)

func TestText(t *testing.T) {
	start := time.Now()
	p := &Line{start: start.Add(-2 * time.Second), began: start.Add(-time.Second)}
	got := p.text(run.Progress{Launch: 1, Launches: 5, Kernel: "k", Blocks: 250, Total: 1000, WarpInsts: 3_000_000}, start)
	if want := "k 2/5  blocks 250/1,000 (25 %)  3,000,000 warp instr  1.5 million/s  3 s left"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = p.text(run.Progress{Launch: 1, Launches: 5, Kernel: "k", Blocks: 250, Total: 1000, Share: 0.2}, start)
	if want := "k 2/5  blocks 250/1,000 (25 %)  0 warp instr  0/s  8 s left"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.before = 1000
	got = p.text(run.Progress{Launch: 12, Kernel: "_Z1kIiEvPT_", Blocks: 1, Total: 4, Cycles: 5000, WarpInsts: 5000}, start)
	if want := "k  launch 12  blocks 1/4 (25 %)  5,000 cycles  5,000 warp instr  4.0 thousand/s  1 s  3 s left"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = p.text(run.Progress{Launches: 1, Kernel: "k", Total: 4}, start)
	if want := "k 1/1  blocks 0/4 (0 %)  0 warp instr  0/s"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestShow(t *testing.T) {
	var b bytes.Buffer
	p := New(&b, "always", false)
	p.terminal = true
	p.Show(run.Progress{Kernel: "soon", Launches: 1, Total: 4})
	if b.Len() > 0 {
		t.Errorf("a short run shows %q", b.String())
	}
	p.last = p.last.Add(-time.Minute)
	p.Show(run.Progress{Kernel: "kernel", Launches: 1, Total: 4})
	p.Show(run.Progress{Kernel: "at once", Launches: 1, Total: 4})
	p.Clear()
	got := b.String()
	if want := "\x1b7\x1b[?7lkernel 1/1  blocks 0/4 (0 %)  0 warp instr  0/s\x1b[K\x1b[?7h\x1b8\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if New(&b, "auto", false) != nil || New(&b, "never", false) != nil {
		t.Error("progress is shown where there is no terminal")
	}
	b.Reset()
	p = New(&b, "always", true)
	p.last = p.last.Add(-time.Minute)
	p.Show(run.Progress{Kernel: "k", Launches: 1, Total: 4})
	p.Clear()
	if !strings.HasSuffix(b.String(), "\n") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("not a terminal, but %q", b.String())
	}
}
