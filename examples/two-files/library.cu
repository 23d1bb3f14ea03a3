// The library of a program in two files: one step of the CRC-32 over nibbles,
// and a counter that the kernel of the other file adds to.
#include "../cuda.h"

extern "C" {
__device__ u32 calls;

// The remainders of the sixteen nibbles for the reflected polynomial 0xedb88320.
__constant__ u32 nibbles[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

__device__ u32 crc_byte(u32 crc, u8 byte) {
  crc ^= byte;
  crc = nibbles[crc & 15] ^ (crc >> 4);
  return nibbles[crc & 15] ^ (crc >> 4);
}
}
