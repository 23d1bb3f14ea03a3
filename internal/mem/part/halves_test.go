package part

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// lineOf returns the n-th line that belongs to a half.
func lineOf(half, n int) uint64 {
	for line := uint64(1); ; line++ {
		if home(line) == half {
			if n--; n < 0 {
				return line
			}
		}
	}
}

func TestHalves(t *testing.T) {
	cfg := &Config{ROPLatency: 100, FarLatency: 50, FarBytes: 32, FarHeader: 32}
	type access struct {
		sm    uint16
		line  uint64
		write bool
		now   uint64
		want  uint64 // from now
	}
	near, far, other := lineOf(0, 0), lineOf(1, 0), lineOf(1, 1)
	for _, c := range []struct {
		name string
		warm []uint64
		does []access
	}{
		{"from the DRAM", nil, []access{{0, far, false, 0, 100}, {0, far, false, 500, 100}}},
		{"belongs to its half", []uint64{near}, []access{{0, near, false, 0, 100}}},
		{"belongs to the other", []uint64{far}, []access{{0, far, false, 0, 150}, {0, far, false, 500, 100}}},
		{"found by a neighbour", []uint64{far}, []access{{0, far, false, 0, 150}, {2, far, false, 500, 100}}},
		{"on its way for a neighbour", []uint64{far}, []access{{0, far, false, 0, 150}, {2, far, false, 20, 130}}},
		{"copied in both", []uint64{far}, []access{{0, far, false, 0, 150}, {1, far, false, 500, 100}}},
		{"a write goes home", nil, []access{{1, near, true, 0, 150}, {0, near, false, 500, 100}, {1, near, false, 900, 150}}},
		{"a write ends copies", []uint64{far}, []access{{0, far, false, 0, 150}, {1, far, true, 500, 100}, {0, far, false, 900, 150}}},
		{"writes take turns", nil, []access{{0, far, true, 0, 150}, {0, other, true, 0, 152}, {0, far, true, 0, 154}}},
		{"sectors of a line have one header", nil, []access{{0, far, true, 0, 150}, {0, far, true, 0, 152}, {0, far, true, 0, 153}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHalves(1, 1024)
			for _, l := range c.warm {
				h.keep(l)
			}
			for i, a := range c.does {
				r := &mem.Req{SM: a.sm, Addr: a.line * mem.LineBytes, Size: mem.SectorBytes, Write: a.write}
				if got := h.access(r, a.now, cfg) - a.now; got != a.want {
					t.Errorf("access %d takes %d cycles, want %d", i, got, a.want)
				}
			}
		})
	}
}

// What must leave a half goes to the other, so that both together hold all lines of an L2.
func TestHalvesExchange(t *testing.T) {
	h, cfg := newHalves(1, 1024), &Config{FarLatency: 50}
	far := func(lines int) (n int) {
		for range 2 {
			n = 0
			for l := range uint64(lines) {
				if h.access(&mem.Req{Addr: l * mem.LineBytes}, 1<<20, cfg) > 1<<20 {
					n++
				}
			}
		}
		return n
	}
	if n := far(500); n != 0 {
		t.Errorf("%d of 500 lines are far in a half of 512", n)
	}
	h.clear()
	if n := far(1000); n != 1000 {
		t.Errorf("%d of 1000 lines are far in an L2 of 1024, want all: the latest use of each is too long ago", n)
	}
}

// Slices take no more when writes have filled the way between the halves.
func TestHalvesFull(t *testing.T) {
	h, cfg := newHalves(1, 1024), &Config{FarBytes: 32, FarHeader: 32}
	for i := range farBacklog/2 + 2 {
		if h.full(0) != (i > farBacklog/2) {
			t.Fatalf("after %d writes of two cycles: full is %v", i, h.full(0))
		}
		h.access(&mem.Req{Addr: lineOf(1, i) * mem.LineBytes, Size: mem.SectorBytes, Write: true}, 0, cfg)
	}
	if h.full(8) {
		t.Error("still full when some have passed")
	}
}

// A bandwidth between halves needs two of them.
func TestWaysWithoutHalves(t *testing.T) {
	for _, c := range []struct {
		name                   string
		latency, bytes, header int
		ok                     bool
	}{{"one L2", 0, 0, 0, true}, {"two halves", 50, 32, 8, true}, {"a bandwidth", 0, 32, 0, false}, {"a header", 0, 0, 8, false}} {
		cfg := testConfig()
		cfg.FarLatency, cfg.FarBytes, cfg.FarHeader = c.latency, c.bytes, c.header
		err := cfg.Check()
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "no halves") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
