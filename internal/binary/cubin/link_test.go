package cubin

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// relocatables are a kernel that calls a function of another file, and a file with functions; see
// testdata/NOTICE.md.
func relocatables(t *testing.T) (kernel, functions []byte) {
	t.Helper()
	for _, c := range []struct {
		to   *[]byte
		name string
	}{{&kernel, "undefined_extern"}, {&functions, "test_device_functions"}} {
		b, err := os.ReadFile("testdata/" + c.name + ".sm_70.cubin")
		if err != nil {
			t.Fatal(err)
		}
		*c.to = b
	}
	return kernel, functions
}

// renamed is a file in which a name, wherever it stands, is another, which is not longer.
func renamed(b []byte, old, name string) []byte {
	return bytes.ReplaceAll(b, append([]byte(old), 0), append([]byte(name), make([]byte, 1+len(old)-len(name))...))
}

const addHalves = "_Z13test_add_fp166__halfS_"

// TestRelocatable: what is relocatable says so, and names what it lacks.
func TestRelocatable(t *testing.T) {
	kernel, functions := relocatables(t)
	f, err := Read("kernel", kernel)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Relocatable || f.Arch != 70 || !slices.Equal(f.Externs, []string{"_Z5undefff"}) || len(f.Kernels) != 1 || f.Kernels[0].Regs != 24 || f.Kernels[0].ParamBytes != 24 {
		t.Errorf("%+v", f)
	}
	if f, err = Read("functions", functions); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, fn := range f.Functions {
		names = append(names, fn.Name)
		if fn.Regs != 24 || fn.Local || fn.Weak || len(fn.Code) != 0x80 {
			t.Errorf("function %+v", fn)
		}
	}
	if !f.Relocatable || len(f.Kernels) > 0 || !slices.Equal(names, []string{"add_from_numba", "_Z13test_cmp_fp166__halfS_", addHalves}) {
		t.Errorf("functions %v", names)
	}
}

// TestLink: names are found across files; what is defined twice, or for another architecture, is
// not linked.
func TestLink(t *testing.T) {
	kernel, functions := relocatables(t)
	helper := renamed(functions, addHalves, "_Z5undefff")
	other := bytes.Clone(helper)
	other[48] = 80 // e_flags: sm_80
	weak := bytes.Clone(helper)
	_, at, size := section(t, weak, ".symtab")
	for n := at; n < at+size; n += 24 {
		if weak[n+4]>>4 == 1 { // STB_GLOBAL
			weak[n+4] += 0x10
		}
	}
	for _, c := range []struct {
		name   string
		files  [][]byte
		says   string
		opened []string // names that stay open
	}{
		{name: "all", files: [][]byte{kernel, helper}},
		{name: "the other order", files: [][]byte{helper, kernel}},
		{name: "another definition, which is weak", files: [][]byte{weak, kernel, helper}},
		{name: "weak ones", files: [][]byte{kernel, weak, weak}},
		{name: "alone", files: [][]byte{kernel}, opened: []string{"_Z5undefff"}},
		{name: "without what it lacks", files: [][]byte{kernel, functions}, opened: []string{"_Z5undefff"}},
		{name: "twice", files: [][]byte{kernel, helper, helper}, says: "file 2: add_from_numba is defined twice, here and in file 1"},
		{name: "the kernel twice", files: [][]byte{kernel, kernel}, says: "file 1: _Z1fPfS_S_ is defined twice"},
		{name: "another architecture", files: [][]byte{kernel, other}, says: "file 1: it is for sm_80, but file 0 is for sm_70"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []*File
			for i, b := range c.files {
				f, err := Read("file "+string(rune('0'+i)), b)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, f)
			}
			f, err := Link("all", list...)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("error %v; want %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(f.Externs, c.opened) || len(f.Kernels) != 1 || f.Relocatable {
				t.Errorf("open: %v, %d kernels", f.Externs, len(f.Kernels))
			}
			want := Place{Kind: InCode, Owner: "_Z5undefff"}
			if len(c.opened) > 0 {
				want = Place{}
			}
			if !slices.ContainsFunc(f.Relocations, func(r Relocation) bool {
				return r.Type == RelocFunction && r.At.Owner == "_Z1fPfS_S_" && r.Place == want
			}) {
				t.Errorf("relocations %+v", f.Relocations)
			}
		})
	}
}

// TestLinkedLines: each function keeps the lines of the file that it was taken from, whatever the
// other files have under its name.
func TestLinkedLines(t *testing.T) {
	file := func(name string, line int) *File {
		f := &File{Arch: 86, Functions: []*Function{{Name: "twice", Code: make([]byte, 64)}, {Name: "own", Code: make([]byte, 64)}}}
		b, err := Write(f, map[string][]Line{"twice": {{File: name, Line: line}}, "own": {{File: name, Line: line + 1}}})
		if err != nil {
			t.Fatal(err)
		}
		if f, err = Read(name, b); err != nil {
			t.Fatal(err)
		}
		for _, fn := range f.Functions {
			fn.Local = fn.Name == "own"
		}
		return f
	}
	strong, weak := file("strong.cu", 10), file("weak.cu", 20)
	weak.Yield()
	for _, c := range []struct {
		name  string
		files []*File
		own   [2]string // which file's
	}{
		{"a strong definition first", []*File{strong, weak}, [2]string{"strong.cu", "weak.cu"}},
		{"a strong definition second", []*File{weak, strong}, [2]string{"weak.cu", "strong.cu"}},
	} {
		f, err := Link("all", c.files...)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := f.SourceLines()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for name, l := range lines {
			got[name] = l[0].File
		}
		if want := (map[string]string{"twice": "strong.cu", "own": c.own[0], "own$2": c.own[1]}); !maps.Equal(got, want) {
			t.Errorf("%s: lines of %v, want %v", c.name, got, want)
		}
	}
}
