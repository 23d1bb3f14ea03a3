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
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// TestBlasNonsense calls every function of cuBLAS and cuBLASLt with invalid handles and
// numbers of all sizes, and with a valid handle, small numbers, and pointers that are null
// or all the same: each returns a code that has a name, and the program survives.
func TestBlasNonsense(t *testing.T) {
	alltests.Only(t, "calls of cuBLAS without sense")
	env := append(os.Environ(), cudaEnv(t)...)
	clang, err := sdk.FindClang(t.Context())
	if err != nil {
		t.Skip(err)
	}
	include := filepath.Join("..", "..", "internal", "work", "cuda", "sdk", "include")
	var calls strings.Builder
	count := 0
	seen := map[string]bool{"cublasDestroy_v2": true, "cublasLtDestroy": true} // the valid handle stays valid
	for _, header := range []string{"cublas_v2.h", "cublasLt.h"} {
		text, err := exec.Command(clang.Path, "-E", "-P", "-w", "-x", "c", "-I", include, filepath.Join(include, header)).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`cublasStatus_t\s+(cublas\w+)\(([^;{]*)\);`).FindAllStringSubmatch(string(text), -1) {
			if seen[f[1]] {
				continue
			}
			seen[f[1]] = true
			count++
			var args []string
			for i, p := range strings.Split(f[2], ",") {
				if p = strings.TrimSpace(p); p == "void" {
					continue
				}
				if strings.HasSuffix(p, "[]") {
					p = regexp.MustCompile(`(\w+)\[\]$`).ReplaceAllString(p, "*$1")
				}
				kind := strings.TrimSpace(regexp.MustCompile(`\w+$`).ReplaceAllString(p, ""))
				switch {
				case kind == "cublasHandle_t" || kind == "cublasLtHandle_t":
					args = append(args, fmt.Sprintf("(%s)handle", kind))
				case strings.HasSuffix(kind, "*"):
					args = append(args, fmt.Sprintf("(%s)pointer", kind))
				case strings.HasSuffix(kind, "_t") && strings.HasPrefix(kind, "cublasLtMat") && !strings.Contains(kind, "ttribute"):
					args = append(args, fmt.Sprintf("(%s)pointer", kind))
				case strings.HasSuffix(kind, "allback") || strings.HasSuffix(kind, "allback_t") || kind == "cudaStream_t":
					args = append(args, "0")
				default:
					args = append(args, fmt.Sprintf("(%s)(number + %d * step)", kind, i%3))
				}
			}
			fmt.Fprintf(&calls, "  check(%q, %s(%s));\n", f[1], f[1], strings.Join(args, ", "))
		}
	}
	if count < 500 {
		t.Fatalf("the headers declare only %d functions", count)
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "nonsense.cpp"), filepath.Join(dir, "nonsense")
	if err := os.WriteFile(source, []byte(strings.Replace(blasNonsense, "CALLS", calls.String(), 1)), 0o666); err != nil {
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
	command("cc", "-O0", source, "-lcublas", "-lcublasLt", "-o", program)
	out := command("cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", program)
	if want := fmt.Sprintf("%d calls, 0 odd\n", 33*count); !strings.Contains(out, want) {
		t.Errorf("missing %s: %s", want, out)
	}
}

const blasNonsense = `#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int calls, odd;

static void check(const char *name, cublasStatus_t r) {
  calls++;
  if (strncmp(cublasGetStatusName(r), "CUBLAS_", 7) == 0)
    return;
  printf("%s returns %d\n", name, r);
  odd++;
}

static void all(uint64_t handle, int64_t number, int64_t step, void *pointer) {
CALLS}

int main(void) {
  static char scratch[1 << 16];
  for (uint64_t handle : {0ull, 1ull, 77ull, 0x510000000001ull, ~0ull})
    for (int64_t number : {0ll, 1ll, -1ll, (long long)INT32_MAX, (long long)INT64_MIN})
      all(handle, number, 0, scratch);
  // Memory that is full of its own address serves as matrix, vector and list.
  uint64_t *memory;
  cublasHandle_t valid;
  cudaMallocManaged(&memory, 1 << 16);
  cublasCreate(&valid);
  for (int64_t number : {0, 1, -1, 3})
    for (void *pointer : {(void *)0, (void *)memory}) {
      cudaDeviceSynchronize();
      for (int i = 0; i < 1 << 13; i++) memory[i] = (uint64_t)(memory + 4096);
      all((uint64_t)valid, number, number == 3 ? -1 : 0, pointer);
      cublasSetPointerMode(valid, CUBLAS_POINTER_MODE_HOST);
    }
  printf("%d calls, %d odd\n", calls, odd);
  return 0;
}
`
