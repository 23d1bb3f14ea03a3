package ptx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBroken parses the files of testdata/broken. Each lists its errors in
// comments: "// want LINE:COLUMN: part of the message | part of the hint". Exactly
// these must occur.
func TestBroken(t *testing.T) {
	files := ptxFiles(t, "testdata/broken")
	if len(files) < 60 {
		t.Fatalf("only %d files", len(files))
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".ptx"), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(name), src)
			var list ErrorList
			if err != nil && !errors.As(err, &list) {
				t.Fatalf("the error is a %T", err)
			}
			wants := 0
			for line := range strings.Lines(string(src)) {
				want, ok := strings.CutPrefix(strings.TrimSpace(line), "// want ")
				if !ok {
					continue
				}
				wants++
				if !anyMatches(list, want) {
					t.Errorf("no error %q", want)
				}
			}
			if wants == 0 {
				t.Error("the file wants no error")
			}
			if t.Failed() || len(list) != wants {
				t.Errorf("%d errors, want %d:\n%s", len(list), wants, list.Detail())
			}
		})
	}
}

func anyMatches(list ErrorList, want string) bool {
	for _, e := range list {
		at := fmt.Sprintf("%d:%d: ", e.Pos.Line, e.Pos.Col)
		rest, ok := strings.CutPrefix(want, at)
		if !ok {
			continue
		}
		msg, hint, _ := strings.Cut(rest, " | ")
		if strings.Contains(e.Msg, msg) && strings.Contains(e.Hint, hint) {
			return true
		}
	}
	return false
}
