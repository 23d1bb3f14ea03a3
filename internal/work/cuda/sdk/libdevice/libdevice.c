// The device math library: the functions on which clang maps those of the C
// library. Every float and double function is within 2 units in the last place
// of the rounded true value; where that cannot be held, docs/cuda.md says so.
#include "plain.h"
#include "dd.h"
#include "coefficients.h"
#include "double.h"
#include "single.h"

// What a call of a function that its class leaves to others ends in.
__attribute__((noreturn)) void __cxa_pure_virtual(void) { __builtin_trap(); }
