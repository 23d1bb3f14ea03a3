// Package internal_test holds the rules about which package may know which.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/heddle-sim/heddle"

// mayImport lists, for every package, the packages of this module that it may
// import itself; "x/..." stands for x and all below it. What a package needs
// and has no right to is a sign that something lives in the wrong place;
// docs/architecture.md says what each is for.
var mayImport = map[string][]string{
	"internal/isa":        {},
	"internal/near":       {},
	"internal/tomlfile":   {"internal/isa", "internal/near"},
	"internal/alltests":   {},
	"internal/ring":       {},
	"internal/checkpoint": {},
	"internal/sample":     {},
	"internal/plug":       {},
	"internal/param":      {"internal/near", "internal/plug"},
	"internal/plain":      {},
	"internal/isa/ptx":    {"internal/isa", "internal/near"},
	"internal/isa/sass":   {"internal/isa", "internal/near", "internal/exec/num"},
	"internal/isa/flow":   {"internal/isa"},
	// PTX to machine code. The machine's description stands alone, so that models can use it.
	"internal/compile/machine": {},
	"internal/compile/ir":      {"internal/isa", "internal/isa/flow"},
	"internal/compile/keep":    {"internal/compile", "internal/isa/ptx", "internal/isa/sass", "internal/work/cuda/cache"},
	"internal/compile":         {"internal/isa", "internal/isa/ptx", "internal/isa/sass", "internal/isa/flow", "internal/compile/ir", "internal/compile/machine"},

	"internal/exec/num":     {},
	"internal/exec/device":  {"internal/isa"},
	"internal/exec":         {"internal/isa", "internal/plain", "internal/exec/device"},
	"internal/exec/texture": {"internal/exec/num", "internal/exec/device", "internal/exec"},
	"internal/exec/ptx":     {"internal/isa", "internal/isa/ptx", "internal/isa/flow", "internal/exec/num", "internal/exec/device", "internal/exec", "internal/exec/texture"},
	"internal/exec/sass":    {"internal/isa", "internal/isa/sass", "internal/exec/num", "internal/exec/device", "internal/exec", "internal/exec/texture"},
	"internal/program":      {"internal/compile/machine", "internal/compile/keep", "internal/compile", "internal/binary/cubin", "internal/binary/fatbin", "internal/isa/ptx", "internal/isa/sass", "internal/exec/device", "internal/exec", "internal/exec/texture", "internal/exec/ptx", "internal/exec/sass"},
	// Traces. What was recorded knows no model either; replay makes launches of it.
	"internal/isa/mnemonic":    {"internal/isa", "internal/near"},
	"internal/trace":           {"internal/isa"},
	"internal/trace/text":      {"internal/isa", "internal/trace"},
	"internal/trace/micro":     {"internal/isa", "internal/trace"},
	"internal/trace/container": {"internal/isa", "internal/trace"},
	"internal/exec/replay":     {"internal/isa", "internal/isa/mnemonic", "internal/isa/sass", "internal/isa/flow", "internal/exec", "internal/trace"},
	"internal/trace/record":    {"internal/isa", "internal/isa/sass", "internal/exec", "internal/exec/sass", "internal/trace"},
	"internal/trace/open":      {"internal/trace", "internal/trace/text", "internal/trace/micro", "internal/trace/container"},
	"internal/compare":         {"internal/near", "internal/report"},
	"internal/report":          {"internal/plain", "internal/report/found", "internal/report/lesson"},
	"internal/report/found":    {},
	"internal/report/lesson":   {},
	"internal/isa/explain":     {},
	"internal/report/timeline": {},
	"internal/report/series":   {},
	"internal/report/findings": {"internal/report"},
	"internal/report/whatif":   {"internal/report"},
	"internal/view":            {"internal/plain", "internal/report", "internal/report/findings", "internal/report/found", "internal/report/lesson"},
	"internal/progress":        {"internal/run", "internal/plain", "internal/report"},

	// Timing. Core models do not know which instruction set they run, nothing
	// here knows file formats but config, which fills the models' settings.
	"internal/mem/...":    {"internal/isa", "internal/param", "internal/plug", "internal/ring", "internal/mem/..."},
	"internal/core/...":   {"internal/compile/machine", "internal/param", "internal/plug", "internal/ring", "internal/isa", "internal/isa/flow", "internal/exec", "internal/mem/...", "internal/core/..."},
	"internal/gpu/...":    {"internal/checkpoint", "internal/isa", "internal/param", "internal/plug", "internal/exec", "internal/exec/device", "internal/mem/...", "internal/core/...", "internal/gpu/..."},
	"internal/config/...": {"internal/near", "internal/param", "internal/plug", "internal/isa", "internal/mem/...", "internal/core/...", "internal/gpu/...", "internal/config/..."},

	// The Kepler-style core is one machine with one instruction set.
	"internal/isa/kasm":    {"internal/near", "internal/isa"},
	"internal/exec/kasm":   {"internal/isa/kasm", "internal/exec/num"},
	"internal/core/kepler": {"internal/param", "internal/isa/kasm", "internal/exec/kasm"},
	"internal/core/kepler/chip": {"internal/isa", "internal/core/kepler", "internal/mem", "internal/mem/cache", "internal/mem/dram",
		"internal/mem/noc", "internal/mem/part"},
	"internal/work/kcase": {"internal/isa/kasm", "internal/core/kepler"},
	"internal/work/krun":  {"internal/isa/kasm", "internal/core/kepler", "internal/core/kepler/chip", "internal/exec", "internal/isa/explain", "internal/report", "internal/report/findings", "internal/report/lesson", "internal/report/timeline", "internal/run"},

	// Checkers see what happens, in launches and on the host; they know no instruction set.
	"internal/check":          {"internal/exec", "internal/isa", "internal/plain"},
	"internal/check/...":      {"internal/check", "internal/exec", "internal/exec/device", "internal/isa", "internal/isa/flow", "internal/plain", "internal/near"},
	"internal/check/perf":     {"internal/check", "internal/exec", "internal/isa", "internal/plain", "internal/report", "internal/report/findings"},
	"internal/check/checkers": {"internal/check/...", "internal/near"},
	"internal/check/output":   {"internal/check", "internal/report", "internal/report/found"},
	"internal/check/allow":    {"internal/check", "internal/check/output", "internal/near"},

	// A run, whatever gives it its work.
	"internal/run": {"internal/compile/machine", "internal/checkpoint", "internal/sample", "internal/check", "internal/check/output", "internal/check/coverage", "internal/near", "internal/plain", "internal/isa", "internal/exec", "internal/exec/device", "internal/exec/replay", "internal/config", "internal/gpu", "internal/mem", "internal/mem/cache", "internal/mem/noc", "internal/core",
		"internal/report", "internal/report/findings", "internal/report/lesson", "internal/report/timeline", "internal/isa/explain", "internal/trace/record"},
	"internal/run/live":      {"internal/run", "internal/report"},
	"internal/run/flags":     {"internal/sample", "internal/exec", "internal/exec/device", "internal/check/checkers", "internal/near", "internal/run", "internal/report", "internal/report/series", "internal/report/timeline", "internal/trace", "internal/trace/text", "internal/trace/micro", "internal/trace/record"},
	"internal/work/tracerun": {"internal/checkpoint", "internal/core", "internal/isa", "internal/isa/mnemonic", "internal/exec", "internal/run", "internal/gpu", "internal/report", "internal/trace", "internal/exec/replay"},
	"internal/work/job": {"internal/compile/machine", "internal/checkpoint", "internal/check", "internal/near", "internal/tomlfile", "internal/binary/fatbin", "internal/run", "internal/isa", "internal/isa/ptx", "internal/program", "internal/exec/num", "internal/exec/device",
		"internal/isa/kasm", "internal/core/kepler", "internal/work/krun", "internal/exec", "internal/exec/texture", "internal/exec/ptx", "internal/report", "internal/report/findings", "internal/report/lesson", "internal/config", "internal/gpu"},
	// CUDA programs: the runtime is Go; only the library that programs are linked
	// with has a C face.
	"internal/binary/fatbin":       {},
	"internal/binary/cubin":        {},
	"internal/binary/process":      {"internal/plain"},
	"internal/work/cuda/cache":     {},
	"internal/work/cuda/integrity": {},
	"internal/work/cuda/sdk":       {"internal/near", "internal/work/cuda/cache"},
	"internal/work/cuda": {"internal/check", "internal/near", "internal/plain", "internal/binary/cubin", "internal/binary/fatbin", "internal/isa", "internal/isa/ptx", "internal/program", "internal/exec/device", "internal/exec", "internal/exec/texture", "internal/exec/ptx",
		"internal/run", "internal/gpu", "internal/report"},
	// Libraries without kernels.
	"internal/libs/ml":  {"internal/near", "internal/work/cuda"},
	"internal/libs/pti": {"internal/work/cuda", "internal/gpu"},
	"internal/libs/rtc": {"internal/near", "internal/work/cuda/sdk"},

	// Libraries that programs link: they use the runtime, and share nothing with one
	// another but libs, and the kernels of blas.
	"internal/libs":        {"internal/work/cuda"},
	"internal/libs/blas":   {"internal/libs", "internal/work/cuda", "internal/exec/num"},
	"internal/libs/blaslt": {"internal/libs", "internal/libs/blas", "internal/work/cuda"},
	"internal/libs/fft":    {"internal/libs", "internal/work/cuda"},
	"internal/libs/rand":   {"internal/libs", "internal/work/cuda"},
	"internal/libs/sparse": {"internal/libs", "internal/libs/blas", "internal/work/cuda"},
	"cmd/libcudart":        {"internal/exec", "internal/check", "internal/check/coverage", "internal/libs/fft", "internal/libs/rand", "internal/libs/sparse", "internal/libs/ml", "internal/libs/pti", "internal/libs/rtc", "internal/libs/blas", "internal/libs/blaslt", "internal/work/cuda", "internal/work/cuda/integrity", "internal/binary/fatbin", "internal/binary/process", "internal/run", "internal/run/flags", "internal/run/live", "internal/progress", "internal/report"},
	// The same work on idealised machines: it does not know what the work is.
	"internal/whatif":      {"internal/near", "internal/config", "internal/core", "internal/run", "internal/report", "internal/report/whatif", "internal/work/cuda/cache"},
	"internal/sweep/store": {},
	"internal/sweep/index": {"internal/sweep/store"},
	"internal/sweep/slurm": {"internal/report", "internal/sweep", "internal/sweep/store"},
	"internal/sweep":       {"internal/config", "internal/isa", "internal/near", "internal/report", "internal/run", "internal/run/flags", "internal/sweep/store", "internal/tomlfile", "internal/work/input", "internal/work/job"},
	"internal/work/input":  {"internal/run", "internal/trace/open", "internal/work/job"},
	"internal/run/step":    {"internal/near", "internal/run", "internal/isa", "internal/exec", "internal/exec/kasm", "internal/mem/...", "internal/core/kepler", "internal/work/krun", "internal/gpu", "internal/work/job"},
	"":                     {"internal/near", "internal/plug", "internal/mem/...", "internal/core", "internal/isa", "internal/exec/replay", "internal/trace/record", "internal/run", "internal/program", "internal/exec/device", "internal/exec", "internal/exec/texture", "internal/gpu", "internal/work/job", "internal/report", "internal/report/timeline", "internal/trace/open", "internal/work/tracerun"},
	// What a core model of a program's own is made of: names for what models use.
	"core":       {"internal/core", "internal/exec", "internal/isa", "internal/mem", "internal/mem/cache"},
	"cmd/heddle": {"internal/cli"},
	"internal/cli": {"internal/compile/machine", "internal/compile/keep", "internal/compile", "internal/check", "internal/check/...", "internal/binary/cubin", "internal/binary/fatbin", "internal/program", "internal/exec/replay", "internal/near", "internal/isa", "internal/isa/ptx", "internal/isa/flow", "internal/exec", "internal/exec/ptx",
		"internal/isa/kasm", "internal/isa/sass", "internal/core/kepler", "internal/work/kcase", "internal/work/krun",
		"internal/compare", "internal/trace", "internal/trace/...", "internal/work/tracerun", "internal/progress", "internal/work/cuda", "internal/work/cuda/...", "internal/libs/ml",
		"internal/config", "internal/run", "internal/run/flags", "internal/run/live", "internal/run/step", "internal/sweep", "internal/sweep/index", "internal/sweep/slurm", "internal/sweep/store", "internal/tomlfile", "internal/work/input", "internal/work/job", "internal/report", "internal/view", "internal/whatif", ""},
}

