// Clang includes a file of this name before its own functions of textures. From release 12 on it leaves out texture
// references there, as nvcc does. Programs that have them go on to work here.
#if defined(__CUDA__) && !defined(HEDDLE_TEXTURE_FETCH_FUNCTIONS_H)
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 11080
#endif
