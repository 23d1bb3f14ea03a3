// Package texture reads textures and surfaces for the executors of all instruction sets:
// what the host binds (Texture), what handles stand for (Table, Objects), the texel that
// an access reads and how several are blended (Op), and where an access to a surface lies
// (Surface). It computes values and addresses; it knows nothing of instructions, registers
// and cycles.
//
// Filtering follows the CUDA programming guide, "Texture Fetching": coordinates are scaled
// exactly, weights have 8 bits of fraction. Choices that the guide leaves open are
// documented where they are made.
package texture
