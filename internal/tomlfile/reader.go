package tomlfile

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Text is a string of a file with its position.
type Text struct {
	S   string
	Pos isa.Pos
}

// Known reports keys of a table that are not among names.
func (r *Reader) Known(n *Node, names ...string) {
	for _, k := range n.Keys {
		if !slices.Contains(names, k) {
			r.Unknown(n.Kids[k].KeyPos, k, names, "known keys here", "unknown key %q", k)
		}
	}
}

// Str reads a string; found reports whether the key exists and is valid.
func (r *Reader) Str(n *Node, key string) (t Text, found bool) {
	k := n.Kids[key]
	if k == nil {
		return Text{}, false
	}
	s, ok := k.Val.(string)
	if !ok {
		r.Add(k.Pos, "%s must be a string in quotes, not %s", key, k.Kind())
		return Text{}, false
	}
	if s == "" {
		r.Add(k.Pos, "%s is empty", key)
		return Text{}, false
	}
	if strings.ContainsRune(s, 0) {
		r.Add(k.Pos, "%s contains a NUL character", key)
		return Text{}, false
	}
	return Text{s, k.Pos}, true
}

// OneOf reads a string that must be among names; the first is the default.
func (r *Reader) OneOf(n *Node, key string, names ...string) string {
	t, ok := r.Str(n, key)
	if !ok {
		return names[0]
	}
	if !slices.Contains(names, t.S) {
		r.Unknown(t.Pos, t.S, names, "there are", "%s = %q is not known", key, t.S)
		return names[0]
	}
	return t.S
}

// Integer reads an integer between lo and hi.
func (r *Reader) Integer(n *Node, key string, lo, hi, def int64) int64 {
	k := n.Kids[key]
	if k == nil {
		return def
	}
	return r.Int(k, key, lo, hi, def)
}

func (r *Reader) Int(k *Node, what string, lo, hi, def int64) int64 {
	v, ok := k.Val.(int64)
	switch {
	case !ok:
		r.Add(k.Pos, "%s must be an integer, not %s", what, k.Kind())
	case v < lo:
		r.Add(k.Pos, "%s is %d; it must be at least %d", what, v, lo)
	case v > hi:
		r.Add(k.Pos, "%s is %d; the maximum is %d", what, v, hi)
	default:
		return v
	}
	return def
}

// Number reads a float or an integer as float64.
func (r *Reader) Number(k *Node, what string) (float64, bool) {
	switch v := k.Val.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	r.Add(k.Pos, "%s must be a number, not %s", what, k.Kind())
	return 0, false
}

func (r *Reader) Boolean(n *Node, key string) bool {
	k := n.Kids[key]
	if k == nil {
		return false
	}
	v, ok := k.Val.(bool)
	if !ok {
		r.Add(k.Pos, "%s must be true or false, not %s", key, k.Kind())
	}
	return v
}

// Tables returns the tables below a key such as [buffers.a], in file order.
func (r *Reader) Tables(n *Node, key, example string, each func(name string, t *Node)) {
	k := n.Kids[key]
	if k == nil {
		return
	}
	if !k.Table {
		r.Add(k.Pos, "%s must be tables such as [%s], not %s", key, example, k.Kind())
		return
	}
	for _, name := range k.Keys {
		t := k.Kids[name]
		switch {
		case !t.Table:
			r.Add(t.KeyPos, "%s.%s must be a table such as [%s], not %s", key, name, example, t.Kind())
		case name == "":
			r.Add(t.KeyPos, "a name in %s is empty", key)
		default:
			each(name, t)
		}
	}
}

// List returns the tables of an array such as [[launches]].
func (r *Reader) List(n *Node, key string, each func(t *Node)) {
	k := n.Kids[key]
	if k == nil {
		return
	}
	if !k.Array {
		r.Add(k.Pos, "%s must be a list of tables: write [[%s]], with two brackets", key, key)
		return
	}
	for _, t := range k.Items {
		if !t.Table {
			r.Add(t.Pos, "each of %s must be a table, not %s", key, t.Kind())
			continue
		}
		each(t)
	}
}
