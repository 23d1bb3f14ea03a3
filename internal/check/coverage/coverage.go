// Package coverage says which lines, functions and branches of kernels ran, and how many
// threads ran them, from the counts that executors keep at branches (exec.Coverage). Counts of
// launches and of processes add up. It writes LCOV.
package coverage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Data is the coverage of source files. All counts are threads.
type Data map[string]*File // by name, as debug information has it

// File is the coverage of one file. Only lines with code are in it.
type File struct {
	Lines     map[int]uint64
	Functions map[string]*Function // by readable name
	Branches  map[Branch]*Ways
}

// Function is where a function begins, and how often it was entered.
type Function struct {
	Line    int
	Entered uint64
}

// Branch is a conditional branch: the Nth of a line.
type Branch struct{ Line, N int }

// Ways counts the threads that took a branch and those that did not. Of a branch at which a
// warp diverges both are counted.
type Ways struct{ Taken, Passed uint64 }

// MarshalText and UnmarshalText make a Branch a key of JSON: LINE.N.
func (b Branch) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d.%d", b.Line, b.N), nil }

// UnmarshalText is the inverse of MarshalText.
func (b *Branch) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%d.%d", &b.Line, &b.N)
	return err
}

// Of returns the coverage of a run. Instructions without a line, and those of headers of the
// SDK, are left out.
func Of(c *exec.Coverage) Data {
	d := Data{}
	for _, f := range c.Counts() {
		d.add(f)
	}
	return d
}

// Threads returns how many threads executed each instruction of a function. What enters a
// block is counted where it comes from; only blocks without a branch at their end pass on
// what they got.
func Threads(f *exec.FunctionCounts) []uint64 {
	g := flow.Analyze(f.Code)
	into := make([]uint64, len(g.Blocks))
	known := make([]bool, len(g.Blocks))
	counts := make([]uint64, len(f.Code))
	if len(into) == 0 {
		return counts
	}
	jumps := jumps(f, g)
	var of func(b int) uint64
	of = func(b int) uint64 {
		if known[b] {
			return into[b]
		}
		known[b] = true // no circle consists of blocks without a branch
		n := jumps[b]
		if b == 0 {
			n += f.Entered
		}
		if b > 0 {
			switch last := g.Blocks[b-1].Last; f.Code[last].Flow {
			case isa.FlowBranch, isa.FlowIndirect, isa.FlowReturn, isa.FlowExit:
				n += f.Passed[last]
			default:
				n += of(b - 1)
			}
		}
		into[b] = n
		return n
	}
	for b := range g.Blocks {
		n := of(b)
		for pc := g.Blocks[b].First; pc <= g.Blocks[b].Last; pc++ {
			counts[pc] = n
		}
	}
	return counts
}

// jumps returns how many threads came into each block by a branch.
func jumps(f *exec.FunctionCounts, g *flow.Graph) []uint64 {
	into := make([]uint64, len(g.Blocks))
	for pc := range f.Code {
		in := &f.Code[pc]
		for i, t := range in.Targets {
			if int(t) >= len(f.Code) {
				continue
			}
			b := g.BlockOf(int(t))
			switch in.Flow {
			case isa.FlowBranch:
				into[b] += f.Taken[pc]
			case isa.FlowIndirect:
				into[b] += f.Ways[pc][i]
			}
		}
	}
	return into
}

// add adds a function. Of the places of a line in a function, the one that most threads
// executed counts: a loop's line is also where the loop ends.
func (d Data) add(f *exec.FunctionCounts) {
	threads := Threads(f)
	lines := map[string]map[int]uint64{}
	nth := map[string]map[int]int{}
	begun := false
	for pc := range f.Code {
		at := f.Where(pc)
		file, line := at.SrcFile, at.SrcLine
		if line == 0 || file == "" || check.InLibrary(file) {
			continue
		}
		x := d.file(file)
		if lines[file] == nil {
			lines[file], nth[file] = map[int]uint64{}, map[int]int{}
		}
		lines[file][line] = max(lines[file][line], threads[pc])
		if !begun {
			begun = true
			x.function(plain.Instance(f.Name), line, f.Entered)
		}
		if in := &f.Code[pc]; in.Flow == isa.FlowBranch && in.Guarded {
			b := Branch{line, nth[file][line]}
			nth[file][line]++
			x.branch(b, Ways{f.Taken[pc], f.Passed[pc]})
		}
	}
	for file, list := range lines {
		for line, n := range list {
			d[file].Lines[line] += n
		}
	}
}

