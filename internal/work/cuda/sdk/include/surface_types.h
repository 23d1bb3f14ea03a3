#include "texture_types.h"
