package modern

import (
	"math/rand/v2"
	"reflect"
	"sort"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// numbers calls f for every whole number of a configuration, by its path.
func numbers(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Int, reflect.Uint8:
		f(path, v)
	case reflect.Struct:
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() && t.Type != reflect.TypeFor[cache.Config]() {
				numbers(v.Field(i), path+"."+t.Name, f)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			numbers(v.Index(i), path+"["+string(rune('0'+i%10))+"]", f)
		}
	}
}

// Every configuration that Check accepts runs to the end: each setting at its smallest
// and its largest value, the others unchanged.
func TestBoundsRun(t *testing.T) {
	set := func(v reflect.Value, n int) {
		if v.Kind() == reflect.Uint8 {
			v.SetUint(uint64(n))
		} else {
			v.SetInt(int64(n))
		}
	}
	tried := 0
	base := Ampere()
	paths := 0
	numbers(reflect.ValueOf(&base).Elem(), "", func(string, reflect.Value) { paths++ })
	for k := 0; k < paths; k += alltests.Count(4, 1) {
		for _, up := range []bool{false, true} {
			cfg := Ampere()
			name, n := "", 0
			i := 0
			numbers(reflect.ValueOf(&cfg).Elem(), "", func(path string, v reflect.Value) {
				if i++; i-1 != k {
					return
				}
				name = path
				most := 1 << 16
				if v.Kind() == reflect.Uint8 {
					most = 255
				}
				was := int(0)
				if v.Kind() == reflect.Int {
					was = int(v.Int())
				} else {
					was = int(v.Uint())
				}
				// The accepted values are an interval that contains the current value.
				refused := func(x int) bool { set(v, x); return cfg.Check() != nil }
				if n = was - sort.Search(was, func(less int) bool { return refused(was - less - 1) }); up {
					n = was + sort.Search(most-was, func(more int) bool { return refused(was + more + 1) })
				}
				set(v, n)
			})
			if cfg.Check() != nil {
				continue // a class that this GPU does not have
			}
			for seed := range uint64(2) {
				p := wild(rand.New(rand.NewPCG(seed, 11)))
				tex := ld(isa.Texture, 32, 8, 2).wr(0).stall(2)
				tex.Op, tex.Class = "TEX", isa.ClassTexture
				hmma := mk("HMMA.16816.F16", isa.ClassTensor, 40, 8, 12, 40).does(func(a []float64) float64 { return a[2] })
				hmma.Tensor = &isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 16}
				more := []*inst{tex, hmma, mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0)), mk("UIADD3", isa.ClassUniform, -1).to(reg(isa.RegUGPR, 4)),
					mk("POPC", isa.ClassIntSlow, 9, 8).does(func(a []float64) float64 { return 0 }).wr(1).stall(2), nop().wait(3)}
				code := append(p.code[:len(p.code)-1:len(p.code)-1], more...)
				q := prog(append(code, exit())...)
				q.warps, q.smem, q.blocks = p.warps, p.smem, p.blocks
				g := newRig(t, cfg)
				if _, err := NewKernel(g.core.Config(), q, core.KernelOptions{}); err != nil {
					continue // the SM is too small for a block
				}
				g.once = true
				t.Logf("%s = %d", name, n) // shows which, if it does not end
				g.run(q, 2_000_000)
				tried++
			}
		}
	}
	if tried < alltests.Count(75, 300) {
		t.Errorf("only %d runs", tried)
	}
}
