package dram

// Preset is a kind of memory with the settings of one channel.
type Preset struct {
	Name   string
	Source string  // where the numbers come from
	MHz    float64 // command clock of the cycle counts
	Config Config

	// The refresh of the kind, in nanoseconds; Config leaves it out.
	RefreshEvery, RefreshTakes float64
}

// Refreshing returns the preset's settings with its refresh switched on.
func (p Preset) Refreshing() Config {
	c := p.Config
	c.REFI = int(p.RefreshEvery * p.MHz / 1000)
	c.RFC = int(p.RefreshTakes*p.MHz/1000) + 1
	return c
}

// Presets are the kinds of memory on graphics cards. Queues are from the same
// configurations as the timing.
//
// Refresh times are our assumption: the usual orders of the JEDEC standards
// (JESD212, JESD232, JESD250, JESD235, JESD238) for dies of 8 to 16 Gb.
var Presets = []Preset{
	{
		Name: "gddr5", Source: "GPGPU-Sim configuration SM2_GTX480", MHz: 924,
		Config: Config{
			Timing: Timing{
				Banks: 16, Groups: 4, CCD: 2, CCDL: 3, RRD: 6, RCD: 12, RAS: 28, RP: 12, RC: 40,
				CL: 12, WL: 4, CDLR: 5, WR: 12, RTPL: 2,
			},
			BusBytes: 4, BurstLength: 8, DataRatio: 4, Chips: 2,
			Scheduler: FRFCFS, QueueSize: 64, ReturnQueue: 116, GroupBy: GroupByLowBits,
		},
		RefreshEvery: 1900, RefreshTakes: 105,
	},
	{
		Name: "gddr5x", Source: "GPGPU-Sim configuration SM6_TITANX", MHz: 2500,
		Config: Config{
			Timing: Timing{
				Banks: 16, Groups: 4, CCD: 2, CCDL: 4, RRD: 8, RCD: 16, RAS: 37, RP: 16, RC: 52,
				CL: 16, WL: 6, CDLR: 7, WR: 16, RTPL: 3,
			},
			BusBytes: 4, BurstLength: 8, DataRatio: 4, Chips: 1,
			Scheduler: FRFCFS, QueueSize: 64, ReturnQueue: 64, GroupBy: GroupByLowBits,
		},
		RefreshEvery: 1900, RefreshTakes: 105,
	},
	{
		Name: "gddr6", Source: "GPGPU-Sim configurations SM75_RTX2060 and SM86_RTX3070", MHz: 3500.5,
		Config: Config{
			Timing: Timing{
				Banks: 16, Groups: 4, CCD: 4, CCDL: 6, RRD: 12, RCD: 24, RAS: 55, RP: 24, RC: 78,
				CL: 24, WL: 8, CDLR: 10, WR: 24, RTPL: 4,
			},
			BusBytes: 2, BurstLength: 16, DataRatio: 4, Chips: 1,
			Scheduler: FRFCFS, QueueSize: 64, ReturnQueue: 192, GroupBy: GroupByLowBits,
		},
		RefreshEvery: 1900, RefreshTakes: 110,
	},
	{
		Name: "hbm2", Source: "GPGPU-Sim configuration SM7_QV100", MHz: 850,
		Config: Config{
			Timing: Timing{
				Banks: 16, Groups: 4, CCD: 1, CCDL: 2, RRD: 3, RCD: 12, RAS: 28, RP: 12, RC: 40,
				CL: 12, WL: 2, CDLR: 3, WR: 10, RTPL: 3,
			},
			BusBytes: 16, BurstLength: 2, DataRatio: 2, Chips: 1,
			Scheduler: FRFCFS, QueueSize: 64, ReturnQueue: 192, DualCommand: true, GroupBy: GroupByLowBits,
		},
		RefreshEvery: 3900, RefreshTakes: 260,
	},
	{
		// No bank timing of HBM3 is public. A pseudo channel of 32 pins with
		// bursts of 8 moves the same 32 bytes; the command clock is a quarter
		// of the data rate, 1309.5 MHz at the H100's 5.24 Gb/s; bank times are
		// HBM2's at 1 GHz (RCD 14, RAS 33, RP 14, RC 47, CL 14, WR 12 ns).
		Name: "hbm3", Source: "assumption: HBM2's bank times in nanoseconds, pins and clock of HBM3", MHz: 1309.5,
		Config: Config{
			Timing: Timing{
				Banks: 16, Groups: 4, CCD: 2, CCDL: 4, RRD: 6, RCD: 19, RAS: 44, RP: 19, RC: 62,
				CL: 19, WL: 4, CDLR: 4, WR: 16, RTPL: 6,
			},
			BusBytes: 4, BurstLength: 8, DataRatio: 4, Chips: 1,
			Scheduler: FRFCFS, QueueSize: 64, ReturnQueue: 192, DualCommand: true, GroupBy: GroupByLowBits,
		},
		RefreshEvery: 3900, RefreshTakes: 260,
	},
}

// Named returns the preset of that name.
func Named(name string) (Preset, bool) {
	for _, p := range Presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}
