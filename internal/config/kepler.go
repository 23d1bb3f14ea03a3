package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/param"
)

// This file: machines of the Kepler-style core. Package kepler declares their keys;
// they have none of those in schema.go.

// keplerCore is the value of core in such a machine's file.
const keplerCore = "kepler"

// Kepler is a machine of the Kepler-style core.
type Kepler struct {
	kepler.Config
	Description string

	// sources says where values come from, by key, except for defaults and those of
	// the conformance level.
	sources map[string]string
}

// NewKepler returns the built-in machine.
func NewKepler() *Kepler {
	return &Kepler{
		Config: kepler.ConfigFor(kepler.Datasheet), sources: map[string]string{},
		Description: "educational SIMT core in the manner of Kepler: 24 warps, dual issue, mock memory",
	}
}

// IsKepler reports whether a name or file is a machine of the Kepler-style core. It
// does not report errors in the file: loading does.
func IsKepler(name string) bool { return isKepler(name, "", maxExtends) }

func isKepler(name, from string, depth int) bool {
	if name == kepler.Name {
		return true
	}
	if depth == 0 || filepath.Ext(name) != ".toml" {
		return false
	}
	file := under(name, from)
	text, err := readFile(file)
	if err != nil {
		return false
	}
	var head struct{ Core, Extends string }
	if _, err := toml.Decode(text, &head); err != nil {
		return false
	}
	return head.Core == keplerCore || head.Extends != "" && isKepler(head.Extends, filepath.Dir(file), depth-1)
}

// under resolves a path relative to a folder.
func under(name, from string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(from, name)
}

// LoadKepler returns the machine of the Kepler-style core with a name, or that of a
// TOML file. Its values are checked.
func LoadKepler(name string) (*Kepler, error) {
	m, err := loadKepler(name, "", nil)
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("GPU %s: %w", name, err)
	}
	return m, nil
}

// loadKepler is LoadKepler without checks. Paths are relative to the folder from;
// seen are the files that extend this one.
func loadKepler(name, from string, seen []string) (*Kepler, error) {
	if name == kepler.Name {
		return NewKepler(), nil
	}
	file := under(name, from)
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	if slices.Contains(seen, file) {
		return nil, fmt.Errorf("%s extends itself: %s", file, strings.Join(append(seen, file), " → "))
	}
	if seen = append(seen, file); len(seen) > maxExtends {
		return nil, fmt.Errorf("%s: extends chain longer than %d files", seen[0], maxExtends)
	}
	return readKepler(file, text, func(base string) (*Kepler, error) {
		if base != kepler.Name && filepath.Ext(base) != ".toml" {
			return nil, fmt.Errorf("unknown machine %q of the Kepler-style core; want %q", base, kepler.Name)
		}
		return loadKepler(base, filepath.Dir(file), seen)
	})
}

// readKepler reads a machine from the text of a file. Values that it leaves out are
// those of the machine that it extends, or else of the built-in one.
func readKepler(file, text string, extends func(string) (*Kepler, error)) (*Kepler, error) {
	d, err := decode(file, text)
	if err != nil {
		return nil, err
	}
	m := NewKepler()
	if base, ok := d.given["extends"]; ok {
		delete(d.given, "extends")
		name, ok := base.(string)
		if !ok || name == "" {
			return nil, fmt.Errorf("%s: want extends = the name of a GPU or a file", d.at("extends"))
		}
		if m, err = extends(name); err != nil {
			return nil, fmt.Errorf("%s: extends: %w", d.at("extends"), err)
		}
		for k, s := range m.sources {
			if !strings.Contains(s, " (as ") {
				m.sources[k] = fmt.Sprintf("%s (as %s)", s, m.Name)
			}
		}
	}
	var errs []error
	names := slices.Sorted(maps.Keys(d.given))
	slices.SortStableFunc(names, func(a, b string) int { return d.places[a].line - d.places[b].line })
	slices.SortStableFunc(names, LevelFirst)
	for _, n := range names {
		source, _ := d.source(n)
		if err := m.put(n, d.given[n], source); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.at(n), err))
		}
	}
	return m, errors.Join(errs...)
}

