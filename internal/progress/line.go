// Package progress shows the progress of a run in one line on a terminal. The line is
// erased when the run ends.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// Line is a progress line. Its methods may be called concurrently.
type Line struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	start    time.Time
	last     time.Time
	launch   int // that the next two are of
	began    time.Time
	before   uint64 // warp instructions of the run
	shown    bool
}

// The intervals between updates: short enough to look alive, long enough to cost nothing.
const (
	every    = 200 * time.Millisecond
	everyLog = 2 * time.Second // where lines cannot be overwritten
)

// New returns a line on w, or nil if nothing is to be shown: when is "auto" (on a
// terminal, unless the run is quiet), "always" or "never". Where lines cannot be
// overwritten, one is written from time to time.
func New(w io.Writer, when string, quiet bool) *Line {
	now := time.Now()
	p := &Line{w: w, start: now, last: now, launch: -1}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
	}
	if when == "never" || when == "auto" && (quiet || !p.terminal) {
		return nil
	}
	return p
}

// Show is called by the run from time to time.
func (p *Line) Show(s run.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if s.Launch != p.launch {
		p.launch, p.began, p.before = s.Launch, now, s.WarpInsts
	}
	p.print(now, func() string { return p.text(s, now) })
}

// Converted is called while a trace is converted, with the number of its blocks.
func (p *Line) Converted(done, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.print(now, func() string { return fmt.Sprintf("%s of %s blocks", report.Count(done), report.Count(total)) })
}

// Ran is called when one of several runs has ended, with their numbers.
func (p *Line) Ran(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(time.Now(), func() string { return fmt.Sprintf("%d of %s", done, report.Plural(all, "run", "runs")) })
}

// print shows a line if the last one is old enough.
func (p *Line) print(now time.Time, line func() string) {
	pause := every
	if !p.terminal {
		pause = everyLog
	}
	if now.Sub(p.last) < pause {
		return
	}
	p.last, p.shown = now, true
	text := line()
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprint(p.w, save+noWrap+text+eraseRest+wrap+restore)
}

// Escape sequences since the VT100. The line begins at the cursor, because a program may
// have written part of a line, ends at the edge, and the cursor returns.
const (
	save, restore = "\x1b7", "\x1b8"
	noWrap, wrap  = "\x1b[?7l", "\x1b[?7h"
	eraseRest     = "\x1b[K"
)

// text returns the text of the line.
func (p *Line) text(s run.Progress, now time.Time) string {
	text := fmt.Sprintf("%s %d/%d", s.Kernel, s.Launch+1, s.Launches)
	if s.Launches == 0 { // unknown
		text = fmt.Sprintf("%s  launch %d", plain.Name(s.Kernel), s.Launch)
	}
	if s.Total > 0 {
		text += fmt.Sprintf("  blocks %s/%s (%d %%)", report.Count(s.Blocks), report.Count(s.Total), 100*s.Blocks/s.Total)
	}
	if s.Cycles > 0 {
		text += fmt.Sprintf("  %s cycles", report.Count(s.Cycles))
	}
	text += fmt.Sprintf("  %s warp instr", report.Count(s.WarpInsts))
	if s.Launches == 0 { // a program does its own work before a launch
		d := now.Sub(p.began)
		if n := s.WarpInsts - p.before; n > 0 && d > 0 {
			text += fmt.Sprintf("  %s/s", report.Rate(float64(n)/d.Seconds()))
		}
		text += fmt.Sprintf("  %d s", int(d.Seconds()))
	} else if d := now.Sub(p.start).Seconds(); d > 0 {
		text += fmt.Sprintf("  %s/s", report.Rate(float64(s.WarpInsts)/d))
	}
	left := 0.0
	switch {
	case s.Share > 0 && s.Share < 1: // of the whole run
		left = float64(now.Sub(p.start)) * (1/s.Share - 1)
	case s.Share == 0 && s.Blocks > 0 && s.Blocks < s.Total: // of the launch
		left = float64(now.Sub(p.began)) * (float64(s.Total)/float64(s.Blocks) - 1)
	}
	if left > 0 && left < float64(1000*time.Hour) {
		if d := time.Duration(left).Round(time.Second); d < time.Minute {
			text += fmt.Sprintf("  %d s left", int(d.Seconds()))
		} else {
			text += "  " + report.Duration(d) + " left"
		}
	}
	return text
}

// Clear erases the line.
func (p *Line) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.shown {
		fmt.Fprint(p.w, eraseRest)
		p.shown = false
	}
}
