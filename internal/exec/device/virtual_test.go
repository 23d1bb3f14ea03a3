//go:build linux

package device

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a memory with addresses reserved for n granules, memory mapped at the
// first of them and the third, and a check of what an access says.
func mapping(t *testing.T, n uint64) (m *Memory, at uint64, first uint64) {
	t.Helper()
	m = New(Config{})
	at, err := m.Reserve(n*Granule, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []uint64{0, 2} {
		h, err := m.Create(Granule)
		if err == nil {
			err = m.Map(at+i*Granule, Granule, h)
		}
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = h
		}
	}
	return m, at, first
}

// Faults at reserved addresses say which of reserved, mapped without access and
// read-only is the matter, for kernels and for copies.
func TestReservedFaults(t *testing.T) {
	const g = Granule
	m, at, _ := mapping(t, 4)
	if err := m.SetAccess(at, g, MayRead); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range []struct {
		name  string
		off   uint64
		size  int
		write bool
		kind  FaultKind
		ok    bool
		says  string
	}{
		{"read of readable memory", 8, 4, false, 0, true, ""},
		{"write of readable memory", 8, 4, true, ReadOnlyWrite, false, "8 bytes into the 8388608 bytes reserved at 0xc0000000, where memory may only be read"},
		{"read across the end of a mapping", g - 2, 4, false, Unmapped, false, "2097152 bytes into the 8388608 bytes reserved at 0xc0000000, where no memory is mapped"},
		{"read of reserved addresses", g, 4, false, Unmapped, false, "no memory is mapped"},
		{"write of reserved addresses", 3 * g, 4, true, Unmapped, false, "no memory is mapped"},
		{"read of memory without access", 2 * g, 4, false, Forbidden, false, "4194304 bytes into the 8388608 bytes reserved at 0xc0000000, where memory is mapped without access"},
		{"write of memory without access", 2*g + 4, 4, true, Forbidden, false, "mapped without access"},
	} {
		for _, v := range []*View{m.Direct(), m.NewOverlay()} {
			got := v.ReadSpan(at+c.off, c.size)
			if c.write {
				got = v.WriteSpan(at+c.off, c.size)
			}
			if (got != nil) != c.ok {
				t.Errorf("%s: %d bytes", c.name, len(got))
			}
			f := v.Fault(at+c.off, c.size, c.write)
			if c.ok {
				if f != nil {
					t.Errorf("%s: %v", c.name, f)
				}
				continue
			}
			if f == nil || f.Kind != c.kind || !strings.Contains(f.Detail, c.says) {
				t.Errorf("%s: %v, want %v: %s", c.name, f, c.kind, c.says)
			}
			if v.Stray(at+c.off, c.size, c.write) != nil {
				t.Errorf("%s: there are bytes for strays", c.name)
			}
			list = append(list, f.Error())
		}
		err := m.Read(at+c.off, make([]byte, c.size))
		if c.write {
			err = m.Write(at+c.off, make([]byte, c.size))
		}
		if (err == nil) != c.ok {
			t.Errorf("%s by the host: %v", c.name, err)
		}
	}
	if testing.Verbose() {
		t.Log("\n" + strings.Join(list, "\n"))
	}
}