// tools are packages that make, measure or test others and may know what they need;
// nobody may import them.
var tools = []string{"internal/exec/ptx/opgen", "internal/libs/kernelgen", "internal/libs/libstest", "internal/trace/tracetest", "internal/program/agreetest", "internal/binary/fatbin/fatbintest", "internal/view/bundle", "internal/view/viewtest", "examples", "bench"}

// external lists the packages outside the standard library and this module
// that a package may import; tests are free.
var external = map[string][]string{
	"internal/config":          {"github.com/BurntSushi/toml"},
	"internal/compare":         {"gonum.org/v1/plot", "gonum.org/v1/plot/...", "gonum.org/v1/gonum/..."},
	"internal/libs":            {"github.com/klauspost/compress/zstd"},
	"internal/checkpoint":      {"github.com/klauspost/compress/zstd"},
	"internal/view":            {"github.com/klauspost/compress/flate"},
	"internal/binary/fatbin":   {"github.com/klauspost/compress/...", "github.com/pierrec/lz4/v4"},
	"internal/trace/text":      {"github.com/klauspost/compress/...", "github.com/ulikunitz/xz"},
	"internal/trace/container": {"github.com/klauspost/compress/..."},
	"internal/trace/micro":     {"google.golang.org/protobuf/encoding/protowire"},
	"internal/tomlfile":        {"github.com/BurntSushi/toml"},
	"internal/work/job":        {"github.com/BurntSushi/toml"},
	"internal/check/allow":     {"github.com/BurntSushi/toml"},
	"internal/check/output":    {"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"},
	"internal/report/series":   {"github.com/parquet-go/parquet-go"},
	"internal/plain":           {"github.com/ianlancetaylor/demangle"},
	"internal/run/flags":       {"github.com/gofrs/flock"},
	"internal/sweep/index":     {"modernc.org/sqlite", "github.com/parquet-go/parquet-go"},
	"internal/sweep/store":     {"github.com/gofrs/flock", "github.com/klauspost/compress/zstd"},
	"internal/work/cuda/cache": {"github.com/gofrs/flock"},
	"internal/cli":             {"github.com/alecthomas/kong", "golang.org/x/term"},
	"internal/progress":        {"golang.org/x/term"},
	"internal/exec/device":     {"golang.org/x/sys/unix"},
}

