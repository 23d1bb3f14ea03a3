package explain_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/explain"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestAll finds a sentence for every opcode of every instruction set.
func TestAll(t *testing.T) {
	var names []string
	for _, op := range kasm.Ops() {
		names = append(names, op.String())
	}
	var machine []string
	for op := sass.NoOp + 1; op < sass.Ops; op++ {
		machine = append(machine, op.String())
	}
	for _, c := range []struct {
		set   string
		names []string
	}{{"kasm", names}, {"ptx", ptx.Opcodes()}, {"sass", machine}} {
		t.Run(c.set, func(t *testing.T) {
			if len(c.names) < 70 {
				t.Fatalf("%d opcodes", len(c.names))
			}
			for _, n := range c.names {
				if !explain.Known(c.set, n) {
					t.Errorf("nothing explains %s", n)
				}
			}
		})
	}
}

// TestSentences finds the operands in their places.
func TestSentences(t *testing.T) {
	for _, c := range []struct{ name, set, text, want string }{
		{"three addends", "kasm", "ADD R3, R1, R63, 5", "Adds R1, R63 and 5, and puts the sum into R3."},
		{"a guard", "kasm", "@!P1 STR [R2 + 256], R3", "Only in lanes where P1 does not hold: stores R3 at address [R2 + 256] of global memory."},
		{"a comparison", "kasm", "ISETP.LT P1, R1, R2 rd=57", "Sets P1 in lanes where R1 is less than R2, as integers, and clears it in the others."},
		{"a kind of number", "ptx", "add.rn.f32 %f3, %f1, %f2;", "Adds %f1 and %f2, and puts the single-precision sum into %f3."},
		{"a modifier that counts", "ptx", "mul.wide.s32 %rd1, %r1, 4;", "Multiplies %r1 with 4, and puts the whole product, twice as wide, into %rd1."},
		{"a guarded branch", "ptx", "@%p1 bra $L__BB0_2;", "Only in lanes where %p1 holds: branches to $L__BB0_2."},
		{"a vector", "ptx", "ld.global.v2.f32 {%f1, %f2}, [%rd1+8];", "Loads from address [%rd1+8] of global memory into {%f1, %f2}."},
		{"zero registers and predicates are no addends", "sass", "IADD3 R7, P0, PT, R0, R3, RZ ;", "Adds R0 and R3, and puts the sum into R7."},
		{"a predicate", "sass", "ISETP.GE.U32.AND P0, PT, R0, R3, PT ;", "Sets P0 where R0 is at least R3, as integers."},
		{"a uniform form", "sass", "UIADD3 UR4, UR5, 0x1, URZ ;", "Adds UR5 and 0x1, and puts the sum into UR4. The values are uniform: one for all lanes of the warp."},
		{"its own line", "sass", "UTMALDG.2D [UR8], [UR4] ;", "Starts or closes copies of whole ranges of memory in the background: [UR8] and [UR4]."},
		{"unknown", "sass", "FROB R1, R2 ;", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := explain.Sentence(c.set, c.text); got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestPlain finds sentences to be sentences, whatever the operands.
func TestPlain(t *testing.T) {
	for _, op := range ptx.Opcodes() {
		for _, ops := range []string{"", " a", " a, b, c, d, e, f"} {
			if s := explain.Sentence("ptx", op+ops); !strings.HasSuffix(s, ".") || strings.ContainsAny(s, "{}") {
				t.Errorf("%s%s: %q", op, ops, s)
			}
		}
	}
}
