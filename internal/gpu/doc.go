// Package gpu is the chip: it owns the SMs, the two networks between them and
// the memory partitions, and the clocks that drive them. It places blocks of
// running kernels on SMs, keeps streams, events and copies in order, and ends
// when all is done or when nothing moves any more.
//
// The parts themselves are elsewhere: core/simt is a core, mem/noc a network,
// mem/part the partitions with their L2 and DRAM. What instructions do is
// package exec's; this package sees launches only as exec.Work.
//
// Time is exact: every clock domain has an integer period in a common unit, so
// runs repeat bit for bit. For comparisons with GPGPU-Sim, whose clocks drift by
// the rounding of its sums, that rounding can be switched on; it is done in
// integers too.
package gpu
