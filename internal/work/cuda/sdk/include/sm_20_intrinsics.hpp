// Clang includes a file of this name after the keywords of the language are defined.
#include "device_intrinsics.h"
