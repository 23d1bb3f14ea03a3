// Package open reads traces in any format that Heddle supports: it detects the
// format of a path and calls the package that reads it.
package open

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/container"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/text"
)

// form is a trace format.
type form struct {
	is   func(path string) bool
	open func(path string) (*trace.Set, error)
}

// forms are tried in this order. Text comes last: it has the best messages for
// paths in no known format.
var forms = []form{
	{container.Is, container.Open},
	{micro.Is, micro.Open},
	{text.Is, text.Open},
}

// Is reports whether a path looks like a trace: a folder with a list of launches or
// with dynamic_trace.pb, a list, a launch of Accel-Sim, a .heddle-trace.
func Is(path string) bool {
	if exists(path) != nil {
		return false
	}
	for _, f := range forms {
		if f.is(path) {
			return true
		}
	}
	return false
}

// Open opens the trace at a path without reading its launches. Errors are of type
// *trace.Error.
func Open(path string) (*trace.Set, error) {
	if err := exists(path); err != nil {
		return nil, err
	}
	for _, f := range forms {
		if f.is(path) {
			return f.open(path)
		}
	}
	return text.Open(path)
}

// exists returns an error if a path cannot be read: if it is missing, or neither a
// file nor a folder but, say, a pipe that might block forever.
func exists(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &trace.Error{File: path, Msg: "no such file or folder"}
	case err != nil:
		return &trace.Error{File: path, Msg: fmt.Sprintf("it cannot be read: %v", err)}
	case !info.IsDir() && !info.Mode().IsRegular():
		return &trace.Error{File: path, Msg: "it is neither a file nor a folder"}
	}
	return nil
}
