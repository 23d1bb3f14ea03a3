package view_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
)

type rgb [3]float64

func parse(t *testing.T, hex string) rgb {
	t.Helper()
	var r, g, b int
	if n, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); n != 3 || err != nil {
		t.Fatalf("%q is no colour", hex)
	}
	var c rgb
	for i, n := range []int{r, g, b} {
		x := float64(n) / 255
		if x <= 0.04045 {
			c[i] = x / 12.92
		} else {
			c[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return c
}

func (c rgb) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// lab is the colour in CIELAB with the white of D65.
func (c rgb) lab() [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.95047)
	y := f(c.luminance())
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// sights are the matrices of Machado, Oliveira and Fernandes (2009), table of severity 1.0, for
// linear RGB.
var sights = map[string][3][3]float64{
	"all colours":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func (c rgb) seen(m [3][3]float64) rgb {
	var x rgb
	for i := range x {
		x[i] = min(1, max(0, m[i][0]*c[0]+m[i][1]*c[1]+m[i][2]*c[2]))
	}
	return x
}

// TestPalette proves that text on every colour has a contrast of at least 4.5, that hues of
// different kinds of waiting differ for everybody, and that every state has a colour.
func TestPalette(t *testing.T) {
	text, err := os.ReadFile("web/palette.json")
	if err != nil {
		t.Fatal(err)
	}
	var palette struct {
		Families map[string]string
		States   map[string][2]string
	}
	if err := json.Unmarshal(text, &palette); err != nil {
		t.Fatal(err)
	}
	var names []string
	for st := range modern.WarpStates {
		names = append(names, st.String())
	}
	for st := range simt.WarpStates {
		names = append(names, st.String())
	}
	for st := range kepler.WarpStates {
		names = append(names, st.String())
	}
	for _, name := range names {
		if _, ok := palette.States[name]; !ok {
			t.Errorf("the state %s has no colour", name)
		}
	}
	for name, x := range palette.States {
		if palette.Families[x[0]] == "" {
			t.Errorf("%s is of an unknown family %q", name, x[0])
		}
		l := parse(t, x[1]).luminance()
		if contrast := max(1.05/(l+0.05), (l+0.05)/0.05); contrast < 4.5 {
			t.Errorf("text on %s has a contrast of %.2f", name, contrast)
		}
	}
	// The main state of each family, which takes most of the space.
	main := []string{"selected", "math_pipe_throttle", "wait", "dispatch", "short_scoreboard", "long_scoreboard", "barrier", "no_instruction", "drain"}
	const least = 10 // distance in CIELAB; 2.3 is just noticeable
	for sight, m := range sights {
		t.Run(sight, func(t *testing.T) {
			for i, a := range main {
				for _, b := range main[:i] {
					x, y := parse(t, palette.States[a][1]).seen(m).lab(), parse(t, palette.States[b][1]).seen(m).lab()
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < least {
						t.Errorf("%s and %s: distance %.1f, want %d", a, b, d, least)
					}
				}
			}
		})
	}
}
