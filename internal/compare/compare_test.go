package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rowsOfText makes a table from rows in the form "name #launch value"; the launch
// is optional.
func rowsOfText(t *testing.T, side string, rows ...string) *Table {
	t.Helper()
	table := &Table{Side: side, Files: []string{side + ".csv"}, What: "table", Metric: "cycles"}
	for i, text := range rows {
		f := strings.Fields(text)
		r := Row{Name: f[0], Group: identifier(f[0]), Launch: -1, File: side + ".csv", Line: i + 2}
		if f[0] == "-" {
			r.Name, r.Group = "", ""
		}
		var err error
		if len(f) == 3 {
			if r.Launch, err = strconv.Atoi(f[1][1:]); err != nil {
				t.Fatal(err)
			}
		}
		if r.Value, err = strconv.ParseFloat(f[len(f)-1], 64); err != nil {
			t.Fatal(err)
		}
		table.Rows = append(table.Rows, r)
	}
	return table
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name         string
		how          string
		a, b         []string
		want         []string // name in A, value of A, value of B
		onlyA, onlyB []string
	}{
		{"names", ByName, []string{"f 1", "g 2"}, []string{"g 20", "f 10"}, []string{"f 1 10", "g 2 20"}, nil, nil},
		{"the n-th launch of a name with the n-th", ByName, []string{"f 1", "g 2", "f 3", "f 4"}, []string{"f 10", "f 30", "g 20"},
			[]string{"f 1 10", "g 2 20", "f 3 30"}, []string{"f"}, nil},
		{"rows without a partner", ByName, []string{"f 1", "h 2"}, []string{"f 10", "k 5"}, []string{"f 1 10"}, []string{"h"}, []string{"k"}},
		{"mangled names with plain ones", ByName, []string{"vecadd(float*,int) 1", "vecadd(float*,int) 2"}, []string{"_Z6vecaddPfi 10", "_Z6vecaddPfi 20"},
			[]string{"vecadd(float*,int) 1 10", "vecadd(float*,int) 2 20"}, nil, nil},
		{"two functions of one identifier are not guessed at", ByName, []string{"f 1", "gemm<float>(float*) 1"}, []string{"f 10", "_Z4gemmIfEvPT_ 10", "_Z4gemmIdEvPT_ 20"},
			[]string{"f 1 10"}, []string{"gemm<float>(float*)"}, []string{"_Z4gemmIfEvPT_", "_Z4gemmIdEvPT_"}},
		{"the exact name goes before the identifier", ByName, []string{"_Z1fi 1", "f 2"}, []string{"f 20", "_Z1fi 10"}, []string{"_Z1fi 1 10", "f 2 20"}, nil, nil},
		{"one row on each side, one without a name", ByName, []string{"- 5827"}, []string{"nn 6000"}, []string{" 5827 6000"}, nil, nil},
		{"order", ByOrder, []string{"f 1", "g 2", "h 3"}, []string{"x 10", "y 20"}, []string{"f 1 10", "g 2 20"}, []string{"h"}, nil},
		{"launch numbers", ByLaunch, []string{"f #3 1", "f #1 2"}, []string{"f #1 20", "g #2 5", "f #3 10"}, []string{"f 1 10", "f 2 20"}, nil, []string{"g"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Compare(rowsOfText(t, "a", tt.a...), rowsOfText(t, "b", tt.b...), Kernels, tt.how, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got, onlyA, onlyB []string
			for _, p := range c.Pairs {
				got = append(got, fmt.Sprintf("%s %g %g", p.A.Name, p.A.Value, p.B.Value))
			}
			for _, r := range c.OnlyA {
				onlyA = append(onlyA, r.Name)
			}
			for _, r := range c.OnlyB {
				onlyB = append(onlyB, r.Name)
			}
			if diff := cmp.Diff([][]string{tt.want, tt.onlyA, tt.onlyB}, [][]string{got, onlyA, onlyB}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNothingToCompare(t *testing.T) {
	for _, tt := range []struct {
		name  string
		how   string
		a, b  []string
		least float64
		want  string
	}{
		{"no name on both sides", ByName, []string{"f 1"}, []string{"g 1", "h 1"}, 0, "no name is on both sides: A has f, B has g, and 1 more row; --match order"},
		{"no rows", ByName, nil, []string{"g 1"}, 0, "a.csv: there are no rows to compare; does --where leave any?"},
		{"no names", ByName, []string{"- 1", "- 2"}, []string{"g 1"}, 0, "a.csv:2: the row has no name; select the columns that make it with --name"},
		{"no launch numbers", ByLaunch, []string{"f 1"}, []string{"f #1 1"}, 0, "a.csv:2: the row has no launch number"},
		{"a launch twice", ByLaunch, []string{"f #1 1"}, []string{"f #1 1", "f #1 1"}, 0, "b.csv:3: launch 1 occurs twice"},
		{"other launches", ByLaunch, []string{"f #1 1"}, []string{"f #0 1"}, 0, "no launch number is on both sides: A begins with 1, B with 0"},
		{"all too small", ByName, []string{"f 1"}, []string{"f 1"}, 10, "none of 1 pair has a reference of at least --min-cycles 10"},
		{"all references 0", ByName, []string{"f 0"}, []string{"f 1"}, 0, "none of 1 pair has a reference above 0"},
		{"an unknown way to match", "size", []string{"f 1"}, []string{"f 1"}, 0, "--match size is not known"},
		{"a least of NaN", ByName, []string{"f 1"}, []string{"f 1"}, math.NaN(), "--min-cycles NaN is invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compare(rowsOfText(t, "a", tt.a...), rowsOfText(t, "b", tt.b...), Kernels, tt.how, tt.least)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s…", err, tt.want)
			}
		})
	}
}

// Pairs without an error are named but not counted; a B of 0 is an error of −100 %.
func TestZeros(t *testing.T) {
	c, err := Compare(rowsOfText(t, "a", "f 0", "g 100", "h 100", "i 5"), rowsOfText(t, "b", "f 7", "g 0", "h 150", "i 9"), Kernels, ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.NoRatio) != 1 || c.NoRatio[0].A.Name != "f" || len(c.Pairs) != 3 || c.Pairs[0].Error != -100 {
		t.Errorf("without an error: %v; pairs: %v", c.NoRatio, c.Pairs)
	}
	if c, err = Compare(rowsOfText(t, "a", "f 0", "g 100", "i 5"), rowsOfText(t, "b", "f 7", "g 0", "i 9"), Kernels, ByName, 6); err != nil {
		t.Fatal(err)
	}
	if c.Small != 2 || len(c.Pairs) != 1 {
		t.Errorf("%d left out, pairs %v", c.Small, c.Pairs)
	}
}

// Repeated names without a launch number are reported: a table may hold several
// measurements of the same thing.
func TestRepeatedNames(t *testing.T) {
	for _, tt := range []struct {
		rows []string
		want int
	}{
		{[]string{"f 1", "g 1"}, 0},
		{[]string{"f 1", "g 1", "f 2", "f 3", "g 4", "h 1"}, 2},
		{[]string{"f #0 1", "f #1 2"}, 0},
	} {
		a, b := rowsOfText(t, "a", tt.rows...), rowsOfText(t, "b", tt.rows...)
		for how, want := range map[string]int{ByName: tt.want, ByOrder: 0} {
			c, err := Compare(a, b, Kernels, how, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.Repeated != want {
				t.Errorf("%v by %s: %d names repeated, want %d", tt.rows, how, c.Repeated, want)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	c, err := Compare(rowsOfText(t, "a", "f 100", "g 100"), rowsOfText(t, "b", "f 110", "h 5"), Kernels, ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		above  float64
		strict bool
		want   string
	}{
		{math.NaN(), false, ""},
		{10, false, ""},
		{9.99, false, "the mean of absolute errors is 10.00 %, above the 9.99 % of --fail-above"},
		{10, true, "2 rows could not be compared (--strict)"},
	} {
		got := ""
		if err := c.Judge(tt.above, tt.strict); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Judge(%v, %v) = %q, want %q", tt.above, tt.strict, got, tt.want)
		}
	}
}

// Different conditions of two results are reported: they explain differences.
func TestConditions(t *testing.T) {
	a := `{"heddle":"1","conditions":{"caches":"l2-kept","icache":"cold","launch_latency":5},"kernels":[{"name":"k","cycles":3}]}`
	b := `{"heddle":"1","conditions":{"caches":"flushed","icache":"cold","own":1},"kernels":[{"name":"k","cycles":3}]}`
	_, tb, _, err := tables(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"the runs' conditions differ: caches is l2-kept in A, flushed in B"}, tb.Notes); diff != "" {
		t.Error(diff)
	}
}

// sample is a comparison of two kinds of kernels with names that are difficult for
// a picture.
func sample(t *testing.T, n int) *Comparison {
	t.Helper()
	var a, b []string
	for i := range n {
		name := fmt.Sprintf("k<%d>&\"%d\"", i%3, i%3)
		a = append(a, fmt.Sprintf("%s %d", name, 100*(i+1)*(i+1)))
		b = append(b, fmt.Sprintf("%s %d", name, 70*(i+2)*(i+1)))
	}
	c, err := Compare(rowsOfText(t, "a", append(a, "left 1")...), rowsOfText(t, "b", b...), Kernels, ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Pictures are well-formed, labelled, and the same every time.
func TestPictures(t *testing.T) {
	for _, n := range []int{1, 2, 12, 100} {
		for name, picture := range map[string]func(*Comparison, io.Writer, string) error{"scatter": (*Comparison).WriteScatter, "errors": (*Comparison).WriteErrors} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				var one, two, dots bytes.Buffer
				if err := errors.Join(picture(sample(t, n), &one, "svg"), picture(sample(t, n), &two, "svg"), picture(sample(t, n), &dots, "png")); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(one.Bytes(), two.Bytes()) {
					t.Error("two drawings of one comparison differ")
				}
				var texts []string
				d := xml.NewDecoder(&one)
				for {
					tok, err := d.Token()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					if c, ok := tok.(xml.CharData); ok {
						texts = append(texts, string(c))
					}
				}
				all := strings.Join(texts, "\n")
				want := []string{"A: cycles of a.csv", "B: cycles of b.csv", "A = B", plural(n, "pair") + ": mean |error|"}
				if name == "errors" {
					want = []string{"|B − A| / A in percent", "90th percentile", "mean", "median"}
				}
				for _, w := range want {
					if !strings.Contains(all, w) {
						t.Errorf("the picture does not say %q:\n%s", w, all)
					}
				}
				img, err := png.Decode(&dots)
				if err != nil {
					t.Fatal(err)
				}
				if b := img.Bounds(); b.Dx() < 600 || b.Dy() < 600 {
					t.Errorf("the picture has %d × %d dots", b.Dx(), b.Dy())
				}
			})
		}
	}
	if err := sample(t, 2).WriteScatter(io.Discard, "gif"); err == nil {
		t.Error("a GIF was drawn")
	}
	for name, want := range map[string]string{"a.svg": "svg", "b.PNG": "png", "c.gif": "", "svg": ""} {
		if got, err := Format(name); got != want || (err == nil) != (want != "") {
			t.Errorf("Format(%q) = %q, %v", name, got, err)
		}
	}
}

// Marks on axes: round numbers within the range, and not too many to read.
func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		top, least float64
		want       string
	}{
		{1, 0, "0 0.2 0.4 0.6 0.8 1"},
		{53, 0, "0 10 20 30 40 50"},
		{1234, 0, "0 200 400 600 800 1k 1.2k"},
		{33, 1, "0 5 10 15 20 25 30"},
		{400, 1, "0 50 100 150 200 250 300 350 400"},
	} {
		var labels []string
		for _, x := range roundTicks(tt.top, tt.least) {
			labels = append(labels, x.Label)
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("marks up to %v: %s, want %s", tt.top, got, tt.want)
		}
	}
	for _, tt := range []struct {
		lo, hi float64 // logarithms
		want   string
	}{
		{2, 3, "100 200 500 1k"},
		{2.5, 6.1, "1k 10k 100k 1M"},
		{3.55, 3.95, "4k 5k 6k 7k 8k"},
	} {
		var labels []string
		for _, x := range logTicks(tt.lo, tt.hi) {
			labels = append(labels, x.Label)
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("marks from 10^%v to 10^%v: %s, want %s", tt.lo, tt.hi, got, tt.want)
		}
	}
}

// JSON and comma-separated values have the contents of the comparison.
func TestJSONAndCSV(t *testing.T) {
	c, err := Compare(rowsOfText(t, "a", "f(int) 0", "g #3 100", "h 200", "left 1"), rowsOfText(t, "b", "_Z1fi 7", "g #4 150", "h 100", "right 5"), Kernels, ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := c.WriteJSON(&text, false); err != nil {
		t.Fatal(err)
	}
	var j struct {
		OK         bool
		Statistics map[string]any
		Pairs      []map[string]any
		Errors     []float64        `json:"absolute_errors_percent"`
		Without    []map[string]any `json:"without_error"`
		OnlyA      []map[string]any `json:"only_a"`
		OnlyB      []map[string]any `json:"only_b"`
	}
	if err := json.Unmarshal(text.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	if j.OK || j.Statistics["mean_absolute_error_percent"] != 50.0 || j.Statistics["worst"] != "g #3" || j.Statistics["correlation"] != -1.0 {
		t.Errorf("ok %v, statistics %v", j.OK, j.Statistics)
	}
	for _, diff := range []string{
		cmp.Diff([]map[string]any{
			{"name": "g", "launch_a": 3.0, "launch_b": 4.0, "a": 100.0, "b": 150.0, "ratio": 1.5, "error_percent": 50.0},
			{"name": "h", "a": 200.0, "b": 100.0, "ratio": 0.5, "error_percent": -50.0},
		}, j.Pairs),
		cmp.Diff([]float64{50, 50}, j.Errors),
		cmp.Diff([]map[string]any{{"name": "f(int)", "name_b": "_Z1fi", "a": 0.0, "b": 7.0}}, j.Without),
		cmp.Diff([]map[string]any{{"name": "left", "value": 1.0, "file": "a.csv", "line": 5.0}}, j.OnlyA),
		cmp.Diff([]map[string]any{{"name": "right", "value": 5.0, "file": "b.csv", "line": 5.0}}, j.OnlyB),
	} {
		if diff != "" {
			t.Error(diff)
		}
	}
	text.Reset()
	if err := c.WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{
		{"name", "name_b", "launch_a", "launch_b", "a", "b", "ratio", "error_percent", "only"},
		{"g", "g", "3", "4", "100", "150", "1.5", "50", ""},
		{"h", "h", "", "", "200", "100", "0.5", "-50", ""},
		{"f(int)", "_Z1fi", "", "", "0", "7", "", "", ""},
		{"left", "", "", "", "1", "", "", "", "a"},
		{"", "right", "", "", "", "5", "", "", "b"},
	}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestText(t *testing.T) {
	a := rowsOfText(t, "a", "f #0 1000", "f #1 2000", "g #2 4000", "g #3 1000", "lefty 7.25")
	b := rowsOfText(t, "b", "f #0 1100", "f #1 1000", "g #2 4000", "g #3 1260", "left 3")
	a.Less = 5000
	c, err := Compare(a, b, Kernels, ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	var w strings.Builder
	if err := c.WriteText(&w, false); err != nil {
		t.Fatal(err)
	}
	want := `A  a.csv: table, 5 kernels of cycles, less 5,000 for each launch
B  b.csv: table, 5 kernels of cycles

kernel      A      B    B/A     error
g #2    4,000  4,000  1.000   +0.00 %
f #0    1,000  1,100  1.100  +10.00 %
g #3    1,000  1,260  1.260  +26.00 %
f #1    2,000  1,000  0.500  -50.00 %

function  kernels  mean |error|   median     90th    worst  mean error
f               2       30.00 %  30.00 %  46.00 %  50.00 %    -20.00 %
g               2       13.00 %  13.00 %  23.40 %  26.00 %    +13.00 %

4 pairs by name: mean of absolute errors 21.50 %, median 18.00 %, 90th percentile 42.80 %, worst 50.00 % (f #1)
mean error -3.50 %, correlation 0.9206, of logarithms 0.8023
only in A: lefty (a.csv:6), 7.25; did you mean left?
only in B: left (b.csv:6), 3; did you mean lefty?
`
	if diff := cmp.Diff(want, w.String()); diff != "" {
		t.Error(diff)
	}
}
