package view_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: what a page says of a result is so, and it does not say more.

// TestWordsAreTrue opens small results by hand, of which a page could say something false.
func TestWordsAreTrue(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	one, two := 0, 1
	found := sample()
	found.Kernels[0].Lines[0].File, found.Kernels[0].Lines[0].Line, found.Kernels[0].Lines[0].PC = "", 0, 0x70
	found.Findings = []report.Finding{
		{Rule: "small-grid", Launch: &two, Kernel: "k", Launches: 2, Share: 0.9, RunShare: 0.8, Seen: "1 block for 84 SMs"},
		{Rule: "spills", Launch: &one, Kernel: "k", Launches: 1, Share: 0.2, RunShare: 0.1, Seen: "they are here", Lines: []report.LineCost{{PC: 0x70, Share: 1}}},
	}
	found.Checkers = []report.Checker{
		{Checker: "races", Found: 3},
		{Checker: "memory", OK: true, NotWatched: []int{0, 1}},
		{Checker: "init", OK: true, NotWatched: []int{1}},
		{Checker: "sync", OK: true},
	}
	kepler := sample()
	kepler.Kepler = &report.Kepler{Transactions: 1234, Replays: 56}
	kepler.Findings = []report.Finding{{Rule: "uneven-sms", Launch: &one, Kernel: "k", Launches: 1, Share: 0.5, RunShare: 0.5}}
	kepler.Kernels[1].Name = "constructor" // which every object has
	damaged := sample()
	damaged.Lessons = []*lesson.Lesson{{}}
	modules := sample()
	modules.Kernels = append(modules.Kernels, sample().Kernels[0])
	for i := range modules.Kernels {
		for j := range modules.Kernels[i].Lines {
			l := &modules.Kernels[i].Lines[j]
			l.File, l.Line, l.SourceFile, l.SourceLine = "", 0, "", 0
		}
	}
	modules.Kernels[2].Launch, modules.Kernels[2].Lines[0].Text = 2, "sub"
	huge := sample()
	huge.SMs = 100_000_000
	huge.Lessons = []*lesson.Lesson{{Cells: []lesson.Register{{}}, Warps: []int{0}, Steps: lesson.Steps{Kind: []int{0}, Cycle: []uint64{1}, Values: []int{1 << 50}, Stores: []int{0}}}}
	b.open(b.write(&view.Page{Results: []view.Result{{Name: "found", Run: found}, {Name: "kepler", Run: kepler}, {Name: "damaged", Run: damaged}, {Name: "modules", Run: modules}, {Name: "huge", Run: huge}}}))
	shows := func(hash string, want, not []string) {
		t.Helper()
		b.at(hash)
		shown := b.text()
		for _, w := range want {
			if !strings.Contains(shown, w) {
				t.Errorf("%s does not show %q:\n%s", hash, w, shown)
			}
		}
		for _, w := range not {
			if strings.Contains(shown, w) {
				t.Errorf("%s shows %q", hash, w)
			}
		}
	}
	shows("#/summary", []string{"2 launches; seen in launch 1", "pc 0x70", "3 findings. The result does not have them", "2 launches were not checked by memory", "1 launch was not checked by init"}, []string{"nothing found"})
	// What another launch of the kernel suffers from says so, and comes after what this one does.
	shows("#/launch/0", []string{"90 %", "in launch 1, which it costs most"}, nil)
	if s := b.text(); strings.Index(s, "they are here") > strings.Index(s, "1 block for 84 SMs") {
		t.Error("the findings of another launch come first")
	}
	shows("#/launch/1", []string{"1 block for 84 SMs"}, []string{"in launch 1, which it costs most"})

	shows("#/launch/0?run=1", []string{"1,234", "56"}, []string{"0 requests", "No request left an SM"})
	shows("#/time?run=1", []string{"The Kepler-style core does not record them"}, []string{"run.block_log"})
	b.at("#/launch/0?run=1")
	var cause string
	for _, r := range findings.KeplerRules() {
		if r.Name == "uneven-sms" {
			cause = r.Explain
		}
	}
	// The keyboard reaches it where it has to be scrolled into sight.
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 200, DeviceScaleFactor: 1})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	js[int](b, `document.querySelector(".findings .hint").focus(); new Promise(r => setTimeout(() => r(1), 200))`)
	if s := b.text(); !strings.Contains(s, cause) {
		t.Errorf("the explanation is not that of the Kepler-style core: %s", s)
	}

	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})

	shows("#/launch/1?run=1", []string{"constructor"}, []string{"This page cannot be shown"})
	shows("#/learn?run=2", []string{"This page cannot be shown"}, nil)
	shows("#/launch/0?run=2", []string{"What warps did"}, []string{"This page cannot be shown"})
	// Two modules have a kernel k: the source of all launches has both.
	shows("#/source?run=3", []string{"add "}, []string{"sub"})
	js[int](b, `(s => { s.value = "k (2)"; s.dispatchEvent(new Event("change", {bubbles: true})); return new Promise(r => setTimeout(() => r(1), 100)) })(document.querySelector("select[aria-label=File]"))`)
	if s := b.text(); !strings.Contains(s, "sub") {
		t.Errorf("the second module's kernel is not shown: %s", s)
	}
	// Sizes that no machine has do not keep the page busy.
	shows("#/time?run=4", []string{"Blocks on SMs"}, nil)
	shows("#/machine?run=4", []string{"no counters of the machine's parts"}, nil)
	shows("#/learn?run=4&step=99999999999", []string{"This page cannot be shown", "more values than there are"}, nil)
	for _, hash := range []string{"#/compare?a=-1&b=9", "#/compare?a=x&b=0.5"} {
		shows(hash, []string{"DRAM bytes read"}, []string{"This page cannot be shown"})
	}
	b.quiet()
}

// TestSizes holds what docs/page.md says of the sizes of pages.
func TestSizes(t *testing.T) {
	alltests.Only(t, "runs of examples")
	for _, c := range []struct {
		file     string
		launches int
		most     int // bytes
	}{
		{"matmul/matmul.toml", 1, 400_000},
		{"gaussian/gaussian.toml", 128, 600_000},
		{"kepler/cube.toml", 32, 2_500_000}, // 5,000 steps
	} {
		t.Run(c.file, func(t *testing.T) {
			res := simulate(t, root+"/examples/"+c.file)
			n := len(write(t, view.New([]view.Result{{Run: res}}, nil)))
			t.Logf("%d launches, %d bytes", len(res.Kernels), n)
			if len(res.Kernels) != c.launches || n > c.most {
				t.Errorf("%d launches, want %d; %d bytes, want at most %d", len(res.Kernels), c.launches, n, c.most)
			}
		})
	}
}
