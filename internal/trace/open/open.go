// Package open reads traces of any form that Heddle knows: it looks at a path
// and asks the package that reads what lies there.
//
// It is not a reader itself and knows no format beyond how to recognise it.
package open

import (
	"fmt"
	"os"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/container"
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
	{text.Is, text.Open},
}

// Is says whether a path looks like a trace: a folder with a list of launches
// or with dynamic_trace.pb, a list, a launch of Accel-Sim, a .heddle-trace.
func Is(path string) bool {
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
	if _, err := os.Stat(path); err != nil {
		return nil, &trace.Error{File: path, Msg: fmt.Sprintf("it cannot be read: %v", err)}
	}
	for _, f := range forms {
		if f.is(path) {
			return f.open(path)
		}
	}
	return text.Open(path)
}
