package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/view"
	"github.com/heddle-sim/heddle/internal/view/viewtest"
)

// liveRun is a heddle view --live.
type liveRun struct {
	url, json string
	end       context.CancelFunc // as Ctrl-C
	code      chan int
	stderr    *bytes.Buffer // once it has ended
}

// startLive starts heddle view --live of a job, or of -- and a program.
func startLive(t *testing.T, what ...string) *liveRun {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	r := &liveRun{json: filepath.Join(t.TempDir(), "result.json"), end: end, code: make(chan int, 1), stderr: new(bytes.Buffer)}
	out, in := io.Pipe()
	go func() {
		r.code <- heddle(env{ctx: ctx, stdout: in, stderr: r.stderr}, append([]string{"view", "--live", "--no-open", "--json", r.json}, what...))
		in.Close()
	}()
	text := bufio.NewReader(out)
	line, err := text.ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, text) }()
	r.url = strings.TrimSpace(line)
	return r
}

// press does what a button of the page does.
func (r *liveRun) press(t *testing.T, what string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.url+what, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", r.url[:strings.LastIndex(strings.TrimSuffix(r.url, "/"), "/")])
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
}

// events calls a function for every state of a run until it returns false.
func (r *liveRun) events(t *testing.T, f func(s view.State, page string) bool) {
	t.Helper()
	resp, err := http.Get(r.url + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	page, kind := "", ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the events end: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case !isData:
			kind = strings.TrimPrefix(line, "event: ")
		case kind == "page":
			page = data
		default:
			var s view.State
			if err := json.Unmarshal([]byte(data), &s); err != nil {
				t.Fatal(err)
			}
			if !f(s, page) {
				return
			}
			page = ""
		}
	}
}

// ended returns the exit code and the result.
func (r *liveRun) ended(t *testing.T) (int, *report.Run) {
	t.Helper()
	r.end()
	var code int
	select {
	case code = <-r.code:
	case <-time.After(20 * time.Second):
		t.Fatal("heddle does not end")
	}
	text, err := os.ReadFile(r.json)
	if err != nil {
		t.Fatal(err)
	}
	var res report.Run
	if err := json.Unmarshal(text, &res); err != nil {
		t.Fatal(err)
	}
	return code, &res
}

