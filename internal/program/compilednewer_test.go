package program_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/program"
)

// TestCompiledForNewer: for a GPU newer than the architectures that code is made for, the kernels become code for the
// newest of these. Those whose blocks form clusters stay PTX.
func TestCompiledForNewer(t *testing.T) {
	const text = `.version 8.3
.target sm_90
.address_size 64
.visible .entry plain(.param .u64 out) { .reg .b64 %o; ld.param.u64 %o, [out]; st.global.u32 [%o], 7; ret; }
.visible .entry two() .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry any() .explicitcluster { ret; }
.visible .entry rank(.param .u64 out) { .reg .b64 %o; .reg .b32 %r; mov.u32 %r, %cluster_ctaid.x; ld.param.u64 %o, [out]; st.global.u32 [%o], %r; ret; }
`
	for _, sm := range []int{90, 120} {
		refused := ""
		c := program.Choice{Code: program.CompiledCode, SM: sm, Refused: func(err error) { refused += err.Error() + "\n" }}
		p, err := c.Load(program.Source{Name: "k.ptx", Text: []byte(text)})
		if err != nil {
			t.Fatalf("sm_%d: %v", sm, err)
		}
		for _, k := range p.Kernels() {
			want := program.PTXCode
			if k.Name() == "plain" {
				want = program.SASSCode
			}
			if got := program.CodeOf(k); got != want {
				t.Errorf("sm_%d: %s is %s, want %s", sm, k.Name(), got, want)
			}
		}
		for _, want := range []string{"k.ptx:5:23: kernel two: .reqnctapercluster cannot be compiled yet", ".explicitcluster cannot be compiled yet", "%cluster_ctaid.x"} {
			if !strings.Contains(refused, want) {
				t.Errorf("sm_%d: %q lacks %q", sm, refused, want)
			}
		}
	}
	c := program.Choice{Code: program.CompiledCode, SM: 61}
	if _, err := c.Load(program.Source{Name: "k.ptx", Text: []byte(strings.Replace(text, "sm_90", "sm_61", 1))}); err == nil || !strings.Contains(err.Error(), "sm_61: code is compiled for sm_") {
		t.Errorf("sm_61: %v", err)
	}
}
