package ptx

import (
	"os"
	"testing"
)

// BenchmarkParse parses the PTX files of the repository, or the large corpus
// where it is there.
func BenchmarkParse(b *testing.B) {
	files := append(ptxFiles(b, "testdata/corpus"), ptxFiles(b, sharedPTX+"/corpus")...)
	var srcs [][]byte
	var total int64
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		srcs = append(srcs, src)
		total += int64(len(src))
	}
	b.SetBytes(total)
	b.ReportAllocs()
	for b.Loop() {
		for i, src := range srcs {
			if _, err := Parse(files[i], src); err != nil {
				b.Fatal(err)
			}
		}
	}
}
