package modern

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// TestWarm: of code that a launch reads ahead the cache has the beginning, without a gap, and all of the constants.
func TestWarm(t *testing.T) {
	const line, ways = 128, 8 * 64 * 128 // nine ways of 64 sets, one of which is for constants
	for _, code := range []uint64{60 << 10, 64 << 10, 65 << 10, 68 << 10, 80 << 10} {
		c, err := cache.New(mustCache("N:64:128:9,L:R:f:N:L,A:32:32,32"), new(mem.Pool))
		if err != nil {
			t.Fatal(err)
		}
		core.Warm(c, 1, constBase, paramBytes, 0)
		core.Warm(c, 1, instBase, code, paramBytes)
		for _, part := range []struct {
			name            string
			from, all, want uint64
		}{{"constants", constBase, paramBytes, paramBytes}, {"code", instBase, code, min(code, ways)}} {
			for at := uint64(0); at < part.all; at += line {
				has := c.Probe(&mem.Req{Addr: part.from + at, Size: 32, Kind: mem.InstRead}) == cache.Hit
				if has != (at < part.want) {
					t.Errorf("code of %d bytes: of the %s byte %d is there: %v", code, part.name, at, has)
				}
			}
		}
	}
}
