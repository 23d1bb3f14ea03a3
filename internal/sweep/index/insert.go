package index

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"time"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// inserter adds the rows of results.
type inserter struct {
	ctx  context.Context
	tx   *sql.Tx
	made map[string]*sql.Stmt
	err  error
}

// insert adds results to all tables. One that cannot be read is left out, and said.
func insert(ctx context.Context, tx *sql.Tx, s *store.Store, digests []string, say func(string, ...any)) error {
	in := &inserter{ctx: ctx, tx: tx, made: map[string]*sql.Stmt{}}
	for _, d := range digests {
		r, err := s.Get(d)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		var tree map[string]any
		if err == nil {
			dec := json.NewDecoder(bytes.NewReader(r.Result))
			dec.UseNumber()
			if jerr := dec.Decode(&tree); jerr != nil {
				err = &store.Damaged{File: s.Path(d), Err: jerr}
			}
		}
		if err != nil {
			say("%v; it is left out", err)
			continue
		}
		in.record(r, tree)
		if in.err != nil {
			return in.err
		}
	}
	return nil
}

// row adds a row to a table.
func (in *inserter) row(query string, values ...any) {
	if in.err != nil {
		return
	}
	s := in.made[query]
	if s == nil {
		if s, in.err = in.tx.PrepareContext(in.ctx, query); in.err != nil {
			return
		}
		in.made[query] = s
	}
	_, in.err = s.ExecContext(in.ctx, values...)
}

// record adds a result.
func (in *inserter) record(r *store.Record, tree map[string]any) {
	gpu := r.GPU
	if gpu == "" {
		gpu, _ = tree["gpu"].(string)
	}
	in.row("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", r.Digest, r.Input, gpu, r.Code, r.Seconds, r.Peak, r.Made.Format(time.RFC3339))
	for _, s := range r.Settings {
		in.row("INSERT OR REPLACE INTO settings VALUES (?, ?, ?)", r.Digest, s.Key, s.Value)
	}
	kernels, _ := tree["kernels"].([]any)
	findings, _ := tree["findings"].([]any)
	delete(tree, "kernels")
	delete(tree, "findings")
	delete(tree, "seconds") // of the run's table
	in.counters(r.Digest, wholeRun, "", tree)
	for _, k := range kernels {
		if k, ok := k.(map[string]any); ok {
			in.launch(r.Digest, k)
		}
	}
	for _, f := range findings {
		if f, ok := f.(map[string]any); ok {
			in.row("INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?)", r.Digest, number(f["launch"]), f["rule"], number(f["share"]), f["seen"], f["try"])
		}
	}
}

// wholeRun is the launch of counters that are the run's.
const wholeRun = -1

// launch adds a launch and its lines.
func (in *inserter) launch(digest string, k map[string]any) {
	n := number(k["launch"])
	in.row("INSERT INTO launches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", digest, n, k["name"], number(k["stream"]), asJSON(k["grid"]), asJSON(k["block"]),
		number(k["cycles"]), number(k["warp_instructions"]), number(k["thread_instructions"]))
	lines, _ := k["lines"].([]any)
	delete(k, "lines")
	delete(k, "launch")
	in.counters(digest, n, "", k)
	for _, l := range lines {
		if l, ok := l.(map[string]any); ok {
			in.row("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", digest, n, l["file"], number(l["line"]), number(l["pc"]), l["function"], cmp.Or(l["text"], l["instruction"]), number(l["issues"]), number(l["warp_cycles"]))
		}
	}
}

// counters adds all numbers of a tree, under their names with dots; of lists, those of numbers.
func (in *inserter) counters(digest string, launch any, name string, v any) {
	switch v := v.(type) {
	case json.Number:
		in.row("INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?)", digest, launch, name, number(v))
	case map[string]any:
		if name != "" {
			name += "."
		}
		for k, x := range v {
			in.counters(digest, launch, name+k, x)
		}
	case []any:
		for i, x := range v {
			if _, ok := x.(json.Number); ok {
				in.counters(digest, launch, name+"."+strconv.Itoa(i), x)
			}
		}
	}
}

// number is a number as SQLite stores it: exact where it is an integer of 64 bits.
func number(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, _ := n.Float64() // the JSON package has checked its form
	return f
}

// asJSON is a value as JSON.
func asJSON(v any) any {
	if v == nil {
		return nil
	}
	b, _ := json.Marshal(v) // it has been JSON before
	return string(b)
}
