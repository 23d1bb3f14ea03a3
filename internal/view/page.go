package view

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/internal/report"
)

// This file: pages as HTML, and reading the results for them.

// Page is what a page shows.
type Page struct {
	Results     []Result
	Comparisons []Comparison
	// Sweep is the report of a sweep as JSON (sweep.Report); a page with one shows it alone.
	Sweep     json.RawMessage
	SweepName string // for lists of windows
}

// Comparison is a comparison with a table of measurements.
type Comparison struct {
	Name string
	JSON json.RawMessage // as compare.Parse returns it
}

// Result is a result, and its name for pages with several: that of its file if it is from one.
type Result struct {
	Name    string
	Run     *report.Run
	Foreign bool              // it was read from a file
	Sources map[string]string // texts of programs by the names in the result
}

//go:embed page.js
var script []byte

//go:embed page.css
var style []byte

// head is a page up to its data. The policy permits nothing but the script and the style
// of the page itself, and pictures within it; a live page may also ask its server.
const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; %sbase-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="heddle %s">
<title>%s</title>
<link rel="icon" href="data:image/svg+xml;base64,%s">
<style>%s</style>
</head>
<body>
<noscript>This page is a program: it needs JavaScript to show the results that it contains.</noscript>
<div id="app"%s></div>
<script type="text/plain" id="data">`

// tail is the rest; %s is the script.
const tail = `</script>
<script>%s</script>
</body>
</html>
`

// icon is the page's icon: three warp threads and a weft.
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5fa5"/><path d="M9 6v20M16 6v20M23 6v20" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/><path d="M5 19c4-6 6 6 11 0s7 6 11 0" fill="none" stroke="#ffb000" stroke-width="3" stroke-linecap="round"/></svg>`

// hash is a source of the content security policy that permits exactly a text.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// title names a page for lists of windows.
func (p *Page) title() string {
	if p.Sweep != nil {
		return p.SweepName + " – Heddle"
	}
	if len(p.Results) == 0 && len(p.Comparisons) > 0 {
		return p.Comparisons[0].Name + " – Heddle"
	}
	if len(p.Results) == 1 {
		return p.Results[0].Run.Input + " – Heddle"
	}
	return fmt.Sprintf("%d results – Heddle", len(p.Results))
}

// WriteHTML writes the page as one file.
func (p *Page) WriteHTML(w io.Writer) error {
	data, err := p.pack()
	if err != nil {
		return err
	}
	return writeHTML(w, p.title(), data, false)
}

// writeHTML writes the page of a run that goes on, with the results so far.
func (l *Live) writeHTML(w io.Writer) error {
	data, err := l.results()
	if err != nil {
		return err
	}
	return writeHTML(w, l.input+" – Heddle", data, true)
}

// writeHTML writes a page with packed results.
func writeHTML(w io.Writer, title string, data []byte, live bool) error {
	policy, mark := "", ""
	if live {
		policy, mark = "connect-src 'self'; ", " data-live"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, head, hash(script), hash(style), policy, report.Version, html.EscapeString(title), base64.StdEncoding.EncodeToString([]byte(icon)), style, mark)
	var end bytes.Buffer
	fmt.Fprintf(&end, tail, script)
	for _, part := range [][]byte{b.Bytes(), data, end.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoResult means that a file is JSON, but not a result.
var ErrNoResult = errors.New("not a result; want what heddle run --json or heddle cuda --json wrote")

// Read reads the results in a file: one, or several that heddle cuda wrote.
func Read(r io.Reader) ([]*report.Run, error) {
	var list []*report.Run
	d := json.NewDecoder(r)
	for {
		var x report.Run
		switch err := d.Decode(&x); {
		case errors.Is(err, io.EOF) && len(list) > 0:
			return list, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("the file is empty: %w", ErrNoResult)
		case err != nil:
			return nil, fmt.Errorf("offset %d: %w; %w", d.InputOffset(), err, ErrNoResult)
		case x.Heddle == "" || x.Mode == "":
			return nil, ErrNoResult
		}
		list = append(list, &x)
	}
}

// Files returns the files of a name: itself, or the JSON files of a folder in order.
func Files(name string) ([]string, error) {
	if st, err := os.Stat(name); err != nil || !st.IsDir() {
		return []string{name}, nil // reading it says what is wrong
	}
	list, err := filepath.Glob(filepath.Join(name, "*.json"))
	if err == nil && len(list) == 0 {
		err = errors.New("the folder has no .json file; want what heddle run --json FILE wrote")
	}
	return list, err
}

// mostBytes bounds a file that is shown (our choice, that of heddle compare).
const mostBytes = 1 << 30

// ReadText reads a file; - is stdin.
func ReadText(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, mostBytes+1))
	switch {
	case err != nil && errors.Unwrap(err) != nil:
		return nil, errors.Unwrap(err) // without the name, which the caller adds
	case err == nil && len(text) > mostBytes:
		err = fmt.Errorf("the file is larger than 1 GiB: %w", ErrNoResult)
	}
	return text, err
}
