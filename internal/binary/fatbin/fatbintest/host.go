// Package fatbintest makes files of the host that hold fat binaries, for tests: what compilers and
// ar make of device code.
package fatbintest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// Object is an ELF file with a section that holds blocks one after another.
func Object(section string, blocks ...[]byte) []byte {
	const header, entry = 64, 64
	names := "\x00.shstrtab\x00" + section + "\x00"
	body := append(bytes.Join(blocks, nil), names...)
	table := header + (len(body)+7)&^7
	h := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Shoff: uint64(table), Ehsize: header, Shentsize: entry, Shnum: 3, Shstrndx: 1,
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	code := len(body) - len(names)
	var b bytes.Buffer
	write := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a Buffer does not fail
	write(h)
	b.Write(body)
	b.Write(make([]byte, table-b.Len()))
	write(elf.Section64{})
	write(elf.Section64{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: uint64(header + code), Size: uint64(len(names))})
	write(elf.Section64{Name: 11, Type: uint32(elf.SHT_PROGBITS), Off: header, Size: uint64(code)})
	return b.Bytes()
}

// Archive is an archive as ar makes it, with a table of symbols and one of long names.
func Archive(members ...[]byte) []byte {
	b := []byte("!<arch>\n")
	add := func(name string, data []byte) {
		b = append(b, fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, len(data))...)
		b = append(b, data...)
		if len(data)%2 != 0 {
			b = append(b, '\n')
		}
	}
	const long = "an_object_with_a_long_name.o"
	add("/", make([]byte, 5))
	add("//", []byte(long+"/\n"))
	for i, m := range members {
		name := fmt.Sprintf("%d.o/", i)
		if i == 0 {
			name = "/0"
		}
		add(name, m)
	}
	return b
}
