package view_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: the page of a run that goes on, in a browser.

// buildHeddle builds the command.
func buildHeddle(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "heddle")
	if out, err := exec.Command("go", "build", "-o", file, root+"/cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// until waits until the page shows a text; long enough for a computer that is busy with other work.
func (b *browser) until(what, condition string) {
	b.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if js[bool](b, condition) {
			return
		}
	}
	b.Fatalf("the page does not show %s: %s", what, b.text())
}

// TestLivePage opens a run that goes on, sees it grow, and compares what it shows in the end with
// the result.
func TestLivePage(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	heddle := buildHeddle(t)
	for _, c := range []struct {
		name string
		stop bool
		last string
	}{
		{"to its end", false, "The run has ended. These are its final results."},
		{"stopped", true, "Stopped by you; the results are those until then."},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBrowser(t) // first: its start takes longer than a short run
			file := filepath.Join(t.TempDir(), "result.json")
			url, end := servedLive(t, heddle, "--json", file, threeLaunches(t))
			b.origin = url
			b.open(url)
			if c.stop {
				b.until("the progress", `document.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow") > 0 && document.body.innerText.includes("of 4,096 blocks")`)
				b.until("results so far", `document.querySelector(".status.running") !== null`)
				b.do(chromedp.Click(".going button.stop"))
			} else {
				b.pause()
				b.until("the progress", `document.body.innerText.includes("of 4,096 blocks")`)
				b.picture("live-paused")
				b.at("#/machine")
				js[int](b, `document.querySelector(".cell").click(); new Promise(r => setTimeout(() => r(1), 100))`)
				b.until("what warps do", `document.body.innerText.includes("Warps in cycle") && document.body.innerText.includes("vecadd.cu:") && document.body.innerText.includes("Warps over time")`)
				b.picture("live-machine")
				b.at("#/launch/0")
				b.picture("live-launch")
				still := js[string](b, `document.querySelector(".going p").innerText`)
				before := js[string](b, `document.querySelector("main .card:nth-of-type(2)").innerText`)
				b.button("Step")
				b.until("a step", `document.querySelector(".going p").innerText !== `+string(quoted(t, still)))
				b.until("growth", `document.querySelector("main .card:nth-of-type(2)").innerText !== `+string(quoted(t, before)))
				b.at("#/pipeline")
				b.until("the first instructions", `document.querySelector(".ways g") !== null && document.querySelector("#range").options.length === 1`)
				js[int](b, `for (const [at, n] of [[0, 1], [1, 300]]) { const x = document.querySelectorAll("#record input")[at]; x.value = n; x.dispatchEvent(new Event("input", {bubbles: true})); } new Promise(r => setTimeout(() => { document.querySelector("#record button").click(); r(1); }, 60))`)
				b.until("the range", `document.querySelector("#range").value.startsWith("SM 1, cycles") && document.querySelector("#record [role=status]") === null`)
				if span := js[[]int](b, `document.querySelector("#range").value.replaceAll(",", "").match(/cycles (\d+) to (\d+)/).slice(1).map(Number)`); span[0] == 0 || span[1]-span[0] != 300 {
					t.Errorf("the range is %d", span)
				}
				js[int](b, `document.querySelector(".ways g").dispatchEvent(new MouseEvent("click", {bubbles: true})); new Promise(r => setTimeout(() => r(1), 60))`)
				if s := b.text(); !strings.Contains(s, "write back") || !strings.Contains(s, "of launch ") {
					t.Errorf("the stages and the line of an instruction are not shown: %s", s)
				}
				b.picture("live-pipeline")
				b.button("Continue")
				// On a quick machine it may have ended by the next look.
				b.until("the run", `document.querySelector(".going b").innerText !== "Paused"`)
				b.at("#/time")
				b.until("counters over time", `document.querySelectorAll(".series canvas").length > 3`)
			}
			b.until("the end", `document.querySelector(".going.done") !== null && document.body.innerText.includes(`+string(quoted(t, c.last))+`)`)
			end()
			res := result(t, file)
			words := []string{"1 check ok"}
			if c.stop {
				words = []string{"interrupted"}
			}
			b.walk("live-"+strings.ReplaceAll(c.name, " ", "-"), res, words)
			b.quiet()
		})
	}
}

