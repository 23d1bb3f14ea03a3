package fatbin

import (
	"debug/elf"
	"errors"
	"fmt"
)

// sections are the ELF sections that hold fat binaries: in a program, and in
// relocatable device code before linking.
var sections = []string{".nv_fatbin", "__nv_relfatbin"}

// Scan returns the device code of an executable, a shared library or an object.
// It fails if the file is not ELF or has no device code.
func Scan(path string) ([]Entry, error) {
	f, err := elf.Open(path)
	if err != nil {
		var bad *elf.FormatError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("%s: not an ELF file: %w", path, err)
		}
		return nil, err
	}
	defer f.Close()
	var list []Entry
	for _, name := range sections {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("%s: section %s: %w", path, name, err)
		}
		entries, err := Parse(b)
		if err != nil {
			return nil, fmt.Errorf("%s: section %s: %w", path, name, err)
		}
		list = append(list, entries...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no device code (no section %s)", path, sections[0])
	}
	return list, nil
}
