package tracerun_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/trace/record"
	"github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// toText and toMicro write a recording.
func toText(dir string) func(*trace.Set) error {
	return func(set *trace.Set) error { return text.Write(dir, set, text.Options{Version: 5}, nil) }
}

func toMicro(dir string) func(*trace.Set) error {
	return func(set *trace.Set) error { return micro.Write(dir, set, nil) }
}

// recorded runs a job and records it.
func recorded(t *testing.T, file string, o job.Options, write func(*trace.Set) error) *report.Run {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Timing, o.Record = true, record.New("test", write)
	res, err := ready.Run(context.Background(), o)
	if err != nil || !res.OK {
		t.Fatalf("%s: %v, %+v", file, err, res.Checks)
	}
	if err := o.Record.Finish(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return res
}

// replayedOn replays a trace.
func replayedOn(t *testing.T, dir, gpu, core string) *report.Run {
	t.Helper()
	set, err := open.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := tracerun.Run(context.Background(), set, tracerun.Options{GPU: gpu, Threads: 1, Settings: run.Settings{Core: core}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// count holds the instructions that a launch executed.
type count struct {
	Kernel       string
	Warp, Thread uint64
}

func counts(r *report.Run) (list []count) {
	for _, k := range r.Kernels {
		list = append(list, count{k.Name, k.WarpInstructions, k.ThreadInstructions})
	}
	return list
}

// example returns the job of an example; those of SASS share a folder.
func example(name string) string {
	if !strings.Contains(name, "/") {
		name += "/" + name
	}
	return filepath.Join("..", "..", "..", "examples", name+".toml")
}

// small is the example vecadd with few elements.
func small(t *testing.T) string {
	t.Helper()
	prog, err := filepath.Abs(strings.TrimSuffix(example("vecadd"), ".toml") + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "vecadd.toml")
	const buffer = "[buffers.%s]\ntype = \"f32\"\ncount = 3000\n"
	toml := fmt.Sprintf("program = %q\n"+buffer+buffer+buffer, prog, "a", "b", "c") +
		"[[launches]]\nkernel = \"vecadd\"\ngrid = 12\nblock = 256\nargs = [{ buffer = \"a\" }, { buffer = \"b\" }, { buffer = \"c\" }, { u32 = 3000 }]\n"
	if err := os.WriteFile(file, []byte(toml), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestExamples records runs and reads them again: there are no warnings, the counts
// are those of the run, and so are those of replays on both cores.
func TestExamples(t *testing.T) {
	alltests.Only(t, "examples recorded and replayed")
	for _, name := range alltests.Some([]string{
		"compact", // atomics
		"streams", "sass/histogram",
		"reduction", // shared memory, barriers
		"collatz",   // divergence
		"funcptr", "half2", "sass/vecadd", "sass/collatz",
	}, 3) {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			gpu := "rtx-3070"
			dir := filepath.Join(t.TempDir(), "trace")
			ran := recorded(t, example(name), job.Options{GPU: gpu, Threads: 1}, toText(dir))
			set, err := text.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Warnings) > 0 || set.Form != "Accel-Sim version 5" {
				t.Errorf("%s, warnings %q", set.Form, set.Warnings)
			}
			var read []count
			for _, c := range set.Commands {
				if c.Launch == nil {
					continue
				}
				k, err := c.Launch.Open()
				if err != nil {
					t.Fatal(err)
				}
				if len(k.Warnings) > 0 {
					t.Errorf("warnings %q", k.Warnings)
				}
				if n := uint64(len(k.Present)); n != k.Grid.Count() {
					t.Errorf("%d of %d blocks", n, k.Grid.Count())
				}
				for _, s := range k.Code {
					if len(s.Dsts) > 1 || len(s.Srcs) > 5 {
						t.Errorf("%s: %v ← %v", s.Op, s.Dsts, s.Srcs)
					}
				}
				read = append(read, count{k.Kernel, k.WarpInsts, k.ThreadInsts})
				k.Blocks.Close()
			}
			want := counts(ran)
			if diff := cmp.Diff(want, read); diff != "" {
				t.Errorf("the trace (-run +trace):\n%s", diff)
			}
			for _, core := range []string{"simt", "modern"} {
				r := replayedOn(t, dir, gpu, core)
				if diff := cmp.Diff(want, counts(r)); diff != "" {
					t.Errorf("replay on %s (-run +replay):\n%s", core, diff)
				}
				t.Logf("%s: %d cycles, replay on %s %d", name, ran.Cycles, core, r.Cycles)
			}
			checkStats(t, dir, want)
		})
	}
}

// checkStats checks stats.csv: a line per launch, with its instructions.
func checkStats(t *testing.T, dir string, want []count) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "stats.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Scan()
	n := 0
	for ; s.Scan(); n++ {
		if n < len(want) && !strings.HasSuffix(s.Text(), fmt.Sprintf(" %d,%d", want[n].Warp, want[n].Warp)) {
			t.Errorf("stats.csv has %q for %+v", s.Text(), want[n])
		}
	}
	if n != len(want) {
		t.Errorf("stats.csv has %d launches for %d", n, len(want))
	}
}

// TestAddresses: thread i of vecadd reads element i of two buffers and writes that
// of a third; the list gives their addresses.
func TestAddresses(t *testing.T) {
	for name, file := range map[string]string{"PTX": small(t), "SASS": example("sass/vecadd")} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trace")
			recorded(t, file, job.Options{Threads: 1}, toText(dir))
			set, err := text.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Commands) != 4 {
				t.Fatalf("%d commands", len(set.Commands))
			}
			var base [3]uint64
			for i := range base {
				base[i] = set.Commands[i].Addr
			}
			elements := set.Commands[2].Bytes / 4
			k, err := set.Commands[3].Launch.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer k.Blocks.Close()
			var seen [3]uint64
			for i := range k.Present {
				b, err := k.Blocks.Block(i)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range b.Warps {
					at := 0
					for _, in := range b.Insts[w.From:w.Upto] {
						if in.NMems == 0 {
							continue
						}
						s := &k.Code[in.At]
						if store := strings.HasPrefix(s.Op, "STG"); store != (at == 2) || s.Width != 4 || at > 2 {
							t.Fatalf("access %d is a %s of %d bytes", at, s.Op, s.Width)
						}
						var addr [32]uint64
						b.Expand(&b.Mems[in.Mem], in.Mask, &addr)
						for m := in.Mask; m != 0; m &= m - 1 {
							l := m.First()
							thread := uint64(b.Index[0])*k.Block.Count() + 32*uint64(w.ID) + uint64(l)
							if want := base[at] + 4*thread; addr[l] != want {
								t.Fatalf("block %d, warp %d, lane %d, access %d: %#x, want %#x", i, w.ID, l, at, addr[l], want)
							}
							seen[at]++
						}
						at++
					}
				}
				k.Blocks.Free(b)
			}
			if seen != [3]uint64{elements, elements, elements} {
				t.Errorf("%d accesses for %d elements", seen, elements)
			}
		})
	}
}

