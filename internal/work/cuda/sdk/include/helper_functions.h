#include "helper_string.h"
#include "helper_timer.h"
#include "helper_image.h"
#include "helper_cuda.h"
