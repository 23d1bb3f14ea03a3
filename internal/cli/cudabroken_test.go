package cli

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// launchOnce is a program that launches a kernel and prints the result.
const launchOnce = `#include <cuda_runtime.h>
#include <stdio.h>
__global__ void kernel(int *p) { *p = 42; }
int main() {
  int *d, v = 0;
  cudaError_t memory = cudaMalloc(&d, 4);
  kernel<<<1, 1>>>(d);
  cudaError_t launch = cudaGetLastError(), wait = cudaDeviceSynchronize();
  cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost);
  printf("%s %s %s %d\n", cudaGetErrorName(memory), cudaGetErrorName(launch), cudaGetErrorName(wait), v);
  return 7;
}
`

// TestBrokenPrograms damages the device code in a program's file and runs it: the
// launch fails, the reason is reported, and the rest continues.
func TestBrokenPrograms(t *testing.T) {
	alltests.Only(t, "programs with broken device code")
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	program := filepath.Join(dir, "once")
	if err := os.WriteFile(program+".cu", []byte(launchOnce), 0o666); err != nil {
		t.Fatal(err)
	}
	cc := exec.Command("heddle", "cc", program+".cu", "-o", program)
	cc.Env = env
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	code, wrapper := f.Section(".nv_fatbin"), f.Section(".nvFatBinSegment")
	if code == nil || wrapper == nil {
		t.Fatal("the program has no device code")
	}

	// A block of 16 bytes: magic, version, its own size, the size of what follows.
	// Then an entry: kind, version, its header's size, the size of the text, …
	const entry = 16
	le := binary.LittleEndian
	put := func(at int, n uint32) func([]byte) {
		return func(b []byte) { le.PutUint32(b[at:], n) }
	}
	from := func(at int, fill byte) func([]byte) {
		return func(b []byte) {
			for i := at; i < len(b); i++ {
				b[i] = fill
			}
		}
	}
	const (
		image, none, text = "cudaErrorInvalidKernelImage", "cudaErrorNoKernelImageForDevice", "cudaErrorInvalidPtx"
	)
	body := bytes.IndexByte(whole[code.Offset:code.Offset+code.Size], '{') // of the kernel
	if body < 0 {
		t.Fatal("the text has no kernel")
	}
	cases := []struct {
		name  string
		wrap  bool // the wrapper is broken, not the code
		spoil func(b []byte)
		want  string // the launch's error
		says  string
	}{
		{"whole", false, func([]byte) {}, "cudaSuccess", ""},
		{"other magic", false, put(0, 0x12345678), image, "bad magic number 0x12345678"},
		{"other header", false, put(4, 0x00ff0001), image, "header size 255 is not supported"},
		{"block of 4 GiB", false, put(8, 0xffffffff), image, "bytes of entries"},
		{"block of 1 GiB", false, put(8, 1<<30), image, "truncated"},
		{"block too short", false, put(8, 40), image, "do not hold an entry"},
		{"block of nothing", false, put(8, 0), image, "fat binary"},
		{"machine code", false, put(entry, 0x00010002), none, "no PTX"},
		{"unknown kind", false, put(entry, 0x00010077), none, "no device code"},
		{"entry's header too large", false, put(entry+4, 1<<31), image, "the entry at offset 16"},
		{"entry's header too small", false, put(entry+4, 8), image, "the entry at offset 16"},
		{"text too large", false, put(entry+8, 1<<31), image, "the entry at offset 16"},
		{"for a GPU to come", false, put(entry+28, 999), none, "the program has PTX for sm_999"},
		{"LZ4 that is none", false, put(entry+40, 0x2000), image, "does not unpack"},
		{"zstd that is none", false, put(entry+40, 0x8000), image, "does not unpack"},
		{"no text", false, from(entry+64, 0), text, "once.ptx"},
		{"other text", false, from(entry+64, 'x'), text, "once.ptx"},
		{"half of the text", false, from(body+8, 0), text, "once.ptx"},
		{"wrapper's magic", true, put(0, 0), image, "its wrapper begins with 0x00000000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			broken := slices.Clone(whole)
			section := code
			if c.wrap {
				section = wrapper
			}
			c.spoil(broken[section.Offset : section.Offset+section.Size])
			file := filepath.Join(t.TempDir(), "once")
			if err := os.WriteFile(file, broken, 0o777); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("heddle", "cuda", "--mode", "functional", "--quiet", "--", file)
			cmd.Env = env
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			var exit *exec.ExitError
			value := 0
			if c.want == "cudaSuccess" {
				value = 42
			}
			want := fmt.Sprintf("cudaSuccess %s cudaSuccess %d\n", c.want, value)
			if !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.HasPrefix(out.String(), want) || !strings.Contains(errs.String(), c.says) {
				t.Errorf("%v, want exit code 7 of the program; it prints\n%swant\n%sand says\n%swant %q", err, &out, want, &errs, c.says)
			}
		})
	}
}

