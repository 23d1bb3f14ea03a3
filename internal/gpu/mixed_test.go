package gpu_test

import (
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// In mixedPTX lane i of a warp uses generic addresses: in shared memory if bit i of
// the first mask is set, in local memory if that of the second is, else in global
// memory, where lanes are 128 bytes apart. It stores, loads and adds 1 (atomically
// except in local memory), 8 times, and stores the result.
const mixedPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry mixed(.param .u64 out, .param .u64 data, .param .u32 inShared, .param .u32 inLocal, .param .u32 atomics)
{
 .reg .b64 %rd<12>;
 .reg .b32 %r<16>;
 .reg .pred %p<6>;
 .shared .align 128 .b8 room[128];
 .local .align 8 .b8 own[8];
 ld.param.u64 %rd1, [out];
 ld.param.u64 %rd2, [data];
 ld.param.u32 %r1, [inShared];
 ld.param.u32 %r2, [inLocal];
 ld.param.u32 %r10, [atomics];
 mov.u32 %r3, %tid.x;
 mul.wide.u32 %rd3, %r3, 4;
 mul.wide.u32 %rd4, %r3, 128;
 add.u64 %rd5, %rd2, %rd4;
 mov.u64 %rd6, room;
 cvta.shared.u64 %rd6, %rd6;
 add.u64 %rd6, %rd6, %rd3;
 mov.u64 %rd7, own;
 cvta.local.u64 %rd7, %rd7;
 shr.u32 %r4, %r1, %r3;
 and.b32 %r4, %r4, 1;
 setp.ne.u32 %p1, %r4, 0;
 selp.b64 %rd8, %rd6, %rd5, %p1;
 shr.u32 %r5, %r2, %r3;
 and.b32 %r5, %r5, 1;
 setp.ne.u32 %p2, %r5, 0;
 selp.b64 %rd8, %rd7, %rd8, %p2;
 st.u32 [%rd8], %r3;
 mov.u32 %r6, 0;
LOOP:
 ld.u32 %r7, [%rd8];
 add.u32 %r7, %r7, 1;
 st.u32 [%rd8], %r7;
 add.u32 %r6, %r6, 1;
 setp.lt.u32 %p3, %r6, 8;
 @%p3 bra LOOP;
 setp.eq.u32 %p4, %r10, 0;
 @%p4 bra END;
 atom.add.u32 %r8, [%rd8], 100;
END:
 ld.u32 %r9, [%rd8];
 add.u64 %rd9, %rd1, %rd3;
 st.global.u32 [%rd9], %r9;
 ret;
}
`

// TestMixedSpaces: each lane of a generic access goes to the memory in which its
// address lies, whatever that of the first lane is. So the counts depend only on
// the number of lanes in each memory, and the values do not depend on the memory.
func TestMixedSpaces(t *testing.T) {
	const lanes = 32
	for _, name := range []string{"rtx-2060", "rtx-2070-super", "gtx-480"} {
		type counts struct{ shared, global, sectors, cycles uint64 }
		run := func(inShared, inLocal, atomics uint32) counts {
			t.Helper()
			c, err := config.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Set("run.launch_latency=0"); err != nil {
				t.Fatal(err)
			}
			pointers, addrs := buffers(t, lanes*4, lanes*128)
			params := func(mem *device.Memory) []byte {
				p := pointers(mem)
				for _, v := range []uint32{inShared, inLocal, atomics} {
					p = binary.LittleEndian.AppendUint32(p, v)
				}
				return p
			}
			chip, mem := loadOn(t, c.ChipConfig(), mixedPTX, 1, lanes, params, nil)
			if err := chip.Finish(t.Context()); err != nil {
				t.Fatalf("%s, %#x in shared, %#x in local memory: %v", name, inShared, inLocal, err)
			}
			b := make([]byte, lanes*4)
			if err := mem.Read((*addrs)[0], b); err != nil {
				t.Fatal(err)
			}
			for i := range uint32(lanes) {
				if got, want := binary.LittleEndian.Uint32(b[4*i:]), i+8+100*atomics; got != want {
					t.Fatalf("%s, %#x in shared, %#x in local memory: lane %d has %d, want %d", name, inShared, inLocal, i, got, want)
				}
			}
			if n := chip.LiveRequests(); n != 0 {
				t.Errorf("%s: %d requests are left", name, n)
			}
			s := chip.Totals()
			return counts{s.SM.SharedInsts, s.SM.LoadInsts + s.SM.StoreInsts, s.L1D.Total(), chip.Now()}
		}
		const accesses = 1 + 8*2 + 1 // by each lane in its memory
		for _, x := range []struct {
			what              string
			inShared, inLocal uint32
			atomics           uint32
		}{
			{"all global", 0, 0, 1}, {"all shared", 1<<32 - 1, 0, 1}, {"all local", 0, 1<<32 - 1, 0},
			{"the lower half shared", 0xffff, 0, 1}, {"the upper half shared", 0xffff0000, 0, 1},
			{"every other shared", 0x55555555, 0, 1}, {"every other from the second shared", 0xaaaaaaaa, 0, 1},
			{"one shared", 1, 0, 1}, {"all but one shared", 1<<32 - 2, 0, 1},
			{"one local", 0, 1, 0}, {"shared, local and global", 0xff, 0xff00, 0}, {"local, shared and global", 0xff00, 0xff, 0},
			{"shared and local", 0xffff, 0xffff0000, 0},
		} {
			got := run(x.inShared, x.inLocal, x.atomics)
			n := uint64(0)
			for m := x.inShared; m != 0; m &= m - 1 {
				n++
			}
			each := uint64(accesses) + uint64(x.atomics)
			if got.shared != n*each {
				t.Errorf("%s, %s: %d accesses of threads to shared memory, want %d", name, x.what, got.shared, n*each)
			}
			if want := (lanes-n)*each + lanes; got.global != want { // plus the last store
				t.Errorf("%s, %s: %d accesses of threads to other memory, want %d", name, x.what, got.global, want)
			}
		}
		// It does not matter which lane is first.
		for _, p := range [][2]uint32{{0xffff, 0xffff0000}, {0x55555555, 0xaaaaaaaa}} {
			a, b := run(p[0], 0, 0), run(p[1], 0, 0)
			if a.shared != b.shared || a.sectors != b.sectors {
				t.Errorf("%s: with %#x in shared memory %+v, with %#x %+v", name, p[0], a, p[1], b)
			}
		}
		// The lanes in global memory take the same time, whichever lane is first.
		mixed, shared := run(0xffff, 0, 0), run(1<<32-1, 0, 0)
		if mixed.cycles <= shared.cycles || mixed.sectors <= shared.sectors {
			t.Errorf("%s: half in shared memory %+v, all of it %+v", name, mixed, shared)
		}
	}
}
