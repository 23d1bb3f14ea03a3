package cache

import "github.com/heddle-sim/heddle/internal/mem"

// Status is the outcome of an access.
type Status uint8

// The outcomes. A request was accepted unless the outcome is Fail.
const (
	Hit         Status = iota // present: the owner answers
	HitReserved               // its line is on the way (texture: present or on the way)
	Miss                      // no such line
	SectorMiss                // the line is there, the sector is not
	Fail                      // refused; retry in the next cycle (see FailReason)
	MSHRHit                   // never returned: counts misses that joined a pending one
	Statuses                  // how many there are
)

var statusNames = [Statuses]string{"HIT", "HIT_RESERVED", "MISS", "SECTOR_MISS", "RESERVATION_FAIL", "MSHR_HIT"}

// String returns GPGPU-Sim's name of the outcome.
func (s Status) String() string { return statusNames[s] }

// FailReason says why an access was refused.
type FailReason uint8

// The reasons.
const (
	LineAllocFail FailReason = iota // every line of the set is reserved or protected
	MissQueueFull                   // no room for the requests that it would cause
	MSHREntryFail                   // too many misses pending
	MSHRMergeFail                   // too many requests wait for this miss
	MSHRRWPending                   // a read of older data still waits (fetch on write)
	FailReasons                     // how many there are
)

var reasonNames = [FailReasons]string{
	"LINE_ALLOC_FAIL", "MISS_QUEUE_FULL", "MSHR_ENRTY_FAIL", "MSHR_MERGE_ENRTY_FAIL", "MSHR_RW_PENDING",
}

// String returns GPGPU-Sim's name of the reason, spelt as there.
func (r FailReason) String() string { return reasonNames[r] }

// Stats are a cache's counters. They only grow; for counts per kernel, take
// differences.
type Stats struct {
	// Accesses counts the calls of Access by kind of request and outcome: a
	// refused request counts each time it is tried. MSHRHit is in addition.
	Accesses [mem.Kinds][Statuses]uint64
	// Fails counts the refused calls by reason.
	Fails [mem.Kinds][FailReasons]uint64
	// Cycles counts calls of Tick; DataBusy and FillBusy those in which the
	// data port or the fill port was occupied.
	Cycles, DataBusy, FillBusy uint64
	// WriteBacks counts dirty victims sent to the next level.
	WriteBacks uint64
	// Prefetch counts what the prefetcher did. Its reads are not among the accesses.
	Prefetch Prefetches
}

// Add adds another cache's counters.
func (s *Stats) Add(o *Stats) {
	for k := range s.Accesses {
		for i := range s.Accesses[k] {
			s.Accesses[k][i] += o.Accesses[k][i]
		}
		for i := range s.Fails[k] {
			s.Fails[k][i] += o.Fails[k][i]
		}
	}
	s.Cycles += o.Cycles
	s.DataBusy += o.DataBusy
	s.FillBusy += o.FillBusy
	s.WriteBacks += o.WriteBacks
	p, q := &s.Prefetch, &o.Prefetch
	p.Issued += q.Issued
	p.Useful += q.Useful
	p.Late += q.Late
	p.Unused += q.Unused
	p.Present += q.Present
	p.Refused += q.Refused
}

// Of returns the count of one outcome over all kinds.
func (s *Stats) Of(st Status) uint64 {
	var n uint64
	for k := range s.Accesses {
		n += s.Accesses[k][st]
	}
	return n
}

// Total returns the accepted accesses: hits, pending hits, misses and sector
// misses.
func (s *Stats) Total() uint64 {
	return s.Of(Hit) + s.Of(HitReserved) + s.Of(Miss) + s.Of(SectorMiss)
}

// Accepted returns Total and, of it, the hits.
func (s *Stats) Accepted() (total, hits uint64) {
	for k := range s.Accesses {
		a := &s.Accesses[k]
		hits += a[Hit]
		total += a[HitReserved] + a[Miss] + a[SectorMiss]
	}
	return total + hits, hits
}

// Misses returns the misses and sector misses.
func (s *Stats) Misses() uint64 { return s.Of(Miss) + s.Of(SectorMiss) }
