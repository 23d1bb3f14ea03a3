package isa

// Bounds of a launch on every GPU of compute capability 3.0 to 12.x (CUDA programming guide,
// "Compute Capabilities", unless stated otherwise).
const (
	MaxThreads = 1024      // threads of a block, and its extent in X and Y
	MaxBlockZ  = 64        // extent of a block in Z
	MaxGridX   = 1<<31 - 1 // extent of a grid in X
	MaxGridYZ  = 1<<16 - 1 // extent of a grid in Y and Z
	MaxShared  = 227 << 10 // bytes of shared memory of a block, static and dynamic; less before 9.0
	MaxLocal   = 512 << 10 // bytes of local memory of a thread
	MaxParams  = 32764     // bytes of all parameters since 7.0 and CUDA 12.1; 4 KiB before

	MaxCluster      = 16 // blocks of a cluster on 9.0 and 10.0, if the kernel permits more than
	PortableCluster = 8  // blocks of a cluster on every GPU that has clusters
)

// Windows of the generic address space, each WindowSize bytes long. Global memory lies above
// them. (Our choice; hardware places them elsewhere. Programs get these addresses from cvta
// or constant bank 0. All lie below 2^32, so that programs with 32-bit addresses can use
// them.)
const (
	SharedWindow = 0x0100_0000
	LocalWindow  = 0x0200_0000
	ParamWindow  = 0x0400_0000
	WindowSize   = 0x0100_0000
	WindowsEnd   = ParamWindow + WindowSize // end of the last window
)

// Shared memory of all blocks of a cluster lies in the window of shared memory: that of the block
// with a rank is ClusterStride bytes long and begins at ClusterBase + rank·ClusterStride. A block
// reaches its own memory there, and at address 0. (Our choice; hardware places them elsewhere. The
// low 18 bits are the address in the block, which is what descriptors of wgmma keep.)
const (
	ClusterBase   = 0x0040_0000
	ClusterStride = 0x0004_0000
	ClusterEnd    = ClusterBase + MaxCluster*ClusterStride
)

// Resolve returns the space in which a generic address lies, and the address within it.
func Resolve(addr uint64) (Space, uint64) {
	off := addr & (WindowSize - 1)
	switch addr - off {
	case SharedWindow:
		return Shared, off
	case LocalWindow:
		return Local, off
	case ParamWindow:
		return Param, off
	}
	return Global, addr
}
