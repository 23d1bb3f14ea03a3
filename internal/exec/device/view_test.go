package device

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// model is memory and views as maps of bytes, without pages, windows or
// caches.
type model struct {
	allocs []Allocation
	memory map[uint64]byte
}

func (m *model) legal(addr uint64, size int, write bool) bool {
	for _, a := range m.allocs {
		if addr >= a.Addr && addr < a.Addr+a.Size {
			return addr+uint64(size) <= a.Addr+a.Size && !a.Freed && !(write && a.ReadOnly())
		}
	}
	return false
}

// overlayModel is a view: its own writes over the model's memory.
type overlayModel struct {
	v      *View
	writes map[uint64]byte // nil for a direct view
}

func (o *overlayModel) read(m *model, addr uint64) byte {
	if b, ok := o.writes[addr]; ok {
		return b
	}
	return m.memory[addr]
}

// freedAt reports whether an address lies in memory that was freed.
func freedAt(m *Memory, addr uint64) bool {
	a, ok := m.Find(addr)
	return ok && a.Freed
}

// TestViewsAgainstModel runs random accesses through two overlays and a direct
// view and compares each byte with the model.
func TestViewsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const top = 1 << 40
		packed := rapid.Bool().Draw(t, "packed")
		m := New(Config{Base: 0xfff0_0100, Top: top, Packed: packed})
		ref := &model{memory: map[uint64]byte{}}
		views := []*overlayModel{
			{v: m.NewOverlay(), writes: map[uint64]byte{}},
			{v: m.NewOverlay(), writes: map[uint64]byte{}},
			{v: m.Direct()},
		}
		anyView := func(t *rapid.T) *overlayModel {
			return views[rapid.IntRange(0, len(views)-1).Draw(t, "view")]
		}
		anyAddr := func(t *rapid.T) uint64 {
			if len(ref.allocs) == 0 {
				return rapid.Uint64().Draw(t, "addr")
			}
			a := ref.allocs[rapid.IntRange(0, len(ref.allocs)-1).Draw(t, "buffer")]
			if rapid.Bool().Draw(t, "inside") && a.Size > 0 {
				return a.Addr + rapid.Uint64Range(0, a.Size-1).Draw(t, "offset")
			}
			return a.Addr + uint64(rapid.Int64Range(-3, int64(a.Size)+3).Draw(t, "offset"))
		}
		reset := func() {
			for _, o := range views {
				o.v.Reset()
				clear(o.writes)
			}
		}
		// writer is anyView for an access that may write. Direct writes are not
		// made while overlays are in use.
		writer := func(t *rapid.T) *overlayModel {
			o := anyView(t)
			if o.writes == nil {
				reset()
			}
			return o
		}
		sizes := rapid.OneOf(rapid.SampledFrom([]int{0, 1, 2, 4, 8, 16, 128}), rapid.IntRange(1, 3000))
		next := byte(0)

		host, strays := uint64(top+100), false
		// tail forgets what follows an allocation, up to its rounded size.
		tail := func(a Allocation) {
			for at := a.Addr + a.Size; at%tailAlign != 0; at++ {
				delete(ref.memory, at)
			}
		}
		alloc := func(t *rapid.T) {
			if host > top+100 || strays {
				reset() // what goes between others is made while no view has writes
			}
			size := rapid.Uint64Range(0, 6000).Draw(t, "size")
			var flags []Flag
			if rapid.IntRange(0, 4).Draw(t, "constant") == 0 {
				flags = append(flags, ReadOnly)
			}
			addr, err := m.Alloc(size, "b", flags...)
			if err != nil {
				t.Fatal(err)
			}
			a, ok := m.Find(addr)
			if !ok {
				t.Fatal("not found")
			}
			ref.allocs = append(ref.allocs, a)
			tail(a)
			content := make([]byte, size)
			for i := range content {
				next++
				content[i] = next
				ref.memory[addr+uint64(i)] = next
			}
			if err := m.Write(addr, content); err != nil {
				t.Fatal(err)
			}
		}
		alloc(t)
		t.Repeat(map[string]func(*rapid.T){
			"alloc": alloc,
			// Bytes of the host may be adjacent: variables, for example.
			"adopt": func(t *rapid.T) {
				data := make([]byte, rapid.IntRange(1, 20).Draw(t, "size"))
				for i := range data {
					next++
					data[i] = next
					ref.memory[host+uint64(i)] = next
				}
				if err := m.Adopt(host, data, "h"); err != nil {
					t.Fatal(err)
				}
				ref.allocs = append(ref.allocs, Allocation{Addr: host, Size: uint64(len(data)), Flags: adopted})
				host += uint64(len(data)) + rapid.Uint64Range(0, 3).Draw(t, "gap")
			},
			"free": func(t *rapid.T) {
				if len(ref.allocs) < 3 {
					t.Skip("few buffers")
				}
				i := rapid.IntRange(0, len(ref.allocs)-1).Draw(t, "buffer")
				if ref.allocs[i].Flags&adopted != 0 {
					t.Skip("bytes of the host are forgotten when they are freed")
				}
				err := m.Free(ref.allocs[i].Addr)
				if (err == nil) == ref.allocs[i].Freed {
					t.Fatalf("free: %v", err)
				}
				ref.allocs[i].Freed = true
				if strays {
					reset()
					tail(ref.allocs[i])
				}
			},
			// Memory between allocations keeps what is written there, and such a write changes
			// nothing else.
			"stray": func(t *rapid.T) {
				o, write := writer(t), rapid.Bool().Draw(t, "write")
				size := rapid.SampledFrom([]int{1, 2, 4, 8, 16}).Draw(t, "size")
				addr := anyAddr(t) + rapid.SampledFrom([]uint64{0, 0, 5000, Granule - 100, Granule + 100}).Draw(t, "far")
				addr &^= uint64(size) - 1
				if ref.legal(addr, size, write) {
					t.Skip("not astray")
				}
				got := o.v.Stray(addr, size, write)
				inside := 0
				for i := range size {
					if ref.legal(addr+uint64(i), 1, write) {
						inside++
					} else if a, ok := m.Find(addr + uint64(i)); ok && a.Contains(addr+uint64(i)) && got != nil && write {
						t.Fatalf("a write to %v", a)
					}
				}
				n := m.Nearest(addr)
				near := n.Size > 0 && !n.Freed && addr+uint64(size)+Granule > n.Addr && addr < n.Addr+n.Size+Granule
				if n.Flags&adopted != 0 && write {
					near = addr/4096 >= n.Addr/4096 && addr/4096 <= (n.Addr+n.Size-1)/4096
				}
				if got == nil && near && inside == 0 && !packed && !n.Contains(addr) && n.Flags == 0 && m.Nearest(addr+uint64(size)-1) == n || got != nil && !near {
					t.Fatalf("%d bytes at %#x, %v near %v", len(got), addr, near, n)
				}
				for i := range got {
					if want := o.read(ref, addr+uint64(i)); got[i] != want && (write || ref.legal(addr+uint64(i), 1, false) || !freedAt(m, addr+uint64(i))) {
						t.Fatalf("byte %d of %d: got %d, want %d", i, size, got[i], want)
					}
					if !write {
						continue
					}
					strays = true
					next++
					got[i] = next
					if o.writes != nil {
						o.writes[addr+uint64(i)] = next
					} else {
						ref.memory[addr+uint64(i)] = next
					}
				}
			},
			"read": func(t *rapid.T) {
				o, addr, size := anyView(t), anyAddr(t), sizes.Draw(t, "size")
				got := o.v.ReadSpan(addr, size)
				if legal := ref.legal(addr, size, false); legal != (got != nil) {
					t.Fatalf("legal %v, got %d bytes", legal, len(got))
				}
				if got == nil {
					if f := o.v.Fault(addr, size, false); f == nil {
						t.Fatal("no reason")
					}
					return
				}
				if len(got) < size {
					t.Fatalf("%d bytes, want %d", len(got), size)
				}
				// What the span holds beyond the requested size must be correct too.
				if rapid.Bool().Draw(t, "copy") {
					dst := make([]byte, size)
					if !o.v.ReadBytes(addr, dst) {
						t.Fatal("the bytes cannot be copied")
					}
					got = dst
				}
				for i, b := range got {
					if want := o.read(ref, addr+uint64(i)); b != want {
						t.Fatalf("byte %d of %d: got %d, want %d", i, size, b, want)
					}
				}
			},
			"write": func(t *rapid.T) {
				o, addr, size := writer(t), anyAddr(t), sizes.Draw(t, "size")
				dst := o.v.WriteSpan(addr, size)
				if legal := ref.legal(addr, size, true); legal != (dst != nil) {
					t.Fatalf("legal %v, got %d bytes", legal, len(dst))
				}
				if dst == nil {
					if f := o.v.Fault(addr, size, true); f == nil {
						t.Fatal("no reason")
					}
					return
				}
				if len(dst) != size || cap(dst) != size {
					t.Fatalf("%d bytes, capacity %d, want %d", len(dst), cap(dst), size)
				}
				for i := range dst {
					next++
					dst[i] = next
					if o.writes != nil {
						o.writes[addr+uint64(i)] = next
					} else {
						ref.memory[addr+uint64(i)] = next
					}
				}
			},
			"store and load": func(t *rapid.T) {
				o, addr := writer(t), anyAddr(t)
				size := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "size")
				x := rapid.Uint64().Draw(t, "value")
				store := map[int]func(uint64, uint64) bool{1: o.v.Store8, 2: o.v.Store16, 4: o.v.Store32, 8: o.v.Store64}
				load := map[int]func(uint64) (uint64, bool){1: o.v.Load8, 2: o.v.Load16, 4: o.v.Load32, 8: o.v.Load64}
				if got, legal := store[size](addr, x), ref.legal(addr, size, true); got != legal {
					t.Fatalf("store: %v, want %v", got, legal)
				} else if legal {
					for i := range size {
						b := byte(x >> (8 * i))
						if o.writes != nil {
							o.writes[addr+uint64(i)] = b
						} else {
							ref.memory[addr+uint64(i)] = b
						}
					}
				}
				var want uint64
				legal := ref.legal(addr, size, false)
				if legal {
					for i := range size {
						want |= uint64(o.read(ref, addr+uint64(i))) << (8 * i)
					}
				}
				if got, ok := load[size](addr); got != want || ok != legal {
					t.Fatalf("load: 0x%x, %v, want 0x%x, %v", got, ok, want, legal)
				}
			},
			"commit": func(t *rapid.T) {
				o := anyView(t)
				o.v.Commit()
				for addr, b := range o.writes {
					ref.memory[addr] = b
				}
				clear(o.writes)
				// An overlay's pages are copies from before the commit. Blocks never
				// run across one, so the other overlays start over.
				reset()
			},
			"discard": func(t *rapid.T) {
				o := anyView(t)
				o.v.Discard()
				clear(o.writes)
			},
			"reset": func(t *rapid.T) { reset() },
			"": func(t *rapid.T) {
				for _, o := range views {
					n := 0
					for addr := range o.writes {
						if ref.legal(addr, 1, false) {
							n++
						}
					}
					// Writes to buffers that were freed since may count or not.
					if got := o.v.DirtyBytes(); got < n || got > len(o.writes) || got > o.v.Footprint() {
						t.Fatalf("%d bytes dirty in %d, want %d to %d", got, o.v.Footprint(), n, len(o.writes))
					}
				}
			},
		})
	})
}

