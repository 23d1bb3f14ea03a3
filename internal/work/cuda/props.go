package cuda

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Properties are the device properties that programs query, in bytes unless noted.
type Properties struct {
	Name                string
	Index               int // in the machine
	Major, Minor        int // compute capability
	Memory              uint64
	SMs                 int
	ThreadsPerSM        int
	BlocksPerSM         int
	RegistersPerSM      int
	SharedPerSM         uint64
	SharedPerBlock      uint64
	SharedPerBlockOptIn uint64 // after cudaFuncAttributeMaxDynamicSharedMemorySize
	ConstantMemory      uint64
	CoreKHz, MemoryKHz  int
	BusBits             int // width of the memory interface
	L2                  int
	CopyEngines         int
}

// sharedReserved is the shared memory of a block that the system reserves from compute
// capability 8.0 on (CUDA programming guide, table of compute capabilities).
const sharedReserved = 1 << 10

// properties derives them from the machine's settings.
func properties(c *gpu.Config, memory uint64) Properties {
	sm := c.Core.Base()
	p := Properties{
		Name: c.Name, Major: c.Arch / 10, Minor: c.Arch % 10, Memory: memory, SMs: c.SMs(), ThreadsPerSM: 32 * c.Warps(),
		BlocksPerSM: sm.Blocks, RegistersPerSM: sm.Registers, SharedPerSM: uint64(sm.Shared),
		SharedPerBlock: plainShared, ConstantMemory: 64 << 10,
		CoreKHz: int(c.Clocks.Core / 1000), CopyEngines: 2,
	}
	for _, s := range c.Splits {
		p.SharedPerSM = max(p.SharedPerSM, uint64(s.Shared))
	}
	p.SharedPerBlockOptIn = p.SharedPerSM
	if p.Major >= 8 && p.SharedPerSM > plainShared+sharedReserved {
		p.SharedPerBlockOptIn -= sharedReserved
	}
	p.SharedPerBlock = min(p.SharedPerBlock, p.SharedPerSM)
	p.SharedPerBlockOptIn = max(p.SharedPerBlockOptIn, p.SharedPerBlock)
	if !c.Mem.L2.Disabled {
		p.L2 = c.Mem.L2.Bytes() * c.Slices()
	}
	if !c.Mem.FixedLatency {
		d := &c.Mem.DRAM
		p.MemoryKHz, p.BusBits = int(c.Clocks.DRAM/1000), 8*c.Mem.Channels*d.BusBytes*d.Chips
	}
	if c.Copies.OneEngine {
		p.CopyEngines = 1
	}
	return p
}

// UUID identifies the device: it is the beginning of its name; the last byte tells devices
// of a machine apart.
func (p *Properties) UUID() (id [16]byte) {
	copy(id[:], p.Name)
	id[15] += byte(p.Index)
	return id
}

