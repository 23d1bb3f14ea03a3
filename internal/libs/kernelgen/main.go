// Command kernelgen compiles the kernels of a library: each .cu file of a folder, or one such
// file, becomes a compressed fat binary beside it. The first line of a file names its targets, as in
//
//	// targets: 52 80
//
// They are compiled with clang 19, so that the result does not depend on what else is
// installed.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/heddle-sim/heddle/internal/libs"
)

// compiler is the one that compiles kernels, as HEDDLE_CLANG names it.
const compiler = "clang++-19"

func main() {
	heddle := flag.String("heddle", "", "the heddle command to compile with; go run ./cmd/heddle if empty")
	root := flag.String("root", "../../..", "the folder of the module, for go run")
	to := flag.String("o", "", "the folder for the results; beside the sources if empty")
	flag.Parse()
	if err := run(*heddle, *root, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kernelgen:", err)
		os.Exit(1)
	}
}

func run(heddle, root, to string, folders []string) error {
	tmp, err := os.MkdirTemp("", "kernelgen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if heddle == "" {
		heddle = filepath.Join(tmp, "heddle")
		if out, err := exec.Command("go", "build", "-C", root, "-o", heddle, "./cmd/heddle").CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	type source struct{ file, to string }
	var sources []source
	for _, folder := range folders {
		pattern := filepath.Join(folder, "*.cu")
		if filepath.Ext(folder) == ".cu" { // one file
			folder, pattern = filepath.Dir(folder), folder
		}
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, file := range files {
			sources = append(sources, source{file, filepath.Join(cmp.Or(to, folder), strings.TrimSuffix(filepath.Base(file), ".cu")+libs.Suffix)})
		}
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for n, s := range sources {
		g.Go(func() error {
			b, err := compile(heddle, s.file, filepath.Join(tmp, strconv.Itoa(n)))
			if err != nil {
				return err
			}
			return write(s.to, b)
		})
	}
	return g.Wait()
}

// write stores a result, unless the file has the same contents when decompressed.
func write(path string, b []byte) error {
	if old, err := os.ReadFile(path); err == nil {
		if old, err = libs.Decompress(old); err == nil && bytes.Equal(old, b) {
			return nil
		}
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return os.WriteFile(path, e.EncodeAll(b, nil), 0o666)
}

// compile makes a fat binary of a file.
func compile(heddle, file, to string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	targets, ok := strings.CutPrefix(line, "// targets: ")
	if !ok {
		return nil, fmt.Errorf("%s:1: want // targets: NUMBERS", file)
	}
	args := []string{"cc", "--fatbin", "-std=c++17"}
	for _, target := range strings.Fields(targets) {
		args = append(args, "-gencode", fmt.Sprintf("arch=compute_%s,code=compute_%s", target, target))
	}
	cmd := exec.Command(heddle, append(args, filepath.Base(file), "-o", to)...)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = append(os.Environ(), "HEDDLE_CLANG="+compiler)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", file, err, out)
	}
	return os.ReadFile(to)
}
