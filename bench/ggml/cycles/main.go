// Cycles prints what the kernels of some of ggml's operations take as PTX, which scoreboards
// guard, and as machine code, which its control bits guard: a table of Markdown. With -of compiled
// it is our machine code beside that of NVIDIA's compiler.
//
//	go run ./bench/ggml/cycles [-part 3/25] [-kernels 20] [-of ptx|compiled]
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
	"math"
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
	of := flag.String("of", "ptx", "what is beside NVIDIA's machine code: ptx, or compiled")
	most := flag.Int("kernels", 20, "how many kernels, those with most instructions")
	flag.Parse()
	code, known := map[string]string{"ptx": "ptx", "compiled": "sass"}[*of]
	if !known {
		log.Fatalf("-of %s: want ptx or compiled", *of)
	}
	dir, err := os.MkdirTemp("", "cycles-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ptx, sass := kernels(dir, *of, *part), kernels(dir, "sass", *part)
	if len(ptx) != len(sass) {
		log.Fatalf("%d launches of %s, %d of machine code", len(ptx), *of, len(sass))
	}
	best := map[string]int{}
	for i := range sass {
		p, s := &ptx[i], &sass[i]
		if p.Name != s.Name || p.Code != code || s.Code != "sass" {
			continue // a kernel of Heddle's libraries, or one that is not compiled
		}
		name := template(s.Name)
		if old, ok := best[name]; !ok || s.WarpInstructions > sass[old].WarpInstructions {
			best[name] = i
		}
	}
	list := slices.SortedFunc(maps.Keys(best), func(a, b string) int {
		return cmp.Compare(sass[best[b]].WarpInstructions, sass[best[a]].WarpInstructions)
	})
	if len(list) == 0 {
		log.Fatal("none of these cases launched a kernel in both forms")
	}
	fmt.Printf("| kernel | cycles: %s, NVIDIA's machine code | | warp instructions | registers | occupancy | what grew most | what shrank most |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", map[string]string{"ptx": "PTX", "compiled": "ours"}[*of])
	sum := 0.0
	for _, name := range list[:min(*most, len(list))] {
		p, s := &ptx[best[name]], &sass[best[name]]
		cp, cs := inside(p), inside(s)
		up, down := changes(p, s)
		sum += math.Log(float64(cp) / float64(cs))
		fmt.Printf("| `%s` | %d, %d | %+.0f %% | %d, %d | %d, %d | %.2f, %.2f | %s | %s |\n", name, cp, cs, 100*(float64(cs)/float64(cp)-1),
			p.WarpInstructions, s.WarpInstructions, p.Registers, s.Registers, p.Occupancy, s.Occupancy, up, down)
	}
	n := min(*most, len(list))
	fmt.Printf("\nThe left ones are %[2]s times the right ones by geometric mean of %[1]d kernels; the percentages are those of the right ones.\n", n, fmt.Sprintf("%.3f", math.Exp(sum/float64(n))))
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
