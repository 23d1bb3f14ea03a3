// Calls that are not there yet: each returns an error and says so once.
#define UNSUPPORTED(name) \
  int name(void) { return heddleUnsupported(#name); }

extern int heddleUnsupported(char *name);

UNSUPPORTED(cudaGraphAddMemAllocNode)
UNSUPPORTED(cudaGraphAddMemFreeNode)
