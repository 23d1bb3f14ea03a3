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
