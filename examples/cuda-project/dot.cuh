// The library that is tested: dot products on the device.
#pragma once

// dot returns the sum of a[i]*b[i], of n numbers on the host. -1 if CUDA fails.
double dot(const float *a, const float *b, int n);
