package gpu_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// With modern.assembled, a program with copies, constants in registers and dead values takes the cycles of
// the same program without them, computes the same, and takes longer without the parameter.
func TestAssembledPrograms(t *testing.T) {
	together(t, 4)
	loop := func(body string) string {
		return "mov.u32 %r0, 0; mov.u32 %r1, %t; l:\n" + body + "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 40; @%p1 bra l; mov.u32 %v, %r1;\n"
	}
	bulk := func(after string) string {
		return "@!%first bra over; mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 4096;\n" +
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 4096, [%bar];\n" + after + teamWait + "over:\n"
	}
	for _, c := range []struct {
		name, with, without string
		more                uint64
	}{
		{"copies", loop(strings.Repeat("mul.lo.u32 %r2, %r1, 3; mov.u32 %r1, %r2; add.u32 %r3, %r1, 5; mov.u32 %r1, %r3;\n", 8)),
			loop(strings.Repeat("mul.lo.u32 %r1, %r1, 3; add.u32 %r1, %r1, 5;\n", 8)), 8 * 40},
		{"constants and dead values", "mov.u32 %r6, 11;" + loop(strings.Repeat("mov.u32 %r4, 7; mul.lo.u32 %r5, %r1, %r1; add.u32 %r1, %r1, %r6;\n", 8)),
			loop(strings.Repeat("add.u32 %r1, %r1, 11;\n", 8)), 8 * 40},
		{"after a bulk copy", bulk("mul.lo.u32 %r1, %r2, %r3;"), bulk(""), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var took [3]uint64
			var got [3][]byte
			for i, x := range []struct{ body, set string }{{c.with, "true"}, {c.without, "true"}, {c.with, "false"}} {
				var err error
				got[i], took[i], err = onTeam(t, fmt.Sprintf(teamFrame, "", x.body), 2, teamConfig(t, "h100-pcie", 1, "modern.assembled="+x.set))
				if err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(got[0], got[2]) {
				t.Error("other bytes than without the parameter")
			}
			if took[0] != took[1] || took[2] < took[0]+c.more {
				t.Errorf("%d cycles, %d without what an assembler leaves out, %d without the parameter", took[0], took[1], took[2])
			}
		})
	}
}

// An ALU sees a comparison after 4 cycles and a guard after 13, as in machine code.
func TestAssembledComparisons(t *testing.T) {
	together(t, 3)
	took := map[string]uint64{}
	for name, use := range map[string]string{"operand": "selp.u32 %r2, 5, %r1, %p1;", "guard": "@%p1 add.u32 %r2, %r1, 5;"} {
		pair := "setp.lt.u32 %p1, %r1, 9;" + use + "\n"
		next := strings.NewReplacer("%p1", "%p2", "%r1", "%r2", "%r2", "%r1").Replace(pair)
		body := "mov.u32 %r1, %t;" + strings.Repeat(pair+next, 50) + "mov.u32 %v, %r1;"
		for _, set := range []string{"true", "false"} {
			_, cycles, err := onTeam(t, fmt.Sprintf(teamFrame, "", body), 1, teamConfig(t, "h100-pcie", 1, "modern.assembled="+set))
			if err != nil {
				t.Fatal(err)
			}
			took[name+" "+set] = cycles
		}
	}
	if d := took["guard true"] - took["operand true"]; d < 880 || d > 920 {
		t.Errorf("100 guards take %d cycles more than operands, want 9 each", d)
	}
	if d := took["operand false"] - took["operand true"]; d < 880 || d > 920 {
		t.Errorf("100 operands take %d cycles more without the parameter, want 9 each", d)
	}
}
