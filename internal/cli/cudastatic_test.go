package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// relionPackage is Debian's build of RELION, which finds the shapes of molecules in pictures of an electron microscope: a
// public program that nvcc 11.8 made and that contains NVIDIA's runtime.
const relionPackage = "http://deb.debian.org/debian/pool/contrib/r/relion-cuda/relion-cuda_3.1.3-2_amd64.deb"

const (
	particles = 24 // of the test
	pixels    = 32 // of a side
	angstroms = 4  // of a pixel
)

// TestStaticRuntime: a program with NVIDIA's runtime in it computes on the simulated GPU what it computes on the CPU.
func TestStaticRuntime(t *testing.T) {
	alltests.Only(t, "a program that contains NVIDIA's runtime")
	env := append(os.Environ(), cudaEnv(t)...)
	relion := debian(t, "relion_refine", relionPackage, "libopenmpi3 libfftw3-double3 libfftw3-single3 libtiff6 libgomp1")
	dir := t.TempDir()
	writeParticles(t, dir)
	run := func(out string, words ...string) map[string][]float64 {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, out), 0o777); err != nil {
			t.Fatal(err)
		}
		words = append(words, strings.Fields("--i parts.star --o "+out+"/run --iter 1 --K 1 --ref ref.mrcs --particle_diameter 100 --oversampling 1 "+
			"--psi_step 11.25 --zero_mask --offset_range 2 --offset_step 2 --random_seed 1 --pad 1 --flatten_solvent --norm --scale --dont_check_norm --j 1")...)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, env
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, text)
		}
		return readParticles(t, filepath.Join(dir, out, "run_it001_data.star"))
	}
	heddle := []string{"heddle", "cuda", "--mode", "functional", "--gpu", "rtx-3090", "--quiet", "--"}
	cpu := run("cpu", append(heddle, relion)...)
	gpu := run("gpu", append(heddle, relion, "--gpu", "0")...)

	turned := 0
	for i, psi := range cpu["_rlnAnglePsi"] {
		if math.Abs(psi-gpu["_rlnAnglePsi"][i]) > 0.01 {
			turned++ // to one that is almost as likely
		}
	}
	if turned > particles/8 {
		t.Errorf("%d of %d particles are turned otherwise than on the CPU", turned, particles)
	}
	// The GPU computes in single precision, and interpolates by textures, whose weights have 8 bits.
	for _, c := range []struct {
		column string
		within float64
	}{{"_rlnNormCorrection", 1e-3}, {"_rlnLogLikeliContribution", 5e-3}} {
		for i, want := range cpu[c.column] {
			if got := gpu[c.column][i]; math.Abs(got-want) > c.within*math.Abs(want) {
				t.Errorf("%s of particle %d is %v, on the CPU %v; want less than %v of difference", c.column, i+1, got, want, c.within)
			}
		}
	}
	if r := correlation(readImage(t, filepath.Join(dir, "cpu/run_it001_classes.mrcs")), readImage(t, filepath.Join(dir, "gpu/run_it001_classes.mrcs"))); r < 0.999 {
		t.Errorf("the means of the particles on CPU and GPU have the correlation %.5f; want at least 0.999", r)
	}
}

