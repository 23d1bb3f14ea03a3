package cli

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"github.com/heddle-sim/heddle/internal/view"
)

// viewCmd is `heddle view`.
type viewCmd struct {
	Results []string `arg:"" name:"result" help:"Results: what heddle run --json or heddle cuda --json wrote, or folders of them; results of a sweep (.heddle-run), or its store. Beside them: tables of hardware measurements, as for heddle compare, or what heddle compare --json wrote. - is standard input. With --live: a job file, a trace, or a CUDA program with its arguments (after --), to run."`

	Live       bool     `help:"Run a job, a trace or a CUDA program, and show it while it runs: how far it is, and its counters so far. The page can pause and stop it."`
	HTML       string   `name:"html" placeholder:"FILE" help:"Write the page as one HTML file (- is standard output), instead of serving it on this computer."`
	NoOpen     bool     `name:"no-open" help:"Only print the page's address; do not open a browser."`
	SourceRoot []string `name:"source-root" sep:"none" placeholder:"DIR" help:"Look for source files in this folder too (repeatable)."`

	liveFlags
}

// mostViewed bounds the results of one page (our choice).
const mostViewed = 100

// Run makes the page.
func (c *viewCmd) Run(e env) error {
	if c.Live {
		return c.runLive(e)
	}
	if name := c.used(); name != "" {
		return usage("%s is for runs, and results have been run: add --live to run a job or a trace, or remove %[1]s", name)
	}
	if c.HTML == "" && slices.Contains(c.Results, "-") {
		return usage("a page on a server reads the results again for every view, and standard input cannot be; write it with --html FILE")
	}
	page, err := c.page(e)
	if err != nil {
		return err
	}
	if c.HTML == "" {
		return c.serve(e)
	}
	return writePage(e, c.HTML, page)
}

// serve serves the page on this computer until the user interrupts it.
func (c *viewCmd) serve(e env) error {
	s, err := view.Listen(func() (*view.Page, error) { return c.page(e) })
	if err != nil {
		return usage("%w", err)
	}
	defer c.announce(e, s.URL())()
	if err := s.Serve(e.ctx); err != nil {
		return usage("%w", err)
	}
	return nil
}

// announce prints the address of a page and opens it in a browser. The function that it
// returns removes what is left of that.
func (c *viewCmd) announce(e env, url string) func() {
	fmt.Fprintf(e.stdout, "%s\n", url)
	how, file := "open this address", ""
	if !c.NoOpen {
		var ok bool
		if file, ok = openBrowser(url); ok {
			how = "a browser shows it"
		}
	}
	fmt.Fprintf(e.stderr, "heddle: %s; interrupt (Ctrl-C) to end\n", how)
	return func() {
		if file != "" {
			os.Remove(file)
		}
	}
}

// openBrowser opens an address in the user's browser, and reports whether there is one. All users of
// a computer see the arguments of programs, so the browser gets the name of a file, which only this
// user can read and which leads to the address.
func openBrowser(url string) (file string, ok bool) {
	var args []string
	switch {
	case runtime.GOOS == "darwin":
		args = []string{"open"}
	case runtime.GOOS == "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		args = []string{"xdg-open"}
	default:
		return "", false
	}
	f, err := os.CreateTemp("", "heddle-view-*.html")
	if err != nil {
		return "", false
	}
	_, err = fmt.Fprintf(f, "<!doctype html>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<title>Heddle</title>\n", html.EscapeString(url))
	if err = errors.Join(err, f.Close()); err != nil {
		return f.Name(), false
	}
	cmd := exec.Command(args[0], append(args[1:], f.Name())...)
	if cmd.Start() != nil {
		return f.Name(), false
	}
	go func() { _ = cmd.Wait() }() // only so that it leaves no trace
	return f.Name(), true
}

// page reads the results, and reports all files that are none.
func (c *viewCmd) page(e env) (*view.Page, error) {
	var (
		errs []error
		in   viewInput
	)
	for _, arg := range c.Results {
		names, err := resultFiles(arg)
		if err != nil {
			errs = append(errs, usage("%s: %w", arg, err))
		}
		for _, name := range names {
			if err := in.add(name, e.stdin); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if n := len(in.results) + len(in.tables) + len(in.comparisons); n > mostViewed {
		return nil, usage("%d results and tables, more than the limit of %d for a page; a shell pattern may match too much", n, mostViewed)
	}
	if len(errs) == 0 {
		errs = append(errs, in.compare())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	page := view.New(in.results, c.SourceRoot)
	page.Comparisons = in.comparisons
	return page, nil
}
