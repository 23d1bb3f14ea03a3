// Package plain converts the mangled names of kernels and functions to readable ones, and
// other texts of programs to lines. It
// knows nothing about programs.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// Maximum lengths of what is shown, our choice.
const (
	widest  = 60  // a name
	longest = 200 // another text
)

// short and instance select what is omitted from a name.
var (
	short    = []demangle.Option{demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams}
	instance = []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams}
)

// Name is a readable name for use by itself: without parameters and template arguments. Names
// that are not mangled C++ names stay.
func Name(mangled string) string { return clip(demangle.Filter(mangled, short...), widest) }

// Instance is Name with template arguments, for messages about one of several
// instances.
func Instance(mangled string) string { return clip(demangle.Filter(mangled, instance...), widest) }

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
		list[i] = clip(s, widest)
	}
	return list
}

// Text is a text of a program on one line: with blanks for other white space, and without
// what cannot be printed or is very long.
func Text(s string) string {
	return clip(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s), longest)
}

// clip omits the middle of a very long name, since its end says what it is for.
func clip(name string, widest int) string {
	if utf8.RuneCountInString(name) <= widest {
		return name
	}
	r := []rune(name)
	half := (widest - 1) / 2
	return string(r[:half]) + "…" + string(r[len(r)-half:])
}
