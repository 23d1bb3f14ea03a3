package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSymbols: every function of NVIDIA's driver and runtime, by the tables of their names,
// is there; a program finds the form of its release by name; and what the libraries of
// llama.cpp's CUDA backend import, as NVIDIA's compiler of CUDA 13 linked them, is there in
// those versions.
func TestSymbols(t *testing.T) {
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "symbols.c"), filepath.Join(dir, "symbols")
	if err := os.WriteFile(source, []byte(symbolsProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", source, "-ldl", "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	tables := filepath.Join("..", "..", "cmd", "libcudart")
	cmd := exec.Command("heddle", "cuda", "--mode", "functional", "--quiet", program,
		filepath.Join(tables, "driver.txt"), filepath.Join(tables, "runtime.txt"), importer(t, dir))
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "0 missing\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// importer builds a library with the imports of testdata/imports.txt, in the way in which
// linkers do it: with libraries in place of NVIDIA's whose functions have these versions.
func importer(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadFile(filepath.Join("testdata", "imports.txt"))
	if err != nil {
		t.Fatal(err)
	}
	const unversioned = "libcuda.so.1"
	stubs := map[string]string{}
	var declared, used strings.Builder
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, library, ok := strings.Cut(line, "@")
		if !ok {
			library = unversioned
		}
		stubs[library] += "void " + name + "(void) {}\n"
		declared.WriteString("extern void " + name + "(void);\n")
		used.WriteString(name + ", ")
	}
	if len(stubs) < 3 || len(stubs[unversioned]) == 0 {
		t.Fatalf("imports of %d libraries", len(stubs))
	}
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("gcc", append([]string{"-w", "-shared", "-fPIC"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
	}
	to := filepath.Join(dir, "importer.so")
	args := []string{write("importer.c", declared.String()+"void (*imports[])(void) = {"+used.String()+"0};\n"), "-o", to}
	for library, text := range stubs {
		stub := filepath.Join(dir, "stub-"+library)
		flags := []string{write(library+".c", text), "-o", stub, "-Wl,-soname," + library}
		if library != unversioned {
			flags = append(flags, "-Wl,--version-script="+write(library+".map", library+" { global: *; };\n"))
		}
		link(flags...)
		args = append(args, stub)
	}
	link(args...)
	return to
}

const symbolsProgram = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int find_t(const char *, void **, int, unsigned long long, int *);
typedef int entry_t(const char *, void **, unsigned, unsigned long long, int *);

static int missing, lines;
static void *cuda, *cudart;

static void miss(const char *name, const char *what) {
  missing++;
  printf("%s: %s\n", name, what);
}

// read calls f with the name and the release of each line, 0 if it says none.
static void read(const char *path, void (*f)(char *name, int release)) {
  FILE *in = fopen(path, "r");
  char line[256], name[256];
  int major, minor, before = lines;
  if (!in) {
    miss(path, "cannot be read");
    return;
  }
  while (fgets(line, sizeof line, in)) {
    int n = sscanf(line, "%255s %d.%d", name, &major, &minor);
    if (n < 1 || name[0] == '#')
      continue;
    lines++;
    f(name, n == 3 ? 1000 * major + 10 * minor : 0);
  }
  fclose(in);
  if (lines - before < 50)
    miss(path, "has too few names");
}

static void driver(char *name, int release) {
  find_t *find = (find_t *)dlsym(cuda, "cuGetProcAddress_v2");
  entry_t *entry = (entry_t *)dlsym(cudart, "cudaGetDriverEntryPointByVersion");
  void *symbol = dlsym(cuda, name), *got = 0;
  int status;
  size_t n = strlen(name);
  unsigned long long own = n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds"));
  if (!symbol) {
    miss(name, "is not exported");
    return;
  }
  char base[256];
  strcpy(base, name);
  if (own)
    base[n -= 5] = 0;
  if (n > 3 && base[n - 3] == '_' && base[n - 2] == 'v')
    base[n - 3] = 0;
  if (find(base, &got, release ? release : 13020, own ? 2 : 0, &status) || !got || status)
    miss(name, "is not found by name");
  void *same = 0;
  if (entry(base, &same, release ? release : 13020, own ? 2 : 0, &status) || same != got)
    miss(name, "is not found by the runtime");
  if (!release || strcmp(base, "cuGraphInstantiate") == 0 && release >= 12000)
    return;
  if (got != symbol)
    miss(name, "is not what its release finds");
  if (find(base, &got, release - 1, own ? 2 : 0, &status) == 0 && got == symbol)
    miss(name, "is found by an earlier release");
}

static void runtime(char *name, int release) {
  if (!dlsym(cudart, name))
    miss(name, "is not exported");
}

int main(int argc, char **argv) {
  cuda = dlopen("libcuda.so.1", RTLD_NOW);
  cudart = dlopen("libcudart.so.12", RTLD_NOW);
  if (argc != 4 || !cuda || !cudart)
    return 1;
  read(argv[1], driver);
  read(argv[2], runtime);
  if (!dlopen(argv[3], RTLD_NOW))
    miss("the importing library", dlerror());
  printf("%d missing\n", missing);
}
`
