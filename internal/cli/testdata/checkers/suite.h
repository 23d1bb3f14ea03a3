// What the programs of this folder share. Each program holds many cases; `./shared NAME` runs
// one, or several in turn. A comment at a line labels it for the test:
//
//   BUG name: rule       a finding of this rule has a step at this line
//   ALSO name: rule      a finding of this rule is true as well, wherever it is
//   CLEAN name           nothing may be found
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

// A case, in the list of its program.
struct named_case {
  const char *name;
  void (*run)();
  named_case *next;
  static named_case *&list() {
    static named_case *first;
    return first;
  }
  named_case(const char *n, void (*f)()) : name(n), run(f), next(list()) { list() = this; }
};

#define CASE(name)                            \
  static void name();                         \
  static named_case name##_case(#name, name); \
  static void name()

// Whether a kernel failed.
static inline bool &failed() {
  static bool yes;
  return yes;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    named_case *c = named_case::list();
    while (c && strcmp(argv[i], c->name))
      c = c->next;
    if (!c) {
      fprintf(stderr, "there is no case %s\n", argv[i]);
      return 2;
    }
    c->run();
  }
  return failed() ? 3 : 0;
}

// A call that must succeed.
static inline void must(cudaError_t e) {
  if (e != cudaSuccess) {
    printf("%s\n", cudaGetErrorString(e));
    exit(3);
  }
}

// Waits for the kernels. A fault is no reason to stop, but a clean case has none.
static inline void finish() {
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess)
    e = cudaDeviceSynchronize();
  if (e != cudaSuccess)
    failed() = true;
  printf("%s\n", cudaGetErrorString(e));
}

enum filled { unset, zeros, numbers };

// Fills memory of the device with numbers from 0.
template <class T> void fill_numbers(T *p, size_t n) {
  T *host = new T[n];
  for (size_t i = 0; i < n; i++)
    host[i] = T(i);
  must(cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice));
  delete[] host;
}

// Memory of the device for as long as the object lives.
template <class T> struct buffer {
  T *p;
  explicit buffer(size_t n, filled with = zeros) {
    must(cudaMalloc(&p, n * sizeof(T)));
    if (with == zeros)
      must(cudaMemset(p, 0, n * sizeof(T)));
    if (with == numbers)
      fill_numbers(p, n);
  }
  ~buffer() { cudaFree(p); }
  operator T *() const { return p; }
};

// Copies results to the host: what it never looks at does no harm.
static inline void look(const int *p, size_t n) {
  int *host = new int[n];
  cudaMemcpy(host, p, n * sizeof(int), cudaMemcpyDeviceToHost);
  delete[] host;
}

// Runs a kernel on 1,024 numbers, and as many results that are zero.
static inline void run(void (*kernel)(const int *, int *), int blocks, int threads, int shared = 0) {
  buffer<int> in(1024, numbers), out(1024);
  kernel<<<blocks, threads, shared>>>(in, out);
  finish();
  look(out, 1024);
}
