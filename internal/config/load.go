package config

import (
	"embed"
	"errors"
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/heddle-sim/heddle/internal/core/kepler"
)

//go:embed gpus/*.toml
var library embed.FS

const (
	maxFile    = 1 << 20 // bytes of a configuration file
	maxExtends = 8       // files that extend each other
)

// Names lists the built-in GPUs.
func Names() []string {
	entries, err := library.ReadDir("gpus")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// Load returns the built-in GPU with a name, or that of a file: TOML, or a
// gpgpusim.config of GPGPU-Sim and Accel-Sim with the trace.config and the network
// file in its folder. Its values are checked.
func Load(name string) (*GPU, error) {
	g, _, err := LoadWithOptions(name)
	return g, err
}

// LoadWithOptions is Load that also returns the use of each option of a
// gpgpusim.config; for other files there are none.
func LoadWithOptions(name string) (*GPU, []Option, error) {
	g, options, err := load(name, "")
	if err != nil {
		return nil, options, err
	}
	if err := g.Check(); err != nil {
		return nil, options, fmt.Errorf("GPU %s: %w", name, err)
	}
	return g, options, nil
}

// load is LoadWithOptions without checks. Paths are relative to the folder from.
func load(name, from string) (*GPU, []Option, error) {
	if isKepler(name, from, maxExtends) {
		return nil, nil, fmt.Errorf("%s is a machine of the Kepler-style core, which runs only .kasm programs; want a GPU", name)
	}
	if slices.Contains(Names(), name) {
		g, err := loadTOML(name, from, nil)
		return g, nil, err
	}
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(from, file)
	}
	st, err := os.Stat(file)
	switch {
	case err == nil && st.IsDir():
		file = filepath.Join(file, "gpgpusim.config")
		if _, err := os.Stat(file); err != nil {
			return nil, nil, fmt.Errorf("folder %s has no gpgpusim.config", name)
		}
	case err != nil && !strings.ContainsAny(name, `/\`) && filepath.Ext(name) == "":
		return nil, nil, unknownGPU(name)
	case err != nil:
		return nil, nil, fmt.Errorf("GPU %s: %w", name, err)
	}
	if filepath.Ext(file) == ".toml" {
		g, err := loadTOML(name, from, nil)
		return g, nil, err
	}
	text, err := readFile(file)
	if err != nil {
		return nil, nil, err
	}
	if filepath.Ext(file) != ".config" && !looksLikeOptions(text) {
		return nil, nil, fmt.Errorf("%s: want a GPU in TOML (*.toml) or a gpgpusim.config", name)
	}
	return loadOptions(file)
}

func unknownGPU(name string) error {
	names := append(Names(), kepler.Name)
	if n := near.Name(name, names); n != "" {
		return fmt.Errorf("unknown GPU %q; did you mean %q?", name, n)
	}
	return fmt.Errorf("unknown GPU %.60q; there are: %s", name, strings.Join(names, ", "))
}

// readFile reads a configuration file of limited length.
func readFile(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return "", err
	} else if !st.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(text) > maxFile {
		return "", fmt.Errorf("%s is longer than %d bytes: it is not a configuration file", file, maxFile)
	}
	return string(text), nil
}

// loadTOML reads a GPU file and those that it extends. seen are the files that
// extend it.
func loadTOML(name, from string, seen []string) (*GPU, error) {
	var text, file string
	builtIn, gpus := slices.Contains(Names(), name), allKeys().gpus
	if builtIn {
		if g, ok := gpus.Load(name); ok {
			return g.(*GPU).clone(), nil
		}
		raw, err := library.ReadFile("gpus/" + name + ".toml")
		if err != nil {
			return nil, err
		}
		text, file, from = string(raw), name+".toml", ""
	} else {
		file = name
		if !filepath.IsAbs(file) {
			file = filepath.Join(from, file)
		}
		var err error
		if text, err = readFile(file); err != nil {
			if errors.Is(err, os.ErrNotExist) && filepath.Ext(name) == "" {
				return nil, unknownGPU(name)
			}
			return nil, err
		}
		from = filepath.Dir(file)
	}
	if slices.Contains(seen, file) {
		return nil, fmt.Errorf("%s extends itself: %s", file, strings.Join(append(seen, file), " → "))
	}
	seen = append(seen, file)
	if len(seen) > maxExtends {
		return nil, fmt.Errorf("%s: extends chain longer than %d files", seen[0], maxExtends)
	}
	g, err := readTOML(file, text, func(base string) (*GPU, error) { return loadTOML(base, from, seen) })
	if builtIn && err == nil {
		gpus.Store(name, g.clone())
	}
	return g, err
}

// ReadTOML reads a GPU from the text of a file. It may only extend built-in GPUs.
// Its values are within their bounds; Check finds contradictions.
func ReadTOML(file, text string) (*GPU, error) {
	return readTOML(file, text, func(base string) (*GPU, error) {
		if !slices.Contains(Names(), base) {
			return nil, unknownGPU(base)
		}
		return loadTOML(base, "", []string{file})
	})
}

// document is a decoded file, before its values are assigned.
type document struct {
	file   string
	given  map[string]any // by dotted key
	places map[string]place
}

// decode reads the text of a file.
func decode(file, text string) (*document, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes", file, maxFile)
	}
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return nil, fmt.Errorf("%s:%d:%d: %s", file, p.Position.Line, max(1, p.Position.Col), p.Message)
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d := &document{file: file, given: map[string]any{}, places: findPlaces(text)}
	flatten(tree, "", d.given)
	return d, nil
}

// at returns the place of a key, or of its table, for a message.
func (d *document) at(key string) string {
	for {
		if p, ok := d.places[key]; ok {
			return fmt.Sprintf("%s:%d:%d", d.file, p.line, p.col)
		}
		var ok bool
		if key, _, ok = cutLast(key); !ok {
			return d.file
		}
	}
}

// source returns the source of a value: the comment after it, or its line. In a
// saved file the comment also names the GPU, if any, from which the value was
// taken.
func (d *document) source(key string) (source, lender string) {
	c := d.places[key].comment
	if c == "" {
		return d.line(key), ""
	}
	if _, as, ok := strings.Cut(c, asOf); ok {
		lender = strings.TrimSuffix(as, ")")
	}
	return c, lender
}

// lenders are built-in GPUs by name, nil for other names.
type lenders map[string]*GPU

func (l lenders) of(name string) *GPU {
	x, ok := l[name]
	if !ok && slices.Contains(Names(), name) {
		x, _ = loadTOML(name, "", nil) // built in: tests load all of them
	}
	l[name] = x
	return x
}

// line returns the line of a value, for a message.
func (d *document) line(key string) string {
	return fmt.Sprintf("%s:%d", path.Base(filepath.ToSlash(d.file)), d.places[key].line)
}

func readTOML(file, text string, extends func(string) (*GPU, error)) (*GPU, error) {
	d, err := decode(file, text)
	if err != nil {
		return nil, err
	}
	given, places, at := d.given, d.places, d.at

	g := &GPU{}
	base, extended := given["extends"]
	delete(given, "extends")
	if extended {
		name, ok := base.(string)
		if !ok || name == "" {
			return nil, fmt.Errorf("%s: want extends = the name of a GPU or a file", at("extends"))
		}
		b, err := extends(name)
		if err != nil {
			return nil, fmt.Errorf("%s: extends: %w", at("extends"), err)
		}
		g = b.clone()
		for k := range g.sources {
			g.takeOver(k, b)
		}
	}
	var errs []error
	lenders := lenders{}
	names := make([]string, 0, len(given))
	for n := range given {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if a == presetKey || b == presetKey {
			if a == presetKey {
				return -1
			}
			return 1
		}
		if d := places[a].line - places[b].line; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, n := range names {
		k := keyAt(n)
		if k == nil {
			errs = append(errs, fmt.Errorf("%s: %w", at(n), unknownKey("NAME", n, keys())))
			continue
		}
		source, lender := d.source(n)
		if err := g.put(k, given[n], source); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", at(n), err))
			continue
		}
		if lender == "" {
			continue
		}
		if x := lenders.of(lender); x != nil && g.format(k) == x.format(k) {
			g.lent[n] = lender
		} else { // perhaps edited since: the comment proves nothing
			g.sources[n] = d.line(n)
		}
	}
	if !extended {
		if missing := g.setDefaults(); len(missing) > 0 && len(errs) == 0 {
			rest := ""
			if len(missing) > 6 {
				rest = fmt.Sprintf(" and %d more", len(missing)-6)
				missing = missing[:6]
			}
			errs = append(errs, fmt.Errorf("%s: no value for %s%s; give them, or start with extends = %q", file, strings.Join(missing, ", "), rest, "rtx-3070"))
		}
	}
	return g, errors.Join(errs...)
}

// byDefault is the source of default values.
const byDefault = "default"

// setDefaults gives values without a source their defaults, and returns the keys
// without a default.
func (g *GPU) setDefaults() (missing []string) {
	for i := range keys() {
		k := &keys()[i]
		if g.sources[k.Name] != "" {
			continue
		}
		if !k.HasDefault {
			missing = append(missing, k.Name)
			continue
		}
		v, err := k.Parse(k.Default)
		if err == nil {
			err = g.put(k, v, byDefault)
		}
		if err != nil {
			panic(fmt.Sprintf("config: default of %s: %v", k.Name, err))
		}
	}
	return missing
}

// flatten turns tables into dotted keys.
func flatten(tree map[string]any, prefix string, into map[string]any) {
	for k, v := range tree {
		if t, ok := v.(map[string]any); ok && len(t) > 0 {
			flatten(t, prefix+k+".", into)
			continue
		}
		into[prefix+k] = v
	}
}

// place is the line of a key in a file, and the comment after its value.
type place struct {
	line, col int
	comment   string
}

// findPlaces finds the keys of a TOML text that package toml has accepted. It knows
// enough of the language for configuration files; a key that it does not understand
// only lacks its place and comment.
func findPlaces(text string) map[string]place {
	found := map[string]place{}
	table := ""
	depth := 0  // number of open brackets of a value
	fence := "" // end of an open multi-line text
	name := func(s string) string {
		parts := strings.Split(s, ".")
		for i := range parts {
			parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
		}
		return strings.Join(parts, ".")
	}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.TrimSuffix(line, "\r")
		value := line
		key := ""
		if depth == 0 && fence == "" {
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, "[") {
				if head, _, ok := strings.Cut(trimmed, "]"); ok {
					table = name(strings.TrimLeft(head, "["))
					found[table] = place{line: number, col: strings.Index(line, "[") + 1}
					table += "."
				}
				continue
			}
			left, right, ok := strings.Cut(line, "=")
			if !ok || strings.HasPrefix(trimmed, "#") {
				continue
			}
			key, value = table+name(left), right
			found[key] = place{line: number, col: len(left) - len(strings.TrimLeft(left, " \t")) + 1}
		}
		var comment string
		comment, depth, fence = scanValue(value, depth, fence)
		if key != "" && comment != "" {
			p := found[key]
			p.comment = comment
			found[key] = p
		}
	}
	return found
}

// scanValue scans a line of a value and returns the comment after it, and the
// brackets and the text that are still open.
func scanValue(s string, depth int, fence string) (string, int, string) {
	for i := 0; i < len(s); {
		rest := s[i:]
		if fence != "" {
			switch {
			case strings.HasPrefix(rest, fence):
				i += len(fence)
				fence = ""
			case rest[0] == '\\' && fence[0] == '"':
				i += 2
			default:
				i++
			}
			continue
		}
		switch {
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
			fence = rest[:3]
			i += 3
			continue
		case rest[0] == '"', rest[0] == '\'':
			fence = rest[:1]
		case rest[0] == '[', rest[0] == '{':
			depth++
		case rest[0] == ']', rest[0] == '}':
			depth--
		case rest[0] == '#':
			return strings.TrimSpace(rest[1:]), max(0, depth), ""
		}
		i++
	}
	if len(fence) == 1 {
		fence = "" // such a text ends with its line
	}
	return "", max(0, depth), fence
}
