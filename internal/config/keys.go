package config

import (
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is the type of a value.
type kind uint8

const (
	intKind kind = iota
	boolKind
	textKind
	hzKind
	listKind
)

// Key describes one value of a GPU.
type Key struct {
	Name       string   // such as "l2.ways"
	Help       string   // what the value is
	Unit       string   // what it counts; "" if nothing
	Enum       []string // the words it may be; nil for any text and all numbers
	Min, Max   int64    // bounds of a number
	Default    string   // of a GPU file that extends no other
	HasDefault bool
	Inert      string // why no run depends on the value; "" if runs do
	Len        int    // numbers of a list; 0: up to maxList

	kind kind
	path []step
}

// step goes from a struct to one of its fields, and from there into an array
// unless elem is negative.
type step struct{ field, elem int }

// maxList bounds the values of a list.
const maxList = 16

// keys is the whole tree, in the order of the structs.
var keys = buildKeys()

// keyAt finds a key by its name.
var keyAt = func() map[string]*Key {
	m := make(map[string]*Key, len(keys))
	for i := range keys {
		if m[keys[i].Name] != nil {
			panic("config: two values have the key " + keys[i].Name)
		}
		m[keys[i].Name] = &keys[i]
	}
	return m
}()

// Keys returns every key, in the order in which a GPU is listed.
func Keys() []Key { return slices.Clone(keys) }

// snake turns a field's name into the last part of its key.
func snake(name string) string {
	up := func(i int) bool { return name[i] >= 'A' && name[i] <= 'Z' }
	low := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && up(i) && (low(i-1) || low(i+1)) {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

func buildKeys() []Key {
	var list []Key
	walkFields(reflect.TypeFor[GPU](), "", nil, "", &list)
	for i, g := 0, ampere(); i < len(list); i++ {
		if k := &list[i]; strings.HasPrefix(k.Name, modernStart) {
			k.Default, k.HasDefault = k.format(g), true
		}
	}
	return list
}

// walkFields adds the keys of a struct. enabled overrides the default of a
// cache's key of that name.
func walkFields(t reflect.Type, prefix string, path []step, enabled string, list *[]Key) {
	compat := strings.HasPrefix(prefix, "compat.")
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name := f.Tag.Get("key")
		if name == "" {
			name = snake(f.Name)
		}
		name = prefix + name
		at := append(slices.Clone(path), step{i, -1})
		switch {
		case f.Type.Kind() == reflect.Struct && f.Anonymous:
			walkFields(f.Type, prefix, at, enabled, list)
			continue
		case f.Type.Kind() == reflect.Struct:
			walkFields(f.Type, name+".", at, f.Tag.Get("enabled"), list)
			continue
		case f.Type.Kind() == reflect.Array:
			for j := range f.Type.Len() {
				at := append(slices.Clone(path), step{i, j})
				walkFields(f.Type.Elem(), fmt.Sprintf("%s%d.", name, j+1), at, "", list)
			}
			continue
		}
		k := Key{Name: name, Help: f.Tag.Get("help"), Unit: f.Tag.Get("unit"), path: at}
		k.Default, k.HasDefault = f.Tag.Lookup("def")
		switch {
		case f.Type == reflect.TypeFor[Hz]():
			k.kind, k.Min, k.Max = hzKind, 1, 100e9
		case f.Type.Kind() == reflect.Int:
			k.kind = intKind
		case f.Type.Kind() == reflect.Bool:
			k.kind = boolKind
		case f.Type.Kind() == reflect.String:
			k.kind = textKind
		case f.Type == reflect.TypeFor[[]int]():
			k.kind = listKind
		default:
			panic(fmt.Sprintf("config: %s has the type %v, for which there are no values", name, f.Type))
		}
		if compat {
			k.Default, k.HasDefault = "false", true
			if k.Help = compatHelp[name]; k.Help == "" {
				k.Help = "as GPGPU-Sim behaves; the switch's comment in the model's package says how"
			}
		}
		if enabled != "" && f.Name == "Enabled" {
			k.Default = enabled
		}
		k.Inert = inertKey(name)
		if n, ok := f.Tag.Lookup("len"); ok {
			var err error
			if k.Len, err = strconv.Atoi(n); err != nil {
				panic("config: length of " + name)
			}
		}
		if e, ok := f.Tag.Lookup("enum"); ok {
			k.Enum = strings.Split(e, "|")
		}
		if w, ok := f.Tag.Lookup("want"); ok {
			lo, hi, _ := strings.Cut(w, "..")
			var err1, err2 error
			k.Min, err1 = strconv.ParseInt(lo, 10, 64)
			k.Max, err2 = strconv.ParseInt(hi, 10, 64)
			if err1 != nil || err2 != nil {
				panic("config: bounds of " + name)
			}
		} else if k.kind == intKind || k.kind == listKind {
			panic("config: no bounds for " + name)
		}
		*list = append(*list, k)
	}
}

// Why no trace feels some keys that are for traces.
const (
	noTensor = "Accel-Sim has no opcode in this class; matrix products are special3's"
	noClass  = "Accel-Sim has no opcode for this unit"
	aWord    = "the number of the unit says which instructions it executes, not its name"
	aBound   = "it only bounds the latency"
)

// inertKeys are keys, and beginnings of keys, that no run depends on.
var inertKeys = []struct{ start, why string }{
	{"name", "a name"}, {"description", "a name"}, {"architecture", "a name"},
	{"compute_capability", "a device property"},
	{"sm.registers_per_block", "a device property"}, {"sm.shared_per_block", "a device property"},
	{"l1d.prefer_l1.result_queue", "only a texture cache has one"}, {"l1d.prefer_shared.result_queue", "only a texture cache has one"},
	{"run.idle_skip", "it only makes runs faster"},
	{"simt.trace_latency.tensor", noTensor}, {"simt.trace_initiation.tensor", noTensor},
	{"simt.special1.name", aWord}, {"simt.special2.name", aWord}, {"simt.special3.name", aWord}, {"simt.special4.name", aWord},
	{"simt.special1.depth", aBound}, {"simt.special2.depth", aBound}, {"simt.special3.depth", aBound}, {"simt.special4.depth", aBound},
	{"simt.special5", noClass}, {"simt.special6", noClass}, {"simt.special7", noClass}, {"simt.special8", noClass},
	{"l1d.result_queue", "only a texture cache has one"}, {"l1c.result_queue", "only a texture cache has one"},
	{"l1i.result_queue", "only a texture cache has one"}, {"l2.result_queue", "only a texture cache has one"},
	{"l1t.port", "texels leave through the result queue"},
}

// inertKey says why no run depends on a key, "" if runs do.
func inertKey(name string) string {
	for _, k := range inertKeys {
		if strings.HasPrefix(name, k.start) {
			return k.why
		}
	}
	return ""
}

// compatHelp explains the switches below compat; the letter Q and a number
// name the quirk in the description of the machine.
var compatHelp = map[string]string{
	"compat.cache.miss_needs_two":       "a read that misses is refused unless two entries of the miss queue are free",
	"compat.cache.protect_written":      "written lines of a write-through cache count as dirty when victims are chosen",
	"compat.cache.reindex_ways":         "an adaptive L1 that changes its ways finds its lines in other sets",
	"compat.cache.fill_by_way":          "data go into the way chosen at the miss whatever happened to it since",
	"compat.cache.late_merge":           "a read that joins a miss whose data are already here reserves a line",
	"compat.cache.victim_slice":         "a written-back line goes to the L2 slice of the request that threw it out",
	"compat.cache.mask_index":           "a linear index over sets that are no power of two leaves some empty",
	"compat.partition.cumulative_masks": "piece i of a line has the bytes of all pieces before it too",
	"compat.partition.piece_addresses":  "halves of 64-byte requests get addresses beyond their line",
	"compat.partition.copy_truncates":   "copies fill the L2 at their address modulo 4 GiB",
	"compat.partition.library_random":   "random slices come from the C library's generator in order of first touch",
	"compat.partition.flush_slices":     "an L2 flush reaches only as many slices as there are channels",
	"compat.dram.column_behind_row":     "a column command may follow a row command in the same cycle although there is one command bus",
	"compat.chip.rounded_clocks":        "clock periods are added up with the rounding of double precision",
	"compat.chip.drain_between":         "a kernel ends only when the memory system is idle too",
	"compat.chip.clocks_restart":        "all clocks start at phase zero whenever the idle chip gets work",
	"compat.chip.copies_back_fill":      "copies from the device fill the L2 as copies to it do",
	"compat.chip.flush_dirty_only":      "a flush of the L2 drops written lines only",
	"compat.chip.taken_first":           "the taken side of a branch runs first",
	"compat.chip.packed_memory":         "buffers lie side by side",
	"compat.chip.accel_sim_traces":      "traces are read as Accel-Sim reads them: dependences that they do not name are left out",
	"compat.simt.next_group_first":      "the search for an instruction to dispatch starts at the next scheduler's collectors",
	"compat.simt.atomic_address_free":   "an atomic leaves its address register free",
	"compat.simt.name_banks":            "a register's bank comes from the first number in its name",
	"compat.simt.oldest_blocks":         "an instruction without a free collector holds up younger ones of all schedulers",
	"compat.simt.retire_in_scan":        "finished warps are retired only as the fetch scan passes them",
	"compat.simt.highest_first":         "a warp's accesses go from the highest address down",
	"compat.simt.end_segments":          "of a lane's segments only the first and the last are accessed",
	"compat.simt.zero_is_none":          "address 0 is no access",
	"compat.simt.word_per_lane":         "wide accesses to shared memory conflict by their first word only",
	"compat.simt.fence_loads_only":      "memory barriers do not wait for stores",
	"compat.simt.atomics_block":         "a warp stops until its atomics are answered",
}

// at returns the place of the value in a GPU.
func (k *Key) at(g *GPU) reflect.Value {
	v := reflect.ValueOf(g).Elem()
	for _, s := range k.path {
		v = v.Field(s.field)
		if s.elem >= 0 {
			v = v.Index(s.elem)
		}
	}
	return v
}

// assign stores a value as package toml returns it.
func (k *Key) assign(g *GPU, v any) error {
	at := k.at(g)
	switch k.kind {
	case intKind:
		n, ok := v.(int64)
		if !ok {
			return k.wrong(v)
		}
		if n < k.Min || n > k.Max {
			return fmt.Errorf("%s = %d is out of bounds: want %d to %d", k.Name, n, k.Min, k.Max)
		}
		at.SetInt(n)
	case boolKind:
		b, ok := v.(bool)
		if !ok {
			return k.wrong(v)
		}
		at.SetBool(b)
	case textKind:
		s, ok := v.(string)
		if !ok {
			return k.wrong(v)
		}
		if err := checkText(k.Name, s); err != nil {
			return err
		}
		if k.Enum != nil && !slices.Contains(k.Enum, s) {
			if n := near.Name(s, k.Enum); n != "" {
				return fmt.Errorf("%s = %q is not known; did you mean %q?", k.Name, s, n)
			}
			return k.wrong(v)
		}
		at.SetString(s)
	case hzKind:
		var mhz string
		switch n := v.(type) {
		case int64:
			mhz = strconv.FormatInt(n, 10)
		case float64:
			mhz = strconv.FormatFloat(n, 'f', -1, 64)
		default:
			return k.wrong(v)
		}
		hz, err := parseMHz(mhz)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		at.SetInt(int64(hz))
	case listKind:
		in, ok := v.([]any)
		if !ok || len(in) == 0 || len(in) > maxList || k.Len > 0 && len(in) != k.Len {
			return k.wrong(v)
		}
		out := make([]int, len(in))
		for i, x := range in {
			n, ok := x.(int64)
			if !ok {
				return k.wrong(v)
			}
			if n < k.Min || n > k.Max {
				return fmt.Errorf("%s: %d is out of bounds: want %d to %d", k.Name, n, k.Min, k.Max)
			}
			out[i] = int(n)
		}
		at.Set(reflect.ValueOf(out))
	}
	return nil
}

// wrong says what the key takes.
func (k *Key) wrong(v any) error {
	if s, ok := v.(string); ok {
		v = strconv.Quote(s)
	}
	return fmt.Errorf("%s = %.60v is not right; it takes %s", k.Name, v, k.Takes())
}

// Takes says in words what values the key has.
func (k *Key) Takes() string {
	switch k.kind {
	case boolKind:
		return "true or false"
	case hzKind:
		return "a frequency in MHz"
	case listKind:
		if k.Len > 0 {
			return fmt.Sprintf("%d numbers from %d to %d, such as %s", k.Len, k.Min, k.Max, k.Default)
		}
		return fmt.Sprintf("up to %d numbers from %d to %d, such as [0, 32, 64]", maxList, k.Min, k.Max)
	case textKind:
		if k.Enum == nil {
			return "a text"
		}
		list := make([]string, 0, len(k.Enum))
		for _, e := range k.Enum {
			list = append(list, strconv.Quote(e))
		}
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("a whole number from %d to %d", k.Min, k.Max)
}

// parse reads a value written as text: TOML, or a text without its quotes, or
// a list without its brackets.
func (k *Key) parse(text string) (any, error) {
	text = strings.TrimSpace(text)
	number := func(s string) (any, error) {
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(s), "_", ""), 10, 64)
		if err != nil {
			return nil, k.wrong(text)
		}
		return n, nil
	}
	switch k.kind {
	case intKind:
		return number(text)
	case boolKind:
		if text != "true" && text != "false" {
			return nil, k.wrong(text)
		}
		return text == "true", nil
	case hzKind:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, k.wrong(text)
		}
		return f, nil
	case listKind:
		if in, ok := strings.CutPrefix(text, "["); ok {
			if in, ok = strings.CutSuffix(in, "]"); !ok {
				return nil, k.wrong(text)
			}
			text = strings.TrimSuffix(strings.TrimSpace(in), ",")
		}
		var list []any
		for s := range strings.SplitSeq(text, ",") {
			n, err := number(s)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		return list, nil
	}
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		if text[0] == '\'' {
			return text[1 : n-1], nil
		}
		s, err := strconv.Unquote(text)
		if err != nil {
			return nil, k.wrong(text)
		}
		return s, nil
	}
	return text, nil
}

