// Package progress shows the progress of a run in one line on a terminal: what runs, how much
// of it is done and how long the rest will take. A sweep may have a line for each worker, too
// (bars.go), which learns from a file how far the worker's run is. Lines are erased in the end.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
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
	said     bool   // what runs, where lines cannot be overwritten
	shown    bool
	file     string // gets the state in place of a line
	bars     bool   // a line for each worker, too
	rows     int    // of the terminal; 0: as it says
}

// The intervals between updates: short enough to look alive, long enough to cost nothing.
const (
	every    = 200 * time.Millisecond
	everyLog = 2 * time.Second // where lines cannot be overwritten
)

// ToFile begins the flag that keeps the progress of a run in a file, as JSON (run.Progress).
const ToFile = "file:"

// New returns a line on w, or nil if nothing is to be shown: when is "auto" (on a
// terminal, unless the run is quiet), "always", "never", "bars" (of a sweep, as Swept explains), or
// ToFile and a path. Where lines cannot be overwritten, one is written from time to time.
func New(w io.Writer, when string, quiet bool) *Line {
	now := time.Now()
	p := &Line{w: w, start: now, last: now, launch: -1, bars: when == "bars"}
	if file, ok := strings.CutPrefix(when, ToFile); ok {
		p.file = file
		return p
	}
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
	if p.file != "" {
		p.keep(now, &s)
		return
	}
	if s.Launch != p.launch {
		p.launch, p.began, p.before = s.Launch, now, s.WarpInsts
	}
	if what := about(&s); !p.terminal && !p.said && what != "" {
		p.said = true
		fmt.Fprintf(p.w, "%s: %s\n", what, report.Plural(s.Launches, s.Each, s.Each+"s"))
	}
	p.print(now, func() string { return p.text(&s, now) })
}

// things shows how many of some things are done.
func (p *Line) things(done, all uint64, text func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.file != "" {
		return // it is for runs
	}
	p.print(now, func() string {
		return strings.Join(append(p.times(float64(done)/float64(all), now.Sub(p.start)), text()), "  ")
	})
}

// Converted is called while a trace is converted, with the number of its blocks.
func (p *Line) Converted(done, total uint64) {
	p.things(done, total, func() string { return fmt.Sprintf("%s of %s blocks", report.Count(done), report.Count(total)) })
}

// Ran is called when one of several runs has ended, with their numbers.
func (p *Line) Ran(done, all int) {
	p.things(uint64(done), uint64(all), func() string { return fmt.Sprintf("%d of %s", done, report.Plural(all, "run", "runs")) })
}

// print shows a line if the last one is old enough.
func (p *Line) print(now time.Time, line func() string) {
	if !p.due(now) {
		return
	}
	text := line()
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprint(p.w, save+noWrap+text+eraseRest+wrap+restore)
}

// due reports whether the last line is old enough.
func (p *Line) due(now time.Time) bool {
	pause := every
	if !p.terminal && p.file == "" {
		pause = everyLog
	}
	if now.Sub(p.last) < pause {
		return false
	}
	p.last, p.shown = now, true
	return true
}

// keep writes the state into the file. Who reads it while it is written tries again.
func (p *Line) keep(now time.Time, s *run.Progress) {
	if !p.due(now) {
		return
	}
	if text, err := json.Marshal(s); err == nil {
		_ = os.WriteFile(p.file, text, 0o666) // a run does not end for want of it
	}
}

// Escape sequences since the VT100. The line begins at the cursor, because a program may
// have written part of a line, ends at the edge, and the cursor returns.
const (
	save, restore = "\x1b7", "\x1b8"
	noWrap, wrap  = "\x1b[?7l", "\x1b[?7h"
	eraseRest     = "\x1b[K"
)

// about says what runs, and on what; "" for programs, which launch what they want.
func about(s *run.Progress) string {
	switch {
	case s.Launches == 0:
		return ""
	case s.GPU == "":
		return plain.Text(filepath.Base(s.Input)) + ", functional"
	}
	return plain.Text(filepath.Base(s.Input) + " on " + filepath.Base(s.GPU))
}

// text returns the text of the line: first what every terminal has room for.
func (p *Line) text(s *run.Progress, now time.Time) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	name := plain.Text(plain.Name(s.Kernel))
	share, began, insts := s.Share, p.start, s.WarpInsts
	if s.Launches == 0 { // a program does its own work before a launch
		add("launch %d: %s", s.Launch, name)
		share, began, insts = s.Done(), p.began, s.WarpInsts-p.before
	} else if p.terminal {
		add("%s", about(s))
	}
	took := now.Sub(began)
	parts = append(parts, p.times(share, took)...)
	if s.Launches > 0 {
		add("%s %d of %d: %s", s.Each, s.Launch+1, s.Launches, name)
	}
	if s.Total > 0 {
		add("%s of %s blocks", report.Count(s.Blocks), report.Count(s.Total))
	}
	if s.Cycles > 0 {
		add("%s cycles", report.Count(s.Cycles))
	}
	add("%s warp instr", report.Count(s.WarpInsts))
	if insts > 0 && took > 0 {
		add("%s/s", report.Rate(float64(insts)/took.Seconds()))
	}
	return strings.Join(parts, "  ")
}

// barWidth is the width of a bar in characters.
const barWidth = 20

// times shows how much is done, 0 to 1, and how long it took and will take: as long for the
// rest as for what is done. 0 is unknown.
func (p *Line) times(share float64, took time.Duration) []string {
	var list []string
	share = min(share, 1)
	if p.terminal && share > 0 {
		n := int(share * barWidth)
		list = append(list, strings.Repeat("█", n)+strings.Repeat("░", barWidth-n))
	}
	if share > 0 {
		list = append(list, fmt.Sprintf("%.0f %%", math.Floor(100*share)))
	}
	text := duration(took)
	if left := float64(took) * (1/share - 1); share > 0 && share < 1 && left < float64(longest) {
		text += ", " + duration(time.Duration(left)) + " left"
	}
	return append(list, text)
}

// longest is the longest time left that is shown (our choice): the first blocks of a large grid
// say little.
const longest = 1000 * time.Hour

// duration returns a time in whole seconds.
func duration(d time.Duration) string {
	if d = d.Round(time.Second); d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return report.Duration(d)
}

// Clear erases the line.
func (p *Line) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.shown && p.file == "" {
		erase := eraseRest
		if p.bars {
			erase = eraseBelow
		}
		fmt.Fprint(p.w, erase)
		p.shown = false
	}
}
