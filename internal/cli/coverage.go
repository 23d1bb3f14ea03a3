package cli

import (
	"os"

	"github.com/heddle-sim/heddle/internal/check/coverage"
)

// writeCoverage writes coverage as an LCOV tracefile.
func writeCoverage(file string, d coverage.Data) error {
	f, err := os.Create(file)
	if err != nil {
		return usage("--coverage: %w", err)
	}
	err = d.WriteLCOV(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return usage("--coverage: %w", err)
	}
	return nil
}

// writeCoverageOf writes the coverage that processes of a program left in a folder.
func writeCoverageOf(file, dir string) error {
	d, err := coverage.ReadAll(dir)
	if err != nil {
		return usage("--coverage: %w", err)
	}
	return writeCoverage(file, d)
}
