// Package kepler_test runs the example programs of the Kepler-style core and
// compares what they leave with references of its own.
package kepler_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

var update = flag.Bool("update", false, "write the expected results from the references, and the pictures")

// demo is a program that draws a cube frame by frame, and what it must leave.
type demo struct {
	name                 string
	frames, angle        int // the angle from frame to frame
	half                 int // of the cube's edge
	distance             int // 0: no perspective
	size                 int // of the screen, in pixels
	wires                bool
	colours              [2]color.RGBA
	scale, picture, wait int // of the pictures
}

var (
	dark   = color.RGBA{0x10, 0x14, 0x1c, 255}
	yellow = color.RGBA{0xff, 0xd1, 0x66, 255}
	green  = color.RGBA{0x9b, 0xe5, 0x64, 255}
	blue   = color.RGBA{0x7f, 0xd1, 0xff, 255}
)

var demos = []demo{
	{name: "cube1", frames: 48, angle: 1365, half: 16, distance: 128, size: 64, colours: [2]color.RGBA{dark, yellow}, scale: 4, picture: 5, wait: 4},
	{name: "cube8", frames: 48, angle: 1365, half: 16, distance: 128, size: 64, colours: [2]color.RGBA{dark, yellow}, scale: 4, picture: 5, wait: 4},
	{name: "rotated", frames: 48, angle: 1365, half: 16, size: 64, colours: [2]color.RGBA{dark, green}, scale: 4, picture: 5, wait: 4},
	{name: "cube", frames: 32, angle: 512, half: 34, distance: 256, size: 128, wires: true, colours: [2]color.RGBA{dark, blue}, scale: 2, picture: 8, wait: 5},
}

// sine is the core's sine by its definition: a table of 256 points of a turn in
// 16-bit fixed point, and a straight line from one to the next. The angle's
// high byte names the point.
func sine(angle int) int {
	point := func(i int) int {
		v := min(math.Sin(2*math.Pi*float64(i)/256), 32767.0/32768)
		if i < 128 {
			return int(v * 32767)
		}
		return int(v * 32768)
	}
	i, part := angle>>8&255, angle&255
	a, b := point(i), point((i+1)%256)
	return a + int(math.Floor(float64((b-a)*part)/256))
}

func cosine(angle int) int { return sine(angle + 0x4000) }

// down is a product of two fixed-point numbers without its fraction.
func down(v int) int { return int(math.Floor(float64(v) / 32768)) }

// place returns where a vertex lands on the screen.
func (d *demo) place(x, y, z, angle int) (int, int) {
	const cos30, sin30 = 28378, 16384 // of 32768
	c, s := cosine(angle), sine(angle)
	x, z = down(x*c+z*s), down(z*c-x*s)
	y, z = down(y*cos30-z*sin30), down(y*sin30+z*cos30)
	if d.distance > 0 {
		x, y = x*d.distance/(z+d.distance), y*d.distance/(z+d.distance)
	}
	return x + d.size/2, y + d.size/2
}

