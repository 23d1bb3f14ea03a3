#include "../sm_90_rt.h"
