// The functions of cuRAND that are refused: tables of distributions and of quasirandom
// generators for kernels.
extern int heddleRandMissing(char *name);

#define MISSING(name) \
  int name(void) { return heddleRandMissing(#name); }

MISSING(curandCreatePoissonDistribution)
MISSING(curandDestroyDistribution)
MISSING(curandGetDirectionVectors32)
MISSING(curandGetDirectionVectors64)
MISSING(curandGetScrambleConstants32)
MISSING(curandGetScrambleConstants64)
