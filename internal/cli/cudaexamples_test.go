package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// cudaExample is a program of examples/cuda: how it is compiled and run, and its
// expected output.
type cudaExample struct {
	name    string
	flags   []string // of heddle cc
	strict  bool     // accesses just outside of allocations are faults
	ptx     string   // compiled to PTX separately, and given to the program
	gpu     string   // "": rtx-2060
	exit    int
	out     string   // the program's output; "" is "0 wrong"
	timing  string   // the same for a timing run, if it differs
	errors  []string // texts on standard error, in this order
	threads bool     // results are compared between --threads 1 and 2
}

var cudaExamples = []cudaExample{
	{name: "assert", flags: []string{"-lineinfo"}, exit: 3, out: "the program gets: device-side assert triggered\n", errors: []string{
		"assertion failed: in[i] >= 0", "assert.cu:10", "kernel roots, block (1,0,0), thread (6,0,0)", "the program gets cudaErrorAssert from now on",
	}},
	{name: "constant", threads: true},
	{name: "driver", flags: []string{"-lcuda"}, ptx: "saxpy.cu", threads: true},
	{name: "events"},
	{name: "graphs", threads: true},
	{name: "half"},
	{name: "hashtable", threads: true},
	{name: "heap"},
	{name: "histogram", threads: true},
	{name: "hopper", flags: []string{"-arch=sm_90a", "-O2"}, gpu: "h100-pcie", threads: true},
	{name: "hopper-attention", flags: []string{"-arch=sm_90a", "-O2"}, gpu: "h100-pcie", threads: true},
	{name: "hopper-dependent", flags: []string{"-arch=sm_90", "-O2"}, gpu: "h100-pcie",
		out: "dependent launches take as long as others\n0 wrong\n", timing: "dependent launches take less time than others\n0 wrong\n", threads: true},
	{name: "hopper-stencil", flags: []string{"-arch=sm_90a", "-O2"}, gpu: "h100-pcie", threads: true},
	{name: "managed"},
	{name: "matmul", threads: true},
	{name: "outofbounds", flags: []string{"-lineinfo"}, strict: true, exit: 3, errors: []string{
		`out-of-bounds write of 4 bytes at 0x440000000190: just past the end of buffer "cudaMalloc(400)"`,
		"kernel shift, block (1,0,0), thread (36,0,0)", "at outofbounds.ptx:", "outofbounds.cu:10", "the program gets cudaErrorIllegalAddress from now on",
	}},
	{name: "pipeline", flags: []string{"-arch=sm_80"}, gpu: "rtx-a6000"},
	{name: "printf", out: `block 0, thread  0: hello  0.00 -5000000000 0xff A%
block 0, thread  2: hello  0.67 -5000000000 0xff C%
the host goes on
block 0, thread  0: hello  0.00 -5000000000 0xff A%
block 1, thread  0: hello  0.00 -10000000000 0xff A%
`},
	{name: "rdc", flags: []string{"-rdc=true"}, threads: true},
	{name: "scan", threads: true},
	{name: "stencil"},
	{name: "streams", out: "two streams take as long as one\n0 wrong\n", timing: "two streams take less time than one\n0 wrong\n", threads: true},
	{name: "textures"},
	{name: "threads"},
	{name: "vecadd", threads: true},
	{name: "wmma", flags: []string{"-arch=sm_75"}},
}

// TestCUDAExamples compiles the programs of examples/cuda and runs them in both
// modes; by default a few of them.
func TestCUDAExamples(t *testing.T) {
	root := filepath.Join("..", "..", "examples", "cuda")
	folders, err := filepath.Glob(filepath.Join(root, "*", "*.cu"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		name := filepath.Base(filepath.Dir(f))
		if !slices.ContainsFunc(cudaExamples, func(e cudaExample) bool { return e.name == name }) {
			t.Errorf("no test runs %s", f)
		}
		if !bytes.Contains(readme, []byte("["+name+"]("+name+"/)")) {
			t.Errorf("README.md does not list %s", name)
		}
	}
	env := append(os.Environ(), cudaEnv(t)...)
	for _, e := range cudaExamples {
		if !alltests.On() && !slices.Contains([]string{"vecadd", "driver", "graphs"}, e.name) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(e.name, "hopper") {
				c, err := sdk.FindClang(t.Context())
				if list, _ := c.Architectures(t.Context()); err != nil || !slices.Contains(list, 90) {
					t.Skip("this clang does not know sm_90")
				}
			}
			e.test(t, filepath.Join(root, e.name), env)
		})
	}
}

