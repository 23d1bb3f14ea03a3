package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/cache"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// libraryName is the name of the CUDA runtime's file. All other libraries of
// sdk.Libraries, and their other names, are links to it: a program that loads several
// gets one library.
const libraryName = sdk.Soname

// profile is what the cycle loop spends its time on, by which both this program and the
// runtime are optimised (bench/profile.sh).
const profile = "cmd/heddle/default.pgo"

// runtimeLibrary returns the folder with the CUDA runtime: beside this program if
// it is installed there, otherwise in the user's cache, where the first use builds
// it.
func runtimeLibrary(e env) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find this program's own file: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	bin := filepath.Dir(self)
	for _, dir := range []string{bin, filepath.Join(bin, "..", "lib", "heddle")} {
		if _, err := os.Stat(filepath.Join(dir, libraryName)); err == nil {
			return dir, nil
		}
	}
	root, err := cache.Root()
	if err != nil {
		return "", fmt.Errorf("no folder for the CUDA runtime: %w", err)
	}
	return cachedLibrary(e.ctx, root, e.stderr)
}

// cachedLibrary is the folder of the runtime in a cache, built if it is not there.
func cachedLibrary(ctx context.Context, root string, messages io.Writer) (string, error) {
	source, key, err := librarySource()
	if err != nil {
		return "", err
	}
	return cache.Folder(ctx, root, "cudart", key, func(dir string) error {
		fmt.Fprintln(messages, "heddle: building the CUDA runtime, once for this version; this takes a minute or two")
		return buildLibrary(ctx, source, dir)
	})
}

// librarySource finds the source that this program was built from, and returns a
// key of its present state.
func librarySource() (root, key string, err error) {
	_, file, _, _ := runtime.Caller(0)
	root = filepath.Join(filepath.Dir(file), "..", "..")
	h := sha256.New()
	fmt.Fprintf(h, "%s %s", runtime.Version(), root)
	for _, part := range []string{"cmd/libcudart", profile, "internal", "go.mod", "go.sum"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == "testdata" {
					return fs.SkipDir
				}
				return nil
			}
			info, err := d.Info()
			if err == nil && !strings.HasSuffix(path, "_test.go") {
				fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			}
			return err
		})
		if err != nil {
			return "", "", fmt.Errorf("the source of the CUDA runtime is not on this computer (%w); build the runtime where the source is, "+
				"with heddle cuda --build DIR, and copy the contents of DIR beside heddle", err)
		}
	}
	return root, hex.EncodeToString(h.Sum(nil))[:16], nil
}

// hostCompiler returns a C compiler for cgo: the one in CC, otherwise one on the
// path; "" if there is none. Within `make CC="heddle cc" run`, CC is the compiler
// of the program, which is this program itself, and is ignored.
func hostCompiler(cc string) string {
	words := strings.Fields(cc)
	if len(words) > 0 && !slices.Contains([]string{"heddle", "nvcc"}, filepath.Base(words[0])) {
		return cc
	}
	for _, name := range []string{"gcc", "clang", "cc"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// buildLibrary builds the CUDA runtime into a folder.
func buildLibrary(ctx context.Context, root, dir string) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return errors.New("building the CUDA runtime needs the Go toolchain (https://go.dev/dl), but go is not on the path")
	}
	compiler := hostCompiler(os.Getenv("CC"))
	if compiler == "" {
		return errors.New("building the CUDA runtime needs a C compiler, but there is none on the path; on Debian: apt-get install gcc libc6-dev")
	}
	versions := filepath.Join(root, "cmd", "libcudart", "versions.map")
	if strings.ContainsAny(versions, `'",`) {
		return fmt.Errorf("building the CUDA runtime: the folder name %s contains a quote or a comma, which linkers do not accept", root)
	}
	cmd := exec.CommandContext(ctx, tool, "build", "-C", root, "-trimpath", "-buildmode=c-shared", "-pgo", filepath.FromSlash(profile),
		"-ldflags", `-extldflags "-Wl,-soname,`+libraryName+` '-Wl,--version-script=`+versions+`'"`, "-o", filepath.Join(dir, libraryName), "./cmd/libcudart")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CC="+compiler)
	if out, err := cmd.CombinedOutput(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("building the CUDA runtime (go build in %s): %w\n%s", root, err, bytes.TrimSpace(out))
	}
	if err := os.Remove(filepath.Join(dir, "libcudart.so.h")); err != nil && !errors.Is(err, fs.ErrNotExist) { // Go's, for C
		return err
	}
	for _, lib := range sdk.Libraries {
		for _, name := range lib.Files() {
			if name == libraryName {
				continue
			}
			link := filepath.Join(dir, name)
			if to, err := os.Readlink(link); err == nil && to == libraryName {
				continue
			}
			if err := os.Symlink(libraryName, link); err != nil {
				return err
			}
		}
	}
	return nil
}
