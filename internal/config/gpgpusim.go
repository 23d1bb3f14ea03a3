package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/param"
)

// Use says how an option of GPGPU-Sim is used.
type Use uint8

// The uses.
const (
	Honoured  Use = iota // it sets values of the GPU
	Inert                // it affects no number of a run: printing, logging, power, device properties
	Fixed                // only one value is supported, the one given
	Unmatched            // nothing here corresponds to it
)

var useNames = [...]string{"honoured", "inert", "fixed", "without counterpart"}

func (u Use) String() string { return useNames[u] }

// Option is an option of a gpgpusim.config, trace.config or network file, and its
// use.
type Option struct {
	Name  string // as in the file
	Value string
	File  string
	Line  int
	Use   Use
	Keys  []string // that it sets
	Note  string   // why it sets none, or why no run depends on them
}

// token is a word of an option file.
type token struct {
	text   string
	line   int
	quoted bool
}

// looksLikeOptions reports whether the first word of a text is an option.
func looksLikeOptions(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
			return strings.HasPrefix(strings.TrimSpace(line), "-")
		}
	}
	return false
}

// optionTokens splits the text of an option file into words separated by blanks and
// quoted texts. These may span several lines, which are joined by one blank. #
// starts a comment.
func optionTokens(file, text string) ([]token, error) {
	var list []token
	open := -1 // line of an open quote
	var pieces []string
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.TrimSuffix(line, "\r")
		for line != "" || open >= 0 {
			if open >= 0 {
				piece, rest, closed := strings.Cut(line, `"`)
				if !closed { // a comment may follow each piece
					piece, _, _ = strings.Cut(piece, "#")
				}
				if piece = strings.TrimSpace(piece); piece != "" {
					pieces = append(pieces, piece)
				}
				if line = rest; !closed {
					break
				}
				list = append(list, token{strings.Join(pieces, " "), open, true})
				open = -1
				continue
			}
			line = strings.TrimLeft(line, " \t\v\f")
			switch {
			case line == "" || line[0] == '#':
				line = ""
			case line[0] == '"':
				open, pieces, line = number, nil, line[1:]
			default:
				n := strings.IndexAny(line, " \t\v\f#\"")
				if n < 0 {
					n = len(line)
				}
				list = append(list, token{line[:n], number, false})
				line = line[n:]
			}
		}
	}
	if open >= 0 {
		return nil, fmt.Errorf("%s:%d: missing closing quote", file, open)
	}
	return list, nil
}

// readOptions splits a file into options.
func readOptions(file, text string) ([]Option, error) {
	tokens, err := optionTokens(file, text)
	if err != nil {
		return nil, err
	}
	var list []Option
	for len(tokens) > 0 {
		t := tokens[0]
		if t.quoted || len(t.text) < 2 || t.text[0] != '-' {
			return nil, fmt.Errorf("%s:%d: %.60q: want an option, such as -gpgpu_n_clusters", file, t.line, t.text)
		}
		if len(tokens) < 2 || isOption(tokens[1]) {
			return nil, fmt.Errorf("%s:%d: %s has no value", file, t.line, t.text)
		}
		list = append(list, Option{Name: t.text, Value: tokens[1].text, File: file, Line: t.line})
		tokens = tokens[2:]
	}
	return list, nil
}

// isOption reports whether a word is an option and not a negative number.
func isOption(t token) bool {
	return !t.quoted && len(t.text) > 1 && t.text[0] == '-' && (t.text[1] < '0' || t.text[1] > '9') && t.text[1] != '.'
}

// loadOptions reads a gpgpusim.config, and the trace.config and network file in its
// folder.
func loadOptions(file string) (*GPU, []Option, error) {
	files := []string{file}
	if filepath.Base(file) == "gpgpusim.config" {
		files = append(files, filepath.Join(filepath.Dir(file), "trace.config"))
	}
	var texts []NamedText
	for i, f := range files {
		text, err := readFile(f)
		if err != nil {
			if i > 0 {
				continue // a configuration for PTX has no trace.config
			}
			return nil, nil, err
		}
		texts = append(texts, NamedText{f, text})
	}
	name := filepath.Base(filepath.Dir(file))
	if name == "." || name == string(filepath.Separator) {
		name = filepath.Base(file)
	}
	return ReadGPGPUSim(name, texts, func(path string) (string, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		return readFile(path)
	})
}

// NamedText is a file's name and contents.
type NamedText struct{ File, Text string }

// reader reads options into a GPU.
type reader struct {
	g      *GPU
	source string // of the values that the present option sets
	keys   []string
	// at holds every option; given the text of those in a file, value the text of
	// those in a file or with a default.
	at    map[string]*optionRow
	given map[string]bool
	value map[string]string
}

// apply gives an option's value to parameters.
func (r *reader) apply(row *optionRow, value string) error {
	value = strings.TrimSpace(value)
	r.keys, r.value[row.Name] = nil, value
	err := row.Set(value, r.put)
	r.keys = append(r.keys, row.Keys...)
	return err
}

