package text

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

// recorded returns folders of recorded runs.
func recorded(t *testing.T) []string {
	t.Helper()
	dirs := []string{"testdata/lud", "testdata/backprop", "testdata/bfs"}
	for _, name := range tracetest.Names(t) {
		dirs = append(dirs, tracetest.Folder(t, name))
	}
	return dirs
}

// launches calls f for each launch of the recorded runs.
func launches(t *testing.T, f func(t *testing.T, name string, src trace.Source, text []byte)) {
	for _, dir := range recorded(t) {
		set, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Warnings) > 0 {
			t.Errorf("%s: %v", dir, set.Warnings)
		}
		for _, c := range set.Commands {
			if c.Launch == nil {
				continue
			}
			p := c.Launch.(*source).place
			in, err := openText(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(in)
			in.Close()
			if err != nil {
				t.Fatal(err)
			}
			f(t, filepath.Base(dir)+"/"+c.Text, c.Launch, text)
		}
	}
}

// Recorded launches are unchanged when they are written again. An excerpt has an
// empty line where it was cut; such lines are not kept.
func TestRecordedAgain(t *testing.T) {
	n := 0
	launches(t, func(t *testing.T, name string, src trace.Source, text []byte) {
		k, err := src.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer k.Blocks.Close()
		var b bytes.Buffer
		if err := WriteKernel(&b, k, 0); err != nil {
			t.Fatal(err)
		}
		want := text
		if strings.Contains(name, "lud") {
			want = bytes.Replace(text, []byte("64 \n\n0 0 0 0 2010"), []byte("64 \n0 0 0 0 2010"), 1)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s is not the same when it is written again", name)
		}
		n++
	})
	t.Logf("%d launches", n)
}

var instsLine = regexp.MustCompile(`(?m)^insts = (\d+)$`)

// The counts are those in the files, and files without faults give no warnings.
func TestRecordedCounts(t *testing.T) {
	var total uint64
	launches(t, func(t *testing.T, name string, src trace.Source, text []byte) {
		k, err := src.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer k.Blocks.Close()
		var stated uint64
		for _, m := range instsLine.FindAllSubmatch(text, -1) {
			n, _ := strconv.ParseUint(string(m[1]), 10, 64)
			stated += n
		}
		if k.WarpInsts != stated {
			t.Errorf("%s: %d warp instructions, the file states %d", name, k.WarpInsts, stated)
		}
		if len(k.Warnings) > 0 {
			t.Errorf("%s: %v", name, k.Warnings)
		}
		total += k.WarpInsts
	})
	t.Logf("%d warp instructions", total)
}

// plainRecord is a record as read by the simplest reader.
type plainRecord struct {
	block trace.Dim
	warp  int32
	pc    uint32
	mask  uint32
	op    string
	dsts  string
	srcs  string
	width uint8
	imms  string
	addr  [32]uint64
}

// plainly reads a launch in the simplest way, by the description of the format,
// addresses lane by lane.
func plainly(t *testing.T, text string, version int, lineInfo bool) (list []plainRecord) {
	t.Helper()
	var r plainRecord
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0][0] == '-' || f[0][0] == '#' || f[0] == "insts":
			continue
		case f[0] == "thread":
			fmt.Sscanf(f[3], "%d,%d,%d", &r.block[0], &r.block[1], &r.block[2])
			continue
		case f[0] == "warp":
			fmt.Sscan(f[2], &r.warp)
			continue
		}
		take := func() string { x := f[0]; f = f[1:]; return x }
		if version < 3 {
			f = f[4:]
		}
		if lineInfo {
			take()
		}
		number := func(base int) uint64 {
			x := strings.TrimPrefix(take(), "0x")
			n, err := strconv.ParseUint(x, base, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return n
		}
		r.pc, r.mask, r.addr = uint32(number(16)), uint32(number(16)), [32]uint64{}
		regs := func() string {
			n := number(10)
			s := strings.Join(f[:n], " ")
			f = f[n:]
			return s
		}
		r.dsts = regs()
		r.op = take()
		r.srcs = regs()
		r.width = uint8(number(10))
		if r.width > 0 {
			mode := take()
			var at, step int64
			if mode != "0" {
				at = int64(number(16))
			}
			if mode == "1" {
				step, _ = strconv.ParseInt(take(), 10, 64)
			}
			first := true
			for lane := range 32 {
				if r.mask>>lane&1 == 0 {
					continue
				}
				switch {
				case mode == "0":
					at = int64(number(16))
				case mode == "1" && !first:
					at += step
				case mode == "2" && !first:
					d, err := strconv.ParseInt(take(), 10, 64)
					if err != nil {
						t.Fatal(line, err)
					}
					at += d
				}
				first = false
				r.addr[lane] = uint64(at)
			}
		}
		r.imms = strings.Join(f, " ")
		list = append(list, r)
	}
	return list
}

