package ggml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/program/agreetest"
)

// modules are the PTX and the machine code of every step-th module of a library, in the order
// of the modules' names.
func modules(t *testing.T, entries []fatbin.Entry, sm, step int) (list [][2][]byte) {
	t.Helper()
	var code, text []fatbin.Entry
	for _, e := range entries {
		switch {
		case e.Kind == fatbin.Cubin && e.SM == sm:
			code = append(code, e)
		case e.Kind == fatbin.PTX && e.SM == 80:
			text = append(text, e)
		}
	}
	if len(code) != len(text) {
		t.Fatalf("%d modules have machine code, %d have PTX", len(code), len(text))
	}
	for i := 0; i < len(code); i += step {
		p, err := text[i].Text()
		if err != nil {
			t.Fatal(err)
		}
		c, err := code[i].Image()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, [2][]byte{p, c})
	}
	return list
}

// Some kernels' parameters have to fit together. draws returns those for a kernel, from the numbers
// of its template; the parameters' names are in ggml's sources.
func draws(name string) []agreetest.Draw {
	name, list, _ := strings.Cut(name, "<")
	var n []uint64
	for s := range strings.SplitSeq(strings.TrimSuffix(list, ">"), ", ") {
		v, _ := strconv.ParseUint(strings.TrimPrefix(s, "(ggml_type)"), 10, 64)
		n = append(n, v)
	}
	one := []agreetest.Draw{{Name: "fitting", Ints: []uint64{1}, Grid: exec.Dim3{X: 3, Y: 1, Z: 1}}}
	set := func(from int, values ...uint64) {
		if one[0].Set == nil {
			one[0].Set = map[int]uint64{}
		}
		for i, v := range values {
			one[0].Set[from+i] = v
		}
	}
	switch name {
	case "flash_attn_ext_f16": // query, key, value and mask of 5 queries, 512 keys and two heads of the keys
		dk, dv, group, keys := n[0], n[1], n[3], uint64(512)
		heads := 2 * group
		set(5, 0)                                                               // KV_max
		set(14, dk, 5, heads, 1, 4*dk*heads, 4*dk, 4*dk*heads*5)                // ne00 to nb03
		set(21, dk, keys, 2, 1, 2*dk, 2*dk*keys, 4*dk*keys)                     // ne10 to nb13
		set(28, 2*dv, 2*dv*keys, 4*dv*keys, 16, 1, 1, 2*keys, 32*keys, 32*keys) // nb21 to nb33
	case "mul_mat_q":
		columns := n[1]
		set(2, 0, 0)                                                                // ids_dst, expert_bounds
		set(7, 16, 100, columns, 16, columns, 128, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) // blocks_per_ne00 to ntx
	case "mul_mat_q_stream_k_fixup":
		set(0, 0, 0)                                 // ids_dst, expert_bounds
		set(4, 64, 32, n[1], 32, 1, 128, 2, 4096, 1) // blocks_per_ne00 to ntx
	case "flash_attn_stream_k_fixup_general":
		one[0].Grid = exec.Dim3{X: 3, Y: uint32(n[1]), Z: uint32(n[2])}
		set(2, 2*n[1], n[2], n[2], 32, 32, 32, 32, 16) // ne01 to fd_iter_k
	case "mul_mat_f":
		if !strings.HasSuffix(list, "true>") {
			return agreetest.Draws
		}
		one = slices.Clone(agreetest.Draws) // with ids: a token chooses each expert once
		for i := range one {
			one[i].Set = map[int]uint64{6: 1}
		}
	case "mul_mat_f_ids": // columns go to places of their own; an expert without any has nothing to do
		one = slices.Repeat(agreetest.Draws[:1], 6)
		for i := range one {
			one[i].Distinct = []int{3} // ids_dst
		}
	default:
		return agreetest.Draws
	}
	return one
}

// tally counts kernels whose two forms leave the same in memory.
type tally struct{ equal, free, trapped int }

func (c *tally) all() int { return c.equal + c.free + c.trapped }

func (c *tally) String() string {
	return fmt.Sprintf("%d equal, %d equal to the PTX with contraction and div.approx written out, %d that only trap", c.equal, c.free, c.trapped)
}

// kernel launches a kernel in both forms.
func (c *tally) kernel(t *testing.T, pair *agreetest.Pair, k exec.Kernel) {
	t.Helper()
	name := strings.TrimPrefix(demangle.Filter(k.Name(), demangle.NoParams), "void ")
	o := pair.Agree(t, k, draws(name))
	switch {
	case len(o.Different) > 0:
		t.Errorf("%s: %s", name, strings.Join(o.Different, "; "))
	case o.Free > 0:
		c.free++
	case o.Equal > 0:
		c.equal++
	case o.Trapped > 0 && len(o.Incomparable) == 0:
		c.trapped++
	default:
		t.Logf("%s: not comparable: %s", name, strings.Join(o.Incomparable, "; "))
	}
}

// TestPackageAgrees launches the kernels of ten modules by their PTX and by what NVIDIA's compiler
// made of it for sm_86: memory is the same afterwards, bit for bit, once what PTX leaves to the
// compiler is written out.
func TestPackageAgrees(t *testing.T) {
	all := 0
	var agree tally
	for n, m := range modules(t, library(t), 86, 14)[:10] {
		t.Run(fmt.Sprintf("module %d", 14*n), func(t *testing.T) {
			pair := agreetest.New(t, program.Source{Name: "module.ptx", Text: m[0]}, program.Source{Name: "module.cubin", Text: m[1]})
			for _, k := range pair.Kernels() {
				all++
				agree.kernel(t, pair, k)
			}
		})
	}
	t.Logf("%d kernels: %v", all, &agree)
	if all < 400 || float64(agree.all()) < 0.95*float64(all) {
		t.Errorf("of %d kernels only %d agree", all, agree.all())
	}
}
