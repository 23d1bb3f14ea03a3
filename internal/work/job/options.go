package job

import "github.com/heddle-sim/heddle/internal/run"

// Options are the settings of a run that are not part of its job.
type Options = run.Options

// Dump asks for a buffer's bytes in a file.
type Dump = run.Dump
