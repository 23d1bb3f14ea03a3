package compare

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Format returns the format in the extension of a picture's name: "svg" or "png".
func Format(name string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".svg", ".png":
		return ext[1:], nil
	}
	return "", fmt.Errorf("%s: want a picture's name that ends in .svg or .png", name)
}

// Sizes of the pictures (our choice): what fits half a page of a paper, and
// enough dots for a screen.
const (
	pictureHeight = 12 * vg.Centimeter
	scatterWidth  = 12.5 * vg.Centimeter
	errorsWidth   = 16 * vg.Centimeter
	pictureDPI    = 160
	margin        = 8 // points
)

// mostNamed is the number of errors with names below them, and mostGroups that of
// groups in a legend, in the pictures (our choice: as many as can be read).
const (
	mostNamed  = 32
	mostGroups = 14
)

// Colours that people with any kind of colour vision can distinguish (Okabe and
// Ito, "Color Universal Design", 2008), without yellow and black.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky blue
}

var (
	dark = color.Gray{0x30}
	mid  = color.Gray{0x80}
	pale = color.Gray{0xe4}
)

// dot is the style of a group's points; colours repeat with a different shape.
func dot(group int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
	return draw.GlyphStyle{Color: palette[group%len(palette)], Radius: vg.Points(2.6), Shape: shapes[group/len(palette)%len(shapes)]}
}

// newPlot returns an empty plot in our style.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	sans := func(size vg.Length) font.Font {
		return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	}
	p.BackgroundColor = color.White
	p.Title.Text = title
	p.Title.TextStyle.Font = sans(10)
	p.Title.Padding = vg.Points(6)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(10)
		a.Label.Padding = vg.Points(4)
		a.Tick.Label.Font = sans(9)
		a.Padding = 0
		a.LineStyle.Color, a.Tick.LineStyle.Color = mid, mid
	}
	p.Legend.TextStyle.Font = sans(9)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(6), vg.Points(-4)
	p.Legend.Padding = vg.Points(2)
	p.Legend.ThumbnailWidth = vg.Points(16)
	return p
}

// line returns a straight line.
func line(xys plotter.XYs, c color.Color, width vg.Length, dashes ...vg.Length) *plotter.Line {
	return &plotter.Line{XYs: xys, LineStyle: draw.LineStyle{Color: c, Width: width, Dashes: dashes}}
}

// axisLabel returns the label of an axis.
func axisLabel(t *Table) string {
	name := filepath.Base(t.Files[0])
	if len(t.Files) > 1 {
		name = fmt.Sprintf("%d files", len(t.Files))
	}
	s := fmt.Sprintf("%s: %s", strings.ToUpper(t.Side), shorten(t.Metric, 30))
	if t.What == "table" {
		s += fmt.Sprintf(" of %s", shorten(name, 30))
	} else {
		s += fmt.Sprintf(", %s (%s)", shorten(t.What, 36), shorten(name, 30))
	}
	if t.Less > 0 {
		s += ", less " + value(t.Less)
	}
	return s
}