// TestOverlayIsPrivate shows in a few lines the isolation that blocks rely on.
func TestOverlayIsPrivate(t *testing.T) {
	m := New(Config{})
	a := alloc(t, m, 4096, "a")
	if err := m.Write(a, bytes.Repeat([]byte{9}, 4096)); err != nil {
		t.Fatal(err)
	}
	one, two, direct := m.NewOverlay(), m.NewOverlay(), m.Direct()
	load := func(v *View, addr, want uint64) {
		t.Helper()
		if got, ok := v.Load8(addr); got != want || !ok {
			t.Errorf("0x%x reads %d, %v, want %d", addr, got, ok, want)
		}
	}
	load(one, a+100, 9) // so that a window is open before the page is copied
	one.Store8(a+100, 1)
	two.Store8(a+100, 2)
	two.Store8(a+101, 2)
	load(one, a+100, 1)
	load(one, a+101, 9)
	load(two, a+100, 2)
	load(direct, a+100, 9)
	two.Commit()
	one.Commit() // the later one wins, in the bytes that it wrote
	load(direct, a+100, 1)
	load(direct, a+101, 2)
	load(direct, a+102, 9)
	one.Store8(a, 5)
	one.Discard()
	load(one, a, 9)
	one.Commit()
	load(direct, a, 9)
}

