package sdk

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/cache"
)

//go:embed all:include libdevice lib lib64
var files embed.FS

// Major, Minor and Build are the release of CUDA whose nvcc and toolkit the SDK takes the
// place of: the last one before 13, which has no cudaDeviceProp.clockRate and the like.
// The headers repeat it as CUDA_VERSION, which clang reads to choose the version of PTX,
// and CUDART_VERSION.
const Major, Minor, Build = 12, 9, 86

// versionJSON is where build systems find the release.
var versionJSON = fmt.Sprintf(`{"cuda": {"name": "Heddle's headers in place of a CUDA toolkit", "version": "%d.%d.%d"}}`+"\n", Major, Minor, Build)

// SDK is an unpacked folder, made for one compiler.
type SDK struct {
	Dir   string // the folder for --cuda-path
	Clang Clang
}

// Include is the folder of headers.
func (s SDK) Include() string { return filepath.Join(s.Dir, "include") }

// Lib is the folder with the empty libraries that programs are linked to. For build systems, the static runtime is a linker script that refers to the shared
// one, and the device runtime is empty.
func (s SDK) Lib() string { return filepath.Join(s.Dir, "lib64") }

// CUDAFlags are the compiler arguments for using the SDK.
func (s SDK) CUDAFlags() []string {
	flags := []string{"--cuda-path=" + s.Dir, "-Wno-unknown-cuda-version", "--no-cuda-version-check"}
	if s.Clang.Major > 14 {
		// The other driver, the default of newer releases, registers kernels of several
		// files with its own tool instead of functions.
		flags = append(flags, "--no-offload-new-driver")
	}
	return flags
}

// Unpack returns the folder for a compiler, and creates it in the user's cache if
// necessary: headers, a link named nvcc to the program tool, if it is not empty, and the
// compiled libraries. The folder's name is a digest of all this, so different versions coexist, and several
// processes may unpack at once.
func Unpack(ctx context.Context, clang Clang, tool string) (SDK, error) {
	root, err := cache.Root()
	if err != nil {
		return SDK{}, fmt.Errorf("cannot find a place for clang's folder: %w", err)
	}
	return UnpackAt(ctx, root, clang, tool)
}

// UnpackAt is Unpack with another folder than the user's cache.
func UnpackAt(ctx context.Context, root string, clang Clang, tool string) (SDK, error) {
	if tool != "" {
		var err error
		if tool, err = filepath.Abs(tool); err != nil {
			return SDK{}, err
		}
	}
	sum, err := digest(clang.Path, clang.Version, tool)
	if err != nil {
		return SDK{}, err
	}
	dir, err := cache.Folder(ctx, root, "sdk", sum, func(dir string) error {
		if err := write(ctx, dir, clang, tool); err != nil {
			return fmt.Errorf("preparing clang's folder: %w", err)
		}
		return nil
	})
	return SDK{Dir: dir, Clang: clang}, err
}

// digest returns a folder's name, derived from its contents.
func digest(parts ...string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", parts, versionJSON)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		fmt.Fprintf(h, "%q %d ", path, len(b))
		h.Write(b)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

// write fills a folder.
func write(ctx context.Context, dir string, clang Clang, tool string) error {
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "version.json"), []byte(versionJSON), 0o666); err != nil {
		return err
	}
	for _, d := range []string{"bin", "lib64", "nvvm/libdevice"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			return err
		}
	}
	if tool != "" {
		if err := os.Symlink(tool, filepath.Join(dir, "bin", "nvcc")); err != nil {
			return err
		}
	}
	// The math library has device code, the others only names.
	err := compile(ctx, clang, "--target=nvptx64-nvidia-cuda", "-x", "c", "-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno",
		"-nogpulib", "-emit-llvm", "-c", filepath.Join(dir, "libdevice/libdevice.c"), "-o", filepath.Join(dir, "nvvm/libdevice/libdevice.10.bc"))
	if err != nil {
		return err
	}
	for _, lib := range Libraries {
		if err := lib.stub(ctx, clang, dir); err != nil {
			return err
		}
	}
	return nil
}

// compile runs clang and returns its messages.
func compile(ctx context.Context, clang Clang, args ...string) error {
	cmd := exec.CommandContext(ctx, clang.Path, args...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s failed:\n%s", strings.Join(cmd.Args, " "), strings.TrimSpace(string(out)))
	}
	return err
}
