package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/sample"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/trace/record"
	"github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// Any number of points, by hand: HEDDLE_ALL=1 go test ./internal/cli -run TestResume -points 50 -seed 7 -v
var (
	resumePoints = flag.Int("points", 0, "go on from this number of points of each program, whose launches are repeated until it has them (TestResume)")
	resumeSeed   = flag.Uint64("seed", 19, "choose other random points (TestResume)")
)

// resumed is a program whose runs go on from checkpoints.
type resumed struct {
	name   string
	gpu    string
	path   string // in examples, or a folder of a trace
	times  int    // its launches are repeated, so that there are points to go on from
	set    []string
	series uint64
	sample *sample.Options
	record bool // what runs is a trace of it
}

// recorded records a trace of a job, for the run of a program.
func (p *resumed) recorded(t *testing.T, file string) string {
	t.Helper()
	path := t.TempDir()
	o := run.Options{GPU: p.gpu, Timing: true, Threads: 1, Record: record.New("recorded", func(set *trace.Set) error { return text.Write(path, set, text.Options{Version: 5}, nil) })}
	ready, err := job.Load(file, o)
	if err == nil {
		_, err = ready.Run(context.Background(), o)
	}
	if err = errors.Join(err, o.Record.Finish()); err != nil {
		t.Fatal(err)
	}
	return path
}

// repeated writes a copy of an example whose launches come several times.
func repeated(t *testing.T, path string, times int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", filepath.Dir(path)))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, filepath.Base(path))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var launches strings.Builder
	in := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[") {
			in = strings.HasPrefix(line, "[[launches]]") || strings.HasPrefix(line, "[[steps]]")
		}
		if in {
			launches.WriteString(line)
		}
	}
	out := string(text) + "\n" + strings.Repeat(launches.String()+"\n", times-1)
	if err := os.WriteFile(file, []byte(out), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// run runs the program; ck may be nil.
func (p *resumed) run(t *testing.T, file string, ck *run.Checkpoint, threads int) (text, series string, err error) {
	t.Helper()
	var rows bytes.Buffer
	o := run.Options{GPU: p.gpu, Timing: true, Threads: threads, Checkpoint: ck, Sample: p.sample}
	if p.series > 0 {
		o.Series = &run.Series{Every: p.series, Out: &rows}
	}
	for _, s := range p.set {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	var res *report.Run
	if strings.HasSuffix(file, ".toml") {
		ready, lerr := job.Load(file, o)
		if lerr != nil {
			t.Fatal(lerr)
		}
		res, err = ready.Run(context.Background(), o)
	} else {
		set, oerr := open.Open(file)
		if oerr != nil {
			t.Fatal(oerr)
		}
		res, err = tracerun.Run(context.Background(), set, o)
	}
	res.Seconds = 0
	var b bytes.Buffer
	if werr := res.WriteJSON(&b); werr != nil {
		t.Fatal(werr)
	}
	return b.String(), rows.String(), err
}

// differs returns the first lines in which two texts differ.
func differs(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d of %d and %d:\n  %.300s\n  %.300s", i+1, len(a), len(b), a[i], b[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(a), len(b))
}

// file returns what is run: a trace, the program with its launches repeated, or a trace of that.
func (p *resumed) file(t *testing.T) string {
	if !strings.HasSuffix(p.path, ".toml") {
		return p.path
	}
	file := repeated(t, p.path, p.times)
	if p.record {
		return p.recorded(t, file)
	}
	return file
}

// keep runs the program with checkpoints after every launch. It returns what ran, its result, and the checkpoints.
func (p *resumed) keep(t *testing.T) (file, got string, list []string) {
	for {
		file = p.file(t)
		dir := t.TempDir()
		got, _, err := p.run(t, file, &run.Checkpoint{File: filepath.Join(dir, "{launch}"), Every: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(list) == 0 {
			t.Fatalf("no checkpoints: %v", err)
		}
		if len(list) >= *resumePoints || file == p.path {
			return file, got, list
		}
		p.times *= 1 + *resumePoints/len(list)
	}
}

// check runs the program whole, with checkpoints, and on from some of these. All results are equal.
func (p *resumed) check(t *testing.T, rnd *rand.Rand, points int) {
	file, got, list := p.keep(t)
	want, rows, err := p.run(t, file, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("writing checkpoints changes the result: %s", differs(want, got))
	}
	t.Logf("%d of %d points, seed %d", min(points, len(list)), len(list), *resumeSeed)
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for i, ck := range list[:min(points, len(list))] {
		got, again, err := p.run(t, file, &run.Checkpoint{Resume: ck, Every: 1}, 1+i%2)
		if err != nil {
			t.Errorf("from launch %s: %v", filepath.Base(ck), err)
			continue
		}
		if got != want {
			t.Errorf("from launch %s of %d: %s", filepath.Base(ck), len(list), differs(want, got))
		}
		if again != rows {
			t.Errorf("from launch %s: the series: %s", filepath.Base(ck), differs(rows, again))
		}
	}
}

// A run that goes on from a checkpoint has the result of the whole run, byte for byte.
func TestResume(t *testing.T) {
	t.Parallel()
	programs := []resumed{
		{name: "machine code, with a series", gpu: "rtx-2080-ti", path: "sass/saxpy.toml", times: 4, series: 1000},
		{name: "trace", gpu: "rtx-2060", path: filepath.Join("..", "trace", "text", "testdata", "lud")},
		{name: "SIMT core, with a series", gpu: "rtx-2060", path: "scan/scan.toml", times: 4, series: 500},
		{name: "streams, with copies that take time", gpu: "rtx-a6000", path: "streams/streams.toml", times: 3, set: []string{"run.copies=timed"}},
		{name: "histogram", gpu: "h100-pcie", path: "histogram/histogram.toml", times: 6},
		{name: "textures", gpu: "rtx-3070", path: "texture/texture.toml", times: 2},
		{name: "modern core", gpu: "rtx-a6000", path: "reduction/reduction.toml", times: 3},
		{name: "warm caches", gpu: "v100", path: "spmv/spmv.toml", times: 4, set: []string{"run.caches=warm"}},
		{name: "device heap", gpu: "rtx-a6000", path: "heap/heap.toml", times: 4},
		{name: "barriers of the grid", gpu: "rtx-3080", path: "gridsync/gridsync.toml", times: 4},
		{name: "stencil", gpu: "rtx-2080-ti", path: "stencil3d/stencil3d.toml", times: 5},
		{name: "trace of streams", gpu: "rtx-a6000", path: "streams/streams.toml", times: 3, record: true},
		{name: "trace of breadth-first search, with a series", gpu: "rtx-2060", path: "bfs/bfs.toml", times: 1, record: true, series: 10_000},
		{name: "k-means", gpu: "titan-x-pascal", path: "kmeans/kmeans.toml", times: 5, set: []string{"run.caches=flushed"}},
		{name: "sampling", gpu: "rtx-a6000", path: "transpose/transpose.toml", times: 24, sample: &sample.Options{Target: 0.02}},
	}
	points := cmp.Or(*resumePoints, alltests.Count(2, 4))
	for _, p := range alltests.Some(programs, 2) {
		t.Run(p.name, func(t *testing.T) {
			p.check(t, rand.New(rand.NewPCG(*resumeSeed, uint64(len(p.name)))), points)
		})
	}
}