// Memory mapped twice is one; pieces side by side are one extent; a freed handle's
// memory lives as long as it is mapped.
func TestMapping(t *testing.T) {
	const g = Granule
	m, at, first := mapping(t, 4)
	for i := range uint64(2) {
		if err := m.Map(at+(1+2*i)*g, g, first); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.SetAccess(at, 4*g, MayWrite); err != nil {
		t.Fatal(err)
	}
	if err := m.Release(first); err != nil {
		t.Fatal(err)
	}
	if m.Map(at, g, first) == nil || m.Release(first) == nil {
		t.Error("a released handle is still one")
	}
	if err := m.Write(at+g-2, []byte{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	for off, want := range map[uint64]byte{g - 2: 1, g - 1: 2, g: 3, g + 1: 4, 0: 3, 3*g + 1: 4, 2*g - 1: 2, 2 * g: 0} {
		if b := m.Direct().ReadSpan(at+off, 1); b == nil || b[0] != want {
			t.Errorf("byte %d is %v, want %d", off, b, want)
		}
	}
	v := m.NewOverlay()
	copy(v.WriteSpan(at+g-1, 2), []byte{7, 8})
	v.Commit()
	if b := m.Direct().ReadSpan(at+g-1, 2); b == nil || b[0] != 7 || b[1] != 8 {
		t.Errorf("a write across two mappings by an overlay left %v", b[:2])
	}
	restore := m.Save()
	copy(m.Direct().WriteSpan(at+g, 1), []byte{99})
	restore()
	if b := m.Direct().ReadSpan(at, 1); b[0] != 8 {
		t.Errorf("after a restore the byte is %d, want 8", b[0])
	}
	live := m.Allocated()
	if live != 2*g {
		t.Errorf("%d bytes are allocated, want %d", live, 2*g)
	}
	reader := m.Direct()
	reader.ReadSpan(at, 1)
	for _, c := range []struct{ lo, n uint64 }{{0, g}, {g, 3 * g}} {
		if err := m.Unmap(at+c.lo, c.n); err != nil {
			t.Fatal(err)
		}
	}
	if reader.ReadSpan(at, 1) != nil {
		t.Error("a view reads memory that is not mapped any more")
	}
	if live := m.Allocated(); live != g { // the second handle is held
		t.Errorf("%d bytes are allocated, want %d", live, uint64(g))
	}
	if h, err := m.Create(g); err != nil || m.Map(at, g, h) != nil || m.SetAccess(at, g, MayRead) != nil {
		t.Fatal(err)
	} else if b := m.Direct().ReadSpan(at, 2); b == nil || b[0]|b[1] != 0 {
		t.Errorf("new memory holds %v", b[:2])
	} else if x, _, ok := m.Retain(at + 5); !ok || x != h {
		t.Errorf("the memory at %#x is %d, want %d", at, x, h)
	}
	if p, ok := m.MappingAt(at + g); ok {
		t.Errorf("%+v where nothing is mapped", p)
	}
	if err := errors.Join(m.Unmap(at, g), m.Unreserve(at, 4*g)); err != nil {
		t.Error(err)
	}
	if f := m.Direct().Fault(at, 4, false); f == nil || f.Kind != UseAfterFree {
		t.Errorf("addresses given back: %v", f)
	}
}

// A handle is one until it has been released as often as it was made or retained.
func TestMappingHandles(t *testing.T) {
	const g = Granule
	m, at, first := mapping(t, 4)
	again, _, ok := m.Retain(at)
	if !ok || again != first {
		t.Fatalf("the handle at %#x is %d, want %d", at, again, first)
	}
	if err := errors.Join(m.Release(again), m.Map(at+g, g, first), m.Release(first)); err != nil {
		t.Error(err)
	}
	if m.Release(first) == nil {
		t.Error("it was released three times")
	}
	live := m.Allocated()
	if err := errors.Join(m.Unmap(at, g), m.Unmap(at+g, g)); err != nil || m.Allocated() != live-g {
		t.Errorf("%d bytes are left of %d, want one mapping less; %v", m.Allocated(), live, err)
	}
}

// Mappings side by side are read across, whatever else is allowed, and written across
// where both may be.
func TestMappingsMixed(t *testing.T) {
	const g = Granule
	m, at, first := mapping(t, 4)
	if err := errors.Join(m.Map(at+g, g, first), m.SetAccess(at, g, MayRead), m.SetAccess(at+g, 2*g, MayWrite)); err != nil {
		t.Fatal(err)
	}
	for _, v := range []*View{m.Direct(), m.NewOverlay()} {
		for _, c := range []struct {
			off         uint64
			read, write bool
		}{{g - 2, true, false}, {g, true, true}, {2*g - 2, true, true}, {0, true, false}, {3*g - 2, false, false}} {
			if got := v.ReadSpan(at+c.off, 4) != nil; got != c.read {
				t.Errorf("offset %#x is read: %v", c.off, got)
			}
			if got := v.WriteSpan(at+c.off, 4) != nil; got != c.write {
				t.Errorf("offset %#x is written: %v", c.off, got)
			}
		}
		if f := v.Fault(at+g-2, 4, true); f == nil || f.Kind != ReadOnlyWrite {
			t.Errorf("a write into both: %v", f)
		}
	}
	if _, err := m.Bytes(at+g-2, 4); err != nil {
		t.Errorf("the host reads across: %v", err)
	}
	if _, err := m.WritableBytes(at+g-2, 4); err == nil {
		t.Error("the host writes across")
	}
}

// Memory of the driver's own moves no allocation and does not count.
func TestAllocSystem(t *testing.T) {
	a, b := New(Config{}), New(Config{})
	own, err := a.AllocSystem(1<<16, "own")
	if err != nil || a.Allocated() != 0 {
		t.Fatalf("%d bytes are allocated, %v", a.Allocated(), err)
	}
	x, _ := a.Alloc(100, "x")
	y, _ := b.Alloc(100, "x")
	if x != y {
		t.Errorf("an allocation is at %#x, without the driver's memory at %#x", x, y)
	}
	if err := errors.Join(a.Write(own+100, []byte{1}), a.Free(own)); err != nil || a.Allocated() != 100 {
		t.Errorf("%d bytes are allocated, %v", a.Allocated(), err)
	}
	if _, err := a.AllocSystem(1<<48, "all"); err == nil {
		t.Error("it has more than all addresses")
	}
}

// What is not a reservation, a handle or a whole mapping is refused and changes
// nothing.
func TestMappingRefused(t *testing.T) {
	const g = Granule
	m, at, first := mapping(t, 4)
	plain, err := m.Alloc(4*g, "plain")
	if err != nil {
		t.Fatal(err)
	}
	two, err := m.Create(2 * g)
	if err != nil {
		t.Fatal(err)
	}
	_, errSize := m.Reserve(g+1, 0)
	_, errAlign := m.Reserve(g, 3*g)
	_, errSpace := m.Reserve(1<<47, 0)
	_, errZero := m.Create(0)
	_, errLimit := m.Create(DefaultLimit)
	for name, err := range map[string]error{
		"reserve an odd size": errSize, "reserve with an odd alignment": errAlign, "reserve all there is": errSpace,
		"create nothing": errZero, "create more than the limit": errLimit,
		"map over a mapping": m.Map(at, g, first), "map across one": m.Map(at+g, 2*g, two), "map beyond the end": m.Map(at+3*g, 2*g, two),
		"map a part": m.Map(at+g, g, two), "map at an odd address": m.Map(at+g+1, g, first), "map into an allocation": m.Map(plain&^(g-1), g, first),
		"map what is not a handle": m.Map(at+g, g, 77), "unmap a gap": m.Unmap(at, 3*g), "unmap nothing": m.Unmap(at, 0), "unmap a part": m.Unmap(at, g/2),
		"access to a gap": m.SetAccess(at, 2*g, MayRead), "release what is not a handle": m.Release(0),
		"free a reservation": m.Free(at), "give back what is mapped": m.Unreserve(at, 4*g), "give a part back": m.Unreserve(at, g), "give an allocation back": m.Unreserve(plain, 4*g),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := errors.Join(m.SetAccess(at, g, MayWrite), m.Map(at+g, g, first)); err != nil {
		t.Error(err)
	}
}

// A buffer grows in place over ten thousand mappings, as far as they are touched only;
// nothing is left of it.
func TestMappingGrows(t *testing.T) {
	const n = 10_000
	maps := func() int {
		list, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(list), "device memory")
	}
	before := maps()
	m := New(Config{Limit: n * Granule})
	at, err := m.Reserve(n*Granule, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := m.Direct()
	for i := range uint64(n) {
		h, err := m.Create(Granule)
		if err == nil {
			err = errors.Join(m.Map(at+i*Granule, Granule, h), m.SetAccess(at+i*Granule, Granule, MayWrite), m.Release(h))
		}
		if err != nil {
			t.Fatalf("mapping %d: %v", i, err)
		}
		if i%100 == 0 {
			copy(v.WriteSpan(at+i*Granule, 4), fmt.Sprintf("%04d", i/100))
		}
	}
	for i := range uint64(n / 100) {
		if b := v.ReadSpan(at+100*i*Granule, 4); string(b[:4]) != fmt.Sprintf("%04d", i) {
			t.Errorf("mapping %d has %q", 100*i, b[:4])
		}
	}
	if err := errors.Join(m.Unmap(at, n*Granule), m.Unreserve(at, n*Granule)); err != nil {
		t.Fatal(err)
	}
	if m.Allocated() != 0 {
		t.Errorf("%d bytes are still allocated", m.Allocated())
	}
	if after := maps(); after > before {
		t.Errorf("%d of its mappings are left", after-before)
	}
}

// pages returns how many bytes of the host mapped memory uses.
func pages(t *testing.T, m *Memory) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(m.virtual.store.fd, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512 // stat(2)
}

// Saving mapped memory reads only the pages that there are, and restoring it makes those
// zero that came later.
func TestSaveMapped(t *testing.T) {
	const g, n = Granule, 64
	m := New(Config{})
	defer m.Close()
	at, err := m.Reserve(n*g, 0)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Create((n - 2) * g)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := m.Create(g)
	if err := errors.Join(err, m.Map(at, (n-2)*g, h), m.Map(at+(n-2)*g, g, twice), m.Map(at+(n-1)*g, g, twice), m.SetAccess(at, n*g, MayWrite)); err != nil {
		t.Fatal(err)
	}
	put := func(off uint64, b byte) { m.Direct().WriteSpan(at+off, 1)[0] = b }
	put(0, 1)
	put(5*g+10, 2)
	put((n-1)*g+7, 3)
	before := pages(t, m)
	restore := m.Save()
	if after := pages(t, m); after != before || after >= g {
		t.Errorf("%d bytes are in use after a save, want %d as before", after, before)
	}
	put(0, 11)
	put(7*g, 12)
	put((n-2)*g+7, 13)
	put((n-2)*g+8, 14)
	restore()
	for off, want := range map[uint64]byte{0: 1, 5*g + 10: 2, 7 * g: 0, (n-2)*g + 7: 3, (n-1)*g + 7: 3, (n-1)*g + 8: 0} {
		if b := m.Direct().ReadSpan(at+off, 1); b[0] != want {
			t.Errorf("byte %#x is %d, want %d", off, b[0], want)
		}
	}
	restore = m.Save()
	if err := errors.Join(m.SetAccess(at, (n-2)*g, MayRead), m.Unmap(at+(n-2)*g, g)); err != nil {
		t.Fatal(err)
	}
	restore() // what was unmapped meanwhile stays away
}

// The memory of a device that is closed is given back at once, whoever still has a view
// of it, and its addresses are dead; it can be used again.
func TestCloseMapped(t *testing.T) {
	m, at, first := mapping(t, 4)
	if err := m.SetAccess(at, Granule, MayWrite); err != nil {
		t.Fatal(err)
	}
	plain, err := m.Alloc(100, "plain")
	if err != nil {
		t.Fatal(err)
	}
	v := m.Direct()
	v.WriteSpan(at, 4)[0] = 1
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", m.virtual.store.fd))
	fd := m.virtual.store.fd
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if now, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && now == name {
		t.Errorf("%s is still open", name)
	}
	if v.ReadSpan(at, 4) != nil || m.Holds(first) || m.Allocated() != 100 {
		t.Errorf("a view reads, the handle is one, or %d bytes are allocated", m.Allocated())
	}
	if f := v.Fault(at, 4, false); f == nil || f.Kind != UseAfterFree {
		t.Errorf("an access is %v", f)
	}
	if v.ReadSpan(plain, 4) == nil {
		t.Error("other memory is gone")
	}
	m.Close()
	if _, err := m.Reserve(Granule, 0); err != nil {
		t.Error(err)
	}
	m.Close()
}

// A forked child inherits neither reserved addresses nor the memory mapped there.
func TestMappingsNotForked(t *testing.T) {
	m, at, _ := mapping(t, 4)
	defer m.Close()
	if err := m.Unmap(at, Granule); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	lo := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.before(at).data))))
	found := 0
	var inside bool
	for line := range strings.Lines(string(list)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from < lo+4*Granule && lo < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			found++
			if !slices.Contains(strings.Fields(flags), "dc") { // proc(5): do not copy area on fork
				t.Errorf("a part of the reservation is copied by fork: %s", flags)
			}
		}
	}
	if found < 3 {
		t.Errorf("%d parts of the reservation, want a gap, a mapping and a gap", found)
	}
}

