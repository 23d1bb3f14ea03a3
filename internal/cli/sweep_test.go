package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// addProgram is a CUDA program that takes a moment.
const addProgram = `
__global__ void add(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += threadIdx.x; }
int main()
{
	int *x;
	cudaMalloc(&x, 1 << 20);
	add<<<1024, 256>>>(x);
	return cudaDeviceSynchronize() != cudaSuccess;
}
`

// A sweep of jobs, a trace and a CUDA program that is killed at random moments goes on: no result
// is made twice, and each is what a single run gives.
func TestSweepKilled(t *testing.T) {
	alltests.Only(t, "a sweep of 32 points that is killed three times")
	for _, v := range cudaEnv(t) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "add.cu"), []byte(addProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	cc := exec.Command("heddle", "cc", "-O2", "add.cu", "-o", "add")
	cc.Dir = dir
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inputs := fmt.Sprintf("%q, %q, %q, { cuda = [\"./add\"] }", root+"/testdata/reference/gpgpusim/vecadd.toml", root+"/examples/learn/reduction.toml", root+"/internal/trace/text/testdata/lud")
	const points = 32
	file := filepath.Join(dir, "sweep.toml")
	text := "inputs = [" + inputs + "]\ngpus = [\"rtx-2060\", \"v100\"]\n[axes]\n\"l2.ways\" = [8, 16]\n\"simt.scheduler\" = [\"lrr\", \"gto\"]\n[set]\ncore = \"simt\"\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	written := map[string]time.Time{} // when each result was
	look := func() {
		t.Helper()
		s, err := store.Existing(filepath.Join(dir, "sweep.store"))
		if err != nil {
			return // killed before there was one
		}
		digests, err := s.Digests()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range digests {
			st, err := os.Stat(s.Path(d))
			if err != nil {
				t.Fatal(err)
			}
			if was, ok := written[d]; ok && !was.Equal(st.ModTime()) {
				t.Errorf("the result of %s was made again", d)
			}
			written[d] = st.ModTime()
		}
	}
	moments := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		cmd := exec.Command("heddle", "sweep", file, "--quiet")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(500+moments.IntN(4000)) * time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Logf("it had ended: %v", err)
		}
		_ = cmd.Wait()
		look()
		t.Logf("%d results after a kill", len(written))
	}
	out, err := exec.Command("heddle", "sweep", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	look()
	if want := fmt.Sprintf("heddle: %d points: ", points); !strings.Contains(string(out), want) || len(written) != points {
		t.Errorf("%d results of %d; the sweep said\n%s", len(written), points, out)
	}
	equalsSingleRuns(t, file, filepath.Join(dir, "sweep.store"))
}

// equalsSingleRuns compares every third result of a store with that of a run of its own.
func equalsSingleRuns(t *testing.T, file, dir string) {
	f, err := sweep.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Points()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Existing(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(list); i += 3 {
		p := list[i]
		r, err := s.Get(p.Digest)
		if err != nil {
			t.Fatal(err)
		}
		single := filepath.Join(t.TempDir(), "single.json")
		cmd := exec.Command("heddle", p.Arguments(single)...)
		cmd.Dir = p.Input.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want, err := os.ReadFile(single)
		if err != nil {
			t.Fatal(err)
		}
		if seconds.ReplaceAllString(string(r.Result), "") != seconds.ReplaceAllString(string(want), "") {
			t.Errorf("%s: the result in the store differs from that of a single run", p)
		}
	}
}

// An interrupt while pages are written is one, not bad usage.
func TestPagesInterrupted(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := pageFlags{HTML: filepath.Join(t.TempDir(), "report.html"), Pages: true}
	err = f.write(env{ctx: ctx}, &sweep.Report{Digests: []string{"00"}}, s, nil)
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitInterrupted {
		t.Errorf("got %v, want the exit code %d", err, exitInterrupted)
	}
}
