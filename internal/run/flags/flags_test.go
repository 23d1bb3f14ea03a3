package flags_test

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
)

// TestEncode: what one process encodes another decodes, every field of it, and
// files are where they were.
func TestEncode(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	p := flags.Program{
		Flags: flags.Flags{
			GPU: "my.toml", Mode: "functional", Core: "simt", Set: []string{"l2.ways=8", "run.caches=warm"}, JSON: "-", HTML: "page.html", SourceRoot: []string{"src"}, Kernels: "1-3,/a b/", Threads: 3, MaxCycles: 1 << 62,
			Timeline: "way.kanata", Series: "100=a=b.csv", Check: []string{"hazards"}, KeepGoing: true, InitReads: true, Order: "reverse", Coverage: "cov.info", Step: true, AccelSim: true, Record: "rec", RecordForm: "micro", Checkpoint: "a.ck:every=3", Resume: "b.ck", Quiet: true, Progress: "file:live.json", Code: "sass", Sample: "launch", Target: "5%", MemoryFile: "memory",
		},
		PTX: []string{"a.ptx", "b\n.ptx"}, SavePTX: "ptx", Devices: 4, Strict: true, FailOn: true, Result: "/tmp/result", Live: "/tmp/result/live",
	}
	v := reflect.ValueOf(p)
	for _, v := range []reflect.Value{v, v.Field(0)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the field %s is not tested", v.Type().Field(i).Name)
			}
		}
	}
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := flags.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	want := p
	want.GPU, want.Timeline, want.Series, want.Record, want.Progress, want.MemoryFile = at("my.toml"), at("way.kanata"), "100="+at("a=b.csv"), at("rec"), "file:"+at("live.json"), at("memory")
	want.PTX, want.SavePTX = []string{at("a.ptx"), at("b\n.ptx")}, at("ptx")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decoded %+v\nwant %+v", got, want)
	}
	if p.PTX[0] != "a.ptx" {
		t.Errorf("encoding has changed the flags: %q", p.PTX)
	}
}

// TestEncodeNames: a name that JSON cannot hold is refused, and not changed.
func TestEncodeNames(t *testing.T) {
	p := flags.Program{Flags: flags.Flags{Timeline: "way\xff.kanata"}}
	if text, err := p.Encode(); err == nil || !strings.Contains(err.Error(), `way\xff.kanata`) {
		t.Errorf("%s, %v; want the name in an error", text, err)
	}
}

// TestOneWriter: a file that a run is writing is left alone by another, which says
// so; after the end of the run it is written anew.
func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []flags.Flags{{Timeline: filepath.Join(dir, "a.kanata")}, {Series: "10=" + filepath.Join(dir, "a.csv")}} {
		var o run.Options
		first, err := f.Open(&o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := f.Open(&o, nil); err == nil || !strings.Contains(err.Error(), "is being written by another program") {
			t.Errorf("%+v is opened twice: %v, %v", f, second, err)
		}
		if err := first.Finish(io.Discard); err != nil {
			t.Fatal(err)
		}
		again, err := f.Open(&o, nil)
		if err != nil {
			t.Fatalf("after the end: %v", err)
		}
		again.Close()
	}
}

