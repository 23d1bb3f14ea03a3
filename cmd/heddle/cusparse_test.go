package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestSparseNonsense calls every function of cuSPARSE with null pointers, with memory of
// the host where the device's belongs, with handles that are none, and with numbers of all
// sizes: each returns a status that has a name, and the program survives.
func TestSparseNonsense(t *testing.T) {
	alltests.Only(t, "calls of cuSPARSE without sense")
	env := append(os.Environ(), cudaEnv(t)...)
	header, err := os.ReadFile(filepath.Join("..", "..", "internal", "work", "cuda", "sdk", "include", "cusparse.h"))
	if err != nil {
		t.Fatal(err)
	}
	functions := regexp.MustCompile(`(?m)^cusparseStatus_t (cusparse\w+)\(([^;]*)\);`).FindAllStringSubmatch(string(header), -1)
	if len(functions) < 100 {
		t.Fatalf("%d functions in cusparse.h", len(functions))
	}
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
				args = append(args, fmt.Sprintf("(%s)(null ? 0 : scratch[%d])", kind, i))
			case kind == "cusparseHandle_t":
				args = append(args, "handle")
			case strings.HasSuffix(kind, "Descr_t") || strings.HasSuffix(kind, "Info_t") || kind == "cudaStream_t":
				args = append(args, fmt.Sprintf("(%s)descr", kind))
			default:
				args = append(args, fmt.Sprintf("(%s)number", kind))
			}
		}
		fmt.Fprintf(&calls, "  check(%q, %s(%s));\n", f[1], f[1], strings.Join(args, ", "))
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "nonsense.cpp"), filepath.Join(dir, "nonsense")
	if err := os.WriteFile(source, []byte(strings.Replace(sparseNonsense, "CALLS", calls.String(), 1)), 0o666); err != nil {
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
	command("cc", "-O0", "-w", source, "-lcusparse", "-o", program)
	out := command("cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", program)
	if want := fmt.Sprintf("%d calls, 0 odd\n", 2*2*3*6*len(functions)); !strings.Contains(out, want) {
		t.Errorf("missing %s: %s", want, out)
	}
}

const sparseNonsense = `#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdio.h>
#include <string.h>

static char scratch[32][4096];
static int calls, odd;

static void check(const char *name, cusparseStatus_t s) {
  calls++;
  if (s >= 0 && s <= CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
    return;
  printf("%s returns %d\n", name, s);
  odd++;
}

static void all(cusparseHandle_t handle, uintptr_t descr, int64_t number, bool null) {
  memset(scratch, 0, sizeof scratch);
CALLS}

int main(void) {
  const int64_t numbers[] = {0, 1, 2, 3, -1, INT32_MAX};
  for (int valid = 0; valid < 2; valid++)
    for (int null = 0; null < 2; null++)
      for (int d = 0; d < 3; d++)
        for (int64_t number : numbers) {
          cusparseHandle_t handle = 0;
          cusparseMatDescr_t matrix;
          cudaDeviceReset(); // after a fault
          cusparseCreate(&handle);
          cusparseCreateMatDescr(&matrix);
          all(valid ? handle : (cusparseHandle_t)77, d == 0 ? 0 : d == 1 ? 77 : (uintptr_t)matrix, number, null);
        }
  printf("%d calls, %d odd\n", calls, odd);
  return 0;
}
`
