// Package krun runs the Kepler-style core once it is set up: to its end, a
// fault or a limit, with the files that are written beside a result, and turns
// its counters into the form that all results have. It knows neither inputs nor
// how the core works.
package krun
