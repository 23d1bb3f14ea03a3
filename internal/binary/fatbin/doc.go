// Package fatbin reads and writes fat binaries: the containers in which CUDA
// compilers put a program's device code, once for every kind of GPU, and which
// the host program hands to the runtime when it starts.
//
// It unpacks and chooses; what PTX means is not known here. The layout is not
// documented by its maker: the field names are ours, the facts were found in
// files of several compilers.
package fatbin
