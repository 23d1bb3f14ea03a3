package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/container"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/trace/text"
)

// traceCmd is `heddle trace`.
type traceCmd struct {
	Info    traceInfoCmd    `cmd:"" help:"Show the contents of a trace: launches, instructions, opcodes, bytes, and what is missing."`
	Convert traceConvertCmd `cmd:"" help:"Convert a trace to Heddle's container, Accel-Sim's text, or the MICRO 2025 format."`
}

// traceInfoCmd is `heddle trace info`.
type traceInfoCmd struct {
	Dir     string `arg:"" name:"dir" help:"A folder with kernelslist.g, that file, one .traceg, a .heddle-trace, or a folder with dynamic_trace.pb."`
	Kernels string `placeholder:"LIST" help:"Only these launches: numbers, ranges, /regular expressions/."`
	JSON    string `name:"json" placeholder:"FILE" help:"Write the contents as JSON (- is standard output, without the text)."`
	Ops     int    `default:"8" placeholder:"N" help:"Show the N most frequent opcodes of each kernel; 0: none."`
}

// launchInfo describes a launch in info's JSON.
type launchInfo struct {
	Launch         int               `json:"launch"`
	File           string            `json:"file"`
	Kernel         string            `json:"kernel"`
	Grid           trace.Dim         `json:"grid"`
	Block          trace.Dim         `json:"block"`
	Stream         uint64            `json:"stream"`
	Arch           int               `json:"architecture"`
	Version        int               `json:"tracer_version"`
	Registers      int               `json:"registers"`
	Shared         int               `json:"shared_bytes"`
	Blocks         uint64            `json:"blocks"`
	Present        uint64            `json:"blocks_present"`
	Warps          uint64            `json:"warps"`
	WarpInsts      uint64            `json:"warp_instructions"`
	ThreadInsts    uint64            `json:"thread_instructions"`
	Static         int               `json:"static_instructions"`
	WithControl    int               `json:"with_control_bits"`
	Bytes          map[string]uint64 `json:"bytes"`
	Ops            map[string]uint64 `json:"opcodes"`
	Warnings       []string          `json:"warnings,omitempty"`
	MissingExample []trace.Dim       `json:"missing,omitempty"`
}

// Run prints the contents of a trace.
func (c *traceInfoCmd) Run(e env) error {
	var sel *run.Selection
	if c.Kernels != "" {
		var err error
		if sel, err = run.ParseSelection(c.Kernels); err != nil {
			return usage("--kernels: %w", err)
		}
	}
	set, err := open.Open(c.Dir)
	if err != nil {
		return err
	}
	var list []launchInfo
	copies, bytes, n := 0, uint64(0), 0
	var failed error
	for i := range set.Commands {
		cmd := &set.Commands[i]
		if cmd.Launch == nil {
			copies++
			bytes += cmd.Bytes
			continue
		}
		number := n
		n++
		if failed != nil {
			continue
		}
		head, err := cmd.Launch.Header()
		if err == nil && !sel.Has(number, head.Kernel) {
			continue
		}
		if err == nil {
			var l launchInfo
			if l, err = inspect(cmd.Launch, number); err == nil {
				list = append(list, l)
			}
		}
		failed = err
	}
	if c.JSON != "" {
		if err := writeInfo(e, c.JSON, set, list, copies, bytes); err != nil {
			return err
		}
	}
	if c.JSON != "-" {
		if err := c.print(e.stdout, set, list, n, copies, bytes); err != nil {
			return err
		}
	}
	return failed
}

// inspect reads a launch.
func inspect(src trace.Source, number int) (launchInfo, error) {
	k, err := src.Open()
	if err != nil {
		return launchInfo{}, err
	}
	s, err := trace.Summarize(k)
	if cerr := k.Blocks.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return launchInfo{}, err
	}
	l := launchInfo{
		Launch: number, File: filepath.Base(src.Name()), Kernel: s.Kernel, Grid: s.Grid, Block: s.Block, Stream: s.Stream, Arch: s.Arch, Version: s.Version,
		Registers: s.Registers, Shared: s.Shared, Blocks: s.Blocks, Present: s.Present, Warps: s.Warps, WarpInsts: s.WarpInsts, ThreadInsts: s.ThreadInsts,
		Static: s.Code, WithControl: s.Control, Bytes: map[string]uint64{}, Ops: map[string]uint64{}, Warnings: s.Warnings, MissingExample: s.Missing,
	}
	for sp, n := range s.Bytes {
		if n > 0 {
			l.Bytes[trace.Space(sp).String()] = n
		}
	}
	for _, o := range s.Ops {
		l.Ops[o.Op] = o.Count
	}
	return l, nil
}

func writeInfo(e env, path string, set *trace.Set, list []launchInfo, copies int, bytes uint64) error {
	out := struct {
		Trace    string       `json:"trace"`
		Form     string       `json:"form"`
		Copies   int          `json:"copies"`
		Bytes    uint64       `json:"copied_bytes"`
		Launches []launchInfo `json:"launches"`
		Warnings []string     `json:"warnings,omitempty"`
	}{set.Name, set.Form, copies, bytes, list, set.Warnings}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if path == "-" {
		_, err = e.stdout.Write(b)
	} else {
		err = os.WriteFile(path, b, 0o666)
	}
	if err != nil {
		return usage("--json: %w", err)
	}
	return nil
}

