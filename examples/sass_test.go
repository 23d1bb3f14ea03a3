package examples_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/heddle-sim/heddle"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// sassReferences compute what the jobs of sass/ leave in the buffer that they
// check. Sums of binary32 are made in the kernels' order, with one rounding a
// step: math.FMA is exact, and so is a product of two binary32 in binary64.
var sassReferences = map[string]func(in *inputs) any{
	"vecadd": func(in *inputs) any {
		return zip(in.f32("a"), in.f32("b"), func(x, y float64) float32 { return float32(x) + float32(y) })
	},
	"saxpy": func(in *inputs) any {
		return zip(in.f32("x"), in.f32("y"), func(x, y float64) float32 { return fused(1.75, x, y) })
	},
	"reduction": func(in *inputs) any {
		v := in.u32("in")
		out := make([]uint32, len(v)/256)
		for i, x := range v {
			out[i/256] += x
		}
		return out
	},
	"transpose": func(in *inputs) any {
		v := in.u32("in")
		out := make([]uint32, len(v))
		for i, x := range v {
			out[i%128*128+i/128] = x
		}
		return out
	},
	"histogram": func(in *inputs) any {
		out := make([]uint32, 256)
		for _, b := range in.data["in"] {
			out[b]++
		}
		return out
	},
	"collatz": func(*inputs) any {
		out := make([]uint32, 1024)
		for i := range out {
			for n := uint64(i + 1); n != 1; out[i]++ {
				if n%2 == 0 {
					n /= 2
				} else {
					n = 3*n + 1
				}
			}
		}
		return out
	},
	"dot": func(in *inputs) any {
		p := zip(in.f32("a"), in.f32("b"), func(x, y float64) float32 { return float32(x) * float32(y) })
		out := make([]float32, len(p)/32)
		for w := range out {
			v := p[32*w : 32*w+32]
			for step := 16; step > 0; step /= 2 {
				for i := range step {
					v[i] += v[i+step]
				}
			}
			out[w] = v[0]
		}
		return out
	},
	"matmul": func(in *inputs) any {
		a, b := in.f32("a"), in.f32("b")
		out := make([]float32, 64*64)
		for i := range out {
			for k := range 64 {
				out[i] = fused(a[i/64*64+k], b[k*64+i%64], float64(out[i]))
			}
		}
		return out
	},
	"sgemm": func(in *inputs) any {
		a, b := in.f32("a"), in.f32("b")
		out := make([]float32, 128*128)
		for i := range out {
			for k := range 256 {
				out[i] = fused(a[128*k+i/128], b[128*k+i%128], float64(out[i]))
			}
		}
		return out
	},
	"maxflops": func(in *inputs) any {
		out := make([]float32, 1024)
		for i, x := range in.f32("in") {
			for j := range 8 {
				s := float32(x) + float32(j)
				for range 256 {
					s = fused(float64(s), -63.0/64, 10)
				}
				out[i] += s
			}
		}
		return out
	},
	"chase": func(*inputs) any {
		place, sum := uint32(0), uint32(0)
		for range 5000 {
			place = (5*place + 1237) % 4096
			sum += place
		}
		return []uint32{place, sum}
	},
	"straight": func(*inputs) any {
		out := make([]uint32, 256)
		for i := range out {
			x := uint32(i/2) + 1
			if i%2 == 1 {
				x = uint32(i/2) + 0x12345
			}
			for range 96 {
				x ^= x << 13
				x ^= x >> 17
				x ^= x << 5
			}
			out[i] = x
		}
		return out
	},
}

// alone are the jobs whose kernels have no counterpart in PTX: what they are
// for is which instructions there are, and in which order.
var alone = []string{"sgemm", "maxflops", "chase", "straight"}

// fused is a·b + c rounded once to binary32. The product is exact; the sum is
// rounded to odd in binary64, which a second rounding does not harm.
func fused(a, b, c float64) float32 {
	p := a * b
	s := p + c
	t := s - p
	if rest := (p - (s - t)) + (c - t); rest != 0 && math.Float64bits(s)&1 == 0 {
		if (rest > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

func zip(a, b []float64, f func(x, y float64) float32) []float32 {
	out := make([]float32, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

// TestSASS runs the jobs in SASS, and the same with the kernels in PTX, by
// themselves and cycle by cycle: all results are those of the references, bit for
// bit.
func TestSASS(t *testing.T) {
	jobs, err := filepath.Glob("sass/*.toml")
	if err != nil || len(jobs) < len(sassReferences) {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for _, path := range jobs {
		name := jobName(path)
		reference := sassReferences[name]
		if reference == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := &inputs{t: t, dir: "sass", data: map[string][]byte{}}
			if _, err := toml.DecodeFile(path, &in.job); err != nil {
				t.Fatal(err)
			}
			for b, spec := range in.job.Buffers {
				in.data[b] = in.initial(b, spec)
			}
			c := in.job.Checks[0]
			want := encode(t, in.job.Buffers[c.Buffer].Type, reference(in))
			file := filepath.Join("sass", c.File)
			if *update {
				if err := os.WriteFile(file, want, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want) {
				t.Fatalf("%s is not what the reference gives (%v); run with -update", file, err)
			}
			jobs := []string{path}
			if !slices.Contains(alone, name) {
				jobs = append(jobs, twin(t, path, want))
			}
			ways := []heddle.JobOptions{{Threads: 1}, {Threads: 3}, {Threads: 1, Timing: true, GPU: "rtx-a6000"}}
			for i, p := range jobs {
				if !alltests.On() { // SASS cycle by cycle, PTX by itself
					ways = [][]heddle.JobOptions{ways[1:], ways[:1]}[i]
				}
				for _, opt := range ways {
					opt.MaxInsts = 1 << 24
					res, err := heddle.RunJob(context.Background(), p, opt)
					if err != nil {
						t.Fatal(err)
					}
					if !res.OK || len(res.Checks) != 1 {
						t.Errorf("%s: %+v", p, res.Checks)
					}
				}
			}
		})
	}
}

// twin writes a job of sass/ with its kernels in PTX, and returns its path.
func twin(t *testing.T, path string, want []byte) string {
	t.Helper()
	name := jobName(path)
	dir := t.TempDir()
	job := filepath.Join(dir, name+".toml")
	for to, b := range map[string][]byte{
		job:                             bytes.Replace(read(t, path), []byte(name+".sass"), []byte(name+".ptx"), 1),
		filepath.Join(dir, name+".bin"): want,
		filepath.Join(dir, name+".ptx"): read(t, filepath.Join("sass", name+".ptx")),
	} {
		if err := os.WriteFile(to, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return job
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
