package main

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

// TestLibraryNonsense calls every function of libraries with handles that are none, with
// null pointers and others, and with numbers of all sizes: each returns a code of the
// library, and the program survives.
func TestLibraryNonsense(t *testing.T) {
	alltests.Only(t, "calls of libraries without sense")
	env := append(os.Environ(), cudaEnv(t)...)
	for _, lib := range []struct {
		name    string
		headers []string
		result  string   // the type of codes
		handles []string // types of handles that are numbers
		codes   string   // C: whether a code r is the library's
	}{
		{"cufft", []string{"cufft.h", "cufftXt.h"}, "cufftResult", []string{"cufftHandle"}, "r >= 0 && r <= 16"},
		{"curand", []string{"curand.h"}, "curandStatus_t", []string{"curandGenerator_t", "curandDiscreteDistribution_t"}, "r == 0 || r >= 101 && r <= 105 || r >= 201 && r <= 204"},
	} {
		t.Run(lib.name, func(t *testing.T) {
			var includes, calls strings.Builder
			functions := 0
			for _, h := range lib.headers {
				header, err := os.ReadFile(filepath.Join("..", "..", "internal", "work", "cuda", "sdk", "include", h))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&includes, "#include <%s>\n", h)
				for _, f := range regexp.MustCompile(`(?m)^`+lib.result+` \w+ (\w+)\(([^;]*)\);`).FindAllStringSubmatch(string(header), -1) {
					fmt.Fprintf(&calls, "  check(%q, %s(%s));\n", f[1], f[1], nonsenseArguments(f[2], lib.handles))
					functions++
				}
			}
			text := strings.NewReplacer("INCLUDES", includes.String(), "RESULT", lib.result, "CODES", lib.codes, "CALLS", calls.String()).Replace(libraryNonsense)
			dir := t.TempDir()
			source, program := filepath.Join(dir, "nonsense.cpp"), filepath.Join(dir, "nonsense")
			if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"cc", "-O0", source, "-l" + lib.name, "-o", program},
				{"cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", program},
			} {
				cmd := exec.Command("heddle", args...)
				cmd.Env = env
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("heddle %s: %v\n%s", strings.Join(args, " "), err, out)
				}
				if want := fmt.Sprintf("%d calls, 0 odd\n", 80*functions); args[0] == "cuda" && (functions < 20 || !strings.Contains(string(out), want)) {
					t.Errorf("missing %s: %s", want, out)
				}
			}
		})
	}
}

// nonsenseArguments are those of a call of a function with some parameters.
func nonsenseArguments(parameters string, handles []string) string {
	parameter := regexp.MustCompile(`(?s)^\s*(.*?)\s*(\w+)\s*$`)
	var args []string
	for i, p := range strings.Split(parameters, ",") {
		if strings.TrimSpace(p) == "void" {
			continue
		}
		switch kind := parameter.FindStringSubmatch(p)[1]; {
		case strings.HasSuffix(kind, "*"):
			args = append(args, fmt.Sprintf("(%s)(null ? 0 : scratch[%d])", kind, i))
		case slices.Contains(handles, kind):
			args = append(args, fmt.Sprintf("(%s)handle", kind))
		default:
			args = append(args, fmt.Sprintf("(%s)number", kind))
		}
	}
	return strings.Join(args, ", ")
}

const libraryNonsense = `INCLUDES#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char scratch[16][4096];
static int calls, odd;

static void check(const char *name, RESULT r) {
  calls++;
  if (CODES)
    return;
  printf("%s returns %d\n", name, r);
  odd++;
}

static void all(uint64_t handle, uint64_t number, int null) {
  memset(scratch, 0, sizeof scratch);
CALLS}

int main(void) {
  const uint64_t handles[] = {0, 1, 2, 0x7f0000000040, UINT64_MAX};
  const uint64_t numbers[] = {0, 1, 0x29, 0x2a, 64, 101, UINT32_MAX, 1ull << 63};
  for (uint64_t handle : handles)
    for (uint64_t number : numbers)
      for (int null = 0; null < 2; null++) all(handle, number, null);
  printf("%d calls, %d odd\n", calls, odd);
  return 0;
}
`
