package modern

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// A compiler's code waits long enough for every result of fixed latency on this core:
// the shortest path from each writer to its readers, by stall counters only, in a kernel
// for sm_80 that ptxas compiled.
func TestCompilersWaitLongEnough(t *testing.T) {
	b, err := os.ReadFile("../../isa/sass/testdata/gemm.sm80.listing.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	hex := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/.*/\* 0x([0-9a-f]{16}) \*/`)
	second := regexp.MustCompile(`^\s*/\* 0x([0-9a-f]{16}) \*/`)
	k := sass.Kernel{Control: true}
	var addr, low uint64
	for line := range strings.Lines(string(text)) {
		if m := first.FindStringSubmatch(line); m != nil {
			addr, low = hex(m[1]), hex(m[2])
		} else if m := second.FindStringSubmatch(line); m != nil {
			in, err := sass.Decode(80, [2]uint64{low, hex(m[1])}, uint32(addr))
			if err != nil {
				t.Fatal(err)
			}
			k.Code = append(k.Code, in)
		}
	}
	infos := k.Infos()
	p := &program{warps: 1, blocks: 1, regs: 255}
	for i := range infos {
		p.infos = append(p.infos, &infos[i])
	}
	cfg := Ampere()
	mk, err := NewKernel(&cfg, p, core.KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	tight := map[[2]isa.Class]int{} // pairs without a cycle to spare
	mk.Distances(func(d Distance) {
		pairs++
		if d.Cycles < d.Need {
			t.Errorf("%04x: %s is %d cycles after %s (%04x), which needs %d", 16*d.At, k.Code[d.At].Text(), d.Cycles, k.Code[d.Producer].Text(), 16*d.Producer, d.Need)
		} else if d.Cycles == d.Need {
			tight[[2]isa.Class{infos[d.Producer].Class, infos[d.At].Class}]++
		}
	})
	if pairs < 500 || tight[[2]isa.Class{isa.ClassInt, isa.ClassInt}] == 0 || tight[[2]isa.Class{isa.ClassSetp, isa.ClassInt}] == 0 {
		t.Errorf("%d pairs, of which tight are %v", pairs, tight)
	}
}
