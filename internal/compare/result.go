package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/report"
)

// object is a JSON object whose members are not decoded yet.
type object map[string]json.RawMessage

// result is a result of a run as JSON. Only the compared members are decoded, since
// a result with a line for every instruction may be large.
type result struct {
	file    string
	run     object
	kernels []object

	gpu, core, mode string
	conditions      map[string]any
	failure         string // why the run ended early, or ""
	sampling        *report.Sampling
}

// readResult reads the JSON of a run.
func readResult(file string, text []byte) (*result, error) {
	r := &result{file: file}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&r.run); err != nil {
		return nil, jsonError(file, text, d, err)
	}
	end := d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		line, col := position(text, end)
		return nil, &Error{File: file, Line: line, Col: col, Msg: "text after the result; want one result in each file"}
	}
	if _, ok := r.run["heddle"]; !ok {
		hint := ""
		if _, ok := r.run["format"]; ok {
			hint = "; to compare a recorded case, use heddle run"
		}
		return nil, &Error{File: file, Msg: `this JSON is not a result of heddle run --json: it has no member "heddle"` + hint}
	}
	var head struct {
		GPU        string           `json:"gpu"`
		Core       string           `json:"core"`
		Mode       string           `json:"mode"`
		OK         *bool            `json:"ok"`
		Conditions map[string]any   `json:"conditions"`
		Kernels    []object         `json:"kernels"`
		Sampling   *report.Sampling `json:"sampling"`
		Error      *struct {
			Kind string `json:"kind"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, jsonError(file, text, nil, err)
	}
	r.gpu, r.core, r.mode, r.conditions, r.kernels, r.sampling = head.GPU, head.Core, head.Mode, head.Conditions, head.Kernels, head.Sampling
	switch {
	case head.Error != nil && head.Error.Kind != "":
		r.failure = fmt.Sprintf("the run ended early (%s)", shorten(head.Error.Kind, 40))
	case head.OK != nil && !*head.OK:
		r.failure = "a check of the run failed"
	}
	return r, nil
}

// jsonError adds the place to a decoding error.
func jsonError(file string, text []byte, d *json.Decoder, err error) error {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	e := &Error{File: file, Msg: err.Error()}
	switch {
	case errors.As(err, &syntax):
		e.Line, e.Col = position(text, syntax.Offset-1)
	case errors.As(err, &kind):
		e.Line, e.Col = position(text, kind.Offset-1)
		e.Msg = fmt.Sprintf("%s is a %s: not the type that a result has there", kind.Field, kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e.Line, e.Col = position(text, int64(len(text)))
		e.Msg = "the file ends within the result; was the run still writing it?"
	case d != nil:
		e.Line, e.Col = position(text, d.InputOffset())
	}
	return e
}

// position is the line and column of a byte.
func position(text []byte, offset int64) (line, col int) {
	before := text[:min(max(offset, 0), int64(len(text)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// what returns the subject of the result.
func (r *result) what() string {
	s := r.gpu
	if s == "" {
		s = "result"
	}
	if r.core != "" {
		s += ", " + r.core + " core"
	}
	return s
}

// lookup follows a dotted path to a number.
func lookup(o object, path string) (float64, error) {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		raw, ok := o[part]
		here := strings.Join(parts[:i], ".")
		if here != "" {
			here += "."
		}
		if !ok {
			return 0, fmt.Errorf("there is no %q%s", here+part, near.Suggest(part, numbers(o), "there are"))
		}
		if i < len(parts)-1 {
			o = nil
			if err := json.Unmarshal(raw, &o); err != nil || o == nil {
				return 0, fmt.Errorf("%q has no parts", here+part)
			}
			continue
		}
		var v float64
		if len(raw) > 0 && raw[0] == '{' {
			if json.Unmarshal(raw, &o) == nil {
				return 0, fmt.Errorf("%q is not a number; it has parts, such as %q", here+part, here+part+"."+first(numbers(o)))
			}
		}
		if string(raw) == "null" || json.Unmarshal(raw, &v) != nil {
			return 0, fmt.Errorf("%q is not a number", here+part)
		}
		return v, inRange(v, string(raw))
	}
	return 0, errors.New("the key is empty")
}

// numbers are the members of an object that are numbers or have parts, sorted.
func numbers(o object) []string {
	var names []string
	for name, raw := range o {
		if len(raw) > 0 && (raw[0] == '{' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func first(names []string) string {
	if len(names) == 0 {
		return "…"
	}
	return names[0]
}

// sampled reports whether a launch, or some of its blocks, were executed, but not simulated.
func (r *result) sampled(k object) bool {
	return string(k["sampled"]) == "true" || len(k["passed_blocks"]) > 0
}

// estimated reports whether launches that were not simulated, or only in part, have a counter.
func estimated(path string) bool {
	return path == defaultKey || path == "warp_instructions" || path == "thread_instructions"
}

// caution says what of the compared numbers is an estimate or left out because the run was sampled, "" if
// nothing is.
func (r *result) caution(by, path string) string {
	s := r.sampling
	if !s.Estimates() {
		return ""
	}
	were := fmt.Sprintf("the run is sampled: %d of %d launches were simulated", s.Timed-s.TimedInPart, s.Launches)
	if s.TimedInPart > 0 {
		were += fmt.Sprintf(", %d in part", s.TimedInPart)
	}
	switch {
	case path == defaultKey && by == Runs:
		return fmt.Sprintf("%s, and the cycles are an estimate ± %.1f %%", were, 100*float64(s.MarginCycles)/float64(max(1, s.TimedCycles+s.EstimatedCycles)))
	case path == defaultKey:
		return were + ", the cycles of the others are estimates"
	case estimated(path):
		return ""
	case by == Runs:
		return were + ", and the counter leaves out the others"
	}
	return were + ", the others are left out"
}

// rows returns the kernels of the result, or the run as one row.
func (r *result) rows(by, path, runName string, less float64) ([]Row, error) {
	if r.mode == "functional" && path == defaultKey {
		return nil, &Error{File: r.file, Msg: "this is the result of a functional run, which counts no cycles; run without --mode functional, or compare another counter, such as --key warp_instructions"}
	}
	if by == Runs {
		v, err := lookup(r.run, path)
		if err != nil {
			return nil, &Error{File: r.file, Msg: err.Error()}
		}
		return []Row{{Name: runName, Group: runName, Launch: -1, Value: v - less*float64(max(1, len(r.kernels))), File: r.file}}, nil
	}
	if len(r.kernels) == 0 {
		return nil, &Error{File: r.file, Msg: "the result has no kernels; --by run compares whole runs"}
	}
	var rows []Row
	for i, k := range r.kernels {
		var head struct {
			Name   string
			Launch *int
		}
		if json.Unmarshal(k["name"], &head.Name) != nil {
			return nil, &Error{File: r.file, Msg: fmt.Sprintf("kernel %d of the result has no name", i)}
		}
		if raw, ok := k["launch"]; ok && json.Unmarshal(raw, &head.Launch) != nil {
			return nil, &Error{File: r.file, Msg: fmt.Sprintf("the launch number of kernel %d of the result is not a whole number", i)}
		}
		if r.sampled(k) && !estimated(path) {
			continue
		}
		v, err := lookup(k, path)
		if err != nil {
			return nil, &Error{File: r.file, Msg: fmt.Sprintf("kernel %s: %s", shorten(head.Name, 60), err)}
		}
		row := Row{Name: head.Name, Group: identifier(head.Name), Launch: -1, Value: v - less, File: r.file}
		if head.Launch != nil {
			row.Launch = *head.Launch
		}
		rows = append(rows, row)
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Launch < rows[j].Launch })
	return rows, nil
}
