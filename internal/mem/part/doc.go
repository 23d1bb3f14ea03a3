// Package part models the memory side of the chip: the map from addresses to
// channels, and the memory partitions. A partition is one DRAM channel with its
// L2 slices (sub-partitions): the delay before the L2, the queues around it,
// the credits and the delay in front of the DRAM.
//
// It counts time and moves requests. Its clocks are driven from outside (package
// system), packets are carried by package noc, and the bytes are not modelled.
//
// A request enters with Enter and comes out at ReplyHead as its own reply, with
// Reply set. A request longer than a sector is split before a sectored L2: its
// pieces come out one by one, each with Orig set to the request, whose Pieces is
// their number. The taker of the replies counts them down and returns pieces and
// request to the pool. Write-backs of an L1 get no reply; this package returns them
// and their pieces to the pool.
package part
