// Unsupported functions of cuBLAS: each returns a status and warns once.
#define UNSUPPORTED(name) \
  int name(void) { return heddleNotInBlas(#name); }

extern int heddleNotInBlas(char *name);

// Products of complex integers and of images.
UNSUPPORTED(cublasCgemm3mEx)
UNSUPPORTED(cublasCgemm3mEx_64)
UNSUPPORTED(cublasUint8gemmBias)

// Least squares.
UNSUPPORTED(cublasCgelsBatched)
UNSUPPORTED(cublasDgelsBatched)
UNSUPPORTED(cublasSgelsBatched)
UNSUPPORTED(cublasZgelsBatched)
