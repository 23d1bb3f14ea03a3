package cli

import (
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

// handleTypes are the types of cuda.h that are handles of the library.
var handleTypes = []string{
	"CUcontext", "CUmodule", "CUfunction", "CUarray", "CUmipmappedArray", "CUtexref", "CUsurfref", "CUevent", "CUstream", "CUlinkState",
	"CUlibrary", "CUkernel", "CUgraph", "CUgraphNode", "CUgraphExec", "CUmemoryPool", "CUdeviceptr", "CUtexObject", "CUsurfObject",
}

// TestDriverNonsense calls every function of the driver with invalid handles, with
// numbers of all sizes, and before initialisation: each returns a code that has a
// name, and the program survives.
func TestDriverNonsense(t *testing.T) {
	alltests.Only(t, "calls of the driver without sense")
	env := append(os.Environ(), cudaEnv(t)...)
	header, err := os.ReadFile(filepath.Join("..", "..", "internal", "work", "cuda", "sdk", "include", "cuda.h"))
	if err != nil {
		t.Fatal(err)
	}
	functions := regexp.MustCompile(`(?m)^CUresult (cu\w+)\(([^;]*)\);`).FindAllStringSubmatch(string(header), -1)
	parameter := regexp.MustCompile(`(?s)^\s*(.*?)\s*(\w+)\s*$`)
	var calls strings.Builder
	for _, f := range functions {
		var args []string
		for i, p := range strings.Split(f[2], ",") {
			if strings.TrimSpace(p) == "void" {
				continue
			}
			kind := parameter.FindStringSubmatch(p)[1]
			switch {
			case strings.HasSuffix(kind, "*"):
				args = append(args, fmt.Sprintf("(%s)scratch[%d]", kind, i))
			case slices.Contains(handleTypes, kind):
				args = append(args, fmt.Sprintf("(%s)handle", kind))
			case kind == "CUhostFn" || kind == "CUstreamCallback" || kind == "CUoccupancyB2DSize":
				args = append(args, "0")
			default:
				args = append(args, fmt.Sprintf("(%s)number", kind))
			}
		}
		fmt.Fprintf(&calls, "  check(%q, %s(%s));\n", f[1], f[1], strings.Join(args, ", "))
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "nonsense.cpp"), filepath.Join(dir, "nonsense")
	text := strings.Replace(nonsense, "CALLS", calls.String(), 1)
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("heddle", args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("heddle %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("cc", "-O0", source, "-lcuda", "-o", program)
	out := command("cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", program)
	if want := fmt.Sprintf("%d calls, 0 odd\n", 91*len(functions)); !strings.Contains(out, want) {
		t.Errorf("missing %s: %s", want, out)
	}
}

const nonsense = `#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char scratch[16][4096];
static int calls, odd;

static void check(const char *name, CUresult r) {
  const char *text;
  calls++;
  if (cuGetErrorName(r, &text) == CUDA_SUCCESS)
    return;
  printf("%s returns %d\n", name, r);
  odd++;
}

static void all(uint64_t handle, uint64_t number) {
  memset(scratch, 0, sizeof scratch);
CALLS}

int main(void) {
  const uint64_t handles[] = {0, 1, 2, 3, 77, 0x440000000000, 0x53ffffffffff, 0x3fffffffffff, 0x43ffffffffff, 0x540000000010, 0x540000000020, 0x540000000040,
                              0x540000000800, UINT64_MAX, INT64_MAX};
  const uint64_t numbers[] = {0, 1, 3, 64, UINT32_MAX, 1ull << 63};
  all(0, 1); // not initialised; this initialises, as flags have no effect
  for (uint64_t handle : handles)
    for (uint64_t number : numbers) {
      CUcontext ctx;
      cuInit(0);
      cuCtxCreate(&ctx, 0, 0);
      all(handle, number);
    }
  printf("%d calls, %d odd\n", calls, odd);
  return 0;
}
`
