// Command counters asks what the dependence counters of a warp are worth. A core like that of an RTX
// A6000 has six, by which code waits for loads and other instructions of variable latency. Here the
// same kernels are compiled for cores with fewer of them, and run there; the last column are the cycles
// of their PTX, which a core guards by scoreboards. Run it in the folder examples:
//
//	go run ./counters
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/heddle-sim/heddle"
)

// kernels are the examples that run.
var kernels = []string{"dp4a", "half2", "mma-gemm", "gaussian", "lud", "needle"}

// numbers are those of counters, 0 for PTX with scoreboards.
var numbers = []int{6, 4, 3, 2, 1, 0}

func main() {
	if err := table(os.Stdout, ".", kernels, numbers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// table writes the cycles of jobs, and how many times those of six counters they are.
func table(out io.Writer, folder string, kernels []string, numbers []int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "kernel\t")
	for _, n := range numbers {
		name := fmt.Sprintf("%d counters", n)
		if n == 0 {
			name = "scoreboards"
		}
		fmt.Fprint(w, name, "\t\t")
	}
	fmt.Fprintln(w)
	for _, k := range kernels {
		first := 0.0
		fmt.Fprint(w, k, "\t")
		for _, n := range numbers {
			c, err := cycles(filepath.Join(folder, k, k+".toml"), n)
			if err != nil {
				return fmt.Errorf("%s with %d counters: %w", k, n, err)
			}
			if first == 0 {
				first = c
			}
			fmt.Fprintf(w, "%.0f\t%.3f\t", c, c/first)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// cycles are those of all launches of a job on a core with a number of counters.
func cycles(job string, counters int) (float64, error) {
	opt := heddle.JobOptions{GPU: "rtx-a6000", Timing: true, Code: "ptx"}
	if counters > 0 {
		opt.Code = "compiled"
		if err := opt.Settings.Set(fmt.Sprintf("modern.counters=%d", counters)); err != nil {
			return 0, err
		}
	}
	res, err := heddle.RunJob(context.Background(), job, opt)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, k := range res.Kernels {
		if (k.Code == "sass") != (counters > 0) {
			return 0, fmt.Errorf("%s does not run as %s", k.Name, opt.Code)
		}
		sum += float64(k.Cycles)
	}
	if !res.OK {
		return 0, fmt.Errorf("a result is wrong: %+v", res.Checks)
	}
	return sum, nil
}
