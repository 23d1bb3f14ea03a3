package flow

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// DOT writes the graph in Graphviz's language. line returns the text of each block's lines.
// Loops are frames around their blocks, edges back to a header are bold, edges that no
// execution takes are grey, and unreachable blocks are dashed. A dotted edge leads from each
// block in which lanes can diverge to where they reconverge.
func (g *Graph) DOT(w io.Writer, title string, line func(pc int) string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %s {\n", quote(title))
	fmt.Fprintf(out, "\tlabel=%s; labelloc=t; fontname=monospace;\n", quote(title+g.summary()))
	fmt.Fprintf(out, "\tnode [shape=box, fontname=monospace];\n")
	fmt.Fprintf(out, "\texit [shape=oval, label=\"exit\"];\n")

	// Blocks of a loop are inside its frame, others outside. Frames nest as loops do, and
	// loops are ordered outermost first.
	for b := range g.Blocks {
		if g.loopOf[b] < 0 {
			g.dotBlock(out, b, "\t", line)
		}
	}
	for l := range g.Loops {
		if g.Loops[l].Parent < 0 {
			g.dotLoop(out, l, line)
		}
	}
	for b := range g.Blocks {
		blk := &g.Blocks[b]
		for _, s := range blk.Succs {
			style := ""
			if g.Reachable(b) && g.Dominates(s, b) {
				style = " [style=bold, label=\"back\"]"
			}
			fmt.Fprintf(out, "\tb%d -> b%d%s;\n", b, s, style)
		}
		switch {
		case blk.Endless:
			fmt.Fprintf(out, "\tb%d -> exit [color=gray, label=\"never\"];\n", b)
		case blk.Leaves:
			fmt.Fprintf(out, "\tb%d -> exit;\n", b)
		}
		if g.Diverges(b) {
			fmt.Fprintf(out, "\tb%d -> %s [style=dotted, color=blue, constraint=false, label=\"reconverge\"];\n", b, node(g.IPDom(b)))
		}
	}
	fmt.Fprintf(out, "}\n")
	return out.Flush()
}

func (g *Graph) summary() string {
	s := fmt.Sprintf("\n%d blocks, %d loops", len(g.Blocks), len(g.Loops))
	if g.Irreducible {
		s += ", irreducible"
	}
	return s
}

func (g *Graph) dotLoop(out io.Writer, l int, line func(int) string) {
	loop := &g.Loops[l]
	indent := strings.Repeat("\t", min(loop.Depth, 8))
	fmt.Fprintf(out, "%ssubgraph cluster_%d {\n", indent, l)
	fmt.Fprintf(out, "%s\tlabel=\"loop of b%d, depth %d\"; color=gray;\n", indent, loop.Header, loop.Depth)
	for _, b := range loop.own {
		g.dotBlock(out, b, indent+"\t", line)
	}
	for _, inner := range loop.inner {
		g.dotLoop(out, inner, line)
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

func (g *Graph) dotBlock(out io.Writer, b int, indent string, line func(int) string) {
	var text strings.Builder
	fmt.Fprintf(&text, "b%d\n", b)
	blk := &g.Blocks[b]
	for pc := blk.First; pc <= blk.Last; pc++ {
		fmt.Fprintf(&text, "%4d  %s\n", pc, line(pc))
	}
	style := ""
	if !g.Reachable(b) {
		style = ", style=dashed"
	}
	// \l ends a left-aligned line.
	label := strings.ReplaceAll(quote(text.String()), `\n`, `\l`)
	fmt.Fprintf(out, "%sb%d [label=%s%s];\n", indent, b, label, style)
}

func node(block int) string {
	if block == Exit {
		return "exit"
	}
	return fmt.Sprintf("b%d", block)
}

// quote returns s as a Graphviz string; control characters other than the newline are
// replaced by blanks.
func quote(s string) string {
	var q strings.Builder
	q.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			q.WriteByte('\\')
			q.WriteRune(r)
		case r == '\n':
			q.WriteString(`\n`)
		case r < ' ':
			q.WriteByte(' ')
		default:
			q.WriteRune(r)
		}
	}
	q.WriteByte('"')
	return q.String()
}
