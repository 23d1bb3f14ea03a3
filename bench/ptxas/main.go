// Command ptxas measures how fast the compiler makes machine code of PTX, on one core: PTX instructions a second,
// reading the PTX and writing the cubin included, garbage collection too. It prints a line for each file, with a
// hash of the cubins and listings for comparisons of two builds.
//
//	go run ./bench/ptxas FILE.ptx ...
//	go run ./bench/ptxas -arch 89 -profile cpu.out FILE.ptx
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

func main() {
	arch := flag.Int("arch", 86, "the architecture")
	times := flag.Int("n", 1, "how often each file is compiled; the best time counts")
	less := flag.Int("less", 0, "levels of optimisation that are left out")
	profile := flag.String("profile", "", "a file for a CPU profile")
	memory := flag.String("memory", "", "a file for a profile of allocations")
	hash := flag.Bool("hash", false, "print hashes of the listings and cubins")
	keep := flag.Bool("k", false, "go on with the next file where one is rejected")
	flag.Parse()
	if *memory != "" {
		runtime.MemProfileRate = 1 << 14
		defer func() {
			f, err := os.Create(*memory)
			if err != nil {
				fail(err)
			}
			if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil {
				fail(err)
			}
		}()
	}
	runtime.GOMAXPROCS(1)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fail(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			fail(err)
		}
		defer pprof.StopCPUProfile()
	}
	var all result
	for _, path := range flag.Args() {
		var best result
		for i := range *times {
			r, err := measure(path, compile.Options{Arch: sass.Arch(*arch), Less: *less}, *hash)
			if err != nil && *keep {
				fmt.Println(err)
				break
			}
			if err != nil {
				fail(err)
			}
			if i == 0 || r.took < best.took {
				best = r
			}
		}
		best.print(filepath.Base(path))
		all.instructions += best.instructions
		all.took += best.took
	}
	all.print("all")
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// result is what one file took.
type result struct {
	instructions int // of PTX, in kernels and functions
	took         time.Duration
	refused      int // kernels
	hash         string
}

func (r *result) print(name string) {
	fmt.Printf("%9d instructions %8.3f s %8.0f a second  %s", r.instructions, r.took.Seconds(), float64(r.instructions)/r.took.Seconds(), name)
	if r.refused > 0 {
		fmt.Printf(", %d kernels refused", r.refused)
	}
	if r.hash != "" {
		fmt.Printf(" %s", r.hash)
	}
	fmt.Println()
}

// processor is the processor time that this program has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure compiles a file.
func measure(path string, o compile.Options, hash bool) (result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return result{}, err
	}
	runtime.GC()
	begin := processor()
	m, err := ptx.Parse(path, text)
	if err != nil {
		return result{}, err
	}
	out, err := compile.Module(m, o)
	if err != nil {
		return result{}, err
	}
	cubin, err := program.WriteCubin(out.File)
	if err != nil {
		cubin = []byte(err.Error())
	}
	r := result{took: processor() - begin, refused: len(out.Refused)}
	for _, f := range m.Funcs {
		r.instructions += len(f.Code)
	}
	if hash {
		h := sha256.New()
		fmt.Fprintln(h, out.File.Text(), out.Info)
		for _, k := range out.File.Kernels {
			fmt.Fprintln(h, k.Lines, k.Regs, k.Local, k.Labels)
			for _, in := range k.Code {
				fmt.Fprintln(h, in.Op, in.Mods, in.Guard, in.Operands, in.Ctl, in.Words, in.Addr)
			}
		}
		for _, x := range out.Refused {
			fmt.Fprintln(h, x)
		}
		h.Write(cubin)
		r.hash = fmt.Sprintf("%x", h.Sum(nil)[:8])
	}
	return r, nil
}
