package chip

import (
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// This file: the machine's settings as configurations of the memory system.

// queueLength is the length of every queue of the memory system, in requests. Our
// assumption.
const queueLength = 16

// cacheOf returns the settings of a cache. An L1 is write-through without allocation of
// writes. An L2 is write-back and reads the missing parts of a written line only when
// they are needed.
func cacheOf(k *kepler.Cache, name string, level cache.Level) cache.Config {
	c := cache.Config{
		Name: name, Level: level, Disabled: !k.On, Sets: k.Sets, Ways: k.Ways, Line: mem.LineBytes, Replace: cache.LRU, Alloc: cache.OnMiss,
		Write: cache.WriteThrough, WriteAlloc: cache.NoWriteAlloc, Index: cache.Linear,
		MSHR: cache.Assoc, Entries: k.Misses, Merge: 8, MissQueue: 4, Port: mem.LineBytes,
	}
	if level == cache.L2 {
		c.Write, c.WriteAlloc = cache.WriteBack, cache.LazyFetch
	}
	return c
}

// memory returns the settings of slices and DRAM: the slices are interleaved by 256
// bytes, and each channel is GDDR5 with the timing of a GTX 480 in GPGPU-Sim's files.
func memory(c *kepler.Chip) part.Config {
	return part.Config{
		Channels: c.Slices, Subs: 1,
		Mapping: "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS",
		L2:      cacheOf(&c.L2, "l2", cache.L2),
		Queues:  part.Queues{ToL2: queueLength, ToDRAM: queueLength, FromDRAM: queueLength, ToNet: queueLength},

		ROPLatency: c.L2.Latency, DRAMLatency: c.DRAMLatency, DRAM: dram.Presets[0].Config,
	}
}

// net returns the network from the SMs to the slices: a crossbar that delivers one
// packet per slice and cycle.
func net(c *kepler.Chip) noc.Config {
	return noc.Config{Kind: noc.Local, Inputs: c.SMs, Outputs: c.Slices, InBuffer: queueLength, OutBuffer: queueLength, GrantCycles: 1, FlitBytes: mem.SectorBytes}
}
