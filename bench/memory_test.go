package bench

import (
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/work/job"
)

// memoryBound are examples whose time goes to the memory system.
var memoryBound = []string{"bfs", "kmeans", "spmv", "hotspot", "stencil3d", "transpose"}

// BenchmarkMemory runs the examples that are bound by memory cycle by cycle, on an older
// and a newer core model and on the largest chip. docs/performance.md has their profiles.
func BenchmarkMemory(b *testing.B) {
	for _, name := range memoryBound {
		for _, chip := range []string{"rtx-2060", "rtx-a6000", "h100-pcie"} {
			b.Run(name+"/"+chip, func(b *testing.B) {
				r, err := job.Load(filepath.Join("../examples", name, name+".toml"), job.Options{})
				if err != nil {
					b.Fatal(err)
				}
				timed(b, []*job.Ready{r}, chip)
			})
		}
	}
}
