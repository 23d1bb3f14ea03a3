package sdk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// PTX compiles the device code of a source, whatever its name, to PTX for an
// architecture, sm_XX. call runs the compiler; flags are those of the command line. The
// compilation has two steps, with LLVM IR in a file in dir, in which SplitCopies splits
// copies, AlignArrays aligns local arrays and edits change the rest.
func (s SDK) PTX(call func(args ...string) error, arch string, flags []string, source, dir, out string, edits ...func(ir []byte) []byte) error {
	file := filepath.Join(dir, filepath.Base(source)+"-"+arch+".ll")
	// Kernels read arrays of halves as integers, and work when nvcc compiles them.
	front := slices.Concat([]string{"-fno-strict-aliasing"}, flags, s.CUDAFlags())
	front = append(front, "--cuda-device-only", "--cuda-gpu-arch="+arch, "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-x", "cuda", source, "-o", file)
	if err := call(front...); err != nil {
		return err
	}
	ir, err := os.ReadFile(file)
	if err == nil {
		ir = AlignArrays(SplitCopies(ir))
		for _, edit := range edits {
			ir = edit(ir)
		}
		err = os.WriteFile(file, ir, 0o666)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a dry run, or the next call reports the missing file
		return fmt.Errorf("compiling %s: %w", source, err)
	}
	back := append([]string{"--target=nvptx64-nvidia-cuda", "-nogpulib", "-S"}, backFlags(flags)...)
	back = append(back, s.kernelFlags()...)
	back = append(back, "-Xclang", "-target-cpu", "-Xclang", arch)
	if m := irFeatures.FindSubmatch(ir); m != nil {
		for feature := range strings.SplitSeq(string(m[1]), ",") {
			back = append(back, "-Xclang", "-target-feature", "-Xclang", feature)
		}
	} else {
		// Without functions the IR does not state the release, and clang's default without
		// a toolkit is too old for most architectures, which from 22 on is an error. LLVM's
		// default is the oldest release with the architecture.
		back = append(back, "-Xclang", "-target-feature", "-Xclang", "-ptx42")
	}
	if err := call(append(back, "-Qunused-arguments", "-x", "ir", file, "-o", out)...); err != nil {
		return err
	}
	dims := clusterDims(ir)
	if len(dims) == 0 {
		return nil
	}
	text, err := os.ReadFile(out)
	if err == nil {
		err = os.WriteFile(out, putClusterDims(text, arch, dims), 0o666)
	}
	if err != nil {
		return fmt.Errorf("compiling %s: %w", source, err)
	}
	return nil
}

// irFeatures finds the PTX release and other features that the compiler chose.
var irFeatures = regexp.MustCompile(`"target-features"="([^"]+)"`)

// backFlags returns the flags of a command line that affect code generation from IR.
// Other options are in the IR itself.
func backFlags(flags []string) []string {
	level, contract := "", "fast" // CUDA's default
	var list []string
	for i, flag := range flags {
		switch {
		case strings.HasPrefix(flag, "-O"):
			level = flag
			list = append(list, flag)
		case strings.HasPrefix(flag, "-ffp-contract="):
			contract = strings.TrimPrefix(flag, "-ffp-contract=")
		case flag == "-ffast-math":
			list = append(list, flag)
		case flag == "-mllvm" && i+1 < len(flags):
			list = append(list, flag, flags[i+1])
		}
	}
	list = append(list, "-ffp-contract="+contract)
	if level != "" && level != "-O0" {
		// Before clang 22 the previous option is ignored for IR.
		fused := map[string]int{"fast": 2, "fast-honor-pragmas": 2}[contract]
		list = append(list, "-mllvm", fmt.Sprintf("-nvptx-fma-level=%d", fused))
	}
	return list
}

// kernelFlags are the arguments that make LLVM generate kernels like nvcc.
func (s SDK) kernelFlags() []string {
	// LLVM's limits, in its own units of cost, for unrolling loops completely, with
	// and without #pragma unroll, and for inlining functions: its defaults (150,
	// 16,384 and 225, the last times 5 to 11 for this target) leave the register tiles
	// of matrix products in local memory. With ours, bench/ladder has no such accesses
	// and examples/cuda grow least. Partial unrolling does not change. At -O3 calls in loops have
	// a limit of their own (525, also times 11), which is lower than ours for the others:
	// FlashAttention-3 passes its sums to such calls, in local memory unless they are inlined.
	flags := []string{"-mllvm", "-unroll-threshold=4000", "-mllvm", "-pragma-unroll-threshold=32768", "-mllvm", "-inline-threshold=2000", "-mllvm", "-locally-hot-callsite-threshold=4000"}
	if s.Clang.Major < 19 {
		// These passes merge the same convergent instruction of both branches, which
		// changes its lanes: __activemask, for example.
		flags = append(flags, "-mllvm", "-hoist-common-insts=false")
	}
	return flags
}
