// A test as projects have them: it returns 0 if all is well.
#include "dot.cuh"

#include <cstdio>
#include <vector>

int main() {
  int wrong = 0;
  for (int n : {1, 31, 256, 257, 5000}) {
    std::vector<float> a(n), b(n);
    double want = 0;
    for (int i = 0; i < n; i++) {
      a[i] = i % 7;
      b[i] = i % 5 - 2;
      want += a[i] * b[i]; // whole numbers: the order does not matter
    }
    double got = dot(a.data(), b.data(), n);
    std::printf("%5d numbers: %g, %s\n", n, got, got == want ? "right" : "WRONG");
    wrong += got != want;
  }
  return wrong != 0;
}
