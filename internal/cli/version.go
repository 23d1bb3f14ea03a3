package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
)

// versionCmd is `heddle version`.
type versionCmd struct{}

// Run prints the versions.
func (versionCmd) Run(e env) error {
	commit, changed, module := "unknown", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "v"+report.Version && strings.HasPrefix(v, "v") {
			module = " (module " + v + ")"
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = " (with changes)"
			}
		}
	}
	_, err := fmt.Fprintf(e.stdout, "heddle %s%s\ngo     %s %s/%s\ncommit %s%s\n", report.Version, module, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit, changed)
	return err
}
