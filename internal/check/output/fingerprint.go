package output

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
)

// Fingerprint identifies a finding in later versions of a program: the rule, the functions and
// the text of the lines, so that it stays when lines are added elsewhere or the folder is
// another. Where the source is not known the numbers of the lines stand for them.
func Fingerprint(f *check.Finding, src *Sources) string {
	h := sha256.New()
	fmt.Fprintln(h, f.Rule.ID)
	for _, s := range f.Steps {
		line := strings.Join(strings.Fields(src.Line(s.Place.File, s.Place.Line)), " ")
		if line == "" {
			line = fmt.Sprint(s.Place.Line)
		}
		fmt.Fprintf(h, "%s %s %q %q\n", s.Role, filepath.Base(s.Place.File), s.Place.Function, line)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:12])
}
