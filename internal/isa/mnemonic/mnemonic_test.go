package mnemonic

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

func table(t testing.TB, arch int) *Table {
	t.Helper()
	x, err := New(arch, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// pair is an encoded instruction with its disassembly (isa/sass/testdata).
type pair struct {
	words [2]uint64
	text  string
}

func pairs(t *testing.T, arch string) []pair {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "sass", "testdata", "pairs."+arch+".tsv.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var list []pair
	for s := bufio.NewScanner(z); s.Scan(); {
		cols := strings.Split(s.Text(), "\t")
		if len(cols) != 3 || len(cols[1]) != 32 {
			continue
		}
		hi, err1 := strconv.ParseUint(cols[1][:16], 16, 64)
		lo, err2 := strconv.ParseUint(cols[1][16:], 16, 64)
		if err1 == nil && err2 == nil {
			list = append(list, pair{[2]uint64{lo, hi}, cols[2]})
		}
	}
	return list
}

// open are mnemonics that do not determine the width of a source: the answer is the wider one.
// The last operand of IMAD.WIDE may be a constant, and an address beside a uniform register has
// 32 or 64 bits.
var open = strings.Fields("IMAD LDG STG LD ST ATOM ATOMG LDGSTS")

// The encoding contains everything that a mnemonic says: both agree over all instructions whose
// encodings are known.
func TestAgainstEncodings(t *testing.T) {
	for _, arch := range []int{75, 80, 86} {
		x := table(t, arch)
		n, wide := 0, map[string]int{}
		for _, p := range pairs(t, fmt.Sprintf("sm_%d", arch)) {
			in, err := sass.Decode(sass.Arch(arch), p.words, 0)
			if err != nil {
				continue // outside what is described
			}
			n++
			k := sass.Kernel{Arch: sass.Arch(arch), Code: []sass.Inst{in}}
			want := k.Infos()[0]
			i := x.Lookup(want.Op)
			if i.As != "" {
				t.Errorf("sm_%d: %s is unknown", arch, want.Op)
				continue
			}
			got := i.Inst
			said := func(o *isa.Inst) map[string]any {
				m := map[string]any{"class": o.Class.String(), "unit": o.Unit.String(), "kind": o.Kind, "data": o.Data, "flow": o.Flow.String(),
					"space": o.Space.String(), "load": o.Load, "store": o.Store, "atomic": o.Atomic, "barrier": o.Barrier, "cache": o.Cache, "width": o.Width, "element": o.Elem}
				if o.Tensor != nil {
					m["shape"] = *o.Tensor
				}
				return m
			}
			a, b := said(&want), said(&got)
			for what, v := range a {
				if b[what] != v {
					t.Errorf("sm_%d: %s: %s %v, want %v", arch, p.text, what, b[what], v)
				}
			}
			// Registers, as a tracer lists them.
			var dsts, srcs []sass.Operand
			for j, o := range in.Operands {
				switch {
				case j == 0 && o.Kind == sass.Reg && o.Dst:
					dsts = append(dsts, o)
				case (o.Kind == sass.Reg || o.Kind == sass.Mem) && !o.Dst && !(o.Kind == sass.Mem && o.Reg == sass.RZ && o.HasU):
					srcs = append(srcs, o)
				}
			}
			if len(dsts) == 1 && dsts[0].Reg != sass.RZ {
				if g := i.Results(uint16(dsts[0].Reg)); g != dsts[0].Count && i.row.unit != isa.UnitTex {
					t.Errorf("sm_%d: %s: a result of %d registers, want %d", arch, p.text, g, dsts[0].Count)
				}
			}
			for j, o := range srcs {
				if o.Reg == sass.RZ {
					continue
				}
				g := i.Source(j, len(srcs), uint16(o.Reg))
				switch {
				case g == o.Count:
				case g > o.Count && slices.Contains(open, i.Base):
					wide[i.Base]++
				case i.row.unit == isa.UnitTex: // as many as its mask says
				default:
					t.Errorf("sm_%d: %s: source %d is %d registers, want %d", arch, p.text, j, g, o.Count)
				}
			}
			// Predicates.
			has := func(list []isa.Reg, file isa.RegFile) bool {
				return slices.ContainsFunc(list, func(r isa.Reg) bool { return r.File == file })
			}
			if w := i.Writes; has(want.Dsts, isa.RegPred) && !w.Any() && !w.Uniform || has(want.Dsts, isa.RegUPred) && !w.Uniform && !w.MayUniform {
				t.Errorf("sm_%d: %s writes a predicate missing from its mnemonic's description", arch, p.text)
			}
			free := slices.DeleteFunc(slices.Clone(want.Srcs), func(r isa.Reg) bool {
				return (r.File == isa.RegPred || r.File == isa.RegUPred) && in.Guard.Pred != sass.PT && r.Index == uint32(in.Guard.Pred)
			})
			if r := i.Reads; has(free, isa.RegPred) && !r.Any() || has(free, isa.RegUPred) && !r.Uniform && !r.MayUniform {
				t.Errorf("sm_%d: %s reads a predicate missing from its mnemonic's description", arch, p.text)
			}
		}
		t.Logf("sm_%d: %d instructions; sources assumed wider than they are: %v", arch, n, wide)
		if n < 2000 {
			t.Errorf("sm_%d: only %d instructions were compared", arch, n)
		}
	}
}

// All mnemonics of real code of every architecture are known.
func TestKnown(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/reference/mnemonics/*.txt")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(string(text)) {
			if !Known(name) {
				t.Errorf("%s: %s is unknown", filepath.Base(path), name)
			}
		}
	}
}

// The digits that are not sizes, and those that are.
func TestWidths(t *testing.T) {
	for op, want := range map[string][2]int{ // bytes of a lane; as Accel-Sim has them
		"LDG.E":                         {4, 4},
		"LDG.E.U8":                      {1, 1},
		"LDG.E.S8":                      {1, 4},
		"LDG.E.U16.CONSTANT":            {2, 2},
		"LDG.E.64.CONSTANT":             {8, 8},
		"LDG.E.128.CONSTANT.SYS":        {16, 16},
		"LDG.E.LTC128B.64":              {8, 8},
		"LDG.E.ENL2.256":                {32, 32},
		"LDS.U.128":                     {16, 16},
		"LDS.U.32":                      {4, 4},
		"LDSM.16.M88.4":                 {16, 2},
		"LDSM.16.MT88":                  {4, 2},
		"STL.64":                        {8, 8},
		"LDGSTS.E.BYPASS.LTC128B.128":   {16, 16},
		"ATOMG.E.ADD.F64.RN.STRONG.GPU": {8, 4},
		"RED.E.ADD.F16x2.RN.STRONG.GPU": {4, 4},
		"ATOM.E.CAS.64":                 {8, 8},
		"STSM.16.M88.2":                 {8, 2},
	} {
		if got := [2]int{int(table(t, 0).Lookup(op).Inst.Width), AccelSimWidth(op)}; got != want {
			t.Errorf("%s: %v bytes, want %v", op, got, want)
		}
	}
	if w := AccelSimWidth("HMMA.16816.F32"); w != 4 {
		t.Errorf("HMMA.16816 is treated as an access of %d bytes", w)
	}
}

func TestRegisters(t *testing.T) {
	for _, c := range []struct {
		op      string
		dst     uint8
		srcs    []uint16
		want    []uint8
		arch    int
		comment string
	}{
		{"HMMA.16816.F32", 4, []uint16{8, 12, 16}, []uint8{4, 2, 4}, 80, "PTX mma.m16n8k16"},
		{"HMMA.1688.F16", 2, []uint16{8, 12, 16}, []uint8{2, 1, 2}, 80, "m16n8k8"},
		{"HMMA.1688.F32.TF32", 4, []uint16{8, 12, 16}, []uint8{4, 2, 4}, 80, "tf32 elements have 32 bits"},
		{"IMMA.16832.S8.S8", 4, []uint16{8, 12, 16}, []uint8{4, 2, 4}, 80, "m16n8k32"},
		{"IMMA.8816.S8.S8", 2, []uint16{8, 12, 16}, []uint8{1, 1, 2}, 75, "m8n8k16"},
		{"BMMA.168256.XOR.POPC", 4, []uint16{8, 12, 16}, []uint8{4, 2, 4}, 80, "m16n8k256"},
		{"DMMA.884", 4, []uint16{8, 12, 16}, []uint8{2, 2, 4}, 80, "m8n8k4: one double of A and B, two of C"},
		{"HMMA.884.F32.F32.STEP0", 2, []uint16{8, 12, 16}, []uint8{2, 2, 2}, 70, "Volta's steps"},
		{"DFMA", 2, []uint16{2, 4, 6}, []uint8{2, 2, 2}, 70, ""},
		{"IMAD.WIDE", 2, []uint16{3, 5, 6}, []uint8{1, 1, 2}, 80, ""},
		{"IMAD", 1, []uint16{2, 4, 6}, []uint8{1, 1, 1}, 80, ""},
		{"F2F.F32.F64", 1, []uint16{4}, []uint8{2}, 61, ""},
		{"F2F.F64.F32", 2, []uint16{4}, []uint8{1}, 61, ""},
		{"F2I.S64.F64.TRUNC", 2, []uint16{4}, []uint8{2}, 80, ""},
		{"F2I.F64.TRUNC", 1, []uint16{4}, []uint8{2}, 80, "to 32 bits"},
		{"F2I.U64.TRUNC", 2, []uint16{4}, []uint8{1}, 80, "from binary32"},
		{"I2F.F64.S64", 2, []uint16{4}, []uint8{2}, 80, ""},
		{"I2F.F64", 2, []uint16{4}, []uint8{1}, 80, "from 32 bits"},
		{"I2F.S64", 1, []uint16{4}, []uint8{2}, 80, "to binary32"},
		{"CS2R", 2, nil, nil, 80, ""},
		{"CS2R.32", 1, nil, nil, 80, ""},
		{"LDS.128", 4, []uint16{3}, []uint8{1}, 80, ""},
		{"STG.E.64", 1, []uint16{2, 6}, []uint8{2, 2}, 80, "address and data"},
		{"ATOMG.E.CAS.64.STRONG.GPU", 2, []uint16{2, 6, 8}, []uint8{2, 2, 2}, 80, ""},
		{"FFMA2", 2, []uint16{2, 4, 6}, []uint8{2, 2, 2}, 100, ""},
	} {
		i := table(t, c.arch).Lookup(c.op)
		if i.row.dst != one || c.dst > 1 {
			if got := i.Results(4); got != c.dst {
				t.Errorf("%s: a result of %d registers, want %d %s", c.op, got, c.dst, c.comment)
			}
		}
		for n, r := range c.srcs {
			if got := i.Source(n, len(c.srcs), r); got != c.want[n] {
				t.Errorf("%s: source %d is %d registers, want %d %s", c.op, n, got, c.want[n], c.comment)
			}
		}
	}
	// A number that cannot be a register is not part of a pair.
	i := table(t, 80).Lookup("IMAD.WIDE")
	if i.Results(255) != 1 || i.Source(2, 3, 255) != 1 {
		t.Error("RZ is a pair")
	}
}

// Classes as used by the configurations of Accel-Sim.
func TestPipes(t *testing.T) {
	for _, c := range []struct {
		op   string
		arch int
		want isa.Pipe
	}{
		{"FFMA", 86, isa.PipeSP}, {"FFMA", 61, isa.PipeSP}, {"HADD2", 75, isa.PipeSP}, {"IMAD", 86, isa.PipeInt}, {"XMAD", 61, isa.PipeInt},
		{"MOV", 86, isa.PipeALU}, {"LDC", 86, isa.PipeALU}, {"SHFL.BFLY", 86, isa.PipeALU}, {"S2R", 70, isa.PipeALU},
		{"MUFU.RCP", 86, isa.PipeSFU}, {"DADD", 86, isa.PipeDP}, {"DMNMX", 61, isa.PipeDP},
		{"HMMA.16816.F32", 86, isa.PipeSpec3}, {"IMMA.8816", 75, isa.PipeSpec3}, {"IMMA.8816", 70, isa.PipeInt}, {"KILL", 70, isa.PipeSpec1}, {"KILL", 86, isa.PipeSpec3},
		{"BRA", 86, isa.PipeSpec1}, {"BRA", 61, isa.PipeALU}, {"SSY", 61, isa.PipeALU}, {"EXIT", 86, isa.PipeControl}, {"BAR.SYNC", 61, isa.PipeControl},
		{"TEX", 86, isa.PipeSpec2}, {"TEX", 61, isa.PipeALU}, {"ULDC", 86, isa.PipeSpec4}, {"S2UR", 75, isa.PipeSpec4},
		{"LDG.E", 86, isa.PipeMemory}, {"ATOMS.ADD", 86, isa.PipeMemory}, {"LDGSTS.E", 86, isa.PipeMemory}, {"MEMBAR.SC.GPU", 86, isa.PipeFence},
		{"VIADD", 90, isa.PipeInt}, {"SULD", 86, isa.PipeALU}, {"SULD", 35, isa.PipeMemory}, {"ISAD", 35, isa.PipeInt},
	} {
		if got := table(t, c.arch).Lookup(c.op).Inst.Pipe; got != c.want {
			t.Errorf("%s on sm_%d: %v, want %v", c.op, c.arch, got, c.want)
		}
	}
	// Half the distance of two in a unit.
	for op, want := range map[string]bool{"HADD2": true, "HFMA2.MMA": true, "HMUL2": false, "FFMA": false} {
		if got := table(t, 86).Lookup(op).Inst.Quick; got != want {
			t.Errorf("%s: quick %v", op, got)
		}
	}
	// Every opcode has a class on every architecture.
	for _, arch := range []int{35, 61, 70, 75, 80, 90, 120} {
		for op := range byName {
			if table(t, arch).Lookup(op).Inst.Pipe == isa.PipeNone {
				t.Errorf("%s has no class on sm_%d", op, arch)
			}
		}
	}
}

// Unknown names are classified by rules, and counted.
func TestRules(t *testing.T) {
	x, err := New(80, Rules{Named: map[string]string{"frob": "sfu", "BLARG": "LDG"}})
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[string]isa.Class{"FROB.X": isa.ClassSFU, "BLARG.64": isa.ClassLoad, "WHAT.NOW": isa.ClassInt, "FADD": isa.ClassFP32} {
		if got := x.Lookup(op).Inst.Class; got != want {
			t.Errorf("%s is %v, want %v", op, got, want)
		}
	}
	if w := x.Lookup("BLARG.64").Inst; w.Width != 8 || w.Space != isa.Global || w.Op != "BLARG.64" {
		t.Errorf("%+v", w)
	}
	x.Note("WHAT.NOW", 3)
	x.Note("WHAT.ELSE", 4)
	x.Note("FROB.X", 5)
	x.Note("FADD", 100)
	if d := cmp.Diff([]Count{{"WHAT", "IADD3", 7}, {"FROB", "MUFU", 5}}, x.Unknown()); d != "" {
		t.Error(d)
	}
	for _, r := range []Rules{{Unknown: "sfuu"}, {Named: map[string]string{"X": "laod"}}} {
		if _, err := New(80, r); err == nil || !strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for kind, op := range kinds {
		if !Known(op) {
			t.Errorf("kind %s stands for %s, which is unknown", kind, op)
		}
	}
}

// Accel-Sim's classes name no opcode without a row, and no row names one twice.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	for i := range rows {
		for _, op := range strings.Fields(rows[i].ops) {
			if seen[op] {
				t.Errorf("%s is in two rows", op)
			}
			seen[op] = true
		}
	}
	for _, m := range []pipeMap{pipes.kepler, pipes.pascal, pipes.volta, pipes.turing, pipes.ampere} {
		for _, op := range slices.Sorted(maps.Keys(m)) {
			if byName[op] == nil {
				t.Errorf("%s has a class of Accel-Sim but no row", op)
			}
		}
	}
}

func FuzzLookup(f *testing.F) {
	for _, s := range []string{"HMMA.16816.F32", "HGMMA.64x128x16.F32", "LDG.E.128", "", ".", "X.99999999999999999999", "HMMA.1684294967295", "IMMA.0x0x0"} {
		f.Add(s, 80)
	}
	f.Fuzz(func(t *testing.T, op string, arch int) {
		i := table(t, arch).Lookup(op)
		if i.Inst.Class == isa.ClassNone || i.Inst.Pipe == isa.PipeNone {
			t.Errorf("%q has no class", op)
		}
		for n := range 4 {
			_ = i.Results(uint16(n)) + i.Source(n, 3, uint16(n))
		}
	})
}