// ReadGPGPUSim builds a GPU from the options of GPGPU-Sim and Accel-Sim. Later
// options override earlier ones; missing ones have GPGPU-Sim's defaults. network
// returns the text of the network file, if one is needed. GPGPU-Sim's quirks are
// switched on.
func ReadGPGPUSim(name string, files []NamedText, network func(path string) (string, error)) (*GPU, []Option, error) {
	at, rows := allOptions()
	r := &reader{g: &GPU{}, at: at, given: map[string]bool{}, value: map[string]string{}}
	r.g.setDefaults()
	for i := range keys() {
		r.g.sources[keys()[i].Name] = "default; no option of GPGPU-Sim"
	}
	var errs []error
	for i := range rows {
		row := &rows[i]
		if row.Default == "" {
			continue
		}
		r.source = "GPGPU-Sim's default of " + row.Name
		if err := r.apply(row, row.Default); err != nil {
			panic(fmt.Sprintf("config: default of %s: %v", row.Name, err))
		}
	}
	var list []Option
	for _, f := range files {
		if len(f.Text) > maxFile {
			return nil, nil, fmt.Errorf("%s: longer than %d bytes", f.File, maxFile)
		}
		options, err := readOptions(f.File, f.Text)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range options {
			if err := r.take(&o); err != nil {
				errs = append(errs, err)
			}
			list = append(list, o)
		}
	}
	for i := range rows {
		if row := &rows[i]; row.Required && !r.given[row.Name] {
			errs = append(errs, fmt.Errorf("%s: %s is missing", name, row.Name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, list, err
	}
	more, err := r.finish(name, network)
	list = append(list, more...)
	if err != nil {
		return nil, list, err
	}
	return r.g, list, nil
}

// take applies one option.
func (r *reader) take(o *Option) error {
	row := r.at[o.Name]
	if row == nil {
		hint := ""
		if n := near.Name(o.Name, slices.Sorted(maps.Keys(r.at))); n != "" {
			hint = fmt.Sprintf("; did you mean %s?", n)
		}
		return fmt.Errorf("%s:%d: unknown option %.80s%s", o.File, o.Line, o.Name, hint)
	}
	o.Use, o.Note = row.use, row.Note
	switch {
	case row.use == Fixed && strings.TrimSpace(o.Value) != row.only:
		return fmt.Errorf("%s:%d: %s %.40s is not supported, only %s: %s", o.File, o.Line, o.Name, o.Value, row.only, row.Note)
	case row.use != Honoured:
		return nil
	}
	r.given[row.Name] = true
	r.source = fmt.Sprintf("%s:%d %s", filepath.Base(o.File), o.Line, o.Name)
	if err := r.apply(row, o.Value); err != nil {
		return fmt.Errorf("%s:%d: %s %.120s: %w", o.File, o.Line, o.Name, o.Value, err)
	}
	o.Keys = r.keys
	if why, all := allInert(o.Keys); all {
		o.Use, o.Note = Inert, why
	}
	return nil
}

// allInert reports whether runs depend on none of these keys, and why.
func allInert(names []string) (why string, all bool) {
	for _, n := range names {
		if k := keyAt(n); k == nil || k.Inert == "" {
			return "", false
		} else if why == "" {
			why = k.Inert
		}
	}
	return why, why != ""
}

// put sets a value by key.
func (r *reader) put(key string, v any) error {
	r.keys = append(r.keys, key)
	return r.g.put(keyAt(key), v, r.source)
}

// finish sets what depends on several options.
func (r *reader) finish(name string, network func(string) (string, error)) ([]Option, error) {
	g := r.g
	r.source = "the name of its folder"
	if err := r.put("name", name); err != nil {
		return nil, err
	}
	r.source = "set for files of GPGPU-Sim"
	for i := range keys() {
		if k := &keys()[i]; strings.HasPrefix(k.Name, compatTable) {
			if err := r.put(k.Name, true); err != nil {
				return nil, err
			}
		}
	}
	major, _ := strconv.Atoi(r.value[capabilityMajor])
	minor, _ := strconv.Atoi(r.value[capabilityMinor])
	puts := []struct {
		key string
		v   any
	}{
		{"description", "configuration of GPGPU-Sim"},
		{"compute_capability", fmt.Sprintf("%d.%d", major, minor)},
		{"architecture", architecture(major, minor)},
		// GPGPU-Sim rounds registers per thread up to multiples of 4, and does not
		// round shared memory.
		{"sm.register_granule", int64(4)}, {"sm.warp_granule", int64(1)},
		{"sm.shared_granule", int64(1)}, {"sm.shared_reserved", int64(0)},
	}
	if !r.given["-gpgpu_shmem_per_block"] && g.SM.SharedPerBlock > g.SM.Shared {
		if err := r.put("sm.shared_per_block", int64(g.SM.Shared)); err != nil {
			return nil, err
		}
	}
	for _, p := range puts {
		if err := r.put(p.key, p.v); err != nil {
			return nil, err
		}
	}
	given := param.Given{
		Value: func(option string) string { return r.value[option] },
		Put: func(source, key string, v any) error {
			r.source = source
			return r.put(key, v)
		},
	}
	for _, m := range core.Models() {
		if m.Finish == nil {
			continue
		}
		if err := m.Finish(given, g.Core == m.Name); err != nil {
			return nil, err
		}
	}
	if r.value[networkMode] != "1" {
		return nil, nil
	}
	file := r.value[networkFile]
	if network == nil || file == "" {
		return nil, errors.New("-network_mode 1 needs a network file: give -inter_config_file")
	}
	text, err := network(file)
	if err != nil {
		return nil, fmt.Errorf("-inter_config_file: %w", err)
	}
	return r.readNetwork(file, text)
}

// architecture names the generation of a compute capability.
func architecture(major, minor int) string {
	switch {
	case major == 7 && minor >= 5:
		return "turing"
	case major == 8 && minor == 9:
		return "ada"
	}
	switch major {
	case 1:
		return "tesla"
	case 2:
		return "fermi"
	case 3:
		return "kepler"
	case 5:
		return "maxwell"
	case 6:
		return "pascal"
	case 7:
		return "volta"
	case 8:
		return "ampere"
	case 9:
		return "hopper"
	case 10, 11, 12:
		return "blackwell"
	}
	return ""
}
