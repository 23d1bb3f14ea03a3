package output

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: findings in the words of compute-sanitizer, for scripts that look for them.

// compatWriter writes lines with compute-sanitizer's prefix.
type compatWriter struct {
	b       bytes.Buffer
	errors  int    // in ERROR SUMMARY
	leaks   int    // allocations
	leaked  uint64 // bytes
	races   int    // reports of races
	warning int    // of these, warnings
}

func (x *compatWriter) line(format string, args ...any) {
	x.b.WriteString("========= ")
	fmt.Fprintf(&x.b, format, args...)
	x.b.WriteByte('\n')
}

// WriteCompat writes findings as compute-sanitizer words them, all tools in one, and its
// summaries. Notes are left out: it has none. What has no counterpart there is in our words.
func WriteCompat(w io.Writer, list []*check.Finding) error {
	var x compatWriter
	x.line("COMPUTE-SANITIZER")
	for _, f := range joinRaces(list) {
		if f.Level > check.Note {
			x.finding(f)
			x.line("")
		}
	}
	if x.leaks > 0 {
		x.line("LEAK SUMMARY: %d bytes leaked in %d allocations", x.leaked, x.leaks)
	}
	if x.races > 0 {
		x.line("RACECHECK SUMMARY: %s displayed (%s, %s)", report.Plural(x.races, "hazard", "hazards"),
			report.Plural(x.races-x.warning, "error", "errors"), report.Plural(x.warning, "warning", "warnings"))
	}
	x.line("ERROR SUMMARY: %s", report.Plural(x.errors, "error", "errors"))
	_, err := w.Write(x.b.Bytes())
	return err
}

// joinRaces puts races between the same two instructions together, whichever threads have
// them: racecheck has one report for both.
func joinRaces(list []*check.Finding) []*check.Finding {
	type pair struct{ a, b check.Place }
	first := map[pair]int{}
	var joined []*check.Finding
	for _, f := range list {
		if len(f.Steps) < 2 || !strings.HasPrefix(f.Rule.ID, "race-") {
			joined = append(joined, f)
			continue
		}
		k := pair{f.Steps[0].Place, f.Steps[1].Place}
		if i, ok := first[k]; ok {
			sum := *joined[i]
			sum.Count += f.Count
			sum.Level = max(sum.Level, f.Level)
			joined[i] = &sum
			continue
		}
		first[k] = len(joined)
		joined = append(joined, f)
	}
	return joined
}

// finding writes one finding.
func (x *compatWriter) finding(f *check.Finding) {
	kind, _, _ := strings.Cut(f.Rule.ID, "-")
	d := f.Details
	switch {
	case kind == "race" && len(f.Steps) > 1:
		x.race(f)
		return
	case kind == "leak":
		bytes, _ := strconv.ParseUint(d[check.Leaked], 10, 64)
		x.leaked, x.leaks = x.leaked+bytes, x.leaks+int(max(f.Count, 1))
		where := ""
		if f.Rule.ID == "leak-device-heap" {
			where = " on the device heap"
		}
		x.line("Leaked %s bytes at %s%s", report.Count(bytes), d[check.AllocationAt], where)
	case d[check.Access] != "" && d[check.Space] != "" && kind != "uninit":
		x.line("Invalid __%s__ %s of size %s bytes", d[check.Space], d[check.Access], d[check.Bytes])
	case kind == "uninit" && d[check.Space] != "":
		x.line("Uninitialized __%s__ memory read of size %s bytes", d[check.Space], d[check.Bytes])
	case f.Rule.ID == "barrier-divergence":
		x.line("Barrier error detected. Divergent thread(s) in warp")
	case f.Rule.ID == "sync-mask":
		x.line("Barrier error detected. Invalid arguments")
	case f.Rule.ID == "double-free":
		x.line("Malloc/Free error encountered : Double free")
	case f.Rule.ID == "invalid-free":
		x.line("Malloc/Free error encountered : Invalid pointer to free")
	default:
		x.line("%s", f.Message)
	}
	x.errors += int(min(max(f.Count, 1), 1<<30))
	x.place("    at ", f.At())
	if d[check.Thread] != "" {
		x.line("    by thread %s in block %s", d[check.Thread], d[check.Block])
	}
	if d[check.Address] != "" && d[check.Access] != "" && kind != "uninit" {
		what := "out of bounds"
		if f.Rule.ID == "misaligned" {
			what = "misaligned"
		}
		x.line("    Address %s is %s", d[check.Address], what)
		if d[check.Distance] != "" {
			x.line("    and is %s the nearest allocation at %s of size %s bytes", d[check.Distance], d[check.AllocationAt], d[check.AllocationBytes])
		}
	}
	for _, s := range f.Steps[min(1, len(f.Steps)):] {
		if s.Role == check.Launched || s.Role == check.Allocation {
			x.place(fmt.Sprintf("    %s ", map[check.Role]string{check.Launched: "launched at", check.Allocation: "allocated at"}[s.Role]), s.Place)
		}
	}
}

// race writes a race as racecheck's analysis does. The access before is the first.
func (x *compatWriter) race(f *check.Finding) {
	x.races++
	level := "Error"
	if f.Level == check.Warning {
		level = "Warning"
		x.warning++
	}
	access := func(s check.Step, named string) string {
		if named == "" {
			named, _, _ = strings.Cut(s.Text, " ")
		}
		return upper(strings.ToLower(named)) + " access"
	}
	x.line("%s: Race reported between %s", level, x.at(access(f.Steps[1], f.Details[check.OtherAccess])+" at ", f.Steps[1].Place))
	x.line("    and %s [%d hazards]", x.at(access(f.Steps[0], f.Details[check.Access])+" at ", f.Steps[0].Place), max(f.Count, 1))
}

// instruction is the size of an instruction: pc counts them, compute-sanitizer counts bytes.
const instruction = 16

// at is a place as compute-sanitizer writes it.
func (x *compatWriter) at(before string, p check.Place) string {
	s := before + cmp.Or(p.Function, "unknown")
	if p.Inst != "" {
		s += fmt.Sprintf("+%#x", p.PC*instruction)
	}
	if p.File != "" {
		s += fmt.Sprintf(" in %s:%d", p.File, p.Line)
	}
	return s
}

func (x *compatWriter) place(before string, p check.Place) {
	if p.File != "" || p.Function != "" {
		x.line("%s", x.at(before, p))
	}
}
