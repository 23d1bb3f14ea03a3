//go:build linux

package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// mappedBytes counts the ranges of this process that are device memory.
func mappedBytes(t *testing.T) int {
	t.Helper()
	list, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(list), "device memory")
}

// A reset gives mapped memory back at once, also after a fault.
func TestVirtualReset(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, faulty := range []bool{false, true} {
			b := start(t, mode)
			before := mappedBytes(t)
			at, err := b.Reserve(2*Granularity, 0)
			b.want("reserve", err, Success)
			h, err := b.MemCreate(0, Granularity)
			b.want("create", err, Success)
			b.want("map", b.MemMap(at, Granularity, h), Success)
			b.want("access", b.SetAccess(0, at, Granularity, 3), Success)
			if mappedBytes(t) != before+1 {
				t.Errorf("%d ranges are mapped, want one more than %d", mappedBytes(t), before)
			}
			if faulty {
				b.run("add", 1, 0, at+Granularity, 1)
				b.want("fault", b.Synchronize(), IllegalAddress)
			}
			b.want("reset", b.Reset(), Success)
			if after := mappedBytes(t); after != before {
				t.Errorf("faulty %v: %d ranges are left, want %d", faulty, after, before)
			}
			b.want("the handle of before", b.MemRelease(h), InvalidValue)
		}
	})
}

// Where this computer has no room for a mapping, the error is a lack of memory, and its
// reason is said once; all else is an invalid argument.
func TestVirtualErrors(t *testing.T) {
	b := start(t, nil)
	full := fmt.Errorf("cannot map 1 byte: %w", syscall.ENOMEM)
	for range 2 {
		b.want("no room", b.do(func(r *Runtime) Error { return r.virtual(InvalidValue, func() error { return full }) }), MemoryAllocation)
	}
	b.want("other errors", b.do(func(r *Runtime) Error { return r.virtual(InvalidValue, func() error { return errors.New("odd") }) }), InvalidValue)
	if n := strings.Count(b.log.String(), "vm.max_map_count"); n != 1 {
		t.Errorf("the reason is said %d times:\n%s", n, b.log)
	}
}

// An address knows the mapping that contains it: nothing is at an address that is only
// reserved.
func TestPlaceOfMapping(t *testing.T) {
	d := drive(t, nil).ready()
	at, err := d.Reserve(4*Granularity, 0)
	d.want("reserve", err, Success)
	h, err := d.MemCreate(0, Granularity)
	d.want("create", err, Success)
	d.want("map", d.MemMap(at+Granularity, Granularity, h), Success)
	d.want("map", d.MemMap(at+2*Granularity, Granularity, h), Success)
	d.want("access", d.SetAccess(0, at+2*Granularity, Granularity, 1), Success)
	for off, want := range map[uint64]Place{
		5:                 {},
		Granularity:       {Mapped: at + Granularity, Length: Granularity},
		2*Granularity - 1: {Mapped: at + Granularity, Length: Granularity},
		2 * Granularity:   {Mapped: at + 2*Granularity, Length: Granularity, Access: 1},
		3 * Granularity:   {},
	} {
		want.Base, want.Size = at, 4*Granularity
		p, res := d.Place(at + off)
		if d.is("place", res, ResultSuccess); p != want {
			t.Errorf("offset %#x: %+v, want %+v", off, p, want)
		}
	}
}
