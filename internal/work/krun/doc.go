// Package krun runs a prepared Kepler-style core to its end, a fault or a limit,
// writes the files that go with a result, and turns the core's counters into the
// common form of results. It knows neither inputs nor how the core works.
package krun
