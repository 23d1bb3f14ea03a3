package view_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: every number of a launch in the JSON result is on its page. Each gets a value that no
// other has, so that none can stand for another, and none can be missing.

// elsewhere are the numbers of a launch that the page Launch does not show, and why. A number that
// is here and on the page is an error too.
var elsewhere = map[string]string{
	"launch":                     "in the address and the headline, as it is",
	"stream":                     "in the headline, as it is",
	"block_log":                  "page Time",
	"lines":                      "page Source",
	"memory.dram.peak_gb_per_s":  "rounded, in a note",
	"memory.mean_latency_cycles": "rounded, in a note",
	"ipc":                        "rounded",
	"occupancy":                  "rounded",
}

// marked replaces the whole numbers of a JSON value, and returns each one's text on a page by its
// path: bytes have units, others are counts.
func marked(x any, path string, texts map[string]string) any {
	switch x := x.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			at := strings.TrimPrefix(path+"."+k, ".")
			if _, skip := elsewhere[at]; !skip {
				x[k] = marked(x[k], at, texts)
			}
		}
	case []any:
		for i := range x {
			x[i] = marked(x[i], fmt.Sprintf("%s[%d]", path, i), texts)
		}
	case float64:
		n := uint64(len(texts))
		if strings.Contains(path, "bytes") {
			n = (n + 1000) << 20
			texts[path] = report.Bytes(n)
		} else {
			n = 1_234_567 + 7_919*n
			if texts[path] = report.Count(n); strings.HasPrefix(path, "grid[") || strings.HasPrefix(path, "block[") {
				texts[path] = fmt.Sprint(n) // extents
			}
		}
		return n
	}
	return x
}

// TestEveryNumber gives each number of a launch a value of its own and wants it on the page.
func TestEveryNumber(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	res := simulate(t, root+"/examples/matmul/matmul.toml")
	res.Lessons = nil
	text, err := json.Marshal(res.Kernels[0])
	if err != nil {
		t.Fatal(err)
	}
	var kernel map[string]any
	if err := json.Unmarshal(text, &kernel); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	if text, err = json.Marshal(marked(kernel, "", texts)); err != nil {
		t.Fatal(err)
	}
	var k report.Kernel
	if err := json.Unmarshal(text, &k); err != nil {
		t.Fatal(err)
	}
	res.Kernels[0] = k
	if len(texts) < 60 {
		t.Fatalf("a launch has only %d numbers", len(texts))
	}
	b := newBrowser(t)
	b.open(b.write(&view.Page{Results: []view.Result{{Run: res}}}))
	b.at("#/launch/0")
	shown := b.text() // drawings first, then their tables
	js[int](b, `document.querySelectorAll("main .switch").forEach(x => x.textContent === "Table" && x.click()); new Promise(r => setTimeout(() => r(1), 200))`)
	shown = strings.ReplaceAll(shown+b.text(), "\u00a0", " ")
	// Where a name stands beside a number, it is that number's.
	beside := js[[][2]string](b, `[...document.querySelectorAll("main dt [data-counter]")].map(x => [x.dataset.counter, x.closest("dt").nextElementSibling.innerText])`)
	named := 0
	for _, x := range beside {
		want, ok := texts[x[0]]
		if !ok {
			continue
		}
		if named++; !strings.Contains(strings.ReplaceAll(x[1], "\u00a0", " "), want) {
			t.Errorf("beside %s stands %q, want %s", x[0], x[1], want)
		}
	}
	if named < 20 {
		t.Errorf("only %d numbers have their names beside them", named)
	}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if !strings.Contains(shown, texts[path]) {
			t.Errorf("the launch's page does not show %s, %s", path, texts[path])
		}
	}
	b.quiet()
}
