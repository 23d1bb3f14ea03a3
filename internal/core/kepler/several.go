package kepler

// Chip describes several SMs and what lies between them and memory; package
// chip makes it. The datasheet names them as future work and gives no numbers:
// all defaults are our assumptions, those of a small teaching machine.
// Everything has one clock.
type Chip struct {
	// 0 is 1. More than there are warps would have none.
	SMs int   `key:"sms" help:"SMs; warp w runs on SM w modulo that" unit:"SMs" want:"1..24" source:"RTL; more of them are our assumption"`
	L1  Cache `key:"l1" help:"the cache of each SM"`
	L2  Cache `key:"l2" help:"the cache of each slice"`

	Slices      int `key:"l2.slices" help:"L2 slices, each with a DRAM channel" unit:"slices" want:"1..16 pow2" source:"our assumption"`
	DRAMLatency int `key:"dram.latency" help:"from the L2 to the DRAM, before the DRAM's own" unit:"cycles" want:"0..10000" source:"our assumption"`
}

// Cache is a set-associative cache with lines of 128 bytes, of which the least
// recently used goes first.
type Cache struct {
	On      bool `help:"each SM has an L1, each slice an L2" source:"our assumption: the RTL has no caches"`
	Sets    int  `help:"sets" unit:"sets" want:"1..1024 pow2" source:"our assumption"`
	Ways    int  `help:"lines of 128 bytes in a set" unit:"lines" want:"1..32" source:"our assumption"`
	Latency int  `help:"from a request, or from the network to the L2, to the look-up; of an L2 without a cache as well" unit:"cycles" want:"0..10000" source:"our assumption"`
	Misses  int  `help:"lines that may be on their way" unit:"lines" want:"1..1024" source:"our assumption"`
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
