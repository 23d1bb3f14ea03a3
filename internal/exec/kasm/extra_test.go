package kasm_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	xkasm "github.com/heddle-sim/heddle/internal/exec/kasm"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

func TestAtomic(t *testing.T) {
	const minusOne = 0xffffffff
	for _, c := range []struct {
		a         kasm.Atomic
		old, b, c uint32
		want      uint32
	}{
		{a: kasm.AtomicAdd, old: minusOne, b: 3, want: 2},
		{a: kasm.AtomicMin, old: 1, b: minusOne, want: minusOne},
		{a: kasm.AtomicMin, old: minusOne, b: 1, want: minusOne},
		{a: kasm.AtomicMax, old: 1, b: minusOne, want: 1},
		{a: kasm.AtomicMax, old: 1 << 31, b: 0, want: 0},
		{a: kasm.AtomicAnd, old: 12, b: 10, want: 8},
		{a: kasm.AtomicOr, old: 12, b: 10, want: 14},
		{a: kasm.AtomicXor, old: 12, b: 10, want: 6},
		{a: kasm.AtomicExch, old: 12, b: 10, want: 10},
		{a: kasm.AtomicCas, old: 12, b: 12, c: 7, want: 7},
		{a: kasm.AtomicCas, old: 12, b: 13, c: 7, want: 12},
	} {
		if got := xkasm.Atomic(c.a, c.old, c.b, c.c); got != c.want {
			t.Errorf("atomic %d of %#x with %#x, %#x: %#x, want %#x", c.a, c.old, c.b, c.c, got, c.want)
		}
	}
}

// corner is a vertex in sixteenths of a pixel.
type corner struct{ x, y int }

func (c corner) word() uint32 { return uint32(uint16(c.x)) | uint32(uint16(c.y))<<16 }

func pixel(x, y int) uint32 { return uint32(x&0xfff) | uint32(y&0xfff)<<16 }

// twice returns twice the area of a triangle, exactly, by the shoelace formula.
func twice(p [3][2]*big.Int) *big.Int {
	sum := new(big.Int)
	for i := range 3 {
		j := (i + 1) % 3
		sum.Add(sum, new(big.Int).Mul(p[i][0], p[j][1]))
		sum.Sub(sum, new(big.Int).Mul(p[j][0], p[i][1]))
	}
	return sum
}

// inside is the top-left rule stated differently: a sample counts as slightly further right,
// and by much less further down, than it is.
func inside(v [3]corner, px, py int) bool {
	const much, little = 1 << 40, 1 << 20
	scale := func(x, add int) *big.Int {
		z := big.NewInt(int64(x))
		z.Mul(z, big.NewInt(much))
		return z.Add(z, big.NewInt(int64(add)))
	}
	at := [2]*big.Int{scale(16*px+8, little), scale(16*py+8, 1)}
	var p [3][2]*big.Int
	for i, c := range v {
		p[i] = [2]*big.Int{scale(c.x, 0), scale(c.y, 0)}
	}
	whole := twice(p).Sign()
	for i := range p {
		q := p
		q[i] = at
		if twice(q).Sign() != whole || whole == 0 {
			return false
		}
	}
	return true
}

// setUp puts a triangle into all lanes and returns twice its area.
func setUp(v [3]corner) (*xkasm.Triangle, int32) {
	t, out := new(xkasm.Triangle), new(xkasm.Vector)
	xkasm.Raster(kasm.TRI, ^uint32(0), t, splat(v[0].word()), splat(v[1].word()), splat(v[2].word()), out)
	return t, int32(out[7])
}

func raster(op kasm.Op, t *xkasm.Triangle, a, b, c uint32) uint32 {
	out := new(xkasm.Vector)
	if !xkasm.Raster(op, ^uint32(0), t, splat(a), splat(b), splat(c), out) {
		panic(op)
	}
	return out[31]
}

func TestCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for n := range 400 {
		var v [3]corner
		for i := range v {
			v[i] = corner{r.IntN(256), r.IntN(256)}
			if n%2 == 0 { // edges through samples
				v[i] = corner{16*r.IntN(16) + 8, 16*r.IntN(16) + 8}
			}
			if n%10 == 9 { // far out
				v[i] = corner{r.IntN(1<<16) - 1<<15, r.IntN(1<<16) - 1<<15}
			}
		}
		tri, area := setUp(v)
		var p [3][2]*big.Int
		for i, c := range v {
			p[i] = [2]*big.Int{big.NewInt(int64(c.x)), big.NewInt(int64(c.y))}
		}
		if want := max(math.MinInt32, min(twice(p).Int64(), math.MaxInt32)); int64(area) != want {
			t.Fatalf("%v: TRI says %d, want %d", v, area, want)
		}
		for range 64 {
			x, y := r.IntN(17)-1, r.IntN(17)-1
			got, want := raster(kasm.RAST, tri, pixel(x, y), 0, 0), inside(v, x, y)
			if (got == 1) != want {
				t.Fatalf("%v at pixel %d, %d: covered %d, want %v", v, x, y, got, want)
			}
			covered += int(got)
		}
	}
	if covered < 2000 {
		t.Errorf("only %d pixels were covered", covered)
	}
}

