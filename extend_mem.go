package heddle

import (
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/part"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: parts of the memory system that a program can register. A registered
// part is chosen by its name in a machine's file or with Set, like a built-in one.
// Register parts before the first machine is loaded, for example in init; a name
// that is already taken causes a panic.

type (
	// ReplacementPolicy chooses the lines that a cache evicts. Every cache has its
	// own policy; those of several SMs are called concurrently. Sets and ways count
	// from 0; now is a time in cycles that never decreases.
	//
	//	OnHit(set, way int, now uint64)          // an access found its line, with its data present or on their way
	//	OnFill(set, way int, addr, now uint64)   // a way is allocated to the line of an address; its previous line is gone
	//	OnInvalidate(set, way int)               // a way is emptied
	//	Victim(set int, from Ways) int           // returns the way to evict, one of from; must change nothing
	//
	// Victim is called only if no way of the set is empty. from has at least one
	// way; ways whose data are on their way and those that the cache protects are
	// not in it. Victim may be called more than once before the way is filled.
	ReplacementPolicy = cache.Policy
	// Ways is a set of ways. Has reports whether a way is in it; Next(i) is the
	// first at or after way i, -1 if there is none.
	Ways = cache.Ways

	// Prefetcher says what a cache should prefetch. Every cache has its own; those
	// of several SMs are called concurrently.
	//
	//	Access(a *MemoryAccess, list []uint64) []uint64
	//
	// is called after an access to data that the cache has accepted. It appends the
	// addresses to prefetch to list, most important first, and returns list. The
	// cache requests their sectors or lines as for a read that misses: with an
	// entry in its table of pending misses, through its miss queue and over the
	// network. It skips those that are present or on their way, and those for which
	// there is no room. a must not be used after the call.
	Prefetcher = cache.Prefetcher
	// MemoryAccess is the input of a prefetcher: Addr, the address of the sector,
	// or of the line in a cache without sectors; Cycle, a time that never
	// decreases; PC, the index of the instruction in its kernel's code; SM and
	// Warp, the warp's slot in the SM; whether it writes (Write), and whether the
	// data were present (Hit).
	MemoryAccess = cache.Access
	// PrefetchCounts are the counters of prefetchers in a result.
	PrefetchCounts = report.Prefetch

	// AddressMapping finds the places of addresses. An address must always have the
	// same place; several goroutines call it concurrently.
	//
	//	Find(addr uint64) AddressPlace   // the slice, bank, row and column
	//	Local(addr uint64) uint64        // the address within its slice, which selects the set of the L2
	//
	// Two addresses of a slice that are not in the same line must have different
	// local addresses.
	AddressMapping = part.Mapping
	// AddressPlace is the place of an address: Sub is its L2 slice, numbered over
	// the whole chip, Bank, Row and Col its place in the channel of that slice.
	// Chan need not be set.
	AddressPlace = part.Place
	// AddressSpace describes what addresses are mapped to: the Channels of the
	// chip, the L2 Slices of a channel, and its Banks.
	AddressSpace = part.Space

	// DRAMScheduler chooses the request of a DRAM channel that goes to its bank
	// next. Every channel has its own scheduler.
	//
	//	Next(c *DRAMChannel) int
	//
	// returns the index of the request in c.Waiting, or -1 for none in this cycle.
	// The bank of the request must not be busy. Next is called in every cycle in
	// which the bank of some request is not busy. c must not be used after the
	// call.
	DRAMScheduler = dram.Policy
	// DRAMChannel is the input of a scheduler: Cycle, the command clock; Waiting,
	// the requests in order of arrival; Banks; and Turn, the bank from which the
	// channel looks for its next command, which the channel itself advances.
	DRAMChannel = dram.Channel
	// DRAMRequest is a request that waits for its bank: Bank, Row, Write, and
	// Since, the core cycle in which it arrived.
	DRAMRequest = dram.Queued
	// DRAMBank is the state of a bank: whether it is Busy with a request, whether a
	// row is Open, and the Row that was opened last.
	DRAMBank = dram.State
)

// RegisterReplacement adds a replacement policy, which l1d.replace, l2.replace and
// the others then choose by its name. A cache whose ways change, such as an
// adaptive L1, makes a new policy and fills it with its lines.
func RegisterReplacement(name string, maker func(sets, ways int) ReplacementPolicy) {
	cache.Replacements.Register(name, maker)
}

// RegisterPrefetcher adds a prefetcher, which l1d.prefetcher and l2.prefetcher then
// choose by its name. maker is called once for each cache: line is the size of its
// lines and fetch what it reads at a time (a sector or a line), in bytes. The
// prefetcher of an L2 slice sees the accesses to the slice; its prefetches go to
// the slices of their addresses.
func RegisterPrefetcher(name string, maker func(line, fetch int) Prefetcher) {
	cache.Prefetchers.Register(name, maker)
}

// RegisterAddressMapping adds a mapping, which partition.indexing then chooses by
// its name. The machine's partition.mapping and dram.bank_index then have no
// effect. maker may be called more than once for a chip; its error is reported as
// an error of partition.indexing.
func RegisterAddressMapping(name string, maker func(AddressSpace) (AddressMapping, error)) {
	part.Mappings.Register(name, maker)
}

// RegisterDRAMScheduler adds a scheduler of DRAM channels, which dram.scheduler
// then chooses by its name. maker is called once for each channel, with the number
// of its banks.
func RegisterDRAMScheduler(name string, maker func(banks int) DRAMScheduler) {
	dram.Schedulers.Register(name, maker)
}