// UUIDText is the UUID as NVIDIA's tools write it.
func (p *Properties) UUIDText() string {
	id := p.UUID()
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// BusID is the device's address on the bus, which is not a real one.
func (p *Properties) BusID() string { return fmt.Sprintf("0000:%02x:00.0", p.Index) }

// DriverVersion is the release of CUDA whose driver this is. A driver accepts programs of
// its own release and all earlier ones. For drivers before 13.2 CUTLASS changes a bit of
// the descriptions of tensors, to evade a fault of NVIDIA's.
const DriverVersion = 13020

// Properties returns the device's properties.
func (r *Runtime) Properties() Properties { return r.props }

// Machine returns the properties of all devices of the machine, also of those that the
// program does not see.
func (r *Runtime) Machine() []Properties {
	list := make([]Properties, max(r.opt.Devices, 1))
	for i := range list {
		list[i] = r.props
		list[i].Index = i
	}
	return list
}

// Attribute returns a property of a device by its number in cudaDeviceGetAttribute
// (cudaDeviceAttr).
func (t *Thread) Attribute(device, number int) (value int, err Error) {
	err = t.on(device, func(d *Runtime) Error {
		v, ok := attribute(&d.props, number)
		if !ok {
			return InvalidValue
		}
		value = v
		return Success
	})
	return value, err
}

// attribute returns the value of an attribute for every simulated device, and for this
// one.
func attribute(p *Properties, number int) (int, bool) {
	switch number {
	case 1, 2, 3:
		return isa.MaxThreads, true
	case 4:
		return isa.MaxBlockZ, true
	case 5:
		return isa.MaxGridX, true
	case 6, 7:
		return isa.MaxGridYZ, true
	case 8:
		return int(p.SharedPerBlock), true
	case 9:
		return int(p.ConstantMemory), true
	case 10:
		return 32, true
	case 11:
		return MaxPitch, true
	case 12, 82:
		return p.RegistersPerSM, true
	case 13:
		return p.CoreKHz, true
	case 14, 30:
		return TextureAlign, true
	case 15, 19, 31, 41, 44, 78, 79, 80, 83, 89, 91, 95, 102, 115: // overlap, mapped memory, concurrent kernels, unified addresses, gathers, priorities, caches, managed memory, registered memory, cooperative launches, virtual memory management, memory pools
		return 1, true
	case 16:
		return p.SMs, true
	case 17, 18, 20, 32, 34, 35, 50, 84, 85, 86, 88, 90, 96, 119: // handles of pools, watchdog, integrated, compute mode, ECC, PCI, several GPUs, pageable memory, preemption
		return 0, true
	case 33: // of the bus
		return p.Index, true
	case 36:
		return p.MemoryKHz, true
	case 37:
		return p.BusBits, true
	case 38:
		return p.L2, true
	case 39:
		return p.ThreadsPerSM, true
	case 40:
		return p.CopyEngines, true
	case 51:
		return TexturePitchAlign, true
	case 75:
		return p.Major, true
	case 76:
		return p.Minor, true
	case 81:
		return int(p.SharedPerSM), true
	case 87:
		return 32, true
	case 97:
		return int(p.SharedPerBlockOptIn), true
	case 106:
		return p.BlocksPerSM, true
	case 120: // launches of clusters
		if p.Major >= 9 {
			return 1, true
		}
		return 0, true
	case attributePersisting:
		if p.Major < 8 {
			return 0, true
		}
		return p.L2 / 4 * 3, true
	case attributeWindow:
		if p.Major < 8 {
			return 0, true
		}
		return maxWindow, true
	case 111:
		return int(p.SharedPerSM - p.SharedPerBlockOptIn), true
	case 99, 126: // memory of the host is registered; one domain of memory ordering
		return 1, true
	case 131, 134: // no NUMA node
		return -1, true
	}
	if n, ok := textureLimits[number]; ok {
		return n, true
	}
	// What devices of later releases can have and this one lacks: operations of
	// streams on memory, virtual memory, handles for other processes, compression,
	// sparse arrays, multicast.
	return 0, number >= 92 && number <= lastAttribute
}

// Attributes of an L2 cache in which lines may persist, as it is from compute capability
// 8.0 on (CUDA programming guide). What part of it may be set aside is not documented;
// the guide's example takes three quarters. Our choice for windows is that size which
// fits no L2.
const (
	attributePersisting = 108
	attributeWindow     = 109
	maxWindow           = 128 << 20
)

// lastAttribute is the last number of a device attribute (CUDA Driver API 13.0,
// CUdevice_attribute).
const lastAttribute = 143

// textureLimits are the largest textures and surfaces, in texels, rows and
// layers (CUDA programming guide, technical specifications of compute
// capabilities 7.0 and later). The guide lacks 47 to 49, 73, 74 and 77, which are
// those of a public list of a Tesla P100's attributes.
var textureLimits = map[int]int{
	21: 131072,            // one dimension
	22: 131072, 23: 65536, // two
	24: 16384, 25: 16384, 26: 16384, // three
	27: 32768, 28: 32768, 29: 2048, // two, in layers
	42: 32768, 43: 2048, // one, in layers
	45: 32768, 46: 32768, // gathered
	47: 8192, 48: 8192, 49: 32768, // three, the other way: with more depth
	52: 32768, 53: 32768, 54: 2046, // cubes, and in layers
	55: 32768, 56: 131072, 57: 65536, // surfaces of one dimension, and two
	58: 16384, 59: 16384, 60: 16384, // three
	61: 32768, 62: 2048, // one, in layers
	63: 32768, 64: 32768, 65: 2048, // two, in layers
	66: 32768, 67: 32768, 68: 2046, // cubes, and in layers
	69: 1 << 28,                        // linear memory, one dimension
	70: 131072, 71: 65000, 72: 2097120, // two, and bytes of a row
	73: 32768, 74: 32768, 77: 16384, // with levels: two, and one
}

// Numbers that all devices of compute capability 3.0 and later report.
const (
	MaxPitch          = 1<<31 - 1
	TextureAlign      = 512
	TexturePitchAlign = 32
)

// The limits that programs can set (cudaLimit).
const (
	limitStack      = 0
	limitPrintf     = 1
	limitHeap       = 2
	limitPersisting = 6 // bytes of the L2 for lines that persist
)

// defaultLimits are what a new context has (CUDA programming guide); the heap is
// the device's own.
func defaultLimits() map[int]uint64 {
	return map[int]uint64{limitStack: 1 << 10, limitPrintf: 1 << 20, limitHeap: device.DefaultHeap, limitPersisting: 0}
}

// Limit returns a limit in bytes.
func (t *Thread) Limit(which int) (n uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		v, ok := r.limits[which]
		if !ok {
			return UnsupportedLimit
		}
		n = v
		return Success
	})
	return n, err
}

// SetLimit sets a limit in bytes. The stack of PTX and printf have no limits here; the heap cannot
// change once a kernel has used it.
func (t *Thread) SetLimit(which int, n uint64) Error {
	return t.do(func(r *Runtime) Error {
		old, ok := r.limits[which]
		if !ok {
			return UnsupportedLimit
		}
		if which == limitHeap && n != old {
			if err := r.finish(); err != Success {
				return err
			}
			if err := r.mem.SetHeapSize(n); err != nil {
				r.once("heap", "cudaDeviceSetLimit: %v; set it earlier, or with -C functional.heap=SIZE", err)
				return InvalidValue
			}
		}
		if most, _ := attribute(&r.props, attributePersisting); which == limitPersisting && n > uint64(most) {
			return InvalidValue
		}
		r.limits[which] = n
		return Success
	})
}
