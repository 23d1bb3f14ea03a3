// Package models registers the core models that machines can have, one line each. It
// is imported only for this effect.
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
