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
// another, and whichever access of a race came first. Where the source is not known the numbers
// of the lines stand for them.
func Fingerprint(f *check.Finding, src *Sources) string {
	where := sides(f, func(s *check.Step) string {
		line := strings.Join(strings.Fields(src.Line(s.Place.File, s.Place.Line)), " ")
		if line == "" {
			line = fmt.Sprint(s.Place.Line)
		}
		return fmt.Sprintf("%s %q %q", filepath.Base(s.Place.File), s.Place.Function, line)
	})
	return fmt.Sprintf("%x", sha256.Sum256([]byte(f.Rule.ID+"\n"+where)))[:24]
}
