package index

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

const result = `{"gpu": "v100", "cycles": 9007199254740993, "rate": 0.1, "name": "x", "memory": {"l2": {"hits": %d}}, "latency": [1, 2], "seconds": 3,
 "per_sm": [{"issued": 1}], "kernels": [{"name": "k", "launch": 0, "stream": 7, "grid": [2, 1, 1], "block": [32, 1, 1], "cycles": 5, "stalls": {"wait": 4},
 "lines": [{"file": "k.ptx", "line": 3, "pc": 1, "function": "k", "instruction": "mov", "text": "mov.u32 a, b", "issues": 2, "warp_cycles": 9}]}],
 "findings": [{"rule": "memory-latency", "launch": 0, "share": 0.5, "seen": "it waits", "try": "less"}]}`

func put(t *testing.T, s *store.Store, n int) *store.Record {
	t.Helper()
	r := &store.Record{Digest: fmt.Sprintf("%032x", n), Input: "job", Code: n % 2, Seconds: 1.5, Peak: 100, Settings: []store.Setting{{Key: "l2.ways", Value: fmt.Sprint(n)}, {Key: "it's \"odd\"", Value: "a'b"}}, Result: fmt.Appendf(nil, result, n)}
	if err := s.Put(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask opens the index, asks and closes it.
func ask(t *testing.T, s *store.Store, query string) *Rows {
	t.Helper()
	x, err := Open(t.Context(), s, func(format string, args ...any) { t.Logf(format, args...) })
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	r, err := x.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTables(t *testing.T) {
	s := newStore(t)
	put(t, s, 1)
	put(t, s, 2)
	for _, c := range []struct{ query, want string }{
		{"SELECT input, gpu, exit_code, \"l2.ways\", \"it's \"\"odd\"\"\", cycles, seconds, peak_bytes FROM points ORDER BY digest", `[[job v100 1 1 a'b 9007199254740993 1.5 100] [job v100 0 2 a'b 9007199254740993 1.5 100]]`},
		{"SELECT launch, name, value FROM counters WHERE digest LIKE '%1' ORDER BY launch, name", `[[-1 cycles 9007199254740993] [-1 latency.0 1] [-1 latency.1 2] [-1 memory.l2.hits 1] [-1 rate 0.1] [0 block.0 32] [0 block.1 1] [0 block.2 1] [0 cycles 5] [0 grid.0 2] [0 grid.1 1] [0 grid.2 1] [0 stalls.wait 4] [0 stream 7]]`},
		{"SELECT launch, name, stream, grid, cycles, warp_instructions FROM launches WHERE digest LIKE '%2'", `[[0 k 7 [2,1,1] 5 <nil>]]`},
		{"SELECT file, line, pc, function, instruction, issues, warp_cycles FROM lines WHERE digest LIKE '%2'", `[[k.ptx 3 1 k mov.u32 a, b 2 9]]`},
		{"SELECT launch, rule, share, seen, try FROM findings WHERE digest LIKE '%2'", `[[0 memory-latency 0.5 it waits less]]`},
		{"SELECT count(*) FROM runs WHERE digest = 'none'", `[[0]]`},
	} {
		t.Run(c.query, func(t *testing.T) {
			if got := fmt.Sprint(ask(t, s, c.query).Cells); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Every form of export has every number of the JSON result.
func TestExports(t *testing.T) {
	s := newStore(t)
	for n := range 5 {
		put(t, s, n)
	}
	rows := ask(t, s, "SELECT digest, launch, name, value FROM counters ORDER BY digest, launch, name")
	if len(rows.Cells) != 5*14 {
		t.Fatalf("%d rows", len(rows.Cells))
	}
	var b bytes.Buffer
	if err := rows.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var want [][]string
	for _, cells := range rows.Cells {
		var line []string
		for _, c := range cells {
			line = append(line, text(c))
		}
		want = append(want, line)
	}
	if diff := cmp.Diff(want, lines[1:]); diff != "" {
		t.Error(diff)
	}

	b.Reset()
	if err := rows.WriteParquet(&b); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, g := range f.RowGroups() {
		in := g.Rows()
		buf := make([]parquet.Row, 7)
		for {
			n, err := in.ReadRows(buf)
			for _, row := range buf[:n] {
				var line []string
				for _, v := range row {
					switch {
					case v.IsNull():
						line = append(line, "")
					case v.Kind() == parquet.Double:
						line = append(line, text(v.Double()))
					default:
						line = append(line, v.String())
					}
				}
				got = append(got, line)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		in.Close()
	}
	for _, line := range want { // in a column of doubles
		if line[3] == "9007199254740993" {
			line[3] = text(float64(9007199254740993))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	b.Reset()
	if err := rows.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(b.Bytes(), &list); err != nil || len(list) != len(want) {
		t.Errorf("%d objects, error %v", len(list), err)
	}
	b.Reset()
	if err := rows.WriteText(&b); err != nil || strings.Count(b.String(), "\n") != 1+len(want) {
		t.Errorf("error %v, text\n%s", err, b.String())
	}
	b.Reset()
	if err := (&Rows{Columns: []string{"max(a, 1)", "-", "say \"x\"", "-"}, Cells: [][]any{{int64(1), "x", nil, 0.5}}}).WriteParquet(&b); err != nil {
		t.Errorf("names of expressions: %v", err)
	}
	b.Reset()
	if err := (&Rows{Columns: []string{"a", "b"}, Cells: [][]any{{nil, nil}, {nil, "x"}}}).WriteParquet(&b); err != nil {
		t.Errorf("a column of nothing: %v", err)
	}
}

// The database follows the store, and is made anew when it is of no use.
func TestUpdates(t *testing.T) {
	count := "SELECT count(*), sum(value) FROM counters WHERE name = 'memory.l2.hits'"
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *store.Store)
		want   string
	}{
		{"nothing", func(*testing.T, *store.Store) {}, "[[2 3]]"},
		{"a new result", func(t *testing.T, s *store.Store) { put(t, s, 3) }, "[[3 6]]"},
		{"a result is removed", func(t *testing.T, s *store.Store) { remove1(t, s.Path(fmt.Sprintf("%032x", 1))) }, "[[1 2]]"},
		{"a new result is damaged", func(t *testing.T, s *store.Store) {
			put(t, s, 3)
			write(t, s.Path(fmt.Sprintf("%032x", 3)), "nonsense")
		}, "[[2 3]]"},
		{"a new result is no JSON", func(t *testing.T, s *store.Store) {
			if err := s.Put(&store.Record{Digest: "abcd", Result: []byte("{")}); err != nil {
				t.Fatal(err)
			}
		}, "[[2 3]]"},
		{"the database is nonsense", func(t *testing.T, s *store.Store) {
			write(t, filepath.Join(s.Dir, file), strings.Repeat("nonsense", 1000))
		}, "[[2 3]]"},
		{"the database is empty", func(t *testing.T, s *store.Store) { write(t, filepath.Join(s.Dir, file), "") }, "[[2 3]]"},
		{"the database is cut", func(t *testing.T, s *store.Store) {
			path := filepath.Join(s.Dir, file)
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, st.Size()/2); err != nil {
				t.Fatal(err)
			}
		}, "[[2 3]]"},
		{"the database is of another version", func(t *testing.T, s *store.Store) {
			change(t, s, "DROP TABLE counters; PRAGMA user_version = 99")
		}, "[[2 3]]"},
		{"a table is missing", func(t *testing.T, s *store.Store) {
			change(t, s, "DROP TABLE settings")
		}, "[[2 3]]"},
		{"the database is a folder", func(t *testing.T, s *store.Store) {
			remove1(t, filepath.Join(s.Dir, file))
			if err := os.MkdirAll(filepath.Join(s.Dir, file, "in"), 0o777); err != nil {
				t.Fatal(err)
			}
		}, "[[2 3]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			put(t, s, 1)
			put(t, s, 2)
			if got := fmt.Sprint(ask(t, s, count).Cells); got != "[[2 3]]" {
				t.Fatalf("before: %s", got)
			}
			c.change(t, s)
			if got := fmt.Sprint(ask(t, s, count).Cells); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// change changes the database itself.
func change(t *testing.T, s *store.Store, statement string) {
	t.Helper()
	db, err := connect(filepath.Join(s.Dir, file), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func remove1(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Several processes may open an index at a time.
func TestTwoReaders(t *testing.T) {
	s := newStore(t)
	for n := range 100 {
		put(t, s, n)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			x, err := Open(t.Context(), s, t.Logf)
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
			if r, err := x.Query(t.Context(), "SELECT count(*) FROM counters"); err != nil || fmt.Sprint(r.Cells) != "[[1400]]" {
				t.Errorf("%v, error %v", r, err)
			}
		})
	}
	all.Wait()
}

func TestQueriesChangeNothing(t *testing.T) {
	s := newStore(t)
	put(t, s, 1)
	x, err := Open(t.Context(), s, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, q := range []string{"DELETE FROM runs", "PRAGMA query_only = 0; DELETE FROM runs", "DROP TABLE runs", "SELEC", "SELECT nothing FROM runs", ""} {
		if r, err := x.Query(t.Context(), q); err == nil && len(r.Columns) > 0 {
			t.Errorf("%q has the answer %v", q, r)
		}
	}
	if got := fmt.Sprint(ask(t, s, "SELECT count(*) FROM runs").Cells); got != "[[1]]" {
		t.Errorf("%s runs are left", got)
	}
}
