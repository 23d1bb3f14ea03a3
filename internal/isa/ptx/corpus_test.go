package ptx

import (
	"os"
	"path/filepath"
	"testing"
)

// compiled returns files from real compilers, including those in the folders that
// the environment variable HEDDLE_TEST_PTX lists.
func compiled(t testing.TB) []string {
	t.Helper()
	files := append(ptxFiles(t, "testdata/corpus"), ptxFiles(t, "../../../examples/*")...)
	for _, dir := range filepath.SplitList(os.Getenv("HEDDLE_TEST_PTX")) {
		files = append(files, ptxFiles(t, dir)...)
	}
	return files
}

func ptxFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	return files
}

// TestResolved checks what Parse guarantees for every tree: each name is resolved,
// each label has a position, and each ID belongs to one variable.
func TestResolved(t *testing.T) {
	check := func(t *testing.T, files []string) {
		insts := 0
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Parse(filepath.Base(name), src)
			if err != nil {
				t.Errorf("%.2000s", err)
				continue
			}
			insts += checkResolved(t, m)
		}
		t.Logf("%d files, %d instructions", len(files), insts)
	}
	check(t, ptxFiles(t, "testdata/conformance"))
	check(t, ptxFiles(t, "testdata/language"))
	check(t, compiled(t))
}

func checkResolved(t *testing.T, m *Module) (insts int) {
	ids := map[int]*Var{}
	for _, v := range allVars(m) {
		if old := ids[v.ID]; old != nil {
			t.Errorf("%s: %s and %s share identity %d", m.File, old.Name, v.Name, v.ID)
		}
		ids[v.ID] = v
	}
	for _, f := range m.Funcs {
		for _, v := range f.Vars {
			if v.Func != f {
				t.Errorf("%s: variable %s of %s has another function", m.File, v.Name, f.Name)
			}
		}
		for i, in := range f.Code {
			insts++
			if in.Index != i || (in.Form == nil) == (in.Bad == nil) && in.Op != "call" {
				t.Errorf("%s:%d: %s: index %d, form %v, bad %v", m.File, in.Pos.Line, in, in.Index, in.Form, in.Bad)
			}
			var walk func(o *Operand)
			walk = func(o *Operand) {
				bad := ""
				switch o.Kind {
				case OpReg:
					if o.Var == nil || o.Var.Space != SpaceReg && o.Var.Space != SpaceSreg || o.Index >= max(1, o.Var.Count) || ids[o.Var.ID] != o.Var {
						bad = "register"
					}
				case OpSpecial:
					if s, ok := lookupSpecial(o.Name); !ok || o.Elem != "" && !s.HasElem(o.Elem) {
						bad = "special register"
					}
				case OpSym:
					if (o.Var == nil) == (o.Func == nil) && in.Bad == nil {
						bad = "symbol"
					}
				case OpLabel:
					if o.Target < 0 || o.Target > len(f.Code) {
						bad = "label"
					}
				case OpTable:
					if o.Table == nil && o.Func == nil {
						bad = "table"
					}
				case OpAddr:
					if len(o.List) != 1 {
						bad = "address"
					}
				case OpPair:
					if len(o.List) != 2 {
						bad = "pair"
					}
				case OpImm:
					if o.Imm.Text == "" {
						bad = "literal"
					}
				case opIndex:
					bad = "array element"
				}
				if bad != "" {
					t.Errorf("%s:%d: %s: unresolved %s %v", m.File, in.Pos.Line, in, bad, o)
				}
				for i := range o.List {
					walk(&o.List[i])
				}
			}
			if in.Guard != nil {
				walk(&in.Guard.Reg)
			}
			for i := range in.Args {
				walk(&in.Args[i])
			}
		}
	}
	return insts
}
