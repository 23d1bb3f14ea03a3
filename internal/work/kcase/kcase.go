// Package kcase reads recorded runs of the Kepler-style core, runs them on the
// model, and compares everything that was recorded.
package kcase

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Format is the format name of a recorded case.
const Format = "heddle-kepler-case/1"

// DefaultMaxCycles is the limit for a case without one.
const DefaultMaxCycles = 1_000_000

// maxStart limits the cycles before the warps start, in which nothing happens. Our
// choice.
const maxStart = 1_000_000

// Case is a recorded run: the host's setup and the hardware's behaviour.
type Case struct {
	Format   string
	Name     string
	Programs []Program
	Regs     [][4]int64 // warp, register, lane or -1 for all, value
	Mem      [][2]int64 // byte address, word
	Shared   [][2]int64
	Warps    []Warp

	StartCycle uint64 `json:"start_cycle"`
	ExitOthers int    `json:"exit_others"` // 1: the host set other warps to exited instead of idle, which has no effect
	MaxCycles  uint64 `json:"max_cycles"`

	RTL Recorded `json:"rtl"`
}

// Program is a program and the warps that run it.
type Program struct {
	Warps   []int
	Asm     string // the text, or
	AsmFile string `json:"asm_file"` // the file that holds it
}

// Warp is a warp as the host starts it.
type Warp struct {
	Warp int
	PC   uint32
	Mask Hex
}

// Hex is a 32-bit number in hexadecimal.
type Hex uint32

// UnmarshalJSON reads the digits.
func (h *Hex) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errors.New("expected hexadecimal digits in quotes")
	}
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return fmt.Errorf("%q is not a hexadecimal number of 32 bits", s)
	}
	*h = Hex(v)
	return nil
}

// Lanes is one value for each lane; a single one applies to all.
type Lanes [kasm.Lanes]Hex

// UnmarshalJSON reads one value or 32.
func (l *Lanes) UnmarshalJSON(b []byte) error {
	var one Hex
	if err := json.Unmarshal(b, &one); err == nil {
		for i := range l {
			l[i] = one
		}
		return nil
	}
	var all []Hex
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	if len(all) != len(l) {
		return fmt.Errorf("expected one value or %d, found %d", len(l), len(all))
	}
	copy(l[:], all)
	return nil
}

// Word is a byte address and its word.
type Word struct {
	Addr uint32
	V    Hex
}

// UnmarshalJSON reads the pair.
func (w *Word) UnmarshalJSON(b []byte) error { return pair(b, &w.Addr, &w.V) }

func pair(b []byte, to ...any) error {
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) != len(to) {
		return fmt.Errorf("expected a list of %d, found %d", len(to), len(list))
	}
	for i := range to {
		if err := json.Unmarshal(list[i], to[i]); err != nil {
			return err
		}
	}
	return nil
}

// Row is a row of the fetch trace.
type Row struct {
	Cycle          uint64
	Warp, PC, Slot int
	Op             Hex
}

// UnmarshalJSON reads the list.
func (r *Row) UnmarshalJSON(b []byte) error {
	return pair(b, &r.Cycle, &r.Warp, &r.PC, &r.Slot, &r.Op)
}

// Recorded is the hardware's behaviour. Fields that a case omits are not compared.
type Recorded struct {
	ExitCycle map[string]int64 `json:"exit_cycle"` // by warp; -1: it never exits
	DoneCycle *int64           `json:"done_cycle"` // -1: it is never done
	Dual      *uint64          `json:"dual_issue_cycles"`
	Single    *uint64          `json:"single_issue_cycles"`
	Regs      *[]RegValue
	Preds     *[]PredValue
	Mem       *[]Word
	Shared    *[]Word
	Trace     []Row
	Trace400  []Row           `json:"trace_first_400"`
	TraceRows *int            `json:"trace_rows"`
	Final     map[string]Rest // by warp
}

// RegValue is a nonzero register.
type RegValue struct {
	Warp, Reg int
	Lanes     Lanes
}

// PredValue is a predicate that holds in some lane.
type PredValue struct {
	Warp, Pred int
	Mask       Hex
}

// Rest is the final state of a warp: decimal numbers and a mask.
type Rest struct {
	State, PC, Stack, Ret string
	Mask                  Hex
}

