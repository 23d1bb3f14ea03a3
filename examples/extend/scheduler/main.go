// Scheduler shows a warp scheduler of one's own beside those that are built in. It
// issues from the warp that has issued least: the one that others wait for at the
// next barrier, if all have as much to do. Run it at the top of the repository:
//
//	go run ./examples/extend/scheduler
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle"
)

// laggard is the scheduler. One is made for each scheduler of each SM.
type laggard struct{}

// Order names one warp if one can issue, else those that the core may look at.
func (laggard) Order(w *heddle.Warps, order []uint8) []uint8 {
	best, least := -1, uint64(0)
	for _, slot := range w.ByAge {
		if w.Can>>slot&1 == 0 {
			continue
		}
		if n := w.Info(int(slot)).Issued; best < 0 || n < least {
			best, least = int(slot), n
		}
	}
	if best < 0 {
		return append(order, w.ByAge...)
	}
	return append(order, uint8(best))
}

func init() {
	heddle.RegisterScheduler("laggard", func(sm, scheduler int) heddle.Scheduler { return laggard{} })
}

// compare prints the cycles and the instructions per cycle of examples with four
// schedulers.
func compare(out io.Writer, top string, jobs ...string) error {
	fmt.Fprintf(out, "%-12s %-10s %8s %8s\n", "job", "scheduler", "cycles", "IPC")
	for _, job := range jobs {
		for _, scheduler := range []string{"lrr", "gto", "two-level", "laggard"} {
			o := heddle.JobOptions{Timing: true, GPU: "rtx-2060"}
			if err := o.Settings.Set("simt.scheduler=" + scheduler); err != nil {
				return err
			}
			res, err := heddle.RunJob(context.Background(), filepath.Join(top, "examples", job, job+".toml"), o)
			if err != nil {
				return err
			}
			if !res.OK {
				return fmt.Errorf("%s computed something else", job)
			}
			fmt.Fprintf(out, "%-12s %-10s %8d %8.3f\n", job, scheduler, res.Cycles, float64(res.WarpInstructions)/float64(res.Cycles))
		}
	}
	return nil
}

func main() {
	if err := compare(os.Stdout, ".", "matmul", "pathfinder"); err != nil {
		log.Fatal(err)
	}
}
