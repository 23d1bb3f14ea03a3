// Clang includes a file of this name where the words of the language are known.
#include "device_intrinsics.h"
