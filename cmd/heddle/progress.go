package main

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/heddle-sim/heddle/internal/chiprun"
	"github.com/heddle-sim/heddle/internal/report"
)

// progressLine is one line on a terminal that says how far a run has come.
type progressLine struct {
	w        io.Writer
	terminal bool
	width    int
	start    time.Time
	last     time.Time
	launch   int // that the times below are of
	began    time.Time
	shown    bool
}

// How often the line changes: often enough to be alive, seldom enough to cost
// nothing.
const (
	progressEvery = 200 * time.Millisecond
	progressLog   = 2 * time.Second // where lines cannot be overwritten
)

// newProgressLine returns nil where nothing is to be shown.
func newProgressLine(w io.Writer, when string, quiet bool) *progressLine {
	now := time.Now()
	p := &progressLine{w: w, start: now, last: now, width: 80, launch: -1}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
			p.width = cols
		}
	}
	if when == "never" || when == "auto" && (quiet || !p.terminal) {
		return nil
	}
	return p
}

// show is called by the run now and then.
func (p *progressLine) show(s chiprun.Progress) {
	now := time.Now()
	if s.Launch != p.launch {
		p.launch, p.began = s.Launch, now
	}
	p.print(now, func() string { return p.text(s, now) })
}

// converted is called while a trace is written, with its blocks.
func (p *progressLine) converted(done, total uint64) {
	now := time.Now()
	p.print(now, func() string { return fmt.Sprintf("%s of %s blocks", report.Count(done), report.Count(total)) })
}

// print shows a line if the last one is old enough.
func (p *progressLine) print(now time.Time, line func() string) {
	every := progressEvery
	if !p.terminal {
		every = progressLog
	}
	if now.Sub(p.last) < every {
		return
	}
	p.last, p.shown = now, true
	text := line()
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	for utf8.RuneCountInString(text) >= p.width {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", text)
}

// text words the line.
func (p *progressLine) text(s chiprun.Progress, now time.Time) string {
	text := fmt.Sprintf("%s %d/%d", s.Kernel, s.Launch+1, s.Launches)
	if s.Total > 0 {
		text += fmt.Sprintf("  blocks %s/%s (%d %%)", report.Count(s.Blocks), report.Count(s.Total), 100*s.Blocks/s.Total)
	}
	if s.Cycles > 0 {
		text += fmt.Sprintf("  %s cycles", report.Count(s.Cycles))
	}
	text += fmt.Sprintf("  %s warp instr", report.Count(s.WarpInsts))
	if d := now.Sub(p.start).Seconds(); d > 0 {
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

// clear takes the line away.
func (p *progressLine) clear() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
