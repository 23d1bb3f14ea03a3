package ptx

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// FuzzParse feeds arbitrary text to the parser: it must neither panic nor take
// long, errors must be located in the text, and parsed modules must survive
// printing.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"testdata/language", "testdata/broken", "testdata/conformance", "testdata/corpus"} {
		for _, name := range ptxFiles(f, dir) {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if len(src) < 10_000 {
				f.Add(src)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		start := time.Now()
		m, err := Parse("fuzz", src)
		if d := time.Since(start); d > 2*time.Second {
			t.Fatalf("%d bytes took %v", len(src), d)
		}
		if m == nil {
			t.Fatal("no module")
		}
		if err != nil {
			for _, e := range err.(ErrorList) {
				if e.Pos.Line < 1 || e.Pos.Col < 1 || int(e.Pos.Line) > len(m.Lines)+1 {
					t.Fatalf("error outside of the text: %v", e)
				}
				_ = e.Detail()
			}
			var b bytes.Buffer
			if err := Print(&b, m); err != nil { // the recognised part can still be printed
				t.Fatal(err)
			}
			return
		}
		text := printed(t, m)
		again, err := Parse("printed", text)
		if err != nil {
			t.Fatalf("the printed module does not parse:\n%s\n%v", text, err)
		}
		if text2 := printed(t, again); !bytes.Equal(text, text2) {
			t.Fatalf("printing is not stable:\n%s\n---\n%s", text, text2)
		}
		if d := deepDiff(m, again); d != "" {
			t.Fatalf("%s:\n%s", d, text)
		}
	})
}
