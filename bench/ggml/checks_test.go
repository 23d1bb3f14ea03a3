package ggml

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCheckersAgree: checkers find the same of the same kernels by PTX and by the machine code that
// NVIDIA's compiler made of it: notes about stores of equal values, and neither errors nor warnings.
func TestCheckersAgree(t *testing.T) {
	compare := comparison(t)
	type found struct{ Rule, Level, Kernel string }
	by := map[string]map[found]bool{}
	for _, code := range []string{"ptx", "sass"} {
		file := filepath.Join(t.TempDir(), "found.json")
		compare(t, "rtx-a6000", "functional", "CODE="+code, "CHECK=races,sync,init", "JSON="+file, "--part", "3/20")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Found struct{ Findings []found } `json:"checker_findings"`
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		by[code] = map[found]bool{}
		for _, f := range doc.Found.Findings {
			by[code][f] = true
			if f.Level != "note" {
				t.Errorf("%s: %+v", code, f)
			}
		}
	}
	if len(by["ptx"]) == 0 || !maps.Equal(by["ptx"], by["sass"]) {
		t.Errorf("by PTX %v,\nby machine code %v", slices.Collect(maps.Keys(by["ptx"])), slices.Collect(maps.Keys(by["sass"])))
	}
}
