package ptx

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedPTX is the folder with the large corpus, which is not part of the
// repository; tests that want it are skipped where it is absent.
const sharedPTX = "../../../../shared/data/ptx"

func ptxFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCorpusParses(t *testing.T) {
	files := append(ptxFiles(t, "testdata/conformance"), ptxFiles(t, "testdata/corpus")...)
	files = append(files, ptxFiles(t, sharedPTX+"/corpus")...)
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(filepath.Base(name), src); err != nil {
			t.Errorf("%.2000s", err)
		}
	}
}