// format writes the value as TOML.
func (k *Key) format(g *GPU) string {
	at := k.at(g)
	switch k.kind {
	case boolKind:
		return strconv.FormatBool(at.Bool())
	case textKind:
		return quote(at.String())
	case hzKind:
		return Hz(at.Int()).MHz()
	case listKind:
		return strings.ReplaceAll(fmt.Sprint(at.Interface()), " ", ", ")
	}
	return strconv.FormatInt(at.Int(), 10)
}

// checkText refuses a text that is none for a listing.
func checkText(key, s string) error {
	if len(s) > 1024 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%s: a text of one line and at most 1024 bytes is wanted", key)
	}
	return nil
}

// quote writes a text as a basic string of TOML.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// MHz writes the frequency in MHz, without loss.
func (h Hz) MHz() string {
	s := strconv.FormatInt(int64(h)/1e6, 10)
	if rest := int64(h) % 1e6; rest != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")
	}
	return s
}

// parseMHz reads a frequency in MHz.
func parseMHz(s string) (Hz, error) {
	whole, frac, _ := strings.Cut(s, ".")
	frac = strings.TrimRight(frac, "0")
	if len(frac) > 6 {
		return 0, fmt.Errorf("%s MHz is no whole number of Hz", s)
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 63)
	if err != nil || whole == "" {
		return 0, fmt.Errorf("%.40q is not a frequency in MHz", s)
	}
	if n < 1 || n > 100e9 {
		return 0, fmt.Errorf("%s MHz is out of bounds: want more than 0 and at most 100000", s)
	}
	return Hz(n), nil
}

