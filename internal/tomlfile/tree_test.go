package tomlfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every key of a file is found where it stands.
func TestPlaces(t *testing.T) {
	files, err := filepath.Glob("../work/job/testdata/*/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	texts := map[string]string{"tricky": "a.b.\"c d\" = 1 # e = 2\n[x]\ny = '''\n[z]\n'''\ns = \"\\\"]\"\n[[l.m]]\nn = [ [1, 2], # ]\n [\n3]]\n[l.m.o]\np = { q = { r = [ { s = 1 }, { t = '}' } ] }, u = 1 }\n[[l.m]]\nn = 1979-05-27 07:32:00\nß = \"é\"\n"}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = string(src)
	}
	for name, text := range texts {
		root, err := Parse(name, []byte(text))
		if err != nil {
			continue // one of the broken ones
		}
		lines := strings.Split(text, "\n")
		var walk func(n *Node, path string)
		walk = func(n *Node, path string) {
			for _, k := range n.Keys {
				at := n.Kids[k].KeyPos
				rest := string([]rune(lines[at.Line-1])[at.Col-1:])
				if !strings.HasPrefix(strings.TrimLeft(rest, `"'`), k) {
					t.Errorf("%s: %s.%s is placed at %d:%d, before %q", name, path, k, at.Line, at.Col, rest)
				}
				walk(n.Kids[k], path+"."+k)
			}
			for i, it := range n.Items {
				walk(it, fmt.Sprintf("%s[%d]", path, i))
			}
		}
		walk(root, "")
	}
}
