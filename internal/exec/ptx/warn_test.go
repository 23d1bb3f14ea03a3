package ptx_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// TestStrays: if they are tolerated, reads and writes slightly outside every allocation reach
// memory that exists there; each instruction is reported once, for the first block. Far away,
// in bulk, and at null they are faults.
func TestStrays(t *testing.T) {
	data := make([]byte, 60)
	for i := range data {
		data[i] = 1
	}
	const write, keep = "st.global.u32 [%in0+", "ld.global.u64 %a0, [%in0+"
	for _, c := range []struct{ name, body, want, told string }{
		{"in front", "ld.global.u32 %r0, [%in0+-4];\ncvt.u64.u32 %a0, %r0;", "0", "read of 4 bytes: 4 bytes before"},
		{"after", "ld.global.u64 %a0, [%in0+64];", "0", "read of 8 bytes: 4 bytes past the end"},
		{"across the end", "ld.global.u64 %a0, [%in0+56];", "1010101", "read of 8 bytes: reaching 4 bytes past the end"},
		{"inside", "ld.global.u64 %a0, [%in0+48];", "101010101010101", ""},
		{"far away", "ld.global.u32 %r0, [%in0+0x400000];", "out-of-bounds read of 4 bytes", ""},
		{"write in front", "st.global.u32 [%in0+-4], 7;\nld.global.u32 %r0, [%in0+-4];\ncvt.u64.u32 %a0, %r0;", "7", "write of 4 bytes: 4 bytes before; read of 4 bytes: 4 bytes before"},
		{"write just after", write + "60], 7;\n" + keep + "56];", "701010101", "write of 4 bytes: just past the end; read of 8 bytes: reaching 4 bytes past the end"},
		{"write across the end", "mov.u64 %a1, 0x0706050403020100;\nst.global.u64 [%in0+56], %a1;\n" + keep + "56];", "706050403020100", "write of 8 bytes: reaching 4 bytes past the end; read of 8 bytes: reaching 4 bytes past the end"},
		{"wide write", "st.global.v2.u64 [%in0+2048], {9, 8};\n" + keep + "2056];", "8", "write of 16 bytes: 1988 bytes past the end; read of 8 bytes: 1996 bytes past the end"},
		{"narrow write", "mov.u64 %a1, %in0;\nst.u8 [%a1+61], 5;\n" + keep + "56];", "50001010101", "write of 1 byte: 1 byte past the end; read of 8 bytes: reaching 4 bytes past the end"},
		{"atomic", "atom.global.add.u32 %r0, [%in0+64], 3;\n" + keep + "64];\nmin.u64 %a0, %a0, 3;", "3", "write of 4 bytes: 4 bytes past the end; read of 8 bytes: 4 bytes past the end"},
		{"reduction", "red.global.add.u32 [%in0+64], 3;\n" + keep + "64];\nmin.u64 %a0, %a0, 3;", "3", "write of 4 bytes: 4 bytes past the end; read of 8 bytes: 4 bytes past the end"},
		{"atomic of another kind", "atom.global.or.b64 %a1, [%in0+64], 3;\n" + keep + "64];", "3", "write of 8 bytes: 4 bytes past the end; read of 8 bytes: 4 bytes past the end"},
		{"writes do not reach the next allocation", write + "60], 7;\nld.global.u64 %a0, [%in1];", "202020202020202", "write of 4 bytes: just past the end"},
		{"write far away", write + "0x400000], 1;", "out-of-bounds write of 4 bytes", ""},
		{"write of a constant", "mov.u64 %a1, c;\nst.global.u32 [%a1], 1;", "write of 4 bytes to read-only", ""},
		{"null", "mov.u64 %a0, 0;\nld.global.u32 %r0, [%a0];", "null-pointer", ""},
		{"write to null", "mov.u64 %a0, 0;\nst.global.u32 [%a0], 1;", "null-pointer", ""},
		{"bulk", "cp.async.bulk.global.shared::cta.bulk_group [%in0+64], [s], 64;", "out-of-bounds write of 64 bytes", ""},
	} {
		for _, stepped := range []bool{false, true} {
			var told []string
			warn := func(w *exec.Warning) {
				what, at, _ := strings.Cut(w.What, " at 0x")
				_, where, _ := strings.Cut(at, ": ")
				where, _, _ = strings.Cut(where, " of buffer")
				where, _, _ = strings.Cut(where, ` buffer`)
				told = append(told, strings.TrimPrefix(what, "out-of-bounds ")+": "+where)
				if (w.Kind == exec.StrayWrite) != strings.Contains(what, "write") || w.Where.Block.X != 0 || w.Where.Kernel != "k" {
					t.Errorf("%s: kind %d, %v", c.name, w.Kind, &w.Fault)
				}
			}
			o := bodyOpts{block: 1, grid: 3, stepped: stepped, lenient: true, warn: warn, module: ".const .b32 c[4];"}
			two := []byte{2, 2, 2, 2, 2, 2, 2, 2}
			got, err := tryBody(t, o, regs+".shared .align 16 .b8 s[64];", c.body+"\nst.global.u64 [%out], %a0;", [][]byte{data, two}, 8)
			result := ""
			if err != nil {
				result = err.Error()
			} else {
				result = fmt.Sprintf("%x", binary.LittleEndian.Uint64(got))
			}
			if !strings.HasPrefix(result, c.want) {
				t.Errorf("%s: %q, want %q", c.name, result, c.want)
			}
			if all := strings.Join(told, "; "); all != c.told {
				t.Errorf("%s: told %q, want %q", c.name, all, c.told)
			}
		}
	}
	warn := func(w *exec.Warning) { t.Errorf("told of %v", &w.Fault) }
	_, err := tryBody(t, bodyOpts{warn: warn}, regs, write+"60], 1;", [][]byte{data}, 8)
	if err == nil || !strings.Contains(err.Error(), "out-of-bounds write of 4 bytes") {
		t.Errorf("where they are not tolerated: %v", err)
	}
}

