// Package libs has what the libraries in its folders share: they stand in for those of
// NVIDIA's that programs link, compute on the simulated GPU with kernels of their own, and
// know nothing of C. Kernels are CUDA in the folder kernels of a library; go generate
// compiles them.
package libs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Suffix is that of compiled kernels: a fat binary, compressed with Zstandard.
const Suffix = ".fatbin.zst"

// Kernels are the compiled kernels of a library by the names of their source files. The
// name of a module in reports is that of the library and the file.
func Kernels(library string, files embed.FS) map[string]*cuda.Kernels {
	names, err := fs.Glob(files, "kernels/*"+Suffix)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	list := map[string]*cuda.Kernels{}
	for _, name := range names {
		base := strings.TrimSuffix(path.Base(name), Suffix)
		list[base] = &cuda.Kernels{Name: library + "_" + base, Image: func() ([]byte, error) {
			b, err := files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			return Decompress(b)
		}}
	}
	return list
}

// Decompress returns a fat binary.
func Decompress(b []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if b, err = d.DecodeAll(b, nil); err != nil {
		return nil, fmt.Errorf("compiled kernels: %w", err)
	}
	return b, nil
}
