package ptx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// corpora are patterns of PTX from real compilers, with the folders that the
// environment variable HEDDLE_TEST_PTX lists.
func corpora() []string {
	list := []string{"../../isa/ptx/testdata/corpus/*.ptx", "../../../examples/*/*.ptx"}
	for _, dir := range filepath.SplitList(os.Getenv("HEDDLE_TEST_PTX")) {
		list = append(list, filepath.Join(dir, "*.ptx"))
	}
	return list
}

// TestCorpusLoads links every file by itself and checks which kernels can run. All must
// except those that call a function which their file only declares; in the large corpus at
// least 97 of 100 must run.
func TestCorpusLoads(t *testing.T) {
	for _, dir := range corpora() {
		files, err := filepath.Glob(dir)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", dir, err)
		}
		kernels, bad := 0, 0
		lacks := map[string]int{}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			mod, err := ptx.Parse(filepath.Base(name), src)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			p, err := xptx.Link(mod)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, k := range p.Kernels() {
				kernels++
				if why := k.Unusable(); len(why) > 0 {
					bad++
					_, text, _ := strings.Cut(why[0].Error(), " ")
					lacks[text]++
					if !strings.Contains(text, "undeclared function") && !strings.Contains(text, "no definition") && !strings.Contains(text, "only a prototype") {
						t.Errorf("kernel %s cannot run: %v", k.Name(), why[0])
					}
				}
				if k.Registers() < 0 || len(k.Functions()) == 0 {
					t.Errorf("%s: kernel %s is not analysed", name, k.Name())
				}
			}
		}
		t.Logf("%s: %d files, %d kernels, %d cannot run: %v", dir, len(files), kernels, bad, lacks)
		if kernels > 500 && bad*100 > kernels*3 {
			t.Errorf("%s: %d of %d kernels cannot run, more than 3 of 100", dir, bad, kernels)
		}
	}
}
