package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// readBack returns the names and numbers of a Parquet file as text.
func readBack(t interface{ Fatal(...any) }, file []byte) (names []string, rows [][]string) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	for _, g := range f.RowGroups() {
		r := g.Rows()
		buf := make([]parquet.Row, 7)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				var cells []string
				for _, v := range row {
					if v.Kind() == parquet.Double {
						cells = append(cells, strconv.FormatFloat(v.Double(), 'g', -1, 64))
					} else {
						cells = append(cells, strconv.FormatUint(v.Uint64(), 10))
					}
				}
				rows = append(rows, cells)
			}
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return names, rows
}

// TestReadBack writes random series, in pieces of random sizes, and reads them
// back.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 50).Draw(t, "columns"), rapid.IntRange(0, 40).Draw(t, "rows")
		names := make([]string, width)
		for i := range names {
			names[i] = fmt.Sprintf("z%d.memory.%d", width-i, i) // not in the order of the alphabet
		}
		text := strings.Join(names, ",") + "\n"
		var want [][]string
		for range height {
			cells := make([]string, width)
			for i := range cells {
				cells[i] = strconv.FormatUint(rapid.Uint64().Draw(t, "number"), 10)
				if i%3 == 1 {
					cells[i] = fmt.Sprintf("%.4f", rapid.Float64Range(0, 1e6).Draw(t, "fraction"))
				}
			}
			text += strings.Join(cells, ",") + "\n"
			want = append(want, cells)
		}
		if rapid.Bool().Draw(t, "no final newline") {
			text = strings.TrimSuffix(text, "\n")
		}
		var file bytes.Buffer
		p := NewParquet(&file)
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "piece")
			if _, err := p.Write([]byte(text[:n])); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		gotNames, got := readBack(t, file.Bytes())
		if strings.Join(gotNames, ",") != strings.Join(names, ",") || len(got) != len(want) {
			t.Fatalf("%d rows of %v, want %d of %v", len(got), gotNames, len(want), names)
		}
		for r := range want {
			for c := range want[r] {
				a, err1 := strconv.ParseFloat(got[r][c], 64)
				b, err2 := strconv.ParseFloat(want[r][c], 64)
				if err1 != nil || err2 != nil || a != b || c%3 != 1 && got[r][c] != want[r][c] {
					t.Fatalf("row %d, %s: %s, want %s", r, names[c], got[r][c], want[r][c])
				}
			}
		}
	})
}

// TestManyRows writes more rows than a row group takes.
func TestManyRows(t *testing.T) {
	var file bytes.Buffer
	p := NewParquet(&file)
	fmt.Fprintln(p, "cycle,ipc")
	const n = rowGroup + 5
	for i := range n {
		fmt.Fprintf(p, "%d,%d.5\n", 10*i, i)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	_, rows := readBack(t, file.Bytes())
	if len(rows) != n || rows[n-1][0] != strconv.Itoa(10*(n-1)) || rows[n-1][1] != strconv.Itoa(n-1)+".5" {
		t.Errorf("%d rows, the last %v", len(rows), rows[len(rows)-1])
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestBadSeries: invalid series, and a file that cannot be written.
func TestBadSeries(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a,b\n1,2\n3\n", "line 3 of the series has 1 numbers, but there are 2 names"},
		{"a,b\n1,x\n", `line 2 of the series, b: strconv.ParseUint: parsing "x": invalid syntax`},
		{"a,b\n1,2.5\n1,y\n", `line 3 of the series, b: strconv.ParseFloat: parsing "y": invalid syntax`},
	} {
		p := NewParquet(io.Discard)
		_, err := p.Write([]byte(c.text))
		if err == nil || err.Error() != c.want || p.Close() == nil {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	p := NewParquet(full{})
	_, err := p.Write([]byte("a\n1\n"))
	if err = errors.Join(err, p.Close()); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("%v", err)
	}
}
