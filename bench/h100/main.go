// Command h100 repeats measurements of an H100 PCIe on the simulated GPU h100-pcie and
// writes docs/h100.md. It runs pointer chases, empty kernels, chains of FFMA, and
// programs that compute what those of PolyBench compute. From the repository's root:
//
//	go run ./bench/h100                    writes the report from the stored results
//	go run ./bench/h100 -run 'gemm|mvt'    simulates these rows again, stores them, and writes it
//	go run ./bench/h100 -run . -o /tmp/x   leaves the repository as it is
//	go run ./bench/h100 -run . -compiled   does the same with machine code made of the PTX
//
// It tests only its own reading of the measurements and the values that its kernels
// compute.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle"
)

// settings are the assignments of -C.
type settings []string

func (s *settings) String() string { return strings.Join(*s, " ") }

func (s *settings) Set(v string) error {
	*s = append(*s, v)
	return nil
}

func main() {
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "h100:", err)
		os.Exit(1)
	}
}

func do() error {
	var set settings
	which := flag.String("run", "", "simulate the kinds of row that match this `expression`: latency, empty, ffma, 2dconv, ...")
	steps := flag.Float64("steps", 1.8e6, "skip rows with more inner-loop iterations in total over all warps")
	small := flag.Int("size", 1<<30, "skip larger rows of PolyBench")
	out := flag.String("o", ".", "the `folder` under which docs/h100.md and bench/h100/results.tsv are written")
	tuned := flag.Bool("tuned", false, "skip the rows that are only reported")
	missing := flag.Bool("missing", false, "skip the rows that have a stored result")
	compiled := flag.Bool("compiled", false, "simulate machine code that is made of the PTX, and store its results beside those of the PTX")
	flag.Var(&set, "C", "set a value of the GPU (key=value)")
	flag.Parse()
	if *compiled && *which == "" {
		return errors.New("-compiled wants -run, as in go run ./bench/h100 -compiled -run ffma")
	}
	only, err := regexp.Compile(*which)
	if err != nil {
		return err
	}
	rows, err := readHardware("bench/h100/testdata")
	if err != nil {
		return err
	}
	kept, err := readResults(ofPTX)
	if err != nil {
		return err
	}
	code, err := readResults(ofCode)
	if err != nil {
		return err
	}
	if *which != "" {
		file, kept, how := ofPTX, kept, "ptx"
		if *compiled {
			file, kept, how = ofCode, code, "compiled"
		}
		results := filepath.Join(*out, file)
		p, err := loaded(how)
		if err != nil {
			return err
		}
		if only.MatchString("latency") {
			if err := latencies(p, chases, kept, set); err != nil {
				return err
			}
		}
		for _, r := range byCost(rows) {
			if _, ok := kept[r.key()]; ok && *missing || !only.MatchString(r.kind) || *tuned && !r.tuned || r.size > *small || cost(r) > *steps {
				continue
			}
			start := time.Now()
			n, err := simulate(p, r, set)
			if err != nil {
				return fmt.Errorf("%s: %w", r.key(), err)
			}
			kept[r.key()] = n
			if err := writeResults(results, kept); err != nil {
				return err
			}
			fmt.Printf("%s\t%.0f\t%.0f\t%+.1f%%\t%.1fs\n", r.key(), r.hardware(), n, 100*(n/r.hardware()-1), time.Since(start).Seconds())
		}
		if err := writeResults(results, kept); err != nil {
			return err
		}
	}
	file := filepath.Join(*out, "docs/h100.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(document(rows, kept, code)), 0o644)
}

// The stored results: of the PTX under scoreboards, and of machine code that is made of it.
const (
	ofPTX  = "bench/h100/results.tsv"
	ofCode = "bench/h100/compiled.tsv"
)

// loaded is the program as PTX, or with "compiled" as machine code.
func loaded(code string) (*heddle.Program, error) {
	return heddle.LoadFor(heddle.RunOptions{GPU: gpu, Code: code, Tell: func(s string) { fmt.Fprintln(os.Stderr, "h100:", s) }}, program)
}

// byCost returns the rows, those of little work first.
func byCost(rows []row) []*row {
	list := make([]*row, len(rows))
	for i := range rows {
		list[i] = &rows[i]
	}
	slices.SortStableFunc(list, func(a, b *row) int { return cmp.Compare(cost(a), cost(b)) })
	return list
}

// cost estimates the work of a row in inner-loop iterations of about ten instructions.
func cost(r *row) float64 {
	for _, b := range benchmarks {
		if b.name == r.kind {
			n := float64(r.size)
			square := float64(over(r.size, r.block)) * float64(over(r.size, rowsOfBlock)) * float64(over(r.block*rowsOfBlock, 32))
			return b.steps(n, square, float64(over(r.size, r.block)))
		}
	}
	if r.kind == "ffma" {
		return 128 / 10 * float64(r.turns*r.blocks) * float64(over(r.block, 32))
	}
	return 0
}

// simulate returns the cycles of a row.
func simulate(p *heddle.Program, r *row, set []string) (float64, error) {
	m, err := newMachine(p, max(1, r.size), r.block, set...)
	if err != nil {
		return 0, err
	}
	grid, block := heddle.Dim(uint32(r.blocks)), heddle.Dim(uint32(r.block))
	switch r.kind {
	case "empty":
		m.launch("empty", grid, block)
	case "ffma":
		m.launch("ffma", grid, block, m.vector("out"), r.turns)
	default:
		i := slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == r.kind })
		benchmarks[i].run(m)
	}
	return float64(m.cycles), m.err
}

