package sdk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestInlined: sums that loops in a loop pass to a large function by reference are in registers, since the
// function is inlined, as the steps of FlashAttention-3 must be.
func TestInlined(t *testing.T) {
	alltests.Only(t, "a large function called in a loop, compiled")
	const source = `
template <class F> __device__ void step(float (&sums)[64], F weight) {
  #pragma unroll
  for (int i = 0; i < 28; i++)
    #pragma unroll
    for (int j = 0; j < 64; j++)
      sums[j] = sums[j] * weight(j) + sums[(j + i) % 64];
}
extern "C" __global__ void sum(float *out, int n) {
  float sums[64];
  for (int j = 0; j < 64; j++) sums[j] = out[j];
  auto weight = [=](int j) { return out[64 + j]; };
  for (int tile = 0; tile < n; tile++) {
    for (int i = 0; i < tile; i++) step(sums, weight);
    for (int i = 0; i < n; i++) step(sums, weight);
  }
  for (int j = 0; j < 64; j++) out[j] = sums[j];
}
`
	file := filepath.Join(t.TempDir(), "inline.cu")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range compilers(t) {
		t.Run(fmt.Sprintf("clang-%d", s.Clang.Major), func(t *testing.T) {
			text, err := os.ReadFile(ptxOf(t, s, file, "-O3"))
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{".local", "call"} {
				if n := strings.Count(string(text), word); n > 0 {
					t.Errorf("%q is there %d times", word, n)
				}
			}
		})
	}
}
