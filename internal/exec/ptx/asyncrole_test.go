package ptx_test

import (
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestAsyncRoles: the roles of instructions in asynchronous operations (PTX manual, "Data
// Movement and Conversion Instructions: Asynchronous copy").
func TestAsyncRoles(t *testing.T) {
	for _, c := range []struct {
		text string
		want isa.Async
	}{
		{"cp.async.ca.shared.global [s], [%rd0], 4;", isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}},
		{"cp.async.cg.shared.global [s], [%rd0], 16;", isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}},
		{"cp.async.commit_group;", isa.Async{Does: isa.AsyncCommit, Done: isa.ByGroup}},
		{"cp.async.wait_group 3;", isa.Async{Does: isa.AsyncWait, Done: isa.ByGroup, Leave: 3}},
		{"cp.async.wait_all;", isa.Async{Does: isa.AsyncWaitAll, Done: isa.ByGroup}},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], %r0, [s];", isa.Async{Does: isa.AsyncStart, Done: isa.ByMbarrier}},
		{"cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], %r0;", isa.Async{Does: isa.AsyncStart, Done: isa.ByBulk}},
		{"cp.async.bulk.commit_group;", isa.Async{Does: isa.AsyncCommit, Done: isa.ByBulk}},
		{"cp.async.bulk.wait_group.read 1;", isa.Async{Does: isa.AsyncWait, Done: isa.ByBulk, Leave: 1, Read: true}},
		{"cp.async.mbarrier.arrive.shared.b64 [s];", isa.Async{}},
		{"ld.global.u32 %r0, [%rd0];", isa.Async{}},
	} {
		t.Run(c.text, func(t *testing.T) {
			m, err := ptx.Parse("t.ptx", []byte(".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n.shared .align 16 .b8 s[64];\n"+c.text+"\nret;\n}\n"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := xptx.Link(m)
			if err != nil {
				t.Fatal(err)
			}
			k := p.Kernels()[0]
			if why := k.Unusable(); len(why) > 0 {
				t.Fatal(why)
			}
			if got := k.Functions()[0].Code[0].Async; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
