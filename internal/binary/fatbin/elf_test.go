package fatbin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin/fatbintest"
)

// TestModules: the fat binaries of files of the host, and what is wrong with damaged ones.
func TestModules(t *testing.T) {
	block := func(sm int) []byte {
		return fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: sm, Data: []byte(".version 7.0")})
	}
	one := fatbintest.Object(".nv_fatbin", block(70))
	two := fatbintest.Object(".nv_fatbin", block(70), make([]byte, 24), fatbin.Append(nil), block(80))
	open := fatbintest.Object("__nv_relfatbin", block(75))
	none := fatbintest.Object(".text", []byte("code"))
	library := fatbintest.Archive(one, none, []byte("text"), two)
	for _, c := range []struct {
		name  string
		file  []byte
		names []string
		says  string
	}{
		{"an object", one, []string{"f"}, ""},
		{"two modules, and an empty one", two, []string{"f, module 1", "f, module 2"}, ""},
		{"relocatable code", open, []string{"f"}, ""},
		{"an archive", library, []string{"f(an_object_with_a_long_name.o)", "f(3.o), module 1", "f(3.o), module 2"}, ""},
		{"no device code", none, nil, "f: no device code"},
		{"an archive without device code", fatbintest.Archive(none), nil, "f: no device code"},
		{"an empty archive", fatbintest.Archive(), nil, "f: no device code"},
		{"a truncated object", one[:100], nil, "f: this is no ELF file of device code, nor one of the host: it is cut off"},
		{"a truncated archive", library[:len(library)-10], nil, "bytes, but"},
		{"an archive that ends in a header", append(slices.Clone(library), "x"...), nil, "no member begins at offset"},
		{"a truncated block", fatbintest.Object(".nv_fatbin", block(70)[:60]), nil, "section .nv_fatbin: fat binary: truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := fatbin.Modules("f", c.file)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v; want %q", err, c.says)
				}
				return
			}
			var names []string
			for _, m := range list {
				names = append(names, m.Name)
				if e, err := fatbin.Parse(m.Data); err != nil || len(e) != 1 {
					t.Errorf("%s: %v, %v", m.Name, e, err)
				}
			}
			if err != nil || !slices.Equal(names, c.names) {
				t.Errorf("%q, %v; want %q", names, err, c.names)
			}
		})
	}
	for n := range library { // damage is reported
		_, _ = fatbin.Modules("f", library[:n])
	}
	for n := range one {
		if _, err := fatbin.Modules("f", one[:n]); err == nil {
			t.Errorf("the first %d bytes are taken for all", n)
		}
	}
}