// TestPendingWrite covers each call that may follow a write across pages.
func TestPendingWrite(t *testing.T) {
	const at = 1000 // 24 bytes before the end of the first page
	data := []byte("the bytes of this write lie in two pages")
	for _, test := range []struct {
		name  string
		after func(m *Memory, v *View, a uint64)
		want  bool // whether memory has the bytes in the end
	}{
		{"commit", func(m *Memory, v *View, a uint64) { v.Commit() }, true},
		{"discard", func(m *Memory, v *View, a uint64) { v.Discard(); v.Commit() }, false},
		{"reset", func(m *Memory, v *View, a uint64) { v.Reset(); v.Commit() }, false},
		{"read", func(m *Memory, v *View, a uint64) {
			if got := v.ReadSpan(a+at, len(data)); !bytes.Equal(got[:len(data)], data) {
				t.Errorf("read %q", got)
			}
			v.Commit()
		}, true},
		{"read of the second page", func(m *Memory, v *View, a uint64) {
			if x, _ := v.Load8(a + 1024); x != uint64(data[24]) {
				t.Errorf("read %d", x)
			}
			v.Commit()
		}, true},
		{"write of other bytes across", func(m *Memory, v *View, a uint64) {
			v.WriteBytes(a+3000, make([]byte, 100))
			v.Commit()
		}, true},
		{"write elsewhere", func(m *Memory, v *View, a uint64) { v.Store8(a, 1); v.Commit() }, true},
		{"check", func(m *Memory, v *View, a uint64) { v.CheckWrite(a, 1); v.Commit() }, true},
		{"count", func(m *Memory, v *View, a uint64) {
			if n := v.DirtyBytes(); n != len(data) {
				t.Errorf("%d bytes dirty", n)
			}
			if n := v.Footprint(); n != 2048 {
				t.Errorf("footprint %d", n)
			}
			v.Commit()
		}, true},
		{"fault", func(m *Memory, v *View, a uint64) { v.Fault(0, 1, true); v.Commit() }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(Config{})
			a := alloc(t, m, 5000, "a")
			v := m.NewOverlay()
			v.Load8(a + at) // opens a window on memory
			if !v.WriteBytes(a+at, data) {
				t.Fatal("cannot write")
			}
			test.after(m, v, a)
			got := make([]byte, len(data))
			if err := m.Read(a+at, got); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(got, data) != test.want {
				t.Errorf("memory has %q", got)
			}
		})
	}
	t.Run("free", func(t *testing.T) {
		m := New(Config{})
		a := alloc(t, m, 5000, "a")
		v := m.NewOverlay()
		v.WriteBytes(a+at, data)
		if err := m.Free(a); err != nil {
			t.Fatal(err)
		}
		if v.ReadSpan(a+at, 1) != nil {
			t.Error("freed memory can be read")
		}
		v.Commit()
	})
}

