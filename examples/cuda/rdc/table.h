// What table.cu gives to the other files.
#ifndef TABLE_H
#define TABLE_H

const int entries = 256;
extern __device__ unsigned table[entries];
extern __constant__ unsigned first;
__device__ unsigned step(unsigned state, unsigned char byte);
__global__ void fill(unsigned polynomial);

#endif
