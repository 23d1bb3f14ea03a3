// Package extras_test runs the example programs that use what the Kepler-style
// core's datasheet names as future work, and compares what they leave with
// references of its own.
package extras_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/work/job"
)

var update = flag.Bool("update", false, "write the expected results from the reference, and the pictures")

// frames runs a job, frame by frame, and returns the bytes that each leaves in a
// buffer, and the cycles that they take.
func frames(t *testing.T, file, buffer string, set ...string) (left [][]byte, cycles uint64) {
	t.Helper()
	ready, err := job.LoadKepler(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := ready.Config("", set...)
	if err != nil {
		t.Fatal(err)
	}
	for f := range ready.Job.Frames {
		run, err := ready.Prepare(cfg, f)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		left = append(left, bytes.Clone(ready.Bytes(run.Core, buffer)))
		cycles += run.Core.DoneCycle()
	}
	return left, cycles
}

// Sizes of the textured cube's picture and texture, and how it turns.
const (
	size                  = 96
	texels                = 16
	firstAngle, turn      = 2048, 1024 // of 65536
	half, distance, focus = 96, 400, 1600
	pictures, picture     = 16, 5
	scale                 = 2
)

// sine is the core's sine by its definition: a table of 256 points of a turn in
// 16-bit fixed point, and a straight line from one to the next.
func sine(angle int) int {
	point := func(i int) int {
		v := min(math.Sin(2*math.Pi*float64(i%256)/256), 32767.0/32768)
		if i%256 < 128 {
			return int(v * 32767)
		}
		return int(v * 32768)
	}
	i, part := angle>>8&255, angle&255
	return point(i) + int(math.Floor(float64((point(i+1)-point(i))*part)/256))
}

// spot is a vertex on the screen, in sixteenths of a pixel, with the inverse of
// its distance.
type spot struct{ x, y, near int }

func project(x, y, z, angle int) spot {
	fixed := func(v int) int { return int(math.Floor(float64(v) / 32768)) }
	c, s := sine(angle+0x4000), sine(angle)
	x, z = fixed(x*c+z*s), fixed(z*c-x*s)
	y, z = fixed(y*28378-z*16384), fixed(y*16384+z*28378)+distance
	return spot{x*focus/z + 8*size, y*focus/z + 8*size, 1 << 21 / z}
}

// cross is twice the area of three points.
func cross(ax, ay, bx, by, cx, cy int) int {
	return ax*by - ay*bx + bx*cy - by*cx + cx*ay - cy*ax
}

// corner is a vertex of a face with its place in the texture, 0 or 1 each way.
type corner struct {
	spot
	u, v int
}

// shade mixes a texel with black, 256 parts being all light.
func shade(c, light int) int {
	out := 0
	for s := 0; s < 24; s += 8 {
		out |= (c >> s & 255 * light >> 8) << s
	}
	return out
}

// fill draws a triangle. A sample counts as if it were a very little further
// right and, by much less, further down: then none lies on an edge.
func fill(screen []int, tri [3]corner, light int, texture []uint32) {
	a, b, c := tri[0], tri[1], tri[2]
	area := cross(a.x, a.y, b.x, b.y, c.x, c.y)
	if area <= 0 {
		return
	}
	const fine = 1 << 20 // the little is 1/1024 and 1/1048576 of a sixteenth
	for y := range size {
		for x := range size {
			sx, sy := 16*x+8, 16*y+8
			in := true
			for i := range tri {
				p, q := tri[i], tri[(i+1)%3]
				in = in && cross(p.x*fine, p.y*fine, q.x*fine, q.y*fine, sx*fine+fine/1024, sy*fine+1) > 0
			}
			if !in {
				continue
			}
			// Shares of the second and third vertex, in 65536ths.
			s1 := min(cross(a.x, a.y, sx, sy, c.x, c.y)*65536/area, 65535)
			s2 := min(cross(a.x, a.y, b.x, b.y, sx, sy)*65536/area, 65535)
			between := func(p, q, r int) int { return (p*65536 + (q-p)*s1 + (r-p)*s2) / 65536 }
			near := between(a.near, b.near, c.near)
			u := between(a.u*a.near, b.u*b.near, c.u*c.near) * 256 * texels / near
			v := between(a.v*a.near, b.v*b.near, c.v*c.near) * 256 * texels / near
			screen[y*size+x] = shade(smooth(texture, u, v), light)
		}
	}
}

// smooth reads the texture at a place in 256ths of a texel, between the four
// nearest ones, which stop at the texture's edge.
func smooth(texture []uint32, u, v int) int {
	out := 0
	for s := 0; s < 24; s += 8 {
		channel := func(x, y int) float64 {
			x, y = max(0, min(x, texels-1)), max(0, min(y, texels-1))
			return float64(texture[y*texels+x] >> s & 255)
		}
		fu, fv := float64(u)/256-0.5, float64(v)/256-0.5
		x, y := math.Floor(fu), math.Floor(fv)
		tx, ty := fu-x, fv-y
		top := channel(int(x), int(y))*(1-tx) + channel(int(x)+1, int(y))*tx
		low := channel(int(x), int(y)+1)*(1-tx) + channel(int(x)+1, int(y)+1)*tx
		out |= int(math.Floor(top*(1-ty)+low*ty+0.5)) << s
	}
	return out
}

// render draws a frame.
func render(frame int, texture []uint32) []int {
	angle := firstAngle + turn*frame
	screen := make([]int, size*size)
	sides := [][4][3]int{ // around each side, clockwise as seen from outside
		{{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}},
		{{1, -1, 1}, {-1, -1, 1}, {-1, 1, 1}, {1, 1, 1}},
		{{-1, -1, 1}, {-1, -1, -1}, {-1, 1, -1}, {-1, 1, 1}},
		{{1, -1, -1}, {1, -1, 1}, {1, 1, 1}, {1, 1, -1}},
		{{-1, -1, 1}, {1, -1, 1}, {1, -1, -1}, {-1, -1, -1}},
		{{-1, 1, -1}, {1, 1, -1}, {1, 1, 1}, {-1, 1, 1}},
	}
	for _, side := range sides {
		var c [4]corner
		for i, at := range side {
			c[i] = corner{project(at[0]*half, at[1]*half, at[2]*half, angle), []int{0, 1, 1, 0}[i], i / 2}
		}
		// The more a side faces the eye the brighter it is.
		area := cross(c[0].x, c[0].y, c[1].x, c[1].y, c[2].x, c[2].y) + cross(c[0].x, c[0].y, c[2].x, c[2].y, c[3].x, c[3].y)
		light := min(area>>13+64, 256)
		fill(screen, [3]corner{c[0], c[1], c[2]}, light, texture)
		fill(screen, [3]corner{c[0], c[2], c[3]}, light, texture)
	}
	return screen
}

// The textured cube is the reference's, pixel by pixel, in every frame, and so
// are its pictures.
func TestTexturedCube(t *testing.T) {
	ready, err := job.LoadKepler("textured.toml")
	if err != nil {
		t.Fatal(err)
	}
	k, err := ready.Core(kepler.ConfigFor(kepler.Datasheet), 0)
	if err != nil {
		t.Fatal(err)
	}
	texture := make([]uint32, texels*texels)
	for i := range texture {
		texture[i] = binary.LittleEndian.Uint32(ready.Bytes(k, "texture")[4*i:])
	}
	got, cycles := frames(t, "textured.toml", "screen")
	t.Logf("%d frames, %d cycles", len(got), cycles)
	if len(got) != pictures {
		t.Fatalf("%d frames", len(got))
	}
	var want [][]int
	var file []byte
	for f := range got {
		want = append(want, render(f, texture))
		wrong, drawn := 0, 0
		for i, c := range want[f] {
			if f == picture {
				file = binary.LittleEndian.AppendUint32(file, uint32(c))
			}
			if c != 0 {
				drawn++
			}
			if have := int(binary.LittleEndian.Uint32(got[f][4*i:])); have != c {
				if wrong++; wrong <= 3 {
					t.Errorf("frame %d, pixel %d, %d: %06x, want %06x", f, i%size, i/size, have, c)
				}
			}
		}
		if wrong > 0 || drawn < 2000 {
			t.Errorf("frame %d: %d pixels are wrong of %d that are drawn", f, wrong, drawn)
		}
	}
	if *update {
		if err := os.WriteFile("textured.screen.bin", file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile("textured.screen.bin"); err != nil || !bytes.Equal(have, file) {
		t.Errorf("textured.screen.bin is not what the reference gives (-update writes it); %v", err)
	}
	showsPNG(t, "textured.png", want[picture])
	showsGIF(t, "textured.gif", want)
}

// Eight lanes that set their pixels with an atomic leave the screens of those
// that take turns, in fewer cycles.
func TestAtomicCube(t *testing.T) {
	turns, slow := frames(t, "../cube8.toml", "screen")
	atomics, fast := frames(t, "atomic8.toml", "screen")
	t.Logf("%d frames: %d cycles in turn, %d with atomics", len(turns), slow, fast)
	if fast*3 > slow*2 {
		t.Errorf("%d cycles with atomics, %d without: want a third less", fast, slow)
	}
	for f := range turns {
		if !bytes.Equal(turns[f], atomics[f]) {
			t.Errorf("frame %d differs", f)
		}
		if bytes.Count(turns[f], []byte{0}) == len(turns[f]) {
			t.Errorf("frame %d is empty", f)
		}
	}
}

// Four SMs with caches draw what one draws, in fewer cycles.
func TestSeveralSMs(t *testing.T) {
	one, slow := frames(t, "textured.toml", "screen")
	four, fast := frames(t, "textured.toml", "screen", "kepler.sms=4", "kepler.l1.on=true", "kepler.l2.on=true")
	t.Logf("%d frames: %d cycles on one SM, %d on four with caches", len(one), slow, fast)
	if fast*3 > slow {
		t.Errorf("%d cycles on four SMs, %d on one: want a third", fast, slow)
	}
	for f := range one {
		if !bytes.Equal(one[f], four[f]) {
			t.Errorf("frame %d differs", f)
		}
	}
}

// shows counts the pixels of a picture that differ by more than a colour
// table of 256 entries explains.
func shows(t *testing.T, what string, im image.Image, want []int, within int) {
	t.Helper()
	if b := im.Bounds(); b.Dx() != size*scale || b.Dy() != size*scale {
		t.Fatalf("%s is %v", what, b)
	}
	wrong := 0
	for y := range size * scale {
		for x := range size * scale {
			c := color.RGBAModel.Convert(im.At(x, y)).(color.RGBA)
			w := want[y/scale*size+x/scale]
			for i, have := range [...]uint8{c.B, c.G, c.R} {
				if d := int(have) - w>>(8*i)&255; d > within || d < -within {
					wrong++
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d channels of pixels are wrong", what, wrong)
	}
}

func showsPNG(t *testing.T, name string, want []int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	im, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	shows(t, name, im, want, 0)
}

func showsGIF(t *testing.T, name string, want [][]int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != len(want) {
		t.Fatalf("%s has %d frames", name, len(g.Image))
	}
	for f, im := range g.Image {
		shows(t, name, im, want[f], 48)
	}
}