// everyEntry is a program that reads function names and calls each function with
// null pointers, and with memory that contains only zeros, in all combinations for
// the first arguments.
const everyEntry = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef long word;
typedef int entry(word, word, word, word, word, word, word, word, word, word, word, word);

static char room[1 << 14];

int main(void) {
  void *lib = dlopen("libcudart.so.12", RTLD_NOW);
  char name[200];
  int names = 0;
  if (!lib) {
    printf("%s\n", dlerror());
    return 1;
  }
  while (scanf("%199s", name) == 1) {
    entry *f = (entry *)dlsym(lib, name);
    if (!f) {
      printf("there is no %s\n", name);
      return 1;
    }
    names++;
    fprintf(stderr, "%s\n", name);
    for (int mask = 0; mask < 128; mask++) {
      word a[12];
      for (int i = 0; i < 12; i++)
        a[i] = mask >> (i < 6 ? i : 6) & 1 ? (word)room : 0;
      memset(room, 0, sizeof room);
      f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    }
  }
  printf("%d names\n", names);
  return 0;
}
`

// TestEveryEntry: no function of the library ends a program that calls it with null
// pointers or invalid handles.
func TestEveryEntry(t *testing.T) {
	alltests.Only(t, "every function of the library with null pointers")
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	program := filepath.Join(dir, "every")
	if err := os.WriteFile(program+".c", []byte(everyEntry), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", program+".c", "-o", program, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(mode, names string) (out, errs string, err error) {
		cmd := exec.Command("heddle", "cuda", "--mode", mode, "--quiet", "--", program)
		cmd.Env = env
		var stdout, stderr strings.Builder
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(names), &stdout, &stderr
		err = cmd.Run()
		return stdout.String(), stderr.String(), err
	}
	if out, errs, err := run("functional", "cudaFree"); err != nil { // builds the library if no test has done so
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	cache, err := cudaCache()
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := filepath.Glob(filepath.Join(cache, "heddle", "cudart-*", libraryName))
	if err != nil || len(libraries) != 1 {
		t.Fatalf("found %v, %v", libraries, err)
	}
	f, err := elf.Open(libraries[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	calls := regexp.MustCompile(`HostFunc|AddCallback|ActivityRegister\w*Callback|cuptiSubscribe$`) // they call their argument
	for _, s := range symbols {
		returns := s.Name == "cudaCreateChannelDesc" // returns more than a number
		if s.Section != elf.SHN_UNDEF && (strings.HasPrefix(s.Name, "cu") || strings.HasPrefix(s.Name, "nv")) && !calls.MatchString(s.Name) && !returns {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 400 {
		t.Errorf("the library has only %d functions", len(names))
	}
	for _, mode := range []string{"functional", "timing"} {
		out, errs, err := run(mode, strings.Join(names, "\n"))
		if err != nil || !strings.HasPrefix(out, fmt.Sprintf("%d names\n", len(names))) {
			t.Errorf("%s: %v\n%s%s", mode, err, out, errs[max(0, len(errs)-4000):])
		}
	}
}
