// Command fmha compares the code of heddle ptxas with that of NVIDIA's compiler: each cubin in a folder that carries
// its PTX, as those of FasterTransformer's attention kernels do (NVIDIA/FasterTransformer,
// 3rdparty/trt_fused_multihead_attention: files of C++ with the bytes, which are read, too). It prints instructions
// without NOP and the branch after the end, registers, and instructions that access local memory, ours beside the
// cubin's, and summaries for each architecture.
//
//	go run ./bench/fmha FOLDER
//	go run ./bench/fmha -sm 75 -ops -match s_128 FOLDER    how often each operation is there, too
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

func main() {
	only := flag.Int("sm", 0, "one architecture; 0: all that code is made for")
	match := flag.String("match", "", "a regular expression that the names of kernels match")
	ops := flag.Bool("ops", false, "print how often each operation is in the code of all kernels")
	less := flag.Int("less", 0, "levels of optimisation that are left out")
	flag.Parse()
	if flag.NArg() != 1 {
		fail(errors.New("want a folder of cubins; see -help"))
	}
	named, err := regexp.Compile(*match)
	if err != nil {
		fail(err)
	}
	files, err := filepath.Glob(filepath.Join(flag.Arg(0), "*cubin*"))
	if err != nil {
		fail(err)
	}
	bySM := map[int]*total{}
	for _, path := range files {
		image, err := read(path)
		if err != nil {
			fail(err)
		}
		file, err := cubin.Read(filepath.Base(path), image)
		if err != nil {
			fail(err)
		}
		if sm := file.Arch; file.PTX() == nil || sm < 75 || sm > 89 || *only != 0 && sm != *only {
			continue
		}
		t := bySM[file.Arch]
		if t == nil {
			t = &total{more: map[string]int{}}
			bySM[file.Arch] = t
		}
		if err := t.compare(file, named, *less); err != nil {
			fail(err)
		}
	}
	all := &total{more: map[string]int{}}
	for _, sm := range slices.Sorted(maps.Keys(bySM)) {
		bySM[sm].print(fmt.Sprintf("sm_%d", sm))
		all.add(bySM[sm])
	}
	all.print("all")
	if *ops {
		all.operations()
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// read returns a file's bytes, or those of the array in a file of C++.
func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".cpp") && !strings.HasSuffix(path, ".cc") {
		return text, err
	}
	_, list, ok := bytes.Cut(text, []byte("[] = {"))
	list, _, end := bytes.Cut(list, []byte("}"))
	if !ok || !end {
		return nil, fmt.Errorf("%s: no array of bytes", path)
	}
	var image []byte
	for word := range bytes.SplitSeq(list, []byte(",")) {
		if word = bytes.TrimSpace(word); len(word) == 0 {
			continue
		}
		b, err := strconv.ParseUint(string(word), 0, 8)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		image = append(image, byte(b))
	}
	return image, nil
}

// size is what the code of a kernel takes.
type size struct {
	instructions, registers int
	local                   int // instructions that access local memory
	ops                     map[string]int
}

// sizeOf counts a kernel's instructions.
func sizeOf(k *sass.Kernel) size {
	s := size{registers: k.Regs, ops: map[string]int{}}
	n := len(k.Code)
	for n > 0 && (k.Code[n-1].Op.String() == "NOP" || k.Code[n-1].Op.String() == "BRA") {
		n--
	}
	for _, in := range k.Code[:n] {
		op := in.Op.String()
		if op == "NOP" {
			continue
		}
		s.instructions++
		s.ops[op]++
		if op == "LDL" || op == "STL" {
			s.local++
		}
	}
	return s
}

// total is what the kernels of an architecture take.
type total struct {
	instructions, registers []float64
	refused, unread         int
	spills, theirSpills     int // kernels that access local memory
	needless                int // of ours, those that do where the cubin's does not
	more                    map[string]int
}

// compare compiles a file's PTX.
func (t *total) compare(file *cubin.File, named *regexp.Regexp, less int) error {
	text, err := ptx.Parse("module.ptx", file.PTX())
	if err != nil { // products of bytes as floats are there under a name that PTX does not have
		fmt.Printf("%s: its PTX cannot be read: %d messages\n", file.Name, strings.Count(err.Error(), "\n")+1)
		t.unread += len(file.Kernels)
		return nil
	}
	out, err := compile.Module(text, compile.Options{Arch: sass.Arch(file.Arch), Less: less})
	if err != nil {
		return err
	}
	for _, r := range out.Refused {
		fmt.Println("refused:", r)
		t.refused++
	}
	listing, err := program.Listing(file)
	if err != nil {
		return err
	}
	theirs := map[string]*sass.Kernel{}
	for _, k := range listing.Kernels {
		if err := k.SetCode(k.Binary); err != nil {
			return err
		}
		theirs[k.Name] = k
	}
	for _, k := range out.File.Kernels {
		if theirs[k.Name] == nil || !named.MatchString(k.Name) {
			continue
		}
		t.kernel(k.Name, file.Arch, sizeOf(k), sizeOf(theirs[k.Name]))
	}
	return nil
}

// kernel counts a kernel, and prints its line.
func (t *total) kernel(name string, sm int, ours, his size) {
	more, regs := float64(ours.instructions)/float64(his.instructions), float64(ours.registers)/float64(his.registers)
	fmt.Printf("%5d %5d %.3f  %3d %3d %.3f  %3d %3d  sm_%d %s\n", ours.instructions, his.instructions, more, ours.registers, his.registers, regs, ours.local, his.local, sm, name)
	t.instructions, t.registers = append(t.instructions, more), append(t.registers, regs)
	if his.local > 0 {
		t.theirSpills++
	}
	if ours.local > 0 {
		t.spills++
		if his.local == 0 {
			t.needless++
		}
	}
	for op, n := range ours.ops {
		t.more[op] += n
	}
	for op, n := range his.ops {
		t.more[op] -= n
	}
}

// add adds the kernels of another architecture.
func (t *total) add(o *total) {
	t.instructions, t.registers = append(t.instructions, o.instructions...), append(t.registers, o.registers...)
	t.unread, t.refused, t.spills, t.theirSpills, t.needless = t.unread+o.unread, t.refused+o.refused, t.spills+o.spills, t.theirSpills+o.theirSpills, t.needless+o.needless
	for op, n := range o.more {
		t.more[op] += n
	}
}

func (t *total) print(name string) {
	fmt.Printf("%-5s %d kernels, %d refused, %d unread: instructions %s; registers %s; local memory in %d, in %d of NVIDIA's compiler, in %d where that has none\n",
		name, len(t.instructions), t.refused, t.unread, ratios(t.instructions), ratios(t.registers), t.spills, t.theirSpills, t.needless)
}

// operations prints how many more of each operation there are in our code.
func (t *total) operations() {
	for _, op := range slices.SortedFunc(maps.Keys(t.more), func(a, b string) int { return cmp.Or(t.more[b]-t.more[a], cmp.Compare(a, b)) }) {
		fmt.Printf("%+8d %s\n", t.more[op], op)
	}
}

// ratios summarises quotients: their geometric mean and the ninth of ten.
func ratios(list []float64) string {
	if len(list) == 0 {
		return "none"
	}
	list = slices.Sorted(slices.Values(list))
	sum := 0.0
	for _, x := range list {
		sum += math.Log(x)
	}
	return fmt.Sprintf("%.3f (p90 %.2f)", math.Exp(sum/float64(len(list))), list[len(list)*9/10])
}
