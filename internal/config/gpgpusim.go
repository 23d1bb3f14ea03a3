package config

import (
	"errors"
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// Use says what becomes of an option of GPGPU-Sim.
type Use uint8

// The uses.
const (
	Honoured   Use = iota // it sets values of the GPU
	Inert                 // it changes no number of a run: printing, logging, power, device properties
	Fixed                 // only one value is supported, and that is the one given
	ModernCore            // it is for another simulator's core, and nothing here corresponds to it
)

var useNames = [...]string{"honoured", "inert", "fixed", "modern core"}

func (u Use) String() string { return useNames[u] }

// Option is an option of a gpgpusim.config, trace.config or network file, and
// what became of it.
type Option struct {
	Name  string // as in the file
	Value string
	File  string
	Line  int
	Use   Use
	Keys  []string // that it sets
	Note  string   // why it sets none, or why no run depends on those
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

// optionTokens splits the text of an option file: words between blanks, texts
// between quotes that may go over several lines, whose pieces are joined by
// one blank; # starts a comment.
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
				if !closed { // a comment may stand behind each piece
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
		return nil, fmt.Errorf("%s:%d: the quote is not closed", file, open)
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
			return nil, fmt.Errorf("%s:%d: %.60q stands where an option was expected, such as -gpgpu_n_clusters", file, t.line, t.text)
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

// loadOptions reads a gpgpusim.config and the trace.config and network file
// beside it.
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
				continue // a configuration for PTX has none
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

// NamedText is a file's name and what stands in it.
type NamedText struct{ File, Text string }

// reader holds what must wait until all options are read.
type reader struct {
	g       *GPU
	source  string // of the values that the option at hand sets
	keys    []string
	network string // -inter_config_file
	mode    int    // -network_mode
	major   int
	minor   int
	widths  []int
	tensor  bool
	given   map[string]bool

	prefetch bool  // -is_instruction_prefetching_enabled
	stream   int64 // -prefetch_per_stream_buffer_size
}

// ReadGPGPUSim builds a GPU from the options of GPGPU-Sim and Accel-Sim. Later
// options override earlier ones; those that are absent have GPGPU-Sim's
// defaults. network returns the text of the network file, if one is needed.
// The quirks of GPGPU-Sim are on.
func ReadGPGPUSim(name string, files []NamedText, network func(path string) (string, error)) (*GPU, []Option, error) {
	r := &reader{g: &GPU{}, given: map[string]bool{}}
	r.g.setDefaults()
	for i := range keys() {
		r.g.sources[keys()[i].Name] = "default; no option of GPGPU-Sim"
	}
	var errs []error
	for i := range optionTable {
		row := &optionTable[i]
		if row.def == "" {
			continue
		}
		r.source = "GPGPU-Sim's default of " + row.name
		if err := row.apply(r, row.def); err != nil {
			panic(fmt.Sprintf("config: default of %s: %v", row.name, err))
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
	for i := range optionTable {
		if row := &optionTable[i]; row.required && !r.given[row.name] {
			errs = append(errs, fmt.Errorf("%s: %s is missing", name, row.name))
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
	row := optionAt[o.Name]
	if row == nil {
		row = modernAt[o.Name]
	}
	if row == nil {
		if slices.Contains(modernOptions, o.Name) {
			o.Use, o.Note = ModernCore, "for the core of the MICRO 2025 simulator; nothing here corresponds to it"
			return nil
		}
		names := make([]string, 0, len(optionTable))
		for i := range optionTable {
			names = append(names, optionTable[i].name)
		}
		for n := range modernAt {
			names = append(names, n)
		}
		slices.Sort(names)
		hint := ""
		if n := near.Name(o.Name, names); n != "" {
			hint = fmt.Sprintf("; did you mean %s?", n)
		}
		return fmt.Errorf("%s:%d: unknown option %.80s%s", o.File, o.Line, o.Name, hint)
	}
	o.Use, o.Note = row.use, row.note
	if row.use == Inert {
		return nil
	}
	if row.use == Fixed {
		if strings.TrimSpace(o.Value) != row.only {
			return fmt.Errorf("%s:%d: %s %.40s is not supported, only %s: %s", o.File, o.Line, o.Name, o.Value, row.only, row.note)
		}
		return nil
	}
	r.given[row.name] = true
	r.keys = nil
	r.source = fmt.Sprintf("%s:%d %s", filepath.Base(o.File), o.Line, o.Name)
	if err := row.apply(r, o.Value); err != nil {
		return fmt.Errorf("%s:%d: %s %.120s: %w", o.File, o.Line, o.Name, o.Value, err)
	}
	o.Keys = r.keys
	if why, all := allInert(o.Keys); all {
		o.Use, o.Note = Inert, why
	}
	return nil
}

// allInert reports whether no run depends on any of these keys, and why.
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
	r.source = "for a file of GPGPU-Sim"
	for i := range keys() {
		if k := &keys()[i]; strings.HasPrefix(k.Name, compatTable) {
			if err := r.put(k.Name, true); err != nil {
				return nil, err
			}
		}
	}
	puts := []struct {
		key string
		v   any
	}{
		{"description", "configuration of GPGPU-Sim"},
		{"compute_capability", fmt.Sprintf("%d.%d", r.major, r.minor)},
		{"architecture", architecture(r.major, r.minor)},
		// GPGPU-Sim rounds registers per thread up to 4, shared memory not at
		// all (GPGPU-Sim).
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
	if err := r.pipeline(); err != nil {
		return nil, err
	}
	if err := r.finishModern(); err != nil {
		return nil, err
	}
	if r.mode != 1 {
		return nil, nil
	}
	if network == nil || r.network == "" {
		return nil, errors.New("-network_mode 1 needs the network file of -inter_config_file")
	}
	text, err := network(r.network)
	if err != nil {
		return nil, fmt.Errorf("-inter_config_file: %w", err)
	}
	return r.readNetwork(r.network, text)
}

// pipeline hands out -gpgpu_pipeline_widths.
func (r *reader) pipeline() error {
	if w := r.widths; len(w) == 7 && !r.tensor { // GPGPU-Sim 3: SP, SFU and MEM only
		r.widths = []int{w[0], 0, 0, w[1], w[2], w[3], 0, 0, w[4], w[5], w[6]}
	}
	want := 11
	if r.tensor {
		want = 13
	}
	if n := len(r.widths); n < want || n > 13 {
		return fmt.Errorf("-gpgpu_pipeline_widths has %d numbers; %d are wanted with -gpgpu_tensor_core_avail %d", n, want, want/13)
	}
	for i, key := range []string{
		"issue.sp", "issue.dp", "issue.int", "issue.sfu", "issue.mem", "exec.sp", "exec.dp", "exec.int", "exec.sfu", "exec.mem",
		"write_back", "issue.tensor", "exec.tensor",
	} {
		n := 0
		if i < want {
			n = r.widths[i]
		}
		r.source = "-gpgpu_pipeline_widths"
		if err := r.put("simt."+key, int64(n)); err != nil {
			return fmt.Errorf("-gpgpu_pipeline_widths: %w", err)
		}
	}
	return nil
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

// number reads a whole number.
func number(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a whole number", s)
	}
	return n, nil
}

// newCache brings a cache string of GPGPU-Sim 3, which has neither a type nor,
// before 3.2, an index function, into today's form.
func newCache(text string) string {
	groups := strings.Split(strings.TrimSpace(text), ",")
	if len(groups) < 4 {
		return text
	}
	if strings.Count(groups[0], ":") == 2 {
		groups[0] = "N:" + groups[0]
	}
	if strings.Count(groups[1], ":") == 3 {
		groups[1] += ":L"
	}
	return strings.Join(groups, ",")
}

// setCache reads a cache string into the keys below a table.
func (r *reader) setCache(table, text string) error {
	c, err := cache.ParseConfig(newCache(text))
	if err != nil {
		return err
	}
	if err := r.put(table+".enabled", !c.Disabled); err != nil || c.Disabled {
		return err
	}
	word := func(last string, i int) any { return keyAt(table + "." + last).Enum[i] }
	for _, p := range []struct {
		last string
		v    any
	}{
		{"sectored", c.Sectored}, {"sets", int64(c.Sets)}, {"line", int64(c.Line)}, {"ways", int64(c.Ways)},
		{"replace", word("replace", int(c.Replace))}, {"write", word("write", int(c.Write))},
		{"allocate", word("allocate", int(c.Alloc))}, {"write_miss", word("write_miss", int(c.WriteAlloc))},
		{"index", word("index", int(c.Index))}, {"mshr", word("mshr", int(c.MSHR))},
		{"entries", int64(c.Entries)}, {"merge", int64(c.Merge)}, {"miss_queue", int64(c.MissQueue)},
		{"result_queue", int64(c.ResultQueue)}, {"port", int64(c.Port)},
	} {
		if err := r.put(table+"."+p.last, p.v); err != nil {
			return err
		}
	}
	return nil
}

// setTiming reads -gpgpu_dram_timing_opt.
func (r *reader) setTiming(text string) error {
	t, err := dram.ParseTiming(text)
	if err != nil {
		return err
	}
	return putTiming(&t, func(key string, n int64) error { return r.put(key, n) })
}

// setScheduler reads -gpgpu_scheduler, which is matched by parts of words in
// this order.
func (r *reader) setScheduler(text string) error {
	warps := func(i int) error {
		parts := strings.Split(text, ":")
		if len(parts) <= i {
			return fmt.Errorf("it lacks a number of warps, as in two_level_active:6:0:1 or warp_limiting:2:6")
		}
		n, err := number(parts[i])
		if err != nil {
			return err
		}
		return r.put("simt.active_warps", n)
	}
	for _, p := range []struct {
		part, word string
		at         int
	}{
		{"lrr", "lrr", 0}, {"two_level_active", "two-level", 1}, {"gto", "gto", 0}, {"rrr", "rrr", 0}, {"old", "old", 0},
		{"warp_limiting", "warp-limiting", 2},
	} {
		if !strings.Contains(text, p.part) {
			continue
		}
		if p.at > 0 {
			if err := warps(p.at); err != nil {
				return err
			}
		}
		return r.put("simt.scheduler", p.word)
	}
	return errors.New("want lrr, two_level_active:n:i:o, gto, rrr, old or warp_limiting:p:n")
}
