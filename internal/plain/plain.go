// Package plain gives kernels and functions the names that people read, where
// compilers have mangled them. It knows nothing of programs.
package plain

import (
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// widest is how many letters of a name are shown, our choice.
const widest = 60

// short and instance are what is left out of a name.
var (
	short    = []demangle.Option{demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams}
	instance = []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams}
)

// Name is a name as people read it where it stands alone: without parameters and
// template arguments. Names that are not C++'s stay.
func Name(mangled string) string { return clip(demangle.Filter(mangled, short...)) }

// Instance is Name with template arguments, for messages about one of several
// instances.
func Instance(mangled string) string { return clip(demangle.Filter(mangled, instance...)) }

// Names is Name for all names of a table: with template arguments, or else with
// parameters, where two of them could not be told apart otherwise.
func Names(mangled []string) []string {
	users := map[string]string{} // of a short name: the name
	shared := map[string]bool{}
	for _, n := range mangled {
		s := demangle.Filter(n, short...)
		if other, ok := users[s]; ok && other != n {
			shared[s] = true
		}
		users[s] = n
	}
	list := make([]string, len(mangled))
	for i, n := range mangled {
		s := demangle.Filter(n, short...)
		if shared[s] {
			// Overloads without templates still share it; then only parameters differ.
			if long := demangle.Filter(n, instance...); long != s {
				s = long
			} else {
				s = demangle.Filter(n)
			}
		}
		list[i] = clip(s)
	}
	return list
}

// clip leaves the middle of a very long name out: its end says what it is for.
func clip(name string) string {
	if utf8.RuneCountInString(name) <= widest {
		return name
	}
	r := []rune(name)
	half := (widest - 1) / 2
	return string(r[:half]) + "…" + string(r[len(r)-half:])
}
