package kepler

// Chip describes a chip of several SMs, caches and DRAM; package chip builds it. The
// datasheet mentions them as future work without numbers, so all defaults are our
// assumptions, for a small teaching machine. Everything has the same clock.
type Chip struct {
	// 0 counts as 1. The maximum is the number of warps: further SMs would have none.
	SMs int   `key:"sms" help:"SMs; warp w runs on SM w modulo this" unit:"SMs" want:"1..24" source:"RTL; more of them are our assumption"`
	L1  Cache `key:"l1" help:"the cache of each SM"`
	L2  Cache `key:"l2" help:"the cache of each slice"`

	Slices      int `key:"l2.slices" help:"L2 slices, each with a DRAM channel" unit:"slices" want:"1..16 pow2" source:"our assumption"`
	DRAMLatency int `key:"dram.latency" help:"from the L2 to the DRAM, in addition to the DRAM's own latency" unit:"cycles" want:"0..10000" source:"our assumption"`
}

// Cache is a set-associative cache with lines of 128 bytes and LRU replacement.
type Cache struct {
	On      bool `help:"each SM has an L1, each slice an L2" source:"our assumption: the RTL has no caches"`
	Sets    int  `help:"sets" unit:"sets" want:"1..1024 pow2" source:"our assumption"`
	Ways    int  `help:"lines of 128 bytes per set" unit:"lines" want:"1..32" source:"our assumption"`
	Latency int  `help:"from the request (L1) or the network (L2) to the look-up; a slice has it even without a cache" unit:"cycles" want:"0..10000" source:"our assumption"`
	Misses  int  `help:"lines that can be in flight" unit:"lines" want:"1..1024" source:"our assumption"`
}

// oneSM returns one SM without caches, with defaults for caches that are turned on.
func oneSM() Chip {
	return Chip{
		SMs:    1,
		L1:     Cache{Sets: 16, Ways: 4, Latency: 2, Misses: 16},
		L2:     Cache{Sets: 64, Ways: 8, Latency: 8, Misses: 32},
		Slices: 2, DRAMLatency: 20,
	}
}

// Wanted reports whether a chip is needed: several SMs or caches, which a core with the
// mock memory does not have.
func (c *Chip) Wanted() bool { return c.SMs > 1 || c.L1.On || c.L2.On }
