package part

import (
	"fmt"
	"strconv"

	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/param"
)

// Indexing says how a sub-partition is found from an address, beyond the
// fields of the mapping. The numbers are those of GPGPU-Sim's option
// -gpgpu_memory_partition_indexing.
type Indexing uint8

// The choices.
const (
	Consecutive   Indexing = iota // channel and low bank bits as they are
	BitwiseXor                    // channel xor the address bits above
	IPolyIndex                    // irreducible polynomial over channel and sub-partition
	PAEIndex                      // no effect in GPGPU-Sim: same as Consecutive
	RandomIndex                   // any slice, but the same one each time
	indexingCount = 5
)

var indexingNames = [indexingCount]string{"consecutive", "xor", "ipoly", "pae", "random"}

func (x Indexing) String() string {
	return Mappings.Name(int(x), indexingNames[:])
}

// BankHash says how the row changes the bank.
type BankHash uint8

// The choices, numbered as GPGPU-Sim's -dram_bnk_indexing_policy.
const (
	BankLinear    BankHash = iota // the bank bits
	BankXor                       // xor the low row bits
	BankIPoly                     // irreducible polynomial over row and bank
	bankHashCount = 3
)

var bankHashNames = [bankHashCount]string{"linear", "xor", "ipoly"}

func (h BankHash) String() string {
	if int(h) < len(bankHashNames) {
		return bankHashNames[h]
	}
	return "bank hash " + strconv.Itoa(int(h))
}

// Queues are the lengths of a sub-partition's queues, in requests; 0: no limit.
type Queues struct {
	ToL2     int // from the network to the L2, after the delay
	ToDRAM   int // from the L2 to the DRAM
	FromDRAM int // from the DRAM to the L2
	ToNet    int // from the L2 to the network
}

// Compat has a switch for each behaviour of GPGPU-Sim that nobody would design but
// that changes cycles or counters. In the zero value all are off.
type Compat struct {
	// CumulativeMasks gives piece i of a 128-byte request the bytes of its sector
	// and of all sectors before it. Off: the bytes of its sector.
	CumulativeMasks bool `help:"piece i of a line also has the bytes of all pieces before it" def:"false"`
	// PieceAddresses adds a sector's offset to the request's address even if
	// that already points into the line, and leaves both halves of a 64-byte
	// request without sectors at its address. Off: the address of the
	// sector.
	PieceAddresses bool `help:"halves of 64-byte requests get addresses beyond their line" def:"false"`
	// CopyTruncates truncates the address of a copy that fills the L2 to 32 bits.
	// Off: the whole address is used.
	CopyTruncates bool `help:"copies fill the L2 at their address modulo 4 GiB" def:"false"`
	// LibraryRandom draws the sub-partition of RandomIndex from the GNU C
	// library's generator, seeded with 1, in the order in which addresses first
	// occur. Off: a hash of the address, independent of the order.
	LibraryRandom bool `help:"random slices come from the C library's generator in order of first touch" def:"false"`
	// FlushSlices limits FlushL2 to as many slices as there are channels.
	// Off: all of them.
	FlushSlices bool `help:"an L2 flush reaches only as many slices as there are channels" def:"false"`
}

// GPGPUSim returns the switches that reproduce GPGPU-Sim.
func GPGPUSim() Compat {
	return Compat{
		CumulativeMasks: true, PieceAddresses: true, CopyTruncates: true,
		LibraryRandom: true, FlushSlices: true,
	}
}

// Config describes the partitions of a chip, which are all equal. It does not
// change once a Memory has been made from it.
type Config struct {
	Channels int // DRAM channels, one partition each
	Subs     int // L2 slices of a channel, a power of two

	// Mapping is the layout of an address as GPGPU-Sim writes it: 64 letters,
	// highest bit first, D channel, B bank, R row, C column, S burst, 0
	// unused; dots and bars are ignored. With "dramid@p;" in front the channel is
	// inserted at bit p instead of being spelled out.
	Mapping  string
	Indexing Indexing
	BankHash BankHash

	// L2 is one slice; Disabled sends everything to the DRAM.
	L2            cache.Config
	L2TextureOnly bool // only texture reads use the L2

	Queues      Queues
	ROPLatency  int // core cycles from entry to the L2; textures bypass it
	FarLatency  int // more core cycles to the other half of an L2 of two; 0: it is one
	FarBytes    int // bytes of writes a core cycle from one half to the other; 0: no limit
	FarHeader   int // bytes there of a write besides its data
	DRAMLatency int // core cycles from the L2 to the DRAM, before the DRAM itself

	// FixedLatency replaces the DRAM by DRAMLatency alone: one request in and
	// one out per DRAM cycle.
	FixedLatency bool
	DRAM         dram.Config
	// Open, if On, replaces the DRAM by the times of single accesses.
	Open Open

	Compat Compat
}