// A reservation that fails half-way leaves nothing mapped.
func TestReserveFails(t *testing.T) {
	defer func() { madvise = unix.Madvise }()
	var mapped []byte
	madvise = func(b []byte, _ int) error { mapped = b; return unix.ENOMEM }
	m := New(Config{})
	defer m.Close()
	if _, err := m.Reserve(Granule, 0); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("got %v, want that there is no memory", err)
	}
	if err := unix.Madvise(mapped, unix.MADV_NORMAL); !errors.Is(err, unix.ENOMEM) { // madvise(2): not mapped
		t.Errorf("the addresses are still mapped: %v", err)
	}
}

// A host that has no room for more mappings says so, and nothing changes.
func TestMappingLimitOfHost(t *testing.T) {
	var most uint64
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if _, err2 := fmt.Sscan(string(text), &most); err != nil || err2 != nil || most > 1<<17 {
		t.Skipf("this host allows %d mappings: too many to reach", most)
	}
	m := New(Config{})
	defer m.Close()
	at, err := m.Reserve(most*Granule, 0)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Create(Granule)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the runtime may need mappings too
	done := uint64(0)
	for ; done < most; done++ { // the same memory again and again: the host cannot join them
		if err = m.Map(at+done*Granule, Granule, h); err != nil {
			break
		}
	}
	_, mapped := m.MappingAt(at + done*Granule)
	if e := errors.Join(m.Unmap(at, done*Granule), m.Unreserve(at, most*Granule)); e != nil {
		t.Fatal(e)
	}
	if !errors.Is(err, syscall.ENOMEM) || mapped {
		t.Errorf("after %d mappings the error is %v, want that of a lack of memory", done, err)
	}
	if at, err = m.Reserve(Granule, 0); err == nil {
		err = m.Map(at, Granule, h)
	}
	if err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// BenchmarkMappings reads a buffer of many mappings and three others in turn, so that
// each access has to find its extent.
func BenchmarkMappings(b *testing.B) {
	for _, n := range []uint64{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New(Config{Limit: (n + 1) * Granule})
			defer m.Close()
			list := make([]uint64, 4)
			at, err := m.Reserve(n*Granule, 0)
			for i := range n {
				h, e := m.Create(Granule)
				err = errors.Join(err, e, m.Map(at+i*Granule, Granule, h))
			}
			err = errors.Join(err, m.SetAccess(at, n*Granule, MayWrite))
			for i := range list[1:] {
				var e error
				list[1+i], e = m.Alloc(8, "other")
				err = errors.Join(err, e)
			}
			if err != nil {
				b.Fatal(err)
			}
			list[0] = at + n/2*Granule
			v := m.Direct()
			for i := 0; b.Loop(); i++ {
				if v.ReadSpan(list[i%4], 4) == nil {
					b.Fatal("it may not be read")
				}
			}
		})
	}
}

