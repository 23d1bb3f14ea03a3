package ptx

import (
	"os"
	"testing"
)

// BenchmarkParse parses files that real compilers made.
func BenchmarkParse(b *testing.B) {
	files := compiled(b)
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
