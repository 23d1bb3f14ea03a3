package compare

import (
	"math"
	"slices"
)

// Statistics summarise the errors of B's values with respect to A's. Errors are
// (B−A)/A in percent; absolute ones have no sign.
type Statistics struct {
	Pairs int `json:"pairs"` // with a reference above 0

	MeanAbsolute   float64 `json:"mean_absolute_error_percent"`
	MedianAbsolute float64 `json:"median_absolute_error_percent"`
	P90Absolute    float64 `json:"p90_absolute_error_percent"` // see Percentile
	WorstAbsolute  float64 `json:"worst_absolute_error_percent"`
	Worst          string  `json:"worst"` // name of the row with the worst error
	Mean           float64 `json:"mean_error_percent"`

	// Pearson's coefficient of the values, and of their logarithms over the pairs
	// whose values are both above 0; nil if there are fewer than two pairs or one
	// side is constant.
	Correlation    *float64 `json:"correlation"`
	LogCorrelation *float64 `json:"log_correlation"`
}

// Percentile returns the value below which a share of sorted values lies, by linear
// interpolation: the values are at the shares 0, 1/(n−1), … 1, and the percentile
// is linear between two of them (type 7 of Hyndman and Fan, "Sample Quantiles in
// Statistical Packages", 1996; also the default of NumPy and R, and PERCENTILE.INC
// of spreadsheets). The values must be sorted, with at least one value; the share
// is from 0 to 1.
func Percentile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Pearson returns the correlation coefficient of two samples of the same size;
// ok is false if there are fewer than two values or one sample is constant. The
// squares of the values must be finite.
func Pearson(x, y []float64) (r float64, ok bool) {
	if len(x) < 2 {
		return 0, false
	}
	mx, my := mean(x), mean(y)
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy += dx * dy
		xx += dx * dx
		yy += dy * dy
	}
	if constant(x) || constant(y) || xx == 0 || yy == 0 {
		return 0, false
	}
	return max(-1, min(1, xy/(math.Sqrt(xx)*math.Sqrt(yy)))), true
}

func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// statistics returns the statistics of at least one pair.
func statistics(pairs []Pair) Statistics {
	s := Statistics{Pairs: len(pairs)}
	var errs, signed, a, b, logA, logB []float64
	for _, p := range pairs {
		e := math.Abs(p.Error)
		if len(errs) == 0 || e > s.WorstAbsolute {
			s.WorstAbsolute, s.Worst = e, label(p)
		}
		errs, signed = append(errs, e), append(signed, p.Error)
		a, b = append(a, p.A.Value), append(b, p.B.Value)
		if p.B.Value > 0 {
			logA, logB = append(logA, math.Log(p.A.Value)), append(logB, math.Log(p.B.Value))
		}
	}
	s.MeanAbsolute, s.Mean = mean(errs), mean(signed)
	slices.Sort(errs)
	s.MedianAbsolute, s.P90Absolute = Percentile(errs, 0.5), Percentile(errs, 0.9)
	if r, ok := Pearson(a, b); ok {
		s.Correlation = &r
	}
	if r, ok := Pearson(logA, logB); ok {
		s.LogCorrelation = &r
	}
	return s
}