// TestControlBits: a SASS run that was recorded with control bits takes the same
// number of cycles when replayed on the modern core. The kernels have one launch
// each: a trace does not contain the address of a program's second kernel.
func TestControlBits(t *testing.T) {
	alltests.Only(t, "control bits taken from disassemblies")
	for _, name := range []string{"sass/vecadd", "sass/reduction", "sass/collatz", "sass/dot", "sass/histogram", "sass/matmul", "sass/transpose", "sass/saxpy"} {
		t.Run(strings.TrimPrefix(name, "sass/"), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trace")
			ran := recorded(t, example(name), job.Options{GPU: "rtx-a6000", Threads: 1}, toMicro(dir))
			r := replayedOn(t, dir, "rtx-a6000", "modern")
			if diff := cmp.Diff(counts(ran), counts(r)); diff != "" {
				t.Errorf("counts (-run +replay):\n%s", diff)
			}
			if r.Cycles != ran.Cycles {
				t.Errorf("%d cycles, want %d as in the run", r.Cycles, ran.Cycles)
			}
		})
	}
}

// TestSame: a trace does not depend on the number of threads, nor on rehearsals
// that warm the caches, and recording does not change the cycles.
func TestSame(t *testing.T) {
	warm := run.Settings{}
	if err := warm.Set("run.caches=warm"); err != nil {
		t.Fatal(err)
	}
	ready, err := job.Load(example("sass/reduction"), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bare, err := ready.Run(context.Background(), job.Options{Timing: true, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	var first map[string]string
	for _, o := range []job.Options{{Threads: 1}, {Threads: 3}, {Threads: 1, Settings: warm}} {
		dir := filepath.Join(t.TempDir(), "trace")
		res := recorded(t, example("sass/reduction"), o, toText(dir))
		if len(o.Settings.Assignments) == 0 && res.Cycles != bare.Cycles {
			t.Errorf("%d cycles, want %d as without recording", res.Cycles, bare.Cycles)
		}
		files := map[string]string{}
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name()] = string(b)
		}
		if first == nil {
			first = files
		}
		for name := range first {
			if files[name] != first[name] || len(files) != len(first) {
				t.Errorf("%d threads: %s differs", o.Threads, name)
			}
		}
	}
}

// TestWriterFails: the run continues when the disk is full, and the error is
// reported.
func TestWriterFails(t *testing.T) {
	full := errors.New("no space left on device")
	for name, write := range map[string]func(*trace.Set) error{
		"at once": func(*trace.Set) error { return full },
		"after a block": func(set *trace.Set) error {
			for _, c := range set.Commands {
				if c.Launch == nil {
					continue
				}
				k, err := c.Launch.Open()
				if err != nil {
					return err
				}
				if _, err := k.Blocks.Block(0); err != nil {
					return err
				}
				return full
			}
			return nil
		},
	} {
		ready, err := job.Load(example("sass/vecadd"), job.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := record.New("test", write)
		res, err := ready.Run(context.Background(), job.Options{Timing: true, Threads: 1, Record: r})
		if err != nil || !res.OK {
			t.Errorf("%s: the run ended with %v", name, err)
		}
		if err := r.Finish(); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCut: a stopped run keeps the launches that completed, and no others.
func TestCut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	ready, err := job.Load(example("sass/chase"), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := record.New("test", toText(dir))
	res, err := ready.Run(context.Background(), job.Options{Timing: true, Threads: 1, MaxInsts: 20_000, Record: r})
	if err == nil || len(res.Kernels) != 2 {
		t.Fatalf("the limit came too late or too soon: %v, %d launches", err, len(res.Kernels))
	}
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	set, err := text.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var launches []string
	for _, c := range set.Commands {
		if c.Launch != nil {
			k, err := c.Launch.Open()
			if err != nil {
				t.Fatal(err)
			}
			launches = append(launches, fmt.Sprint(k.Kernel, " ", k.WarpInsts == res.Kernels[0].WarpInstructions))
			k.Blocks.Close()
		}
	}
	if diff := cmp.Diff([]string{"ring true"}, launches); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "kernel-2.traceg")); err == nil {
		t.Error("a launch that did not complete is present")
	}
}

// TestMasks: lanes whose guard does not hold are active but not in the mask, in the
// format that distinguishes them.
func TestMasks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	recorded(t, example("sass/collatz"), job.Options{Threads: 1}, toMicro(dir))
	set, err := micro.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	apart, partial := 0, 0
	for _, c := range set.Commands {
		if c.Launch == nil {
			continue
		}
		k, err := c.Launch.Open()
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.Present {
			b, err := k.Blocks.Block(i)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range b.Insts {
				if in.Mask&^in.Active != 0 {
					t.Fatalf("lanes %#x of %#x", in.Mask, in.Active)
				}
				guarded := k.Code[in.At].Guard
				if in.Mask != in.Active {
					apart++
					if !guarded.Known || guarded.Reg == 7 && !guarded.Negated {
						t.Fatalf("%s has no guard, lanes %#x of %#x", k.Code[in.At].Op, in.Mask, in.Active)
					}
				}
				if in.Active != isa.FullMask && in.Active != 0 {
					partial++
				}
			}
			k.Blocks.Free(b)
		}
		k.Blocks.Close()
	}
	if apart == 0 || partial == 0 {
		t.Errorf("%d records with lanes that the guard excludes, %d of diverged warps", apart, partial)
	}
}
