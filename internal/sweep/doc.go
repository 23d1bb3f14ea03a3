// Package sweep runs many points: inputs on machines with values of the configuration. A sweep
// is a file; its points are named by the content of all that their results depend on, so that
// a point which has been run is not run again, by this sweep or another one with the same
// store.
//
// A file is read (file.go, read.go), its points are listed and named (point.go), and a
// queue of this computer runs those that are missing, each in a process of its own
// (queue.go). Results are in a store (package store).
//
// It does not simulate: a point is a command line of heddle.
package sweep
