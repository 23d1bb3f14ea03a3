package sass

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// reassemble checks a decoded word against its own text.
func reassemble(t rapid.TB, arch Arch, w word128, addr uint32) bool {
	t.Helper()
	in, err := decodeBody(arch, w, addr)
	if err != nil {
		return false
	}
	w = w.and(controlMask.not()) // not part of the instruction's own text
	got, err := Assemble(arch, in.Text(), addr)
	if err != nil {
		t.Fatalf("%s %016x %016x %s: %v", arch, w[0], w[1], in.Text(), err)
	}
	if got != w {
		t.Fatalf("%s %s: %016x %016x, want %016x %016x", arch, in.Text(), got[0], got[1], w[0], w[1])
	}
	return true
}

// fields are the places of all variable parts of a row.
func (r *row) fields() []span {
	list := []span{guardSpan, {{guardNot, guardNot}}}
	var operand func(f *operandField)
	operand = func(f *operandField) {
		if f == nil {
			return
		}
		if f.at != nil {
			list = append(list, f.at)
		}
		for _, n := range []int{f.neg, f.abs, f.inv, f.not, f.reuse} {
			if n >= 0 {
				list = append(list, span{{n, n}})
			}
		}
		if f.suffAt != nil {
			list = append(list, f.suffAt)
		}
		switch f.kind {
		case fConst:
			list = append(list, constBank, constWord)
		case fCX:
			list = append(list, cxReg, constWord)
		case fLDC:
			list = append(list, constBank, ldcBytes, ldcReg)
		case fULDC:
			list = append(list, constBank, ldcBytes)
		case fLDCU:
			list = append(list, constBank, ldcuBytes)
		}
		for _, p := range []*operandField{f.base, f.ureg, f.offset, f.desc} {
			operand(p)
		}
	}
	for i := range r.mods {
		if r.mods[i].at != nil {
			list = append(list, r.mods[i].at)
		}
	}
	for i := range r.operands {
		operand(&r.operands[i])
	}
	return list
}

// TestRows draws the fields of every row: decoded instructions assemble to the same
// word, and every row decodes some word.
func TestRows(t *testing.T) {
	for _, arch := range alltests.Some([]Arch{86, 75, 120}, 1) { // sm_80 has the rows of sm_86
		for _, r := range tableOf(arch).rows {
			fields := r.fields()
			worked := 0
			rapid.Check(t, func(t *rapid.T) {
				w := r.value
				for _, f := range fields {
					// Zero and all ones mean something in most fields.
					v := rapid.OneOf(rapid.Uint64(), rapid.Just(uint64(0)), rapid.Just(^uint64(0)), rapid.Uint64Range(0, 8)).Draw(t, "field")
					f.set(&w, v)
				}
				w = w.and(r.mask.not()).or(r.value)
				if reassemble(t, arch, w, 0x100) {
					worked++
				}
			})
			if worked == 0 {
				// Fields whose values are mostly unused would need more draws than the check
				// makes.
				rng := rand.New(rand.NewPCG(1, 2))
				for range 200_000 {
					w := r.value
					for _, f := range fields {
						f.set(&w, rng.Uint64()&rng.Uint64())
					}
					w = w.and(r.mask.not()).or(r.value)
					if r.decodes(w) {
						worked++
						reassemble(t, arch, w, 0x100)
						break
					}
				}
			}
			if worked == 0 {
				t.Errorf("%s: nothing decodes as %s", arch, r.src)
			}
		}
	}
}

func (r *row) decodes(w word128) bool {
	_, problem := r.decode(w, 0x100)
	return problem == ""
}

// TestRandomWords: any 128 bits are an instruction that assembles to them again, or are
// rejected.
func TestRandomWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, arch := range assembled {
		rows := tableOf(arch).rows
		decoded := 0
		for range 30_000 {
			w := word128{rng.Uint64(), rng.Uint64()}
			if rng.IntN(4) > 0 { // otherwise hardly any opcode is hit
				opcodeSpan.set(&w, opcodeSpan.get(rows[rng.IntN(len(rows))].value))
				w[1] &= rng.Uint64() & rng.Uint64()
			}
			if reassemble(t, arch, w.and(controlMask.not()), 0) {
				decoded++
			}
		}
		if decoded == 0 {
			t.Errorf("%s: none of the words was an instruction", arch)
		}
	}
}

// TestTables reads all tables; an error in one is a bug in this package.
func TestTables(t *testing.T) {
	for arch := range archTables {
		tab, err := buildTable(arch)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range tab.rows {
			if len(r.operands) > 0 && strings.TrimSpace(r.usage()) == "" {
				t.Errorf("%s: %s has no usage", arch, r.src)
			}
			if r.value.and(r.mask) != r.value {
				t.Errorf("%s: fixed bits outside their mask: %s", arch, r.src)
			}
		}
	}
	for op := NoOp + 1; op < Ops; op++ {
		if o, ok := opsByName[op.String()]; !ok || o != op {
			t.Errorf("%d: %s", op, op)
		}
	}
}
