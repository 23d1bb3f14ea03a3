package cli

import (
	"context"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// TestCUDA runs the scripts under testdata/cuda: CUDA programs from source to
// report; by default one of them. They need clang and a C compiler, and share a
// cache, in which the first of them builds the runtime.
func TestCUDA(t *testing.T) {
	env := cudaEnv(t)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	p := testscript.Params{
		Dir:                 "testdata/cuda",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			e.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds:      map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "samejson": sameJSON},
		Condition: condition,
	}
	if !alltests.On() {
		p.Dir, p.Files = "", []string{"testdata/cuda/vecadd.txtar"}
	}
	testscript.Run(t, p)
}

// cudaEnv returns the environment variables that CUDA programs need beyond those of
// scripts: a cache for this run of the tests, and what go build requires. It skips
// the test if the compilers are not installed.
func cudaEnv(t *testing.T) []string {
	t.Helper()
	alltests.Only(t, "CUDA programs, since building their runtime takes long")
	if _, err := sdk.FindClang(t.Context()); err != nil {
		if os.Getenv("HEDDLE_CLANG") != "" {
			t.Fatal(err) // a compiler that is named explicitly must work
		}
		t.Skip(err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the CUDA runtime needs gcc to be built")
	}
	cache, err := cudaCache()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_CACHE_HOME=" + cache, "HEDDLE_CLANG=" + os.Getenv("HEDDLE_CLANG")}
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		if line != "" {
			env = append(env, names[i]+"="+line)
		}
	}
	return env
}

// testCache is the cache folder of all tests: making clang's folder in it takes seconds.
var testCache = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "heddle-test-")
	if err == nil {
		shared = append(shared, dir)
	}
	return dir, err
})

// cudaCache is testCache with the runtime in it: the message that it is built would be in
// the output of whichever script is first.
var cudaCache = sync.OnceValues(func() (string, error) {
	dir, err := testCache()
	if err == nil {
		_, err = cachedLibrary(context.Background(), filepath.Join(dir, "heddle"), io.Discard)
	}
	return dir, err
})

// TestLibraryNames: the runtime's folder has it under every name that programs of
// other releases look for.
func TestLibraryNames(t *testing.T) {
	alltests.Only(t, "the names of the runtime library")
	alltests.Only(t, "CUDA programs, since building their runtime takes long")
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the CUDA runtime needs gcc to be built")
	}
	root, _, err := librarySource()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := buildLibrary(t.Context(), root, dir); err != nil {
		t.Fatal(err)
	}
	// Every function that the headers declare exists, if only to report that it is
	// not supported, and so do those that compilers call.
	f, err := elf.Open(filepath.Join(dir, libraryName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, s := range symbols {
		has[s.Name] = s.Section != elf.SHN_UNDEF
	}
	versions, err := f.DynamicVersions()
	if err != nil {
		t.Fatal(err)
	}
	clang, err := sdk.FindClang(t.Context())
	if err != nil {
		t.Skip(err)
	}
	source := filepath.Join(root, "internal", "work", "cuda", "sdk")
	for _, lib := range sdk.Libraries {
		for _, name := range lib.Files() {
			if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() < 1<<20 {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, name := range lib.Sonames {
			if !lib.Unversioned && !slices.ContainsFunc(versions, func(v elf.DynamicVersion) bool { return v.Name == name && v.Index > 1 }) {
				t.Errorf("version %s is missing", name)
			}
		}
		names, err := lib.Names(t.Context(), clang, source)
		if err != nil || len(names) < 4 {
			t.Errorf("-l%s has the functions %q, %v", lib.Name, names, err)
		}
		for _, n := range names {
			if !has[n] {
				t.Errorf("programs are linked with %s of -l%s, which is missing", n, lib.Name)
			}
		}
	}
	for _, h := range []struct {
		header, names string
		stub          string // the library that programs are linked with
		least         int
	}{
		{"cuda_runtime_api.h", `(?m)^(?:cudaError_t|struct \w+|const char \*) ?(cuda\w+)\(`, "libcudart.c", 100},
		{"cuda.h", `(?m)^CUresult (cu\w+)\(`, "libcuda.c", 200},
	} {
		header, err := os.ReadFile(filepath.Join(source, "include", h.header))
		if err != nil {
			t.Fatal(err)
		}
		stub, err := os.ReadFile(filepath.Join(source, "lib", h.stub))
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(h.names).FindAllStringSubmatch(string(header), -1)
		if len(names) < h.least {
			t.Errorf("%s declares only %d functions", h.header, len(names))
		}
		for _, n := range names {
			if !strings.Contains(string(stub), "NAME("+n[1]+")") {
				t.Errorf("%s is declared, but %s lacks it", n[1], h.stub)
			}
		}
	}
	for _, n := range []string{
		"__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar",
		"__cudaRegisterTexture", "__cudaRegisterSurface", "__cudaRegisterManagedVar", "__cudaInitModule", "__cudaPushCallConfiguration", "__cudaPopCallConfiguration",
	} {
		if !has[n] {
			t.Errorf("%s is missing", n)
		}
	}
	if so, err := f.DynString(elf.DT_SONAME); err != nil || len(so) != 1 || so[0] != libraryName {
		t.Errorf("its soname is %q, %v", so, err)
	}

	t.Setenv("PATH", dir)
	if err := buildLibrary(t.Context(), root, dir); err == nil || !strings.Contains(err.Error(), "go.dev/dl") {
		t.Errorf("without Go: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/false\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	// In make CC="heddle cc", CC is this program, which cannot compile cgo.
	for _, cc := range []string{"", "heddle cc", "/opt/bin/heddle cc", "nvcc"} {
		t.Setenv("CC", cc)
		if err := buildLibrary(t.Context(), root, dir); err == nil || !strings.Contains(err.Error(), "apt-get install gcc") {
			t.Errorf("without a C compiler, CC=%q: %v", cc, err)
		}
	}
}