// put assigns a value of a file.
func (m *Kepler) put(key string, v any, source string) error {
	text := fmt.Sprint(v)
	switch key {
	case "name", "description", "core":
		if _, ok := v.(string); !ok || key == "name" && text == "" {
			return fmt.Errorf("%s: want a text", key)
		}
		if err := param.CheckText(key, text); err != nil {
			return err
		}
	}
	switch key {
	case "name":
		m.Name = text
		return nil
	case "description":
		m.Description = text
		return nil
	case "core":
		if text != keplerCore {
			return fmt.Errorf("core = %q: want %q for a machine of the Kepler-style core", text, keplerCore)
		}
		return nil
	}
	k := kepler.KeyByName(key)
	if k == nil {
		return unknownKey(kepler.Name, key, kepler.Keys())
	}
	return m.assign(k, v, source)
}

func (m *Kepler) assign(k *Key, v any, source string) error {
	if err := m.Assign(k, v); err != nil {
		return err
	}
	if k.Name == kepler.LevelKey {
		maps.DeleteFunc(m.sources, func(k, _ string) bool { return strings.HasPrefix(k, kepler.SwitchTable) })
	}
	m.sources[k.Name] = oneLine(source)
	return nil
}

// Put sets a value given as text. The conformance level sets every switch, so put
// it before them: see LevelFirst. Check finds contradictions.
func (m *Kepler) Put(key, value, source string) error {
	k := kepler.KeyByName(key)
	if k == nil {
		return unknownKey(kepler.Name, key, kepler.Keys())
	}
	v, err := k.Parse(value)
	if err != nil {
		return err
	}
	return m.assign(k, v, source)
}

// Set changes settings as key=value on a command line does, and checks the result.
// Settings of a part that the machine does not have are refused.
func (m *Kepler) Set(assignments ...string) error {
	type set struct{ text, key, value string }
	var list []set
	for _, a := range assignments {
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("setting %s: write KEY=VALUE", a)
		}
		list = append(list, set{a, strings.TrimSpace(key), strings.TrimSpace(value)})
	}
	slices.SortStableFunc(list, func(a, b set) int { return LevelFirst(a.key, b.key) })
	for _, s := range list {
		if err := m.Put(s.key, s.value, "set by -C"); err != nil {
			return fmt.Errorf("setting %s: %w", s.text, err)
		}
	}
	for _, s := range list {
		if more := m.Needs(s.key); more != "" {
			return fmt.Errorf("setting %s: this machine has no such part; set %s too", s.text, more)
		}
	}
	err := m.Check()
	if err != nil && len(assignments) > 0 {
		return fmt.Errorf("setting %s: %w", strings.Join(assignments, ", "), err)
	}
	return err
}

// LevelFirst orders keys so that the conformance level comes before what it
// sets.
func LevelFirst(a, b string) int {
	switch {
	case a == b:
	case a == kepler.LevelKey:
		return -1
	case b == kepler.LevelKey:
		return 1
	}
	return 0
}

// WriteTOML writes the whole machine as a file that LoadKepler reads: above each
// value its description and unit, after it its source. Switches with the value of
// the conformance level are comments, so that they follow the level when it
// changes.
func (m *Kepler) WriteTOML(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s: the whole configuration. Above each value is its description, after it its\n# source. To change only a few values, write a file that starts with\n# extends = %q.\n", m.Name, kepler.Name)
	fmt.Fprintf(b, "#\n# Fixed values:\n")
	for _, f := range kepler.Facts() {
		fmt.Fprintf(b, "#   %-19s %s (%s)\n", f.Name, f.Value, f.Source)
	}
	fmt.Fprintf(b, "\n# name of the machine\nname = %s\n# one-line description\ndescription = %s\n# core model that simulates it\ncore = %q\n\n[kepler]\n", param.Quote(m.Name), param.Quote(m.Description), keplerCore)
	for i := range kepler.Keys() {
		k := &kepler.Keys()[i]
		source, given := m.sources[k.Name]
		off := ""
		switch {
		case given:
		case strings.HasPrefix(k.Name, kepler.SwitchTable):
			off, source = "# ", fmt.Sprintf("as %s has it; %s", kepler.LevelKey, k.Source)
		default:
			source = k.Source
		}
		fmt.Fprintf(b, "%s\n%s%s = %s  # %s\n", comment(k), off, strings.TrimPrefix(k.Name, "kepler."), k.Format(&m.Config), source)
	}
	return b.Flush()
}
