package cli

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether commands are typed at a terminal.
func isTerminal(e env) bool {
	f, ok := e.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
