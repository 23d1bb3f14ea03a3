package cache

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/param"
)

// Level says where a cache is: this determines which kinds of request it makes
// itself, and which address selects its set.
type Level uint8

// The levels.
const (
	L1 Level = iota // sets by the address
	L2              // sets by the address within the partition (mem.Req.PartAddr)
)

// Replacement selects the victim among the lines of a set: a policy below, or a
// registered one (Replacements).
type Replacement uint8

// The replacement policies.
const (
	LRU  Replacement = iota // L: least recently accessed line
	FIFO                    // F: line allocated longest ago
)

// WritePolicy says what a write that hits does.
type WritePolicy uint8

// The write policies.
const (
	ReadOnly     WritePolicy = iota // R: no writes expected; treats a write as WriteEvict does
	WriteBack                       // B: the line is kept, dirty
	WriteThrough                    // T: the line is kept and the write is sent on
	WriteEvict                      // E: the write is sent on and the sector dropped
	LocalBack                       // L: local memory as WriteBack, global as WriteEvict
)

// Alloc says when a line is taken for a read that misses.
type Alloc uint8

// The allocation policies.
const (
	OnMiss    Alloc = iota // m: at the miss; the line is reserved until the data come
	OnFill                 // f: when the data come
	Streaming              // s: OnFill until the owner calls SetAlloc
)

// WriteAlloc says what a write that misses does.
type WriteAlloc uint8

// The write allocation policies.
const (
	NoWriteAlloc WriteAlloc = iota // N: the write is sent on
	NaiveAlloc                     // W: the write is sent on and the line read
	FetchOnWrite                   // F: the line is read, then modified
	LazyFetch                      // L: the line is modified; what is missing is read when a read needs it
)

// IndexKind is a function from addresses to sets; see Index.
type IndexKind uint8

// The index functions.
const (
	Linear IndexKind = iota // L: low bits of the line number
	Xor                     // X: low bits xor the next ones
	IPoly                   // P: remainder of the line number by an irreducible polynomial over GF(2)
	Fermi                   // H: bit permutation found on Fermi
	Custom                  // C: always set 0
)

// MSHRKind is the organisation of the table of pending misses.
type MSHRKind uint8

// The organisations.
const (
	Assoc       MSHRKind = iota // A: associative
	SectorAssoc                 // S: associative, in front of a sector cache that answers sector by sector
	TexFIFO                     // F: texture FIFO
	SectorFIFO                  // T: texture FIFO in front of a sector cache
)

// The letters of the policies in a configuration string, by value.
const (
	replaceLetters    = "LF"
	writeLetters      = "RBTEL"
	allocLetters      = "mfs"
	writeAllocLetters = "NWFL"
	indexLetters      = "LXPHC"
	mshrLetters       = "ASFT"
)

// Config is a cache's immutable settings. The fields down to Port are those of
// GPGPU-Sim's configuration string, which ParseConfig reads and String writes.
type Config struct {
	// Disabled says that there is no such cache ("none" in a string).
	Disabled bool
	// Name stands in error messages, such as "l1d".
	Name string
	// Level is the place of the cache.
	Level Level

	// Sectored makes lines of four 32-byte sectors that are filled and
	// dirtied one by one (S); else a line is filled whole (N).
	Sectored bool
	// Sets is the number of sets.
	Sets int
	// Line is the length of a line in bytes.
	Line int
	// Ways is the number of lines in a set.
	Ways int
	// Replace picks the victim.
	Replace Replacement
	// Write is the policy for writes that hit.
	Write WritePolicy
	// Alloc is the policy for taking a line.
	Alloc Alloc
	// WriteAlloc is the policy for writes that miss.
	WriteAlloc WriteAlloc
	// Index is the function from addresses to sets.
	Index IndexKind
	// MSHR is the organisation of the pending-miss table.
	MSHR MSHRKind
	// Entries is the number of pending misses (texture: of the fragment FIFO).
	Entries int
	// Merge is the number of requests that one pending miss may serve
	// (texture: entries of the request FIFO).
	Merge int
	// MissQueue is the number of requests that may wait for the next level
	// (texture: entries of the reorder buffer).
	MissQueue int
	// ResultQueue is the number of entries of the texture result FIFO.
	ResultQueue int
	// Port is the width of the data and fill ports in bytes per cycle; 0 is
	// the length of a line.
	Port int

	// WriteRatio is the percentage of dirty lines below which dirty lines
	// are not victims (-gpgpu_l1_cache_write_ratio, L1D only).
	WriteRatio int
	// Prefetch is the cache's prefetcher.
	Prefetch Prefetching
	// MaxWays is the upper limit of SetWays (adaptive L1, GPGPU-Sim); 0 means Ways.
	MaxWays int

	// Perfect makes every access hit, without a line. Writes that the cache passes on are
	// still passed on; a write-back cache keeps them.
	Perfect bool

	// Compat selects GPGPU-Sim's quirks.
	Compat Compat
}

