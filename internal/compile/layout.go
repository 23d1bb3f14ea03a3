package compile

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: where the variables of a kernel lie.

// layout has the places of a kernel's parameters, and of its variables in shared and local memory.
type layout struct {
	param  map[*ptx.Var]int64 // offsets in constant bank 0, but for its base
	params []*ptx.Var
	bytes  int64 // of the parameters
	shared map[*ptx.Var]int64
	static int64 // bytes of shared memory that the kernel declares
	local  map[*ptx.Var]int64
	frame  int64     // bytes of local memory
	moved  int64     // where those begin to which registers move
	kept   int64     // where those begin that calls overwrite
	below  int64     // bytes of the frame below the stack pointer
	bars   int       // named barriers
	sp     *ir.Value // the stack pointer, once it is needed
	refs   references
	desc   bool // the kernel begins by loading the descriptor of global memory
}

// mostShared is the most shared memory that a program can ask for (isa/sass).
const mostShared = 1 << 20

// alignOf is a variable's alignment in bytes.
func alignOf(v *ptx.Var) int64 {
	a := int64(max(1, v.Type.Bytes()))
	if v.Vec > 0 {
		a *= int64(v.Vec)
	}
	if v.Type.Opaque() {
		a = 8
	}
	return max(a, int64(v.Align))
}

func alignUp(n, a int64) int64 { return (n + a - 1) / a * a }

// newLayout places what a kernel uses: static variables in shared memory in the order in which the
// code names them first, then the dynamic ones, which all begin at the same place.
func newLayout(fn *ptx.Func) *layout {
	l := &layout{param: map[*ptx.Var]int64{}, shared: map[*ptx.Var]int64{}, local: map[*ptx.Var]int64{}}
	if fn.Entry { // a function has its parameters in registers
		l.params = fn.Params
	}
	for _, v := range l.params {
		l.bytes = alignUp(l.bytes, alignOf(v))
		l.param[v] = l.bytes
		if v.Type.Opaque() || v.Size() <= 0 {
			stop("the parameter "+v.Name, notYet)
		}
		l.bytes += v.Size()
	}
	var dynamic []*ptx.Var
	most := int64(16)
	var walk func(list []ptx.Operand)
	walk = func(list []ptx.Operand) {
		for i := range list {
			o := &list[i]
			walk(o.List)
			if o.Var == nil {
				continue
			}
			v := o.Var
			switch v.Space {
			case ptx.SpaceShared:
				if _, done := l.shared[v]; done {
					break
				}
				if v.Linkage == ptx.Extern || v.Size() <= 0 {
					dynamic, most = append(dynamic, v), max(most, alignOf(v))
					l.shared[v] = 0
					break
				}
				l.static = alignUp(l.static, alignOf(v))
				l.shared[v] = l.static
				l.static += v.Size()
			case ptx.SpaceLocal:
				if _, done := l.local[v]; !done {
					l.frame = alignUp(l.frame, alignOf(v))
					l.local[v] = l.frame
					l.frame += max(0, v.Size())
				}
			}
		}
	}
	for _, in := range fn.Code {
		walk(in.Args)
	}
	if len(dynamic) > 0 {
		l.static = alignUp(l.static, most)
		for _, v := range dynamic {
			l.shared[v] = l.static
		}
	}
	if l.static > mostShared {
		stop("the kernel's shared memory", fmt.Sprintf("has %d bytes, more than a block can have", l.static))
	}
	l.frame = alignUp(l.frame, 16)
	return l
}

// reserve adds bytes to the frame to which registers move, and those to which calls move some.
func (l *layout) reserve(moved, kept int64) {
	l.moved = l.frame
	l.kept = l.frame + moved
	l.frame = alignUp(l.kept+kept, 16)
}

// hang puts the frame below the stack pointer, as functions have it.
func (l *layout) hang() {
	l.below = l.frame
	l.moved -= l.below
	l.kept -= l.below
	for v := range l.local {
		l.local[v] -= l.below
	}
}
