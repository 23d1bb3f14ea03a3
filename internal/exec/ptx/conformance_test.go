package ptx_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// conformance is the folder of cases with known outputs; its NOTICE says where
// they come from.
const conformance = "../../isa/ptx/testdata/conformance"

type values struct {
	Type  string
	Count int
	Hex   string
}

type conformanceCase struct {
	Name, PTX, Entry, Check string
	Grid, Block             [3]uint32
	Shared                  int `json:"dynamic_shared_bytes"`
	Args                    []string
	Input, Expected         *values
	Prefill                 string `json:"out_prefill"`
}

// TestConformance runs every case: the output must be what the case says, bit
// for bit, except that float zeros of either sign are equal.
func TestConformance(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(conformance, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []conformanceCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 116 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(conformance, c.PTX))
			if err != nil {
				t.Fatal(err)
			}
			mod, err := ptx.Parse(c.PTX, src)
			if err != nil {
				t.Fatal(err)
			}
			if c.Check == "parse-only" {
				return
			}
			p, err := xptx.Link(mod)
			if err != nil {
				t.Fatal(err)
			}
			k, ok := p.Kernel(c.Entry)
			if !ok {
				t.Fatalf("no kernel %s", c.Entry)
			}
			if bad := k.Unusable(); len(bad) > 0 {
				if c.Check == "compile-only" && strings.Contains(bad[0].Error(), "no definition") {
					return // an external function without a body compiles, but cannot run
				}
				t.Fatal(bad[0])
			}
			if c.Check == "compile-only" {
				return
			}
			t.Run("run", func(t *testing.T) {
				runCase(t, p, k, c, func(m *xptx.Machine, l xptx.Launch) error {
					_, err := m.Run(context.Background(), l, xptx.Options{MaxInsts: 1 << 20})
					return err
				})
			})
			// The same through the contract with the timing models, one
			// instruction of each warp in turn.
			t.Run("step", func(t *testing.T) { runCase(t, p, k, c, stepAll) })
		})
	}
}

// stepAll runs a launch as a core model would: it looks at each warp's next
// instruction and steps it.
func stepAll(m *xptx.Machine, l xptx.Launch) error {
	w, err := m.NewWork(l, nil)
	if err != nil {
		return err
	}
	for n := range w.Blocks() {
		b := w.Block(n)
		var e exec.Effects
		for left := b.Warps(); left > 0; {
			left = b.Warps()
			moved := false
			for i := range b.Warps() {
				wp := b.Warp(i)
				inst, active, _, st := wp.Next()
				if st == exec.Done {
					left--
				}
				if st != exec.Ready {
					continue
				}
				if err := xptx.StepPrivately(wp, &e); err != nil {
					return err
				}
				if e.Inst != inst || e.Active != active || e.Lanes&^active != 0 {
					return fmt.Errorf("step did %+v, next had said %s for lanes %#x", e, inst.Op, active)
				}
				moved = true
			}
			if left > 0 && !moved && !b.Unblock() {
				return errors.New("stuck")
			}
		}
		b.Release()
	}
	return nil
}

func runCase(t *testing.T, p *xptx.Program, k *xptx.Kernel, c conformanceCase, run func(*xptx.Machine, xptx.Launch) error) {
	t.Helper()
	mem := device.New(device.Config{})
	m, err := xptx.NewMachine(p, mem)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(c.Expected.Hex)
	if err != nil {
		t.Fatal(err)
	}
	out, err := mem.Alloc(uint64(len(want)), "out")
	if err != nil {
		t.Fatal(err)
	}
	if c.Prefill != "0x00" {
		fill, err := hex.DecodeString(strings.TrimPrefix(c.Prefill, "0x"))
		if err != nil || len(fill) != 1 {
			t.Fatalf("prefill %q", c.Prefill)
		}
		if err := mem.Write(out, []byte(strings.Repeat(string(fill), len(want)))); err != nil {
			t.Fatal(err)
		}
	}
	var in uint64
	if c.Input != nil {
		data, err := hex.DecodeString(c.Input.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if in, err = mem.Alloc(uint64(len(data)), "in"); err != nil {
			t.Fatal(err)
		}
		if err := mem.Write(in, data); err != nil {
			t.Fatal(err)
		}
	}
	params := make([]byte, k.ParamBytes())
	for i, a := range c.Args[:len(k.Params())] {
		v := out
		if a == "in" {
			v = in
		}
		binary.LittleEndian.PutUint64(params[k.Params()[i].Offset:], v)
	}
	dim := func(d [3]uint32) exec.Dim3 { return exec.Dim3{X: d[0], Y: d[1], Z: d[2]} }
	l := xptx.Launch{Kernel: k, Grid: dim(c.Grid), Block: dim(c.Block), Shared: c.Shared, Params: params}
	if err := run(m, l); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if err := mem.Read(out, got); err != nil {
		t.Fatal(err)
	}
	size := len(want) / c.Expected.Count
	for i := range c.Expected.Count {
		g, w := got[i*size:(i+1)*size], want[i*size:(i+1)*size]
		if string(g) != string(w) && !bothZero(c.Expected.Type, g, w) {
			t.Errorf("element %d of %s: got %x, want %x", i, c.Expected.Type, g, w)
		}
	}
}

func bothZero(typ string, a, b []byte) bool {
	switch typ {
	case "f16":
		return (binary.LittleEndian.Uint16(a)|binary.LittleEndian.Uint16(b))&0x7fff == 0
	case "f32":
		return math.Float32frombits(binary.LittleEndian.Uint32(a)) == 0 && math.Float32frombits(binary.LittleEndian.Uint32(b)) == 0
	case "f64":
		return math.Float64frombits(binary.LittleEndian.Uint64(a)) == 0 && math.Float64frombits(binary.LittleEndian.Uint64(b)) == 0
	}
	return false
}
