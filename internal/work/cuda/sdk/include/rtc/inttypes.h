// inttypes.h includes stdint.h, unless it was included before.
#include <stdint.h>
#include_next <inttypes.h>
