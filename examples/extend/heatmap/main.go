// Heatmap shows an observer: it counts the accesses of lanes to global memory, by
// address and by time, and draws them as heatmap.png. A column is a span of cycles, a row a
// piece of memory; the more accesses, the brighter. Run it at the top of the
// repository:
//
//	go run ./examples/extend/heatmap
package main

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math"
	"os"

	"github.com/heddle-sim/heddle"
)

const (
	bytesPerRow     = 4096
	cyclesPerColumn = 64
)

// cell is a dot of the picture.
type cell struct{ column, row uint64 }

// draw runs a job and draws where its lanes access global memory.
func draw(out io.Writer, job string) error {
	count := map[cell]int{}
	first, last, most, columns := uint64(math.MaxUint64), uint64(0), 1, uint64(0)
	watch := heddle.Observer{Inst: func(e *heddle.InstEvent) {
		if e.Addr == nil || e.Space != heddle.Global {
			return
		}
		for lane, addr := range e.Addr {
			if e.Lanes>>lane&1 == 0 {
				continue
			}
			c := cell{e.Cycle / cyclesPerColumn, addr / bytesPerRow}
			count[c]++
			first, last, most, columns = min(first, c.row), max(last, c.row), max(most, count[c]), max(columns, c.column+1)
		}
	}}
	o := heddle.JobOptions{Timing: true, GPU: "rtx-2060", Watch: &watch}
	if err := o.Settings.Set("run.launch_latency=0"); err != nil {
		return err
	}
	if _, err := heddle.RunJob(context.Background(), job, o); err != nil {
		return err
	}
	if len(count) == 0 {
		return errors.New("no access to global memory")
	}
	picture := image.NewGray(image.Rect(0, 0, int(columns), int(last-first+1)))
	for c, n := range count {
		bright := 64 + 191*math.Log1p(float64(n))/math.Log1p(float64(most))
		picture.SetGray(int(c.column), int(c.row-first), color.Gray{Y: uint8(bright)})
	}
	return png.Encode(out, picture)
}

func main() {
	file, err := os.Create("heatmap.png")
	if err != nil {
		log.Fatal(err)
	}
	if err := draw(file, "examples/transpose/transpose.toml"); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
