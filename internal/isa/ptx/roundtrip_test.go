package ptx

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// sameModule compares modules up to positions, the raw text of directives and the
// name of the file. References to declarations are compared by ID and name, not
// followed.
var sameModule = cmp.Options{
	cmpopts.IgnoreTypes(Pos{}),
	cmpopts.IgnoreFields(Module{}, "File", "Lines"),
	cmpopts.IgnoreFields(Directive{}, "Raw"),
	cmpopts.IgnoreFields(Func{}, "load"),
	cmpopts.IgnoreFields(Loc{}, "Raw"),
	cmp.FilterPath(lastField("Form"), cmp.Comparer(func(a, b *Form) bool { return a == b })),
	cmp.FilterPath(lastField("Bad"), cmp.Comparer(func(a, b error) bool {
		return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
	})),
	cmp.FilterPath(lastField("Loc"), cmp.Comparer(func(a, b *Loc) bool {
		return a == b || a != nil && b != nil && a.File == b.File && a.Line == b.Line && a.Col == b.Col
	})),
	cmp.FilterPath(lastField("Var"), cmp.Comparer(func(a, b *Var) bool {
		return a == b || a != nil && b != nil && a.ID == b.ID && a.Name == b.Name
	})),
	cmp.FilterPath(lastField("Func"), cmp.Comparer(func(a, b *Func) bool {
		return a == b || a != nil && b != nil && a.Name == b.Name && a.Proto == b.Proto
	})),
	cmp.FilterPath(lastField("Table"), cmp.Comparer(func(a, b *Table) bool {
		return a == b || a != nil && b != nil && a.Name == b.Name
	})),
	// What the body already contains, in order.
	cmp.FilterPath(lastField("Code"), cmp.Comparer(func(a, b []*Inst) bool { return len(a) == len(b) })),
	cmpopts.IgnoreFields(Module{}, "Vars", "Funcs", "Aliases"),
	cmp.FilterPath(lastField("Vars"), cmp.Comparer(func(a, b []*Var) bool { return len(a) == len(b) })),
}

func lastField(name string) func(cmp.Path) bool {
	return func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		// The declared variables of a statement are compared in full.
		return ok && f.Name() == name && p.Index(-2).Type().Name() != "VarDecl"
	}
}

func printed(t testing.TB, m *Module) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// roundTrip parses, prints and parses again. diff compares the two modules.
func roundTrip(t *testing.T, name string, src []byte, diff func(a, b *Module) string) {
	t.Helper()
	m, err := Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	text := printed(t, m)
	again, err := Parse("printed "+name, text)
	if err != nil {
		t.Fatalf("the printed module does not parse: %.2000s", err)
	}
	text2 := printed(t, again)
	if d := diff(m, again); d != "" {
		t.Errorf("print and re-parse changes the module: %.3000s", d)
	}
	if !bytes.Equal(text, text2) {
		t.Error("printing the re-parsed module gives other text")
	}
}

// cmpDiff shows where modules differ; it is too slow for megabytes.
func cmpDiff(a, b *Module) string { return cmp.Diff(a, b, sameModule) }

// deepDiff only reports whether modules differ, following references. It clears
// positions and raw text in both.
func deepDiff(a, b *Module) string {
	strip(a)
	strip(b)
	if !reflect.DeepEqual(a, b) {
		return "the modules differ"
	}
	return ""
}

func strip(m *Module) {
	m.File, m.Lines = "", nil
	for _, it := range m.Items {
		switch it := it.(type) {
		case *VarDecl:
			stripStmt(it)
		case *Func:
			stripFunc(it)
		case *Directive:
			it.Pos, it.Raw = Pos{}, ""
		case *Alias:
			it.Pos = Pos{}
		}
	}
}

func stripFunc(f *Func) {
	f.Pos = Pos{}
	for _, v := range slices.Concat(f.Rets, f.Params) {
		stripVar(v)
	}
	for i := range f.Perf {
		f.Perf[i].Pos = Pos{}
	}
	if f.Body != nil {
		stripStmt(f.Body)
	}
}

func stripVar(v *Var) {
	v.Pos = Pos{}
	if v.Init != nil {
		stripInit(v.Init)
	}
}

func stripInit(in *Init) {
	in.Pos = Pos{}
	if in.Expr != nil {
		in.Expr.Pos = Pos{}
	}
	for _, e := range in.List {
		stripInit(e)
	}
}

func stripOperands(ops []Operand) {
	for i := range ops {
		ops[i].Pos = Pos{}
		stripOperands(ops[i].List)
	}
}

func stripStmt(s Stmt) {
	switch s := s.(type) {
	case *Block:
		s.Pos = Pos{}
		for _, in := range s.Stmts {
			stripStmt(in)
		}
	case *VarDecl:
		s.Pos = Pos{}
		for _, v := range s.Vars {
			stripVar(v)
		}
	case *Func:
		stripFunc(s)
	case *Inst:
		s.Pos = Pos{}
		if s.Guard != nil {
			s.Guard.Reg.Pos = Pos{}
		}
		stripOperands(s.Args)
	case *Label:
		s.Pos = Pos{}
	case *Loc:
		s.Pos, s.Raw = Pos{}, ""
	case *Directive:
		s.Pos, s.Raw = Pos{}, ""
	case *Table:
		s.Pos = Pos{}
	}
}

func TestPrintParse(t *testing.T) {
	run := func(t *testing.T, files []string, diff func(a, b *Module) string) {
		for _, name := range files {
			t.Run(filepath.Base(name), func(t *testing.T) {
				src, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				roundTrip(t, filepath.Base(name), src, diff)
			})
		}
	}
	run(t, slices.Concat(ptxFiles(t, "testdata/conformance"), ptxFiles(t, "testdata/corpus"), ptxFiles(t, "testdata/language")), cmpDiff)
	run(t, alltests.Some(compiled(t), 4), deepDiff)
}