// Value returns a value as TOML; false if there is no such key.
func (g *GPU) Value(key string) (string, bool) {
	k := keyAt[key]
	if k == nil {
		return "", false
	}
	return k.format(g), true
}

// Source says where a value comes from; "" if there is no such key.
func (g *GPU) Source(key string) string { return g.sources[key] }

// Set changes one value: assignment is key=value, the value as in a GPU file,
// except that texts need no quotes and lists no brackets. Check is the
// caller's business once all changes are made.
func (g *GPU) Set(assignment string) error {
	name, text, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	if !ok {
		return fmt.Errorf("%q has no value; write key=value", assignment)
	}
	k := keyAt[name]
	if k == nil {
		return unknownKey(name)
	}
	v, err := k.parse(text)
	if err != nil {
		return err
	}
	return g.put(k, v, "set by -C")
}

// put assigns a value and remembers where it comes from.
func (g *GPU) put(k *Key, v any, source string) error {
	if err := k.assign(g, v); err != nil {
		return err
	}
	if g.sources == nil {
		g.sources, g.lent = make(map[string]string, len(keys)), map[string]string{}
	}
	if k.Name == presetKey && g.DRAM.Preset != "" {
		if err := g.usePreset(); err != nil {
			return err
		}
	}
	g.sources[k.Name] = oneLine(source)
	delete(g.lent, k.Name)
	return nil
}

