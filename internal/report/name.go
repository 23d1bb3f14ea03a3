package report

import (
	"slices"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// widestName is how many letters of a kernel's name a table shows, our choice.
const widestName = 60

// plain returns kernels under names as a program's source has them: without
// parameters, and without template arguments where these do not tell two kernels
// apart. Names that are not C++'s stay, and all in JSON.
func plain(kernels []Kernel) []Kernel {
	users := map[string]string{} // of a short name: the kernel
	shared := map[string]bool{}
	for _, k := range kernels {
		short := demangle.Filter(k.Name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams)
		if other, ok := users[short]; ok && other != k.Name {
			shared[short] = true
		}
		users[short] = k.Name
	}
	list := slices.Clone(kernels)
	for i := range list {
		k := &list[i]
		short := demangle.Filter(k.Name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams)
		if shared[short] {
			// Overloads without templates still share it; then only parameters differ.
			if long := demangle.Filter(k.Name, demangle.NoParams, demangle.NoEnclosingParams); long != short {
				short = long
			} else {
				short = demangle.Filter(k.Name)
			}
		}
		k.Name = clip(short)
	}
	return list
}

// Name is a kernel's name as people read it, where it stands alone: without
// parameters and template arguments.
func Name(kernel string) string {
	return clip(demangle.Filter(kernel, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams))
}

// clip leaves the middle of a very long name out: its end says what it is for.
func clip(name string) string {
	if utf8.RuneCountInString(name) <= widestName {
		return name
	}
	r := []rune(name)
	half := (widestName - 1) / 2
	return string(r[:half]) + "…" + string(r[len(r)-half:])
}
