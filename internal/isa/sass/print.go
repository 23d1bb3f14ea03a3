package sass

import (
	"fmt"
	"slices"
	"strings"
)

// Text writes the program as text that Parse reads.
func (f *File) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".arch %s\n", f.Arch)
	for _, line := range f.Head() {
		b.WriteString(line + "\n")
	}
	for _, k := range f.Kernels {
		b.WriteByte('\n')
		b.WriteString(k.Listing(f.Notes(k)))
	}
	return b.String()
}

// Listing is the kernel as it stands in a program's text. notes are lines before the instructions
// with their numbers.
func (k *Kernel) Listing(notes map[int]string) string {
	var b strings.Builder
	for _, d := range k.directives() {
		b.WriteString(d)
		b.WriteByte('\n')
	}
	names := k.labelNames()
	k.lines(func(i int) {
		b.WriteString(notes[i])
		k.writeInst(&b, i, names)
	}, func(name string) { b.WriteString(name + ":\n") })
	return b.String()
}

// directives returns the kernel's directives, one per line.
func (k *Kernel) directives() []string {
	list := []string{".kernel " + k.Name}
	used := 0
	for _, p := range k.Params {
		line, at := fmt.Sprintf(".param %s, %d", p.Name, p.Bytes), p.Offset-k.Arch.ParamBase()
		if at != nextParam(used, p.Bytes) {
			line += fmt.Sprintf(", 0x%x", at)
		}
		list, used = append(list, line), at+p.Bytes
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
	if t := k.MaxThreads; t != [3]uint32{} {
		list = append(list, fmt.Sprintf(".maxthreads %d, %d, %d", t[0], t[1], t[2]))
	}
	if t := k.Block; t != [3]uint32{} {
		list = append(list, fmt.Sprintf(".block %d, %d, %d", t[0], t[1], t[2]))
	}
	for _, c := range k.Consts {
		list = append(list, fmt.Sprintf(".const %d, 0x%x, %s", c.Bank, c.Offset, words(c.Bytes)))
	}
	return list
}

// lines calls one function for each instruction, the other for each label before it.
func (k *Kernel) lines(inst func(i int), label func(name string)) {
	labels := slices.Clone(k.Labels)
	slices.SortStableFunc(labels, func(a, b Label) int { return a.Index - b.Index })
	for i := 0; i <= len(k.Code); i++ {
		for len(labels) > 0 && labels[0].Index <= i {
			label(labels[0].Name)
			labels = labels[1:]
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

func (k *Kernel) writeInst(b *strings.Builder, i int, labels map[int64]string) {
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
	guard, text := "", in.text(labels)
	if strings.HasPrefix(text, "@") {
		guard, text, _ = strings.Cut(text, " ")
	}
	fmt.Fprintf(b, "%*s %s ;\n", guardWidth, guard, text)
}