// oneLine makes a text fit for a comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// clone returns a copy that shares nothing that can change.
func (g *GPU) clone() *GPU {
	c := *g
	c.L1D.SharedSizes = slices.Clone(g.L1D.SharedSizes)
	c.sources, c.lent = maps.Clone(g.sources), maps.Clone(g.lent)
	return &c
}

// takeOver notes that a value is that of another GPU, with where that has it from.
func (g *GPU) takeOver(key string, from *GPU) {
	g.sources[key], g.lent[key] = from.sources[key], from.lent[key]
	if g.lent[key] == "" {
		g.sources[key] += asOf + from.Name + ")"
		g.lent[key] = from.Name
	}
}

// asOf stands in a source before the name of the GPU that a value was taken over
// from.
const asOf = " (as "

// unknownKey names the nearest key, or the keys below the same table.
func unknownKey(name string) error {
	if len(name) > 80 {
		return fmt.Errorf("unknown key %q…", name[:80])
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Name
	}
	if n := near.Name(name, names); n != "" {
		return fmt.Errorf("unknown key %q; did you mean %q?", name, n)
	}
	for _, n := range names { // the last part alone, such as ways for l2.ways
		if strings.HasSuffix(n, "."+name) {
			return fmt.Errorf("unknown key %q; did you mean %q?", name, n)
		}
	}
	var list []string
	for table, rest := name, ""; table != ""; {
		if table, rest, _ = cutLast(table); rest == "" {
			break
		}
		for _, n := range names {
			if strings.HasPrefix(n, table+".") {
				list = append(list, n)
			}
		}
		if len(list) > 0 {
			return fmt.Errorf("unknown key %q; below %s there are: %s", name, table, strings.Join(list, ", "))
		}
	}
	return fmt.Errorf("unknown key %q; heddle gpus NAME lists them all", name)
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}
