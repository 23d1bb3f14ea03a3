package cuda

import (
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa"
)

// A program with managed variables: one of the host, one that a pointer refers to,
// and one that only the PTX marks as managed. bump adds one to each.
const managedCode = `
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 own = 5;
.visible .global .attribute(.managed) .align 4 .u32 pointed = 6;
.visible .global .attribute(.managed) .align 4 .u32 unnamed = 7;
.visible .entry bump()
{
	.reg .b32 %r;
	ld.global.u32 %r, [own];     add.u32 %r, %r, 1; st.global.u32 [own], %r;
	ld.global.u32 %r, [pointed];  add.u32 %r, %r, 1; st.global.u32 [pointed], %r;
	ld.global.u32 %r, [unnamed]; add.u32 %r, %r, 1; st.global.u32 [unnamed], %r;
	ret;
}
`

// TestManaged: both forms of managed variables are shared by host and device, from
// before the first call until after a reset.
func TestManaged(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		const own, pointer, bump = stack + 64, stack + 128, 0x99
		b := start(t, mode)
		b.r.ManagedSpan(own, own+4)
		h := b.r.Register(fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(managedCode)}))
		b.r.RegisterVariable(h, own, "own", 4)
		b.r.RegisterManaged(h, pointer, "pointed", 4)
		b.r.RegisterFunction(h, bump, "bump")
		run := func() {
			t.Helper()
			b.want("launch", b.Launch(bump, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, nil), Success)
			b.want("synchronize", b.Synchronize(), Success)
		}
		has := func(addr uint64, want uint32) {
			t.Helper()
			if got := b.words(addr, 1)[0]; got != want {
				t.Errorf("%#x holds %d, want %d", addr, got, want)
			}
		}
		pointed := func() uint64 { return binary.LittleEndian.Uint64(b.host.Bytes(pointer, 8)) }

		if !b.r.InitManaged(h) {
			t.Fatalf("no initial values: %s", b.log)
		}
		has(own, 5)
		has(pointed(), 6)
		binary.LittleEndian.PutUint32(b.host.Bytes(own, 4), 50)
		run()
		has(own, 51)
		has(pointed(), 7)
		for _, addr := range []uint64{own, pointed()} {
			b.want("freed", b.Free(addr), InvalidValue)
			if w, _, err := b.Where(addr); w != ManagedMemory || err != Success {
				t.Errorf("%#x is in %v, %v", addr, w, err)
			}
			if a, size, err := b.Symbol(addr); a != addr || size != 4 || err != Success {
				t.Errorf("symbol at %#x: %#x, %d bytes, %v", addr, a, size, err)
			}
		}
		b.want("reset", b.Reset(), Success)
		run()
		has(own, 6)
		has(pointed(), 7)
		b.r.Unregister(h)
		if w, _, _ := b.Where(own); w != Unregistered {
			t.Errorf("after the module was unloaded: %v", w)
		}
	})
}

// TestManagedPlaces: a variable at an address where kernels see shared memory is
// refused, and so is other memory of the host there.
func TestManagedPlaces(t *testing.T) {
	const at = isa.WindowsEnd - 4
	b := start(t, nil)
	b.host.pieces[at] = make([]byte, 8)
	b.r.ManagedSpan(at, at+4)
	h := b.r.Register(fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(managedCode)}))
	b.r.RegisterVariable(h, at, "own", 4)
	if b.r.InitManaged(h) {
		t.Error("it was placed")
	}
	if _, _, err := b.Symbol(at); err != MemoryAllocation {
		t.Errorf("symbol: %v", err)
	}
	b.want("register", b.HostRegister(at, 8, 0), InvalidValue)
	b.want("register what lies beyond", b.HostRegister(at+4, 4, 0), Success)
}

// TestAdvice: which advice about managed memory, prefetches and attachments are valid (CUDA
// runtime API, cudaMemAdvise, cudaMemPrefetchAsync and cudaStreamAttachMemAsync).
func TestAdvice(t *testing.T) {
	const preferred, unpreferred, readMostly = 3, 4, 1
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		m, err := b.MallocManaged(10000, 1)
		b.want("managed memory", err, Success)
		d := b.malloc(10000)
		s, _ := b.StreamCreate(0, 0)
		captured, _ := b.StreamCreate(0, 0)
		for _, c := range []struct {
			name string
			got  Error
			want Error
		}{
			{"to a device", b.Advise(m, 10000, preferred, 0), Success},
			{"to the host", b.Advise(m+5000, 5000, preferred, HostDevice), Success},
			{"to the end of the page", b.Advise(m, 12288, preferred, 0), Success},
			{"beyond it", b.Advise(m, 12289, preferred, 0), InvalidValue},
			{"far beyond it", b.Advise(m+1, 1<<64-1, preferred, 0), InvalidValue},
			{"of nothing", b.Advise(m, 0, preferred, 0), InvalidValue},
			{"to no device", b.Advise(m, 100, preferred, 1), InvalidDevice},
			{"to less than the host", b.Advise(m, 100, preferred, -2), InvalidDevice},
			{"without a location", b.Advise(m, 100, unpreferred, 99), Success},
			{"to all", b.Advise(m, 100, readMostly, 99), Success},
			{"no advice", b.Advise(m, 100, 0, 0), InvalidValue},
			{"no such advice", b.Advise(m, 100, 7, 0), InvalidValue},
			{"device memory", b.Advise(d, 100, preferred, 0), InvalidValue},
			{"memory of the program", b.Advise(stack, 100, preferred, 0), InvalidValue},
			{"prefetch", b.Prefetch(m, 10000, 0, s), Success},
			{"prefetch to the host", b.Prefetch(m, 100, HostDevice, 0), Success},
			{"prefetch to no device", b.Prefetch(m, 100, 5, s), InvalidDevice},
			{"prefetch too much", b.Prefetch(m, 20000, 0, s), InvalidValue},
			{"prefetch in no stream", b.Prefetch(m, 100, 0, 12345), InvalidHandle},
			{"attach", b.Attach(s, m, 0, attachSingle), Success},
			{"attach all", b.Attach(s, m, 10000, attachHost), Success},
			{"attach a part", b.Attach(s, m, 5000, attachGlobal), InvalidValue},
			{"attach from the middle", b.Attach(s, m+4096, 0, attachGlobal), InvalidValue},
			{"attach to the default stream", b.Attach(0, m, 0, attachSingle), InvalidValue},
			{"attach in no way", b.Attach(s, m, 0, 3), InvalidValue},
			{"attach device memory", b.Attach(s, d, 0, attachSingle), InvalidValue},
			{"begin a capture", b.BeginCapture(captured, CaptureRelaxed), Success},
			{"prefetch in a capture", b.Prefetch(m, 100, 0, captured), StreamCaptureUnsupported},
		} {
			b.want(c.name, c.got, c.want)
		}
	})
}
