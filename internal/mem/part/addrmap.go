package part

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// Place is where an address lives.
type Place struct {
	Chan int    // DRAM channel
	Sub  int    // L2 slice, numbered over the whole chip
	Bank int    // of the channel, before any bank hash
	Row  uint32 // of the bank
	Col  uint32 // of the row
}

// AddrMap finds the place of an address. It is safe for concurrent use unless it
// remembers (see Config.Remembers).
type AddrMap struct {
	channels, subs int
	logSubs        uint
	at             uint // lowest channel bit ("dramid@")
	gap            bool // channels is not a power of two: divide
	indexing       Indexing
	bankHash       BankHash
	banks          int
	hashed         int // places of the polynomial hash

	channel, bank, row, col, local field
	highShift                      uint

	plugged  Mapping // nil for a built-in mapping
	library  *libraryRandom
	drawn    map[uint64]int32
	lineWise bool // the sectors of a line are in one slice
}

// field collects scattered bits of an address into a number.
type field struct {
	mask uint64
	runs []run
}

// run is a group of neighbouring bits.
type run struct {
	mask  uint64 // of the bits, in the address
	shift uint   // right
}

func newField(mask uint64) field {
	f := field{mask: mask}
	done := uint(0)
	for m := mask; m != 0; {
		low := uint(bits.TrailingZeros64(m))
		n := uint(bits.TrailingZeros64(^(m >> low)))
		r := run{mask: (1<<n - 1) << low, shift: low - done}
		f.runs = append(f.runs, r)
		done += n
		m &^= r.mask
	}
	return f
}

func (f *field) of(addr uint64) uint64 {
	var v uint64
	for i := range f.runs {
		v |= addr & f.runs[i].mask >> f.runs[i].shift
	}
	return v
}

// layout is a parsed mapping string.
type layout struct {
	channelAt                   int // "dramid@", -1 if the channel is spelled out
	channel, bank, row, col, bl uint64
}

// The parameters that an address mapping must agree with, and those for an
// indexing.
const (
	mappingKeys  = "partition.mapping dram.timing.banks chip.channels chip.slices_per_channel"
	indexingKeys = "partition.indexing chip.channels chip.slices_per_channel"
)

func parseLayout(s string) (layout, error) {
	l := layout{channelAt: -1}
	bad := func(format string, a ...any) (layout, error) {
		return layout{}, param.Clash(mappingKeys, "address mapping %q: %s", s, fmt.Sprintf(format, a...))
	}
	text := s
	if rest, ok := strings.CutPrefix(strings.TrimSpace(s), "dramid@"); ok {
		num, after, ok := strings.Cut(rest, ";")
		if !ok {
			return bad("no semicolon after dramid@")
		}
		at, err := strconv.ParseUint(strings.TrimSpace(num), 10, 32)
		if err != nil || at > 47 {
			return bad("dramid@%s: want a bit from 0 to 47", num)
		}
		l.channelAt, text = int(at), after
	}
	bit := 64
	for _, r := range text {
		switch r {
		case '.', '|', ' ', '\t', '\n', '\r':
			continue
		}
		bit--
		if bit < 0 {
			return bad("more than 64 bits")
		}
		b := uint64(1) << bit
		switch r {
		case 'D', 'd':
			l.channel |= b
		case 'B', 'b':
			l.bank |= b
		case 'R', 'r':
			l.row |= b
		case 'C', 'c':
			l.col |= b
		case 'S', 's': // the burst is the low end of the column
			l.bl |= b
			l.col |= b
		case '0':
		default:
			return bad("%q names no field: want D, B, R, C, S or 0", r)
		}
	}
	if bit != 0 {
		return bad("%d bits: want 64", 64-bit)
	}
	switch {
	case l.channelAt >= 0 && l.channel != 0:
		return bad("both dramid@ and channel bits D")
	case l.channelAt < 0 && l.channel == 0:
		return bad("neither dramid@ nor channel bits D")
	case l.bank|l.row|l.col == 0:
		return bad("names no bank, row or column")
	}
	return l, nil
}

// clash is an error of values that belong to some keys.
func clash(keys, format string, a ...any) error { return param.Clash(keys, "memory: "+format, a...) }

