package view_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/check/races"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: docs/gallery.md. Its figures are those of the results, and its pictures are made here.

// galleryIn is a variable with a folder for the gallery's pictures.
const galleryIn = "HEDDLE_GALLERY_PICTURES"

// mostPicture bounds a picture's bytes, tallest its height in points: all SMs of a GPU fit.
const (
	mostPicture = 100 << 10
	tallest     = 800
)

// exhibit is an entry of the gallery.
type exhibit struct {
	name    string // of the picture, and of the job unless file says otherwise
	title   string
	hash    string   // of the page that is shown
	cards   []string // beginnings of the titles of what is shown
	click   string   // a button that is pressed before: then parts of a list of findings are shown
	wide    int64    // of the window, in points; 0: 960
	goTo    int      // the step, on the page Learn
	options func(*run.Options)
	figures func(r *report.Run) []string // in bold in the text
}

func cyclesOf(r *report.Run) []string {
	return []string{report.Count(r.Kernels[0].Cycles), report.Count(r.Kernels[1].Cycles)}
}

// accesses returns those of the line of a launch that begins with an opcode.
func accesses(r *report.Run, launch int, op string) *report.Accesses {
	for _, l := range r.Kernels[launch].Lines {
		if strings.HasPrefix(l.Instruction, op) && l.Accesses != nil {
			return l.Accesses
		}
	}
	return &report.Accesses{Requests: 1}
}

func sectors(a *report.Accesses) string {
	return fmt.Sprintf("%.1f", float64(a.Sectors)/float64(a.Requests))
}

func share(part, whole uint64) string {
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

var exhibits = []exhibit{
	{name: "coalescing", title: "Coalescing", hash: "#/launch/1", cards: []string{"Memory"}, figures: func(r *report.Run) []string {
		return append(cyclesOf(r), sectors(accesses(r, 0, "ld.global")), sectors(accesses(r, 1, "ld.global")))
	}},
	{name: "banks", title: "Bank conflicts", hash: "#/launch/1", cards: []string{"What costs most"}, figures: func(r *report.Run) []string {
		return append(cyclesOf(r), report.Count(accesses(r, 0, "ld.shared").ConflictCycles), report.Count(accesses(r, 1, "ld.shared").ConflictCycles))
	}},
	{name: "divergence", title: "Divergence", hash: "#/launch/1", cards: []string{"Active lanes"}, figures: func(r *report.Run) []string {
		lanes := func(k *report.Kernel) string {
			return fmt.Sprintf("%.1f", float64(k.ThreadInstructions)/float64(k.WarpInstructions))
		}
		return append(cyclesOf(r), lanes(&r.Kernels[0]), lanes(&r.Kernels[1]))
	}},
	{name: "occupancy", title: "Occupancy", hash: "#/launch/1", cards: []string{"Occupancy"}, figures: func(r *report.Run) []string {
		x, y := &r.Kernels[0], &r.Kernels[1]
		return append(cyclesOf(r), fmt.Sprint(x.BlocksPerSM), fmt.Sprint(y.BlocksPerSM), fmt.Sprintf("%.1f %%", 100*y.Occupancy))
	}},
	{name: "latency", title: "Latency hiding", hash: "#/launch/1", cards: []string{"What warps did"}, figures: func(r *report.Run) []string {
		return append(cyclesOf(r), fmt.Sprintf("%.2f", r.Kernels[0].IPC), fmt.Sprintf("%.2f", r.Kernels[1].IPC))
	}},
	{name: "stall", title: "A wrong stall counter", hash: "#/summary", cards: []string{"Checker"}, wide: 1400, options: func(o *run.Options) { o.Hazards = true }, figures: func(r *report.Run) []string {
		h := r.Checkers[0].Hazards[0]
		return []string{h.Register, fmt.Sprintf("%d cycles", h.Short), h.Fixes[0].Control}
	}},
	{name: "race", title: "A race", hash: "#/learn", cards: []string{"Learn", "Program", "Memory"}, goTo: 7, options: func(o *run.Options) {
		set, err := checkers.New([]string{races.Name}, checkers.Options{})
		if err != nil {
			panic(err) // the checker is there
		}
		o.Checks = set
	}, figures: func(r *report.Run) []string {
		m, f := r.Checks[0].First, r.Found.Findings[0]
		return []string{m.Want, m.Got, fmt.Sprintf("line %d", f.Steps[0].Line), fmt.Sprintf("line %d", f.Steps[1].Line), report.Count(f.Count) + " times"}
	}},
	{name: "tail", title: "Tail effect", hash: "#/launch/1/time", cards: []string{"Blocks on SMs"}, figures: func(r *report.Run) []string {
		return append(cyclesOf(r), fmt.Sprint(r.Kernels[0].Blocks), fmt.Sprint(r.Kernels[1].Blocks))
	}},
	{name: "thrashing", title: "Cache thrashing", hash: "#/launch/1", cards: []string{"Memory"}, figures: func(r *report.Run) []string {
		hits := func(k *report.Kernel) string { return share(k.Memory.L1.Hits, k.Memory.L1.Accesses) }
		return append(cyclesOf(r), hits(&r.Kernels[0]), hits(&r.Kernels[1]))
	}},
	{name: "rows", title: "DRAM row conflicts", hash: "#/launch/1", click: "All", cards: []string{"Row misses", "Memory latency"}, figures: func(r *report.Run) []string {
		hits := func(k *report.Kernel) string { return share(k.Memory.DRAM.RowHits, k.Memory.DRAM.Requests) }
		return append(cyclesOf(r), hits(&r.Kernels[0]), hits(&r.Kernels[1]))
	}},
}

// entries returns the parts of docs/gallery.md by their titles.
func entries(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/gallery.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, p := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(p, "\n")
		parts[title] = body
	}
	return parts
}

