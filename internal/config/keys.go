package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/core"
	_ "github.com/heddle-sim/heddle/internal/core/models" // the core models of machines
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/param"
	"github.com/heddle-sim/heddle/internal/plug"
)

// Key is a parameter of a machine. Core models declare their own; the others are in
// schema.go.
type Key = param.Param

// Keys returns every key, in the order in which a GPU is listed.
func Keys() []Key { return slices.Clone(keys()) }

// keyList is every key, with the numbers of core models and parts that were
// registered when it was made, and the built-in GPUs that have been read since.
type keyList struct {
	list          []Key
	at            map[string]*Key
	models, plugs int
	gpus          *sync.Map // of *GPU by name, which only their clones leave
}

// known is the last list made. Concurrent runs may need it first.
var known struct {
	sync.Mutex
	keyList
}

// compatTable is the table of all models' switches.
const compatTable = "compat."

// keys returns every key, including those of models registered since the last call;
// models register before anything runs.
func keys() []Key { return allKeys().list }

// allKeys returns the list of keys, which must not be changed.
func allKeys() keyList {
	models, plugs := core.Models(), plug.Count()
	known.Lock()
	defer known.Unlock()
	if known.models == len(models) && known.plugs == plugs {
		return known.keyList
	}
	list := param.Of(&GPU{}, "", false)
	insert := func(before, root string, more []Key) {
		for i := range more {
			more[i].Root = root
		}
		i := slices.IndexFunc(list, func(k Key) bool { return strings.HasPrefix(k.Name, before) })
		list = slices.Insert(list, i, more...)
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
		p := m.Params()
		insert("l1d.", m.Name, param.Of(p, m.Name+".", m.Whole))
		if m.Compat != nil {
			insert(compatTable+"chip.", compatTable+m.Name, param.Of(m.Compat(p), compatTable+m.Name+".", false))
		}
	}
	at := make(map[string]*Key, len(list))
	for i := range list {
		k := &list[i]
		if k.Inert == "" {
			k.Inert = inertKey(k.Name)
		}
		if k.Name == "core" {
			k.Choose(names)
			k.Default, k.HasDefault = names[0], true
		}
		if at[k.Name] != nil {
			panic("config: two values have the key " + k.Name)
		}
		at[k.Name] = k
	}
	known.keyList = keyList{list, at, len(models), plugs, new(sync.Map)}
	return known.keyList
}

// keyAt finds a key by its name, nil if there is none.
func keyAt(name string) *Key {
	return allKeys().at[name]
}

// params returns the parameters of a core model.
func (g *GPU) params(model string) core.Params {
	if g.cores[model] == nil {
		if g.cores == nil {
			g.cores = map[string]core.Params{}
		}
		g.cores[model] = core.ModelOf(model).Params()
	}
	return g.cores[model]
}

// root returns the struct that holds a key's value.
func (g *GPU) root(k *Key) any {
	if k.Root == "" {
		return g
	}
	if m, ok := strings.CutPrefix(k.Root, compatTable); ok {
		return core.ModelOf(m).Compat(g.params(m))
	}
	return g.params(k.Root)
}

// at returns the place of a value, format the value as TOML.
func (g *GPU) at(k *Key) reflect.Value { return k.At(g.root(k)) }
func (g *GPU) format(k *Key) string    { return k.Format(g.root(k)) }

// number returns a value by key.
func (g *GPU) number(key string) int { return int(g.at(keyAt(key)).Int()) }

// inertKeys are keys, and prefixes of keys, on which no run depends.
var inertKeys = []struct{ start, why string }{
	{"name", "a name"}, {"description", "a name"}, {"architecture", "a name"},
	{"compute_capability", "a device property"},
	{"sm.registers_per_block", "a device property"}, {"sm.shared_per_block", "a device property"},
	{"l1d.prefer_l1.result_queue", "only a texture cache has one"}, {"l1d.prefer_shared.result_queue", "only a texture cache has one"},
	{"run.idle_skip", "it only affects the simulator's speed"},
	{"l1d.result_queue", "only a texture cache has one"}, {"l1c.result_queue", "only a texture cache has one"},
	{"l1i.result_queue", "only a texture cache has one"}, {"l2.result_queue", "only a texture cache has one"},
	{"l1t.port", "texels leave through the result queue"},
}

// inertKey says why no run depends on a key; "" if runs do.
func inertKey(name string) string {
	for _, k := range inertKeys {
		if strings.HasPrefix(name, k.start) {
			return k.why
		}
	}
	return ""
}

// Value returns a value as TOML; false if there is no such key.
func (g *GPU) Value(key string) (string, bool) {
	k := keyAt(key)
	if k == nil {
		return "", false
	}
	return g.format(k), true
}

// Source says where a value comes from; "" if there is no such key.
func (g *GPU) Source(key string) string { return g.sources[key] }

// Set changes one value: assignment is key=value, the value as in a GPU file,
// except that texts need no quotes and lists no brackets. The caller calls Check
// after all changes.
func (g *GPU) Set(assignment string) error {
	name, text, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	if !ok {
		return fmt.Errorf("%q has no value; write key=value", assignment)
	}
	k := keyAt(name)
	if k == nil {
		return unknownKey("NAME", name, keys())
	}
	v, err := k.Parse(text)
	if err != nil {
		return err
	}
	return g.put(k, v, "set by -C")
}

// put assigns a value and records its source.
func (g *GPU) put(k *Key, v any, source string) error {
	if err := k.Assign(g.root(k), v); err != nil {
		return err
	}
	if g.sources == nil {
		g.sources, g.lent = make(map[string]string, len(keys())), map[string]string{}
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

// oneLine makes a text fit into a comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// clone returns a copy that shares nothing mutable.
func (g *GPU) clone() *GPU {
	c := *g
	c.L1D.SharedSizes = slices.Clone(g.L1D.SharedSizes)
	c.cores = map[string]core.Params{}
	for name, p := range g.cores {
		c.cores[name] = param.Clone(p)
	}
	c.sources, c.lent = maps.Clone(g.sources), maps.Clone(g.lent)
	return &c
}

// takeOver records that a value is that of another GPU, with its source there.
func (g *GPU) takeOver(key string, from *GPU) {
	g.sources[key], g.lent[key] = from.sources[key], from.lent[key]
	if g.lent[key] == "" {
		g.sources[key] += asOf + from.Name + ")"
		g.lent[key] = from.Name
	}
}

// asOf precedes, in a source, the name of the GPU from which a value was taken.
const asOf = " (as "

// unknownKey names the nearest key, or the keys below the same table.
func unknownKey(machine, name string, keys []Key) error {
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
	for _, n := range names { // only the last part, such as ways for l2.ways
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
			return fmt.Errorf("unknown key %q; the keys of %s are: %s", name, table, strings.Join(list, ", "))
		}
	}
	return fmt.Errorf("unknown key %q; heddle gpus %s lists all keys", name, machine)
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}
