package progress

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// Sweep is how far a sweep is: numbers of points.
type Sweep struct {
	Kept    int // had a result before
	Ended   int // with those that are kept
	All     int
	Running int
	Failed  int
	Workers []Worker // what each does, where bars are wanted
}

// Worker is what a worker does.
type Worker struct {
	Name     string // of its point; "" if it has none
	Took     time.Duration
	Expected time.Duration // from points of the same input; 0 if none has run
	Is       *run.Progress // how far it is; nil if it has not said so
}

// Bars reports whether Swept shows what workers do.
func (p *Line) Bars() bool { return p.bars && p.terminal }

// Swept is called when a point of a sweep begins or ends, and from time to time if Bars. The time
// left is estimated from points that were not kept.
func (p *Line) Swept(s Sweep) {
	text := func() string {
		text := fmt.Sprintf("%d of %s, %d running", s.Ended, report.Plural(s.All, "point", "points"), s.Running)
		if s.Failed > 0 {
			text += fmt.Sprintf(", %d failed", s.Failed)
		}
		return text
	}
	done, all := uint64(s.Ended-s.Kept), uint64(max(1, s.All-s.Kept))
	if !p.Bars() {
		p.things(done, all, text)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.due(now) {
		return
	}
	lines := []string{strings.Join(append(p.times(float64(done)/float64(all), now.Sub(p.start)), text()), "  ")}
	for _, w := range s.Workers {
		lines = append(lines, p.worker(w))
	}
	if most := p.height() - 1; len(lines) > most {
		lines = append(lines[:max(1, most-1)], fmt.Sprintf("and %d more", len(lines)-max(1, most-1)))
	}
	// The block begins at the cursor, which returns there. Where it does not fit below, line feeds
	// move everything up.
	fmt.Fprintf(p.w, "%s%s%s\n%s%s\x1b[%dA", noWrap, strings.Join(lines, eraseRest+"\n"), eraseRest, eraseBelow, wrap, len(lines))
}

// eraseBelow erases from the cursor to the end of the screen.
const eraseBelow = "\x1b[J"

// usualRows is the height of a terminal that does not say it.
const usualRows = 24

// height is that of the terminal, in lines.
func (p *Line) height() int {
	if p.rows > 0 {
		return p.rows
	}
	if f, ok := p.w.(*os.File); ok {
		if _, h, err := term.GetSize(int(f.Fd())); err == nil && h > 1 {
			return h
		}
	}
	return usualRows
}

// nameWidth is the room for the name of a point, in characters (our choice).
const nameWidth = 36

// worker is the line of a worker.
func (p *Line) worker(w Worker) string {
	name := []rune(plain.Text(w.Name))
	if len(name) > nameWidth {
		name = append(name[:nameWidth-1], '…')
	}
	if len(name) == 0 {
		return "–"
	}
	share := 0.0
	switch {
	case w.Is != nil && w.Is.Share > 0:
		share = w.Is.Share
	case w.Expected > 0: // of a program, it is not known how much it will do
		share = min(0.99, w.Took.Seconds()/w.Expected.Seconds())
	}
	parts := append([]string{string(name) + strings.Repeat(" ", nameWidth-len(name))}, p.times(share, w.Took)...)
	if w.Is != nil {
		kernel := plain.Text(plain.Name(w.Is.Kernel))
		if w.Is.Launches > 0 {
			kernel = fmt.Sprintf("%s %d of %d: %s", w.Is.Each, w.Is.Launch+1, w.Is.Launches, kernel)
		} else {
			kernel = fmt.Sprintf("launch %d: %s", w.Is.Launch, kernel)
		}
		parts = append(parts, kernel)
		if w.Is.WarpInsts > 0 && w.Took > 0 {
			parts = append(parts, fmt.Sprintf("%s warp instr/s", report.Rate(float64(w.Is.WarpInsts)/w.Took.Seconds())))
		}
	}
	return strings.Join(parts, "  ")
}
