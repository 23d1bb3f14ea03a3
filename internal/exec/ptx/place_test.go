package ptx_test

import (
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// TestNear: an instruction without a line of its own names the one before it in its file.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		name, body string
		line       int
		near       string
	}{
		{"a line of its own", ".loc 1 5 0\nmov.u32 %r, 1;\n.loc 1 6 0\ntrap;", 6, ""},
		{"none", ".loc 1 5 0\nmov.u32 %r, 1;\n.loc 1 0 0\ntrap;", 0, "a.cu:5"},
		{"none, after another file", ".loc 1 5 0\nmov.u32 %r, 1;\n.loc 2 7 0\nmov.u32 %r, 2;\n.loc 1 0 0\ntrap;", 0, "a.cu:5"},
		{"none, and nothing before it", ".loc 2 7 0\nmov.u32 %r, 2;\n.loc 1 0 0\ntrap;", 0, ""},
		{"no debug information", "trap;", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tryBody(t, bodyOpts{module: ".file 1 \"a.cu\"\n.file 2 \"b.cuh\"\n"}, ".reg .b32 %r;", c.body, nil, 4)
			var f *exec.Fault
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Where.SrcLine != c.line || f.Where.Near != c.near {
				t.Errorf("line %d, near %q; want %d, %q", f.Where.SrcLine, f.Where.Near, c.line, c.near)
			}
		})
	}
}
