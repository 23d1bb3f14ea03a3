package sass

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatHex writes a program as words: two of 16 hex digits per line, low word first.
// Directives and labels are lines that start with #.
func FormatHex(f *File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# .arch %s\n", f.Arch)
	for _, k := range f.Kernels {
		for _, d := range k.directives() {
			b.WriteString("# " + d + "\n")
		}
		k.lines(
			func(i int) { fmt.Fprintf(&b, "%016x %016x\n", k.Code[i].Words[0], k.Code[i].Words[1]) },
			func(name string) { b.WriteString("# " + name + ":\n") })
	}
	return b.String()
}

// IsHex reports whether a text looks like the output of FormatHex rather than one word per
// line: its first significant line has two words, or an architecture.
func IsHex(text string) bool {
	for line := range strings.Lines(text) {
		s := strings.TrimSpace(line)
		if note, ok := strings.CutPrefix(s, "#"); ok {
			if f := strings.Fields(note); len(f) > 0 && (f[0] == ".arch" || f[0] == ".kernel") {
				return true
			}
			continue
		}
		if s != "" {
			f := strings.Fields(s)
			return len(f) == 2 && len(f[0]) == 16
		}
	}
	return false
}

// ParseHex reads the output of FormatHex. Lines that start with # are directives and labels,
// or comments. Words before any .kernel form a separate kernel; words that do not decode stay
// words. arch applies if the file has no .arch. On error it returns an ErrorList.
func ParseHex(name, text string, arch Arch) (*File, error) {
	p := &parser{file: &File{Name: name, Arch: arch}, hex: true}
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		p.lineNo, p.line = i+1, strings.TrimSuffix(line, "\r")
		p.hexLine(strings.TrimSpace(p.line))
		if len(p.errs) >= maxErrors {
			break
		}
	}
	p.finishHex()
	if len(p.errs) > 0 {
		return nil, sorted(p.errs)
	}
	return p.file, nil
}

// hexLine reads one line.
func (p *parser) hexLine(s string) {
	col := strings.Index(p.line, s) + 1
	if note, ok := strings.CutPrefix(s, "#"); ok {
		note = strings.TrimSpace(note)
		if m := labelPattern.FindString(note); m == note && note != "" {
			p.hexKernel(col)
			p.label(strings.TrimSuffix(note, ":"), col)
			return
		}
		for _, d := range directives {
			if note == d || strings.HasPrefix(note, d+" ") {
				if d == ".kernel" {
					p.finishHex()
				} else if d != ".arch" {
					p.hexKernel(col)
				}
				p.directive(note, col)
			}
		}
		return
	}
	if s == "" {
		return
	}
	f := strings.Fields(s)
	if len(f) != 2 || len(f[0]) != 16 || len(f[1]) != 16 {
		p.fail(col, "for example 000000000000794d 000fea0003800000", "expected two words of 16 hex digits, the low one first")
		return
	}
	var w word128
	for i := range w {
		v, err := strconv.ParseUint(f[i], 16, 64)
		if err != nil {
			p.fail(strings.Index(p.line, f[i])+1, "", "%q is not a hexadecimal number", f[i])
			return
		}
		w[i] = v
	}
	p.hexKernel(col)
	st := statement{raw: &w, index: len(p.stmts), line: p.line}
	st.pos.Line, st.pos.Col = int32(p.lineNo), int32(col)
	p.add(st)
}

// hexKernel starts a kernel for words before any .kernel.
func (p *parser) hexKernel(col int) {
	if p.kernel == nil {
		p.startKernel("kernel", col)
	}
}

// finishHex decodes the kernel that has just been read. If no control bit is set, the kernel
// has no control codes: a compiler writes at least "no counter".
func (p *parser) finishHex() {
	k := p.kernel
	if k == nil {
		return
	}
	for i := range p.stmts {
		if controlled(*p.stmts[i].raw) {
			k.Control = true
		}
	}
	k.Code = make([]Inst, len(p.stmts))
	for i := range p.stmts {
		st := &p.stmts[i]
		in := &k.Code[i]
		if k.Control {
			*in = fromWords(k.Arch, *st.raw, uint32(i)*InstBytes)
		} else {
			var err error
			if *in, err = decodeBody(k.Arch, *st.raw, uint32(i)*InstBytes); err != nil {
				*in = fromWords(k.Arch, *st.raw, uint32(i)*InstBytes)
			}
		}
		in.Pos = st.pos
	}
	k.link()
	if k.declared = p.regs; !p.regs {
		k.Regs = max(k.usedRegs(), 1)
	}
	p.kernel = nil
}
