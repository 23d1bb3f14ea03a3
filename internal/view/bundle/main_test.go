//go:build bundle

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// mostBundle bounds the page's program, compressed.
const mostBundle = 400_000

// TestFresh compares what is committed with what the sources give.
func TestFresh(t *testing.T) {
	files, err := build("../web")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"page.js", "page.css"} {
		t.Run(name, func(t *testing.T) {
			got, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, files[name]) {
				t.Errorf("%s is not what go generate ./internal/view makes", name)
			}
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = w.Write(got)
			_ = w.Close()
			if b.Len() > mostBundle {
				t.Errorf("%d bytes compressed, want at most %d", b.Len(), mostBundle)
			}
			// Either would end the element of the page that it is in.
			for _, end := range []string{"</script", "</style"} {
				if bytes.Contains(bytes.ToLower(got), []byte(end)) {
					t.Errorf("contains %s", end)
				}
			}
		})
	}
}