// WriteScatter draws the values of B over those of A on logarithmic axes, with the
// diagonal, on which both are equal, and lines for half and twice the value. Pairs
// with a value that is not above 0 are left out. The same comparison gives the same
// bytes.
func (c *Comparison) WriteScatter(w io.Writer, format string) error {
	s := &c.Statistics
	p := newPlot(fmt.Sprintf("%s: mean |error| %s, correlation of logarithms %s", plural(s.Pairs, "pair"), percent(s.MeanAbsolute), coefficient(s.LogCorrelation)))
	p.X.Label.Text, p.Y.Label.Text = axisLabel(c.A), axisLabel(c.B)

	// The plot's coordinates are logarithms.
	lo, hi := math.Inf(1), math.Inf(-1)
	var all plotter.XYs
	points := map[string]plotter.XYs{}
	for _, x := range c.Pairs {
		if x.B.Value < leastValue {
			continue
		}
		xy := plotter.XY{X: math.Log10(x.A.Value), Y: math.Log10(x.B.Value)}
		lo, hi = min(lo, xy.X, xy.Y), max(hi, xy.X, xy.Y)
		all = append(all, xy)
		points[x.A.Group] = append(points[x.A.Group], xy)
	}
	if len(all) == 0 {
		lo, hi = 0, 1
	}
	room := max(0.15, 0.05*(hi-lo))
	lo, hi = lo-room, hi+room
	ticks := logTicks(lo, hi)
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks, ticks
	for _, t := range ticks {
		p.Add(line(plotter.XYs{{X: t.Value, Y: lo}, {X: t.Value, Y: hi}}, pale, 0.5), line(plotter.XYs{{X: lo, Y: t.Value}, {X: hi, Y: t.Value}}, pale, 0.5))
	}
	const two = math.Ln2 / math.Ln10
	equal := line(plotter.XYs{{X: lo, Y: lo}, {X: hi, Y: hi}}, dark, 1)
	twice := line(plotter.XYs{{X: lo, Y: lo + two}, {X: hi - two, Y: hi}}, mid, 0.75, 4, 3)
	half := line(plotter.XYs{{X: lo + two, Y: lo}, {X: hi, Y: hi - two}}, mid, 0.75, 4, 3)
	p.Add(equal)
	p.Legend.Add("A = B", equal)
	if hi-lo > two {
		p.Add(twice, half)
		p.Legend.Add("half, twice", twice)
	}
	if len(c.Groups) == 0 || len(c.Groups) > mostGroups {
		p.Add(&plotter.Scatter{XYs: all, GlyphStyle: dot(0)})
	} else {
		for i, g := range c.Groups {
			if len(points[g.Name]) == 0 {
				continue
			}
			sc := &plotter.Scatter{XYs: points[g.Name], GlyphStyle: dot(i)}
			p.Add(sc)
			p.Legend.Add(shorten(g.Name, 24), sc)
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, lo, hi
	return write(p, w, format, scatterWidth)
}

// logTicks marks powers of ten between two logarithms, and two and five times them
// if there are few.
func logTicks(lo, hi float64) plot.ConstantTicks {
	steps := []float64{1}
	switch {
	case hi-lo < 1:
		steps = []float64{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}
	case hi-lo < 3:
		steps = []float64{1, 2, 5}
	}
	stride := 1 + int(hi-lo)/8
	var ticks plot.ConstantTicks
	for e := int(math.Floor(lo)); float64(e) <= hi; e++ {
		if e%stride != 0 {
			continue
		}
		for _, s := range steps {
			if at := float64(e) + math.Log10(s); at >= lo && at <= hi {
				ticks = append(ticks, plot.Tick{Value: at, Label: short(s * math.Pow10(e))})
			}
		}
	}
	return ticks
}

// short writes a round number with a unit of thousands.
func short(v float64) string {
	for _, u := range []struct {
		from float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.from && v < 1e15 {
			return fmt.Sprintf("%.4g%s", v/u.from, u.name)
		}
	}
	return fmt.Sprintf("%.4g", v)
}

// WriteErrors draws the absolute errors in ascending order, with their mean,
// median and 90th percentile. The same comparison gives the same bytes.
func (c *Comparison) WriteErrors(w io.Writer, format string) error {
	s := &c.Statistics
	p := newPlot(fmt.Sprintf("%s: mean |error| %s, median %s, 90th percentile %s, worst %s", plural(s.Pairs, "pair"),
		percent(s.MeanAbsolute), percent(s.MedianAbsolute), percent(s.P90Absolute), percent(s.WorstAbsolute)))
	p.Y.Label.Text = "|B − A| / A in percent"
	pairs := c.Ascending()
	n := float64(len(pairs))
	var all, above, below plotter.XYs
	for i, x := range pairs {
		xy := plotter.XY{X: float64(i + 1), Y: math.Abs(x.Error)}
		all = append(all, xy)
		if x.Error > 0 {
			above = append(above, xy)
		} else {
			below = append(below, xy)
		}
	}
	top := s.WorstAbsolute * 1.35 // room for the legend above the worst
	if top == 0 {
		top = 1
	}
	ticks := roundTicks(top, 0)
	p.Y.Tick.Marker = ticks
	for _, t := range ticks {
		p.Add(line(plotter.XYs{{X: 0.5, Y: t.Value}, {X: n + 0.5, Y: t.Value}}, pale, 0.5))
	}
	for i, l := range []struct {
		name   string
		value  float64
		dashes []vg.Length
	}{{"90th percentile", s.P90Absolute, []vg.Length{1, 2}}, {"mean", s.MeanAbsolute, []vg.Length{5, 3}}, {"median", s.MedianAbsolute, []vg.Length{5, 2, 1, 2}}} {
		ln := line(plotter.XYs{{X: 0.5, Y: l.value}, {X: n + 0.5, Y: l.value}}, palette[2+i], 1.2, l.dashes...)
		p.Add(ln)
		p.Legend.Add(l.name, ln)
	}
	p.Add(line(all, mid, 0.75))
	for i, g := range []struct {
		name string
		xys  plotter.XYs
	}{{"B is more than A", above}, {"B is A or less", below}} {
		if len(g.xys) > 0 {
			sc := &plotter.Scatter{XYs: g.xys, GlyphStyle: dot(1 - i)}
			p.Add(sc)
			p.Legend.Add(g.name, sc)
		}
	}
	if len(pairs) <= mostNamed {
		var ticks plot.ConstantTicks
		for i, x := range pairs {
			ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: pictureName(x, c.By)})
		}
		p.X.Tick.Marker = ticks
		p.X.Tick.Label.Rotation = math.Pi / 3
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
		p.X.Padding = vg.Points(8)
	} else {
		p.X.Label.Text = fmt.Sprintf("%ss in ascending order of their errors", c.By)
		p.X.Tick.Marker = roundTicks(n, 1)[1:]
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.5, n+0.5, 0, top
	return write(p, w, format, errorsWidth)
}

// pictureName is a pair's name, as short as possible.
func pictureName(p Pair, by string) string {
	if by == Kernels && p.A.Group != "" {
		p.A.Name = p.A.Group
	}
	return shorten(label(p), 24)
}

// roundTicks marks multiples of a round number, which is at least least, with about
// eight ticks above 0.
func roundTicks(top, least float64) plot.ConstantTicks {
	step := max(least, math.Pow10(int(math.Floor(math.Log10(top/8)))))
	for _, s := range []float64{1, 2, 5, 10} {
		if top/(s*step) <= 8 {
			step *= s
			break
		}
	}
	var ticks plot.ConstantTicks
	for i := 0; float64(i)*step <= top; i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: short(float64(i) * step)})
	}
	return ticks
}

// write draws a plot.
func write(p *plot.Plot, w io.Writer, format string, width vg.Length) error {
	var c vg.CanvasWriterTo
	switch format {
	case "svg":
		c = vgsvg.New(width, pictureHeight)
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, pictureHeight), vgimg.UseDPI(pictureDPI))}
	default:
		return fmt.Errorf("unknown picture format %q; want svg or png", format)
	}
	page := draw.New(c)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	p.Draw(draw.Crop(page, margin, -margin, margin, -margin))
	_, err := c.WriteTo(w)
	return err
}
