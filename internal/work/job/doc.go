// Package job reads job files and runs them. It is the host side of a simulation, like
// the main function of a CUDA program. A job file lists programs, buffers and their
// contents, launches, copies, and expected results.
//
// It does not execute instructions (exec), print results (report), or count time. A job
// goes through three stages, each of which reports all its errors with file, line and
// column before the next begins: Parse looks only at the text, Open reads the referenced
// files and links the programs, and Run allocates, fills, launches and checks. Jobs of
// the Kepler-style core have their own format and go through the same stages: see
// KeplerJob.
package job
