package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compare"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/found"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/trace/record"
	tracetext "github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/view"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// This file: pages in a real browser. Chromium is left out where it is not installed; .ci/run
// installs it.

// picturesIn is a variable with a folder for screenshots of every page.
const picturesIn = "HEDDLE_PAGE_PICTURES"

// browser is a tab of a headless Chromium, and what it complained about and asked for.
type browser struct {
	*testing.T
	Context context.Context
	mutex   sync.Mutex
	wrong   []string
	asked   []string
	origin  string // requests to other places are wrong
}

// newBrowser starts Chromium.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		t.Skip("no Chromium: pages are not tried in a browser; install the package chromium")
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{T: t, Context: ctx, origin: "file://"}
	b.do() // starts it
	listen(b, cdpruntime.ExceptionThrown, func(e cdpruntime.EventExceptionThrown) {
		b.wrong = append(b.wrong, fmt.Sprintf("%s: %s at %d:%d", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description, e.ExceptionDetails.LineNumber, e.ExceptionDetails.ColumnNumber))
	})
	listen(b, cdpruntime.ConsoleAPICalled, func(e cdpruntime.EventConsoleAPICalled) {
		if e.Type == cdpruntime.ConsoleAPICalledTypeError || e.Type == cdpruntime.ConsoleAPICalledTypeWarning {
			b.wrong = append(b.wrong, fmt.Sprintf("console: %s %s", e.Args[0].Value, e.Args[0].Description))
		}
	})
	listen(b, log.EntryAdded, func(e log.EventEntryAdded) {
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.wrong = append(b.wrong, e.Entry.Text)
		}
	})
	listen(b, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) {
		if u := e.Request.URL; !strings.HasPrefix(u, b.origin) && !strings.HasPrefix(u, "data:") {
			b.asked = append(b.asked, u)
		}
	})
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

// listen calls a function for every event of a kind.
func listen[E any](b *browser, kind cdp.Event[E], f func(E)) {
	events := chromedp.Events(b.Context, kind)
	go func() {
		for e, err := range events {
			if err != nil {
				return // the browser has ended
			}
			b.mutex.Lock()
			f(e)
			b.mutex.Unlock()
		}
	}()
}

// call sends a command to the browser.
func call[P, R any](b *browser, c cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Run(b.Context, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// js evaluates an expression of the page, and waits for it if it is a promise.
func js[T any](b *browser, text string) T {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Context, 2*time.Minute)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](text, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return v
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.Context, steps...); err != nil {
		b.Fatal(err)
	}
}

// open shows a page of an address, which may be the one that is shown already.
func (b *browser) open(url string) {
	b.Helper()
	b.do(chromedp.Navigate(url))
	if ready := js[string](b, `new Promise(done => { const f = () => { const r = document.getElementById("app").dataset.ready; r ? done(r) : setTimeout(f, 5) }; f() })`); ready != "true" {
		b.Fatalf("the page is %s: %s", ready, b.text())
	}
}

// at goes to another part of the page.
func (b *browser) at(hash string) {
	b.Helper()
	js[int](b, fmt.Sprintf(`location.hash = %q; new Promise(r => setTimeout(() => requestAnimationFrame(() => r(1)), 60))`, hash))
}

// text is what the page shows.
func (b *browser) text() string {
	b.Helper()
	return js[string](b, `document.body.innerText`)
}

// scheme selects light or dark.
func (b *browser) scheme(name string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// quiet finds that the browser had nothing to complain about, and was asked for nothing else.
func (b *browser) quiet() {
	b.Helper()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, w := range b.wrong {
		b.Errorf("the browser says: %s", w)
	}
	for _, u := range b.asked {
		b.Errorf("the page asks for %s", u)
	}
	b.wrong, b.asked = nil, nil
}

// picture writes screenshots of what is shown, light and dark, wide and narrow, if they are
// wanted, and finds that nothing is wider than the screen, and no chart is cut off or scrolls.
func (b *browser) picture(name string) {
	b.Helper()
	dir := os.Getenv(picturesIn)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			b.scheme(scheme)
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
			if wide := js[float64](b, `new Promise(r => setTimeout(() => r(document.documentElement.scrollWidth), 120))`); wide > float64(width) {
				b.Errorf("%s: %g points wide on a screen of %d", name, wide, width)
			}
			if wide := js[[]string](b, `[...document.querySelectorAll("main svg, main canvas, main .columns, main .figures")].filter((e) => e.checkVisibility() && !e.closest(".scroll, .grid, .code") && e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 80))`); len(wide) > 0 {
				b.Errorf("%s: charts are cut off on a screen of %d: %q", name, width, wide)
			}
			if dir == "" {
				continue
			}
			beyond := true
			png := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond}).Data
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)), png, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
	b.scheme("")
}

