package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// Sent says what an access put into the miss queue.
type Sent uint8

// The requests an access may send.
const (
	SentRead       Sent = 1 << iota // the request itself, to read its line or sector
	SentWrite                       // the request itself, writing through
	SentWriteBack                   // a dirty victim
	SentWriteAlloc                  // a read on behalf of the write
)

const sectors = mem.LineBytes / mem.SectorBytes

// line is the state of one line. A sector, or the whole of an unsectored
// line (bit 0), has its bit in at most one of rsv, val and mod; it is invalid
// if in none.
type line struct {
	tag   uint64 // address of the line
	stamp uint64 // last access (LRU) or allocation (FIFO)
	dirty mem.ByteMask
	set   int32
	chain int32 // next line of the hash bucket
	prev  int32 // older line of the set
	next  int32 // younger line of the set

	rsv, val, mod  uint8
	rd             uint8 // modified, and every byte that a read may want is here
	modFill        uint8 // becomes modified when filled
	rdFill         uint8 // becomes readable when filled
	maskFill       bool  // the fill's bytes become dirty
	class          uint8 // what the set's counts know of the line
	hashed, inList bool
}

const (
	isInvalid  = 1 << iota // no sector in use
	isReserved             // some sector reserved
	isDirty                // some sector modified, which makes the line worth keeping
)

// Cache is one cache. Not safe for concurrent use.
type Cache struct {
	cfg   Config
	pool  *mem.Pool
	Stats Stats

	shift    uint // log2 of the line
	atom     uint64
	port     int
	ways     int
	stride   int // lines from one set to the next
	words    int // of a set's mask of invalid ways
	onMiss   bool
	keepsMod bool // modified lines count as dirty
	wrback   mem.Kind
	wralloc  mem.Kind

	lines []line
	inv   []uint64 // per set, a bit per way
	rsvN  []int32  // per set, reserved lines
	modN  []int32  // per set, dirty lines that are not reserved
	old   []int32  // per set, head of the list by stamp
	young []int32
	hash  []int32
	hmask uint64
	dirty int // dirty lines
	used  bool

	mshr  mshr
	queue mem.Queue

	dataBusy int
	fillBusy int

	sent     Sent
	reason   FailReason
	wbBytes  int
	maxDirty int // dirty lines below which they are protected, times 100
}

// New returns an empty cache. Requests that the cache makes itself (write-backs,
// reads for writes that miss) come from the pool, and pieces of answers go to it.
func New(cfg Config, pool *mem.Pool) (*Cache, error) {
	if err := usable(&cfg, false); err != nil {
		return nil, err
	}
	c := &Cache{
		cfg: cfg, pool: pool,
		shift: uint(log2(cfg.Line)), atom: uint64(cfg.Atom()), port: cfg.port(),
		ways: cfg.Ways, onMiss: cfg.Alloc == OnMiss,
		keepsMod: cfg.Write != WriteThrough || cfg.Compat.ProtectWritten,
		wrback:   mem.L1WriteBack, wralloc: mem.L1WriteAlloc,
	}
	if cfg.Level == L2 {
		c.wrback, c.wralloc = mem.L2WriteBack, mem.L2WriteAlloc
	}
	n := cfg.Sets * cfg.maxWays()
	c.lines = make([]line, n)
	c.words = (cfg.maxWays() + 63) / 64
	c.inv = make([]uint64, cfg.Sets*c.words)
	c.rsvN = make([]int32, cfg.Sets)
	c.modN = make([]int32, cfg.Sets)
	c.old = make([]int32, cfg.Sets)
	c.young = make([]int32, cfg.Sets)
	c.hash = make([]int32, 1<<bits.Len(uint(n)))
	c.hmask = uint64(len(c.hash) - 1)
	c.mshr = newMSHR(cfg.Entries)
	c.layOut(cfg.Ways)
	return c, nil
}
