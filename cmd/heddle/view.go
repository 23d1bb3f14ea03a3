package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/heddle-sim/heddle/internal/view"
)

// viewCmd is `heddle view`.
type viewCmd struct {
	Results []string `arg:"" name:"result" help:"Results: what heddle run --json or heddle cuda --json wrote. - is standard input."`

	HTML       string   `name:"html" placeholder:"FILE" help:"Write the page as one HTML file (- is standard output)."`
	SourceRoot []string `name:"source-root" sep:"none" placeholder:"DIR" help:"Look for source files in this folder too (repeatable)."`
}

// mostViewed bounds the results of one page (our choice).
const mostViewed = 100

// Run makes the page.
func (c *viewCmd) Run(e env) error {
	if len(c.Results) > mostViewed {
		return usage("%d results, more than the limit of %d for a page; a shell pattern may match too much", len(c.Results), mostViewed)
	}
	page, err := c.page(e)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.WriteHTML(&b); err != nil {
		return usage("%w", err)
	}
	if c.HTML == "-" {
		_, err = e.stdout.Write(b.Bytes())
	} else {
		err = os.WriteFile(c.HTML, b.Bytes(), 0o666)
	}
	if err != nil {
		return usage("--html: %w", err)
	}
	return nil
}

// page reads the results, and reports all files that are none.
func (c *viewCmd) page(e env) (*view.Page, error) {
	var (
		errs []error
		list []view.Result
	)
	for _, name := range c.Results {
		runs, err := view.ReadFile(name, e.stdin)
		if err != nil {
			errs = append(errs, usage("%s: %w", name, err))
			continue
		}
		for i, r := range runs {
			x := view.Result{Name: name, Run: r}
			if len(runs) > 1 {
				x.Name = fmt.Sprintf("%s, %d", name, i+1)
			}
			list = append(list, x)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return view.New(list, c.SourceRoot), nil
}
