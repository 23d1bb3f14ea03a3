package compare

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Values by the definition, computed by hand; the second and third are the examples
// of "Percentile" in Wikipedia, section "Second variant, C = 1".
func TestPercentile(t *testing.T) {
	for _, tt := range []struct {
		sorted []float64
		share  float64
		want   float64
	}{
		{[]float64{7}, 0.9, 7},
		{[]float64{15, 20, 35, 40, 50}, 0.4, 29},
		{[]float64{1, 2, 3, 4}, 0.75, 3.25},
		{[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4, 5}, 0.5, 3},
		{[]float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 0.9, 90},
		{[]float64{10, 20}, 0.9, 19},
		{[]float64{10, 20}, 0, 10},
		{[]float64{10, 20}, 1, 20},
	} {
		if got := Percentile(tt.sorted, tt.share); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("Percentile(%v, %v) = %v, want %v", tt.sorted, tt.share, got, tt.want)
		}
	}
}

// Anscombe's quartet (The American Statistician, 1973): four samples that look
// nothing alike and whose coefficients, as published, are 0.816 or 0.817.
func TestPearsonAnscombe(t *testing.T) {
	x := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	for i, tt := range []struct {
		x, y []float64
		want float64 // to three places
	}{
		{x, []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}, 0.816},
		{x, []float64{9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74}, 0.816},
		{x, []float64{7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73}, 0.816},
		{[]float64{8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8}, []float64{6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89}, 0.817},
	} {
		r, ok := Pearson(tt.x, tt.y)
		if !ok || math.Abs(r-tt.want) > 0.0005 {
			t.Errorf("sample %d: r = %v, %v; want %v", i+1, r, ok, tt.want)
		}
	}
}

func TestPearsonUndefined(t *testing.T) {
	for _, tt := range []struct{ x, y []float64 }{
		{nil, nil},
		{[]float64{1}, []float64{2}},
		{[]float64{3, 3, 3}, []float64{1, 2, 3}},
		{[]float64{1, 2, 3}, []float64{0.1, 0.1, 0.1}},
	} {
		if r, ok := Pearson(tt.x, tt.y); ok {
			t.Errorf("Pearson(%v, %v) = %v, want none", tt.x, tt.y, r)
		}
	}
}

// Statistics compared with an independent computation: sums of exact fractions in
// the form n∑xy−∑x∑y, and the percentile by its definition, with ranks.
func TestStatisticsAgainstFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		var pairs []Pair
		var errs []float64
		sum, sumX, sumY, sumXX, sumYY, sumXY := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
		for range n {
			a := rapid.IntRange(1, 100_000).Draw(t, "a")
			b := rapid.IntRange(1, 100_000).Draw(t, "b")
			e := big.NewRat(100*int64(b-a), int64(a))
			f, _ := e.Float64()
			pairs = append(pairs, Pair{A: Row{Value: float64(a)}, B: Row{Value: float64(b)}, Ratio: float64(b) / float64(a), Error: f})
			errs = append(errs, math.Abs(f))
			sum.Add(sum, new(big.Rat).Abs(e))
			x, y := big.NewRat(int64(a), 1), big.NewRat(int64(b), 1)
			sumX.Add(sumX, x)
			sumY.Add(sumY, y)
			sumXX.Add(sumXX, new(big.Rat).Mul(x, x))
			sumYY.Add(sumYY, new(big.Rat).Mul(y, y))
			sumXY.Add(sumXY, new(big.Rat).Mul(x, y))
		}
		s := statistics(pairs)
		if want, _ := new(big.Rat).Quo(sum, big.NewRat(int64(n), 1)).Float64(); math.Abs(s.MeanAbsolute-want) > 1e-9*(1+want) {
			t.Fatalf("mean %v, want %v", s.MeanAbsolute, want)
		}
		slices.Sort(errs)
		if s.WorstAbsolute != errs[n-1] {
			t.Fatalf("worst %v, want %v", s.WorstAbsolute, errs[n-1])
		}
		median := errs[n/2]
		if n%2 == 0 {
			median = (errs[n/2-1] + errs[n/2]) / 2
		}
		if math.Abs(s.MedianAbsolute-median) > 1e-9*(1+median) {
			t.Fatalf("median %v, want %v", s.MedianAbsolute, median)
		}
		// Nine tenths of the way from the first rank to the last, in whole tenths.
		low, tenths := 9*(n-1)/10, 9*(n-1)%10
		p90 := errs[low]
		if tenths > 0 {
			p90 = errs[low] + float64(tenths)/10*(errs[low+1]-errs[low])
		}
		if math.Abs(s.P90Absolute-p90) > 1e-9*(1+p90) {
			t.Fatalf("90th percentile %v, want %v", s.P90Absolute, p90)
		}
		nn := big.NewRat(int64(n), 1)
		form := func(xy, x, y *big.Rat) float64 { // n∑xy−∑x∑y
			f, _ := new(big.Rat).Sub(new(big.Rat).Mul(nn, xy), new(big.Rat).Mul(x, y)).Float64()
			return f
		}
		xx, yy := form(sumXX, sumX, sumX), form(sumYY, sumY, sumY)
		if (s.Correlation == nil) != (xx == 0 || yy == 0) {
			t.Fatalf("correlation %v of sums %v and %v", s.Correlation, xx, yy)
		}
		if s.Correlation != nil {
			if want := form(sumXY, sumX, sumY) / math.Sqrt(xx) / math.Sqrt(yy); math.Abs(*s.Correlation-want) > 1e-9 {
				t.Fatalf("correlation %v, want %v", *s.Correlation, want)
			}
		}
	})
}

