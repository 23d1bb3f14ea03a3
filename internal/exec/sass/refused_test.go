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

// TestRefusedTextures: kernels with textures and surfaces are refused, and the message says what to do.
func TestRefusedTextures(t *testing.T) {
	for _, text := range []string{
		"TEX.SCR.LL.BATCH_START RZ, R6, R4, R11, 0x0, 0x5e, 2D, 0x1", "TLD.SCR.LZ RZ, R5, R5, 0x0, 0x64, 1D, 0x1",
		"SULD.D.BA.2D.STRONG.CTA.TRAP R8, [R16], 0x0, 0x60", "SUST.D.BA.2D.STRONG.CTA.TRAP [R16], R8, 0x0, 0x61",
	} {
		t.Run(text, func(t *testing.T) {
			f, err := sass.Parse("t.sass", strings.Replace(header, "sm_86", "sm_75", 1)+text+" ;\nEXIT ;\n", 0)
			if err != nil {
				t.Fatal(err)
			}
			why := Load(f).Kernels()[0].Unusable()
			if len(why) != 1 || !strings.Contains(why[0].Error(), "choose it with --code ptx") {
				t.Errorf("%v", why)
			}
		})
	}
}
