// Cycles prints what the kernels of some of ggml's operations take as PTX, which scoreboards
// guard, and as machine code, which its control bits guard: a table of Markdown.
//
//	go run ./bench/ggml/cycles [-part 3/25] [-kernels 20]
//
// It runs run.sh twice. Of the launches of a kernel it shows the one with most instructions.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
)

func main() {
	log.SetFlags(0)
	part := flag.String("part", "3/25", "the cases, as of run.sh")
	most := flag.Int("kernels", 20, "how many kernels, those with most instructions")
	flag.Parse()
	dir, err := os.MkdirTemp("", "cycles-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ptx, sass := kernels(dir, "ptx", *part), kernels(dir, "sass", *part)
	if len(ptx) != len(sass) {
		log.Fatalf("%d launches of PTX, %d of machine code", len(ptx), len(sass))
	}
	best := map[string]int{}
	for i := range sass {
		p, s := &ptx[i], &sass[i]
		if p.Name != s.Name || p.Code == s.Code {
			continue // a kernel of Heddle's libraries, which is PTX
		}
		name := template(s.Name)
		if old, ok := best[name]; !ok || s.WarpInstructions > sass[old].WarpInstructions {
			best[name] = i
		}
	}
	list := slices.SortedFunc(maps.Keys(best), func(a, b string) int {
		return cmp.Compare(sass[best[b]].WarpInstructions, sass[best[a]].WarpInstructions)
	})
	fmt.Print("| kernel | cycles: PTX, machine code | | warp instructions | registers | occupancy | what grew most | what shrank most |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, name := range list[:min(*most, len(list))] {
		p, s := &ptx[best[name]], &sass[best[name]]
		cp, cs := inside(p), inside(s)
		up, down := changes(p, s)
		fmt.Printf("| `%s` | %d, %d | %+.0f %% | %d, %d | %d, %d | %.2f, %.2f | %s | %s |\n", name, cp, cs, 100*(float64(cs)/float64(cp)-1),
			p.WarpInstructions, s.WarpInstructions, p.Registers, s.Registers, p.Occupancy, s.Occupancy, up, down)
	}
}

// kernels runs the cases and returns their launches.
func kernels(dir, code, part string) []report.Kernel {
	file := filepath.Join(dir, code+".json")
	cmd := exec.Command("bash", "bench/ggml/run.sh", "--part", part)
	cmd.Env = append(os.Environ(), "CODE="+code, "MODE=timing", "JSON="+file)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatalf("run.sh: %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var r report.Run
	if err := json.Unmarshal(b, &r); err != nil {
		log.Fatal(err)
	}
	return r.Kernels
}

// template is the name of a kernel without the arguments of its template.
func template(mangled string) string {
	name, _, _ := strings.Cut(plain.Name(mangled), "<")
	name, _, _ = strings.Cut(name, "(")
	return name
}

// inside is the number of cycles from a launch's first block to its end.
func inside(k *report.Kernel) uint64 { return k.EndCycle - k.FirstBlockCycle }

// changes names the states of warps that take more and less of a launch's cycles, in cycles of
// all its warps.
func changes(p, s *report.Kernel) (up, down string) {
	grew, shrank := int64(0), int64(0)
	for name, n := range s.Stalls {
		switch d := int64(n) - int64(p.Stalls[name]); {
		case name == "selected":
		case d > grew:
			grew, up = d, name
		case d < shrank:
			shrank, down = d, name
		}
	}
	return up, down
}
