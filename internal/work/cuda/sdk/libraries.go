package sdk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Library is one of the shared libraries with which CUDA programs are linked. All of them
// are one file at run time: the CUDA runtime of heddle cuda.
type Library struct {
	// Name is what follows -l.
	Name string
	// Title is what its users call it.
	Title string
	// Sonames are the names under which programs of CUDA's releases load it. Programs
	// that are linked with the SDK ask for the first, and for its functions' version.
	Sonames []string
	// Unversioned says that its functions have no versions; others have one for each
	// soname, with its name.
	Unversioned bool
	// Headers declare its functions, whose names match Functions. Without headers,
	// lib/libNAME.c lists the names.
	Headers   []string
	Functions string
}

// Soname is the name under which a program requests the CUDA runtime.
const Soname = "libcudart.so.12"

// Libraries are all of them. Sonames are those of CUDA 9 to 13.
var Libraries = []Library{
	{Name: "cudart", Title: "the CUDA runtime", Sonames: []string{
		Soname, "libcudart.so.13", "libcudart.so.11.0", "libcudart.so.10.2", "libcudart.so.10.1", "libcudart.so.10.0",
		"libcudart.so.9.2", "libcudart.so.9.1", "libcudart.so.9.0",
	}},
	{Name: "cuda", Title: "the CUDA driver", Sonames: []string{"libcuda.so.1"}, Unversioned: true},
	{
		Name: "cublas", Title: "cuBLAS", Headers: []string{"cublas_v2.h", "cublas.h"}, Functions: `cublas[A-Z]\w+`,
		Sonames: []string{"libcublas.so.12", "libcublas.so.13", "libcublas.so.11", "libcublas.so.10", "libcublas.so.10.0", "libcublas.so.9.2", "libcublas.so.9.1", "libcublas.so.9.0"},
	},
	{
		Name: "nvToolsExt", Title: "NVTX", Headers: []string{"nvToolsExt.h", "nvToolsExtCudaRt.h", "nvToolsExtCuda.h"}, Functions: `nvtx[A-Z]\w*`,
		Sonames: []string{"libnvToolsExt.so.1"},
	},
	{
		Name: "cublasLt", Title: "cuBLASLt", Headers: []string{"cublasLt.h"}, Functions: `cublasLt[A-Z]\w+`,
		Sonames: []string{"libcublasLt.so.12", "libcublasLt.so.13", "libcublasLt.so.11", "libcublasLt.so.10"},
	},
	{Name: "nvidia-ml", Title: "NVML", Headers: []string{"nvml.h"}, Functions: `nvml[A-Z]\w*`, Sonames: []string{"libnvidia-ml.so.1"}, Unversioned: true},
	{
		Name: "cupti", Title: "CUPTI", Headers: []string{"cupti.h"}, Functions: `cupti[A-Z]\w+`,
		Sonames: []string{
			"libcupti.so.12", "libcupti.so.13", "libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
			"libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so.10.2", "libcupti.so.10.1", "libcupti.so.10.0", "libcupti.so.9.2", "libcupti.so.9.1", "libcupti.so.9.0",
		},
	},
	{Name: "nvrtc", Title: "NVRTC", Headers: []string{"nvrtc.h"}, Functions: `nvrtc[A-Z]\w*`, Sonames: []string{
		"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so.11.2", "libnvrtc.so.11.1", "libnvrtc.so.11.0", "libnvrtc.so.10.2", "libnvrtc.so.10.1", "libnvrtc.so.10.0",
		"libnvrtc.so.9.2", "libnvrtc.so.9.1", "libnvrtc.so.9.0",
	}},
	{
		Name: "cufft", Title: "cuFFT", Headers: []string{"cufft.h", "cufftXt.h"}, Functions: `cufft(?:Create|Destroy|Estimate|Exec|Get|Make|Plan|Reset|Set|Xt)\w*`,
		Sonames: []string{"libcufft.so.11", "libcufft.so.12", "libcufft.so.10", "libcufft.so.10.0", "libcufft.so.9.2", "libcufft.so.9.1", "libcufft.so.9.0"},
	},
	{
		Name: "curand", Title: "cuRAND", Headers: []string{"curand.h"}, Functions: `curand[A-Z]\w+`,
		Sonames: []string{"libcurand.so.10", "libcurand.so.10.0", "libcurand.so.9.2", "libcurand.so.9.1", "libcurand.so.9.0"},
	},
	{
		Name: "cusparse", Title: "cuSPARSE", Headers: []string{"cusparse.h"}, Functions: `cusparse[A-Z]\w+`,
		Sonames: []string{"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so.10", "libcusparse.so.10.0", "libcusparse.so.9.2", "libcusparse.so.9.1", "libcusparse.so.9.0"},
	},
}

// Files are the names of its file: those for programs, and that for the linker.
func (l *Library) Files() []string { return append(slices.Clone(l.Sonames), "lib"+l.Name+".so") }

// Names returns the functions of a library, given the SDK's folder.
func (l *Library) Names(ctx context.Context, clang Clang, dir string) ([]string, error) {
	if l.Headers == nil {
		text, err := os.ReadFile(filepath.Join(dir, "lib", "lib"+l.Name+".c"))
		if err != nil {
			return nil, err
		}
		return submatches(`(?m)^NAME\((\w+)\)`, string(text)), nil
	}
	var list []string
	for _, header := range l.Headers {
		cmd := exec.CommandContext(ctx, clang.Path, "-E", "-P", "-w", "-x", "c", "-I", filepath.Join(dir, "include"), filepath.Join(dir, "include", header))
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("the functions of %s: %w", header, err)
		}
		list = append(list, submatches(`\b(`+l.Functions+`)\s*\(`, string(text))...)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// submatches returns the first group of every match.
func submatches(expr, text string) []string {
	var list []string
	for _, m := range regexp.MustCompile(expr).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// stub makes the library without implementations that programs are linked with: the real
// one is found at run time.
func (l *Library) stub(ctx context.Context, clang Clang, dir string) error {
	names, err := l.Names(ctx, clang, dir)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "void %s(void) {}\n", name)
	}
	to := filepath.Join(dir, "lib64", "lib"+l.Name)
	if err := os.WriteFile(to+".c", []byte(text.String()), 0o666); err != nil {
		return err
	}
	args := []string{"-x", "c", "-w", "-shared", "-fPIC", "-Wl,-soname," + l.Sonames[0], to + ".c", "-o", to + ".so"}
	if !l.Unversioned {
		if err := os.WriteFile(to+".map", []byte(l.Sonames[0]+" { global: *; };\n"), 0o666); err != nil {
			return err
		}
		args = append(args, "-Wl,--version-script="+to+".map")
	}
	if err := compile(ctx, clang, args...); err != nil {
		return err
	}
	// For build systems the static library is a linker script that names the shared one.
	if err := os.WriteFile(to+"_static.a", []byte("INPUT(-l"+l.Name+")\n"), 0o666); err != nil {
		return err
	}
	return errors.Join(os.Remove(to+".c"), os.RemoveAll(to+".map"))
}