// ring is a pointer chase: the size of the memory, whether it is cold in the L2, the steps, and
// the latency that gpu-benches measured (te42kyfo, gpu-latency on an H100 PCIe).
type ring struct {
	name     string
	bytes    int
	cold     bool
	steps    int
	hardware float64
}

// chases are the pointer chases.
var chases = []ring{
	{"L1", 32 << 10, false, 4096, 34.2},
	{"L2, own half", 2 << 20, false, 2 << 20 / 128, 265},
	{"L2, other half", 36 << 20, false, 36 << 20 / 128, 475},
	{"DRAM", 16 << 20, true, 2048, 650},
}

// latencies runs pointer chases.
func latencies(p *heddle.Program, list []ring, kept map[string]float64, set []string) error {
	for _, c := range list {
		s := set
		if c.cold {
			s = append(slices.Clone(set), "run.copies_fill_l2=false")
		}
		n, err := chase(p, c.bytes, c.steps, s)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		kept["latency "+c.name] = n
	}
	return nil
}

// chase returns the cycles of one step of a pointer chase over the given number of
// bytes, with a pointer in every line: the slope between two walks of the same ring, the second of which
// goes around it again if the steps are its lines.
func chase(p *heddle.Program, bytes, steps int, set []string) (float64, error) {
	const line = 128 / 8
	var at [2]uint64
	for i := range at {
		m, err := newMachine(p, 1, 1, set...)
		if err != nil {
			return 0, err
		}
		ring, err := m.gpu.Alloc(bytes, "ring")
		if err != nil {
			return 0, err
		}
		host := make([]uint64, bytes/8)
		for j := 0; j < len(host); j += line {
			host[j] = uint64(ring.Add(8 * ((j + line) % len(host))))
		}
		if err := heddle.Store(m.gpu, ring, host); err != nil {
			return 0, err
		}
		end, err := m.gpu.Alloc(8, "end")
		if err != nil {
			return 0, err
		}
		s, err := m.gpu.Launch(context.Background(), "chase", heddle.Dim(1), heddle.Dim(1), ring, end, (i+1)*steps)
		if err != nil {
			return 0, err
		}
		at[i] = s.Cycles
	}
	return float64(at[1]-at[0]) / float64(steps), nil
}

// readResults reads the results that earlier runs stored: a key and cycles per line.
func readResults(file string) (map[string]float64, error) {
	kept := map[string]float64{}
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return kept, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for line := 1; s.Scan(); line++ {
		i := strings.LastIndexByte(s.Text(), '\t')
		if i < 0 {
			return nil, fmt.Errorf("%s:%d: want a key and cycles; regenerate the file with -run", file, line)
		}
		n, err := strconv.ParseFloat(s.Text()[i+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		kept[s.Text()[:i]] = n
	}
	return kept, s.Err()
}

func writeResults(file string, kept map[string]float64) error {
	keys := make([]string, 0, len(kept))
	for k := range kept {
		keys = append(keys, k)
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, y := strings.Split(a, "\t"), strings.Split(b, "\t")
		if c := cmp.Or(strings.Compare(x[0], y[0]), len(x)-len(y)); c != 0 {
			return c
		}
		for i := 1; i < len(x); i++ {
			if c := number(x[i]) - number(y[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%s\t%v\n", k, kept[k])
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
