package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/report"
)

// explain prints the meaning of a counter of the result or of a parameter of a GPU.
func explain(e env, name string) error {
	var out bytes.Buffer
	if name == "all" {
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, c := range report.Counters() {
			fmt.Fprintf(w, "%s\t%s\n", c.Name, c.Unit)
		}
		for _, k := range config.Keys() {
			fmt.Fprintf(w, "%s\t%s\n", k.Name, k.Unit)
		}
		_ = w.Flush()
	} else if err := explainOne(&out, name); err != nil {
		return err
	}
	_, err := e.stdout.Write(out.Bytes())
	return err
}

// explainOne writes the explanations of what has a name, or whose name ends with it.
func explainOne(out *bytes.Buffer, name string) error {
	found, similar := report.Explained(name)
	var names []string
	next := func() {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
	}
	for i := range found {
		next()
		if err := found[i].WriteExplanation(out); err != nil {
			return err
		}
	}
	for _, k := range config.Keys() {
		switch {
		case k.Name == name, strings.HasSuffix(k.Name, "."+name):
			next()
			explainKey(out, &k)
		case strings.Contains(k.Name, strings.ToLower(name)):
			similar = append(similar, k.Name)
		default:
			names = append(names, k.Name, lastPart(k.Name))
		}
	}
	if out.Len() > 0 {
		return nil
	}
	if len(similar) > 0 && name != "" {
		return usage("--explain: unknown name %q; similar names: %s", name, strings.Join(similar[:min(len(similar), 8)], ", "))
	}
	for _, c := range report.Counters() {
		names = append(names, c.Name, lastPart(c.Name))
	}
	if n := near.Name(name, names); n != "" {
		return usage("--explain: unknown name %q; did you mean %q?", name, n)
	}
	return usage("--explain: unknown name %q; heddle run --explain all lists counters and parameters", name)
}

// explainKey writes what the declaration of a parameter says.
func explainKey(w io.Writer, k *config.Key) {
	fmt.Fprintf(w, "%s\n  %s\n  value: %s", k.Name, k.Help, k.Takes())
	for _, p := range []struct{ what, text string }{{"unit", k.Unit}, {"default", k.Default}, {"source", k.Source}} {
		if p.text != "" {
			fmt.Fprintf(w, "; %s: %s", p.what, p.text)
		}
	}
	for _, o := range k.Options() {
		fmt.Fprintf(w, "\n  set by: %s of gpgpusim.config", o.Name)
	}
	if k.Inert != "" {
		fmt.Fprintf(w, "\n  no run depends on it: %s", k.Inert)
	}
	fmt.Fprintln(w)
}

// lastPart is what follows the last dot of a name.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
