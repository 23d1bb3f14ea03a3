package program

import (
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestListedArchitectures: machine code that can be listed but not run. It is written as a cubin that
// reads back as the same text; a launch says why it cannot run; and of a fat binary, PTX runs.
func TestListedArchitectures(t *testing.T) {
	const ptx = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n"
	for arch, body := range map[string]string{
		"sm_70":  "[B------:R-:W-:-:S04] FADD R0, R1, R2 ;\n[B------:R-:W-:Y:S05] EXIT ;\n",
		"sm_90":  "[B------:R-:W-:-:S04] VIADD R0, R1, 0x2 ;\n[B------:R-:W-:Y:S05] EXIT ;\n",
		"sm_90a": "[B------:R-:W-:-:S02] HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0 ;\n[B------:R-:W-:Y:S05] EXIT ;\n",
	} {
		t.Run(arch, func(t *testing.T) {
			f, err := sass.Parse("k.sass", ".arch "+arch+"\n.kernel k\n.regs 32\n"+body, 0)
			if err != nil {
				t.Fatal(err)
			}
			code := assembled(t, f.Text())
			if got := textOf(t, code); got != f.Text() {
				t.Errorf("the cubin reads back as\n%s\nwant\n%s", got, f.Text())
			}
			prog, err := Load(Source{"k.cubin", code})
			if err != nil {
				t.Fatal(err)
			}
			k, _ := prog.Kernel("k")
			if bad := errors.Join(k.Unusable()...); bad == nil || !strings.Contains(bad.Error(), "kernel k cannot run: machine code for "+f.Arch.String()+" can only be listed") {
				t.Errorf("unusable: %v", bad)
			}
			sm := int(f.Arch)
			both := Source{"k.fatbin", fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(ptx)}, fatbin.Entry{Kind: fatbin.Cubin, SM: sm, Data: code})}
			choice := &Choice{SM: sm, MachineFirst: true}
			if prog, err = choice.Load(both); err != nil || prog.Arch() != 0 {
				t.Errorf("of machine code and PTX, %v is loaded, %v; want the PTX", prog, err)
			}
			choice.Code = SASSCode
			var none *NoMachineCodeError
			if _, err = choice.Load(both); !errors.As(err, &none) || !strings.Contains(none.Why, "can only be listed") {
				t.Errorf("machine code only: %v", err)
			}
		})
	}
}