// build compiles the program, and returns the command that runs it.
func (e *cudaExample) build(t *testing.T, folder string, env []string) []string {
	t.Helper()
	dir := t.TempDir()
	command := []string{filepath.Join(dir, e.name)}
	compile := func(args ...string) {
		t.Helper()
		if out, err := e.command(env, append([]string{"cc"}, args...)).CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("heddle cc: %v\n%s", err, out)
		}
	}
	sources, err := filepath.Glob(filepath.Join(folder, "*.c*"))
	if err != nil {
		t.Fatal(err)
	}
	if e.ptx != "" {
		source, text := filepath.Join(folder, e.ptx), filepath.Join(dir, e.name+".ptx")
		compile("--ptx", source, "-o", text)
		command = append(command, text)
		sources = slices.DeleteFunc(sources, func(s string) bool { return s == source })
	}
	compile(slices.Concat(sources, e.flags, []string{"-o", command[0]})...)
	return command
}

func (e *cudaExample) test(t *testing.T, folder string, env []string) {
	command := e.build(t, folder, env)
	for _, mode := range []string{"functional", "timing"} {
		want := e.out
		if want == "" {
			want = "0 wrong\n"
		}
		if mode == "timing" && e.timing != "" {
			want = e.timing
		}
		first := e.run(t, env, command, mode, "1", want)
		if !e.threads {
			continue
		}
		if second := e.run(t, env, command, mode, "2", want); !bytes.Equal(first, second) {
			t.Errorf("%s: results differ between one and two threads:\n%s\n%s", mode, first, second)
		}
	}
}

// run runs the program and returns its result without the elapsed time.
func (e *cudaExample) run(t *testing.T, env, command []string, mode, threads, want string) []byte {
	t.Helper()
	file := command[0] + ".json"
	gpu := e.gpu
	if gpu == "" {
		gpu = "rtx-2060"
	}
	args := []string{"cuda", "--gpu", gpu, "--mode", mode, "--threads", threads, "--json", file, "--quiet"}
	out, errs, code := e.started(t, env, args, command)
	if code != e.exit || !strings.HasPrefix(out, want) || strings.Count(out, "\n") != strings.Count(want, "\n")+1 {
		t.Errorf("%s: exit code %d, want %d, and it prints\n%swant\n%s%s", mode, code, e.exit, out, want, errs)
	}
	rest := errs
	for _, text := range e.errors {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Errorf("%s: %q is missing or misplaced in\n%s", mode, text, errs)
			break
		}
		rest = after
	}
	b, err := os.ReadFile(file)
	var res report.Run
	if err == nil {
		err = json.Unmarshal(b, &res)
	}
	if err != nil {
		t.Fatal(err)
	}
	faulty := len(e.errors) > 0
	if res.OK == faulty || (res.Error != nil) != faulty || res.ThreadInstructions == 0 || (mode == "timing") != (res.Timing != nil && res.Cycles > 0) {
		t.Errorf("%s: the result is\n%s", mode, b)
	}
	return seconds.ReplaceAll(b, nil)
}

// started runs the program by a call of heddle, and returns what it prints and its exit code.
func (e *cudaExample) started(t *testing.T, env, args, command []string) (out, errs string, code int) {
	t.Helper()
	if e.strict {
		args = append(args, "--strict")
	}
	cmd := e.command(env, slices.Concat(args, []string{"--"}, command))
	var o, r strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &r
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return o.String(), r.String(), code
}

// command returns a call of heddle.
func (e *cudaExample) command(env, args []string) *exec.Cmd {
	cmd := exec.Command("heddle", args...)
	cmd.Env = env
	return cmd
}
