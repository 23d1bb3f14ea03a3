package kepler

// Chip describes several SMs and what lies between them and memory; package
// chip makes it. The datasheet names them as future work and gives no numbers:
// all defaults are our assumptions, those of a small teaching machine.
// Everything has one clock.
type Chip struct {
	SMs int   // 0 is 1
	L1  Cache // of each SM
	L2  Cache // of each slice
	// Slices is the number of L2 slices, each with a DRAM channel.
	Slices int
	// DRAMLatency is the cycles from the L2 to the DRAM, before the DRAM's own.
	DRAMLatency int
}

// Cache is a set-associative cache with lines of 128 bytes, of which the least
// recently used goes first.
type Cache struct {
	On      bool
	Sets    int // a power of two
	Ways    int
	Latency int // cycles from a request to its look-up
	Misses  int // lines that may be on their way
}

// oneSM is one SM without caches, and what caches are like once they are turned
// on.
func oneSM() Chip {
	return Chip{
		SMs:    1,
		L1:     Cache{Sets: 16, Ways: 4, Latency: 2, Misses: 16},
		L2:     Cache{Sets: 64, Ways: 8, Latency: 8, Misses: 32},
		Slices: 2, DRAMLatency: 20,
	}
}

// Wanted reports whether there is anything that a core with the mock memory does
// not have.
func (c *Chip) Wanted() bool { return c.SMs > 1 || c.L1.On || c.L2.On }
