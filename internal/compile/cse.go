package compile

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: what has been computed is not computed again.

// reusable reports whether an instruction gives the same result wherever it is.
func reusable(in *ir.Inst) bool {
	if in.Effect || in.Guard.Val != nil || in.Name == ir.Copy {
		return false
	}
	return !ordered(in) && in.Base() != "CS2R"
}

// key is equal for instructions that compute the same.
func key(in *ir.Inst) string {
	var b strings.Builder
	b.WriteString(in.Name)
	for i := range in.Args {
		a := &in.Args[i]
		if a.Dst {
			fmt.Fprintf(&b, ",%d:%d", a.Kind, len(a.Vals))
			for _, v := range a.Vals {
				if v == nil {
					b.WriteByte('-') // a result that is not wanted
				}
			}
			continue
		}
		b.WriteString("," + a.String())
	}
	return b.String()
}

// shareResults makes later instructions use the results of earlier ones that compute the same and come
// before them on all paths.
func shareResults(f *ir.Func) {
	g := f.Graph()
	known := map[string][]*ir.Inst{}
	same := map[*ir.Value]*ir.Value{}
	for _, n := range g.ReversePostOrder() {
		b := f.Blocks[n]
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) {
				if s := same[*v]; s != nil {
					*v = s
				}
			})
			if !reusable(in) {
				continue
			}
			k := key(in)
			found := false
			for _, old := range known[k] {
				if old.Block == b || g.Dominates(old.Block.ID, b.ID) {
					found = true
					from := old.Defs()
					for i, v := range in.Defs() {
						same[v] = from[i]
					}
					break
				}
			}
			if !found {
				known[k] = append(known[k], in)
			}
		}
	}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			for i, v := range p.Args {
				if s := same[v]; s != nil {
					p.Args[i] = s
				}
			}
		}
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) {
				if s := same[*v]; s != nil {
					*v = s
				}
			})
		}
		if s := same[b.Term.Cond]; s != nil {
			b.Term.Cond = s
		}
	}
}
