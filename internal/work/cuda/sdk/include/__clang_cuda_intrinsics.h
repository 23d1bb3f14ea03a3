// Clang's own header, without lines.
#include "host_defines.h"
HEDDLE_NO_LINES
#include_next <__clang_cuda_intrinsics.h>
HEDDLE_LINES
