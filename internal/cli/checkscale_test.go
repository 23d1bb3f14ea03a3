package cli

import (
	"bytes"
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

// This file: what checkers find is the same for every number of threads and run, and programs
// may be large.

// ran is what a run of heddle came to.
type ran struct {
	code int
	text string            // standard output and standard error
	file map[string][]byte // what it wrote, by the flag
}

// runHeddle runs heddle in a folder, and reads the files of the flags that are given.
func runHeddle(t *testing.T, env []string, dir string, flags []string, args ...string) ran {
	t.Helper()
	r := ran{file: map[string][]byte{}}
	out := t.TempDir()
	for i, f := range flags {
		args = append(args[:1+2*i:1+2*i], append([]string{f, filepath.Join(out, "f"+f)}, args[1+2*i:]...)...)
	}
	cmd := exec.CommandContext(t.Context(), "heddle", args...)
	cmd.Env, cmd.Dir = env, dir
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r.code, r.text = cmd.ProcessState.ExitCode(), string(text)
	for _, f := range flags {
		b, err := os.ReadFile(filepath.Join(out, "f"+f))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		r.file[f] = b
	}
	return r
}

// sameFindings runs a job or a program with checkers twice, and with 1, 2 and 8 threads.
func sameFindings(t *testing.T, env []string, options, input []string) {
	t.Helper()
	checked, flags := "all", []string{"--keep-going"}
	if i := slices.Index(options, "--checkers"); i >= 0 { // some that do not know of faults
		checked, flags = options[i+1], nil
		options = slices.Delete(slices.Clone(options), i, i+2)
	}
	options = append(flags, options...)
	check := func() ran {
		args := append([]string{"check", "--checkers", checked}, options...)
		return runHeddle(t, env, "", []string{"--json", "--sarif"}, append(args, input...)...)
	}
	one, two := check(), check()
	if one.code != two.code || one.text != two.text || !bytes.Equal(one.file["--json"], two.file["--json"]) || !bytes.Equal(one.file["--sarif"], two.file["--sarif"]) {
		t.Errorf("two runs differ: exit codes %d and %d, texts\n%s\n%s", one.code, two.code, one.text, two.text)
	}
	verb := "run"
	if input[0] == "--" {
		verb = "cuda"
	}
	results := regexp.MustCompile(`"results": \[(?s:.*)`) // the list of rules differs with the command
	want := results.Find(one.file["--sarif"])
	for _, threads := range []string{"1", "2", "8"} {
		args := append([]string{verb, "--mode", "functional", "--check", checked, "--threads", threads}, options...)
		got := results.Find(runHeddle(t, env, "", []string{"--sarif"}, append(args, input...)...).file["--sarif"])
		if len(got) == 0 || !bytes.Equal(got, want) {
			t.Errorf("--threads %s differs:\n%s\nwant\n%s", threads, got, want)
		}
	}
}

// TestSameFindings: text, JSON and SARIF are the same byte for byte.
func TestSameFindings(t *testing.T) {
	for _, name := range alltests.Some([]string{"learn/race", "bfs/bfs", "spinlock/spinlock", "histogram/histogram", "mbarrier/mbarrier", "lookback/lookback"}, 1) {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("../../examples", name+".toml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%v, %v", files, err)
			}
			sameFindings(t, os.Environ(), nil, files[:1])
		})
	}
	t.Run("labelled cases", func(t *testing.T) {
		alltests.Only(t, "five runs of labelled programs")
		env := append(os.Environ(), cudaEnv(t)...)
		files, err := filepath.Glob("testdata/checkers/*.cu")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range alltests.Spread(files, 0, 3) {
			p := readChecked(t, file)
			t.Run(p.name, func(t *testing.T) {
				input := []string{"--", p.build(t, env)}
				for _, c := range p.cases {
					_, name, _ := strings.Cut(c.name, "/")
					input = append(input, name)
				}
				sameFindings(t, env, append(p.options, "--max-cycles", "3000000"), input)
			})
		}
	})
}

