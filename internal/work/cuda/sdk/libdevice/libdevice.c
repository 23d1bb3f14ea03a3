// The device math library: the functions to which clang maps those of the C library.
// Every float and double function is within 2 units in the last place of the rounded true
// value, with the exceptions in docs/cuda.md.
#include "plain.h"
#include "dd.h"
#include "coefficients.h"
#include "double.h"
#include "single.h"

// The target of calls of functions that a class leaves to others.
__attribute__((noreturn)) void __cxa_pure_virtual(void) { __builtin_trap(); }
