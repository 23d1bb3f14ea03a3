package compare

import (
	"math"
	"testing"
)

// reference reads a table measured by others.
func reference(t *testing.T, name string) *Source {
	t.Helper()
	s, err := ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Tables from hardware and other simulators: every row with cycles is found. The
// numbers of rows come from grep and Python's csv module.
func TestReferenceTables(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		by   string
		rows int
	}{
		{"bench/h100/testdata/h100-polybench.txt", Options{}, Runs, 282},
		{"testdata/reference/hardware/h100-rodinia.txt", Options{}, Runs, 219},
		{"bench/h100/testdata/h100-emptykernel.txt", Options{}, Runs, 350},
		{"bench/h100/testdata/h100-emptykernel.txt", Options{Where: []string{"profile_type=ncu"}}, Runs, 175},
		{"bench/h100/testdata/h100-ffmakernel.txt", Options{}, Runs, 40},
		{"bench/h100/testdata/h100-ffmakernel_full.txt", Options{}, Runs, 614},
		{"testdata/reference/hardware/volta-accelwattch-kernels.csv", Options{}, Kernels, 25},
		{"testdata/reference/hardware/hopper-blackwell.csv", Options{KeyA: "hw_cycles_equiv", Names: []string{"id"}}, Runs, 146},
		{"testdata/reference/hardware/ncu-rtx3080-nn.tsv", Options{}, Kernels, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := reference(t, tt.name)
			tt.o.KeyB = tt.o.KeyA
			ta, tb, by, err := Tables(s, []*Source{s}, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if len(ta.Rows) != tt.rows || by != tt.by {
				t.Errorf("%d rows, by %s; want %d, by %s", len(ta.Rows), by, tt.rows, tt.by)
			}
			c, err := Compare(ta, tb, by, ByName, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Pairs)+len(c.NoRatio) != tt.rows || c.Statistics.WorstAbsolute != 0 {
				t.Errorf("with itself: %d pairs, worst error %v", len(c.Pairs), c.Statistics.WorstAbsolute)
			}
		})
	}
}

// The 16 launches of one trace on two machines; the statistics are those of
// Python's module statistics, quantiles with method="inclusive".
func TestReferenceStatistics(t *testing.T) {
	one := func(config string) *Table {
		s := reference(t, "testdata/reference/accelsim/summary.csv")
		ta, _, _, err := Tables(s, []*Source{s}, Options{
			Where: []string{"config=" + config, "trace=mgpusim-bfs-rodinia-2.0-ft", "kernel!=TOTAL"}, LessA: 5000,
		})
		if err != nil {
			t.Fatal(err)
		}
		return ta
	}
	c, err := Compare(one("SM75_RTX2060"), one("SM86_RTX3070"), Kernels, ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Statistics
	if s.Pairs != 16 || s.Correlation == nil || s.LogCorrelation == nil {
		t.Fatalf("statistics: %+v", s)
	}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"mean", s.MeanAbsolute, 10.371669411615747},
		{"median", s.MedianAbsolute, 1.2648388920293951},
		{"90th percentile", s.P90Absolute, 24.426338978609998},
		{"worst", s.WorstAbsolute, 36.74865376218891},
		{"correlation", *s.Correlation, 0.9950681570428581},
		{"correlation of logarithms", *s.LogCorrelation, 0.9983729085855583},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9 {
			t.Errorf("%s is %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
