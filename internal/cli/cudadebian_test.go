package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// Packages of Debian's section contrib: public programs that nvcc made, linked with NVIDIA's
// shared libraries.
const (
	bartPackage  = "http://deb.debian.org/debian/pool/contrib/b/bart-cuda/bart-cuda_0.8.00-2_amd64.deb"
	mumaxPackage = "http://deb.debian.org/debian/pool/contrib/m/mumax3/mumax3_3.10-9_amd64.deb"
)

// debian returns the path of a program: the installed one, otherwise that of Debian's package, for
// which other packages must be installed.
func debian(t *testing.T, program, url, needs string) string {
	t.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skipf("%s is not installed, and there is no dpkg-deb to unpack Debian's package", program)
	}
	dir := t.TempDir()
	deb := filepath.Join(dir, path.Base(url))
	curl := exec.Command("curl", "--fail", "--silent", "--show-error", "--location", "--max-time", "300", "--output", deb, url)
	curl.WaitDelay = time.Minute
	if out, err := curl.CombinedOutput(); err != nil {
		t.Skipf("%s is not installed, and Debian's package cannot be had: %v: %s", program, err, out)
	}
	if out, err := exec.Command("dpkg-deb", "-x", deb, dir).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v: %s", err, out)
	}
	file := filepath.Join(dir, "usr", "bin", program)
	trace := exec.Command(file)
	trace.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1")
	out, err := trace.Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, m := range notFound.FindAllSubmatch(bytes.TrimSpace(out), -1) {
		if lib := string(m[1]); !strings.HasPrefix(lib, "libcu") {
			t.Skipf("%s lacks %s: apt-get install %s", program, lib, needs)
		}
	}
	return file
}

// inDebian runs a command line in a folder, and returns what it prints.
func inDebian(t *testing.T, dir string, words ...string) string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(cudaEnv(t), "OMP_NUM_THREADS=1")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// TestBART: images reconstructed from magnetic resonance on the simulated GPU, with cuFFT, cuBLAS and
// kernels of BART, are those that the same program computes on the CPU.
func TestBART(t *testing.T) {
	alltests.Only(t, "BART on the CPU and on the simulated GPU")
	bart := debian(t, "bart", bartPackage, "libblas3 liblapacke libfftw3-single3 libpng16-16 libgomp1")
	dir := t.TempDir()
	run := func(words string) {
		inDebian(t, dir, append([]string{"heddle", "cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", "--json", "run.json", "--", bart}, strings.Fields(words)...)...)
	}
	run("phantom -x 48 -k -s 4 kspace")
	run("ecalib -m1 kspace sens")
	for _, way := range []string{"-l2 -r0.01 -i10", "-l1 -r0.01 -i10", "-R T:3:0:0.01 -i10"} {
		run("pics " + way + " kspace sens cpu")
		run("pics -g " + way + " kspace sens gpu")
		text, err := os.ReadFile(filepath.Join(dir, "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		var res struct{ Kernels []struct{ Name string } }
		if err := json.Unmarshal(text, &res); err != nil || len(res.Kernels) < 50 {
			t.Errorf("%s: %d launches, error %v", way, len(res.Kernels), err)
		}
		// Sums in another order differ by roundings of single precision.
		run("nrmse -t 0.00001 cpu gpu")
	}
}

// TestMumax: a magnetic moment in a field turns and falls into its direction as the equation of
// Landau, Lifshitz and Gilbert says. The host program is in Go.
func TestMumax(t *testing.T) {
	alltests.Only(t, "a magnetic moment computed by mumax3")
	mumax := debian(t, "mumax3", mumaxPackage, "nothing")
	dir := t.TempDir()
	const damping, field, time, gyro = 0.1, 0.1, 2e-10, 1.7595e11 // mumax3's rad/(T s)
	script := fmt.Sprintf(`SetGridsize(4, 4, 1)
SetCellsize(4e-9, 4e-9, 4e-9)
Msat = 800e3
Aex = 13e-12
alpha = %g
EnableDemag = false
B_ext = vector(0, 0, %g)
m = uniform(1, 0, 0)
run(%g)
print(m.average())
`, damping, field, time)
	if err := os.WriteFile(filepath.Join(dir, "spin.mx3"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	text := inDebian(t, dir, "heddle", "cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", "--", mumax, "-cache", "", "-http", "", "-o", "out", "spin.mx3")
	m := regexp.MustCompile(`//\[(\S+) (\S+) (\S+)\]`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal(text)
	}
	angle := gyro / (1 + damping*damping) * field * time
	fall := damping * angle
	for i, want := range []float64{math.Cos(angle) / math.Cosh(fall), math.Sin(angle) / math.Cosh(fall), math.Tanh(fall)} {
		if got, err := strconv.ParseFloat(m[i+1], 64); err != nil || math.Abs(got-want) > 1e-5 { // the solver's tolerance
			t.Errorf("component %d is %s, want %.7f", i, m[i+1], want)
		}
	}
}