// TestFreeClosesWindows accesses a buffer, frees it and accesses it again.
func TestFreeClosesWindows(t *testing.T) {
	for _, overlay := range []bool{false, true} {
		m := New(Config{})
		v := m.Direct()
		if overlay {
			v = m.NewOverlay()
		}
		a := alloc(t, m, 64, "a")
		if v.ReadSpan(a, 4) == nil || v.WriteSpan(a, 4) == nil || v.ReadSpan(a, 4) == nil {
			t.Fatal("cannot access the buffer")
		}
		if err := m.Free(a); err != nil {
			t.Fatal(err)
		}
		if v.ReadSpan(a, 4) != nil || v.WriteSpan(a, 4) != nil {
			t.Error("freed memory can be accessed")
		}
		if f := v.Fault(a, 4, true); f == nil || f.Kind != UseAfterFree {
			t.Errorf("fault %v", f)
		}
		v.Commit()
	}
}

func TestOddSizes(t *testing.T) {
	m := New(Config{})
	a := alloc(t, m, 8192, "a")
	for _, v := range []*View{m.Direct(), m.NewOverlay()} {
		for range 2 { // once by the slow path, once by the fast one
			if v.ReadSpan(a, -1) != nil || v.WriteSpan(a, -1) != nil || v.CheckRead(a, -1) {
				t.Error("a negative size is legal")
			}
			if b := v.ReadSpan(a, 0); b == nil {
				t.Error("reading nothing is illegal")
			}
			if b := v.WriteSpan(a, 0); b == nil || len(b) != 0 {
				t.Errorf("writing nothing gives %d bytes", len(b))
			}
			if b := v.WriteSpan(a, 8192); len(b) != 8192 {
				t.Errorf("writing all gives %d bytes", len(b))
			}
			if b := v.ReadSpan(a, 8192); len(b) < 8192 {
				t.Errorf("reading all gives %d bytes", len(b))
			}
			if v.ReadBytes(a, make([]byte, 8193)) || v.WriteBytes(a+1, make([]byte, 8192)) || v.ReadBytes(0, make([]byte, 1)) {
				t.Error("bytes are copied past the end")
			}
			if !v.ReadBytes(0, nil) || !v.WriteBytes(0, nil) {
				t.Error("copying nothing is illegal")
			}
			if v.ReadSpan(a, 8193) != nil || v.WriteSpan(a+1, 8192) != nil {
				t.Error("the end can be passed")
			}
		}
	}
}

