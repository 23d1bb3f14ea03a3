package sass

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Text writes the program as text that Parse reads.
func (f *File) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".arch %s\n", f.Arch)
	for _, k := range f.Kernels {
		b.WriteByte('\n')
		for _, d := range k.directives() {
			b.WriteString(d)
			b.WriteByte('\n')
		}
		k.lines(func(i int) { k.writeInst(&b, i) }, func(name string) { b.WriteString(name + ":\n") })
	}
	return b.String()
}

// directives returns the kernel's directives, one per line.
func (k *Kernel) directives() []string {
	list := []string{".kernel " + k.Name}
	for _, p := range k.Params {
		list = append(list, fmt.Sprintf(".param %s, %d", p.Name, p.Bytes))
	}
	if k.declared {
		list = append(list, fmt.Sprintf(".regs %d", k.Regs))
	}
	for _, d := range []struct {
		name  string
		value int
	}{{".shared", k.Shared}, {".local", k.Local}, {".barriers", k.Barriers}} {
		if d.value > 0 {
			list = append(list, fmt.Sprintf("%s %d", d.name, d.value))
		}
	}
	for _, c := range k.Consts {
		words := make([]string, 0, len(c.Bytes)/4)
		for i := 0; i+4 <= len(c.Bytes); i += 4 {
			words = append(words, fmt.Sprintf("%08x", binary.LittleEndian.Uint32(c.Bytes[i:])))
		}
		list = append(list, fmt.Sprintf(".const %d, 0x%x, %s", c.Bank, c.Offset, strings.Join(words, " ")))
	}
	return list
}

// lines calls one function for each instruction, the other for each label before it.
func (k *Kernel) lines(inst func(i int), label func(name string)) {
	for i := 0; i <= len(k.Code); i++ {
		for _, l := range k.Labels {
			if l.Index == i {
				label(l.Name)
			}
		}
		if i < len(k.Code) {
			inst(i)
		}
	}
}

// labelNames maps addresses to the first label there.
func (k *Kernel) labelNames() map[int64]string {
	m := make(map[int64]string, len(k.Labels))
	for _, l := range k.Labels {
		if _, ok := m[int64(l.Index)*InstBytes]; !ok {
			m[int64(l.Index)*InstBytes] = l.Name
		}
	}
	return m
}

// guardWidth is the indentation of the mnemonics, which leaves room for guards.
const guardWidth = 6

func (k *Kernel) writeInst(b *strings.Builder, i int) {
	in := &k.Code[i]
	if in.Op == NoOp {
		_, err := Decode(k.Arch, in.Words, in.Addr)
		b.WriteString(in.Text())
		if w, ok := err.(*WordError); ok {
			b.WriteString(" // " + w.Why)
		}
		b.WriteByte('\n')
		return
	}
	if k.Control {
		b.WriteString(in.Ctl.String())
		b.WriteByte(' ')
	}
	guard, text := "", in.text(k.labelNames())
	if strings.HasPrefix(text, "@") {
		guard, text, _ = strings.Cut(text, " ")
	}
	fmt.Fprintf(b, "%*s %s ;\n", guardWidth, guard, text)
}
