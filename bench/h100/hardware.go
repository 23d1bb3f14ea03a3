package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// clock is the core clock in MHz of the GPU and of its file in
// internal/config/gpus: the boost clock.
const clock = 1755

// row is one measurement: a program at one size, and the time of its kernels.
type row struct {
	kind      string // empty, ffma, or the program of PolyBench
	size      int    // of matrices; 0 for empty and ffma
	block     int    // threads per block; for PolyBench the block's width
	blocks    int    // for empty and ffma
	turns     int    // for ffma: iterations of its loop, each 128 steps of the chain
	frequency int    // the factor, in MHz, by which the source multiplied the time
	cycles    float64
	tuned     bool // may be used to tune parameters
}

// key identifies a row.
func (r *row) key() string {
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d", r.kind, r.size, r.block, r.blocks, r.turns)
}

// hardware is the row's time in cycles of the boost clock. The source gives the time
// multiplied by a frequency. For most rows of PolyBench that is the clock of the idle
// GPU, 345 MHz, but the time can still be recovered.
func (r *row) hardware() float64 { return r.cycles / float64(r.frequency) * clock }

// half splits the rows into those used for tuning and those only reported: sorted by
// kind, size, block, blocks and turns, every second row is for tuning, starting with
// the first of each kind.
func half(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), a.size-b.size, a.block-b.block, a.blocks-b.blocks, a.turns-b.turns)
	})
	first := 0
	for i := range rows {
		if rows[i].kind != rows[first].kind {
			first = i
		}
		rows[i].tuned = (i-first)%2 == 0
	}
}

// readHardware reads the Nsight Systems measurements in a folder.
func readHardware(dir string) ([]row, error) {
	var rows []row
	seen := map[string]bool{}
	for _, name := range []string{"h100-emptykernel.txt", "h100-ffmakernel.txt", "h100-ffmakernel_full.txt", "h100-polybench.txt"} {
		file := filepath.Join(dir, name)
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		for line := 1; s.Scan(); line++ {
			if strings.TrimSpace(s.Text()) == "" {
				continue
			}
			r, profile, err := readRow(s.Text())
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, line, err)
			}
			if profile == "nsys" && r.kind != "" && !seen[r.key()] {
				seen[r.key()] = true
				rows = append(rows, r)
			}
		}
		if err := s.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	half(rows)
	return rows, nil
}

// readRow reads a line of name=value pairs. The kind is empty for programs that
// are not simulated.
func readRow(line string) (r row, profile string, err error) {
	name := ""
	for pair := range strings.SplitSeq(line, ",") {
		k, v, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			return r, "", fmt.Errorf("%q: want name=value", pair)
		}
		var n *int
		switch k {
		case "benchmark":
			name = v
		case "profile_type":
			profile = v
		case "cycles":
			r.cycles, err = strconv.ParseFloat(v, 64)
		case "frequency":
			n = &r.frequency
		case "size":
			n = &r.size
		case "thread", "blockDimX":
			n = &r.block
		case "block":
			n = &r.blocks
		case "iters":
			n = &r.turns
		}
		if n != nil {
			*n, err = strconv.Atoi(v)
		}
		if err != nil {
			return r, "", fmt.Errorf("%s: %q is not a number", k, v)
		}
	}
	switch {
	case !(r.cycles > 0) || r.frequency <= 0 || r.block <= 0:
		return r, "", fmt.Errorf("cycles, frequency and block size must be positive")
	case name == "emptykernel":
		r.kind = "empty"
	case strings.HasPrefix(name, "ffmakernel"):
		r.kind = "ffma"
	case slices.ContainsFunc(benchmarks, func(b benchmark) bool { return b.name == name }):
		r.kind = name
	}
	return r, profile, nil
}
