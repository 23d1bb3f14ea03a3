// targets: 52
#include "fft.cuh"
extern "C" __global__ void __launch_bounds__(512) fft_f64(pass p) { transform<double>(p); }
