package main

import (
	"bytes"
	"github.com/heddle-sim/heddle/internal/near"
	"strings"
	"text/tabwriter"

	"fmt"

	"github.com/heddle-sim/heddle/internal/report"
)

// explain prints the meaning of a counter.
func explain(e env, name string) error {
	var out bytes.Buffer
	if name == "all" {
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, c := range report.Counters() {
			fmt.Fprintf(w, "%s\t%s\n", c.Name, c.Unit)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	} else {
		found, near := report.Explained(name)
		if len(found) == 0 {
			hint := "; heddle run --explain all lists the counters"
			if len(near) > 0 {
				hint = "; similar names: " + strings.Join(near[:min(len(near), 8)], ", ")
			} else if n := nearestCounter(name); n != "" {
				hint = fmt.Sprintf("; did you mean %q?", n)
			}
			return usage("--explain: unknown counter %q%s", name, hint)
		}
		for i := range found {
			if i > 0 {
				out.WriteByte('\n')
			}
			if err := found[i].WriteExplanation(&out); err != nil {
				return err
			}
		}
	}
	_, err := e.stdout.Write(out.Bytes())
	return err
}

// nearestCounter returns the counter whose name, or its last part, is spelt most
// like name.
func nearestCounter(name string) string {
	var names []string
	for _, c := range report.Counters() {
		names = append(names, c.Name, c.Name[strings.LastIndexByte(c.Name, '.')+1:])
	}
	return near.Name(name, names)
}
