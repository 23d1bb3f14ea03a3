// Package sparse is cuSPARSE: the functions of its documentation, computed by kernels of
// Heddle's own (the folder kernels).
//
// All operations see a matrix by rows (view.go). A matrix in another format, or transposed,
// is first sorted by rows; its values stay where they are. Kernels add up in a fixed order,
// so that results do not depend on the schedule.
//
// The library takes working memory from the stream's pool. The buffers of programs are
// not used, and the sizes that it asks for are nominal.
package sparse

//go:generate go run ../kernelgen kernels
