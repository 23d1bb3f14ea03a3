// Package ggml compares the operations of ggml on the CPU and on a simulated GPU; run.sh
// says how to run it by hand.
package ggml

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// missing is run.sh's exit code where the package cannot be had.
const missing = 77

// comparison returns a function that runs run.sh; arguments that begin with CODE=, CHECK=, JSON= or
// SET= are for its environment. It skips the test where a tool or the package is missing.
func comparison(t *testing.T) func(t *testing.T, gpu, mode string, args ...string) string {
	t.Helper()
	alltests.Only(t, "ggml's CUDA backend, a download of 143 MB")
	for _, tool := range []string{"bash", "npm", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s not found", tool)
		}
	}
	heddle := filepath.Join(t.TempDir(), "heddle")
	if out, err := exec.Command("go", "build", "-o", heddle, "../../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(t *testing.T, gpu, mode string, args ...string) string {
		t.Helper()
		cmd := exec.Command("bash", "run.sh")
		cmd.Env = append(os.Environ(), "HEDDLE="+heddle, "GPU="+gpu, "MODE="+mode)
		for _, a := range args {
			if strings.HasPrefix(a, "CODE=") || strings.HasPrefix(a, "CHECK=") || strings.HasPrefix(a, "JSON=") || strings.HasPrefix(a, "SET=") {
				cmd.Env = append(cmd.Env, a)
			} else {
				cmd.Args = append(cmd.Args, a)
			}
		}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == missing:
			t.Skip(strings.TrimSpace(stderr.String()))
		case err != nil:
			t.Errorf("run.sh: %v\n%s%s", err, grep(string(out), "WRONG|^[0-9]+ cases|: $"), stderr.String())
		}
		t.Logf("%s, %s: %s", strings.Join(append([]string{gpu}, args...), " "), mode, strings.TrimSpace(grep(string(out), "^[0-9]+ cases")))
		return string(out)
	}
}

// TestGGML runs every case functionally; every fiftieth also in timing mode on two GPUs,
// where its result has to be the same, bit for bit.
func TestGGML(t *testing.T) {
	compare := comparison(t)
	all := compare(t, "rtx-a6000", "functional", "CODE=ptx")
	if m := regexp.MustCompile(`(?m)^(\d+) cases: (\d+) right, 0 wrong; 0 not supported`).FindStringSubmatch(all); m == nil || m[1] != m[2] || len(m[1]) < 4 {
		t.Error("want at least a thousand cases, all of them supported and right") // the backend declines what the GPU's properties do not allow
	}
	for _, gpu := range []string{"rtx-a6000", "h100-pcie"} {
		want := hashes(compare(t, gpu, "functional", "CODE=ptx", "--hash", "--part", "7/50"))
		got := hashes(compare(t, gpu, "timing", "CODE=ptx", "--hash", "--part", "7/50"))
		if len(want) < 20 || !maps.Equal(got, want) {
			t.Errorf("%s: in timing mode %v, functionally %v", gpu, got, want)
		}
	}
}

// TestPackageCode runs every sixth case by the machine code of NVIDIA's compiler for sm_86, fewer
// by that for sm_89, sm_120 and sm_121; some also in timing mode on two GPUs, guarded by nothing but its control bits: with the same bits, and
// without a word of the hazard checker.
func TestPackageCode(t *testing.T) {
	compare := comparison(t)
	all := compare(t, "rtx-a6000", "functional", "CODE=sass", "--part", "1/6")
	if m := regexp.MustCompile(`(?m)^(\d+) cases: (\d+) right, 0 wrong; 0 not supported`).FindStringSubmatch(all); m == nil || m[1] != m[2] || len(m[1]) < 3 {
		t.Error("want at least a hundred cases, all of them right")
	}
	for capability, gpu := range map[string]string{"8.9": "rtx-a6000", "12.0": "rtx-5070-ti", "12.1": "rtx-5070-ti"} {
		some := compare(t, gpu, "functional", "CODE=sass", "SET=compute_capability="+capability, "--part", "5/30")
		if m := regexp.MustCompile(`(?m)^(\d+) cases: (\d+) right, 0 wrong; 0 not supported`).FindStringSubmatch(some); m == nil || m[1] != m[2] {
			t.Errorf("%s: want all cases right", capability)
		}
	}
	for _, gpu := range []string{"rtx-a6000", "rtx-3090"} {
		want := hashes(compare(t, gpu, "functional", "CODE=sass", "--hash", "--part", "8/50"))
		got := hashes(compare(t, gpu, "timing", "CODE=sass", "CHECK=hazards", "--hash", "--part", "8/50"))
		if len(want) < 20 || !maps.Equal(got, want) {
			t.Errorf("%s: in timing mode %v, functionally %v", gpu, got, want)
		}
	}
}

