// Unsupported calls: each returns an error and warns once.
#define UNSUPPORTED(name) \
  int name(void) { return heddleUnsupported(#name); }

extern int heddleUnsupported(char *name);

UNSUPPORTED(cudaGraphAddMemAllocNode)
UNSUPPORTED(cudaGraphAddMemFreeNode)
UNSUPPORTED(cudaLibraryGetUnifiedFunction)
UNSUPPORTED(cudaOccupancyMaxActiveClusters)
UNSUPPORTED(cudaOccupancyMaxPotentialClusterSize)