// NewAddrMap reads the mapping of a memory.
func NewAddrMap(c *Config) (*AddrMap, error) {
	if c.Channels < 1 || c.Channels > maxChannels || c.Subs < 1 || c.Subs > maxSubs || c.Subs&(c.Subs-1) != 0 {
		return nil, clash(mappingKeys, "cannot address %d channels of %d L2 slices", c.Channels, c.Subs)
	}
	if maker, ok := Mappings.Maker(int(c.Indexing)); ok {
		m := &AddrMap{channels: c.Channels, subs: c.Subs, banks: c.DRAM.Banks}
		var err error
		if m.plugged, err = maker(Space{c.Channels, c.Subs, c.DRAM.Banks}); err != nil {
			return nil, clash("partition.indexing", "indexing: %v", err)
		}
		return m, nil
	}
	l, err := parseLayout(c.Mapping)
	if err != nil {
		return nil, err
	}
	m := &AddrMap{
		channels: c.Channels, subs: c.Subs, logSubs: uint(bits.TrailingZeros(uint(c.Subs))),
		gap: c.Channels&(c.Channels-1) != 0, indexing: c.Indexing,
		bankHash: c.BankHash, banks: c.DRAM.Banks,
	}
	chanBits := uint(bits.Len(uint(c.Channels - 1)))
	switch {
	case l.channelAt < 0:
		if m.gap {
			return nil, clash(mappingKeys, "%d channels need dramid@ in the address mapping: the number is not a power of two", c.Channels)
		}
		if n := bits.OnesCount64(l.channel); n != int(chanBits) {
			return nil, clash(mappingKeys, "address mapping %q has %d channel bits; %d channels need %d", c.Mapping, n, c.Channels, chanBits)
		}
		m.at = uint(bits.TrailingZeros64(l.channel))
	case m.gap:
		m.at = uint(l.channelAt)
	default: // open a place for the channel in every field
		m.at = uint(l.channelAt)
		low := uint64(1)<<m.at - 1
		for _, f := range []*uint64{&l.bank, &l.row, &l.col, &l.bl} {
			*f = *f&^low<<chanBits | *f&low
		}
		l.channel = (1<<chanBits - 1) << m.at
	}
	subMask, err := l.slices(c)
	if err != nil {
		return nil, err
	}
	m.channel, m.bank, m.row, m.col = newField(l.channel), newField(l.bank), newField(l.row), newField(l.col)
	if m.gap {
		m.local = newField(^subMask)
		m.highShift = m.at
	} else {
		m.local = newField(^(subMask | l.channel))
		m.highShift = m.at + chanBits + m.logSubs
	}

	first := min(m.at, uint(bits.TrailingZeros64(subMask))) // lowest bit that selects a slice
	if c.Indexing == RandomIndex {
		first = m.at - min(m.at, m.logSubs)
	}
	m.lineWise = 1<<first >= mem.LineBytes

	if err := m.choose(c, 1<<chanBits); err != nil {
		return nil, err
	}
	return m, nil
}

// LineWise reports whether the sectors of a line are known to be in one slice.
func (m *AddrMap) LineWise() bool { return m.lineWise }

// slices returns the bits that select a slice of a channel: the lowest of the bank. It
// checks the number of bits of every field.
func (l *layout) slices(c *Config) (subMask uint64, err error) {
	if c.Subs > 1 {
		m := l.bank
		for range bits.TrailingZeros(uint(c.Subs)) {
			subMask |= m & -m
			m &= m - 1
		}
		if bits.OnesCount64(subMask) < bits.TrailingZeros(uint(c.Subs)) {
			return 0, clash(mappingKeys, "address mapping %q has too few bank bits for %d L2 slices per channel", c.Mapping, c.Subs)
		}
	}
	if n := bits.OnesCount64(l.bank); n > 16 || !c.FixedLatency && 1<<n > c.DRAM.Banks {
		return 0, clash(mappingKeys, "address mapping %q has %d bank bits; the DRAM has %d banks", c.Mapping, n, c.DRAM.Banks)
	}
	if n := bits.OnesCount64(l.row); n > 32 {
		return 0, clash(mappingKeys, "address mapping %q has %d row bits: want at most 32", c.Mapping, n)
	}
	if n := bits.OnesCount64(l.col); n > 32 {
		return 0, clash(mappingKeys, "address mapping %q has %d column bits: want at most 32", c.Mapping, n)
	}
	return subMask, nil
}

// choose checks the spreading of addresses over slices and banks, with a number of
// channels rounded up to a power of two.
func (m *AddrMap) choose(c *Config, channels int) error {
	switch c.Indexing {
	case Consecutive, PAEIndex:
	case BitwiseXor:
		if m.gap {
			return clash(indexingKeys, "xor indexing needs a power of two of channels, not %d", c.Channels)
		}
	case IPolyIndex:
		m.hashed = channels * c.Subs
		if m.hashed > 1 && !cache.HasIPoly(m.hashed) {
			return clash(indexingKeys, "there is no polynomial hash over %d L2 slices", m.hashed)
		}
	case RandomIndex:
		if m.at < m.logSubs {
			return clash(indexingKeys, "random indexing: the channel is at bit %d, below the %d bits of the L2 slices", m.at, m.logSubs)
		}
		if c.Remembers() {
			m.library, m.drawn = newLibraryRandom(1), make(map[uint64]int32)
		}
	default:
		return clash(indexingKeys, "unknown %v", c.Indexing)
	}
	switch c.BankHash {
	case BankLinear, BankXor:
	case BankIPoly:
		if !cache.HasIPoly(c.DRAM.Banks) {
			return clash("dram.bank_index dram.timing.banks", "there is no polynomial hash over %d banks", c.DRAM.Banks)
		}
	default:
		return clash("dram.bank_index dram.timing.banks", "unknown %v", c.BankHash)
	}
	return nil
}

