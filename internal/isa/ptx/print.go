package ptx

import (
	"bufio"
	"io"
	"strconv"
)

// Print writes the module as PTX text in a canonical layout: one statement per
// line, blocks indented, without the comments and layout of the source. Parsing the
// text gives the same module up to positions.
func Print(w io.Writer, m *Module) error {
	p := &printer{w: bufio.NewWriter(w)}
	p.header(m)
	for _, it := range m.Items {
		switch it := it.(type) {
		case *VarDecl:
			p.varDecl(it)
			p.end(";")
		case *Func:
			p.str("\n")
			p.function(it)
		case *Directive:
			p.end(it.Raw)
		case *Alias:
			p.str(".alias ", it.Name, ", ", it.Target)
			p.end(";")
		}
	}
	return p.w.Flush()
}

// printer writes text; the writer keeps the first error.
type printer struct {
	w *bufio.Writer
}

func (p *printer) str(parts ...string) {
	for _, s := range parts {
		p.w.WriteString(s) // the error stays in the writer until Flush
	}
}

func (p *printer) num(n int64) { p.str(strconv.FormatInt(n, 10)) }

func (p *printer) end(s string) { p.str(s, "\n") }

func (p *printer) tabs(n int) {
	for range n {
		p.str("\t")
	}
}

func (p *printer) header(m *Module) {
	if m.VersionMajor != 0 {
		p.end(".version " + strconv.Itoa(m.VersionMajor) + "." + strconv.Itoa(m.VersionMinor))
	}
	for i, t := range m.Targets {
		if i == 0 {
			p.str(".target ", t)
		} else {
			p.str(", ", t)
		}
	}
	if len(m.Targets) > 0 {
		p.end("")
	}
	p.end(".address_size " + strconv.Itoa(m.AddressSize))
}

var linkageNames = [...]string{Extern: ".extern ", Visible: ".visible ", Weak: ".weak ", Common: ".common "}

var spaceNames = [...]string{SpaceReg: ".reg", SpaceSreg: ".sreg", SpaceConst: ".const", SpaceGlobal: ".global",
	SpaceLocal: ".local", SpaceParam: ".param", SpaceShared: ".shared", SpaceTex: ".tex"}

// String returns the space as PTX writes it, with its dot.
func (s StateSpace) String() string {
	if int(s) < len(spaceNames) {
		return spaceNames[s]
	}
	return ""
}

// String returns the linkage as PTX writes it, with its dot.
func (l Linkage) String() string {
	if int(l) < len(linkageNames) && l != NoLinkage {
		return linkageNames[l][:len(linkageNames[l])-1]
	}
	return ""
}

// varHead prints everything before the names of a declaration.
func (p *printer) varHead(v *Var) {
	if l := v.Linkage.String(); l != "" {
		p.str(l, " ")
	}
	p.str(v.Space.String())
	if v.Bank != 0 {
		p.str("[", strconv.Itoa(v.Bank), "]")
	}
	if len(v.Attrs) > 0 {
		p.attributes(v.Attrs)
	}
	if v.Align != 0 {
		p.str(" .align ", strconv.Itoa(v.Align))
	}
	if v.Vec != 0 {
		p.str(" .v", strconv.Itoa(v.Vec))
	}
	p.str(" .", string(v.Type))
	if v.Ptr != nil {
		p.str(" .ptr")
		if v.Ptr.Space != SpaceNone {
			p.str(" ", v.Ptr.Space.String())
		}
		if v.Ptr.Align != 0 {
			p.str(" .align ", strconv.Itoa(v.Ptr.Align))
		}
	}
}

func (p *printer) attributes(attrs []string) {
	p.str(" .attribute(")
	for i, a := range attrs {
		if i > 0 {
			p.str(", ")
		}
		p.str(a)
	}
	p.str(")")
}

func (p *printer) declarator(v *Var) {
	p.str(v.Name)
	if v.Count > 0 {
		p.str("<", strconv.Itoa(v.Count), ">")
	}
	for _, d := range v.Dims {
		p.str("[")
		if d >= 0 {
			p.num(d)
		}
		p.str("]")
	}
	if v.Init != nil {
		p.str(" = ")
		p.init(v.Init)
	}
}

func (p *printer) varDecl(d *VarDecl) {
	for i, v := range d.Vars {
		if i == 0 {
			p.varHead(v)
			p.str(" ")
		} else {
			p.str(", ")
		}
		p.declarator(v)
	}
}

func (p *printer) init(in *Init) {
	if in.List == nil {
		p.expr(in.Expr)
		return
	}
	p.str("{")
	for i, e := range in.List {
		if i > 0 {
			p.str(", ")
		}
		p.init(e)
	}
	p.str("}")
}

func (p *printer) expr(x *Expr) {
	if x.Entry != nil {
		p.str(x.Entry.Name, " = ", x.Entry.Value)
		return
	}
	if x.Sym == "" {
		p.str(x.Imm.Text)
		return
	}
	if x.Mask != 0 {
		p.str("0x", strconv.FormatUint(x.Mask, 16), "(")
	}
	p.symbol(x.Sym, x.Generic, int64(x.Imm.Bits))
	if x.Mask != 0 {
		p.str(")")
	}
}

// symbol prints a name with its offset.
func (p *printer) symbol(name string, generic bool, off int64) {
	if generic {
		p.str("generic(", name, ")")
	} else {
		p.str(name)
	}
	p.offset(off)
}

