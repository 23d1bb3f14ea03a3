package ptx

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHeads: a file whose bodies are parsed later, the last one first, gives what Parse
// gives.
func TestHeads(t *testing.T) {
	later := 0
	for _, name := range slices.Concat(ptxFiles(t, "testdata/conformance"), ptxFiles(t, "testdata/language"), compiled(t)) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Parse(name, src)
		if err != nil {
			t.Fatal(err)
		}
		heads, err := ParseHeads(name, src)
		if err != nil {
			t.Errorf("heads: %.2000s", err)
			continue
		}
		for _, f := range slices.Backward(heads.Funcs) {
			if f.Entry && f.Body == nil && !f.Proto {
				later++
			}
			if err := f.Load(); err != nil {
				t.Errorf("%s: %.2000s", f.Name, err)
			}
		}
		checkResolved(t, heads)
		var want, got bytes.Buffer
		if Print(&want, whole) != nil || Print(&got, heads) != nil || !bytes.Equal(want.Bytes(), got.Bytes()) {
			t.Errorf("%s prints differently", name)
		}
		for i, f := range whole.Funcs {
			g := heads.Funcs[i]
			if len(g.Code) != len(f.Code) || len(g.Vars) != len(f.Vars) || len(g.Labels) != len(f.Labels) {
				t.Errorf("%s: %s has %d instructions, %d variables and %d labels, want %d, %d and %d", name, f.Name, len(g.Code), len(g.Vars), len(g.Labels), len(f.Code), len(f.Vars), len(f.Labels))
				continue
			}
			for k, in := range f.Code {
				if g.Code[k].Pos != in.Pos {
					t.Errorf("%s: an instruction of line %d is in line %d", name, in.Pos.Line, g.Code[k].Pos.Line)
				}
			}
		}
	}
	if later < 100 {
		t.Errorf("the bodies of %d kernels were parsed later", later)
	}
}

// TestHeadsBroken: of every broken file, the heads or a body report errors of Parse, at
// their places, and nothing else.
func TestHeadsBroken(t *testing.T) {
	for _, name := range ptxFiles(t, "testdata/broken") {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(name, src)
		want := places(t, err)
		m, err := ParseHeads(name, src)
		got := places(t, err)
		if err == nil {
			for _, f := range m.Funcs {
				err := f.Load()
				got = append(got, places(t, err)...)
				if again := f.Load(); (err == nil) != (again == nil) || err != nil && (f.Body != nil || len(f.Code) > 0) {
					t.Errorf("%s: %s: %v, then %v, body %v", name, f.Name, err, again, f.Body != nil)
				}
			}
		}
		if len(got) == 0 {
			t.Errorf("%s: no error, want %v", filepath.Base(name), want)
		}
		for _, at := range got {
			if !slices.Contains(want, at) {
				t.Errorf("%s: an error at %v, want %v", filepath.Base(name), at, want)
			}
		}
	}
}

func places(t *testing.T, err error) (list []Pos) {
	t.Helper()
	var errs ErrorList
	if err != nil && !errors.As(err, &errs) {
		t.Fatalf("the error is a %T", err)
	}
	for _, e := range errs {
		list = append(list, e.Pos)
	}
	return list
}

// TestSkippedBodies: which bodies wait until they are needed.
func TestSkippedBodies(t *testing.T) {
	for _, c := range []struct {
		what, body string
		later      bool
	}{
		{"plain", "ret;", true},
		{"nested blocks", "{ .reg .b32 %x; { mov.b32 %x, 1; } } ret;", true},
		{"an instruction directly after a brace", ".reg .b32 %x; {not.b32 %x, %x;} ret;", true},
		{"a brace in a comment", "// }\n/* } \n } */ ret;", true},
		{"a brace in a string", `.pragma "}"; ret;`, true},
		{"labels and tables", ".reg .b32 %i; L: T: .branchtargets L, M; brx.idx %i, T; M: ret;", true},
		{"shared and local variables", ".shared .b32 s; .local .b32 l; ret;", true},
		{"loads of global memory", ".reg .b64 %a; .reg .b32 %b; ld.global.b32 %b, [%a]; ret;", true},
		{"a variable in global memory", "ret; .global .b32 g;", false},
		{"one after a block", "{} .global .b32 g; ret;", false},
		{"one after a label", "L: .const .b32 g; ret;", false},
		{"an external one", ".extern .shared .b32 g[]; ret;", false},
	} {
		m, err := ParseHeads("skip.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.entry k() .maxntid 32, 8 {"+c.body+"}\n.entry last() { ret; }\n"))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if later := m.Funcs[0].Body == nil; later != c.later || m.Funcs[1].Name != "last" {
			t.Errorf("%s: parsed later %v, want %v; the next kernel is %s", c.what, later, c.later, m.Funcs[1].Name)
		}
		if err := m.Funcs[0].Load(); err != nil || m.Funcs[0].Body == nil {
			t.Errorf("%s: %v, body %v", c.what, err, m.Funcs[0].Body != nil)
		}
	}
	for _, open := range []string{"ret;", "{ ret; }", `.pragma "x`, "/* }"} {
		if _, err := ParseHeads("open.ptx", []byte(".version 7.0\n.target sm_70\n.entry k() {"+open)); err == nil || !strings.Contains(err.Error(), "without its") {
			t.Errorf("%q: %v", open, err)
		}
	}
}