// Parse reads a case.
func Parse(text []byte) (*Case, error) {
	c := new(Case)
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(c); err != nil {
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")), err)
		case errors.As(err, &kind):
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(kind.Offset), len(text))], []byte("\n")), err)
		}
		return nil, err
	}
	if c.Format != Format {
		return nil, fmt.Errorf("the format is %q; want %q", c.Format, Format)
	}
	return c, nil
}

// Assembled is a case's programs.
type Assembled []*kasm.Program

// Assemble assembles the programs; read returns the text of a file of the case, and name
// is the name of the case in messages.
func (c *Case) Assemble(name string, read func(file string) (string, error)) (Assembled, error) {
	var list Assembled
	for i, p := range c.Programs {
		file, text := fmt.Sprintf("%s: program %d", name, i), p.Asm
		if p.AsmFile != "" {
			var err error
			file = p.AsmFile
			if text, err = read(p.AsmFile); err != nil {
				return nil, err
			}
		}
		prog, err := kasm.Assemble(file, text, kasm.RTL)
		if err != nil {
			return nil, err
		}
		list = append(list, prog)
	}
	return list, nil
}

// Core returns a core with the host's setup.
func (c *Case) Core(cfg kepler.Config, progs Assembled) (*kepler.Core, error) {
	if most := min(c.Limit(), maxStart); c.StartCycle > most {
		return nil, fmt.Errorf("start_cycle is %d; the maximum for this case is %d", c.StartCycle, most)
	}
	k := kepler.New(cfg)
	for i, p := range c.Programs {
		if err := k.Load(progs[i].Words, p.Warps...); err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
	}
	for _, r := range c.Regs {
		if err := k.SetRegister(int(r[0]), int(r[1]), int(r[2]), uint32(r[3])); err != nil {
			return nil, fmt.Errorf("regs: %v: %w", r, err)
		}
	}
	for _, m := range c.Mem {
		k.SetMemory(uint32(m[0]), uint32(m[1]))
	}
	for _, m := range c.Shared {
		if err := k.SetShared(int(m[0]), uint32(m[1])); err != nil {
			return nil, fmt.Errorf("shared: %v: %w", m, err)
		}
	}
	for k.Cycle() < c.StartCycle && c.StartCycle >= kepler.FirstFetch {
		k.Step()
	}
	for _, w := range c.Warps {
		if err := k.Start(w.Warp, w.PC, uint32(w.Mask)); err != nil {
			return nil, fmt.Errorf("warps: %d: %w", w.Warp, err)
		}
	}
	return k, nil
}

// Limit returns the cycle at which to stop.
func (c *Case) Limit() uint64 {
	if c.MaxCycles > 0 {
		return c.MaxCycles
	}
	return DefaultMaxCycles
}

// Diff is a difference between a run and its recording.
type Diff struct {
	What      string
	Got, Want string
}

func (d Diff) String() string { return fmt.Sprintf("%s: %s, recorded %s", d.What, d.Got, d.Want) }

// Compare returns every difference between a core that has run the case, with its trace
// kept, and the recording, and the number of compared values.
func (c *Case) Compare(k *kepler.Core) (diffs []Diff, compared int) {
	check := func(what string, got, want any) {
		compared++
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			diffs = append(diffs, Diff{what, g, w})
		}
	}
	hex := func(v uint32) string { return fmt.Sprintf("%08x", v) }
	r := &c.RTL
	for _, w := range keys(r.ExitCycle) {
		if w >= kepler.Warps {
			continue
		}
		check(fmt.Sprintf("exit cycle of warp %d", w), when(int64(k.ExitCycle(w))), when(r.ExitCycle[strconv.Itoa(w)]))
	}
	if r.DoneCycle != nil {
		done := "never"
		if k.Done() {
			done = when(int64(k.DoneCycle()))
		}
		check("done cycle", done, when(*r.DoneCycle))
	}
	s := k.Stats()
	if r.Dual != nil {
		check("dual-issue cycles", s.DualIssues, *r.Dual)
	}
	if r.Single != nil {
		check("single-issue cycles", s.SingleIssues, *r.Single)
	}
	for _, w := range keys(r.Final) {
		f := r.Final[strconv.Itoa(w)]
		if w >= kepler.Warps {
			continue
		}
		what := fmt.Sprintf(" of warp %d", w)
		if f.State != "" {
			check("state"+what, uint8(k.Status(w)), f.State)
		}
		check("pc"+what, k.PC(w), f.PC)
		check("mask"+what, hex(k.Mask(w)), hex(uint32(f.Mask)))
		check("divergence stack"+what, k.StackTop(w), f.Stack)
		check("call stack"+what, k.CallTop(w), f.Ret)
	}
	c.compareRegisters(k, check)
	c.compareMemory(k, check)

	trace, got := r.Trace, k.Fetches()
	if len(trace) == 0 {
		trace = r.Trace400
	}
	if r.TraceRows != nil {
		check("rows of the fetch trace", len(got), *r.TraceRows)
	}
	for i, w := range trace {
		want := fmt.Sprintf("cycle %d, warp %d, pc %d, slot %d, %v", w.Cycle, w.Warp, w.PC, w.Slot, kasm.Op(w.Op))
		have := "nothing"
		if i < len(got) {
			g := got[i]
			have = fmt.Sprintf("cycle %d, warp %d, pc %d, slot %d, %v", g.Cycle, g.Warp, g.PC, g.Slot, g.Op)
		}
		check(fmt.Sprintf("fetch %d", i), have, want)
	}
	return diffs, compared
}

