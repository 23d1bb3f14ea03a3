package tracerun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// held counts what a run opens, closes, and lets go of.
type held struct{ opened, closed, forgotten atomic.Int64 }

// heldSource is a launch that is counted.
type heldSource struct {
	trace.Source
	h    *held
	wait func() // called before it is read, if not nil
}

type heldBlocks struct {
	trace.Blocks
	h    *held
	open bool
}

func (s heldSource) Open() (*trace.Kernel, error) {
	if s.wait != nil {
		s.wait()
	}
	k, err := s.Source.Open()
	if err == nil {
		s.h.opened.Add(1)
		k.Blocks = &heldBlocks{k.Blocks, s.h, true}
		runtime.AddCleanup(k, func(h *held) { h.forgotten.Add(1) }, s.h)
	}
	return k, err
}

func (b *heldBlocks) Close() error {
	if b.open {
		b.open = false
		b.h.closed.Add(1)
	}
	return b.Blocks.Close()
}

// hold has the launches of a folder counted.
func hold(t *testing.T, dir string) (*trace.Set, *held) {
	t.Helper()
	set, err := open.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &held{}
	for i := range set.Commands {
		if c := &set.Commands[i]; c.Launch != nil {
			c.Launch = heldSource{Source: c.Launch, h: h}
		}
	}
	return set, h
}

// soon waits for what other goroutines or the collector will have done before
// long.
func soon(ok func() bool) bool {
	for range 500 {
		if ok() {
			return true
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Whatever ends a run, all launches that were opened are closed, and the result
// keeps none of them in memory.
func TestNothingIsHeld(t *testing.T) {
	for _, c := range alltests.Some([]struct {
		name string
		keys []string
		cut  string // a launch that is cut off
		stop bool   // interrupt after the first launch
		max  uint64
		gpu  string
		ok   bool
	}{
		{name: "modern core", gpu: "rtx-a6000", ok: true},
		{name: "interrupted with warm caches", keys: []string{"run.caches=warm"}, stop: true, gpu: "rtx-a6000"},
		{name: "out of cycles in a rehearsal", keys: []string{"run.caches=warm"}, max: 5500, gpu: "rtx-2060"},
		{name: "broken launch", cut: "kernel-9.traceg", gpu: "rtx-a6000"},
		{name: "whole", gpu: "rtx-2060", ok: true},
		{name: "warm caches", keys: []string{"run.caches=warm"}, gpu: "rtx-2060", ok: true},
		{name: "interrupted", stop: true, gpu: "rtx-2060"},
		{name: "out of cycles", max: 9000, gpu: "rtx-2060"},
	}, 4) {
		dir := unpacked(t, "mgpusim-bfs-rodinia-2.0-ft")
		if c.cut != "" {
			if err := os.Truncate(filepath.Join(dir, c.cut), 5000); err != nil {
				t.Fatal(err)
			}
		}
		set, h := hold(t, dir)
		var s run.Settings
		for _, k := range c.keys {
			if err := s.Set(k); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(context.Background())
		o := tracerun.Options{GPU: c.gpu, Settings: s, MaxInsts: c.max}
		if c.stop {
			o.AccelSim = trigger(stop)
		}
		r, err := tracerun.Run(ctx, set, o)
		stop()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if !soon(func() bool { n := h.opened.Load(); return n > 0 && h.closed.Load() == n && h.forgotten.Load() == n }) {
			t.Errorf("%s: %d launches were opened, %d closed, %d let go of", c.name, h.opened.Load(), h.closed.Load(), h.forgotten.Load())
		}
		runtime.KeepAlive(r)
	}
}

// A run that is interrupted while a launch is being read does not wait for it.
func TestInterruptedWhileReading(t *testing.T) {
	set, h := hold(t, unpacked(t, "mgpusim-bfs-rodinia-2.0-ft"))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reading, release := make(chan struct{}), make(chan struct{})
	n := 0
	for i := range set.Commands {
		if c := &set.Commands[i]; c.Launch != nil {
			if n++; n == 3 {
				s := c.Launch.(heldSource)
				s.wait = func() { close(reading); <-release }
				c.Launch = s
			}
		}
	}
	go func() { <-reading; stop() }()
	done := make(chan error)
	go func() {
		_, err := tracerun.Run(ctx, set, tracerun.Options{GPU: "rtx-2060"})
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
	close(release)
	if !soon(func() bool { return h.opened.Load() == 3 && h.closed.Load() == 3 }) {
		t.Errorf("%d launches were opened, %d closed", h.opened.Load(), h.closed.Load())
	}
}

// A copy of an absurd size does not keep a run from ending.
func TestAbsurdCopy(t *testing.T) {
	set, _ := hold(t, unpacked(t, "mgpusim-simtune-ffma-1-32-10"))
	set.Commands = append([]trace.Command{{Addr: 1 << 40, Bytes: 1<<64 - 1}}, set.Commands...)
	start := time.Now()
	if _, err := tracerun.Run(context.Background(), set, tracerun.Options{GPU: "rtx-2060"}); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it takes %v", d)
	}
}