// Triangles that share edges share no pixel and leave none out, in either vertex order.
func TestCoverOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		rim := []corner{{0, 0}, {256, 0}, {256, 256}, {0, 256}}
		hub := corner{8 + 16*r.IntN(16), 8 + 16*r.IntN(16)}
		var tris []*xkasm.Triangle
		for i := range rim {
			v := [3]corner{hub, rim[i], rim[(i+1)%4]}
			if r.IntN(2) == 0 {
				v[1], v[2] = v[2], v[1]
			}
			tri, _ := setUp(v)
			tris = append(tris, tri)
		}
		for y := range 16 {
			for x := range 16 {
				n := uint32(0)
				for _, tri := range tris {
					n += raster(kasm.RAST, tri, pixel(x, y), 0, 0)
				}
				if n != 1 {
					t.Fatalf("hub %v: pixel %d, %d is covered %d times", hub, x, y, n)
				}
			}
		}
	}
}

func TestInterpolate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var v [3]corner
		for i := range v {
			v[i] = corner{r.IntN(1024) - 256, r.IntN(1024) - 256}
		}
		tri, area := setUp(v)
		x, y := r.IntN(64)-16, r.IntN(64)-16
		b := raster(kasm.BARY, tri, pixel(x, y), 0, 0)
		for i, got := range [...]uint32{b & 0xffff, b >> 16} {
			p := [3][2]*big.Int{}
			for j, c := range v {
				p[j] = [2]*big.Int{big.NewInt(int64(c.x)), big.NewInt(int64(c.y))}
			}
			p[i+1] = [2]*big.Int{big.NewInt(int64(16*x + 8)), big.NewInt(int64(16*y + 8))}
			want := 0.0
			if area != 0 {
				want = math.Floor(float64(twice(p).Int64()) * 65536 / float64(area)) // exact enough: both are below 2^24
			}
			if want = max(0, min(want, 65535)); float64(got) != want {
				t.Fatalf("%v at %d, %d: share %d is %d, want %v", v, x, y, i+1, got, want)
			}
		}
		a := [3]int16{int16(r.Uint32()), int16(r.Uint32()), int16(r.Uint32())}
		got := int32(raster(kasm.INTP, tri, b, uint32(uint16(a[0]))|uint32(uint16(a[1]))<<16, uint32(uint16(a[2]))|r.Uint32()<<16))
		b1, b2 := float64(b&0xffff)/65536, float64(b>>16)/65536
		want := math.Floor(float64(a[0])*(1-b1-b2) + float64(a[1])*b1 + float64(a[2])*b2)
		if float64(got) != want {
			t.Fatalf("attributes %v at %08x: %d, want %v", a, b, got, want)
		}
	}
}

// Lanes outside the mask keep their triangle.
func TestTriangleMask(t *testing.T) {
	tri, _ := setUp([3]corner{{0, 0}, {64, 0}, {0, 64}})
	out := new(xkasm.Vector)
	xkasm.Raster(kasm.TRI, 2, tri, splat(0), splat(0), splat(0), out)
	xkasm.Raster(kasm.RAST, 7, tri, splat(pixel(0, 0)), nil, nil, out)
	if out[0] != 1 || out[1] != 0 || out[2] != 1 || out[3] != 0 {
		t.Errorf("covered: %v", out[:4])
	}
}

func TestTexture(t *testing.T) {
	const logW, logH, base = 3, 2, 0x400
	r := rand.New(rand.NewPCG(7, 8))
	texels := [1 << logH][1 << logW]uint32{}
	for y := range texels {
		for x := range texels[y] {
			texels[y][x] = r.Uint32()
		}
	}
	for range 4000 {
		how := kasm.Texture{LogW: logW, LogH: logH, Bilinear: r.IntN(2) == 0, Clamp: r.IntN(2) == 0}
		if back := kasm.TextureOf(how.Imm()); back != how {
			t.Fatalf("%+v becomes %+v", how, back)
		}
		u, v := r.IntN(1<<13)-1<<12, r.IntN(1<<13)-1<<12
		if r.IntN(8) == 0 {
			u, v = int(int32(r.Uint32())), int(int32(r.Uint32()))
		}
		at := func(x, y float64) uint32 { // a texel by its number
			fit := func(n float64, size int) int {
				if how.Clamp {
					return int(max(0, min(n, float64(size-1))))
				}
				return int(n - float64(size)*math.Floor(n/float64(size)))
			}
			return texels[fit(y, 1<<logH)][fit(x, 1<<logW)]
		}
		fu, fv := float64(u)/256, float64(v)/256
		want := at(math.Floor(fu), math.Floor(fv))
		if how.Bilinear {
			want = 0
			x, y := math.Floor(fu-0.5), math.Floor(fv-0.5)
			tx, ty := fu-0.5-x, fv-0.5-y
			for s := 0; s < 32; s += 8 {
				c := func(x, y float64) float64 { return float64(at(x, y) >> s & 255) }
				top := c(x, y)*(1-tx) + c(x+1, y)*tx
				bottom := c(x, y+1)*(1-tx) + c(x+1, y+1)*tx
				want |= uint32(math.Floor(top*(1-ty)+bottom*ty+0.5)) << s
			}
		}
		tap := xkasm.Taps(how, uint32(u), uint32(v), base)
		var c [4]uint32
		for i, a := range tap.At[:tap.N] {
			n := (a - base) / 4
			c[i] = texels[n>>logW][n&(1<<logW-1)]
		}
		if got := tap.Filter(&c); got != want {
			t.Fatalf("%+v at %d, %d: %08x, want %08x", how, u, v, got, want)
		}
	}
}
