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

// This file: machines of the Kepler-style core. They have keys of their own,
// which package kepler declares; nothing of a GPU in schema.go is theirs.

// keplerCore is what such a machine's file says of its core.
const keplerCore = "kepler"

// Kepler is a machine of the Kepler-style core.
type Kepler struct {
	kepler.Config
	Description string

	// sources says where values come from that are neither a default nor the
	// conformance level's, by key.
	sources map[string]string
}

// NewKepler returns the machine that is built in.
func NewKepler() *Kepler {
	return &Kepler{
		Config: kepler.ConfigFor(kepler.Datasheet), sources: map[string]string{},
		Description: "educational SIMT core in the manner of Kepler: 24 warps, dual issue, mock memory",
	}
}

// IsKepler reports whether a name or file is a machine of the Kepler-style
// core, as far as it can be read: what is wrong with it is found when it is
// loaded.
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

// under is a path as seen from a folder.
func under(name, from string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(from, name)
}

// LoadKepler returns the machine of the Kepler-style core of a name, or of a
// file in TOML. Its values are checked.
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

// loadKepler does not check. from is the folder that a path starts at, seen are
// the files that extend it.
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
		return nil, fmt.Errorf("%s: more than %d files extend each other", seen[0], maxExtends)
	}
	return readKepler(file, text, func(base string) (*Kepler, error) {
		if base != kepler.Name && filepath.Ext(base) != ".toml" {
			return nil, fmt.Errorf("there is no machine %q of the Kepler-style core; there is %q", base, kepler.Name)
		}
		return loadKepler(base, filepath.Dir(file), seen)
	})
}

// readKepler reads a machine from the text of a file. What it leaves out is as
// in the machine that it extends, or else as in the one that is built in.
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
			return nil, fmt.Errorf("%s: extends takes the name of a GPU or a file", d.at("extends"))
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
			return fmt.Errorf("%s takes a text", key)
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
			return fmt.Errorf("core = %q: a machine of the Kepler-style core has core = %q", text, keplerCore)
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

// Put gives a setting a value in words. The conformance level sets every switch,
// so it is put before them: see LevelFirst. Whether values fit together is for
// Check.
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

// Set changes settings as a command line does with key=value, and checks what
// comes of it. A setting of something that is not there is refused.
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
			return fmt.Errorf("setting %s: there is no such thing on this machine; set %s too", s.text, more)
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
// value what it is and what it counts, behind it where it comes from. Switches
// that are as the conformance level has them are comments, so that they follow
// the level if it is changed.
func (m *Kepler) WriteTOML(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s: the whole configuration. Above each value stands what it is, behind it\n# where it comes from. To change a few values only, write a file that begins\n# with extends = %q.\n", m.Name, kepler.Name)
	fmt.Fprintf(b, "#\n# What no value changes:\n")
	for _, f := range kepler.Facts() {
		fmt.Fprintf(b, "#   %-19s %s (%s)\n", f.Name, f.Value, f.Source)
	}
	fmt.Fprintf(b, "\n# what the machine is called\nname = %s\n# one line about it\ndescription = %s\n# the core model that simulates it\ncore = %q\n\n[kepler]\n", param.Quote(m.Name), param.Quote(m.Description), keplerCore)
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
