// Package extend_test runs the programs of this folder, which bring parts of a
// machine of their own.
package extend_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// programs are the folders, and what the lines of their output must have: numbers of
// a table of which the first word of a row and of the head are the names.
var programs = []struct {
	name string
	// Column of the row is to be less than that of the other.
	column, row, other string
}{
	{"replacement", "L1 misses", "srrip", "lru"},
	{"replacement", "L2 misses", "srrip", "lru"},
	{"prefetcher", "L1 misses", "stride", "none"},
	{"prefetcher", "cycles", "stride", "none"},
	{"prefetcher", "cycles", "stride", "next-line"},
}

// TestPrograms: every program runs from the root of the repository and shows what
// its part is for.
func TestPrograms(t *testing.T) {
	tables := map[string]map[string]map[string]float64{}
	for _, p := range programs {
		t.Run(p.name+"-"+p.column, func(t *testing.T) {
			if tables[p.name] == nil {
				cmd := exec.Command("go", "run", "./examples/extend/"+p.name)
				cmd.Dir = filepath.Join("..", "..")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				tables[p.name] = table(string(out))
			}
			less, ok := tables[p.name][p.row][p.column]
			more, also := tables[p.name][p.other][p.column]
			if !ok || !also || less >= more {
				t.Errorf("%s: %v for %s, %v for %s: want less", p.column, less, p.row, more, p.other)
			}
		})
	}
}

var gap = regexp.MustCompile(`\s{2,}`)

// table reads rows of numbers below a head: cells are two blanks apart.
func table(text string) map[string]map[string]float64 {
	rows := map[string]map[string]float64{}
	var head []string
	for line := range strings.Lines(text) {
		cells := gap.Split(strings.TrimSpace(line), -1)
		if head == nil {
			head = cells
			continue
		}
		rows[cells[0]] = map[string]float64{}
		for i := 1; i < min(len(cells), len(head)); i++ {
			if n, err := strconv.ParseFloat(cells[i], 64); err == nil {
				rows[cells[0]][head[i]] = n
			}
		}
	}
	return rows
}
