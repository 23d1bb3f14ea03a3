package process

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const text = `extern int out(int);
static inline __attribute__((always_inline)) int inner(int x) {
  return out(x + 1) + 1;
}
int outer(int x) {
  return inner(x) * 3;
}
`

// TestLines: a call in an inlined function has its line and that of the function into which
// it was inlined; without line numbers there is the symbol, and without that an offset.
func TestLines(t *testing.T) {
	compiler, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("no clang")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  []string
		lines []string // of some instruction of outer
	}{
		{"inlined", []string{"-gline-tables-only"}, []string{source + ":3 inner", source + ":6 outer"}},
		{"all debug information", []string{"-g"}, []string{source + ":3 inner", source + ":6 outer"}},
		{"DWARF 4", []string{"-g", "-gdwarf-4"}, []string{source + ":3 inner", source + ":6 outer"}},
		{"no lines", nil, []string{":0 outer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lib := filepath.Join(t.TempDir(), "a.so")
			cmd := exec.Command(compiler, append(c.args, "-O2", "-fPIC", "-shared", "-o", lib, source)...)
			cmd.Dir = dir
			if b, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			f, err := elf.Open(lib)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			symbols, _ := f.Symbols()
			i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "outer" })
			if i < 0 {
				t.Fatal("no symbol outer")
			}
			var all []string
			m := open(lib)
			for addr := symbols[i].Value; addr < symbols[i].Value+symbols[i].Size; addr++ {
				all = append(all, shown(m.at(offsetOf(f, addr))))
			}
			if want := strings.Join(c.lines, ", "); !slices.Contains(all, want) {
				t.Errorf("no instruction is at %q; got %q", want, slices.Compact(all))
			}
			if got := shown(m.at(1)); !strings.HasPrefix(got, ":0 "+lib+"+0x1") {
				t.Errorf("an address without a symbol is %q", got)
			}
		})
	}
}

// offsetOf returns the place of an address in the file.
func offsetOf(f *elf.File, addr uint64) uint64 {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr < p.Vaddr+p.Filesz {
			return addr - p.Vaddr + p.Off
		}
	}
	return 0
}

func shown(list []Frame) string {
	var s []string
	for _, f := range list {
		s = append(s, f.File+":"+string(rune('0'+f.Line))+" "+f.Function)
	}
	return strings.Join(s, ", ")
}

// TestNothing: what is no code and what is no file have no frames, and do no harm.
func TestNothing(t *testing.T) {
	if list := New().At(16); list != nil {
		t.Errorf("address 16 is %v", list)
	}
	if m := open(filepath.Join(t.TempDir(), "gone")); len(m.at(64)) != 1 {
		t.Error("a file that is gone has no offset")
	}
}
