package checkers_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/races"
	"github.com/heddle-sim/heddle/internal/check/sync"
	"github.com/heddle-sim/heddle/internal/check/unset"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	machine "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// machineHead begins each kernel: R0 is the thread, R1 the block, R2 the block's first thread's
// number in the grid plus R0, R8 and R9 the address of word R2 of memory that is set, R10 and R11 of
// its first word, R12 and R13 of a word beyond all threads'.
const machineHead = `.arch sm_86
.kernel k
.param out, 8
.param bare, 8
.regs 40
.shared 2048
.local 64
S2R R0, SR_TID.X ;
S2R R1, SR_CTAID.X ;
MOV R3, c[0x0][0x0] ;
IMAD R2, R1, R3, R0 ;
MOV R3, 0x4 ;
IMAD.WIDE.U32 R8, R2, R3, c[0x0][0x160] ;
MOV R10, c[0x0][0x160] ;
MOV R11, c[0x0][0x164] ;
IADD3 R12, R10, 0x400, RZ ;
MOV R13, R11 ;
IMAD.WIDE.U32 R14, R2, R3, c[0x0][0x168] ;
`

// machineCase is a kernel with or without an error. A line of the text that ends with "// RULE" must
// be a place of a finding of that rule; nothing else may be found but notes.
type machineCase struct {
	name        string
	grid, block uint32
	text        string
}

var machineLabel = regexp.MustCompile(`// ([a-z-]+)$`)

// run runs the kernel on some threads of the host, and returns the findings, and how it ended.
func (c *machineCase) run(t *testing.T, threads int) ([]*check.Finding, error) {
	t.Helper()
	f, err := sass.Parse("k.sass", machineHead+c.text+"\nEXIT ;\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	k := machine.Load(f).Kernels()[0]
	if bad := k.Unusable(); len(bad) > 0 {
		t.Fatal(bad)
	}
	mem := device.New(device.Config{})
	set := check.NewSet()
	set.Add(races.Name, races.New())
	set.Add(sync.Name, sync.New())
	set.Add(unset.Name, unset.New(false))
	var params []byte
	for i := range 2 {
		at, err := mem.Alloc(4096, "memory")
		if err != nil {
			t.Fatal(err)
		}
		for b := range 8 {
			params = append(params, byte(at>>(8*b)))
		}
		set.Host(&check.HostEvent{Kind: check.HostAlloc, Addr: at, Bytes: 4096, Set: i == 0})
	}
	l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: c.grid, Y: 1, Z: 1}, Block: exec.Dim3{X: c.block, Y: 1, Z: 1}, Params: params, Probe: set.Launch(0, 0, nil)}
	_, err = machine.NewMachine(mem).Run(t.Context(), l, exec.Options{Threads: threads, MaxInsts: 1 << 20})
	if err != nil {
		set.Failed(0, err)
	}
	for _, name := range set.Names() {
		if set.Blind(name, 0) {
			t.Errorf("%s saw nothing", name)
		}
	}
	return set.Findings(), err
}

// judge holds findings against the labels.
func (c *machineCase) judge(t *testing.T, all []*check.Finding) {
	t.Helper()
	first := strings.Count(machineHead, "\n") + 1
	rules := map[string]bool{}
	for i, line := range strings.Split(c.text, "\n") {
		m := machineLabel.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rules[m[1]] = true
		at := func(s check.Step) bool { return s.Place.Line == first+i }
		if !slices.ContainsFunc(all, func(f *check.Finding) bool { return f.Rule.ID == m[1] && slices.ContainsFunc(f.Steps, at) }) {
			t.Errorf("no %s at %q", m[1], line)
		}
	}
	for _, f := range all {
		if f.Level > check.Note && !rules[f.Rule.ID] || t.Failed() {
			s := fmt.Sprintf("%v: %s [%s] %s", f.Level, f.Message, f.Rule.ID, f.Cause)
			for _, x := range f.Steps {
				s += fmt.Sprintf("\n  %s: %s", x.Text, x.Place.Inst)
			}
			t.Error(s)
		}
	}
}

// TestMachineCode checks labelled kernels in machine code, each error beside its mended twin.
func TestMachineCode(t *testing.T) {
	for _, c := range machineCases {
		t.Run(c.name, func(t *testing.T) {
			all, err := c.run(t, 1)
			if stuck := (*exec.StuckError)(nil); err != nil && !errors.As(err, &stuck) {
				t.Fatal(err)
			}
			c.judge(t, all)
			if other, _ := c.run(t, 3); !reflect.DeepEqual(all, other) {
				t.Error("on three threads something else is found")
			}
		})
	}
}

// TestMachineMixtures: checkers take any order of instructions, and the findings do not depend on threads
// of the host.
func TestMachineMixtures(t *testing.T) {
	var lines []string
	for _, c := range machineCases {
		for _, l := range strings.Split(c.text, "\n") {
			if !strings.Contains(l, ":") && !strings.Contains(l, "BRA") && !strings.Contains(l, "BSSY") {
				lines = append(lines, l)
			}
		}
	}
	r := rand.New(rand.NewPCG(2026, 11))
	for n := range 200 {
		c := machineCase{grid: 2, block: 64}
		for range 12 {
			c.text += lines[r.IntN(len(lines))] + "\n"
		}
		all, err := c.run(t, 1)
		if other, again := c.run(t, 3); !reflect.DeepEqual(all, other) || fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("mixture %d: on three threads something else is found:\n%s", n, c.text)
		}
	}
}
