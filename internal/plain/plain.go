// Package plain converts the mangled names of kernels and functions to readable ones. It
// knows nothing about programs.
package plain

import (
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// widest is the maximum length of a name as shown, our choice.
const widest = 60

// short and instance select what is omitted from a name.
var (
	short    = []demangle.Option{demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams}
	instance = []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams}
)

// Name is a readable name for use by itself: without parameters and template arguments. Names
// that are not mangled C++ names stay.
func Name(mangled string) string { return clip(demangle.Filter(mangled, short...)) }

// Instance is Name with template arguments, for messages about one of several
// instances.
func Instance(mangled string) string { return clip(demangle.Filter(mangled, instance...)) }

// Names is Name for all names of a table. It adds template arguments, or else parameters, if
// two of them would otherwise be the same.
func Names(mangled []string) []string {
	users := map[string]string{} // short name to full name
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
			// Overloads without templates still share a name; only their parameters differ.
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

// clip omits the middle of a very long name, since its end says what it is for.
func clip(name string) string {
	if utf8.RuneCountInString(name) <= widest {
		return name
	}
	r := []rune(name)
	half := (widest - 1) / 2
	return string(r[:half]) + "…" + string(r[len(r)-half:])
}
