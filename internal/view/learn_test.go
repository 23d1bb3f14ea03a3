package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/view"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// This file: the page Learn in a browser.

// presses sends keys to the page one after the other, and returns what it shows after each.
const presses = `(async () => {
	const shown = [];
	for (const [key, shift] of %s) {
		document.body.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: shift, bubbles: true }));
		await new Promise(r => setTimeout(r, 0));
		await new Promise(r => requestAnimationFrame(() => setTimeout(r, 0)));
		const text = x => document.querySelector(x)?.innerText ?? "";
		shown.push([document.querySelector("#step").dataset.step, document.querySelector("#step").dataset.cycle, text("#registers"), text(".words"), String(document.querySelector("#drawn")?.dataset.lit ?? "")]);
	}
	return shown;
})()`

func (b *browser) press(keys ...string) [][]string {
	b.Helper()
	var list [][2]any
	for _, k := range keys {
		name, shift := strings.CutPrefix(k, "Shift+")
		list = append(list, [2]any{name, shift})
	}
	text, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	return js[[][]string](b, fmt.Sprintf(presses, text))
}

// TestLearnPage steps through small runs of every instruction set: a step back undoes a step, the values are
// those of the debugger, and the picture of the cube is drawn.
func TestLearnPage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	for _, c := range []struct {
		name, file string
		words      []string // when the run is at its end
	}{
		{"ptx", root + "/examples/learn/diverge.toml", []string{"Stores %n at address [%q] of global memory.", "Meeting points"}},
		{"sass", root + "/examples/learn/reduction.toml", []string{"Only in lanes where P0 does not hold: adds R6 and R8, and puts the sum into R6."}},
		{"kepler", root + "/examples/kepler/cube8.toml", []string{"Sets P1 in lanes where R1 equals R40, as integers", "screen in memory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			res := simulate(t, c.file)
			l := res.Lessons[0]
			b.open(b.write(view.New([]view.Result{{Run: res}}, nil)))
			b.at("#/learn")
			last := len(l.Steps.Kind) - l.Begin
			some := min(last, 150)
			b.press("Home")
			forward := b.press(slices.Repeat([]string{"ArrowRight"}, some)...)
			back := b.press(append(slices.Repeat([]string{"ArrowLeft"}, some), "Home")...)
			for i := range some - 1 {
				if x, y := strings.Join(forward[some-2-i], "\n"), strings.Join(back[i], "\n"); x != y {
					t.Fatalf("step %s forward shows\n%s\nand back\n%s", forward[some-2-i][0], x, y)
				}
			}
			end := b.press("End")[0]
			if end[0] != fmt.Sprint(last) {
				t.Errorf("the end is step %s, want %d", end[0], last)
			}
			b.press("Home")
			if jump := b.press("Shift+ArrowRight")[0]; jump[0] != fmt.Sprint(min(10, last)) {
				t.Errorf("ten steps lead to step %s", jump[0])
			}
			seen := ""
			for _, i := range []int{last / 4, last / 2, 3 * last / 4} {
				seen += b.debugged(c.file, l, i)
			}
			for i := range last {
				if i%max(1, last/40) == 0 {
					b.goTo(i)
					seen += b.text()
				}
			}
			for _, w := range c.words {
				if !strings.Contains(seen, w) && !b.ever(l, w) {
					t.Errorf("%q is never shown", w)
				}
			}
			b.goTo(last / 2)
			b.picture("learn-" + c.name)
			b.quiet()
		})
	}
}

// goTo goes to a step by the page's slider.
func (b *browser) goTo(n int) {
	b.Helper()
	js[int](b, fmt.Sprintf(`(() => { const x = document.querySelector("input[aria-label=Step]"); x.value = %d; x.dispatchEvent(new Event("input", {bubbles: true})); return new Promise(r => setTimeout(() => r(1), 40)) })()`, n))
}

