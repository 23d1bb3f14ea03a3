package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestCUDADebugger: a program runs under gdb as it does without: breakpoints,
// stacks, faults of the host's code, its output, and the report.
func TestCUDADebugger(t *testing.T) {
	alltests.Only(t, "gdb on a CUDA program")
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("gdb is not installed")
	}
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "app.cu"), filepath.Join(dir, "app")
	const text = `#include <stdio.h>
__global__ void one(int *p) { *p = 1; }
int main(int argc, char **argv) {
  int *d, x;
  cudaMalloc(&d, 4);
  one<<<1, 1>>>(d);
  cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost);
  printf("x is %d\n", x);
  fflush(stdout);
  if (argc > 1)
    *(volatile int *)8 = x;
  return 3;
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("heddle", "cc", "-g", "-O0", source, "-o", program)
	compile.Env = env
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	debug := func(args ...string) []byte {
		cmd := exec.Command("heddle", append([]string{"cuda", "--mode", "functional", "--", "gdb", "-q", "-batch"}, args...)...)
		cmd.Env = env
		out, _ := cmd.CombinedOutput() // gdb's exit code is its own
		if bytes.Contains(out, []byte("ptrace")) {
			t.Skipf("gdb may not run programs here: %s", out)
		}
		return out
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-ex", "break main", "-ex", "run", "-ex", "bt", "-ex", "continue", "--args", program},
			`(?s)Breakpoint 1, main .*#0 +main .*x is 1\n.*exited with code 03.*  0  one `},
		{[]string{"-ex", "run", "-ex", "bt", "-ex", "continue", "--args", program, "fault"},
			`(?s)x is 1\n.*SIGSEGV.*#0 .* main .*  0  one .*ended by signal 11 `},
	} {
		if out := debug(c.args...); !regexp.MustCompile(c.want).Match(out) {
			t.Errorf("gdb %q says\n%s", c.args, out)
		}
	}
}
