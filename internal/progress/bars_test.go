package progress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/run"
)

// screen is a terminal that knows what bars need: line feeds that scroll, erasing, moving up, and
// lines that do not wrap.
type screen struct {
	rows []string
	y    int
	x    int
}

func (s *screen) write(t *testing.T, text string) {
	t.Helper()
	for text != "" {
		var n int
		switch {
		case text[0] == '\n': // the terminal returns the carriage
			if s.x = 0; s.y == len(s.rows)-1 {
				s.rows = append(s.rows[1:], "")
			} else {
				s.y++
			}
			text = text[1:]
		case strings.HasPrefix(text, noWrap), strings.HasPrefix(text, wrap):
			text = text[len(wrap):]
		case strings.HasPrefix(text, eraseRest):
			s.rows[s.y] = string([]rune(s.rows[s.y])[:s.x])
			text = text[len(eraseRest):]
		case strings.HasPrefix(text, eraseBelow):
			s.rows[s.y] = string([]rune(s.rows[s.y])[:s.x])
			for y := s.y + 1; y < len(s.rows); y++ {
				s.rows[y] = ""
			}
			text = text[len(eraseBelow):]
		case text[0] == '\x1b':
			if _, err := fmt.Sscanf(text, "\x1b[%dA", &n); err != nil {
				t.Fatalf("an unknown sequence: %q", text)
			}
			s.y = max(0, s.y-n)
			_, text, _ = strings.Cut(text, "A")
		default:
			r := []rune(text)[0]
			row := []rune(s.rows[s.y])
			s.rows[s.y] = string(append(row[:s.x:s.x], append([]rune{r}, row[min(len(row), s.x+1):]...)...))
			s.x++
			text = text[len(string(r)):]
		}
	}
}

func TestBars(t *testing.T) {
	const full, half, empty = "████████████████████", "██████████░░░░░░░░░░", "░░░░░░░░░░░░░░░░░░░░"
	pad := func(name string) string { return name + strings.Repeat(" ", nameWidth-len([]rune(name))) }
	job := Worker{Name: "matmul v100 8", Took: 10 * time.Second, Is: &run.Progress{Each: "launch", Launches: 2, Launch: 1, Kernel: "mm", WarpInsts: 30_000_000, Share: 0.5}}
	for _, c := range []struct {
		name  string
		rows  int
		draws []Sweep
		want  []string
	}{
		{"workers", 8, []Sweep{{Kept: 2, Ended: 3, All: 6, Running: 3, Failed: 1, Workers: []Worker{
			job,
			{Name: "a program", Took: 30 * time.Second, Expected: 60 * time.Second, Is: &run.Progress{Launch: 7, Kernel: "_Z1kv"}},
			{Name: strings.Repeat("long ", 10) + "\x1b[2J", Took: time.Second},
			{},
		}}}, []string{
			"before",
			"█████░░░░░░░░░░░░░░░  25 %  10 s, 30 s left  3 of 6 points, 3 running, 1 failed",
			pad("matmul v100 8") + "  " + half + "  50 %  10 s, 10 s left  launch 2 of 2: mm  3.0 million warp instr/s",
			pad("a program") + "  " + half + "  50 %  30 s, 30 s left  launch 7: k",
			strings.Repeat("long ", 7) + "…  1 s",
			"–",
		}},
		{"the next state is drawn over the one before", 8, []Sweep{
			{Ended: 0, All: 4, Running: 2, Workers: []Worker{job, job}},
			{Ended: 4, All: 4, Workers: []Worker{{}}},
		}, []string{"before", full + "  100 %  10 s  4 of 4 points, 0 running", "–"}},
		{"the screen moves up, and has the first workers", 4, []Sweep{
			{All: 4, Workers: []Worker{job, job, job, job}},
			{All: 4, Workers: []Worker{job, job, job, job}},
		}, []string{"10 s  0 of 4 points, 0 running", pad("matmul v100 8") + "  " + half + "  50 %  10 s, 10 s left  launch 2 of 2: mm  3.0 million warp instr/s", "and 3 more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			p := New(&b, "bars", true)
			p.terminal = true
			s := screen{rows: make([]string, c.rows)}
			s.write(t, "before\n")
			for _, d := range c.draws {
				p.last, p.start = time.Now().Add(-time.Minute), time.Now().Add(-10*time.Second)
				p.rows = c.rows
				p.Swept(d)
				s.write(t, b.String())
				b.Reset()
			}
			got := strings.TrimRight(strings.Join(s.rows, "\n"), "\n")
			if diff := cmp.Diff(strings.Join(c.want, "\n"), got); diff != "" {
				t.Error(diff)
			}
			p.Clear()
			s.write(t, b.String())
			want := "before"
			if c.rows == 4 {
				want = ""
			}
			if got := strings.TrimRight(strings.Join(s.rows, "\n"), "\n"); got != want {
				t.Errorf("at the end: %q, want %q", got, want)
			}
		})
	}
	t.Run("where there is no terminal", func(t *testing.T) {
		var b bytes.Buffer
		p := late(t, &b, false)
		p.bars = true
		p.Swept(Sweep{Ended: 1, All: 2, Running: 1, Workers: []Worker{job}})
		if got := b.String(); got != "50 %  10 s, 10 s left  1 of 2 points, 1 running\n" || p.Bars() {
			t.Errorf("got %q", got)
		}
	})
}

// A run keeps how far it is in a file.
func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "progress.json")
	var b bytes.Buffer
	p := New(&b, ToFile+file, true)
	want := run.Progress{Input: "a.toml", Each: "launch", Launches: 2, Kernel: "k", Share: 0.25}
	p.last = time.Now().Add(-time.Minute)
	p.Show(want)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got run.Progress
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("%s, error %v", text, err)
	}
	if p.Clear(); b.Len() > 0 {
		t.Errorf("beside it, %q is written", b.String())
	}
}
