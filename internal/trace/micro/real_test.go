package micro

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

// plain is the part of an instruction that both formats have. Functions have other
// numbers, and the disassembly is made up.
func plain(s trace.Static) trace.Static {
	s.Func, s.Text, s.Line = 0, "", 0
	return s
}

// Recorded traces of Accel-Sim survive conversion, done twice: after the second
// conversion nothing differs.
func TestRecorded(t *testing.T) {
	for _, name := range []string{
		"jager197-lud-v1-excerpt", "mgpusim-bfs-rodinia-2.0-ft", "mgpusim-dataset_debug", "mgpusim-simtune-ffma-1-32-10", "microgpusim-matrixmul-32-32",
	} {
		t.Run(name, func(t *testing.T) {
			set, err := text.Open(tracetest.Folder(t, name))
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			once, twice := filepath.Join(root, "once"), filepath.Join(root, "twice")
			if err := Write(once, set, nil); err != nil {
				t.Fatal(err)
			}
			got, err := Open(once)
			if err != nil {
				t.Fatal(err)
			}
			compareSets(t, set, got, plain)
			if err := Write(twice, got, nil); err != nil {
				t.Fatal(err)
			}
			again, err := Open(twice)
			if err != nil {
				t.Fatal(err)
			}
			compareSets(t, got, again, func(s trace.Static) trace.Static { return s })
		})
	}
}

func compareSets(t *testing.T, want, got *trace.Set, as func(trace.Static) trace.Static) {
	t.Helper()
	if len(want.Commands) != len(got.Commands) {
		t.Fatalf("%d commands, want %d", len(got.Commands), len(want.Commands))
	}
	for i, c := range want.Commands {
		d := got.Commands[i]
		if c.Addr != d.Addr || c.Bytes != d.Bytes || (c.Launch == nil) != (d.Launch == nil) {
			t.Fatalf("command %d is %q, want %q", i, d.Text, c.Text)
		}
		if c.Launch == nil {
			continue
		}
		a, err := c.Launch.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Launch.Open()
		if err != nil {
			t.Fatal(err)
		}
		opts := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(trace.Header{}, "NVBit", "Version", "Extra", "LineInfo")}
		if d := cmp.Diff(a.Header, b.Header, opts); d != "" {
			t.Fatal(d)
		}
		if a.WarpInsts != b.WarpInsts || a.ThreadInsts != b.ThreadInsts || !slices.Equal(a.Present, b.Present) {
			t.Fatalf("launch %d: %d and %d instructions, %d blocks; want %d and %d, %d", i, b.WarpInsts, b.ThreadInsts, len(b.Present), a.WarpInsts, a.ThreadInsts, len(a.Present))
		}
		// The order may differ where two instructions have one pc.
		same := map[[2]int32]bool{}
		for n := range a.Present {
			x, err := a.Blocks.Block(n)
			if err != nil {
				t.Fatal(err)
			}
			y, err := b.Blocks.Block(n)
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Insts) != len(y.Insts) || !slices.Equal(x.Warps, y.Warps) {
				t.Fatalf("launch %d, block %d has other warps", i, n)
			}
			for k := range x.Insts {
				p, q := &x.Insts[k], &y.Insts[k]
				if pair := [2]int32{p.At, q.At}; !same[pair] {
					if d := cmp.Diff(as(a.Code[p.At]), as(b.Code[q.At]), opts); d != "" {
						t.Fatal(d)
					}
					same[pair] = true
				}
				if p.Active != q.Active || p.Mask != q.Mask || access(x, p) != access(y, q) {
					t.Fatalf("launch %d, block %d, record %d: %+v %s, want %+v %s", i, n, k, q, access(y, q), p, access(x, p))
				}
			}
			a.Blocks.Free(x)
			b.Blocks.Free(y)
		}
		a.Blocks.Close()
		b.Blocks.Close()
	}
}

// access formats the accesses of a record.
func access(b *trace.Block, in *trace.Inst) string {
	if in.NMems == 0 {
		return ""
	}
	var s strings.Builder
	for k := range in.NMems {
		m := b.Mems[in.Mem+int32(k)]
		fmt.Fprint(&s, m.Mode, m.Base, m.Stride, b.Deltas[m.First:m.First+int32(m.N)], ";")
	}
	return s.String()
}

// BenchmarkRead reads a whole trace: once for its code, once for its blocks.
func BenchmarkRead(b *testing.B) {
	set, err := text.Open(tracetest.Folder(b, "mgpusim-bfs-rodinia-2.0-ft"))
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "traces")
	if err := Write(dir, set, nil); err != nil {
		b.Fatal(err)
	}
	var bytes int64
	if err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if info, e := d.Info(); err == nil && e == nil && !d.IsDir() {
			bytes += info.Size()
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(bytes)
	for b.Loop() {
		if err := readAll(dir); err != nil {
			b.Fatal(err)
		}
	}
}
