package program_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

// genOutput is how many bytes a random kernel leaves.
const genOutput = 96 + genThreads*(genResult+genOwn)

// genInput is what random kernels read.
func genInput() []byte {
	r := rand.New(rand.NewPCG(3, 9))
	var b []byte
	for range genThreads * 8 {
		w := r.Uint64()
		switch r.IntN(4) {
		case 0:
			w = corners[r.IntN(len(corners))]
		case 1:
			w = w&0x83ff_ffff_83ff_ffff | 0x3c00_0000_3c00_0000
		case 2:
			w >>= r.IntN(64)
		}
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// genRun runs k0, k1 … of a program each in one block, and returns what they leave, or why there is nothing.
func genRun(code program.Code, text string, n int, input []byte) (list [][]byte, faults []error, err error) {
	c := program.Choice{Code: code, SM: *forSM}
	p, err := c.Load(program.Source{Name: "random." + string(code), Text: []byte(text)})
	if err != nil {
		return nil, nil, err
	}
	mem := device.New(device.Config{})
	m, err := program.NewMachine(p, mem)
	if err != nil {
		return nil, nil, err
	}
	in, err := mem.Alloc(uint64(len(input)), "in")
	if err != nil {
		return nil, nil, err
	}
	if err := mem.Write(in, input); err != nil {
		return nil, nil, err
	}
	for i := range n {
		k, ok := p.Kernel(fmt.Sprintf("k%d", i))
		if !ok {
			return nil, nil, fmt.Errorf("there is no kernel k%d", i)
		}
		out, err := mem.Alloc(genOutput, "out")
		if err != nil {
			return nil, nil, err
		}
		params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in), out)
		l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: genThreads, Y: 1, Z: 1}, Params: params}
		_, fault := m.Run(context.Background(), l, exec.Options{MaxInsts: 1 << 20})
		b := make([]byte, genOutput)
		if err := mem.Read(out, b); err != nil {
			return nil, nil, err
		}
		if err := mem.Free(out); err != nil {
			return nil, nil, err
		}
		list, faults = append(list, b), append(faults, fault)
	}
	return list, faults, nil
}

// target is a way to compile.
type target struct {
	arch sass.Arch
	less int
}

// genCompiled is the listing of a program for a target.
func genCompiled(text string, to target) (string, error) {
	m, err := ptx.Parse("random.ptx", []byte(text))
	if err != nil {
		return "", err
	}
	r, err := compile.Module(m, compile.Options{Arch: to.arch, Less: to.less, Verify: true})
	if err != nil {
		return "", err
	}
	if len(r.Refused) > 0 {
		return "", r.Refused[0]
	}
	return r.File.Text(), nil
}

// genDiffers reports for each of some kernels whether it leaves something else if it is compiled; kernels
// that fail as PTX do not.
func genDiffers(kernels []string, to target, input []byte) ([]string, error) {
	text := genHeader + strings.Join(kernels, "")
	want, bad, err := genRun(program.PTXCode, text, len(kernels), input)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(kernels))
	code, err := genCompiled(text, to)
	if err != nil {
		return nil, err
	}
	got, faults, err := genRun(program.SASSCode, code, len(kernels), input)
	if err != nil {
		return nil, err
	}
	for i := range kernels {
		switch {
		case bad[i] != nil:
		case faults[i] != nil:
			list[i] = faults[i].Error()
		case !bytes.Equal(got[i], want[i]):
			list[i] = "it leaves other values"
		}
	}
	return list, nil
}

var genMask = regexp.MustCompile(`%[mn][0-9]+`)

// masked reports whether every mask of lanes that a kernel uses is made in it, by the branch whose lanes it
// has.
func masked(lines []string) bool {
	text := strings.Join(lines, "\n")
	for _, m := range genMask.FindAllString(text, -1) {
		if !strings.Contains(text, "vote.sync.ballot.b32 %m"+m[2:]+",") {
			return false
		}
	}
	return true
}

// reduced is a kernel without the lines that are not needed for it to differ.
func reduced(lines []string, directives string, to target, input []byte) []string {
	differs := func(list []string) bool {
		if !masked(list) {
			return false
		}
		why, err := genDiffers([]string{genKernel(0, directives, list)}, to, input)
		return err == nil && why[0] != ""
	}
	for n := len(lines) / 2; n > 0; n /= 2 {
		for at := 0; at+n <= len(lines); {
			less := slices.Delete(slices.Clone(lines), at, at+n)
			if differs(less) {
				lines = less
			} else {
				at++
			}
		}
	}
	return lines
}