// Open is a DRAM without contention: each access takes the time of one in an idle channel,
// whose banks have the rows open that the accesses before it left there. Times are in core
// cycles.
type Open struct {
	On    bool
	Hit   int // its row is open
	Empty int // no row is open yet
	Other int // another row is open
}

// Remembers reports whether the place of an address depends on the addresses looked
// up before it, so that their order matters.
func (c *Config) Remembers() bool { return c.Indexing == RandomIndex && c.Compat.LibraryRandom }

const (
	maxChannels = 1 << 12
	maxSubs     = 1 << 8
	maxLatency  = 1 << 20
	maxQueue    = 1 << 20
)

// Check reports the first invalid setting.
func (c *Config) Check() error {
	if c.Channels < 1 || c.Channels > maxChannels {
		return param.Clash("chip.channels", "memory: %d channels: want 1 to %d", c.Channels, maxChannels)
	}
	if c.Subs < 1 || c.Subs > maxSubs || c.Subs&(c.Subs-1) != 0 {
		return param.Clash("chip.slices_per_channel", "memory: %d L2 slices per channel: want a power of two from 1 to %d", c.Subs, maxSubs)
	}
	for _, v := range []struct {
		key, name string
		val, high int
	}{
		{"rop_latency", "ROP latency", c.ROPLatency, maxLatency}, {"far_latency", "latency to the other half of the L2", c.FarLatency, maxLatency},
		{"far_bytes", "bandwidth of writes to the other half of the L2", c.FarBytes, maxLatency}, {"far_header", "header of a write to the other half of the L2", c.FarHeader, maxLatency}, {"dram_latency", "DRAM latency", c.DRAMLatency, maxLatency},
		{"to_l2", "queue to the L2", c.Queues.ToL2, maxQueue}, {"to_dram", "queue from L2 to DRAM", c.Queues.ToDRAM, maxQueue},
		{"from_dram", "queue from DRAM to L2", c.Queues.FromDRAM, maxQueue}, {"to_noc", "queue from L2 to network", c.Queues.ToNet, maxQueue},
	} {
		if v.val < 0 || v.val > v.high {
			return param.Clash("partition."+v.key, "memory: %s is %d: want 0 to %d", v.name, v.val, v.high)
		}
	}
	if c.FarLatency == 0 && (c.FarBytes > 0 || c.FarHeader > 0) {
		return param.Clash("partition.far_latency", "memory: writes to the other half of the L2 have a bandwidth of %d bytes a cycle and a header of %d bytes, but the L2 has no halves: set partition.far_latency, or leave partition.far_bytes and partition.far_header at 0", c.FarBytes, c.FarHeader)
	}
	// A request longer than a sector enters as up to four requests.
	if q := c.Queues.ToL2; q > 0 && q < 4 {
		return param.Clash("partition.to_l2", "memory: queue to the L2 is %d: want at least 4, for the sectors of a line", q)
	}
	if !c.FixedLatency {
		if err := c.DRAM.Check(); err != nil {
			return err
		}
	}
	if q, r := c.DRAM.QueueSize, c.DRAM.ReturnQueue; q > 0 && r > 0 && c.sharedCredits() <= 0 {
		return param.Clash("dram.queue dram.return_queue chip.slices_per_channel", "memory: scheduler and return queue hold %d and %d requests: want at least %d together, one per slice of the channel", q, r, c.Subs)
	}
	if !c.L2.Disabled {
		if c.L2.IsTexture() {
			return param.Clash("l2.mshr", "memory: the L2 cannot be a texture FIFO")
		}
		if err := c.L2.Check(); err != nil {
			return fmt.Errorf("memory: L2: %w", err)
		}
	}
	_, err := NewAddrMap(c)
	return err
}

// sharedCredits is the number of requests that a channel may hold beyond one for
// each slice; 0 means no limit.
func (c *Config) sharedCredits() int {
	d := &c.DRAM
	if d.QueueSize == 0 || d.ReturnQueue == 0 {
		return 0
	}
	n := d.QueueSize + d.ReturnQueue - (c.Subs - 1)
	if d.Writes.Enabled {
		n += d.Writes.Size
	}
	return n
}
