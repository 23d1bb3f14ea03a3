package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){"heddle": Main, nvcc: Main})
}

// tidy removes shared folders after all tests.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	code := m.M.Run()
	for _, dir := range shared {
		if err := os.RemoveAll(dir); err != nil {
			code = max(code, 1)
		}
	}
	return code
}

// shared are the folders that tests share.
var shared []string

// TestScript runs the scripts under testdata/script: what users type, and what they
// see. Commands in addition to those of testscript:
//
//	exits N PROGRAM ARGS…    runs the program, which must end with exit code N
//	samejson FILE FILE       the results are equal except for their seconds
func TestScript(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			cache, err := testCache()
			e.Setenv("CACHE", cache)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    exits,
			"samejson": sameJSON,
		},
		Condition: condition,
	})
}

// condition implements [all], true if tests run in full, and [installed:FILE].
func condition(name string) (bool, error) {
	if name == "all" {
		return alltests.On(), nil
	}
	file, ok := strings.CutPrefix(name, "installed:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	_, err := os.Stat(file)
	return err == nil, nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

var seconds = regexp.MustCompile(`"seconds": [0-9.e+-]+`)

func sameJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samejson FILE FILE")
	}
	var texts [2]string
	for i, name := range args {
		text := ts.ReadFile(name)
		if len(seconds.FindAllString(text, -1)) != 1 {
			ts.Fatalf("%s: not one field of seconds", name)
		}
		texts[i] = seconds.ReplaceAllString(text, "")
	}
	if texts[0] != texts[1] {
		ts.Fatalf("%s and %s differ:\n%s\n%s", args[0], args[1], texts[0], texts[1])
	}
}

const endless = `.version 7.8
.target sm_80
.address_size 64
.visible .entry once(.param .u64 p)
{
	.reg .b64 %rd<1>;
	ld.param.u64 %rd0, [p];
	st.global.u32 [%rd0], 7;
	ret;
}
.visible .entry spin(.param .u64 p)
{
	.reg .pred %p;
	.reg .b64 %rd<1>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r1, 0;
LOOP:
	add.u32 %r1, %r1, 1; // a loop that only repeats itself ends by itself
	ld.volatile.global.u32 %r0, [%rd0];
	setp.ne.u32 %p, %r0, 0;
	@%p bra LOOP;
	ret;
}
`

const endlessJob = `program = "endless.ptx"
[buffers.a]
type = "u32"
count = 1
[[launches]]
kernel = "once"
grid = 1
block = 1
args = [{ buffer = "a" }]
[[launches]]
kernel = "spin"
grid = 4
block = 32
args = [{ buffer = "a" }]
[[checks]]
buffer = "a"
values = [7]
`

func writeEndless(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"endless.ptx": endless, "endless.toml": endlessJob} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "endless.toml")
}

// An interrupted run ends soon, with the results so far on both outputs.
func TestInterrupt(t *testing.T) {
	file := writeEndless(t)
	for _, threads := range []string{"1", "3"} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		interrupted, interrupt := context.WithCancel(context.Background())
		go func() {
			<-ctx.Done()
			interrupt()
		}()
		out := filepath.Join(t.TempDir(), "out.json")
		var stdout, stderr bytes.Buffer
		start := time.Now()
		code := heddle(env{ctx: interrupted, stdout: &stdout, stderr: &stderr},
			[]string{"run", file, "--mode", "functional", "--threads", threads, "--json", out, "--dump", "a=" + filepath.Join(t.TempDir(), "a.bin")})
		if code != exitInterrupted {
			t.Errorf("exit code %d, want %d; %s", code, exitInterrupted, stderr.String())
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("it took %v to stop", d)
		}
		if !strings.Contains(stdout.String(), "interrupted in") || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("stdout:\n%s\nstderr:\n%s", stdout.String(), stderr.String())
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var res report.Run
		if err := json.Unmarshal(text, &res); err != nil {
			t.Fatal(err)
		}
		if res.OK || res.Error == nil || res.Error.Kind != "interrupted" || len(res.Kernels) != 2 || res.WarpInstructions == 0 || len(res.Checks) != 0 || len(res.Dumps) != 1 {
			t.Errorf("result: %s", text)
		}
	}
}