// Channels returns the number of DRAM channels.
func (m *AddrMap) Channels() int { return m.channels }

// Subs returns the number of L2 slices of a channel.
func (m *AddrMap) Subs() int { return m.subs }

// split returns the address without its channel and the bits above the
// channel.
func (m *AddrMap) split(addr uint64) (channel int, rest, high uint64) {
	if !m.gap {
		return int(m.channel.of(addr)), addr, addr >> m.highShift
	}
	q := addr >> m.at
	high = q / uint64(m.channels)
	return int(q - high*uint64(m.channels)), high<<m.at | addr&(1<<m.at-1), high
}

// Find returns the place of an address.
func (m *AddrMap) Find(addr uint64) Place {
	if m.plugged != nil {
		return m.ask(addr)
	}
	channel, rest, high := m.split(addr)
	bank := int(m.bank.of(rest))
	p := Place{Bank: bank, Row: uint32(m.row.of(rest)), Col: uint32(m.col.of(rest))}
	low := bank & (m.subs - 1)
	switch m.indexing {
	case BitwiseXor:
		channel ^= int(high & uint64(m.channels-1))
	case IPolyIndex:
		p.Sub = channel*m.subs + low
		if m.hashed > 1 {
			p.Sub = cache.IPolyHash(high, p.Sub, m.hashed)
		}
		if m.gap {
			p.Sub %= m.channels * m.subs
		}
		p.Chan = p.Sub / m.subs
		return p
	case RandomIndex:
		p.Sub = m.random(addr >> (m.at - m.logSubs))
		p.Chan = p.Sub / m.subs
		return p
	}
	p.Chan, p.Sub = channel, channel*m.subs+low
	return p
}

// Local returns the address within its sub-partition, which selects the set of the
// L2.
func (m *AddrMap) Local(addr uint64) uint64 {
	if m.plugged != nil {
		return m.plugged.Local(addr)
	}
	_, rest, _ := m.split(addr)
	return m.local.of(rest)
}

// Decode fills a new request's place from its address. If the map remembers, the
// order of the calls matters, as in GPGPU-Sim: they must come in the order in which
// requests are made, including those of copies. The write-back of an L1 goes to the
// slice of the address in its PartAddr, if that is not 0.
func (m *AddrMap) Decode(r *mem.Req) {
	p := m.Find(r.Addr)
	r.Sub, r.Chan = int32(p.Sub), int32(p.Chan)
	if r.Kind == mem.L1WriteBack && r.PartAddr != 0 {
		q := m.Find(r.PartAddr)
		r.Sub, r.Chan = int32(q.Sub), int32(q.Chan)
	}
	r.Bank, r.Row, r.Col = int32(m.device(p)), p.Row, p.Col
	r.PartAddr = m.Local(r.Addr)
}

// device returns the bank after the bank hash.
func (m *AddrMap) device(p Place) int {
	switch m.bankHash {
	case BankXor:
		return (p.Bank ^ int(p.Row)) & (m.banks - 1)
	case BankIPoly:
		return cache.IPolyHash(uint64(p.Row), p.Bank, m.banks)
	}
	return p.Bank
}

func (m *AddrMap) random(key uint64) int {
	n := m.channels * m.subs
	if m.library == nil {
		// splitmix64's finisher: every bit of the key affects every bit of the
		// result.
		z := key + 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		hi, _ := bits.Mul64(z^z>>31, uint64(n))
		return int(hi)
	}
	if s, ok := m.drawn[key]; ok {
		return int(s)
	}
	s := int32(m.library.next() % uint32(n))
	m.drawn[key] = s
	return int(s)
}

// libraryRandom is the additive feedback generator of rand() in the GNU C library:
// x[i] = x[i-3] + x[i-31], of which the upper 31 bits are returned.
type libraryRandom struct {
	x [31]uint32
	i int // of x[i-31], which is replaced next
}

// newLibraryRandom seeds the generator as srand does.
func newLibraryRandom(seed uint32) *libraryRandom {
	if seed == 0 {
		seed = 1
	}
	g := &libraryRandom{i: 3}
	w := int64(int32(seed))
	for i := range g.x {
		g.x[i] = uint32(w)
		// The minimal standard generator (multiplier 7^5, modulus 2^31-1).
		w = 16807 * w % 0x7fffffff
		if w < 0 {
			w += 0x7fffffff
		}
	}
	for range 310 { // the library discards the first ones
		g.next()
	}
	return g
}

func (g *libraryRandom) next() uint32 {
	j := g.i - 3
	if j < 0 {
		j += len(g.x)
	}
	g.x[g.i] += g.x[j]
	v := g.x[g.i] >> 1
	if g.i++; g.i == len(g.x) {
		g.i = 0
	}
	return v
}
