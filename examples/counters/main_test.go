package main

import (
	"strings"
	"testing"
)

// TestTable: the experiment runs, and has fewer cycles with more counters where several loads are under
// way at once.
func TestTable(t *testing.T) {
	var out strings.Builder
	if err := table(&out, "..", []string{"mma-gemm"}, []int{6, 1, 0}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "scoreboards") {
		t.Fatal(out.String())
	}
	f := strings.Fields(lines[1])
	if len(f) != 7 || f[0] != "mma-gemm" || f[2] != "1.000" || f[4] <= f[2] {
		t.Error(out.String())
	}
}