// writeParticles writes noisy pictures of three blobs, turned and shifted, and one without noise.
func writeParticles(t *testing.T, dir string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	picture := func(angle, dx, dy, noise float64) []float32 {
		list := make([]float32, 0, pixels*pixels)
		s, c := math.Sincos(angle)
		for y := range pixels {
			for x := range pixels {
				u, v := float64(x)-pixels/2-dx, float64(y)-pixels/2-dy
				a, b := c*u+s*v, c*v-s*u
				sum := noise * r.NormFloat64()
				for _, blob := range [][4]float64{{5, 0, 2, 1}, {-4, 3, 2.5, 0.8}, {0, -6, 1.8, 1.2}} {
					sum += blob[3] * math.Exp(-(math.Pow(a-blob[0], 2)+math.Pow(b-blob[1], 2))/(2*blob[2]*blob[2]))
				}
				list = append(list, float32(sum))
			}
		}
		return list
	}
	var stack, star bytes.Buffer
	fmt.Fprintf(&star, "\n# version 30001\n\ndata_optics\n\nloop_\n_rlnOpticsGroup #1\n_rlnOpticsGroupName #2\n_rlnImagePixelSize #3\n_rlnImageSize #4\n"+
		"_rlnImageDimensionality #5\n_rlnVoltage #6\n_rlnSphericalAberration #7\n_rlnAmplitudeContrast #8\n1 group1 %d %d 2 300.0 2.7 0.1\n\n"+
		"# version 30001\n\ndata_particles\n\nloop_\n_rlnImageName #1\n_rlnMicrographName #2\n_rlnOpticsGroup #3\n", angstroms, pixels)
	stack.Write(mrcHeader(particles))
	for i := range particles {
		writeAll(t, &stack, picture(2*math.Pi*r.Float64(), 2*r.Float64()-1, 2*r.Float64()-1, 2))
		fmt.Fprintf(&star, "%06d@parts.mrcs mic%d.mrc 1\n", i+1, i/8)
	}
	ref := bytes.NewBuffer(mrcHeader(1))
	writeAll(t, ref, picture(0, 0, 0, 0))
	for name, b := range map[string][]byte{"parts.mrcs": stack.Bytes(), "ref.mrcs": ref.Bytes(), "parts.star": star.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// writeAll writes pixels with mean 0 and variance 1.
func writeAll(t *testing.T, w io.Writer, list []float32) {
	t.Helper()
	var sum, squares float64
	for _, v := range list {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(list))
	mean := sum / n
	for i, v := range list {
		list[i] = float32((float64(v) - mean) / math.Sqrt(squares/n-mean*mean))
	}
	if err := binary.Write(w, binary.LittleEndian, list); err != nil {
		t.Fatal(err)
	}
}

// The parts of the MRC2014 format that are used here: three counts, the mode of float32 and its sizes.
const mrcBytes = 1024

func mrcHeader(pictures int32) []byte {
	le := binary.LittleEndian
	var h []byte
	for _, v := range []int32{pixels, pixels, pictures, 2, 0, 0, 0, pixels, pixels, pictures} {
		h = le.AppendUint32(h, uint32(v))
	}
	for _, v := range []float32{pixels * angstroms, pixels * angstroms, float32(pictures) * angstroms, 90, 90, 90} {
		h = le.AppendUint32(h, math.Float32bits(v))
	}
	h = append(h, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)
	h = append(h, make([]byte, mrcBytes-len(h))...)
	copy(h[208:], "MAP \x44\x44")
	return h
}

func readImage(t *testing.T, path string) []float32 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != mrcBytes+4*pixels*pixels {
		t.Fatalf("%s has %d bytes, want %d", path, len(b), mrcBytes+4*pixels*pixels)
	}
	list := make([]float32, pixels*pixels)
	if _, err := binary.Decode(b[mrcBytes:], binary.LittleEndian, list); err != nil {
		t.Fatal(err)
	}
	return list
}

// readParticles returns the numbers of a table of particles by column.
func readParticles(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(b), "data_particles")
	if !ok {
		t.Fatalf("%s has no data_particles", path)
	}
	var names []string
	list := map[string][]float64{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case len(words) > 0 && strings.HasPrefix(words[0], "_"):
			names = append(names, words[0])
		case len(words) == len(names) && len(names) > 0:
			for i, w := range words {
				if v, err := strconv.ParseFloat(w, 64); err == nil {
					list[names[i]] = append(list[names[i]], v)
				}
			}
		}
	}
	for _, name := range []string{"_rlnAnglePsi", "_rlnNormCorrection", "_rlnLogLikeliContribution"} {
		if len(list[name]) != particles {
			t.Fatalf("%s has %d values of %s, want %d", path, len(list[name]), name, particles)
		}
	}
	return list
}

// correlation returns Pearson's coefficient.
func correlation(a, b []float32) float64 {
	var n, sa, sb, saa, sbb, sab float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		n, sa, sb, saa, sbb, sab = n+1, sa+x, sb+y, saa+x*x, sbb+y*y, sab+x*y
	}
	return (n*sab - sa*sb) / math.Sqrt((n*saa-sa*sa)*(n*sbb-sb*sb))
}