// print writes the text.
func (c *traceInfoCmd) print(w io.Writer, set *trace.Set, list []launchInfo, launches, copies int, bytes uint64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, %s to the device (%s)\n", set.Name, set.Form, report.Plural(launches, "launch", "launches"),
		report.Plural(copies, "copy", "copies"), report.Bytes(bytes))
	for _, s := range set.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", s)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "launch\tkernel\tgrid\tblock\tsm\tregs\tshared\tblocks\twarp instr\tthread instr\tstatic\tglobal\t")
	for i := range list {
		l := &list[i]
		blocks := report.Count(l.Present)
		if l.Present != l.Blocks {
			blocks += " of " + report.Count(l.Blocks)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t\n", l.Launch, l.Kernel, dims(l.Grid), dims(l.Block), l.Arch, l.Registers, report.Bytes(uint64(l.Shared)),
			blocks, report.Count(l.WarpInsts), report.Count(l.ThreadInsts), l.Static, report.Bytes(l.Bytes[trace.SpaceGlobal.String()]))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if c.Ops > 0 {
		sum := map[string]uint64{}
		all := uint64(0)
		for i := range list {
			for op, n := range list[i].Ops {
				sum[op] += n
				all += n
			}
		}
		b.WriteString("\n")
		t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "opcode\twarp instr\tshare\t")
		for _, op := range mostOf(sum, c.Ops) {
			fmt.Fprintf(t, "%s\t%s\t%.1f %%\t\n", op, report.Count(sum[op]), 100*float64(sum[op])/float64(max(1, all)))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for i := range list {
		for _, s := range list[i].Warnings {
			if !seen[s] {
				fmt.Fprintf(&b, "warning: %s\n", s)
			}
			seen[s] = true
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mostOf returns the keys with the n highest counts, highest first.
func mostOf(m map[string]uint64, n int) []string {
	list := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	return list[:min(n, len(list))]
}

// dims formats an extent without trailing ones.
func dims(d trace.Dim) string {
	switch {
	case d[2] > 1:
		return fmt.Sprintf("%d×%d×%d", d[0], d[1], d[2])
	case d[1] > 1:
		return fmt.Sprintf("%d×%d", d[0], d[1])
	}
	return fmt.Sprint(d[0])
}

// traceConvertCmd is `heddle trace convert`.
type traceConvertCmd struct {
	Dir      string `arg:"" name:"dir" help:"A trace in any format that heddle run accepts."`
	Out      string `arg:"" name:"out" help:"The output: FILE.heddle-trace, or a folder for Accel-Sim's text (kernelslist.g and .traceg) or the MICRO 2025 format."`
	Form     string `placeholder:"FORM" help:"heddle, accel-sim or micro; default: heddle if OUT ends in .heddle-trace, otherwise accel-sim."`
	Version  int    `placeholder:"N" help:"Tracer version of the text written, 3 to 6; default: the trace's own."`
	Compress string `placeholder:"HOW" help:"Compress each .traceg: xz, gz or zst; default: none."`
	Quiet    bool   `help:"Print no progress."`
}

// Run converts a trace.
func (c *traceConvertCmd) Run(e env) error {
	form := c.Form
	if form == "" {
		form = "accel-sim"
		if strings.HasSuffix(c.Out, container.Ending) {
			form = "heddle"
		}
	}
	if err := oneOf("--form", form, "heddle", "accel-sim", "micro"); err != nil {
		return err
	}
	if form != "accel-sim" && (c.Version != 0 || c.Compress != "") {
		return usage("--version and --compress apply to Accel-Sim's text; remove them, or add --form accel-sim")
	}
	if c.Compress != "" {
		if err := oneOf("--compress", c.Compress, "xz", "gz", "zst"); err != nil {
			return err
		}
	}
	set, err := open.Open(c.Dir)
	if err != nil {
		return err
	}
	line := progress.New(e.stderr, "auto", c.Quiet)
	var progress func(done, total uint64)
	if line != nil {
		progress = line.Converted
		defer line.Clear()
	}
	switch form {
	case "heddle":
		err = container.Write(c.Out, set, progress)
	case "micro":
		err = micro.Write(c.Out, set, progress)
	default:
		err = text.Write(c.Out, set, text.Options{Version: c.Version, Packing: c.Compress}, progress)
	}
	if err != nil {
		return err
	}
	if !c.Quiet {
		fmt.Fprintf(e.stdout, "%s: %s written (%s)\n", c.Out, form, report.Bytes(sizeOf(c.Out)))
	}
	return nil
}

// sizeOf adds up the bytes of a file or folder; files that cannot be inspected
// count as empty.
func sizeOf(path string) uint64 {
	var n uint64
	_ = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if i, err := d.Info(); err == nil {
				n += uint64(i.Size())
			}
		}
		return nil
	})
	return n
}