// when formats a cycle; 0 and less mean never.
func when(cycle int64) string {
	if cycle <= 0 {
		return "never"
	}
	return fmt.Sprint(cycle)
}

// compareRegisters compares the registers and predicates of the started warps. A register
// that is not recorded was zero at the end, unless no instruction names it; then it still
// has the host's value.
func (c *Case) compareRegisters(k *kepler.Core, check func(string, any, any)) {
	if c.RTL.Regs != nil {
		want := map[[2]int]Lanes{}
		for _, r := range c.Regs {
			for l := range kasm.Lanes {
				if r[2] < 0 || int(r[2]) == l {
					v := want[[2]int{int(r[0]), int(r[1])}]
					v[l] = Hex(r[3])
					want[[2]int{int(r[0]), int(r[1])}] = v
				}
			}
		}
		initial := want
		want = map[[2]int]Lanes{}
		for _, v := range *c.RTL.Regs {
			want[[2]int{v.Warp, v.Reg}] = v.Lanes
		}
		for _, w := range c.Warps {
			for reg := range kasm.Registers {
				at := [2]int{w.Warp, reg}
				got := k.Register(w.Warp, reg)
				lanes, recorded := want[at]
				if !recorded && !c.names(k, w.Warp, reg) {
					lanes = initial[at]
				}
				for l := range got {
					check(fmt.Sprintf("warp %d R%d lane %d", w.Warp, reg, l), Hex(got[l]), lanes[l])
				}
			}
		}
	}
	if c.RTL.Preds != nil {
		want := map[[2]int]Hex{}
		for _, v := range *c.RTL.Preds {
			want[[2]int{v.Warp, v.Pred}] = v.Mask
		}
		for _, w := range c.Warps {
			for p := range kasm.Predicates {
				check(fmt.Sprintf("warp %d P%d", w.Warp, p), Hex(k.Predicate(w.Warp, p)), want[[2]int{w.Warp, p}])
			}
		}
	}
}

// names reports whether a program of the warp names a register.
func (c *Case) names(k *kepler.Core, warp, reg int) bool {
	return reg == 0 || k.Names(warp, reg)
}

func (h Hex) String() string { return fmt.Sprintf("%08x", uint32(h)) }

// compareMemory compares both memories: words that are not recorded are zero.
func (c *Case) compareMemory(k *kepler.Core, check func(string, any, any)) {
	if c.RTL.Mem != nil {
		want := map[uint32]Hex{}
		for _, w := range *c.RTL.Mem {
			want[w.Addr] = w.V
		}
		k.Words(func(addr, v uint32) {
			if _, ok := want[addr]; !ok {
				want[addr] = 0
			}
		})
		for _, addr := range sorted(want) {
			check(fmt.Sprintf("memory at %#x", addr), Hex(k.Memory(addr)), want[addr])
		}
	}
	if c.RTL.Shared != nil {
		want := map[uint32]Hex{}
		for _, w := range *c.RTL.Shared {
			want[w.Addr/4] = w.V
		}
		for i := range kepler.SharedBytes / 4 {
			check(fmt.Sprintf("shared memory at %#x", i*4), Hex(k.Shared(i)), want[uint32(i)])
		}
	}
}

func sorted(m map[uint32]Hex) []uint32 {
	var list []uint32
	for a := range m {
		list = append(list, a)
	}
	slices.Sort(list)
	return list
}

// keys returns the warps that are keys of a map, sorted.
func keys[V any](m map[string]V) []int {
	var list []int
	for s := range m {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n >= 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}