// genCases are kernels that once left other values, reduced.
var genCases = []struct {
	name, directives string
	lines            []string
}{
	{"an acquiring load under a guard whose result moves to memory", ".maxnreg 24", []string{
		"vote.sync.ballot.b32 %m1, %p2, -1; xor.b32 %n1, %m1, -1; @%p2 bra L1",
		"vote.sync.ballot.b32 %m2, %p0, %n1; xor.b32 %n2, %m2, %n1; @%p0 bra L3",
		"bra L4; L3:", "and.b32 %t, %r1, 60", "L4:", "bra L2; L1:", "and.b32 %t, %r1, 56", "cvt.u64.u32 %td, %t; add.u64 %td, %td, %xs",
		"@%p7 ld.acquire.gpu.shared.s8 %h0, [%sp+62]", "div.s64 %d2, %d1, %d1", "L2:"}},
	{"a half that was a byte, compared in memory", "", []string{"ld.shared.v2.s8 {%h2, %h0}, [%sp+16]", "ld.v2.b16 {%h3, %h0}, [%xl+0]", "@!%p2 atom.global.cas.b16 %h3, [%gp+8], %h2, %h0"}},
}

// TestCompiledMemoryCases: kernels that once left other values give what their PTX gives.
func TestCompiledMemoryCases(t *testing.T) {
	for _, c := range genCases {
		for _, less := range []int{0, compile.Most} {
			why, err := genDiffers([]string{genKernel(0, c.directives, c.lines)}, target{86, less}, genInput())
			if err != nil || why[0] != "" {
				t.Errorf("%s: %v %v", c.name, err, why)
			}
		}
	}
}

var moreKernels = flag.Int("kernels", 0, "how many random kernels TestCompiledMemory compares, if more than otherwise; 1,000 take about half a minute")

// TestCompiledMemory: random kernels with memory, warps and blocks give what their PTX gives, bit for bit, without
// optimisation and with all of it, each time for one of the architectures. A kernel that does not is reduced.
func TestCompiledMemory(t *testing.T) {
	const batch = 50
	input := genInput()
	total := max(alltests.Count(50, 500), *moreKernels)
	archs := []sass.Arch{75, 86, 80, 89}
	for at := 0; at < total && !t.Failed(); at += batch {
		var lines [][]string
		var kernels []string
		directives := []string{"", ".maxnreg 24", ".maxnreg 32"}[at/batch%3]
		for n := range batch {
			lines = append(lines, generate(uint64(at+n)))
			kernels = append(kernels, genKernel(n, directives, lines[n]))
		}
		n := at / batch
		targets := []target{{archs[n%4], 0}, {archs[(n+1)%4], compile.Most}}
		for _, to := range targets {
			differs, err := genDiffers(kernels, to, input)
			if err != nil {
				t.Fatalf("kernels from seed %d on: %v", at, err)
			}
			for n, why := range differs {
				if why != "" {
					few := reduced(lines[n], directives, to, input)
					t.Errorf("seed %d for sm_%d, -O%d, %s: %s\n%s", at+n, to.arch, compile.Most-to.less, directives, why, strings.Join(few, "\n"))
				}
			}
		}
	}
}

// TestCompiledMemoryTimed: the same kernels give what their PTX gives on the modern core, where values appear when the control
// bits say so, and the checker finds no hazard.
func TestCompiledMemoryTimed(t *testing.T) {
	input := genInput()
	words := make([]uint32, len(input)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(input[4*i:])
	}
	type kernel struct {
		name  string
		lines []string
		less  int
	}
	kernels := []kernel{
		{"two barriers with results", []string{"bar.red.popc.u32 %r2, 0, %p4", "bar.red.and.pred %p1, 0, %p1"}, compile.Most},
	}
	for n := range alltests.Count(6, 100) {
		kernels = append(kernels, kernel{fmt.Sprintf("seed %d", 100_000+n), generate(uint64(100_000 + n)), []int{0, 0, compile.Most, 1}[n%4]})
	}
	for n, k := range kernels {
		directives := []string{"", ".maxnreg 24", ".maxnreg 32"}[n%3]
		text := genHeader + genKernel(0, directives, k.lines)
		want, faults, err := genRun(program.PTXCode, text, 1, input)
		if err != nil || faults[0] != nil {
			t.Fatal(err, faults)
		}
		m, err := ptx.Parse("k.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := compile.Module(m, compile.Options{Arch: sass.Arch(*forSM), Less: k.less})
		if err != nil || len(r.Refused) > 0 {
			t.Fatal(err, r.Refused)
		}
		got, hazards := timedBlock(t, r.File, words, genThreads, genOutput/4)
		if hazards != 0 {
			t.Errorf("%s: %d hazards", k.name, hazards)
		}
		for i, w := range got {
			if v := binary.LittleEndian.Uint32(want[0][4*i:]); v != w {
				t.Errorf("%s: word %d is %#x, want %#x", k.name, i, w, v)
				break
			}
		}
	}
}
