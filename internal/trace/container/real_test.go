package container

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

// real lists recorded traces, each with the sum of the sizes in bytes of its
// .traceg files after xz 5.4 (-9e).
var real = []struct {
	name string
	xz   int64
}{
	{"jager197-lud-v1-excerpt", 904},
	{"mgpusim-bfs-rodinia-2.0-ft", 345384},
	{"mgpusim-dataset_debug", 59200},
	{"mgpusim-simple-trace-example", 5136},
	{"mgpusim-simtune-ffma-1-32-10", 784},
	{"mgpusim-simtune-ffma-1-32-20", 792},
	{"mgpusim-simtune-ffma-1-32-40", 808},
	{"mgpusim-simtune-ffma-4096-16", 7084},
	{"microgpusim-matrixmul-32-32", 2368},
}

// size writes a set and returns the file and its size in bytes.
func size(t testing.TB, set *trace.Set) (string, int64) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x"+Ending)
	if err := Write(out, set, nil); err != nil {
		t.Fatal(err)
	}
	i, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	return out, i.Size()
}

// Recorded traces are read back unchanged, and take less than half of their size
// under xz.
func TestRecorded(t *testing.T) {
	var ours, theirs int64
	for _, r := range alltests.Some(real, 2) {
		t.Run(r.name, func(t *testing.T) {
			dir := tracetest.Folder(t, r.name)
			set, err := text.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			out, n := size(t, set)
			t.Logf("%d bytes, xz %d: %.1f times", n, r.xz, float64(r.xz)/float64(n))
			if n > r.xz {
				t.Errorf("larger than with xz: %d bytes, %d", n, r.xz)
			}
			if strings.Contains(r.name, "bfs") && float64(n)*1.4 > float64(r.xz) {
				t.Errorf("not 1.4 times smaller than with xz: %d bytes, %d", n, r.xz)
			}
			ours, theirs = ours+n, theirs+r.xz
			got, err := Open(out)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, set, got)
			// A set that was read can be written again: the file is the same.
			again, _ := size(t, got)
			a, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(again)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Error("written again, the file differs")
			}
			// The text equals that of the trace itself.
			from, to := t.TempDir(), t.TempDir()
			if err := text.Write(from, set, text.Options{}, nil); err != nil {
				t.Fatal(err)
			}
			if err := text.Write(to, got, text.Options{}, nil); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, from, to)
			sameFiles(t, to, from)
		})
	}
	if ours*2 > theirs {
		t.Errorf("not half of the size under xz in total: %d bytes, %d", ours, theirs)
	}
}

// sameFiles reports files that another folder lacks, or that differ there.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	list, err := os.ReadDir(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		x, err := os.ReadFile(filepath.Join(a, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if y, err := os.ReadFile(filepath.Join(b, e.Name())); err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v", e.Name(), err)
		}
	}
}