// servedLive starts heddle view --live with further arguments, and returns the page's address. The
// function that it returns interrupts it, and returns the rest of what it printed.
func servedLive(t *testing.T, heddle string, args ...string) (url string, end func() string) {
	t.Helper()
	cmd := exec.Command(heddle, append([]string{"view", "--live", "--no-open"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	text := bufio.NewReader(out)
	url, err = text.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url), func() string {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest := new(strings.Builder)
		_, _ = text.WriteTo(rest)
		_ = cmd.Wait() // its exit code is tested with the command
		return rest.String()
	}
}

// button presses a button of a run that goes on, if it is there.
func (b *browser) button(label string) {
	b.Helper()
	js[int](b, fmt.Sprintf(`[...document.querySelectorAll(".going button")].find(x => x.innerText === %q)?.click() ?? 0; 1`, label))
}

// pause pauses a run as soon as it can pause: on a busy computer it could end first.
func (b *browser) pause() {
	b.Helper()
	b.until("the pause", `(() => { [...document.querySelectorAll(".going button")].find(x => x.innerText === "Pause")?.click(); return document.querySelector(".going b")?.innerText === "Paused"; })()`)
	b.until("its last results", `new Promise(r => { const x = document.querySelector(".going .line + .progress + p").innerText; setTimeout(() => r(document.querySelector(".going .line + .progress + p").innerText === x && document.querySelector(".status.running") !== null), 500) })`)
}

// result reads a result that a command has written.
func result(t *testing.T, file string) *report.Run {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var res report.Run
	if err := json.Unmarshal(text, &res); err != nil {
		t.Fatal(err)
	}
	return &res
}

// TestLiveProgramPage opens a CUDA program while it runs: it pauses, makes a step, goes on, and ends by
// itself or is stopped; what the page shows in the end is the result.
func TestLiveProgramPage(t *testing.T) {
	alltests.Only(t, "a CUDA program in a browser")
	needCompilers(t)
	heddle, dir := buildHeddle(t), t.TempDir()
	source, program := "../../internal/cli/testdata/live.cu", filepath.Join(dir, "add")
	if out, err := exec.Command(heddle, "cc", "-lineinfo", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		name, launches string
		last           string
		words          []string
	}{
		{"to its end", "8", "The run has ended. These are its final results.", nil},
		{"stopped", "1000", "Stopped by you; the results are those until then.", []string{"interrupted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBrowser(t)
			file := filepath.Join(t.TempDir(), "result.json")
			url, end := servedLive(t, heddle, "--json", file, "--gpu", "rtx-2060", "--", program, c.launches)
			b.origin = url
			b.open(url)
			b.until("how far the launch is", `document.querySelector(".going .line + .progress + p")?.innerText.includes("of the launch") === true`)
			b.pause() // the next launch may have begun, of which no block has ended
			still := js[string](b, `document.querySelector(".going .line + .progress + p")?.innerText ?? ""`)
			if !strings.Contains(still, " of 1,024 blocks") {
				t.Errorf("the page shows how far the run is as %q", still)
			}
			b.button("Step")
			b.until("a step", `(document.querySelector(".going .line + .progress + p")?.innerText ?? "") !== `+string(quoted(t, still))+` && document.querySelector(".going b").innerText === "Paused"`)
			b.at("#/launch/0/source")
			b.until("the program's lines", `document.body.innerText.includes("x[i] += k * 1.5f")`)
			b.picture("live-program")
			b.button("Continue")
			b.until("the run", `document.querySelector(".going b").innerText !== "Paused"`)
			if len(c.words) > 0 {
				b.button("Stop")
			}
			b.until("the end", `document.querySelector(".going.done") !== null && document.body.innerText.includes(`+string(quoted(t, c.last))+`)`)
			out := end()
			res := result(t, file)
			if stopped := res.Error != nil && res.Error.Kind == "interrupted"; stopped != (len(c.words) > 0) || !stopped && strconv.Itoa(len(res.Kernels)) != c.launches {
				t.Errorf("%d launches, error %v: %s", len(res.Kernels), res.Error, out)
			}
			b.walk("live-program-"+strings.ReplaceAll(c.name, " ", "-"), res, c.words)
			b.quiet()
		})
	}
}

// threeLaunches is the example vecadd with its launch three times, long enough to be paused and
// stepped while it runs on a quick machine too; its file is in a folder of the test's.
func threeLaunches(t *testing.T) string {
	t.Helper()
	from := root + "/examples/vecadd"
	text, err := os.ReadFile(from + "/vecadd.toml")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "[[launches]]")
	launch, checks, ok := strings.Cut(rest, "[[checks]]")
	if !ok {
		t.Fatal("vecadd.toml has not one launch with a check after it")
	}
	to := t.TempDir()
	job := head + strings.Repeat("[[launches]]"+launch, 3) + "[[checks]]" + checks
	if err := os.WriteFile(to+"/vecadd.toml", []byte(job), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vecadd.cu", "vecadd.ptx", "c.bin"} {
		text, err := os.ReadFile(from + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+"/"+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to + "/vecadd.toml"
}

func quoted(t *testing.T, s string) []byte {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A result that cannot be read is said to be, and the next one is shown.
func TestLiveDamaged(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	page := func() *view.Page { return &view.Page{Results: []view.Result{{Run: sample()}}} }
	live := view.NewLive(t.Context(), "a job", func() {})
	url, _ := serveLive(t, live)
	_, html := ask(t, "GET", url, nil)
	packed := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(write(t, page()))[1]
	next := make(chan bool)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			_, _ = io.WriteString(w, html)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: page\ndata: !%s\n\nevent: state\ndata: {\"is\": \"runs\", \"input\": \"a job\"}\n\n", packed)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "event: page\ndata: %s\n\nevent: state\ndata: {\"is\": \"ended\", \"done\": true, \"input\": \"a job\"}\n\n", packed)
	}))
	defer own.Close()
	defer own.CloseClientConnections()
	b := newBrowser(t)
	b.origin = own.URL
	b.open(own.URL + "/")
	b.until("what is wrong", `document.querySelector("[role=alert]")?.innerText.includes("The last results cannot be shown") === true`)
	close(next)
	b.until("the next result", `document.body.innerText.includes("These are its final results.") && document.querySelector("[role=alert]") === null && document.querySelector(".top nav") !== null`)
	b.quiet()
}
