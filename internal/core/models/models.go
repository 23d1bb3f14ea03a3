// Package models registers the core models that machines can have: a line for
// each. It is imported for that alone.
package models

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
)

func init() {
	core.Register(simt.Model)
	core.Register(modern.Model)
}
