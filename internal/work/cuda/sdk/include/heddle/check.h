// What an allocator says to Heddle's checkers about the memory that it shares out, so that
// they find in its pools what they find in allocations: accesses outside of what was given
// out, or after it was taken back, reads of what nobody has written, and what never comes back.
//
//   cudaMalloc(&pool, size);
//   heddle_give(pool + 256, 100, stream);   // 100 bytes for work on the stream
//   heddle_take(pool + 256, 100, stream);   // they come back when the stream gets here
//
// From the first heddle_give on, the rest of the allocation belongs to nobody. Outside of
// Heddle both functions do nothing, and this file needs nothing of Heddle's: copy it, and
// compile it with any compiler (link with -ldl where the C library has no dlsym).
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include <stddef.h>

#ifdef __linux__
#include <dlfcn.h>

typedef int (*heddle_part)(const void *, size_t, void *);

// The function of the runtime with a name; null on a GPU.
static inline heddle_part heddle_find(const char *name) {
  union {
    void *data;
    heddle_part call;
  } found;
  void *program = dlopen(0, RTLD_LAZY);
  found.data = program ? dlsym(program, name) : 0;
  return found.call;
}

// The bytes are given out. 0: Heddle knows, or the program runs elsewhere; else they lie in no allocation.
static inline int heddle_give(const void *at, size_t bytes, void *stream) {
  static heddle_part call;
  static int known;
  if (!known) {
    call = heddle_find("HeddleGive");
    known = 1;
  }
  return call ? call(at, bytes, stream) : 0;
}

// They come back.
static inline int heddle_take(const void *at, size_t bytes, void *stream) {
  static heddle_part call;
  static int known;
  if (!known) {
    call = heddle_find("HeddleTake");
    known = 1;
  }
  return call ? call(at, bytes, stream) : 0;
}
#else
static inline int heddle_give(const void *at, size_t bytes, void *stream) { return (void)at, (void)bytes, (void)stream, 0; }
static inline int heddle_take(const void *at, size_t bytes, void *stream) { return (void)at, (void)bytes, (void)stream, 0; }
#endif

#endif
