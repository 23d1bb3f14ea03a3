package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/view"
	"github.com/heddle-sim/heddle/internal/view/viewtest"
)

// hostile is a name that would do harm wherever it were taken for HTML.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&`

// sample is a result with two launches of one kernel, the second without its last line.
func sample() *report.Run {
	end := uint64(90)
	line := func(pc int, n uint64) report.Line {
		return report.Line{File: "k.ptx", Line: 10 + pc, PC: pc, Function: "k", Text: "add " + hostile, SourceFile: "k.cu", SourceLine: 3 + pc, Issues: n, ThreadInstructions: 32 * n, WarpCycles: 2 * n, Stalls: map[string]uint64{"selected": n, "wait": n}}
	}
	load := line(1, 7)
	load.Accesses = &report.Accesses{Requests: 7, Sectors: 28, LeastSectors: 14, ConflictCycles: 3}
	branch := line(2, 5)
	branch.Branches = &report.Branches{Taken: 1, NotTaken: 2, Diverged: 2}
	launch := func(n int, lines ...report.Line) report.Kernel {
		return report.Kernel{Name: "k", Launch: n, KernelTiming: &report.KernelTiming{
			StartCycle: 50, Cycles: 100, Lines: lines, BlockLog: []report.BlockRun{{Block: 0, SM: 1, StartCycle: 60, EndCycle: &end}, {Block: 1, SM: 0, StartCycle: 61}},
		}}
	}
	return &report.Run{Heddle: "1", Input: hostile, Mode: "timing", Timing: &report.Timing{Cycles: 200}, Kernels: []report.Kernel{launch(0, line(0, 9), load, branch), launch(1, load, branch)}}
}