// Compat has one switch for each behaviour of GPGPU-Sim that nobody would design
// but that changes cycles or counters. In the zero value all are off.
type Compat struct {
	// MissNeedsTwo refuses every read that misses in a data cache unless two
	// entries of the miss queue are free, even if it would only merge. Off: only as
	// many as it needs.
	MissNeedsTwo bool `help:"a read that misses is refused unless two entries of the miss queue are free" def:"false"`
	// ProtectWritten counts the written lines of a write-through cache as
	// dirty when victims are chosen, although they need no write-back.
	ProtectWritten bool `help:"written lines of a write-through cache count as dirty when victims are chosen" def:"false"`
	// ReindexWays makes SetWays renumber the lines, so that existing lines end up
	// in other sets. Off: sets keep their lines, and removed ways lose theirs.
	ReindexWays bool `help:"when an adaptive L1 changes its ways, its lines end up in other sets" def:"false"`
	// FillByWay puts returning data into the line chosen at the miss,
	// whatever has happened to it since, and does not count a fill as use,
	// so that Invalidate may skip it. Off: data go into the line of that address if
	// it still waits for them, else nowhere.
	FillByWay bool `help:"data go into the way chosen at the miss whatever happened to it since" def:"false"`
	// LateMerge lets a read that joins a pending miss whose data have
	// already come reserve a line, for which no more data will come. Off:
	// such a read gets its data and takes no line.
	LateMerge bool `help:"a read that joins a miss whose data are already here reserves a line" def:"false"`
	// VictimSlice sends an L1 write-back to the L2 slice of the request that
	// evicted the line: PartAddr is the address of that request. Off: it is not
	// set. Sub and Chan of an L1 write-back are -1 until its owner maps it.
	VictimSlice bool `help:"a written-back line goes to the L2 slice of the request that evicted it" def:"false"`
	// MaskIndex takes the set of a linear index as the line number and-ed
	// with sets-1 even if sets is not a power of two, so that some sets stay empty.
	// Off: remainder.
	MaskIndex bool `help:"a linear index over a number of sets that is not a power of two leaves some sets empty" def:"false"`
}

// GPGPUSim returns the switches that reproduce GPGPU-Sim.
func GPGPUSim() Compat {
	return Compat{
		MissNeedsTwo: true, ProtectWritten: true, ReindexWays: true, FillByWay: true,
		LateMerge: true, VictimSlice: true, MaskIndex: true,
	}
}

// Limits of a configuration: far beyond any hardware, they keep a typing error from
// using up all memory.
const (
	maxLines   = 1 << 22
	maxEntries = 1 << 20
)

// Atom returns the unit of filling in bytes: a sector or a line.
func (c *Config) Atom() int {
	if c.Sectored {
		return mem.SectorBytes
	}
	return c.Line
}

// Bytes returns the capacity.
func (c *Config) Bytes() int {
	if c.Disabled {
		return 0
	}
	return c.Sets * c.Ways * c.Line
}

// IsTexture reports whether the string describes a Texture rather than a Cache.
func (c *Config) IsTexture() bool { return c.MSHR == TexFIFO || c.MSHR == SectorFIFO }

// port returns the effective width of the ports.
func (c *Config) port() int {
	if c.Port == 0 {
		return c.Line
	}
	return c.Port
}

// maxWays returns the effective limit of SetWays.
func (c *Config) maxWays() int { return max(c.MaxWays, c.Ways) }

// ParseConfig reads a configuration string of GPGPU-Sim,
//
//	type:sets:line:ways,repl:write:alloc:wralloc:index,mshr:entries:merge,missq[:resultq[,port]]
//
// or "none". It checks the settings as New does.
func ParseConfig(s string) (Config, error) {
	s = strings.TrimSpace(s)
	if s == "none" {
		return Config{Disabled: true}, nil
	}
	var c Config
	f, err := configFields(s)
	if err == nil {
		err = c.readNumbers(f)
	}
	if err == nil {
		err = c.readLetters(f)
	}
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return Config{}, fmt.Errorf("cache %q: %w", s, err)
	}
	return c, nil
}

