package ggml

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

// TestPackageWritten: the listings of ten modules become cubins with the same code, which have the
// same listings.
func TestPackageWritten(t *testing.T) {
	listing := func(t *testing.T, b []byte) (*cubin.File, string) {
		t.Helper()
		f, err := cubin.Read("module", b)
		if err != nil {
			t.Fatal(err)
		}
		text, err := program.Listing(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range text.Kernels {
			if err := k.SetCode(k.Binary); err != nil {
				t.Fatal(err)
			}
		}
		return f, text.Text()
	}
	entries := library(t)
	for _, sm := range []int{86, 89} {
		for n, m := range modules(t, entries, sm, 14)[:10] {
			t.Run(fmt.Sprintf("sm_%d, module %d", sm, 14*n), func(t *testing.T) {
				was, text := listing(t, m[1])
				parsed, err := sass.Parse("module.sass", text, 0)
				if err != nil {
					t.Fatal(err)
				}
				b, err := program.WriteCubin(parsed)
				if err != nil {
					t.Fatal(err)
				}
				now, again := listing(t, b)
				if again != text {
					t.Error("the listing differs")
				}
				for i, k := range was.Kernels {
					if !bytes.Equal(k.Code, now.Kernels[i].Code) {
						t.Errorf("the code of kernel %s differs", k.Name)
					}
				}
			})
		}
	}
}
