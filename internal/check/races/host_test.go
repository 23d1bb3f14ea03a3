package races

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// wroteBytes is a checker that has seen a launch on stream 1 in which lane i of the first warp
// wrote the given bytes from addr[i] on.
func wroteBytes(bytes int, addr ...uint64) *Checker {
	c := New().(*Checker)
	l := c.Launch(&check.Launch{Stream: 1, At: check.Clock{1: 1}})
	code := []*isa.Inst{{Elem: uint8(bytes)}}
	l.Begin(&exec.Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}}, code,
		func(int) exec.Where { return exec.Where{} }, func(int) string { return "st" })
	a := exec.Access{Inst: code[0], Lanes: 1<<len(addr) - 1, Space: isa.Global, Addr: new([32]uint64), Bytes: bytes, Write: true}
	copy(a.Addr[:], addr)
	l.Block(&stub{}).Access(&a)
	return c
}

// TestHostBytes: an access of the host races with a kernel of another stream for the bytes that
// both access, and for no others of the same words.
func TestHostBytes(t *testing.T) {
	bytes := []uint64{100, 101, 102, 103, 104, 105} // by lanes 0 to 5
	for _, c := range []struct {
		name        string
		addr, bytes uint64
		count       uint64
		other       string
		at          string
	}{
		{"before", 96, 4, 0, "", ""},
		{"up to the first", 90, 11, 1, "write of 1 bytes by thread (0,0,0) of block (0,0,0)", "0x64"},
		{"inside of a word", 101, 2, 2, "write of 1 bytes by thread (1,0,0) of block (0,0,0)", "0x65"},
		{"all", 0, 1 << 40, 6, "write of 1 bytes by thread (0,0,0) of block (0,0,0)", "0x64"},
		{"from the last", 105, 50, 1, "write of 1 bytes by thread (5,0,0) of block (0,0,0)", "0x69"},
		{"after it, in its word", 106, 50, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := wroteBytes(1, bytes...)
			k.Host(&check.HostEvent{Kind: check.HostRead, Call: "cudaMemcpy", Addr: c.addr, Bytes: c.bytes, Stream: 2, Async: true, At: check.Clock{2: 1}})
			all := k.Findings()
			switch {
			case c.count == 0 && len(all) == 0:
			case len(all) != 1:
				t.Errorf("%d findings", len(all))
			case all[0].Count != c.count || all[0].Steps[1].Text != c.other || all[0].Details[check.Address] != c.at:
				t.Errorf("%d bytes, %s, at %s; want %d, %s, %s", all[0].Count, all[0].Steps[1].Text, all[0].Details[check.Address], c.count, c.other, c.at)
			}
		})
	}
}

// TestHostRangeInOrder: of a range with more pages than were touched, the lowest address is
// shown, in each run.
func TestHostRangeInOrder(t *testing.T) {
	for range 20 {
		c := wroteBytes(4, 5*pageBytes, 3*pageBytes, 7*pageBytes, 9*pageBytes, 11*pageBytes, 13*pageBytes)
		c.Host(&check.HostEvent{Kind: check.HostRead, Call: "cudaMemcpy", Bytes: 1 << 30, Stream: 2, Async: true, At: check.Clock{2: 1}})
		if f := c.Findings()[0]; f.Details[check.Address] != "0x3000" || f.Count != 24 {
			t.Fatalf("%d bytes, the first at %s", f.Count, f.Details[check.Address])
		}
	}
}
