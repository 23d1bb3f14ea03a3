// Package open reads traces of any form that Heddle knows: it looks at a path
// and asks the package that reads what lies there.
//
// It is not a reader itself and knows no format beyond how to recognise it.
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

// form is a form of traces.
type form struct {
	is   func(path string) bool
	open func(path string) (*trace.Set, error)
}

// forms are asked in this order. Text comes last: it has the best messages for
// what is of no form.
var forms = []form{
	{container.Is, container.Open},
	{micro.Is, micro.Open},
	{text.Is, text.Open},
}

// Is says whether a path looks like a trace: a folder with a list of launches
// or with dynamic_trace.pb, a list, a launch of Accel-Sim, a .heddle-trace.
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

// Open reads what a path names. Launches are not read yet. What is wrong is an
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

// exists says what keeps a path from being read: there is nothing, or neither a
// file nor a folder but, say, a pipe that might never give a byte.
func exists(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &trace.Error{File: path, Msg: "there is no such file or folder"}
	case err != nil:
		return &trace.Error{File: path, Msg: fmt.Sprintf("it cannot be read: %v", err)}
	case !info.IsDir() && !info.Mode().IsRegular():
		return &trace.Error{File: path, Msg: "it is neither a file nor a folder"}
	}
	return nil
}