// TestStraysOfManyBlocks: what blocks of a batch write outside of allocations is private until
// they end, and that of the last block stays, for every number of workers.
func TestStraysOfManyBlocks(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		var told []string
		o := bodyOpts{block: 32, grid: 40, threads: threads, lenient: true, warn: func(w *exec.Warning) { told = append(told, w.Where.String()) }}
		got := runBody(t, o, regs, `
			mov.u32 %r0, %ctaid.x;
			mul.wide.u32 %a0, %t, 4;
			add.u64 %a1, %in0, %a0;
			st.global.u32 [%a1+2048], %r0;
			ld.global.u32 %r1, [%a1+2048];
			mul.wide.u32 %a2, %r0, 4;
			add.u64 %a2, %out, %a2;
			setp.eq.u32 %p0, %t, 7;
			@%p0 st.global.u32 [%a2], %r1;`, [][]byte{make([]byte, 4)}, 160)
		expect(t, got[:160], func(i int) uint32 { return uint32(i) })
		if len(told) != 2 || !strings.Contains(told[0], "block (0,0,0), thread (0,0,0)") || !strings.Contains(told[0], "st.global.u32") || !strings.Contains(told[1], "ld.global.u32") {
			t.Errorf("%d workers: told %q", threads, told)
		}
	}
}