// TestDecode: without the variable the defaults hold; what is wrong in it is said.
func TestDecode(t *testing.T) {
	for _, text := range []string{"", "{}"} {
		p, err := flags.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.Options(run.CUDA)
		if err != nil || !o.Timing || p.Progress != "never" {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`{"Modx": "timing"}`, "Modx"},
		{`{"Threads": "many"}`, "Threads"},
		{`gpu=v100`, "JSON such as"},
	} {
		if _, err := flags.Decode(c.text); err == nil || !strings.Contains(err.Error(), "HEDDLE_RUN: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestOptions: flags that are wrong are refused with words.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(f *flags.Flags)
		want string
	}{
		{"a mode", func(f *flags.Flags) { f.Mode = "fast" }, "--mode=fast is not known"},
		{"a checker", func(f *flags.Flags) { f.Check = []string{"hazrds"} }, `did you mean "hazards"?`},
		{"when to show progress", func(f *flags.Flags) { f.Progress = "often" }, "--progress=often"},
		{"the form of a record", func(f *flags.Flags) { f.RecordForm = "zip" }, "--record-form=zip"},
		{"a timeline's ending", func(f *flags.Flags) { f.Timeline = "x.json" }, "--timeline "},
		{"checkpoints without a number", func(f *flags.Flags) { f.Checkpoint = "a.ck:every=x" }, "want FILE or FILE:every=N"},
		{"checkpoints after no launches", func(f *flags.Flags) { f.Checkpoint = "a.ck:every=0" }, "want FILE or FILE:every=N"},
		{"checkpoints without a file", func(f *flags.Flags) { f.Checkpoint = ":every=2" }, "want FILE or FILE:every=N"},
		{"checkpoints in no folder", func(f *flags.Flags) { f.Checkpoint = "none/a.ck" }, "there is no folder none"},
		{"checkpoints and a page", func(f *flags.Flags) { f.Resume, f.HTML = "a.ck", "x.html" }, "heddle view shows it"},
		{"checkpoints and a timeline", func(f *flags.Flags) { f.Checkpoint, f.Timeline = "a.ck", "x.kanata" }, "--timeline cannot be combined with --checkpoint"},
		{"checkpoints of a functional run", func(f *flags.Flags) { f.Checkpoint, f.Mode = "a.ck", "functional" }, "remove --mode functional"},
		{"a series without cycles", func(f *flags.Flags) { f.Series = "x.csv" }, "want N=FILE.csv"},
		{"a series of no cycles", func(f *flags.Flags) { f.Series = "0=x.csv" }, "want N=FILE.csv"},
		{"a series' ending", func(f *flags.Flags) { f.Series = "1=x.txt" }, ".csv or .parquet"},
		{"threads", func(f *flags.Flags) { f.Threads = -1 }, "--threads is -1"},
		{"launches", func(f *flags.Flags) { f.Kernels = "x" }, "--kernels: "},
		{"a key", func(f *flags.Flags) { f.Set = []string{"l2.wais=8"} }, "-C: "},
		{"a machine", func(f *flags.Flags) { f.GPU = "v10" }, `--gpu: unknown GPU "v10"; did you mean "v100"?`},
		{"a core", func(f *flags.Flags) { f.Core = "modren" }, `--core=modren is not known; did you mean "modern"?`},
		{"cycles in a functional run", func(f *flags.Flags) { f.Mode, f.Series = "functional", "1=x.csv" }, "--series: it shows cycles, but a functional run counts none; remove --mode functional"},
		{"what to sample", func(f *flags.Flags) { f.Sample = "lunch" }, `did you mean "launch"?`},
		{"an error of nothing", func(f *flags.Flags) { f.Sample, f.Target = "launch", "0%" }, "--target-error 0%: want a percentage from 0.1% to 50%"},
		{"an error without a number", func(f *flags.Flags) { f.Sample, f.Target = "launch", "nan" }, "--target-error nan"},
		{"a sample without cycles", func(f *flags.Flags) { f.Sample, f.Mode = "launch", "functional" }, "--sample: it chooses launches whose cycles are counted"},
		{"a sample of what must be whole", func(f *flags.Flags) { f.Sample, f.Timeline = "launch", "x.kanata" }, "--timeline and --sample cannot be combined"},
		{"a sample of steps", func(f *flags.Flags) { f.Sample, f.Step = "launch", true }, "--step and --sample cannot be combined"},
		{"writing twice", func(f *flags.Flags) { f.Step, f.Record = true, "rec" }, "--step and --record cannot be combined: stepping back reruns a job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := flags.Decode("")
			if err != nil {
				t.Fatal(err)
			}
			c.edit(&p.Flags)
			if _, err := p.Options(run.Job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