// A worked example: 100, 200, 400 and 1000 against 110, 180, 400 and 1500.
func TestStatisticsByHand(t *testing.T) {
	a, b := table1("a", 100, 200, 400, 1000), table1("b", 110, 180, 400, 1500)
	c, err := Compare(a, b, Kernels, ByOrder, 0)
	if err != nil {
		t.Fatal(err)
	}
	var errs, ratios []float64
	for _, p := range c.Pairs {
		errs, ratios = append(errs, p.Error), append(ratios, p.Ratio)
	}
	if diff := cmp.Diff([]float64{10, -10, 0, 50}, errs); diff != "" {
		t.Error("errors: " + diff)
	}
	if diff := cmp.Diff([]float64{1.1, 0.9, 1, 1.5}, ratios); diff != "" {
		t.Error("ratios: " + diff)
	}
	s := c.Statistics
	// Absolute errors 0, 10, 10, 50: the 90th percentile is at rank 1+0.9·3 = 3.7.
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"mean of absolute errors", s.MeanAbsolute, 17.5},
		{"mean error", s.Mean, 12.5},
		{"median", s.MedianAbsolute, 10},
		{"90th percentile", s.P90Absolute, 38},
		{"worst", s.WorstAbsolute, 50},
		// Deviations from 425 are −325, −225, −25, 575, from 547.5 −437.5, −367.5, −147.5, 952.5.
		{"correlation", *s.Correlation, (142_187.5 + 82_687.5 + 3_687.5 + 547_687.5) / math.Sqrt(487_500*1_255_475)},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if s.Worst != "k3" {
		t.Errorf("the worst is %s", s.Worst)
	}
	var order []string
	for _, p := range c.Ascending() {
		order = append(order, p.A.Name)
	}
	if diff := cmp.Diff([]string{"k2", "k0", "k1", "k3"}, order); diff != "" {
		t.Error("ascending errors: " + diff)
	}
}

// table1 returns a table of kernels k0, k1, … with the given values.
func table1(side string, values ...float64) *Table {
	t := &Table{Side: side, Files: []string{side + ".csv"}, What: "table", Metric: "cycles"}
	for i, v := range values {
		name := "k" + string(rune('0'+i))
		t.Rows = append(t.Rows, Row{Name: name, Group: name, Launch: -1, Value: v, File: side + ".csv", Line: i + 2})
	}
	return t
}