// flat returns all records of a launch as plainRecords.
func flat(t *testing.T, k *trace.Kernel) (list []plainRecord) {
	t.Helper()
	names := func(regs []trace.Reg) string {
		var s []string
		for _, r := range regs {
			s = append(s, r.String())
		}
		return strings.Join(s, " ")
	}
	for i := range k.Present {
		b, err := k.Blocks.Block(i)
		if err != nil {
			t.Fatal(err)
		}
		if k.Grid.Linear(b.Index) != k.Present[i] {
			t.Fatalf("index %d has block %v, want %v", i, b.Index, k.Grid.At(k.Present[i]))
		}
		for _, w := range b.Warps {
			for _, in := range b.Insts[w.From:w.Upto] {
				st := &k.Code[in.At]
				r := plainRecord{block: b.Index, warp: w.ID, pc: st.PC, mask: uint32(in.Mask), op: st.Op,
					dsts: names(st.Dsts), srcs: names(st.Srcs), width: st.Width}
				if in.Mem >= 0 {
					b.Expand(&b.Mems[in.Mem], in.Mask, &r.addr)
				}
				r.imms = strings.Trim(fmt.Sprint(st.Imms), "[]")
				list = append(list, r)
			}
		}
		k.Blocks.Free(b)
	}
	return list
}

// same compares records and reports the first difference.
func same(t *testing.T, name string, have, want []plainRecord) {
	t.Helper()
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			t.Errorf("%s, record %d:\n have %+v\n want %+v", name, i, have[i], want[i])
			return
		}
	}
	if len(have) != len(want) {
		t.Errorf("%s: %d records, want %d", name, len(have), len(want))
	}
}

// Every record of every recorded launch equals that of the simplest reader, whether
// its blocks were kept or are read again.
func TestRecordedPlainly(t *testing.T) {
	alltests.Only(t, "recorded traces without compression")
	n := 0
	launches(t, func(t *testing.T, name string, src trace.Source, text []byte) {
		var want []plainRecord
		n++
		for i, keep := range []int64{0, 100_000, 1 << 30} {
			if !alltests.On() && i != n%3 {
				continue // another launch keeps that many
			}
			room := &budget{}
			room.left.Store(keep)
			s := *src.(*source)
			s.budget = room
			k, err := s.Open()
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = plainly(t, string(text), k.Version, k.LineInfo)
			}
			same(t, fmt.Sprintf("%s, keeping %d bytes", name, keep), flat(t, k), want)
			k.Blocks.Close()
			if left := room.left.Load(); left != keep {
				t.Errorf("%s: %d of %d bytes came back", name, left, keep)
			}
		}
	})
}

// A folder that is written has the same lists, launches and counts, with any
// compression and in any version.
func TestWriteFolder(t *testing.T) {
	for _, dir := range alltests.Some(recorded(t), 5) {
		list, err := os.ReadFile(filepath.Join(dir, "kernelslist.g"))
		if err != nil {
			t.Fatal(err)
		}
		for _, packing := range []string{"", "gz", "zst", "xz"} {
			if packing != "" && !strings.HasPrefix(dir, "testdata") {
				continue // slow, and no other code than for testdata
			}
			set, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "out")
			var done, total uint64
			if err := Write(to, set, Options{Packing: packing}, func(d, n uint64) {
				if d <= done {
					t.Errorf("%s: progress goes from %d to %d", dir, done, d)
				}
				done, total = d, n
			}); err != nil {
				t.Fatal(err)
			}
			if done != total || total == 0 {
				t.Errorf("%s: progress ends at %d of %d", dir, done, total)
			}
			want := string(list)
			if strings.Contains(dir, "bfs") {
				want = strings.ReplaceAll(want, ".xz", "")
			}
			if packing != "" {
				want = strings.ReplaceAll(want, ".traceg", ".traceg."+packing)
			}
			if have, _ := os.ReadFile(filepath.Join(to, "kernelslist.g")); string(have) != want {
				t.Errorf("%s: the list is\n%s, want\n%s", dir, have, want)
			}
			if was, err := os.ReadFile(filepath.Join(dir, "stats.csv")); err == nil {
				if have, _ := os.ReadFile(filepath.Join(to, "stats.csv")); string(have) != string(was) {
					t.Errorf("%s: stats.csv is\n%s, want\n%s", dir, have, was)
				}
			}
			again, err := Open(to)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range again.Commands {
				was := set.Commands[i]
				if c.Addr != was.Addr || c.Bytes != was.Bytes || (c.Launch == nil) != (was.Launch == nil) {
					t.Fatalf("%s: command %d is %+v, want %+v", dir, i, c, was)
				}
				if c.Launch != nil {
					have, want := mustOpen(t, c.Launch), mustOpen(t, was.Launch)
					same(t, c.Launch.Name(), flat(t, have), flat(t, want))
					have.Blocks.Close()
					want.Blocks.Close()
				}
			}
			if err := Write(to, set, Options{}, nil); err == nil || !strings.Contains(err.Error(), "already holds") {
				t.Errorf("a folder with a list was written to: %v", err)
			}
		}
	}
}

func mustOpen(t testing.TB, src trace.Source) *trace.Kernel {
	t.Helper()
	k, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	return k
}
