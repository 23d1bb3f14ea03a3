// Package cubin reads NVIDIA's device code as compilers store it: ELF files with kernels in
// machine code, what launching them needs, device variables, constants, and relocations. It
// knows the containers only: isa/sass decodes the words.
//
// NVIDIA does not document the format. What stands here was measured on files of the
// toolkits 11.1 to 13.1 for sm_50 to sm_121; each constant says what it was seen to hold.
package cubin
