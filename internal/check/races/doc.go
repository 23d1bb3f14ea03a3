// Package races finds data races: two accesses to the same byte, at least one of them a
// write, that neither happens-before of this run orders nor the memory model excuses as
// morally strong (PTX manual, memory consistency model).
//
// What orders is the program's synchronisation alone: barriers of the block and of the warp,
// mbarriers, release and acquire through memory, the ends of launches, streams, events and the
// host. The order in which the simulator happened to run blocks, warps and lanes orders
// nothing, and neither do shuffles, votes or the values that came out. So a race is found
// whatever the schedule hides, among the pairs of accesses that ran.
//
// # Clocks
//
// One counter, the time, rises when somebody releases. An access carries the time at which it
// was made; a thread knows of each other thread up to which time its accesses happened before.
// A barrier of the whole block needs one number for this, a barrier of a warp one more. Only
// threads that acquired from memory or met at part of a barrier have a clock (clock.go), a
// persistent map that threads share.
//
// # Shadow
//
// Each word of memory has two cells, for its last writes and its last reads (shadow.go). A
// cell names a record, which all lanes of one warp instruction share, and a lane; where
// accesses are unordered, or cover part of the word, it names a set of them. An access leaves
// a set when a later one replaces it: one that happens after it and races with whatever it
// races with. Neighbouring words that were accessed alike are tested once (access.go).
//
// # Limits
//
// Proxies count as one. A word keeps at most mostEntries unordered accesses; where
// nothing can order two blocks, accesses of many blocks at one instruction are one record
// (summaries), so that some pairs are not counted. Launches that run at the same time do not
// synchronise through memory. Memory that threads allocate with malloc is not followed from
// one owner to the next. A byte's observers (chain.sights) are remembered up to mostSights.
package races
