// Package fatbin reads and writes fat binaries: the containers in which CUDA
// compilers store a program's device code, once per kind of GPU. The host program
// hands them to the runtime when it starts.
//
// The package unpacks and selects images; it does not interpret PTX. NVIDIA does not
// document the layout: the field names are ours, the facts come from files of several
// compilers.
package fatbin