// TestClosePeers: memory of device b that is mapped at addresses of device a, when one of them
// is closed.
func TestClosePeers(t *testing.T) {
	for _, c := range []struct {
		name  string
		close func(a, b *Memory)
		check func(t *testing.T, a, b *Memory, at, handle uint64)
	}{
		{"that of the addresses: the other one's memory can be given up", func(a, _ *Memory) { a.Close() }, func(t *testing.T, a, b *Memory, _, handle uint64) {
			if n := b.Allocated(); n != Granule {
				t.Errorf("%d bytes are allocated while the handle is held", n)
			}
			if err := b.Release(handle); err != nil || b.Allocated() != 0 {
				t.Errorf("%v, %d bytes are allocated", err, b.Allocated())
			}
		}},
		{"that of the bytes: the addresses have none", func(_, b *Memory) { b.Close() }, func(t *testing.T, a, b *Memory, at, handle uint64) {
			v := a.Direct()
			if v.ReadSpan(at, 4) != nil || v.WriteSpan(at, 4) != nil {
				t.Fatal("they can be accessed")
			}
			if f := v.Fault(at, 4, false); f == nil || f.Kind != Unmapped || !strings.Contains(f.Detail, "where the memory of device 1 was mapped, which was reset") {
				t.Errorf("an access is %v", f)
			}
			if err := a.SetAccess(at, Granule, MayWrite); err == nil || v.ReadSpan(at, 4) != nil {
				t.Errorf("access is given again: %v", err)
			}
			if err := a.Unmap(at, Granule); err != nil {
				t.Error(err)
			}
			next := New(b.cfg)
			h, err := next.Create(Granule)
			if err == nil {
				err = errors.Join(a.MapOf(next, at, Granule, h), a.SetAccess(at, Granule, MayWrite))
			}
			if err != nil || v.WriteSpan(at, 4) == nil {
				t.Errorf("other memory in its place: %v", err)
			}
			next.Close()
		}},
	} {
		a, b := pair()
		at, err := a.Reserve(2*Granule, 0)
		if err != nil {
			t.Fatal(err)
		}
		h, err := b.Create(Granule)
		if err == nil {
			err = errors.Join(a.MapOf(b, at, Granule, h), a.SetAccess(at, Granule, MayWrite))
		}
		if err != nil {
			t.Fatal(err)
		}
		a.Direct().WriteSpan(at, 4)[0] = 1
		c.close(a, b)
		t.Run(c.name, func(t *testing.T) { c.check(t, a, b, at, h) })
		a.Close()
		b.Close()
	}
}
