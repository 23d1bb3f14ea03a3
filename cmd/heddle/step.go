package main

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a person types the commands.
func isTerminal(e env) bool {
	f, ok := e.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
