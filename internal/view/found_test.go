package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/found"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: what checkers found, on pages.

// checked makes a run functional, with all checkers.
func checked(t *testing.T) func(*run.Options) {
	t.Helper()
	set, err := checkers.New([]string{checkers.All}, checkers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *run.Options) { o.Timing, o.Checks = false, set }
}

// foundOf is a result of a functional run with findings.
func foundOf(list ...found.Finding) *report.Run {
	doc := &found.Document{Version: found.Version, Findings: list}
	for _, f := range list {
		doc.Rules = append(doc.Rules, found.Rule{ID: f.Rule, Checker: "races", Level: f.Level, Short: "Short", Mend: "Mend " + f.Rule})
	}
	return &report.Run{Heddle: "1", Input: "app", Mode: "functional", Checkers: []report.Checker{{Checker: "races", Found: uint64(len(list))}}, Found: doc, Kernels: []report.Kernel{{Name: "k"}}}
}

// TestFoundSources: texts that findings name are in the page, but for headers of the SDK.
func TestFoundSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"k.cu", "main.cu", "caller.cu", "sdk.h"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string, library bool) found.Place {
		return found.Place{File: filepath.Join(dir, name), Line: 1, Library: library}
	}
	r := foundOf(found.Finding{Rule: "r", Level: "error", Steps: []found.Step{
		{Role: "access", Place: at("k.cu", false), Chain: []found.Place{at("sdk.h", true), at("caller.cu", false)}}, {Role: "allocation", Place: at("main.cu", false)}, {Role: "launch", Place: at("gone.cu", false)},
	}})
	p := view.New([]view.Result{{Run: r}}, nil)
	for name, want := range map[string]bool{"k.cu": true, "main.cu": true, "caller.cu": true, "sdk.h": false, "gone.cu": false} {
		if _, got := p.Results[0].Sources[filepath.Join(dir, name)]; got != want {
			t.Errorf("%s is in the page: %v, want %v", name, got, want)
		}
	}
}

// TestExecuted: the lines of a functional run are those of its program, with the threads that reached
// them.
func TestExecuted(t *testing.T) {
	res := simulate(t, root+"/examples/learn/diverge.toml", func(o *run.Options) { o.Timing = false })
	text, err := os.ReadFile(root + "/examples/learn/diverge.ptx")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	most, branch := uint64(0), false
	for _, l := range res.Lines {
		if op, _, _ := strings.Cut(l.Instruction, "."); !strings.Contains(lines[l.Line-1], op) {
			t.Errorf("line %d is %q, not %s", l.Line, lines[l.Line-1], l.Instruction)
		}
		most = max(most, l.ThreadInstructions)
		if l.Branches != nil {
			branch = true
			if l.Taken+l.NotTaken != l.ThreadInstructions {
				t.Errorf("line %d: %d threads take the branch and %d do not, of %d", l.Line, l.Taken, l.NotTaken, l.ThreadInstructions)
			}
		}
	}
	k := res.Kernels[0]
	if threads := uint64(k.Grid[0] * k.Block[0]); res.Lines[0].ThreadInstructions != threads || most < threads || !branch {
		t.Errorf("%d threads reach the first line, at most %d a line, a branch %v; want %d", res.Lines[0].ThreadInstructions, most, branch, threads)
	}
}

