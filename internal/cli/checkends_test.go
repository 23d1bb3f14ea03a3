package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// ends is a program with a race, which then ends in some way.
const ends = `
#include <cstdlib>
#include <cstring>
#include <new>
#include <csignal>
#include <unistd.h>
#include <sys/wait.h>
__global__ void race(int *p) { p[0] = threadIdx.x; }
__global__ void counts(volatile int *p) { for (int i = 0; i >= 0; i = (i + 1) & 0x7fffffff) p[1] = i; }
int main(int argc, char **argv) {
  int *p;
  cudaMalloc(&p, 1024);
  race<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  auto is = [&](const char *how) { return !strcmp(argv[1], how); };
  if (is("segv")) *(volatile int *)8 = 1;
  if (is("abort")) abort();
  if (is("throw")) throw 1;
  if (is("exit")) exit(5);
  if (is("_exit")) _exit(5);
  if (is("quick_exit")) quick_exit(5);
  if (is("terminated")) raise(SIGTERM);
  if (is("interrupted")) raise(SIGINT);
  if (is("killed")) raise(SIGKILL);
  if (is("fork")) { if (fork() == 0) _exit(0); wait(0); }
  if (is("fork and exit")) { if (fork() == 0) exit(0); wait(0); }
  if (is("fork and exec")) { if (fork() == 0) { execl("/bin/true", "true", nullptr); _exit(1); } wait(0); }
  if (is("host memory")) *(new char[1ull << 46]) = 1;
  if (is("device memory")) { void *q; cudaMalloc(&q, 1ull << 45); }
  if (is("loop")) { counts<<<1, 1>>>(p); cudaDeviceSynchronize(); }
  cudaFree(p);
  return 0;
}
`

// TestCheckEnds: however a program ends, what was found until then is reported once, in each file
// that can be written; only one that is killed leaves nothing.
func TestCheckEnds(t *testing.T) {
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ends.cu"), []byte(ends), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := runHeddle(t, env, dir, nil, "cc", "-g", "ends.cu", "-o", "ends"); r.code != 0 {
		t.Fatal(r.text)
	}
	ways := []string{"segv", "_exit", "fork", "loop", "return", "abort", "throw", "exit", "quick_exit", "terminated", "interrupted", "fork and exit", "fork and exec", "host memory", "device memory"}
	for _, how := range alltests.Some(ways, 4) {
		t.Run(how, func(t *testing.T) {
			r := runHeddle(t, env, dir, []string{"--json", "--sarif"}, "check", "--checkers", "races", "--max-cycles", "100000", "--", "./ends", how)
			const rule = "race-global-intrawarp"
			if n := strings.Count(r.text, "["+rule+"]"); r.code != 1 || n != 1 || strings.Count(string(r.file["--json"]), `"rule": "`+rule) != 1 || strings.Count(string(r.file["--sarif"]), `"ruleId": "`+rule) != 1 {
				t.Errorf("exit code %d, reported %d times; want 1 and once: %s", r.code, n, r.text)
			}
		})
	}
	t.Run("killed", func(t *testing.T) {
		if r := runHeddle(t, env, dir, nil, "check", "--checkers", "races", "--", "./ends", "killed"); r.code != 2 || !strings.Contains(r.text, "nothing was checked") {
			t.Errorf("exit code %d: %s", r.code, r.text)
		}
	})
}

// TestCheckFiles: a file that cannot be written, or read, is named, and keeps no other from being
// written. What cannot be opened is found before the run.
func TestCheckFiles(t *testing.T) {
	dir := t.TempDir()
	racingLines(t, dir, 3)
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("{\"version\": [1,"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--json", "--sarif", "--coverage", "--write-baseline", "--html"} {
		for file, runs := range map[string]bool{"absent/x": false, "/dev/full": true} {
			t.Run(fmt.Sprint(flag, " ", file), func(t *testing.T) {
				other := "--json"
				if flag == other {
					other = "--sarif"
				}
				at := filepath.Join(t.TempDir(), "other")
				r := runHeddle(t, os.Environ(), dir, nil, "check", flag, file, other, at, "many.toml")
				if r.code != 2 || !strings.Contains(r.text, flag+": ") || strings.Contains(r.text, "found 3 errors") != runs {
					t.Errorf("exit code %d: %s", r.code, r.text)
				}
				if b, _ := os.ReadFile(at); strings.Contains(string(b), "race-global-intrawarp") != runs {
					t.Errorf("%s has %d bytes", other, len(b))
				}
			})
		}
	}
	for _, flag := range []string{"--baseline", "--allow"} {
		t.Run(flag+" broken", func(t *testing.T) {
			if r := runHeddle(t, os.Environ(), dir, nil, "check", flag, "broken", "many.toml"); r.code != 2 || !strings.Contains(r.text, flag+": ") {
				t.Errorf("exit code %d: %s", r.code, r.text)
			}
		})
	}
}