// TestMemberMasks: two errors are reported, once per instruction: a thread missing from its
// own member mask, and a shuffle that reads a lane which does not take part. What the manual
// permits is not reported: tiles with their own masks, and lanes in the mask that have exited
// or never existed.
func TestMemberMasks(t *testing.T) {
	const lacks16 = "member mask 0x0000ffff lacks lane 16"
	for _, c := range []struct {
		name, body string
		block      uint32
		want       []string
	}{
		{"all are in it", "vote.sync.ballot.b32 %r0, %p0, -1;\nbar.warp.sync -1;", 32, nil},
		{"ballot", "vote.sync.ballot.b32 %r0, %p0, 0xffff;", 32, []string{lacks16 + " vote.sync.ballot.b32 0"}},
		{"vote", "vote.sync.any.pred %p1, %p0, 0xffff;", 32, []string{lacks16 + " vote.sync.any.pred 0"}},
		{"barrier", "bar.warp.sync 0xffff;", 32, []string{lacks16 + " bar.warp.sync 0"}},
		{"match", "match.any.sync.b32 %r0, %t, 0xffff;", 32, []string{lacks16 + " match.any.sync.b32 0"}},
		{"reduction", "redux.sync.add.s32 %r0, %t, 0xffff;", 32, []string{lacks16 + " redux.sync.add.s32 0"}},
		{"shuffle", "shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffff;", 32, []string{lacks16 + " shfl.sync.bfly.b32 0"}},
		{"in a register", "mov.u32 %r1, 0xfffe;\nvote.sync.ballot.b32 %r0, %p0, %r1;", 16, []string{"member mask 0x0000fffe lacks lane 0 vote.sync.ballot.b32 0"}},
		{"a tile lacks itself", "setp.lt.u32 %p1, %t, 16;\nselp.u32 %r1, 0xffff, 0xfffe0000, %p1;\nvote.sync.ballot.b32 %r0, %p0, %r1;", 32, []string{"member mask 0xfffe0000 lacks lane 16 vote.sync.ballot.b32 0"}},
		{"tiles", "setp.lt.u32 %p1, %t, 16;\nselp.u32 %r1, 0xffff, 0xffff0000, %p1;\nvote.sync.ballot.b32 %r0, %p0, %r1;", 32, nil},
		{"in a loop", "mov.u32 %r1, 0;\nL: bar.warp.sync 0xffff;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nbar.warp.sync 0xff;", 32,
			[]string{lacks16 + " bar.warp.sync 0", "member mask 0x000000ff lacks lane 8 bar.warp.sync 0"}},
		{"lanes that exited are in it", "setp.ge.u32 %p1, %t, 8;\n@%p1 exit;\nvote.sync.ballot.b32 %r0, %p0, -1;\nbar.warp.sync -1;\nredux.sync.add.s32 %r0, %t, -1;", 32, nil},
		{"lanes that are not there are in it", "vote.sync.ballot.b32 %r0, %p0, -1;", 8, nil},
		{"shuffle from a lane that exited", "setp.ge.u32 %p1, %t, 8;\n@%p1 exit;\nshfl.sync.down.b32 %r0, %t, 4, 31, -1;", 32, []string{"lane 4 reads a register of lane 8, which has exited, or lies beyond the end of the block shfl.sync.down.b32 0"}},
		{"shuffle among those that are left", "setp.ge.u32 %p1, %t, 8;\n@%p1 exit;\nshfl.sync.bfly.b32 %r0, %t, 4, 31, -1;", 32, nil},
		{"shuffle from a lane that is not there", "shfl.sync.idx.b32 %r0, %t, 20, 31, -1;", 8, []string{"lane 0 reads a register of lane 20, which has exited, or lies beyond the end of the block shfl.sync.idx.b32 0"}},
		{"shuffle beyond the segment", "shfl.sync.down.b32 %r0, %t, 4, 0x1807, -1;", 8, nil},
		{"shuffle from a lane with its guard off", "setp.lt.u32 %p1, %t, 8;\n@%p1 shfl.sync.down.b32 %r0, %t, 1, 31, 0xff;", 32, []string{"lane 7 reads a register of lane 8, which does not execute the instruction with it shfl.sync.down.b32 0"}},
	} {
		for _, stepped := range []bool{false, true} {
			var told []string
			warn := func(w *exec.Warning) {
				what, _, _ := strings.Cut(w.What, ", which executes")
				what, _, _ = strings.Cut(what, ": the value")
				told = append(told, fmt.Sprintf("%s %s %d", what, w.Where.Inst, w.Where.Block.X))
			}
			if _, err := tryBody(t, bodyOpts{block: c.block, grid: 3, stepped: stepped, warn: warn}, regs, c.body, nil, 4); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if fmt.Sprint(told) != fmt.Sprint(c.want) {
				t.Errorf("%s: told %q, want %q", c.name, told, c.want)
			}
		}
	}
	var told []string
	warn := func(w *exec.Warning) { told = append(told, w.What) }
	runBody(t, bodyOpts{version: "6.0", target: "sm_35", block: 8, warn: warn}, regs, "shfl.down.b32 %r0, %t, 4, 31;", nil, 4)
	if len(told) != 1 || !strings.HasPrefix(told[0], "lane 4 reads a register of lane 8") {
		t.Errorf("a shuffle without a mask: told %q", told)
	}
}
