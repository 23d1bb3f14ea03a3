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
	"strconv"
	"strings"
)

// oldestClang is the first release of clang whose CUDA wrapper the headers support, and
// the one that Debian 12 and Ubuntu 22.04 install.
const oldestClang = 14

// newestClang limits the search for installed releases.
const newestClang = 40

// Clang is an installed compiler.
type Clang struct {
	Path    string // of clang++
	Major   int    // release
	Version string // the first line of clang++ --version
}

// ErrNoClang is the error for a missing or unsuitable clang.
var ErrNoClang = fmt.Errorf("clang %d or later is needed; install it with: sudo apt-get install clang", oldestClang)

var versionLine = regexp.MustCompile(`(?m)^.*clang version (\d+)\..*$`)

// FindClang returns the compiler in the environment variable HEDDLE_CLANG, or the newest
// on the path: clang++-40 down to clang++-14, or clang++. The error wraps ErrNoClang if
// there is none.
func FindClang(ctx context.Context) (Clang, error) {
	if name := os.Getenv("HEDDLE_CLANG"); name != "" {
		c, err := ClangNamed(ctx, name)
		if err != nil {
			return Clang{}, fmt.Errorf("HEDDLE_CLANG: %w", err)
		}
		return c, nil
	}
	best, err := ClangNamed(ctx, "clang++")
	for major := newestClang; major >= oldestClang && major > best.Major; major-- {
		c, e := ClangNamed(ctx, fmt.Sprintf("clang++-%d", major))
		if e == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return Clang{}, ctx.Err()
		}
	}
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("no clang is installed; %w", ErrNoClang)
		}
		return Clang{}, err
	}
	return best, nil
}

// Installed returns all supported compilers on the path named clang++-N, the oldest
// first, or clang++ if there are none.
func Installed(ctx context.Context) []Clang {
	var list []Clang
	for major := oldestClang; major <= newestClang; major++ {
		if c, err := ClangNamed(ctx, fmt.Sprintf("clang++-%d", major)); err == nil {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		if c, err := ClangNamed(ctx, "clang++"); err == nil {
			list = append(list, c)
		}
	}
	return list
}

// ClangNamed finds the compiler with a name on the path and queries its version. The
// error wraps ErrNoClang if it is too old or not clang.
func ClangNamed(ctx context.Context, name string) (Clang, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return Clang{}, err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return Clang{}, fmt.Errorf("%s --version: %w", path, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return Clang{}, fmt.Errorf("%s is not clang; %w", path, ErrNoClang)
	}
	major, err := strconv.Atoi(string(m[1]))
	if err != nil || major < oldestClang {
		return Clang{}, fmt.Errorf("%s is clang %s; %w", path, m[1], ErrNoClang)
	}
	return Clang{Path: path, Major: major, Version: string(m[0])}, nil
}

// Command returns a call of the compiler, as a compiler of C++ whatever its name.
func (c Clang) Command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, c.Path, append([]string{"--driver-mode=g++"}, args...)...)
}

// Architectures returns the numbers of the GPU architectures that the compiler knows,
// ascending; variants such as 90a do not count.
func (c Clang) Architectures(ctx context.Context) ([]int, error) {
	out, err := exec.CommandContext(ctx, c.Path, "--target=nvptx64-nvidia-cuda", "--print-supported-cpus").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s --print-supported-cpus: %w", c.Path, err)
	}
	var list []int
	for _, m := range plainArch.FindAllSubmatch(out, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

var plainArch = regexp.MustCompile(`\bsm_(\d+)\b`)

// HasOpenMP reports whether the compiler has an OpenMP library.
func (c Clang) HasOpenMP(ctx context.Context) bool {
	return c.Finds(ctx, "libomp.so") || c.Finds(ctx, "libomp.a")
}

// Finds reports whether the compiler finds a file in its library folders.
func (c Clang) Finds(ctx context.Context, name string) bool {
	// The name of a missing file is returned unchanged.
	out, err := exec.CommandContext(ctx, c.Path, "-print-file-name="+name).Output()
	return err == nil && filepath.IsAbs(strings.TrimSpace(string(out)))
}