// write writes a page to a file and returns its address.
func (b *browser) write(p *view.Page) string {
	b.Helper()
	var text strings.Builder
	if err := p.WriteHTML(&text); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	return "file://" + file
}

const root = "../.."

// simulate runs a job with all that a page shows.
func simulate(t *testing.T, file string, change ...func(*run.Options)) *report.Run {
	t.Helper()
	o := run.Options{Timing: true, Page: true}
	for _, f := range change {
		f(&o)
	}
	if job.IsKepler(file) {
		ready, err := job.LoadKepler(file)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := ready.Config("")
		if err != nil {
			t.Fatal(err)
		}
		res, err := ready.Run(context.Background(), job.KeplerOptions{Options: o, Config: cfg})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if open.Is(file) {
		set, err := open.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		res, err := tracerun.Run(context.Background(), set, o)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	ready, err := job.Load(file, o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := ready.Run(context.Background(), o)
	if res == nil {
		t.Fatal(err)
	}
	return res
}

// TestPages walks the pages of results of all kinds of work, from files, and finds the numbers of
// the results on them.
func TestPages(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	for _, c := range []struct {
		name, file string
		change     func(*run.Options)
		words      []string // on the summary
	}{
		{"vecadd", root + "/examples/vecadd/vecadd.toml", nil, []string{"1 check ok", "vecadd.ptx"}},
		{"matmul", root + "/examples/matmul/matmul.toml", nil, []string{"Few warps", "1 check ok", "matmul.ptx"}},
		{"streams", root + "/examples/streams/streams.toml", nil, []string{"Streams over time", "stream 1"}},
		{"hazard", "testdata/hazard.toml", func(o *run.Options) { o.Hazards = true }, []string{"Checker: hazards", "FFMA"}},
		{"sass", brokenMatmul(t), func(o *run.Options) { o.Hazards = true }, []string{"Checker: hazards", "matmul.sass", "R23", "LDS R23", "[B01----"}},
		{"trace", root + "/internal/trace/text/testdata/lud", nil, []string{"lud", "pc 0x"}},
		{"sixteen", recordedLaunches(t, 16), nil, []string{"Launches 16", "Streams over time"}},
		{"kepler", root + "/examples/kepler/cube.toml", nil, []string{"kepler", "Launches 32"}},
		{"deadlock", "testdata/deadlock.toml", nil, []string{"The run ended early: stuck", "Who waits for whom"}},
		{"functional", root + "/examples/matmul/matmul.toml", func(o *run.Options) { o.Timing = false }, []string{"functional", "none ran"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			res := simulate(t, c.file, func(o *run.Options) {
				if c.change != nil {
					c.change(o)
				}
			})
			b.open(b.write(view.New([]view.Result{{Run: res}}, nil)))
			b.walk(c.name, res, c.words)
			b.quiet()
		})
	}
}

// TestProgramPage walks the pages of a CUDA program with streams, as the command line makes them:
// the program is compiled, and run by the built heddle.
func TestProgramPage(t *testing.T) {
	alltests.Only(t, "a CUDA program in a browser")
	needCompilers(t)
	b := newBrowser(t)
	dir := t.TempDir()
	heddle, program, page, result := filepath.Join(dir, "heddle"), filepath.Join(dir, "streams"), filepath.Join(dir, "page.html"), filepath.Join(dir, "result.json")
	for _, args := range [][]string{
		{"go", "build", "-o", heddle, root + "/cmd/heddle"},
		{heddle, "cc", "-lineinfo", root + "/examples/cuda/streams/streams.cu", "-o", program},
		{heddle, "cuda", "--gpu", "rtx-2060", "--html", page, "--json", result, "--", program},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	text, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	list, err := view.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || len(list[0].Kernels) < 2 {
		t.Fatalf("%d results", len(list))
	}
	b.open("file://" + page)
	b.walk("program", list[0], []string{"streams", "Streams over time"})
	b.quiet()
}

// needCompilers skips a test where CUDA programs cannot be compiled.
func needCompilers(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"clang", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s not found", tool)
		}
	}
}

// walk visits every page of one result.
func (b *browser) walk(name string, res *report.Run, words []string) {
	b.Helper()
	n := func(x uint64) string { return report.Count(x) }
	expect := map[string][]string{"summary": append(words, n(res.WarpInstructions), n(res.ThreadInstructions))}
	if res.Timing != nil {
		expect["summary"] = append(expect["summary"], n(res.Cycles))
		for i := range res.Findings {
			if i < 3 {
				expect["summary"] = append(expect["summary"], res.Findings[i].Seen, res.Findings[i].Try)
			}
		}
	}
	for i := range res.Kernels {
		if i == 3 {
			break
		}
		k := &res.Kernels[i]
		at := fmt.Sprintf("launch/%d", k.Launch)
		expect[at] = []string{n(k.WarpInstructions)}
		if k.KernelTiming == nil {
			expect[at] = append(expect[at], "functional run counts no cycles")
			if len(res.Lines) > 0 {
				expect[at+"/source"] = []string{"threads that reached each line", n(res.Lines[0].ThreadInstructions)}
			}
			continue
		}
		expect[at] = append(expect[at], n(k.Cycles), n(k.KernelTiming.WarpCycles), n(k.EndCycle), "Occupancy")
		for _, count := range k.Stalls {
			if count > 0 {
				expect[at] = append(expect[at], n(count))
			}
		}
		for _, p := range k.Peaks {
			expect[at] = append(expect[at], fmt.Sprintf("%.1f %%", 100*p.Used/p.Most))
		}
		if len(k.Lines) > 0 {
			hot := slices.MaxFunc(k.Lines, func(a, b report.Line) int { return int(int64(a.WarpCycles) - int64(b.WarpCycles)) })
			where := fmt.Sprintf("%s:%d", hot.File, hot.Line)
			if hot.Line == 0 {
				where = fmt.Sprintf("pc:%d", hot.PC)
			}
			shown := []string{n(hot.WarpCycles), hot.Text, n(hot.Issues)}
			for _, p := range hot.WaitedFor {
				shown = append(shown, "Waited for", n(p.WarpCycles))
				if hot.Line-p.Line > 0 && hot.Line-p.Line < 10 { // it is in sight
					shown = append(shown, "◂ ")
				}
			}
			expect[at+"/source?line="+where] = shown
		}
	}
	if res.Timing != nil {
		expect["time"], expect["machine"] = []string{"cycles 0 to " + n(res.Cycles)}, []string{res.GPU, "DRAM channels"}
		if len(res.PerSM) == 0 {
			expect["machine"] = []string{"no counters of the machine's parts"}
		}
		if h := res.History; h != nil {
			expect["time"] = append(expect["time"], "Rows of "+n(h.Every), n(h.End[0]), "Blocks on SMs")
		}
		for i := range min(5, len(res.PerSM)) {
			expect["machine"] = append(expect["machine"], n(res.PerSM[i].WarpInstructions), n(res.PerSM[i].BusyCycles))
		}
		for _, s := range res.Subnets {
			expect["machine"] = append(expect["machine"], s.Of, n(s.Packets), n(s.Conflicts), fmt.Sprintf("%.1f cycles", s.MeanLatencyCycles))
		}
		if res.Error != nil && res.Error.Standstill != nil {
			for _, w := range res.Error.Standstill.Warps {
				expect["machine"] = append(expect["machine"], w.WaitsFor, fmt.Sprintf("%s:%d", filepath.Base(w.File), w.Line))
			}
		}
	}
	way := "heddle run " + res.Input + " --timeline way.kanata"
	if res.NoJob && res.Trace == nil {
		way = "heddle cuda --timeline way.kanata -- " + res.Input
	}
	expect["pipeline"], expect["learn"] = []string{way}, []string{"Nothing was recorded step by step"}
	if len(res.Lessons) > 0 {
		expect["learn"] = []string{"Registers", "Memory", fmt.Sprintf("Step 0 of %s", n(uint64(len(res.Lessons[0].Steps.Cycle)-res.Lessons[0].Begin)))}
	}
	if js[bool](b, `[...document.querySelectorAll(".top nav a")].every(a => a.innerText !== "Compare")`) {
		expect["compare"] = []string{"A comparison needs two results"}
	}
	for hash, list := range expect {
		b.at("#/" + hash)
		place, _, _ := strings.Cut(hash, "?")
		b.picture(name + "-" + strings.ReplaceAll(place, "/", "-"))
		if hash == "time" || hash == "machine" {
			js[int](b, `document.querySelectorAll("main .switch").forEach(x => x.textContent === "Table" && x.click()); new Promise(r => setTimeout(() => r(1), 100))`)
		}
		if high := js[[]float64](b, `[...new Set([...document.querySelectorAll(".code .row:not(.head)")].filter(r => r.offsetParent).map(r => r.offsetHeight))]`); len(high) > 0 && !slices.Equal(high, []float64{22}) {
			b.Errorf("#/%s: rows of texts are %v points high, want 22", hash, high)
		}
		shown := strings.ReplaceAll(strings.ToLower(b.text()), "\u00a0", " ")
		for _, w := range list {
			if !strings.Contains(shown, strings.ToLower(w)) {
				b.Errorf("#/%s does not show %q", hash, w)
			}
		}
	}
}

// brokenMatmul returns a job of a matrix product in SASS whose inner loop uses a loaded element
// without waiting for it.
func brokenMatmul(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"matmul.toml", "matmul.bin", "matmul.sass"} {
		text, err := os.ReadFile(root + "/examples/sass/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "matmul.sass" {
			const waits, hurries = "[B01----:R-:W-:-:S05]         FFMA R15, R22, R23, R15", "[B0-----:R-:W-:-:S05]         FFMA R15, R22, R23, R15"
			if !bytes.Contains(text, []byte(waits)) {
				t.Fatalf("%s has no line %q", name, waits)
			}
			text = bytes.Replace(text, []byte(waits), []byte(hurries), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "matmul.toml")
}

// recordedLaunches returns the folder of a trace with that many launches, of accesses one word apart and 32 in turn.
func recordedLaunches(t *testing.T, launches int) string {
	t.Helper()
	dir := t.TempDir()
	program, err := filepath.Abs(root + "/examples/learn/walk.ptx")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "program = %q\n[buffers.data]\ntype = \"u32\"\ncount = 1048576\n[buffers.out]\ntype = \"u32\"\ncount = 10752\n", program)
	for i := range launches {
		apart := []int{1, 32}[i%2]
		fmt.Fprintf(&text, "[[launches]]\nkernel = \"walk\"\ngrid = [%d, 1, 1]\nblock = [128, 1, 1]\nargs = [{ buffer = \"out\" }, { buffer = \"data\" }, { u32 = %d }, { u32 = %d }, { u32 = 1048575 }, { u32 = 4 }]\n", 4+i, apart, 10752*apart)
	}
	file := filepath.Join(dir, "many.toml")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "trace")
	rec := record.New("test", func(set *trace.Set) error { return tracetext.Write(to, set, tracetext.Options{Version: 5}, nil) })
	res := simulate(t, file, func(o *run.Options) { o.Record = rec })
	if res.Error != nil {
		t.Fatal(res.Error)
	}
	if err := rec.Finish(); err != nil {
		t.Fatal(err)
	}
	return to
}

// change is a difference in percent, as the page shows it.
func change(a, b float64) string {
	sign := "+"
	switch {
	case b < a:
		sign = "−"
	case b == a:
		sign = "±"
	}
	return fmt.Sprintf("%s%.1f %%", sign, 100*math.Abs(b/a-1))
}

// TestComparePage compares a run with L2s of three sizes and with measurements: all pages of the
// results are walked, and the differences and errors found on the page Compare.
func TestComparePage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	var list []view.Result
	for _, sets := range []int{1, 4, 64} {
		r := simulate(t, root+"/examples/learn/thrashing.toml", func(o *run.Options) {
			if err := o.Settings.Set(fmt.Sprintf("l2.sets=%d", sets)); err != nil {
				t.Fatal(err)
			}
		})
		list = append(list, view.Result{Name: fmt.Sprintf("sets %d", sets), Run: r})
	}
	page := view.New(list, nil)
	table, err := compare.Read("hw.csv", strings.NewReader(fmt.Sprintf("kernel,cycles\nwalk,%d\nwalk,%d\nother,7\n", list[0].Run.Kernels[0].Cycles*2, list[0].Run.Kernels[1].Cycles)))
	if err != nil {
		t.Fatal(err)
	}
	var result, measured bytes.Buffer
	if err := list[0].Run.WriteJSON(&result); err != nil {
		t.Fatal(err)
	}
	source, err := compare.Read("sets1.json", &result)
	if err != nil {
		t.Fatal(err)
	}
	ta, tb, by, err := compare.Tables(table, []*compare.Source{source}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Compare(ta, tb, by, compare.ByName, 0)
	if err == nil {
		err = c.WriteJSON(&measured, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, ok := compare.Parse(measured.Bytes())
	if !ok {
		t.Fatal("the comparison cannot be read")
	}
	page.Comparisons = []view.Comparison{{Name: "hw.csv", JSON: text}}
	b.open(b.write(page))
	b.walk("sweep", list[0].Run, []string{"sets 64"})

	x, y, z := list[0].Run, list[1].Run, list[2].Run
	cycles := func(r *report.Run) float64 { return float64(r.Cycles) }
	b.at("#/compare")
	shown := b.text()
	for _, want := range []string{
		"sets 1", "sets 4", "sets 64", report.Count(x.Cycles), report.Count(y.Cycles), report.Count(z.Cycles), change(cycles(x), cycles(y)), change(cycles(x), cycles(z)),
		"walk.ptx:", report.Count(x.Kernels[0].Stalls["long_scoreboard"] + x.Kernels[1].Stalls["long_scoreboard"]),
		"hw.csv", "25.00 %", "−25.00 %", "50.00 %", "other",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	js[int](b, `document.querySelectorAll("main .switch").forEach(x => x.textContent === "Table" && x.click()); new Promise(r => setTimeout(() => r(1), 100))`)
	for _, want := range []string{"0.500", "1.000", "±0.00 %"} {
		if !strings.Contains(b.text(), want) {
			t.Errorf("%q is not in the table of pairs", want)
		}
	}
	b.picture("sweep-compare")
	b.at("#/launch/1?run=1")
	if s := b.text(); !strings.Contains(s, report.Count(y.Kernels[1].Cycles)) {
		t.Error("the second result is not shown")
	}
	b.at("#/compare?a=2&b=0")
	if s := b.text(); !strings.Contains(s, change(cycles(z), cycles(x))) {
		t.Error("the results are not swapped")
	}
	b.quiet()
}

// TestPipelinePage opens a timeline on the page, and compares its stages with what was recorded.
func TestPipelinePage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	way := timeline.New(0)
	res := simulate(t, "testdata/hazard.toml", func(o *run.Options) { o.Timeline = way })
	file := filepath.Join(t.TempDir(), "way.kanata")
	var text strings.Builder
	if err := way.WriteKanata(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.kanata")
	if err := os.WriteFile(bad, []byte("something else\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	b.open(b.write(view.New([]view.Result{{Run: res}}, nil)))
	b.at("#/pipeline")
	b.do(chromedp.SetUploadFiles("#kanata", []string{bad}), chromedp.Sleep(200*time.Millisecond))
	if s := b.text(); !strings.Contains(s, "This is not a file of heddle run --timeline") {
		t.Errorf("another file is not refused: %s", s)
	}
	b.do(chromedp.SetUploadFiles("#kanata", []string{file}), chromedp.Sleep(300*time.Millisecond))
	// The first instruction: its fetch is the first event of the file.
	_, rest, _ := strings.Cut(text.String(), "C=\t")
	cycle, _, _ := strings.Cut(rest, "\n")
	first, err := strconv.ParseUint(cycle, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	js[int](b, `document.querySelector(".ways g").dispatchEvent(new MouseEvent("click", {bubbles: true})); new Promise(r => setTimeout(() => r(1), 60))`)
	shown := b.text()
	for _, want := range []string{fmt.Sprintf("Instructions %d", way.Len()), "fetch " + report.Count(first), "MOV R8", "FFMA R5", "write back"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown: %s", want, shown)
		}
	}
	b.picture("pipeline")
	b.quiet()
}

// TestHostilePage finds that names and texts with HTML are shown as text in a browser.
func TestHostilePage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	r := sample()
	r.Kernels[0].Name, r.GPU = hostile, hostile
	r.Error = &report.Failure{Kind: hostile, Message: hostile}
	r.Checks = []report.Check{{Buffer: hostile, Against: hostile}}
	r.Findings = []report.Finding{{Rule: hostile, Seen: hostile, Try: hostile, Kernel: hostile, Share: 1, RunShare: 1, Lines: []report.LineCost{{File: hostile, Line: 1, Instruction: hostile}}}}
	r.Ranges = []*report.Range{{Name: hostile}}
	at := found.Place{File: hostile, Line: 1, Function: hostile, Inst: hostile}
	r.Checkers = []report.Checker{{Checker: hostile, Found: 1}}
	r.Found = &found.Document{Version: found.Version, Rules: []found.Rule{{ID: hostile, Checker: hostile, Level: hostile, Short: hostile, Full: hostile, Mend: hostile + "."}}, Findings: []found.Finding{{
		Rule: hostile, Level: hostile, Message: hostile, Kernel: hostile, Cause: hostile, Order: hostile, Steps: []found.Step{{Role: hostile, Text: hostile, Place: at, Chain: []found.Place{at}}, {Role: "call", Place: found.Place{File: "k.cu", Line: 1}}}, Details: map[string]string{hostile: hostile},
	}}}
	texts := map[string]string{"k.cu": hostile, "k.ptx": strings.Repeat(hostile+"\n", 20)}
	name, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	side := fmt.Sprintf(`{"files":[%s],"what":%[1]s,"metric":%[1]s,"notes":[%[1]s]}`, name)
	compared, ok := compare.Parse(fmt.Appendf(nil, `{"heddle":"1","match":"name","by":%s,"a":%s,"b":%[2]s,"statistics":{"worst":%[1]s},"only_a":[{"name":%[1]s,"file":%[1]s}],"pairs":[{"name":%[1]s,"a":1,"b":2,"ratio":2,"error_percent":100}]}`, name, side))
	if !ok {
		t.Fatal("the comparison is refused")
	}
	b.open(b.write(&view.Page{
		Results:     []view.Result{{Name: hostile, Run: r, Sources: texts}, {Name: hostile, Run: r, Sources: texts}},
		Comparisons: []view.Comparison{{Name: hostile, JSON: compared}},
	}))
	for _, hash := range []string{"#/summary", "#/launch/0", "#/launch/0/source", "#/source?line=k.cu:1", "#/launch/0/source?line=" + "%3Cimg%20src%3Dx%3E", "#/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "#/compare", "#/time", "#/machine", "#/pipeline"} {
		b.at(hash)
		if strange := js[int](b, `document.querySelectorAll("#app script, #app img, #app iframe").length`); strange != 0 {
			t.Errorf("%s: %d elements of the result's own", hash, strange)
		}
	}
	b.at("#/summary")
	if !strings.Contains(b.text(), "onerror=alert(2)") {
		t.Error("the name is not shown as text")
	}
	b.quiet()
}

// TestServedPage finds that the page from a server is the same, and works there.
func TestServedPage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	url, host := serve(t, func() (*view.Page, error) { return &view.Page{Results: []view.Result{{Run: sample()}}}, nil })
	b.origin = "http://" + host + "/"
	b.open(url)
	b.at("#/launch/1/source")
	if s := b.text(); !strings.Contains(s, "add ") {
		t.Errorf("the source is not shown: %s", s)
	}
	b.quiet()
}

// TestKeyboard uses the page without a pointer.
func TestKeyboard(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	b.open(b.write(&view.Page{Results: []view.Result{{Run: sample()}}}))
	for _, c := range []struct{ name, keys, hash, focus, shown string }{
		{"a number opens a page", "2", "#/launch/0", "", ""},
		{"n goes to the next launch", "n", "#/launch/1", "", ""},
		{"p goes back", "p", "#/launch/0", "", ""},
		{"3 opens the source of the launch", "3", "#/launch/0/source", "", ""},
		{"h goes to the next hottest line", "h", "", "", "224 (32.0 lanes an issue)"},
		{"? shows the keys", "?", "", "Close", "next, previous launch"},
		{"Escape closes them", kb.Escape, "", "", ""},
		{"1 goes to the summary", "1", "#/summary", "", ""},
		{"Tab reaches the link to the content", kb.Tab, "", "To the content", ""},
		{"and the mark", kb.Tab, "", "Heddle", ""},
		{"and the pages", kb.Tab, "", "Summary", ""},
		{"and the next", kb.Tab, "", "Launch", ""},
		{"Enter opens it", kb.Enter, "#/launch/0", "", ""},
		{"the keys again", "?", "", "Close", "next, previous launch"},
		{"Tab stays there", kb.Tab, "", "Close", ""},
		{"Escape goes back", kb.Escape, "", "Launch", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			b.do(chromedp.KeyEvent(c.keys), chromedp.Sleep(100*time.Millisecond))
			hash, focus := js[string](b, `location.hash`), js[string](b, `document.activeElement.innerText`)
			if c.hash != "" && hash != c.hash {
				t.Errorf("at %s, want %s", hash, c.hash)
			}
			if c.focus != "" && focus != c.focus {
				t.Errorf("on %q, want %q", focus, c.focus)
			}
			if !strings.Contains(b.text(), c.shown) {
				t.Errorf("%q is not shown", c.shown)
			}
		})
	}
	b.T = t
	b.quiet()
}

// TestKeyboardReads reads charts, chooses a part of the time and goes to lines without a pointer.
func TestKeyboardReads(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	res := simulate(t, root+"/examples/learn/reduction.toml")
	b.open(b.write(view.New([]view.Result{{Run: res}}, nil)))
	focus := func(what string) {
		t.Helper()
		if !js[bool](b, fmt.Sprintf(`(x => { x?.focus(); return x !== null && x === document.activeElement && x.tabIndex === 0 })(document.querySelector(%q))`, what)) {
			t.Fatalf("the keyboard does not reach %s", what)
		}
	}
	press := func(keys string) { b.do(chromedp.KeyEvent(keys), chromedp.Sleep(100*time.Millisecond)) }
	shows := func(want string) {
		t.Helper()
		if s := strings.ReplaceAll(b.text(), "\u00a0", " "); !strings.Contains(s, want) {
			t.Errorf("%q is not shown: %s", want, s)
		}
	}
	h := res.History
	b.at("#/time")
	focus(".uplotbox")
	press(kb.ArrowRight)
	press(kb.ArrowRight)
	shows("cycle " + report.Count(h.End[1]))
	focus("canvas.canvas")
	press(kb.ArrowDown)
	shows("SM 0, cycle ")
	press(kb.ArrowDown)
	shows("SM 1, cycle ")
	focus("input[name=to]")
	js[int](b, `document.activeElement.select(); 1`)
	press("128\r")
	shows("cycles 0 to 128")

	b.at("#/machine")
	focus(".cell")
	press("\r")
	warps := h.Warps
	shows(fmt.Sprintf("Sampled every %s cycles", report.Count(warps.Every)))
	focus("canvas.warps")
	press(kb.ArrowDown)
	shows(fmt.Sprintf("slot %d, cycle %s: ", warps.Slots[0].Slot, report.Count(warps.Every)))
	b.picture("machine-warps")

	b.at("#/pipeline")
	focus(".ways")
	chosen := func() string {
		return js[string](b, `document.querySelector(".ways g.on > text")?.textContent ?? ""`)
	}
	var rows []string
	for _, key := range []string{kb.ArrowDown, kb.ArrowDown, kb.End, kb.ArrowUp, kb.Home} {
		press(key)
		rows = append(rows, chosen())
	}
	if rows[0] == "" || rows[1] == rows[0] || rows[2] == "" || rows[2] == rows[1] || rows[3] == "" || rows[3] == rows[2] || rows[4] != rows[0] {
		t.Errorf("keys choose the instructions %q", rows)
	}
	shows("issue ")
	press(kb.Escape)
	if s := chosen(); s != "" {
		t.Errorf("Escape leaves %q chosen", s)
	}

	b.at("#/learn")
	focus(".listing button:not(:disabled)[tabindex='0']")
	first := js[string](b, `document.activeElement.innerText`)
	press(kb.ArrowDown)
	if now := js[string](b, `document.activeElement.innerText`); now == first || !js[bool](b, `document.activeElement.closest(".listing") !== null`) {
		t.Errorf("the arrow key does not go to another line: %q", now)
	}
	line := js[string](b, `document.activeElement.innerText`)
	press("\r")
	if here := js[string](b, `document.querySelector(".listing .here")?.innerText ?? ""`); strings.Fields(here)[0] != strings.Fields(line)[0] {
		t.Errorf("Enter goes to %q, want %q", here, line)
	}
	b.quiet()
}

// work is the time that the page's thread has computed, in ms: that of the processor, as other
// programs of this computer take time too.
func (b *browser) work() float64 {
	b.Helper()
	for _, m := range call(b, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "TaskDuration" {
			return 1000 * m.Value
		}
	}
	b.Fatal("the browser does not say how long tasks take")
	return 0
}

// TestLargePages finds that pages of large results open and scroll without standing still.
func TestLargePages(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	const longest = 200 // ms that the page may compute for a step
	b := newBrowser(t)
	call(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	one := sample().Kernels[0]
	launches := &report.Run{Heddle: "1", Input: "many launches", Mode: "timing", Timing: &report.Timing{Cycles: 1 << 20, SMs: 84}}
	for i := range 2000 {
		k := one
		timing := *one.KernelTiming
		timing.Stalls = map[string]uint64{"selected": 5, "wait": uint64(i)}
		k.Launch, k.KernelTiming = i, &timing
		launches.Kernels = append(launches.Kernels, k)
	}
	lines := sample()
	k := lines.Kernels[0].KernelTiming
	k.Lines = nil
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "    add.s32 %%r%d, %%r%d, 1;\n", i, i+1)
		k.Lines = append(k.Lines, report.Line{File: "k.ptx", Line: i + 1, PC: i, Function: "k", Text: fmt.Sprintf("add.s32 %%r%d", i), Issues: 1, ThreadInstructions: 32, WarpCycles: uint64(i % 977), Stalls: map[string]uint64{"wait": uint64(i % 977)}})
	}
	for _, c := range []struct {
		name, hash, box string
		page            *view.Page
	}{
		{"2,000 launches", "#/summary", ".grid.many", &view.Page{Results: []view.Result{{Run: launches}}}},
		{"100,000 lines", "#/launch/0/source", ".code", &view.Page{Results: []view.Result{{Run: lines, Sources: map[string]string{"k.ptx": text.String()}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			url := b.write(c.page)
			b.open(url)
			b.at(c.hash)
			most := 0.0
			for i := range 30 {
				before := b.work()
				js[int](b, fmt.Sprintf(`(box => { box.scrollTop += %d %% 3 ? 400 : box.scrollHeight / 25; return new Promise(r => requestAnimationFrame(() => setTimeout(() => r(1), 0))) })(document.querySelector(%q))`, i, c.box))
				most = max(most, b.work()-before)
			}
			rows := js[int](b, `document.querySelectorAll("tr, .row").length`)
			t.Logf("a step takes at most %.0f ms; %d rows in the document", most, rows)
			if most > longest {
				t.Errorf("scrolling by a step takes %.0f ms, want at most %d", most, longest)
			}
			if rows > 400 {
				t.Errorf("%d rows are in the document", rows)
			}
		})
	}
	b.T = t
	b.quiet()
}

// TestFirstView measures how long the page of an example takes to be shown.
func TestFirstView(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	url := b.write(view.New([]view.Result{{Run: simulate(t, root+"/examples/matmul/matmul.toml")}}, nil))
	st, err := os.Stat(strings.TrimPrefix(url, "file://"))
	if err != nil || st.Size() > 1<<20 {
		t.Errorf("the file has %d bytes, want at most 1 MiB", st.Size())
	}
	best := 1e9
	for range 3 {
		b.open(url)
		best = min(best, js[float64](b, `performance.now()`))
	}
	t.Logf("%d bytes, shown after %.0f ms", st.Size(), best)
	if best > 1000 {
		t.Errorf("shown after %.0f ms, want at most 1,000", best)
	}
}

// axeCore is the program of axe-core, which npm provides.
func axeCore(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm: accessibility is not checked")
	}
	dir := t.TempDir()
	cmd := exec.Command(npm, "pack", "axe-core@4.14.1", "--silent", "--pack-destination", dir)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm has no axe-core: %v: %s", err, out)
	}
	if out, err := exec.Command("tar", "-xzf", filepath.Join(dir, "axe-core-4.14.1.tgz"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	axe, err := os.ReadFile(filepath.Join(dir, "package", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// accessible finds that axe-core has no serious complaint about what is shown.
func (b *browser) accessible() {
	b.Helper()
	for _, f := range js[[]string](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then(r => r.violations.filter(v => v.impact == "serious" || v.impact == "critical").flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary)))`) {
		b.Error(f)
	}
}

// TestAccessible runs axe-core on every page.
func TestAccessible(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	axe := axeCore(t)
	b := newBrowser(t)
	res := simulate(t, root+"/examples/matmul/matmul.toml")
	b.open(b.write(view.New([]view.Result{{Name: "a", Run: res}, {Name: "b", Run: simulate(t, root+"/examples/streams/streams.toml")},
		{Name: "c", Run: simulate(t, root+"/examples/kepler/cube8.toml")}, {Name: "d", Run: simulate(t, root+"/examples/learn/race.toml", checked(t))}}, nil)))
	js[int](b, axe+";1")
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, hash := range pagesOf {
			t.Run(scheme+" "+hash, func(t *testing.T) {
				b.T = t
				b.at(hash)
				b.accessible()
			})
		}
	}
	b.T = t
	b.quiet()
}

// pagesOf are the addresses of all pages.
var pagesOf = []string{"#/summary", "#/launch/0", "#/launch/0/source", "#/time", "#/machine", "#/pipeline", "#/compare", "#/learn?run=2", "#/summary?run=3", "#/launch/0?run=3", "#/source?run=3"}