// TestPackageListed: the instructions of the package have names, and their text assembles to
// their words.
func TestPackageListed(t *testing.T) {
	entries := library(t)
	for _, arch := range []sass.Arch{86, 89, 120, 121} {
		t.Run(arch.String(), func(t *testing.T) {
			t.Parallel()
			words := distinct(t, entries, arch)
			unnamed := roundTrip(t, arch, words)
			t.Logf("%d distinct words, %d without a name", len(words), len(unnamed))
			if len(words) < 1_000_000 || len(unnamed) > 0 {
				t.Errorf("want at least a million distinct words, each with a name; there are %d, without names %016x", len(words), unnamed[:min(len(unnamed), 20)])
			}
		})
	}
}

// distinct returns the words of an architecture's kernels, each once, with an address at which it
// is.
func distinct(t *testing.T, entries []fatbin.Entry, arch sass.Arch) map[[2]uint64]uint32 {
	t.Helper()
	words := map[[2]uint64]uint32{}
	machineCode(t, entries, int(arch), func(_ *cubin.File, k *cubin.Kernel) {
		for at := 0; at < len(k.Code); at += sass.InstBytes {
			w := [2]uint64{binary.LittleEndian.Uint64(k.Code[at:]), binary.LittleEndian.Uint64(k.Code[at+8:])}
			words[w] = uint32(at)
		}
	})
	return words
}

// roundTrip returns the words that have no name, in order, and checks that the text of the others
// assembles to them.
func roundTrip(t *testing.T, arch sass.Arch, words map[[2]uint64]uint32) (unnamed [][2]uint64) {
	t.Helper()
	const control = 0x1ffff << (105 - 64) // bits 121:105, which the text of an instruction lacks
	body := map[[2]uint64]bool{}
	bad := 0
	for w, at := range words {
		in, err := sass.Decode(arch, w, at)
		if err != nil {
			unnamed = append(unnamed, w)
			continue
		}
		w[1] &^= control
		if body[w] {
			continue
		}
		body[w] = true
		if got, err := sass.Assemble(arch, in.Text(), at); err != nil || got != w {
			if bad++; bad <= 10 {
				t.Errorf("%s: %s: %016x %016x, %v; want %016x %016x", arch, in.Text(), got[0], got[1], err, w[0], w[1])
			}
		}
	}
	slices.SortFunc(unnamed, func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return unnamed
}

// library returns what the package's library holds.
func library(t *testing.T) []fatbin.Entry {
	t.Helper()
	comparison(t)(t, "rtx-a6000", "functional", "--part", "1/1000") // brings the package
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(cache, "heddle", "ggml-*", "package", "bins", "*", "libggml-cuda.so"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no library: %v", err)
	}
	path := list[len(list)-1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fatbin.Entries(path, b)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// grep returns the lines that match.
func grep(text, pattern string) string {
	match := regexp.MustCompile(pattern)
	var s strings.Builder
	for line := range strings.Lines(text) {
		if match.MatchString(strings.TrimSuffix(line, "\n")) {
			s.WriteString(line)
		}
	}
	return s.String()
}

// hashes returns the hash of the result of every case.
func hashes(out string) map[string]string {
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(.*): error .*: (?:right|WRONG) ([0-9a-f]{16})$`).FindAllStringSubmatch(out, -1) {
		found[m[1]] = m[2]
	}
	return found
}
