// Package config describes the simulated machine and the conditions of a run: GPUs
// as TOML files, with a built-in library, changes to single values by dotted key,
// and the configuration files of GPGPU-Sim and Accel-Sim.
//
// A GPU is one flat tree of values. Each has a key such as "l2.ways", a unit, a
// line of help, bounds, and a source. The tags of the structs in schema.go are the
// only place where these are written; the reader, the checks, the help and the
// listing of a whole GPU all come from them.
//
// The package fills the Config structs of the models and asks them whether
// they can be built. It does not know what they do with a value.
package config