// TestFoundPage reads what checkers found in a job, goes from the list to the lines and from one
// access to the other, by pointer and by keyboard.
func TestFoundPage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	res := simulate(t, root+"/examples/learn/race.toml", checked(t))
	b.open(b.write(view.New([]view.Result{{Run: res}}, nil)))
	f := res.Found.Findings[0]
	if f.Rule != "race-global-intrablock" || len(f.Steps) < 2 || f.Steps[0].Line == f.Steps[1].Line {
		t.Fatalf("the first finding is %+v", f)
	}
	shows := func(where string, want ...string) {
		t.Helper()
		s := strings.ReplaceAll(b.text(), "\u00a0", " ")
		for _, w := range want {
			if !strings.Contains(s, w) {
				t.Errorf("%s: %q is not shown: %s", where, w, s)
			}
		}
	}
	b.at("#/summary")
	place := func(i int) string { return fmt.Sprintf("race.ptx:%d", f.Steps[i].Line) }
	shows("the summary", "races, memory, leaks, sync, init, lint: 2 errors, 1 warning, 1 note", f.Message, f.Rule, report.Count(f.Count)+" times", f.Steps[0].Text, place(0), place(1), "launch 0")
	b.picture("found-summary")
	follow := func(among, text string) {
		t.Helper()
		if !js[bool](b, fmt.Sprintf(`(a => { a?.click(); return a !== undefined })([...document.querySelectorAll(%q)].find(a => a.innerText === %q))`, among, text)) {
			t.Fatalf("no link %q in %s", text, among)
		}
		js[int](b, `new Promise(r => setTimeout(() => requestAnimationFrame(() => r(1)), 120))`)
	}
	here := func(where string, line int) {
		t.Helper()
		if got := js[string](b, `document.querySelector(".code [aria-current] .no")?.innerText ?? ""`); !strings.HasSuffix(got, fmt.Sprint(line)) {
			t.Errorf("%s: the selected line is %q, want %d", where, got, line)
		}
		if !js[bool](b, `document.querySelector(".code [aria-current]").nextElementSibling.classList.contains("peek")`) {
			t.Errorf("%s: nothing is said below the line", where)
		}
	}
	follow(".foundlist a", place(0))
	here("from the list", f.Steps[0].Line)
	shows("the source", "Next finding", "ld.global.u32", f.Message)
	b.picture("found-source")
	follow(".peek a", place(1))
	here("the other access", f.Steps[1].Line)
	if n := js[int](b, `document.querySelectorAll(".code .sign[aria-label=error]").length`); n < 2 {
		t.Errorf("%d lines have a mark, want both accesses", n)
	}

	press := func(keys string) { b.do(chromedp.KeyEvent(keys), chromedp.Sleep(120*time.Millisecond)) }
	js[int](b, `document.querySelector(".code").focus(); 1`)
	press(kb.Escape)
	if js[bool](b, `document.querySelector(".peek") !== null`) {
		t.Error("Escape does not close what is said")
	}
	press("f")
	first := js[string](b, `location.hash`)
	press("f")
	if second := js[string](b, `location.hash`); second == first || !strings.Contains(second, "race.ptx:") {
		t.Errorf("f goes from %s to %s", first, second)
	}
	press("F")
	if again := js[string](b, `location.hash`); again != first {
		t.Errorf("F goes back to %s, want %s", again, first)
	}
	b.at("#/launch/0")
	shows("the launch", f.Message, place(0))
	b.picture("found-launch")
	b.quiet()
}

// TestFoundStates shows what a page says where nothing was found, or nobody looked.
func TestFoundStates(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	clean := foundOf()
	clean.OK, clean.Checkers[0].OK = true, true
	blind := foundOf()
	blind.Checkers[0].OK, blind.Checkers[0].NotWatched = true, []int{0}
	old := foundOf()
	old.Checkers[0].Found, old.Found = 3, nil
	gone := foundOf(found.Finding{Rule: "race-x", Level: "warning", Message: "It races.", Count: 2, Steps: []found.Step{{Role: "access", Text: "a read", Place: found.Place{File: "gone.cu", Line: 7, Function: "k"}}}})
	for _, c := range []struct {
		name string
		res  *report.Run
		hash string
		want []string
	}{
		{"nobody looked", &report.Run{Heddle: "1", Input: "app", Mode: "functional"}, "#/summary", []string{"none ran"}},
		{"nothing was found", clean, "#/summary", []string{"What checkers found", "checked: races", "nothing found"}},
		{"machine code", blind, "#/summary", []string{"Nothing was checked by races", "1 launch was not checked"}},
		{"a result of an earlier version", old, "#/summary", []string{"3 findings. The result does not have them"}},
		{"no lines", clean, "#/source", []string{"The result has no lines"}},
		{"a text that was not found", gone, "#/source?line=gone.cu:7", []string{"The text of this file was not found", "It races.", "Mend race-x", "a read"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			b.open(b.write(view.New([]view.Result{{Run: c.res}}, nil)))
			b.at(c.hash)
			shown := strings.ReplaceAll(b.text(), "\u00a0", " ")
			for _, w := range c.want {
				if !strings.Contains(shown, w) {
					t.Errorf("%q is not shown: %s", w, shown)
				}
			}
			b.quiet()
		})
	}
}

// TestManyFound: thousands of notes are not drawn at once.
func TestManyFound(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	var list []found.Finding
	for i := range 10_000 {
		list = append(list, found.Finding{Rule: "race-x", Level: "note", Message: fmt.Sprintf("note %d", i), Steps: []found.Step{{Role: "access", Place: found.Place{File: "k.cu", Line: 1 + i%500}}}})
	}
	b.open(b.write(&view.Page{Results: []view.Result{{Run: foundOf(list...), Sources: map[string]string{"k.cu": strings.Repeat("x\n", 500)}}}}))
	b.at("#/summary")
	if n := js[int](b, `document.querySelectorAll(".found").length`); n == 0 || n > 50 {
		t.Errorf("%d findings are drawn", n)
	}
	js[int](b, `[...document.querySelectorAll("main button")].find(x => x.innerText.includes("more findings")).click(); new Promise(r => setTimeout(() => r(1), 200))`)
	if n := js[int](b, `document.querySelectorAll(".found").length`); n < 100 {
		t.Errorf("%d findings are drawn after the button", n)
	}
	before := time.Now()
	b.at("#/source?line=k.cu:250")
	if took := time.Since(before); took > 5*time.Second {
		t.Errorf("the source takes %v", took)
	}
	if !strings.Contains(b.text(), "15 more at this line") {
		t.Error("the rest at a line is not counted")
	}
	b.quiet()
}