// data returns what a page's data unpack to, as any JSON, with the columns of numbers in their places.
func data(t *testing.T, page string) map[string]any {
	t.Helper()
	x, err := viewtest.Data(page)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func write(t *testing.T, p *view.Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func numbers(list ...float64) []any {
	var x []any
	for _, n := range list {
		x = append(x, n)
	}
	return x
}

func TestPacked(t *testing.T) {
	x := data(t, write(t, &view.Page{Results: []view.Result{{Run: sample()}}}))["results"].([]any)[0].(map[string]any)
	code := x["codes"].([]any)
	if len(code) != 1 {
		t.Fatalf("%d tables of code, want one for both launches", len(code))
	}
	second := x["counts"].([]any)[1].(map[string]any)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"program counters", code[0].(map[string]any)["pc"], numbers(0, 1, 2)},
		{"rows of the second launch", second["at"], numbers(1, 2)},
		{"rows of the first launch are all", x["counts"].([]any)[0].(map[string]any)["at"], nil},
		{"issues", second["issues"], numbers(7, 5)},
		{"waits", second["stalls"].(map[string]any)["wait"], numbers(7, 5)},
		{"accesses", second["access"], []any{numbers(0), numbers(7), numbers(28), numbers(14), numbers(3)}},
		{"branches", second["branches"], []any{numbers(1), numbers(1), numbers(2), numbers(2)}},
		{"starts of blocks", x["blocks"].([]any)[0].(map[string]any)["start"], numbers(10, 11)},
		{"ends of blocks", x["blocks"].([]any)[0].(map[string]any)["end"], numbers(40, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, c.got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What is packed as columns is what the result's JSON says, whatever its numbers and names are.
func TestPackedColumns(t *testing.T) {
	r := sample()
	r.History = &report.History{
		Every: 32, End: []uint64{32, 64, 1 << 40}, Columns: map[string][]uint64{"blocks": {0, 1, 127}, "stalls." + hostile: {128, 1 << 20, 3}, "__proto__": {1}, "empty": {}},
		Parts: []report.PartHistory{{Part: "sm", Counter: "warp_cycles", Every: 32, Counts: [][]uint64{{1, 2}, nil, {3, 1 << 33}}}},
	}
	r.Ways = []*report.Ways{{
		From: 5, To: 9, Stages: []string{"fetch", "issue"}, Inst: []int{0, 1}, Block: []uint64{0, 1 << 32}, Warp: []int{3, 4}, Slot: []int{0, 1},
		Lanes: []uint32{0, 1<<32 - 1}, At: [][]int64{{-300, 2}, {0, 1}}, WaitedFor: []int{-1, 0},
	}, {Stages: []string{"fetch"}}}
	r.Lessons = []*lesson.Lesson{{Kernel: hostile}, {
		Steps:  lesson.Steps{Cycle: []uint64{9}, Kind: []int{1}, Warp: []int{-1}, At: []int{-1}, Active: []uint32{1 << 31}, Lanes: []uint32{7}, Values: []int{1}, Stores: []int{1}},
		Values: lesson.Values{Cell: []int{4}, Lanes: []uint32{7}, Form: []int{2}, Data: []uint32{1, 1 << 31, 1<<32 - 1}},
		Stores: lesson.Stores{Word: []int{0}, Value: []uint32{0xdeadbeef}},
		Words:  lesson.Words{Space: []int{0}, Addr: []uint64{1 << 46}, First: []int64{-1}},
	}}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	list := data(t, write(t, &view.Page{Results: []view.Result{{Run: r}, {Run: r}}}))["results"].([]any)
	for i, x := range list {
		got := x.(map[string]any)["run"].(map[string]any)
		for _, name := range []string{"history", "ways", "lessons"} {
			if d := cmp.Diff(want[name], got[name]); d != "" {
				t.Errorf("%s of result %d:\n%s", name, i, d)
			}
		}
	}
	if len(r.History.End) != 3 || len(r.Lessons[1].Steps.Kind) != 1 || len(r.Ways[0].At[0]) != 2 {
		t.Error("the result itself was changed")
	}
}

// Kernels of one name from two modules keep their own texts, and launches of one share its table.
func TestPackedModules(t *testing.T) {
	r := sample()
	other := sample().Kernels[0]
	other.Launch = 2
	other.Lines[0].Text = "sub"
	again := sample().Kernels[1]
	again.Launch = 3
	r.Kernels = append(r.Kernels, other, again)
	x := data(t, write(t, &view.Page{Results: []view.Result{{Run: r}}}))["results"].([]any)[0].(map[string]any)
	var codes []any
	for _, c := range x["counts"].([]any) {
		codes = append(codes, c.(map[string]any)["code"])
	}
	if d := cmp.Diff(numbers(0, 0, 1, 0), codes); d != "" {
		t.Error(d)
	}
	for i, want := range []string{"add " + hostile, "sub"} {
		if got := x["codes"].([]any)[i].(map[string]any)["text"].([]any)[0]; got != want {
			t.Errorf("the first instruction of code %d is %q, want %q", i, got, want)
		}
	}
}

// TestHostile finds that nothing of a result is outside of the packed data, but for an escaped
// title, and that the policy of the page forbids what it does not need.
func TestHostile(t *testing.T) {
	page := write(t, &view.Page{Results: []view.Result{{Name: hostile, Run: sample(), Sources: map[string]string{"k.cu": hostile}}}})
	if strings.Contains(page, "alert(1)</script>") || strings.Contains(page, "onerror=alert(2)>") {
		t.Error("text of the result is part of the page's HTML")
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, want the data and the program", n)
	}
	for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(page, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if strings.Contains(page, "unsafe-") {
		t.Error("the policy permits something unsafe")
	}
	for _, far := range []string{` src="http`, ` href="http`, "url(http", "@import"} {
		if strings.Contains(page, far) {
			t.Errorf("the page refers to another place: %s", far)
		}
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"k.cu": "source", "k.ptx": "program", "passwd": "secret", "bad.cu": "a\x00b", "empty.cu": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, file, want string
		roots            []string
	}{
		{"a path", filepath.Join(dir, "k.cu"), "source", nil},
		{"in a root", "k.cu", "source", []string{dir}},
		{"elsewhere when it was compiled", "/elsewhere/k.cu", "source", []string{dir}},
		{"no source file", filepath.Join(dir, "passwd"), "", nil},
		{"up and no source file", "../../../../../../etc/passwd", "", []string{dir}},
		{"not text", filepath.Join(dir, "bad.cu"), "", nil},
		{"empty", filepath.Join(dir, "empty.cu"), "", nil},
		{"a folder", dir, "", nil},
		{"missing", "nowhere.cu", "", []string{dir}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sample()
			r.Kernels[0].Lines[0].SourceFile = c.file
			p := view.New([]view.Result{{Run: r}}, c.roots)
			if got := p.Results[0].Sources[c.file]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Results bring texts of their own: two may have different ones of the same name, and one may have
// none. A result from a file brings none from elsewhere.
func TestSourcesOfSeveral(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a/k.cu": "before", "b/k.cu": "after", "else/k.cu": "other"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	from := func(folder, source string) view.Result {
		r := sample()
		r.Kernels[0].Lines[0].SourceFile = source
		return view.Result{Name: filepath.Join(dir, folder, "r.json"), Run: r, Foreign: true}
	}
	away := filepath.Join(dir, "else/k.cu")
	p := view.New([]view.Result{from("none", "k.cu"), from("a", "k.cu"), from("b", "k.cu"), from("b", away), from("none", away), from("a", "../else/k.cu")}, nil)
	for i, want := range []string{"", "before", "after", "after", "", "before"} {
		r := p.Results[i]
		if got := r.Sources[r.Run.Kernels[0].Lines[0].SourceFile]; got != want {
			t.Errorf("result %d: %q, want %q", i, got, want)
		}
	}
	write(t, p)
}

func TestRead(t *testing.T) {
	var one bytes.Buffer
	if err := sample().WriteJSON(&one); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		n          int
	}{
		{"one", one.String(), 1},
		{"several, as heddle cuda writes them", one.String() + one.String(), 2},
		{"empty", "", 0},
		{"other JSON", `{"a": 1}`, 0},
		{"no object", `[1, 2]`, 0},
		{"cut", one.String()[:one.Len()/2], 0},
		{"no JSON", "hello", 0},
		{"a field of another type", `{"heddle": "1", "mode": "timing", "kernels": 5}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := view.Read(strings.NewReader(c.text))
			if len(list) != c.n || (err == nil) != (c.n > 0) {
				t.Errorf("%d results, %v; want %d", len(list), err, c.n)
			}
			if err != nil && !errors.Is(err, view.ErrNoResult) {
				t.Errorf("%v does not say what was expected", err)
			}
		})
	}
}

// A result that went through JSON gives the same page.
func TestSamePage(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	again, err := view.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	page := func(r *report.Run) string { return write(t, &view.Page{Results: []view.Result{{Run: r}}}) }
	if page(sample()) != page(again[0]) {
		t.Error("the page of a result differs from that of its JSON")
	}
}
