// Package gpu is the chip: it owns the SMs, the two networks between them and
// the memory partitions, and the clocks that drive them. It places blocks of
// running kernels on SMs, keeps streams, events and copies in order, and ends a run
// when all is done or when nothing can move any more.
//
// The parts themselves are elsewhere: core/simt is a core, mem/noc a network,
// mem/part the partitions with their L2 and DRAM. Package exec defines what
// instructions do; this package sees launches only as exec.Work.
//
// Time is exact: every clock domain has an integer period in a common unit, so
// runs repeat bit for bit. For comparisons with GPGPU-Sim, whose clocks drift by
// rounding, that rounding can be switched on; it is computed in integers too.
package gpu
