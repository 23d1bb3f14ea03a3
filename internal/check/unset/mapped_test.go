package unset

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
)

// TestMapped: how many bytes are unset where memory is mapped, as it moves.
func TestMapped(t *testing.T) {
	const piece, a, b = 2 * pageBytes, 1 << 20, 2 << 20
	other := check.OnDevice(1, 1)
	create := func(block int64) check.HostEvent {
		return check.HostEvent{Kind: check.HostCreate, Block: block, Bytes: piece}
	}
	mapTo := func(addr uint64, block int64) check.HostEvent {
		return check.HostEvent{Kind: check.HostMap, Block: block, Addr: addr, Bytes: piece}
	}
	unmap := func(addr uint64, block int64) check.HostEvent {
		return check.HostEvent{Kind: check.HostUnmap, Block: block, Addr: addr, Bytes: piece}
	}
	write := func(addr, n uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostWrite, Addr: addr, Bytes: n}
	}
	destroy := func(block int64) check.HostEvent {
		return check.HostEvent{Kind: check.HostDestroy, Block: block, Bytes: piece}
	}
	reset := func(device int, addr uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostReset, Stream: check.OnDevice(device, 0), Addr: addr, Bytes: 1 << 20}
	}
	begin := []check.HostEvent{create(1), create(other), mapTo(a, 1), write(a, 100)}
	for _, c := range []struct {
		name   string
		events []check.HostEvent
		a, b   uint64 // unset bytes of a piece at a and at b
	}{
		{"mapped", nil, piece - 100, 0},
		{"unmapped", []check.HostEvent{unmap(a, 1)}, 0, 0},
		{"mapped elsewhere", []check.HostEvent{unmap(a, 1), mapTo(b, 1)}, 0, piece - 100},
		{"mapped at the same place", []check.HostEvent{unmap(a, 1), mapTo(a, 1)}, piece - 100, 0},
		{"other memory at the same place", []check.HostEvent{unmap(a, 1), mapTo(a, other), write(a, 7)}, piece - 7, 0},
		{"two change places", []check.HostEvent{mapTo(b, other), unmap(a, 1), unmap(b, other), mapTo(a, other), mapTo(b, 1)}, piece, piece - 100},
		{"mapped twice", []check.HostEvent{mapTo(b, 1)}, 0, 0},
		{"mapped twice, then once", []check.HostEvent{mapTo(b, 1), unmap(a, 1)}, 0, 0},
		{"mapped twice, then nowhere, then again", []check.HostEvent{mapTo(b, 1), unmap(a, 1), unmap(b, 1), mapTo(a, 1)}, 0, 0},
		{"gone, and its handle is used again", []check.HostEvent{unmap(a, 1), destroy(1), create(1), mapTo(b, 1)}, 0, piece},
		{"reset of the addresses' device", []check.HostEvent{mapTo(b, other), reset(0, a), create(1), mapTo(a, 1)}, piece, piece},
		{"reset of the memory's device, then unmapped", []check.HostEvent{mapTo(b, other), reset(1, 0), unmap(b, -1)}, piece - 100, 0},
		{"a part of memory that is mapped twice", []check.HostEvent{mapTo(b, 1), {Kind: check.HostAlloc, Part: true, Addr: b + 64, Bytes: 64}}, 0, 0},
		{"a part of other memory", []check.HostEvent{mapTo(b, other), write(b, piece), {Kind: check.HostAlloc, Part: true, Addr: b + 64, Bytes: 64}}, piece - 100, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := New(false).(*Checker)
			for _, list := range [][]check.HostEvent{begin, c.events} {
				for _, e := range list {
					x.Host(&e)
				}
			}
			if n, m := x.memory.unset(a, piece), x.memory.unset(b, piece); n != c.a || m != c.b {
				t.Errorf("%d and %d bytes are unset, want %d and %d", n, m, c.a, c.b)
			}
		})
	}
}
