package device

// Defaults of Config. None of them models a property of hardware; we chose them so
// that faults are detected and addresses are easy to recognise.
const (
	DefaultBase  = 0xc000_0000 // first address; far from null and from small integers
	DefaultAlign = 256         // what cudaMalloc promises at least
	DefaultGap   = 4096        // guard bytes between allocations
	DefaultLimit = 16 << 30    // live bytes in all
	DefaultHeap  = 8 << 20     // initial value of cudaLimitMallocHeapSize
	DefaultTop   = 1 << 47     // end of the address space
)

// nullPage is the size of the range above zero that counts as a null pointer with an
// offset.
const nullPage = 1 << 16

// Config holds the settings of a Memory. Zero fields take their defaults.
type Config struct {
	Base   uint64 // address of the first allocation
	Align  uint64 // alignment of every allocation, a power of two, at least 256
	Gap    uint64 // guard bytes after every allocation, at least 4096
	Packed bool   // no guard bytes at all: GPGPU-Sim's layout, for timing comparisons
	Limit  uint64 // maximum number of bytes allocated at one time
	Heap   uint64 // size of the arena of HeapAlloc
	Top    uint64 // first address beyond the address space

	File *File // holds the bytes of large allocations; nil: this computer's memory

	Group  *Group // of the devices that it is one of; nil: there is only one
	Device int    // its number there, below MaxDevices
}

func (c Config) withDefaults() Config {
	set := func(field *uint64, def uint64) {
		if *field == 0 {
			*field = def
		}
	}
	set(&c.Base, DefaultBase)
	set(&c.Limit, DefaultLimit)
	set(&c.Heap, DefaultHeap)
	set(&c.Top, DefaultTop)
	align := uint64(DefaultAlign)
	for align < c.Align && align < 1<<30 {
		align <<= 1
	}
	c.Align = align
	c.Gap = max(c.Gap, DefaultGap)
	if c.Packed {
		c.Gap = 0
	}
	return c
}
