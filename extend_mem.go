package heddle

import (
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/part"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: parts of the memory system that a program can bring. What is
// registered is chosen by its name in a machine's file or with Set, where a
// built-in part would stand. Register parts before the first machine is loaded, such
// as in init; a name that is taken is a panic.

type (
	// ReplacementPolicy picks the lines that a cache gives up. Every cache has a
	// policy of its own; those of several SMs are called side by side. Sets and
	// ways count from 0; now is a time in cycles that does not run backwards.
	//
	//	OnHit(set, way int, now uint64)          // an access found its line, its data there or on their way
	//	OnFill(set, way int, addr, now uint64)   // a way is given to the line of an address; what was there is gone
	//	OnInvalidate(set, way int)               // a way is emptied
	//	Victim(set int, from Ways) int           // the way to give up, one of from; changes nothing
	//
	// A cache asks for a victim only if no way of the set is empty. Ways whose data
	// are on their way are not in from, nor are those that the cache protects; at
	// least one is. A cache may ask more than once before it fills the way.
	ReplacementPolicy = cache.Policy
	// Ways is a set of ways. Has reports whether a way is in it; Next(i) is the
	// first from way i on, -1 if there is none.
	Ways = cache.Ways

	// Prefetcher names what a cache should read before anybody asks. Every cache has
	// one of its own; those of several SMs are called side by side.
	//
	//	Access(a *MemoryAccess, list []uint64) []uint64
	//
	// is called after an access to data that the cache has accepted. It appends the
	// addresses that should be read to list, in order of importance, and returns that.
	// The cache asks for the sectors, or lines, in which they lie as for a read that
	// misses: with an entry among its pending misses, through its queue and over the
	// network. It leaves out what it has or waits for, and what finds no room. The
	// access is the caller's again after the call.
	Prefetcher = cache.Prefetcher
	// MemoryAccess is what a prefetcher sees: Addr, the address of the sector, or of
	// the line in a cache without sectors; Cycle, a time that does not run backwards;
	// PC, the index of the instruction in its kernel's code; SM and Warp, the warp's
	// slot in the SM; whether it writes (Write), and whether the data were there (Hit).
	MemoryAccess = cache.Access
	// PrefetchCounts are the counters of prefetchers in a result.
	PrefetchCounts = report.Prefetch

	// AddressMapping says where addresses live. The same address has the same place
	// always; several goroutines call it side by side.
	//
	//	Find(addr uint64) AddressPlace   // the slice, bank, row and column
	//	Local(addr uint64) uint64        // the address within its slice, which picks the set of the L2
	//
	// Two addresses of a slice that are not in the same line have different local
	// addresses.
	AddressMapping = part.Mapping
	// AddressPlace is where an address lives: Sub is its L2 slice, counted over the
	// chip, Bank, Row and Col its place in the channel of that slice. Chan need not be
	// set.
	AddressPlace = part.Place
	// AddressSpace is what addresses are mapped to: the Channels of the chip, the L2
	// Slices of a channel, and its Banks.
	AddressSpace = part.Space

	// DRAMScheduler picks the request of a DRAM channel that goes to its bank next.
	// Every channel has a scheduler of its own.
	//
	//	Next(c *DRAMChannel) int
	//
	// returns the place of the request in c.Waiting, or -1 for none in this cycle. The
	// bank of the request must not be busy. It is asked in every cycle in which some
	// request's bank is not. The channel is the caller's again after the call.
	DRAMScheduler = dram.Policy
	// DRAMChannel is what a scheduler sees: Cycle, the command clock; Waiting, the
	// requests in the order in which they came; Banks; and Turn, the bank from which
	// the channel looks for its next command, which moves on by itself.
	DRAMChannel = dram.Channel
	// DRAMRequest is a request that waits for its bank: Bank, Row, Write, and Since, the
	// core cycle in which it came.
	DRAMRequest = dram.Queued
	// DRAMBank is the state of a bank: Busy with a request, a row Open, and the Row that
	// was opened last.
	DRAMBank = dram.State
)

// RegisterReplacement makes a replacement policy known by a name, which l1d.replace,
// l2.replace and their like then take. A cache whose ways change while it runs, as
// those of an adaptive L1 do, makes a new policy and fills it with its lines.
func RegisterReplacement(name string, maker func(sets, ways int) ReplacementPolicy) {
	cache.Replacements.Register(name, maker)
}

// RegisterPrefetcher makes a prefetcher known by a name, which l1d.prefetcher and
// l2.prefetcher then take. The maker is called once for each cache: line is the size of
// its lines and fetch that of what it reads at a time, a sector or a line, in bytes. A prefetcher of an L2 slice sees the accesses to the
// slice; what it names goes to the slice that has the address.
func RegisterPrefetcher(name string, maker func(line, fetch int) Prefetcher) {
	cache.Prefetchers.Register(name, maker)
}

// RegisterAddressMapping makes a mapping known by a name, which partition.indexing then
// takes. The machine's partition.mapping and dram.bank_index count for nothing with it.
// The maker may be called more than once for a chip; its error is that of the setting.
func RegisterAddressMapping(name string, maker func(AddressSpace) (AddressMapping, error)) {
	part.Mappings.Register(name, maker)
}

// RegisterDRAMScheduler makes a scheduler of DRAM channels known by a name, which
// dram.scheduler then takes. The maker is called once for each channel, with the number
// of its banks.
func RegisterDRAMScheduler(name string, maker func(banks int) DRAMScheduler) {
	dram.Schedulers.Register(name, maker)
}
