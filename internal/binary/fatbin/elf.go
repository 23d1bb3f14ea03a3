package fatbin

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The ELF sections that hold fat binaries: in a program, and in relocatable device code, which is
// linked before it runs.
const (
	linkedSection      = ".nv_fatbin"
	relocatableSection = "__nv_relfatbin"
)

// Entries returns the device code of a host file in memory: what its Modules hold. The error names the
// file.
func Entries(name string, file []byte) ([]Entry, error) {
	modules, err := Modules(name, file)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, m := range modules {
		entries, err := Parse(m.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		list = append(list, entries...)
	}
	return list, nil
}

// noCode is the error for a file without device code.
func noCode(file string) error {
	return fmt.Errorf("%s: no device code (no section %s)", file, linkedSection)
}

// sectionBytes returns what a section holds, nil if there is none.
func sectionBytes(f *elf.File, name string) ([]byte, error) {
	s := f.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	b, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", name, err)
	}
	return b, nil
}

// Module is one fat binary of a file: the device code of one source file, or of several that were
// linked.
type Module struct {
	Name string // for messages: the file and, if it has several, the number from 1 on
	Data []byte
}

// elfModules returns the fat binaries of an ELF file, none if there are none.
func elfModules(name string, file []byte) ([]Module, error) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is cut off, or its header is damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: this is no ELF file of device code, nor one of the host: %w", name, err)
	}
	for _, section := range []string{linkedSection, relocatableSection} {
		b, err := sectionBytes(f, section)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		blocks, err := Blocks(b)
		if err != nil {
			return nil, fmt.Errorf("%s: section %s: %w", name, section, err)
		}
		var list []Module
		for _, x := range blocks {
			if x.Bytes > HeaderBytes { // some are empty
				list = append(list, Module{Data: b[x.At : x.At+x.Bytes]})
			}
		}
		for i := range list {
			list[i].Name = name
			if len(list) > 1 {
				list[i].Name = fmt.Sprintf("%s, module %d", name, i+1)
			}
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	return nil, nil
}

// IsHost reports whether bytes begin like a file that may hold fat binaries: an ELF file, or an
// archive of them.
func IsHost(b []byte) bool {
	return bytes.HasPrefix(b, []byte(elf.ELFMAG)) || bytes.HasPrefix(b, []byte(archiveMagic))
}

// archiveMagic begins an archive (ar(5)).
const archiveMagic = "!<arch>\n"

// Member is a file of an archive.
type Member struct {
	Name string
	Data []byte
}

// Members returns the files of an archive, without its tables of symbols and names. The error says
// at which offset it is damaged.
func Members(archive []byte) ([]Member, error) {
	// A header has text in columns: the name, 16 bytes, and at 48 the size in 10; it ends with
	// a mark.
	const header, nameBytes, sizeAt, sizeBytes, mark = 60, 16, 48, 10, "`\n"
	var list []Member
	var names []byte // of the System V table of long names
	for at := len(archiveMagic); at < len(archive); {
		rest := archive[at:]
		if len(rest) < header || string(rest[header-len(mark):header]) != mark {
			return nil, fmt.Errorf("archive: no member begins at offset %d; want a header of %d bytes", at, header)
		}
		name := strings.TrimRight(string(rest[:nameBytes]), " ")
		n, err := strconv.ParseUint(strings.TrimRight(string(rest[sizeAt:sizeAt+sizeBytes]), " "), 10, 63)
		if err != nil || n > uint64(len(rest)-header) {
			return nil, fmt.Errorf("archive: the member at offset %d has a size of %q bytes, but %d are left", at, rest[sizeAt:sizeAt+sizeBytes], len(rest)-header)
		}
		data := rest[header : header+int(n)]
		switch {
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"): // symbols
		case name == "//":
			names = data
		default:
			list = append(list, Member{longName(name, names), data})
		}
		at += header + int(n+n&1)
	}
	return list, nil
}

// longName is the name of a member: as it stands in its header, where a slash may end it, or from
// an offset of the table of names on, up to a slash.
func longName(name string, names []byte) string {
	if at, err := strconv.Atoi(strings.TrimPrefix(name, "/")); err == nil && name[0] == '/' && at >= 0 && at < len(names) {
		long, _, _ := bytes.Cut(names[at:], []byte("/\n"))
		return string(long)
	}
	return strings.TrimSuffix(name, "/")
}

// Modules returns the fat binaries of a host file in memory: an executable, a shared library, an
// object, or an archive, whose members without device code are left out. Relocatable device code
// counts only if there is no other in the same ELF file, since a program with both holds what was
// linked of it. The error names the file.
func Modules(name string, file []byte) ([]Module, error) {
	if !bytes.HasPrefix(file, []byte(archiveMagic)) {
		list, err := elfModules(name, file)
		if err == nil && len(list) == 0 {
			err = noCode(name)
		}
		return list, err
	}
	members, err := Members(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var list []Module
	for _, m := range members {
		if !bytes.HasPrefix(m.Data, []byte(elf.ELFMAG)) {
			continue
		}
		modules, err := elfModules(fmt.Sprintf("%s(%s)", name, m.Name), m.Data)
		if err != nil {
			return nil, err
		}
		list = append(list, modules...)
	}
	if len(list) == 0 {
		return nil, noCode(name)
	}
	return list, nil
}