// TestThreads runs the same blocks with different numbers of goroutines. Each
// block reads what all may read and writes bytes that others write too; memory
// must come out the same. The race detector watches.
func TestThreads(t *testing.T) {
	const blocks, size = 24, 64 << 10
	run := func(threads int) []byte {
		m := New(Config{})
		in := alloc(t, m, size, "in", ReadOnly)
		out := alloc(t, m, size, "out")
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i * 7)
		}
		if err := m.Write(in, content); err != nil {
			t.Fatal(err)
		}
		views := make([]*View, blocks/2)
		for i := range views {
			views[i] = m.NewOverlay()
		}
		for batch := range 2 {
			var wg sync.WaitGroup
			for id := range threads {
				wg.Go(func() {
					for i := id; i < len(views); i += threads {
						block := batch*len(views) + i
						v := views[i]
						rnd := rand.New(rand.NewPCG(uint64(block), 1))
						for range 2000 {
							x, _ := v.Load32(in + uint64(rnd.IntN(size/4)*4))
							at := out + uint64(rnd.IntN(size-8))
							old, _ := v.Load64(at)
							v.Store64(at, old+x+uint64(block))
						}
					}
				})
			}
			wg.Wait()
			for _, v := range views {
				v.Commit()
			}
		}
		got := make([]byte, size)
		if err := m.Read(out, got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := run(1)
	if bytes.Equal(want, make([]byte, size)) {
		t.Fatal("nothing was written")
	}
	for _, threads := range []int{2, 5} {
		if !bytes.Equal(run(threads), want) {
			t.Errorf("%d threads give another result than 1", threads)
		}
	}
}

// workload touches memory in the patterns of the benchmarks; rounds of it
// allocate nothing once the view has its pages.
func workload(v *View, a, n uint64, rnd *rand.Rand) {
	for i := range uint64(64) {
		v.ReadSpan(a+i*128%n, 128)
		v.WriteSpan(a+i*128%n, 128)
		v.WriteSpan(a+i*124%n, 128)
		v.Load32(a + rnd.Uint64N(n/4)*4)
		v.Store32(a+rnd.Uint64N(n/4)*4, i)
	}
	v.Commit()
}