func (d Data) file(name string) *File {
	if d[name] == nil {
		d[name] = &File{Lines: map[int]uint64{}, Functions: map[string]*Function{}, Branches: map[Branch]*Ways{}}
	}
	return d[name]
}

func (x *File) function(name string, line int, entered uint64) {
	if x.Functions[name] == nil {
		x.Functions[name] = &Function{Line: line}
	}
	x.Functions[name].Entered += entered
}

func (x *File) branch(b Branch, w Ways) {
	if x.Branches[b] == nil {
		x.Branches[b] = &Ways{}
	}
	x.Branches[b].Taken += w.Taken
	x.Branches[b].Passed += w.Passed
}

// Merge adds the counts of other coverage.
func (d Data) Merge(from Data) {
	for name, y := range from {
		x := d.file(name)
		for line, n := range y.Lines {
			x.Lines[line] += n
		}
		for f, v := range y.Functions {
			x.function(f, v.Line, v.Entered)
		}
		for b, w := range y.Branches {
			x.branch(b, *w)
		}
	}
}

// WriteLCOV writes a tracefile (geninfo(1), FILES).
func (d Data) WriteLCOV(w io.Writer) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d)) {
		d[name].write(&b, name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (x *File) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "TN:\nSF:%s\n", name)
	names := slices.SortedFunc(maps.Keys(x.Functions), func(p, q string) int {
		return cmp.Or(cmp.Compare(x.Functions[p].Line, x.Functions[q].Line), cmp.Compare(p, q))
	})
	hit := 0
	for _, f := range names {
		fmt.Fprintf(b, "FN:%d,%s\n", x.Functions[f].Line, f)
	}
	for _, f := range names {
		fmt.Fprintf(b, "FNDA:%d,%s\n", x.Functions[f].Entered, f)
		hit += one(x.Functions[f].Entered)
	}
	fmt.Fprintf(b, "FNF:%d\nFNH:%d\n", len(names), hit)
	hit = 0
	branches := slices.SortedFunc(maps.Keys(x.Branches), func(p, q Branch) int {
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.N, q.N))
	})
	for _, k := range branches {
		v := x.Branches[k]
		for i, n := range []uint64{v.Taken, v.Passed} {
			count := fmt.Sprint(n)
			if v.Taken+v.Passed == 0 {
				count = "-" // never reached
			}
			fmt.Fprintf(b, "BRDA:%d,%d,%d,%s\n", k.Line, k.N, i, count)
			hit += one(n)
		}
	}
	fmt.Fprintf(b, "BRF:%d\nBRH:%d\n", 2*len(branches), hit)
	hit = 0
	for _, line := range slices.Sorted(maps.Keys(x.Lines)) {
		fmt.Fprintf(b, "DA:%d,%d\n", line, x.Lines[line])
		hit += one(x.Lines[line])
	}
	fmt.Fprintf(b, "LF:%d\nLH:%d\nend_of_record\n", len(x.Lines), hit)
}

// one is 1 for what was reached.
func one(n uint64) int {
	if n > 0 {
		return 1
	}
	return 0
}

// prefix begins the names of files that Keep makes.
const prefix = "coverage-"

// Keep writes the coverage of this process to a folder that several processes share. Each
// process calls it once, when it ends.
func (d Data) Keep(dir string) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s%d-%d.json", prefix, os.Getpid(), time.Now().UnixNano())), b, 0o644)
}

// ReadAll returns what all processes kept in a folder.
func ReadAll(dir string) (Data, error) {
	all := Data{}
	paths, err := filepath.Glob(filepath.Join(dir, prefix+"*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var d Data
		if err := json.Unmarshal(b, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all.Merge(d)
	}
	return all, nil
}
