package sass

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/isa/sass"
)

var update = flag.Bool("update", false, "write golden files")

// TestRefusedForms: testdata/refused.golden lists by mnemonic which forms of real programs'
// instructions are rejected: a form that stops working is noticed, one that begins to work is
// removed from the list. Words come from the golden pairs of isa/sass.
func TestRefusedForms(t *testing.T) {
	refused := map[string]int{}
	var out strings.Builder
	for _, arch := range []sass.Arch{75, 80, 86} {
		f, err := os.Open(fmt.Sprintf("../../isa/sass/testdata/pairs.%s.tsv.zst", arch))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		all, good := 0, 0
		lines := bufio.NewScanner(z)
		for lines.Scan() {
			cols := strings.Split(lines.Text(), "\t")
			if len(cols) != 3 || len(cols[1]) != 32 {
				continue
			}
			hi, err1 := strconv.ParseUint(cols[1][:16], 16, 64)
			lo, err2 := strconv.ParseUint(cols[1][16:], 16, 64)
			if err1 != nil || err2 != nil {
				t.Fatal(lines.Text())
			}
			in, err := sass.Decode(arch, [2]uint64{lo, hi}, 0)
			if err != nil {
				continue // isa/sass has its own list of these
			}
			// A target elsewhere does not concern the form.
			for i := range in.Operands {
				if in.Operands[i].Kind == sass.Target {
					in.Operands[i].Imm = 0
				}
			}
			all++
			k := Load(&sass.File{Name: "pairs", Arch: arch, Kernels: []*sass.Kernel{{Name: "k", Arch: arch, Regs: 255, Code: []sass.Inst{in}}}}).Kernels()[0]
			if len(k.bad) == 0 {
				good++
				continue
			}
			name := in.Op.String()
			if len(in.Mods) > 0 {
				name += "." + strings.Join(in.Mods, ".")
			}
			refused[name]++
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s: %d of %d words are executed (%.1f %%)\n", arch, good, all, 100*float64(good)/float64(all))
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		fmt.Fprintf(&out, "%4d %s\n", refused[name], name)
	}
	const golden = "testdata/refused.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the refused forms are not those of %s (-update writes it):\n%s", golden, out.String())
	}
}

// TestRefusedTextures: what is not known of textures and surfaces is refused, and the message says what.
func TestRefusedTextures(t *testing.T) {
	for _, test := range []struct{ text, arch, why string }{
		{"TEX.SCR.AOFFI.NDV R36, R20, R20, R12, 0x0, 0x58, 3D", "sm_86", "TEX without .LZ or .LL chooses a level by the coordinates of adjacent threads"},
		{"TEX R36, R20, R20, R12, 0x0, 0x58, 3D", "sm_86", "TEX without .LZ or .LL"},
		{"TEX.LB R36, R20, R20, R12, 0x0, 0x58, 2D", "sm_86", "TEX with .LB is not supported"},
		{"TEX.LC R36, R20, R20, RZ, 0x0, 0x58, 2D", "sm_86", "TEX with .LC is not supported"},
		{"TEX.LL.AOFFI R36, R20, R20, R12, 0x0, 0x58, CUBE", "sm_86", "an offset on a cube"},
		{"TEX.LL R36, R20, R20, R12, UR4, 0x1, 2D", "sm_86", "TEX with number 1 after UR4 is not supported"},
		{"TEX.LL R36, R20, R20, R12, 0x1f, 0x0, 2D", "sm_86", "there is no constant bank 31"},
		{"TEX.LZ R36, R20, R20, R12, 0x0, 0x58, 2D", "sm_86", "it is not known what R12 holds"},
		{"TEX.LL R36, R20, R20, R12, 0x0, 0x58, 2D", "sm_120", "the words of sm_120 are not known"},
		{"TLD.SCR.LZ R14, R4, R12, R62, 0x0, 0x58, ARRAY_2D", "sm_86", "it is not known which two of layer, coordinates and handle share a pair of registers"},
		{"TLD.SCR.B.LZ R14, R4, R12, R62, ARRAY_1D", "sm_86", "it is not known which two of layer"},
		{"TLD.LZ.CL R14, R4, R12, 0x0, 0x58, 2D", "sm_86", "TLD with .CL is not supported"},
		{"TLD4.R.PTP R14, R4, R12, R60, 0x0, 0x58, 2D", "sm_86", "TLD4 with .PTP is not supported"},
		{"TXD.LC R14, R8, R12, R60, 0x0, 0x58, 2D", "sm_86", "TXD with .LC is not supported"},
		{"TXQ RZ, R8, R12, TEX_HEADER_SAMPLER_POS, 0x0, 0x58, 0x1", "sm_86", "TXQ of TEX_HEADER_SAMPLER_POS with mask 0x1 is not supported"},
		{"SULD.D.2D.STRONG.SM.TRAP R8, [R16], 0x0, 0x60", "sm_86", "SULD.D without .BA, which counts texels, is not supported"},
		{"SUST.P.1D_BUFFER.STRONG.SM.TRAP [R16], R8, 0x0, 0x60", "sm_86", "SUST with .1D_BUFFER is not supported"},
	} {
		t.Run(test.text, func(t *testing.T) {
			f, err := sass.Parse("t.sass", strings.Replace(header, "sm_86", test.arch, 1)+test.text+" ;\nEXIT ;\n", 0)
			if err != nil {
				t.Fatal(err)
			}
			why := Load(f).Kernels()[0].Unusable()
			if len(why) != 1 || !strings.Contains(why[0].Error(), test.why) {
				t.Errorf("%v", why)
			}
		})
	}
}
