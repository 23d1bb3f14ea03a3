package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// The tests of the queue run this program in place of heddle. What it does depends on the point's
// launch latency.
func TestMain(m *testing.M) {
	if os.Getenv("HEDDLE_SWEEP_TEST") != "" {
		os.Exit(fake(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// Launch latencies with a meaning.
const (
	crashes = 9001 + iota
	refused
	checkFails
	sleeps
	hungry
)

func fake(args []string) int {
	var out string
	var n int
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "--json="); ok {
			out = v
		}
		if v, ok := strings.CutPrefix(a, "--progress=file:"); ok {
			if err := os.WriteFile(v, []byte(`{"share": 0.5, "kernel": "k"}`), 0o666); err != nil {
				return 99
			}
		}
		if v, ok := strings.CutPrefix(a, "run.launch_latency="); ok {
			n, _ = strconv.Atoi(v)
		}
	}
	if log := os.Getenv("HEDDLE_SWEEP_LOG"); log != "" {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return 99
		}
		fmt.Fprintln(f, n)
		f.Close()
	}
	code := 0
	switch n {
	case crashes:
		panic("a crash")
	case refused:
		fmt.Fprintln(os.Stderr, "this is not a job")
		return usageCode
	case checkFails:
		code = 1
	case sleeps:
		time.Sleep(time.Minute)
	case hungry:
		b := make([]byte, 150<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		time.Sleep(time.Second)
		fmt.Fprint(os.Stderr, b[4096]) // until here it is in use
	}
	if err := os.WriteFile(out, fmt.Appendf(nil, "{\"cycles\": %d, \"warp_instructions\": %d}", n, 3*n), 0o666); err != nil {
		return 99
	}
	return code
}

// fakeSweep writes a sweep over launch latencies, and makes the queue that runs it with the fake.
func fakeSweep(t *testing.T, dir, list string, limits Limits) (*Queue, []*Point) {
	t.Helper()
	t.Setenv("HEDDLE_SWEEP_TEST", "1")
	if err := os.WriteFile(filepath.Join(dir, "sweep.toml"), []byte("inputs = [\"a.toml\"]\n[axes]\n\"run.launch_latency\" = ["+list+"]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Load(filepath.Join(dir, "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := f.Points()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Queue{Store: s, Heddle: self, Limits: limits, Say: t.Logf}, points
}

// swept runs a sweep over launch latencies with the fake, and returns what the latencies were
// that ran.
func swept(t *testing.T, dir, list string, limits Limits) (State, []*Point, *store.Store, []string, error) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("HEDDLE_SWEEP_LOG", log)
	q, points := fakeSweep(t, dir, list, limits)
	state, err := q.Run(t.Context(), points)
	text, _ := os.ReadFile(log)
	return state, points, q.Store, strings.Fields(string(text)), err
}

func TestQueue(t *testing.T) {
	dir := folder(t, base(""))
	two := Limits{Jobs: 2}
	state, points, s, ran, err := swept(t, dir, "1, 2, 3, 2", two)
	if err != nil || state != (State{All: 4, Done: 4}) || len(ran) != 3 {
		t.Fatalf("%+v, ran %v, error %v; want four points by three runs", state, ran, err)
	}
	r, err := s.Get(points[2].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Result) != `{"cycles": 3, "warp_instructions": 9}` || r.Input != "a" || r.Code != 0 {
		t.Errorf("the record is %+v with %s", r, r.Result)
	}
	t.Run("again", func(t *testing.T) {
		if state, _, _, ran, err := swept(t, dir, "1, 2, 3", two); err != nil || state != (State{All: 3, Kept: 3, Done: 3}) || len(ran) != 0 {
			t.Errorf("%+v, ran %v, error %v; want no run", state, ran, err)
		}
	})
	t.Run("more points", func(t *testing.T) {
		if state, _, _, ran, err := swept(t, dir, "3, 4", two); err != nil || state != (State{All: 2, Kept: 1, Done: 2}) || len(ran) != 1 {
			t.Errorf("%+v, ran %v, error %v; want one run", state, ran, err)
		}
	})
	t.Run("a damaged result", func(t *testing.T) {
		path := s.Path(points[0].Digest)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, broken := range [][]byte{text[:len(text)/2], nil, append([]byte("x"), text...)} {
			if err := os.WriteFile(path, broken, 0o666); err != nil {
				t.Fatal(err)
			}
			if state, _, _, ran, err := swept(t, dir, "1, 2", two); err != nil || state != (State{All: 2, Kept: 1, Done: 2}) || len(ran) != 1 {
				t.Errorf("%+v, ran %v, error %v; want one run", state, ran, err)
			}
		}
	})
	t.Run("two sweeps at a time", func(t *testing.T) {
		other, list, st, _, _ := swept(t, dir, "1", two) // for the store
		_ = other
		unlock, ok, err := st.Lock(list[0].Digest)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if _, ok, err := st.Lock(list[0].Digest); ok || err != nil {
			t.Errorf("a second lock: %t, %v", ok, err)
		}
		unlock()
	})
}

func TestFailures(t *testing.T) {
	for _, c := range alltests.Some([]struct {
		name   string
		value  int
		limits Limits
		want   State
		why    string
	}{
		{"a crash", crashes, Limits{}, State{All: 2, Done: 1, Failed: 1}, "heddle ended with exit code 2"},
		{"bad input", refused, Limits{}, State{All: 2, Done: 1, Failed: 1}, "heddle ended with exit code 2"},
		{"a check that fails is a result", checkFails, Limits{}, State{All: 2, Done: 2, Wrong: 1}, ""},
		{"too long", sleeps, Limits{Time: 2 * time.Second}, State{All: 2, Done: 1, Failed: 1}, "it took longer than the limit of 2s"},
		{"too much memory", hungry, Limits{Memory: 100 << 20}, State{All: 2, Done: 1, Failed: 1}, "it needs more memory than the limit of 100 MiB"},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			c.limits.Jobs = 2
			dir := folder(t, base(""))
			state, points, s, _, err := swept(t, dir, fmt.Sprint(c.value, ", 1"), c.limits)
			if err != nil || state != c.want {
				t.Errorf("%+v, error %v; want %+v", state, err, c.want)
			}
			if c.want.Failed == 0 {
				return
			}
			r, err := s.Failure(points[0].Digest)
			if err != nil {
				t.Fatal(err)
			}
			if r.Why != c.why {
				t.Errorf("the reason is %q (%s), want %q", r.Why, r.Messages, c.why)
			}
			// It is tried again.
			if _, _, _, ran, err := swept(t, dir, fmt.Sprint(c.value, ", 1"), c.limits); err != nil || len(ran) == 0 {
				t.Errorf("again: ran %v, error %v", ran, err)
			}
		})
	}
}

// Points that do not fit beside each other run one after the other.
func TestMemoryOfAll(t *testing.T) {
	dir := folder(t, base(""))
	// Each needs 150 MiB, and is expected to need a third of the limit.
	state, _, _, ran, err := swept(t, dir, fmt.Sprint(hungry, ", 1, 2"), Limits{Jobs: 3, Memory: 220 << 20})
	if err != nil || state != (State{All: 3, Done: 3}) {
		t.Errorf("%+v, ran %v, error %v", state, ran, err)
	}
}

// An interrupted sweep ends what runs, and goes on later.
func TestInterrupt(t *testing.T) {
	q, points := fakeSweep(t, folder(t, base("")), fmt.Sprint("1, ", sleeps), Limits{Jobs: 2})
	ctx, stop := context.WithCancel(t.Context())
	q.Changed = func(x State) {
		if x.Done == 1 {
			stop()
		}
	}
	begin := time.Now()
	state, err := q.Run(ctx, points)
	if !errors.Is(err, context.Canceled) || state.Done != 1 || state.Failed != 0 {
		t.Errorf("%+v, error %v", state, err)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %v to end", d)
	}
	if list, err := q.Store.Digests(); err != nil || len(list) != 1 {
		t.Errorf("results %v, error %v", list, err)
	}
}

// What workers do is known while they do it, and its time is expected from points of the same input.
func TestWorkers(t *testing.T) {
	dir := folder(t, base(""))
	if _, _, _, _, err := swept(t, dir, "1", Limits{Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	q, points := fakeSweep(t, dir, fmt.Sprint("1, 2, ", sleeps), Limits{Jobs: 3})
	q.Watched = true
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		_, _ = q.Run(ctx, points) // it is interrupted
		close(ended)
	}()
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		list := q.Workers()
		i := slices.IndexFunc(list, func(w Worker) bool { return w.Point == points[2] })
		if i >= 0 && list[i].Progress != nil {
			if w := list[i]; len(list) != 2 || w.Progress.Share != 0.5 || w.Progress.Kernel != "k" || w.Expected <= 0 || time.Since(w.Began) <= 0 {
				t.Errorf("%+v of %d workers", w, len(list))
			}
			break
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("after %v, workers are %+v", time.Since(begin), list)
		}
	}
	stop()
	<-ended
}

// A result that cannot be written ends the sweep at once, not after the point that runs by then.
func TestUnwritable(t *testing.T) {
	dir := folder(t, base(""))
	q, points := fakeSweep(t, dir, fmt.Sprint("1, ", sleeps), Limits{Jobs: 1})
	folder := filepath.Dir(q.Store.Path(points[0].Digest))
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), folder); err != nil { // there is no result, and none can be written
		t.Fatal(err)
	}
	begin := time.Now()
	_, err := q.Run(t.Context(), points)
	if err == nil || !strings.HasPrefix(err.Error(), "the store: ") {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %v to end", d)
	}
}

func TestTable(t *testing.T) {
	dir := folder(t, base(""))
	_, points, s, _, err := swept(t, dir, fmt.Sprint("10, 20, ", refused), Limits{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Load(filepath.Join(dir, "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	f.Report = ReportOptions{Baseline: []Setting{{Key: "run.launch_latency", Value: "20"}}}
	table, err := f.Table(points, s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `input  run.launch_latency  cycles  ipc  cycles / baseline
a      10                  10      3    0.500
a      20                  20      3    1.000
no result: a run.launch_latency=9002: heddle ended with exit code 2: this is not a job
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	f.Report.Metrics = []string{"cyclse"}
	if _, err := f.Table(points, s); err == nil || !strings.Contains(err.Error(), `no result has a number called "cyclse"; did you mean "cycles"?`) {
		t.Errorf("an unknown metric: %v", err)
	}
}
