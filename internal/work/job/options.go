package job

import "github.com/heddle-sim/heddle/internal/run"

// Options are the settings of a run that are not part of its job.
type Options = run.Options

// Dump is a request to write a buffer's bytes to a file.
type Dump = run.Dump