func TestNoAllocations(t *testing.T) {
	m := New(Config{})
	const n = 64 << 10
	a := alloc(t, m, n, "a")
	for name, v := range map[string]*View{"direct": m.Direct(), "overlay": m.NewOverlay()} {
		rnd := rand.New(rand.NewPCG(1, 2))
		for off := uint64(0); off < n; off += pageSize {
			v.Store8(a+off, 1)
		}
		v.WriteBytes(a+1000, make([]byte, 100))
		v.ReadSpan(a+1000, 100)
		if got := testing.AllocsPerRun(20, func() { workload(v, a, n, rnd) }); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// BenchmarkSpan measures an access of a whole warp, 128 bytes, and of a lane, 4
// bytes, in a buffer of 4 MiB beside seven others. "In place" overlays read and
// write the same buffer.
func BenchmarkSpan(b *testing.B) {
	const n = 4 << 20
	setup := func() (*Memory, uint64, uint64) {
		m := New(Config{})
		var addrs [8]uint64
		for i := range addrs {
			addrs[i] = alloc(b, m, n, fmt.Sprint("b", i))
		}
		return m, addrs[3], addrs[6]
	}
	for _, size := range []int{128, 4} {
		places := make([]uint64, 1<<12)
		rnd := rand.New(rand.NewPCG(3, 4))
		for _, order := range []string{"sequential", "random"} {
			for i := range places {
				places[i] = uint64(i * size % (256 << 10))
				if order == "random" {
					places[i] = rnd.Uint64N(256<<10/uint64(size)) * uint64(size)
				}
			}
			for _, kind := range []string{"direct", "overlay", "in-place"} {
				name := func(op string) string { return fmt.Sprintf("%s/%d/%s/%s", op, size, order, kind) }
				open := func() (v *View, in, out uint64) {
					m, in, out := setup()
					if kind == "direct" {
						return m.Direct(), in, out
					}
					if kind == "in-place" {
						out = in
					}
					return m.NewOverlay(), in, out
				}
				b.Run(name("read"), func(b *testing.B) {
					v, in, out := open()
					for off := uint64(0); off < 256<<10; off += 2 * pageSize {
						v.Store8(out+off, 1)
					}
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if v.ReadSpan(in+places[i%len(places)], size) == nil {
							b.Fatal("illegal")
						}
					}
				})
				if kind == "in-place" {
					continue
				}
				b.Run(name("write"), func(b *testing.B) {
					v, _, out := open()
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if v.WriteSpan(out+places[i%len(places)], size) == nil {
							b.Fatal("illegal")
						}
					}
				})
			}
		}
	}
}

// BenchmarkManyBuffers reads one word from each of several buffers in turn, in an
// unpredictable order.
func BenchmarkManyBuffers(b *testing.B) {
	m := New(Config{})
	var addrs [8]uint64
	for i := range addrs {
		addrs[i] = alloc(b, m, 1<<20, fmt.Sprint("b", i))
	}
	for _, n := range []int{2, 3, 4, 8} {
		for _, kind := range []string{"direct", "overlay"} {
			b.Run(fmt.Sprint(n, "/", kind), func(b *testing.B) {
				v := m.Direct()
				if kind == "overlay" {
					v = m.NewOverlay()
				}
				rnd := rand.New(rand.NewPCG(5, 6))
				order := make([]uint8, 1<<12)
				for i := range order {
					order[i] = uint8(rnd.IntN(n))
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if v.ReadSpan(addrs[order[i%len(order)]]+uint64(i%(1<<18))*4, 4) == nil {
						b.Fatal("illegal")
					}
				}
			})
		}
	}
}

// BenchmarkBlock is a block's use of an overlay: it reads 1 KiB from each of two buffers,
// writes 1 KiB to a third, and commits.
func BenchmarkBlock(b *testing.B) {
	m := New(Config{})
	const n = 4 << 20
	x, y, z := alloc(b, m, n, "x"), alloc(b, m, n, "y"), alloc(b, m, n, "z")
	for _, kind := range []string{"direct", "overlay"} {
		b.Run(kind, func(b *testing.B) {
			v := m.Direct()
			if kind == "overlay" {
				v = m.NewOverlay()
			}
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				off := i * 1024 % n
				for warp := range uint64(8) {
					at := off + warp*128
					p, q, r := v.ReadSpan(x+at, 128), v.ReadSpan(y+at, 128), v.WriteSpan(z+at, 128)
					for j := range r {
						r[j] = p[j] ^ q[j]
					}
				}
				v.Commit()
			}
			b.SetBytes(3 * 1024)
		})
	}
}
