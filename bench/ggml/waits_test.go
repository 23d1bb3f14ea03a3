package ggml

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/program"
)

var update = flag.Bool("update", false, "rewrite ../../internal/truth/testdata/distances.tsv")

const distances = "../../internal/truth/testdata/distances.tsv"

// pair is two kinds of instructions of which the second reads what the first writes: a general
// register R, a predicate P, one of the uniform datapath UR and UP, with @ if it is a guard.
type pair struct{ first, second, register string }

// least is the smallest number of cycles between such a pair, and how often it occurs.
type least struct{ cycles, count, pairs int }

// TestWaits: NVIDIA's compiler waits long enough for this core, in every pair of instructions
// of which the second reads the first's result of fixed latency, in all kernels of the package
// for sm_86 and sm_89, and in some for sm_120. Pairs with a wait for a counter between them do
// not count. The smallest distances for sm_86 and sm_89 are kept in internal/truth.
func TestWaits(t *testing.T) {
	entries := library(t)
	cfg := modern.Ampere()
	found := map[int]map[pair]least{}
	for arch, most := range map[int]int{86: 3_000_000, 89: 3_000_000, 120: 200_000} {
		at, n, short, kernels := map[pair]least{}, 0, 0, 0
		if arch < 100 {
			found[arch] = at
		}
		machineCode(t, entries, arch, func(f *cubin.File, k *cubin.Kernel) {
			if kernels++; arch > 100 && kernels%10 != 0 {
				return
			}
			text, err := program.MachineCode(f, k)
			if err != nil {
				t.Fatal(err)
			}
			infos := text.Infos()
			c := code{arch, make([]*isa.Inst, len(infos))}
			for i := range infos {
				c.list[i] = &infos[i]
			}
			mk, err := modern.NewKernel(&cfg, c, core.KernelOptions{})
			if err != nil {
				t.Fatal(err)
			}
			mk.Distances(func(d modern.Distance) {
				first, second := &text.Code[d.Producer], &text.Code[d.At]
				if d.Waits || infos[d.Producer].Guarded && infos[d.At].Guarded && first.Guard != second.Guard {
					return // a wait may take any time; both may never execute
				}
				n++
				if d.Cycles < d.Need {
					if short++; short < 20 {
						t.Errorf("sm_%d, %s: %s at %#x is %d cycles after %s, which needs %d", arch, k.Name, second.Text(), 16*d.At, d.Cycles, first.Text(), d.Need)
					}
				}
				register := map[isa.RegFile]string{isa.RegGPR: "R", isa.RegPred: "P", isa.RegUGPR: "UR", isa.RegUPred: "UP"}[d.Reg.File]
				if d.Guard {
					register = "@" + register
				}
				p := pair{kind(infos[d.Producer].Op), kind(infos[d.At].Op), register}
				x, ok := at[p]
				switch {
				case !ok || d.Cycles < x.cycles:
					x.cycles, x.count = d.Cycles, 1
				case d.Cycles == x.cycles:
					x.count++
				}
				x.pairs++
				at[p] = x
			})
		})
		t.Logf("sm_%d: %d pairs of %d kinds, %d too close", arch, n, len(at), short)
		if n < most {
			t.Errorf("sm_%d: %d pairs; want %d at least", arch, n, most)
		}
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "# The least cycles that NVIDIA's compiler (CUDA 13.1) leaves between two instructions of which the second reads\n# what the first writes, with the number of such places and of all such pairs, in libggml-cuda.so of the npm\n# package @node-llama-cpp/linux-x64-cuda 3.22.1. Written by bench/ggml.\narch\tfirst\tsecond\tregister\tcycles\tplaces\tpairs\n")
	for _, arch := range slices.Sorted(maps.Keys(found)) {
		for _, p := range slices.SortedFunc(maps.Keys(found[arch]), func(a, b pair) int {
			return cmp.Or(strings.Compare(a.first, b.first), strings.Compare(a.second, b.second), strings.Compare(a.register, b.register))
		}) {
			x := found[arch][p]
			fmt.Fprintf(&b, "sm_%d\t%s\t%s\t%s\t%d\t%d\t%d\n", arch, p.first, p.second, p.register, x.cycles, x.count, x.pairs)
		}
	}
	if *update {
		if err := os.WriteFile(distances, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(distances); err != nil || !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s is not what the package has (%v); -update rewrites it", distances, err)
	}
}

// kind is an opcode with the modifiers that its latency depends on.
func kind(op string) string {
	parts := strings.Split(op, ".")
	kept := parts[:1]
	for _, m := range parts[1:] {
		switch {
		case m == "WIDE", strings.HasSuffix(parts[0], "MMA"), parts[0] == "HADD2" && m == "F32", parts[0] == "HFMA2" && m == "MMA", parts[0] == "F2F" && m == "F64":
			kept = append(kept, m)
		}
	}
	return strings.Join(kept, ".")
}

// machineCode calls f for every kernel for an architecture.
func machineCode(t *testing.T, entries []fatbin.Entry, arch int, f func(*cubin.File, *cubin.Kernel)) {
	t.Helper()
	for _, e := range entries {
		if e.Kind != fatbin.Cubin || e.SM != arch {
			continue
		}
		image, err := e.Image()
		if err != nil {
			t.Fatal(err)
		}
		file, err := cubin.Read("image", image)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range file.Kernels {
			f(file, k)
		}
	}
}

// code is the code of a kernel that nobody runs.
type code struct {
	arch int
	list []*isa.Inst
}

func (c code) Code() []*isa.Inst       { return c.list }
func (c code) Traits() exec.Traits     { return exec.Traits{Arch: c.arch} }
func (c code) Name() string            { return "code" }
func (c code) Blocks() uint64          { return 1 }
func (c code) Threads() int            { return 32 }
func (c code) Registers() int          { return 16 }
func (c code) Shared() int             { return 0 }
func (c code) Block(uint64) exec.Block { return nil }
