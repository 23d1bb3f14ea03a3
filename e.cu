#include <nofile.h>
int x = ;
__attribute__((global)) void k(int *p) { int unused; *p = foo; }
