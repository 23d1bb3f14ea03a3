// Command ptxas measures how fast the compiler makes machine code of PTX: PTX instructions a second of processor time
// on one core or, with -cores, a second that passes, reading the PTX and writing the cubin included, garbage collection
// too. It prints a line for each file, with a
// hash of the cubins and listings for comparisons of two builds.
//
//	go run ./bench/ptxas FILE.ptx ...
//	go run ./bench/ptxas libggml-cuda.so    every 14th module of a library's PTX for sm_80, and the largest one
//	go run ./bench/ptxas -arch 89 -profile cpu.out FILE.ptx
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
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
	step := flag.Int("step", 14, "of a library, every module whose number is a multiple of this is compiled")
	memory := flag.String("memory", "", "a file for a profile of allocations")
	hash := flag.Bool("hash", false, "print hashes of the listings and cubins")
	cores := flag.Int("cores", 1, "how many cores it may use; with several, the time that passes counts")
	keep := flag.Bool("k", false, "go on with the next file where one is rejected")
	flag.Parse()
	if flag.NArg() == 0 || *times < 1 || *step < 1 {
		fail(errors.New("want files of PTX or a library, and -n and -step of 1 or more; see -help"))
	}
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
	runtime.GOMAXPROCS(*cores)
	debug.SetGCPercent(400) // as heddle ptxas does
	debug.SetMemoryLimit(1 << 30)
	if *cores > 1 {
		begin := time.Now()
		clock = func() time.Duration { return time.Since(begin) }
	}
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
	for _, f := range programs(flag.Args(), *step) {
		best, err := measure(f, compile.Options{Arch: sass.Arch(*arch), Less: *less}, *hash)
		for i := 1; i < *times && err == nil; i++ {
			var r result
			if r, err = measure(f, compile.Options{Arch: sass.Arch(*arch), Less: *less}, *hash); r.took < best.took {
				best = r
			}
		}
		switch {
		case err != nil && *keep:
			fmt.Println(err)
			continue
		case err != nil:
			fail(err)
		}
		best.print(f.name)
		all.instructions += best.instructions
		all.took += best.took
	}
	all.print("all")
}

// source is the text of a module.
type source struct {
	name string
	text []byte
}

// programs are the modules of files: of PTX, or libraries, of whose PTX for sm_80 every step-th one counts, and the
// largest.
func programs(paths []string, step int) (list []source) {
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			fail(err)
		}
		if !bytes.HasPrefix(b, []byte("\x7fELF")) {
			list = append(list, source{path, b})
			continue
		}
		entries, err := fatbin.Entries(path, b)
		if err != nil {
			fail(err)
		}
		n, largest := 0, source{}
		for i := range entries {
			if entries[i].Kind != fatbin.PTX || entries[i].SM != 80 {
				continue
			}
			text, err := entries[i].Text()
			if err != nil {
				fail(err)
			}
			s := source{fmt.Sprintf("module %d of %s", n, filepath.Base(path)), text}
			if n%step == 0 {
				list = append(list, s)
			}
			if len(text) > len(largest.text) {
				largest = s
			}
			n++
		}
		if n > 0 {
			list = append(list, largest)
		}
	}
	return list
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

// clock is the time that counts.
var clock = processor

// measure compiles a file.
func measure(f source, o compile.Options, hash bool) (result, error) {
	runtime.GC()
	begin := clock()
	m, err := ptx.Parse(f.name, f.text)
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
	r := result{took: clock() - begin, refused: len(out.Refused)}
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
