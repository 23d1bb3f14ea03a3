package sass

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

var update = flag.Bool("update", false, "write golden files")

// pair is a word and its disassembly by NVIDIA's disassembler; see
// testdata/NOTICE.md.
type pair struct {
	line  int
	addr  uint32
	words [2]uint64
	text  string
}

// readPairs reads a golden file.
func readPairs(t testing.TB, arch Arch) []pair {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", fmt.Sprintf("pairs.%s.tsv.zst", arch)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var list []pair
	lines := bufio.NewScanner(z)
	for n := 1; lines.Scan(); n++ {
		cols := strings.Split(lines.Text(), "\t")
		if strings.HasPrefix(cols[0], "#") || len(cols) != 3 || len(cols[1]) != 32 {
			continue
		}
		addr, err1 := strconv.ParseUint(cols[0], 16, 32)
		hi, err2 := strconv.ParseUint(cols[1][:16], 16, 64)
		lo, err3 := strconv.ParseUint(cols[1][16:], 16, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("%s line %d: %q", arch, n, lines.Text())
		}
		list = append(list, pair{n, uint32(addr), [2]uint64{lo, hi}, cols[2]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// squeeze removes white space, which the comparison ignores.
func squeeze(s string) string {
	return strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimSpace(s), ";")), "")
}

// mnemonic is a pair's opcode without guard and modifiers.
func mnemonic(text string) string {
	f := strings.Fields(text)
	if len(f) > 1 && strings.HasPrefix(f[0], "@") {
		f = f[1:]
	}
	if len(f) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(f[0], ".")
	return name
}

// assembled are architectures with different tables that can be assembled and disassembled.
var assembled = []Arch{70, 75, 80, 86, 90, 120}

// TestNewerPairs counts how much of the later architectures disassembles to the golden texts,
// which two versions of a disassembler wrote. Complete coverage is not required; the golden
// file records how far it goes. Some words of the files are sm_86's, or its predecessors'.
func TestNewerPairs(t *testing.T) {
	var report strings.Builder
	for _, arch := range []Arch{100, 110, 120} {
		list := readPairs(t, arch)
		equal, older := 0, 0
		other, refused := map[string]int{}, map[string]int{}
		for _, p := range list {
			in, err := decodeBody(arch, p.words, p.addr)
			before, err2 := decodeBody(86, p.words, p.addr)
			if err2 == nil && (err != nil || squeeze(in.Text()) != squeeze(p.text)) && squeeze(before.Text()) == squeeze(p.text) {
				older++
				continue
			}
			switch {
			case err != nil:
				refused[mnemonic(p.text)]++
			case squeeze(batch.ReplaceAllString(in.Text(), "")) == squeeze(p.text):
				equal++
			default:
				other[mnemonic(p.text)]++
			}
		}
		fmt.Fprintf(&report, "%s: %d of %d pairs disassemble to the text, %d more as sm_86 (%.1f %%)\n", arch, equal, len(list), older, 100*float64(equal+older)/float64(len(list)))
		fmt.Fprintf(&report, "  another text: %s\n  refused: %s\n", counts(other), counts(refused))
	}
	golden(t, "testdata/newer.golden", report.String())
}

// counts lists numbers by name.
func counts(m map[string]int) string {
	list := make([]string, 0, len(m))
	for n, c := range m {
		list = append(list, fmt.Sprintf("%s %d", n, c))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// batch is what marks the first and the last of texture instructions that go together, which other
// disassemblers do not print.
var batch = regexp.MustCompile(`\.BATCH_[A-Z]+`)

// inScope is the number of pairs of each architecture that must match both ways.
const inScope = 0.9

// TestPairs compares words with texts: pairs in scope disassemble to the text and assemble to
// the words. The golden file lists the others.
func TestPairs(t *testing.T) {
	var report strings.Builder
	for _, arch := range []Arch{70, 75, 80, 86} {
		list := readPairs(t, arch)
		equal := 0
		outside := map[string]int{}
		for _, p := range list {
			in, err := decodeBody(arch, p.words, p.addr)
			if err != nil {
				outside[mnemonic(p.text)]++
				continue
			}
			got := in.Text()
			if squeeze(batch.ReplaceAllString(got, "")) != squeeze(p.text) {
				t.Errorf("%s %016x%016x: %s, want %s", arch, p.words[1], p.words[0], got, p.text)
				continue
			}
			text := p.text
			if batch.MatchString(got) {
				text = got
			}
			w, err2 := Assemble(arch, text, p.addr)
			if err2 != nil {
				t.Errorf("%s %s: %v", arch, p.text, err2)
				continue
			}
			if w != p.words {
				t.Errorf("%s %s: %016x%016x, want %016x%016x", arch, p.text, w[1], w[0], p.words[1], p.words[0])
				continue
			}
			equal++
		}
		if float64(equal) < inScope*float64(len(list)) {
			t.Errorf("%s: only %d of %d pairs are equal", arch, equal, len(list))
		}
		fmt.Fprintf(&report, "%s: %d of %d pairs equal both ways (%.1f %%), %d outside\n", arch, equal, len(list), 100*float64(equal)/float64(len(list)), len(list)-equal)
		names := make([]string, 0, len(outside))
		for n := range outside {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			fmt.Fprintf(&report, "  %s %d\n", n, outside[n])
		}
	}
	golden(t, "testdata/outside.golden", report.String())
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it):\n%s", path, got)
	}
}