// ever reports whether an instruction of the lesson is explained with some words on the page.
func (b *browser) ever(l *lesson.Lesson, words string) bool {
	for i, at := range l.Steps.At {
		if i >= l.Begin && at >= 0 && l.Steps.Kind[i] == lesson.Issue && strings.Contains(l.Code[at].Explain, words) {
			b.goTo(i + 1 - l.Begin)
			return strings.Contains(b.text(), words)
		}
	}
	return false
}

// debugged goes near a step, and compares the registers on the page with what heddle run --step prints
// for the same cycle. It returns what the page shows.
func (b *browser) debugged(file string, l *lesson.Lesson, n int) string {
	b.Helper()
	s := &l.Steps
	i := l.Begin + n
	for i+1 < len(s.Cycle) && (s.Cycle[i+1] == 0 || s.Warp[i] < 0) {
		i++
	}
	cycle := uint64(0)
	for _, d := range s.Cycle[:i+1] {
		cycle += d
	}
	b.goTo(i + 1 - l.Begin)
	warp := l.Warps[s.Warp[i]]
	text := debug(b.T, file, fmt.Sprintf("until cycle %d\nwarps\n", cycle+1))
	place := regexp.MustCompile(fmt.Sprintf(`(?m)^(\d+\.\d+) +\S+ +%d `, warp)).FindStringSubmatch(text)
	at := fmt.Sprintf("0.%d", warp)
	if l.Set != "kasm" {
		if place == nil {
			return b.text() // it has ended
		}
		at = place[1]
	}
	want := registers(debug(b.T, file, fmt.Sprintf("until cycle %d\nregs %s\n", cycle+1, at)))
	rows := js[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("#registers tbody tr")].map(r => [r.dataset.name, r.querySelector("td.values").innerText]))`)
	compared := 0
	for name, shown := range rows {
		w, ok := want[name]
		if !ok {
			w = "0-31: 0x00000000" // the debugger leaves registers out that are zero everywhere
		}
		if compared++; shown != w {
			b.Errorf("cycle %d, warp %d: %s is %q, and the debugger prints %q", cycle, warp, name, shown, w)
		}
	}
	if compared < 4 {
		b.Errorf("only %d registers are shown", compared)
	}
	return b.text()
}

// registers reads what the command regs prints: values by register, as the page shows them.
func registers(text string) map[string]string {
	m := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case !strings.HasPrefix(line, "  ") || len(f) < 2:
			continue
		case strings.HasPrefix(f[1], "."):
			name = f[0]
			line = strings.TrimSpace(line[strings.Index(line, f[1])+len(f[1]):])
		}
		cells := regexp.MustCompile(` {3,}`).Split(strings.TrimSpace(line), -1)
		if m[name] != "" {
			m[name] += "; "
		}
		m[name] += strings.Join(cells, "; ")
	}
	return m
}

// debug runs a job with commands of the debugger, and returns what it prints.
func debug(t *testing.T, file, script string) string {
	t.Helper()
	var out bytes.Buffer
	s := step.New(context.Background(), strings.NewReader(script), &out, false)
	if job.IsKepler(file) {
		ready, err := job.LoadKepler(file)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := ready.Config("")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.RunKepler(func() (*krun.Run, error) { return ready.Prepare(cfg, 0) }) // it ends with the commands
		return out.String()
	}
	_ = s.Run(func(inside func(*run.Inside) func() error) error {
		o := run.Options{Timing: true, Inside: inside}
		ready, err := job.Load(file, o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ready.Run(context.Background(), o)
		return err
	})
	return out.String()
}

// TestLearnSize bounds the page of as many steps as there may be.
func TestLearnSize(t *testing.T) {
	res := simulate(t, root+"/examples/kepler/cube.toml")
	steps := 0
	for _, l := range res.Lessons {
		steps += len(l.Steps.Kind)
	}
	var page bytes.Buffer
	if err := view.New([]view.Result{{Run: res}}, nil).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if steps != lesson.MostSteps || page.Len() > 2<<20 {
		t.Errorf("a page of %d steps has %d bytes", steps, page.Len())
	}
}