// TestGalleryFiles finds each entry's command and picture.
func TestGalleryFiles(t *testing.T) {
	parts := entries(t)
	if len(parts) != len(exhibits) {
		t.Errorf("the gallery has %d entries, want %d", len(parts), len(exhibits))
	}
	for _, x := range exhibits {
		t.Run(x.name, func(t *testing.T) {
			text := parts[x.title]
			for _, want := range []string{"heddle run examples/learn/" + x.name + ".toml", "--html " + x.name + ".html", "(pictures/gallery-" + x.name + ".png)"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if _, err := os.Stat(root + "/examples/learn/" + x.name + ".toml"); err != nil {
				t.Error(err)
			}
			st, err := os.Stat(root + "/docs/pictures/gallery-" + x.name + ".png")
			if err != nil {
				t.Fatal(err)
			}
			if st.Size() > mostPicture {
				t.Errorf("the picture has %d bytes, more than %d", st.Size(), mostPicture)
			}
		})
	}
}

// TestGallery runs the gallery: what its text says in bold are figures of the results, all of them, and what
// is shown is on the page.
func TestGallery(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	parts := entries(t)
	bold := regexp.MustCompile(`\*\*(.+?)\*\*`)
	for _, x := range exhibits {
		t.Run(x.name, func(t *testing.T) {
			b.T = t
			res := simulate(t, root+"/examples/learn/"+x.name+".toml", func(o *run.Options) {
				if x.options != nil {
					x.options(o)
				}
			})
			want := x.figures(res)
			var have []string
			for _, m := range bold.FindAllStringSubmatch(parts[x.title], -1) {
				have = append(have, m[1])
			}
			for _, w := range want {
				if !slices.Contains(have, w) {
					t.Errorf("the text does not say %q", w)
				}
			}
			for _, h := range have {
				if !slices.Contains(want, h) {
					t.Errorf("the text says %q, which is no figure of the result", h)
				}
			}
			b.open(b.write(view.New([]view.Result{{Run: res}}, nil)))
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: cmp.Or(x.wide, 960), Height: 900, DeviceScaleFactor: 1})
			b.at(x.hash)
			if x.goTo > 0 {
				b.goTo(x.goTo)
			}
			if x.click != "" {
				js[int](b, fmt.Sprintf(`(() => { for (const x of document.querySelectorAll("main button")) if (x.innerText.startsWith(%q)) x.click(); return 1 })()`, x.click))
			}
			b.exhibit(&x)
			b.quiet()
		})
	}
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

// exhibit finds what an entry shows, and takes its picture if they are wanted.
func (b *browser) exhibit(x *exhibit) {
	b.Helper()
	among := "main .card"
	if x.click != "" {
		among = "main .findings > li"
	}
	titles, err := json.Marshal(x.cards)
	if err != nil {
		b.Fatal(err)
	}
	box := js[[]float64](b, fmt.Sprintf(`new Promise(r => setTimeout(r, 300)).then(() => {
		const wanted = %s, cards = [...document.querySelectorAll(%q)].filter(c => wanted.some(w => (c.querySelector("h2, h3")?.innerText ?? "").startsWith(w)));
		if (cards.length === 0) return [0, 0, 0, 0];
		const r = cards.map(c => c.getBoundingClientRect()), x = Math.min(...r.map(r => r.left)), y = Math.min(...r.map(r => r.top));
		return [x, y + scrollY, Math.max(...r.map(r => r.right)) - x, Math.max(...r.map(r => r.bottom)) - y];
	})`, titles, among))
	if box[2] == 0 {
		b.Errorf("%s shows none of %q", x.hash, x.cards)
		return
	}
	dir := os.Getenv(galleryIn)
	if dir == "" {
		return
	}
	beyond := true
	png := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond, Clip: &page.Viewport{X: box[0] - 4, Y: box[1] - 4, Width: box[2] + 8, Height: min(box[3]+8, tallest), Scale: 1}}).Data
	if err := os.WriteFile(filepath.Join(dir, "gallery-"+x.name+".png"), png, 0o666); err != nil {
		b.Fatal(err)
	}
}