// sources returns the Go files of the module, tests left out, those of other
// platforms too.
func sources(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && path != ".." && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// imports returns the import paths of every package of the module, tests left
// out, by the package's path within the module. It reads the files themselves, so
// that the test runs again when one changes.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	list := map[string][]string{}
	for _, path := range sources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		pkg, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if pkg = filepath.ToSlash(pkg); pkg == "." {
			pkg = ""
		}
		if _, ok := list[pkg]; !ok {
			list[pkg] = nil
		}
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(list[pkg], imp) {
				list[pkg] = append(list[pkg], imp)
			}
		}
	}
	return list
}

// below reports whether a pattern of mayImport names the package.
func below(pattern, name string) bool {
	prefix, tree := strings.CutSuffix(pattern, "/...")
	return name == prefix || tree && strings.HasPrefix(name, prefix+"/")
}

// rule returns what a package may import.
func rule(name string) (allowed []string, ok bool) {
	if list, ok := mayImport[name]; ok { // what is said of one goes before what is said of all
		return list, true
	}
	for pattern, list := range mayImport {
		if below(pattern, name) {
			return list, true
		}
	}
	return nil, false
}

// short is a package's path within the module.
func short(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestImports(t *testing.T) {
	list := imports(t)
	for name := range mayImport {
		if _, ok := list[name]; !ok && !strings.HasSuffix(name, "/...") {
			t.Errorf("there are rules for package %q, which does not exist", name)
		}
	}
	for name, paths := range list {
		allowed, ruled := rule(name)
		tool := slices.ContainsFunc(tools, func(t string) bool { return below(t+"/...", name) })
		if !ruled && !tool {
			t.Errorf("package %q has no rule: say in mayImport what it may know", name)
			continue
		}
		for _, imp := range paths {
			if imp == "C" && name != "cmd/libcudart" {
				t.Errorf("package %q uses cgo", name)
			}
			own, isOwn := short(imp)
			switch {
			case tool:
			case isOwn && slices.Contains(tools, own):
				t.Errorf("package %q imports %q, which is a tool", name, own)
			case isOwn && !slices.ContainsFunc(allowed, func(pattern string) bool { return below(pattern, own) }):
				t.Errorf("package %q may not import %q", name, own)
			case !isOwn && strings.Contains(strings.Split(imp, "/")[0], ".") && !slices.ContainsFunc(external[name], func(p string) bool { return below(p, imp) }):
				t.Errorf("package %q may not import %s", name, imp)
			}
		}
	}
}

// TestNobodyReadsMessages finds code that decides by the words of an error. What
// an error is about is in its type and its fields.
func TestNobodyReadsMessages(t *testing.T) {
	reads := []string{"Contains", "ContainsAny", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "Index", "LastIndex", "EqualFold", "MatchString", "FindString"}
	isMessage := func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) != 0 {
			return false
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Error"
	}
	for _, path := range sources(t) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			kept := map[string]bool{} // variables that hold a message
			message := func(e ast.Expr) bool {
				id, ok := e.(*ast.Ident)
				return ok && kept[id.Name] || isMessage(e)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				bad := false
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, e := range n.Rhs {
						if id, ok := n.Lhs[i].(*ast.Ident); ok && isMessage(e) {
							kept[id.Name] = true
						}
					}
				case *ast.BinaryExpr:
					bad = (n.Op == token.EQL || n.Op == token.NEQ) && (message(n.X) || message(n.Y))
				case *ast.CallExpr:
					f, ok := n.Fun.(*ast.SelectorExpr)
					bad = ok && slices.Contains(reads, f.Sel.Name) && slices.ContainsFunc(n.Args, message)
				}
				if bad {
					t.Errorf("%s reads the message of an error: give the error a type or fields", set.Position(n.Pos()))
				}
				return true
			})
		}
	}
}
