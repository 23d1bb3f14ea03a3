package compile

import (
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: lines of the source from which the PTX was made.

// fromSources gives a kernel's code the lines that the .loc directives of the PTX name; where there is
// none, it keeps that of the PTX.
func fromSources(k *sass.Kernel, m *ptx.Module, fn *ptx.Func) {
	at := map[int]*ptx.Loc{}
	for _, in := range fn.Code {
		if l := in.Loc; l != nil && l.Line > 0 && m.Files[l.File] != "" {
			at[int(in.Pos.Line)] = l
		}
	}
	of := func(line int) (string, int) {
		if l := at[line]; l != nil {
			return m.Files[l.File], l.Line
		}
		return m.File, line
	}
	list := k.Lines
	k.Lines = nil
	for _, l := range list {
		l.File, l.Line = of(l.Line)
		if n := len(k.Lines); n == 0 || k.Lines[n-1].File != l.File || k.Lines[n-1].Line != l.Line {
			k.Lines = append(k.Lines, l)
		}
	}
	source := k.Source
	k.Source = func(i int) (string, int) {
		_, line := source(i)
		return of(line)
	}
}