// configFields cuts a configuration string into its groups and their fields.
func configFields(s string) ([][]string, error) {
	groups := strings.Split(s, ",")
	if len(groups) < 4 || len(groups) > 5 {
		return nil, fmt.Errorf("has %d comma-separated groups; want 4 or 5, as in S:64:128:16,L:B:m:L:P,A:192:4,32:0,32", len(groups))
	}
	f := make([][]string, len(groups))
	for i, g := range groups {
		f[i] = strings.Split(g, ":")
	}
	for i, want := range []int{4, 5, 3} {
		if len(f[i]) != want {
			return nil, fmt.Errorf("group %d, %q, has %d fields; want %d", i+1, groups[i], len(f[i]), want)
		}
	}
	if len(f[3]) > 2 {
		return nil, fmt.Errorf("group 4, %q, has %d fields; want the miss queue and the result queue", groups[3], len(f[3]))
	}
	if t := f[0][0]; t != "N" && t != "S" {
		return nil, fmt.Errorf("type %q: want N or S", t)
	}
	if len(f) == 5 && len(f[4]) != 1 {
		return nil, fmt.Errorf("group 5, %q: want one port width", groups[4])
	}
	return f, nil
}

// readNumbers reads the fields that are numbers.
func (c *Config) readNumbers(f [][]string) error {
	type number struct {
		to   *int
		text string
		name string
	}
	numbers := []number{
		{&c.Sets, f[0][1], "sets"}, {&c.Line, f[0][2], "line"}, {&c.Ways, f[0][3], "ways"},
		{&c.Entries, f[2][1], "entries"}, {&c.Merge, f[2][2], "merge"}, {&c.MissQueue, f[3][0], "miss queue"},
	}
	if len(f[3]) == 2 {
		numbers = append(numbers, number{&c.ResultQueue, f[3][1], "result queue"})
	}
	if len(f) == 5 {
		numbers = append(numbers, number{&c.Port, f[4][0], "port"})
	}
	for _, n := range numbers {
		v, err := strconv.ParseUint(strings.TrimSpace(n.text), 10, 31)
		if err != nil {
			return fmt.Errorf("%s %q: want a whole number below 2147483648", n.name, n.text)
		}
		*n.to = int(v)
	}
	return nil
}

// readLetters reads the fields that are letters.
func (c *Config) readLetters(f [][]string) error {
	c.Sectored = f[0][0] == "S"
	for _, l := range []struct {
		to            *uint8
		text, of, who string
	}{
		{(*uint8)(&c.Replace), f[1][0], replaceLetters, "replacement"},
		{(*uint8)(&c.Write), f[1][1], writeLetters, "write policy"},
		{(*uint8)(&c.Alloc), f[1][2], allocLetters, "allocation"},
		{(*uint8)(&c.WriteAlloc), f[1][3], writeAllocLetters, "write allocation"},
		{(*uint8)(&c.Index), f[1][4], indexLetters, "index"},
		{(*uint8)(&c.MSHR), f[2][0], mshrLetters, "MSHR"},
	} {
		i := strings.Index(l.of, l.text)
		if len(l.text) != 1 || i < 0 {
			note := ""
			if l.who == "replacement" {
				note = "; a registered policy has no letter: name it in a GPU file"
			}
			return fmt.Errorf("%s %q: want one of %s%s", l.who, l.text, strings.Join(strings.Split(l.of, ""), ", "), note)
		}
		*l.to = uint8(i)
	}
	return nil
}

// String writes the configuration string. A registered policy, which has no letter,
// becomes a question mark.
func (c Config) String() string {
	if c.Disabled {
		return "none"
	}
	t := 'N'
	if c.Sectored {
		t = 'S'
	}
	at := func(letters string, i uint8) string {
		if int(i) >= len(letters) {
			return "?"
		}
		return letters[i : i+1]
	}
	s := fmt.Sprintf("%c:%d:%d:%d,%s:%s:%s:%s:%s,%s:%d:%d,%d", t, c.Sets, c.Line, c.Ways,
		at(replaceLetters, uint8(c.Replace)), at(writeLetters, uint8(c.Write)), at(allocLetters, uint8(c.Alloc)),
		at(writeAllocLetters, uint8(c.WriteAlloc)), at(indexLetters, uint8(c.Index)),
		at(mshrLetters, uint8(c.MSHR)), c.Entries, c.Merge, c.MissQueue)
	if c.ResultQueue != 0 || c.Port != 0 {
		s += ":" + strconv.Itoa(c.ResultQueue)
	}
	if c.Port != 0 {
		s += "," + strconv.Itoa(c.Port)
	}
	return s
}

// ParseOption is ParseConfig for a string of any version of GPGPU-Sim. Those of
// version 3 have neither a type nor, before 3.2, an index function.
func ParseOption(text string) (Config, error) {
	groups := strings.Split(strings.TrimSpace(text), ",")
	if len(groups) >= 4 {
		if strings.Count(groups[0], ":") == 2 {
			groups[0] = "N:" + groups[0]
		}
		if strings.Count(groups[1], ":") == 3 {
			groups[1] += ":L"
		}
		text = strings.Join(groups, ",")
	}
	return ParseConfig(text)
}