// vertices of a cube, around its bottom and then around its top.
var vertices = [8][3]int{{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}

// frame returns the places of the vertices on the screen, and the pixels that
// are set.
func (d *demo) frame(n int) (places []int32, pixels [][]bool) {
	pixels = make([][]bool, d.size)
	for y := range pixels {
		pixels[y] = make([]bool, d.size)
	}
	var at [8][2]int
	for i, v := range vertices {
		x, y := d.place(v[0]*d.half, v[1]*d.half, v[2]*d.half, n*d.angle)
		at[i] = [2]int{x, y}
		places = append(places, int32(x), int32(y))
		pixels[y][x] = true
	}
	if !d.wires {
		return places, pixels
	}
	for i := range vertices {
		for j := range i {
			apart := 0
			for k := range 3 {
				if vertices[i][k] != vertices[j][k] {
					apart++
				}
			}
			if apart == 1 { // an edge; the program draws from the lower number
				line(pixels, at[j], at[i], i == j+3)
			}
		}
	}
	return places, pixels
}

// line sets the pixels nearest to a line, one for each step along its longer
// side; half way between two, the one further from the start.
func line(pixels [][]bool, from, to [2]int, back bool) {
	if back {
		from, to = to, from
	}
	long, short := 0, 1
	if abs(to[1]-from[1]) > abs(to[0]-from[0]) {
		long, short = 1, 0
	}
	n, m := abs(to[long]-from[long]), abs(to[short]-from[short])
	for k := range n + 1 {
		var p [2]int
		p[long] = from[long] + k*sign(to[long]-from[long])
		p[short] = from[short]
		if n > 0 {
			p[short] += (2*k*m + n) / (2 * n) * sign(to[short]-from[short])
		}
		pixels[p[1]][p[0]] = true
	}
}

func abs(x int) int { return max(x, -x) }

func sign(x int) int {
	if x < 0 {
		return -1
	}
	return 1
}

// expected returns the places and the screens of all frames, as memory holds
// them.
func (d *demo) expected() (places, screens []byte) {
	for f := range d.frames {
		p, pixels := d.frame(f)
		for _, v := range p {
			places = binary.LittleEndian.AppendUint32(places, uint32(v))
		}
		for _, row := range pixels {
			bits := make([]byte, d.size/8)
			for x, on := range row {
				if on {
					bits[x/8] |= 1 << (x % 8)
				}
			}
			screens = append(screens, bits...)
		}
	}
	return places, screens
}

// run runs a job; its pictures go to out.
func run(t *testing.T, file, out string, level kepler.Level) *report.Run {
	t.Helper()
	ready, err := job.LoadKepler(file)
	if err != nil {
		t.Fatal(err)
	}
	res, err := ready.Run(context.Background(), job.KeplerOptions{Config: kepler.ConfigFor(level), Pictures: out})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Checks {
		if !c.OK {
			t.Errorf("%s at level %v: %s against %s: %d of %d wrong, first %+v", file, level, c.Buffer, c.Against, c.Mismatches, c.Elements, *c.First)
		}
	}
	t.Logf("%s at level %v: %d frames, %d cycles", file, level, len(res.Kernels), res.Cycles)
	ran[leveled{file, level}] = res
	return res
}

// leveled is a job at a level; ran has the results of those that have run, as several tests
// look at each.
type leveled struct {
	file  string
	level kepler.Level
}

var ran = map[leveled]*report.Run{}

// cycles returns the cycles of a job, which runs if no test has run it.
func cycles(t *testing.T, file string, level kepler.Level) uint64 {
	t.Helper()
	if res := ran[leveled{file, level}]; res != nil {
		return res.Cycles
	}
	return run(t, file, t.TempDir(), level).Cycles
}

// The expected results are those of the reference, and so are the pictures
// beside the programs. -update writes both; the pictures are then drawn by the
// programs.
func TestFiles(t *testing.T) {
	for _, d := range demos {
		places, screens := d.expected()
		for name, want := range map[string][]byte{d.name + ".places.bin": places, d.name + ".screen.bin": screens} {
			if *update {
				if err := os.WriteFile(name, want, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(name)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what the reference gives (-update writes it); %v", name, err)
			}
		}
		if *update {
			run(t, d.name+".toml", "", kepler.Datasheet)
		}
		d.pictures(t, ".")
	}
}

// Eight lanes draw what one does, at both levels, in less than half the cycles.
func TestEightLanes(t *testing.T) {
	one, eight := &demos[0], &demos[1]
	for level := range kepler.Datasheet + 1 {
		a, b := one.test(t, level), eight.test(t, level)
		if b.Cycles*2 >= a.Cycles {
			t.Errorf("level %v: %d cycles on eight lanes, %d on one", level, b.Cycles, a.Cycles)
		}
	}
}

// test asserts that a demo leaves the places and the pixels of the reference,
// bit for bit, in all frames, and so do its pictures.
func (d *demo) test(t *testing.T, level kepler.Level) *report.Run {
	t.Helper()
	out := t.TempDir()
	res := run(t, d.name+".toml", out, level)
	if len(res.Checks) != 2 || len(res.Kernels) != d.frames || len(res.Pictures) != 2 {
		t.Errorf("%d checks, %d frames, pictures %v", len(res.Checks), len(res.Kernels), res.Pictures)
	}
	d.pictures(t, out)
	return res
}

// pictures compares the pictures in a folder with the reference.
func (d *demo) pictures(t *testing.T, folder string) {
	t.Helper()
	same := func(what string, im image.Image, frame int) {
		_, pixels := d.frame(frame)
		if b := im.Bounds(); b.Dx() != d.size*d.scale || b.Dy() != b.Dx() {
			t.Errorf("%s: %v", what, b)
			return
		}
		wrong := 0
		for y := range d.size * d.scale {
			for x := range d.size * d.scale {
				want := d.colours[0]
				if pixels[y/d.scale][x/d.scale] {
					want = d.colours[1]
				}
				if color.RGBAModel.Convert(im.At(x, y)) != want {
					wrong++
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d pixels of frame %d are wrong", what, wrong, frame)
		}
	}
	f, err := os.Open(filepath.Join(folder, d.name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	same(f.Name(), im, d.picture)
	g, err := os.Open(filepath.Join(folder, d.name+".gif"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	all, err := gif.DecodeAll(g)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Image) != d.frames || all.Delay[0] != d.wait || all.LoopCount != 0 {
		t.Errorf("%s: %d frames, delay %v, %d rounds", g.Name(), len(all.Image), all.Delay[0], all.LoopCount)
		return
	}
	for n, im := range all.Image {
		same(g.Name(), im, n)
	}
}

// Both products are right at both levels, and the tiled one asks memory for
// less and takes fewer cycles.
func TestProducts(t *testing.T) {
	for level := range kepler.Datasheet + 1 {
		var asked, cycles [2]uint64
		for i, name := range []string{"matmul.toml", "tiled.toml"} {
			ready, err := job.LoadKepler(name)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ready.Run(context.Background(), job.KeplerOptions{Config: kepler.ConfigFor(level), Frame: func(run *krun.Run, _ int) { product(t, ready, run.Core) }})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Checks) != 1 || !res.Checks[0].OK || res.Checks[0].Elements != 64 {
				t.Errorf("%s at level %v: %+v", name, level, res.Checks)
			}
			asked[i], cycles[i] = res.Kepler.Transactions, res.Cycles
		}
		t.Logf("level %v: %v cycles, %v transactions", level, cycles, asked)
		if asked[1] >= asked[0] || cycles[1] >= cycles[0] {
			t.Errorf("level %v: cycles %v, transactions %v; with tiles there should be fewer", level, cycles, asked)
		}
	}
}

// product compares C with the product of what A and B hold.
func product(t *testing.T, r *job.KeplerReady, k *kepler.Core) {
	t.Helper()
	at := func(buffer string, row, col int) int32 {
		return int32(binary.LittleEndian.Uint32(r.Bytes(k, buffer)[4*(8*row+col):]))
	}
	for row := range 8 {
		for col := range 8 {
			want := int32(0)
			for n := range 8 {
				want += at("a", row, n) * at("b", n, col)
			}
			if got := at("c", row, col); got != want {
				t.Errorf("C[%d][%d] is %d, want %d", row, col, got, want)
			}
		}
	}
}

// The documentation has the cycles of every job.
func TestCyclesInDocs(t *testing.T) {
	alltests.Only(t, "cycles that documents state")
	docs, err := os.ReadFile("../../docs/kepler.md")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := filepath.Glob("*.toml")
	if err != nil || len(jobs) < 6 {
		t.Fatal(jobs, err)
	}
	for _, file := range jobs {
		var row string
		for _, l := range strings.Split(string(docs), "\n") {
			if strings.HasPrefix(l, "| `"+file+"` | ") {
				row = l
			}
		}
		rtl, sheet := cycles(t, file, kepler.RTL), cycles(t, file, kepler.Datasheet)
		if want := " | " + report.Count(rtl) + " | " + report.Count(sheet) + " |"; !strings.HasSuffix(row, want) {
			t.Errorf("docs/kepler.md has %q for %s, want %s", row, file, want)
		}
	}
}
