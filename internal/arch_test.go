// Package internal_test holds the rules about which package may know which.
package internal_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/heddle-sim/heddle"

// mayImport lists, for every package, the packages of this module that it may
// import itself. What a package needs and has no right to is a sign that
// something lives in the wrong place; docs/architecture.md says what each is
// for.
var mayImport = map[string][]string{
	"internal/isa":      {},
	"internal/isa/ptx":  {"internal/isa"},
	"internal/flow":     {"internal/isa"},
	"internal/num":      {},
	"internal/device":   {"internal/isa"},
	"internal/exec":     {"internal/isa"},
	"internal/exec/ptx": {"internal/isa", "internal/isa/ptx", "internal/flow", "internal/num", "internal/device", "internal/exec"},
	"internal/report":   {},
	"internal/job": {"internal/isa", "internal/isa/ptx", "internal/num", "internal/device",
		"internal/exec", "internal/exec/ptx", "internal/report"},
	"": {"internal/isa/ptx", "internal/device", "internal/exec", "internal/exec/ptx", "internal/job", "internal/report"},
	"cmd/heddle": {"internal/isa", "internal/isa/ptx", "internal/flow", "internal/exec", "internal/exec/ptx",
		"internal/job", "internal/report", ""},
}

// tools are packages that make or measure others and may know what they need;
// nobody may import them.
var tools = []string{"internal/exec/ptx/opgen", "examples", "bench"}

// external lists the packages outside the standard library and this module
// that a package may import; tests are free.
var external = map[string][]string{
	"internal/job": {"github.com/BurntSushi/toml"},
	"cmd/heddle":   {"github.com/alecthomas/kong", "golang.org/x/term"},
}

type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Imports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var list []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// short is a package's path within the module.
func short(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestImports(t *testing.T) {
	list := packages(t)
	if len(list) < len(mayImport) {
		t.Errorf("%d packages found, %d have rules", len(list), len(mayImport))
	}
	for _, p := range list {
		name, _ := short(p.ImportPath)
		allowed, ruled := mayImport[name]
		tool := slices.ContainsFunc(tools, func(t string) bool { return name == t || strings.HasPrefix(name, t+"/") })
		if !ruled && !tool && len(p.Imports) > 0 {
			t.Errorf("package %q has no rule: say in mayImport what it may know", name)
			continue
		}
		for _, imp := range p.Imports {
			if imp == "C" {
				t.Errorf("package %q uses cgo", name)
			}
			own, isOwn := short(imp)
			switch {
			case tool:
			case isOwn && slices.Contains(tools, own):
				t.Errorf("package %q imports %q, which is a tool", name, own)
			case isOwn && !slices.Contains(allowed, own):
				t.Errorf("package %q may not import %q", name, own)
			case !isOwn && strings.Contains(strings.Split(imp, "/")[0], ".") && !slices.Contains(external[name], imp):
				t.Errorf("package %q may not import %s", name, imp)
			}
		}
	}
}