// clash returns an error about parameters of the cache, named without their table.
func (c *Config) clash(last, format string, a ...any) error {
	keys := strings.Fields(last)
	for i := range keys {
		keys[i] = c.Name + "." + keys[i]
	}
	return param.Clash(strings.Join(keys, " "), format, a...)
}

// Check reports the first contradiction among the settings, nil if there is
// none.
func (c *Config) Check() error {
	if c.Disabled {
		return nil
	}
	for _, x := range []struct {
		key, name string
		v, a, b   int
	}{
		{"sets", "sets", c.Sets, 1, maxLines}, {"ways", "ways", c.Ways, 1, maxLines}, {"entries", "entries", c.Entries, 1, maxEntries},
		{"merge", "merge", c.Merge, 1, maxEntries}, {"miss_queue", "miss queue", c.MissQueue, 1, maxEntries},
		{"result_queue", "result queue", c.ResultQueue, 0, maxEntries}, {"port", "port", c.Port, 0, mem.LineBytes},
		{"write_ratio", "write ratio", c.WriteRatio, 0, 100}, {"ways", "maximum ways", c.MaxWays, 0, maxLines},
	} {
		if x.v < x.a || x.v > x.b {
			return c.clash(x.key, "%s %d: want %d..%d", x.name, x.v, x.a, x.b)
		}
	}
	enums := []struct {
		v    uint8
		of   string
		name string
	}{
		{uint8(c.Write), writeLetters, "write policy"},
		{uint8(c.Alloc), allocLetters, "allocation"}, {uint8(c.WriteAlloc), writeAllocLetters, "write allocation"},
		{uint8(c.Index), indexLetters, "index"}, {uint8(c.MSHR), mshrLetters, "MSHR"}, {uint8(c.Level), "12", "level"},
	}
	if !Replacements.Has(int(c.Replace), replacementNames) {
		return fmt.Errorf("unknown %s", Replacements.Name(int(c.Replace), replacementNames))
	}
	if !Prefetchers.Has(int(c.Prefetch), prefetcherNames) {
		return fmt.Errorf("unknown %s", Prefetchers.Name(int(c.Prefetch), prefetcherNames))
	}
	for _, e := range enums {
		if int(e.v) >= len(e.of) {
			return fmt.Errorf("unknown %s %d", e.name, e.v)
		}
	}
	switch {
	case c.Line&(c.Line-1) != 0 || c.Line < mem.SectorBytes || c.Line > mem.LineBytes:
		return c.clash("line", "line of %d bytes: want 32, 64 or 128", c.Line)
	case c.Sectored && c.Line != mem.LineBytes:
		return c.clash("sectored line", "line of %d bytes: want 128 for a sector cache", c.Line)
	case c.Sets > maxLines/c.maxWays():
		return c.clash("sets ways", "%d sets of %d ways: want at most %d lines", c.Sets, c.maxWays(), maxLines)
	case c.MaxWays != 0 && c.MaxWays < c.Ways:
		return c.clash("ways", "maximum ways %d: want at least the %d ways", c.MaxWays, c.Ways)
	case c.Line%c.port() != 0:
		return c.clash("port line", "port %d: want a divisor of the line length %d", c.Port, c.Line)
	case c.Alloc != OnMiss && c.Write == WriteBack:
		return c.clash("write allocate", "a write-back cache (B) must allocate on miss (m)")
	case c.Alloc != OnMiss && (c.WriteAlloc == FetchOnWrite || c.WriteAlloc == LazyFetch):
		return c.clash("write_miss allocate", "write allocation F and L need allocation on miss (m)")
	case c.Write == ReadOnly && c.WriteAlloc != NoWriteAlloc:
		return c.clash("write write_miss", "a read-only cache (R) has no write allocation")
	}
	if err := CheckIndex(c.Index, c.Sets); err != nil {
		return c.clash("index sets", "%v", err)
	}
	if c.IsTexture() {
		switch {
		case c.ResultQueue < 1:
			return c.clash("mshr result_queue", "a texture cache needs a result queue")
		case c.Sectored || c.Write != ReadOnly || c.Alloc != OnMiss:
			return c.clash("sectored write allocate", "a texture cache must be of type N, read-only (R), and allocate on miss (m)")
		}
		return nil
	}
	least := 1
	switch {
	case c.WriteAlloc == NaiveAlloc:
		least = 3 // the write, the read, a victim
	case c.Write != ReadOnly:
		least = 2 // the read, a victim
	}
	if c.MissQueue < least {
		return c.clash("miss_queue write write_miss", "miss queue %d would block forever: this write policy needs at least %d", c.MissQueue, least)
	}
	return nil
}

// log2 returns the logarithm of a power of two.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