// racingLines writes a job of which n lines race with themselves.
func racingLines(t *testing.T, dir string, n int) {
	t.Helper()
	var ptx, cu strings.Builder
	ptx.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\t.reg .b64 %a; .reg .b32 %r;\n\tld.param.u64 %a, [out];\n\tmov.u32 %r, %tid.x;\n")
	for i := range n {
		fmt.Fprintf(&ptx, "\t.loc 1 %d 0\n\tst.global.u32 [%%a+%d], %%r;\n", i+1, 4*i)
		fmt.Fprintf(&cu, "out[%d] = threadIdx.x;\n", i)
	}
	ptx.WriteString("\tret;\n}\n.file 1 \"many.cu\"\n")
	toml := fmt.Sprintf("program = \"many.ptx\"\n[buffers.out]\ntype = \"u32\"\ncount = %d\n[[launches]]\nkernel = \"k\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\nargs = [{ buffer = \"out\" }]\n", n)
	for name, text := range map[string]string{"many.ptx": ptx.String(), "many.cu": cu.String(), "many.toml": toml} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyFindings: each of very many findings is in every output, and a baseline holds them.
func TestManyFindings(t *testing.T) {
	n := alltests.Count(300, 30_000)
	dir := t.TempDir()
	racingLines(t, dir, n)
	r := runHeddle(t, os.Environ(), dir, []string{"--json", "--sarif", "--write-baseline"}, "check", "many.toml")
	if got := bytes.Count(r.file["--json"], []byte(`"rule": "race-global-intrawarp"`)); got != n {
		t.Errorf("%d findings in JSON, want %d", got, n)
	}
	if got, want := bytes.Count(r.file["--sarif"], []byte(`"ruleId": "race-global-intrawarp"`)), min(n, 25_000); got != want {
		t.Errorf("%d findings in SARIF, want %d", got, want)
	}
	baseline := filepath.Join(dir, "known")
	if err := os.WriteFile(baseline, r.file["--write-baseline"], 0o666); err != nil {
		t.Fatal(err)
	}
	if r = runHeddle(t, os.Environ(), dir, nil, "check", "--baseline", baseline, "many.toml"); r.code != 0 || !strings.Contains(r.text, fmt.Sprintf("not reported: %d in the baseline", n)) {
		t.Errorf("exit code %d with the baseline: %s", r.code, r.text)
	}
	if r = runHeddle(t, os.Environ(), dir, nil, "check", "--orders", "2", "many.toml"); r.code != 1 || strings.Count(r.text, "[race-global-intrawarp]") != n {
		t.Errorf("exit code %d, %d findings in two orders, want 1 and %d", r.code, strings.Count(r.text, "[race-global-intrawarp]"), n)
	}
}

// manyOf does something a given number of times.
const manyOf = `
#include <cstdlib>
#include <cstring>
__global__ void k(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = n;
}
int main(int argc, char **argv) {
  int n = atoi(argv[2]), *p[2];
  cudaMalloc(&p[0], 4096); cudaMalloc(&p[1], 4096);
  cudaStream_t s[2]; cudaStreamCreate(&s[0]); cudaStreamCreate(&s[1]);
  if (!strcmp(argv[1], "launches"))
    for (int i = 0; i < n; i++) k<<<1, 32, 0, s[i & 1]>>>(p[i & 1], 32);
  if (!strcmp(argv[1], "threads")) k<<<n / 256, 256>>>(p[0], 1024);
  cudaDeviceSynchronize();
  cudaFree(p[0]); cudaFree(p[1]);
  if (!strcmp(argv[1], "allocations"))
    for (int i = 0; i < n; i++) cudaMalloc(&p[0], 256);
}
`

// TestManyOf: nothing takes more than its share of time and of memory however much of it there
// is. The programs run in seconds.
func TestManyOf(t *testing.T) {
	alltests.Only(t, "programs with very many launches, threads and allocations")
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "many.cu"), []byte(manyOf), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := runHeddle(t, env, dir, nil, "cc", "-g", "many.cu", "-o", "many"); r.code != 0 {
		t.Fatal(r.text)
	}
	for _, c := range []struct{ name, n, want string }{
		{"launches", "100000", "heddle: nothing found"}, // on two streams without order
		{"threads", "8000000", "heddle: nothing found"},
		{"allocations", "30000", "7680000 bytes in 30000 allocations are not freed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "heddle", "check", "--", "./many", c.name, c.n)
			cmd.Env, cmd.Dir = env, dir
			out, _ := cmd.CombinedOutput()
			if !strings.Contains(string(out), c.want) {
				t.Errorf("%s, want %s", out, c.want)
			}
			if used := cmd.ProcessState.UserTime().Seconds(); used > 60 { // 3 s where it was measured
				t.Errorf("it took %.0f s", used)
			}
		})
	}
}

// TestFirstCallHasPlace: the first call of a program without kernels makes the runtime, and has
// its place in the source all the same.
func TestFirstCallHasPlace(t *testing.T) {
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "first.cu"), []byte("int main() {\n  int *p;\n  cudaMalloc(&p, 256);\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := runHeddle(t, env, dir, nil, "cc", "-g", "first.cu", "-o", "first"); r.code != 0 {
		t.Fatal(r.text)
	}
	if r := runHeddle(t, env, dir, nil, "check", "--", "./first"); r.code != 1 || !strings.Contains(r.text, "first.cu:3 in main") {
		t.Errorf("exit code %d: %s", r.code, r.text)
	}
}