func (p *printer) offset(off int64) {
	if off == 0 {
		return
	}
	if off > 0 {
		p.str("+")
	}
	p.num(off)
}

func (p *printer) params(list []*Var) {
	p.str("(")
	for i, v := range list {
		if i > 0 {
			p.str(", ")
		}
		p.varHead(v)
		p.str(" ")
		p.declarator(v)
	}
	p.str(")")
}

func (p *printer) function(f *Func) {
	if l := f.Linkage.String(); l != "" {
		p.str(l, " ")
	}
	if f.Entry {
		p.str(".entry")
	} else {
		p.str(".func")
	}
	if len(f.Attrs) > 0 {
		p.attributes(f.Attrs)
	}
	p.str(" ")
	if f.Rets != nil {
		p.params(f.Rets)
		p.str(" ")
	}
	p.str(f.Name)
	if f.Params != nil {
		p.str(" ")
		p.params(f.Params)
	}
	for i := range f.Perf {
		p.str("\n", f.Perf[i].Raw)
	}
	if f.Body == nil {
		p.end(";")
		return
	}
	p.str("\n")
	p.block(f.Body, 0)
}

func (p *printer) block(b *Block, indent int) {
	p.tabs(indent)
	p.end("{")
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Block:
			p.block(s, indent+1)
			continue
		case *Label:
			p.tabs(indent)
			p.end(s.Name + ":")
			continue
		}
		p.tabs(indent + 1)
		switch s := s.(type) {
		case *VarDecl:
			p.varDecl(s)
			p.end(";")
		case *Inst:
			p.inst(s)
			p.end(";")
		case *Loc:
			p.end(s.Raw)
		case *Directive:
			p.end(s.Raw)
		case *Table:
			p.table(s)
		case *Func:
			p.callPrototype(s)
		}
	}
	p.tabs(indent)
	p.end("}")
}

func (p *printer) table(t *Table) {
	p.str(t.Name, ": ")
	if t.Call {
		p.str(".calltargets ")
	} else {
		p.str(".branchtargets ")
	}
	for i, n := range t.Names {
		if i > 0 {
			p.str(", ")
		}
		p.str(n)
	}
	p.end(";")
}

func (p *printer) callPrototype(f *Func) {
	p.str(f.Name, ": .callprototype ")
	if f.Rets != nil {
		p.params(f.Rets)
		p.str(" ")
	}
	p.str("_")
	if f.Params != nil {
		p.str(" ")
		p.params(f.Params)
	}
	for i := range f.Perf {
		p.str(" ", f.Perf[i].Raw)
	}
	p.end(";")
}

func (p *printer) inst(in *Inst) {
	if g := in.Guard; g != nil {
		p.str("@")
		if g.Neg {
			p.str("!")
		}
		p.operand(&g.Reg)
		p.str(" ")
	}
	p.str(in.Op)
	for _, m := range in.Mods {
		p.str(".", m)
	}
	for i := range in.Args {
		if i == 0 {
			p.str(" ")
		} else {
			p.str(", ")
		}
		p.operand(&in.Args[i])
	}
}

// String returns the instruction as Print writes it, without the semicolon.
func (in *Inst) String() string {
	var b stringWriter
	p := &printer{w: bufio.NewWriterSize(&b, 128)}
	p.inst(in)
	p.w.Flush()
	return string(b)
}

// String returns the operand as Print writes it.
func (o *Operand) String() string {
	var b stringWriter
	p := &printer{w: bufio.NewWriterSize(&b, 128)}
	p.operand(o)
	p.w.Flush()
	return string(b)
}

type stringWriter []byte

func (b *stringWriter) Write(data []byte) (int, error) {
	*b = append(*b, data...)
	return len(data), nil
}

func (p *printer) operand(o *Operand) {
	switch o.Kind {
	case OpReg, OpSpecial, OpSym, OpLabel, OpTable:
		if o.Neg && (o.Kind == OpReg && o.Var != nil && o.Var.Type.Predicate()) {
			p.str("!")
		} else if o.Neg {
			p.str("-")
		}
		p.symbol(o.Name, o.Generic, 0)
		if o.Elem != "" {
			p.str(".", o.Elem)
		}
		if o.Kind == OpSym || o.Kind == OpReg {
			p.offset(int64(o.Imm.Bits))
		}
	case OpImm:
		p.str(o.Imm.Text)
	case OpSink:
		p.str("_")
	case OpAddr:
		p.str("[")
		p.operand(&o.List[0])
		p.offset(o.Offset)
		p.str("]")
	case OpVec:
		p.list("{", o.List, "}")
	case OpList:
		p.list("(", o.List, ")")
	case OpPair:
		p.operand(&o.List[0])
		p.str("|")
		p.operand(&o.List[1])
	case OpTexAddr:
		p.str("[")
		for i := range o.List {
			if i > 0 {
				p.str(", ")
			}
			if part := &o.List[i]; part.Kind == OpAddr {
				p.operand(&part.List[0])
				p.offset(part.Offset)
			} else {
				p.operand(part)
			}
		}
		p.str("]")
	}
}

func (p *printer) list(open string, ops []Operand, closing string) {
	p.str(open)
	for i := range ops {
		if i > 0 {
			p.str(", ")
		}
		p.operand(&ops[i])
	}
	p.str(closing)
}