// shown returns the result that a page or packed results show.
func shown(t *testing.T, text string) *report.Run {
	t.Helper()
	data, err := viewtest.Data(text)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := data["results"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d results", len(list))
	}
	run, err := json.Marshal(list[0].(map[string]any)["run"])
	var x report.Run
	if err == nil {
		err = json.Unmarshal(run, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &x
}

// shortBlocks are the blocks of shortJob.
const shortBlocks = 2048

// shortJob writes a job that takes about two seconds.
func shortJob(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/vecadd/vecadd.toml")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("../../examples/vecadd")
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := strings.Cut(string(text), "[[checks]]")
	job := strings.NewReplacer(`"vecadd.ptx"`, strconv.Quote(filepath.Join(dir, "vecadd.ptx")), "1_048_576", "524_288", "[4096,", "[2048,").Replace(all)
	file := filepath.Join(t.TempDir(), "short.toml")
	if err := os.WriteFile(file, []byte(job), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// A live page sees a run grow and end with the result that --json has.
func TestLive(t *testing.T) {
	alltests.Only(t, "a program that is shown while it runs")
	r := startLive(t, shortJob(t))
	var before view.State
	grew, results := 0, 0
	last := ""
	r.events(t, func(s view.State, page string) bool {
		if s.Cycles > before.Cycles && s.Share >= before.Share && s.Blocks >= before.Blocks && s.Total == shortBlocks && !s.Done {
			grew++
		}
		before = s
		if page != "" {
			last = page
			results++
		}
		return !s.Done
	})
	if grew < 2 || results < 2 {
		t.Errorf("%d states and %d results while it ran; want some", grew, results-1)
	}
	resp, err := http.Get(r.url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	html, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	code, res := r.ended(t)
	if code != exitOK || before.Is != view.Ended || !res.OK {
		t.Errorf("exit code %d, %+v: %s", code, before, r.stderr)
	}
	for name, x := range map[string]*report.Run{"the last event": shown(t, last), "the page": shown(t, string(html))} {
		if x.Cycles != res.Cycles || x.WarpInstructions != res.WarpInstructions || x.Kernels[0].Stalls["selected"] != res.Kernels[0].Stalls["selected"] || len(x.History.End) != len(res.History.End) {
			t.Errorf("%s has %d cycles and %d warp instructions; the JSON %d and %d", name, x.Cycles, x.WarpInstructions, res.Cycles, res.WarpInstructions)
		}
	}
}

// The page's button ends a run with the results until then.
func TestLiveStop(t *testing.T) {
	r := startLive(t, "../../examples/vecadd/vecadd.toml")
	stopped := false
	var last view.State
	r.events(t, func(s view.State, _ string) bool {
		last = s
		if s.Cycles == 0 || stopped {
			return !s.Done
		}
		stopped = true
		r.press(t, "stop")
		return true
	})
	code, res := r.ended(t)
	if code != exitInterrupted || last.Is != view.Stopped || res.Error == nil || res.Error.Kind != "interrupted" || res.Cycles == 0 || len(res.Kernels) != 1 || res.Kernels[0].Blocks >= 4096 {
		t.Errorf("exit code %d, %+v, %d cycles, error %v: %s", code, last, res.Cycles, res.Error, r.stderr)
	}
}

// A CUDA program shows itself while it runs: it grows, pauses, makes steps and is stopped from the
// page, and the page has its final result.
func TestLiveProgram(t *testing.T) {
	alltests.Only(t, "a CUDA program while it runs")
	for _, v := range cudaEnv(t) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	source, program := filepath.Join("testdata", "live.cu"), filepath.Join(dir, "add")
	var out bytes.Buffer
	if code := heddle(env{ctx: t.Context(), stdout: &out, stderr: &out}, []string{"cc", "-lineinfo", source, "-o", program}); code != 0 {
		t.Fatalf("%d: %s", code, &out)
	}
	t.Run("to its end", func(t *testing.T) {
		r := startLive(t, "--", program, "2")
		var s view.State
		last, kernel := "", ""
		r.events(t, func(now view.State, page string) bool {
			if s = now; s.Kernel != "" {
				kernel = s.Kernel
			}
			if page != "" {
				last = page
			}
			return !s.Done
		})
		code, res := r.ended(t)
		x := shown(t, last)
		if code != exitOK || s.Is != view.Ended || !strings.Contains(kernel, "add") || len(res.Kernels) != 2 {
			t.Errorf("exit code %d, %+v, kernel %q, %d launches: %s", code, s, kernel, len(res.Kernels), r.stderr)
		}
		if x.Cycles != res.Cycles || x.WarpInstructions != res.WarpInstructions || res.History == nil || len(x.History.End) != len(res.History.End) {
			t.Errorf("the page has %d cycles and %d warp instructions; the JSON %d and %d", x.Cycles, x.WarpInstructions, res.Cycles, res.WarpInstructions)
		}
	})
	t.Run("paused, stepped and stopped", func(t *testing.T) {
		r := startLive(t, "--", program, "1000")
		var at, stepped uint64 // cycles of the pause, and after a step
		pages := 0
		asked := ""
		press := func(what string) { asked = what; r.press(t, what) }
		var s view.State
		r.events(t, func(now view.State, page string) bool {
			s = now
			if page != "" {
				pages++
			}
			switch {
			case s.Holds && asked == "":
				press("pause")
			case asked == "pause" && s.Is == view.Paused && page != "": // it waits, and shows where
				at = s.Cycles
				press("step")
			case asked == "step" && s.Cycles > at:
				stepped = s.Cycles
				press("stop")
			}
			return !s.Done
		})
		code, res := r.ended(t)
		if code != exitInterrupted || s.Is != view.Stopped || pages < 2 || at == 0 || stepped <= at || res.Error == nil || res.Error.Kind != "interrupted" || res.Cycles < stepped {
			t.Errorf("exit code %d, %+v, %d results, paused at %d, stepped to %d, ended at %d, error %v: %s", code, s, pages, at, stepped, res.Cycles, res.Error, r.stderr)
		}
	})
}
