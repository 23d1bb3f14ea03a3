// Package core holds what the core models share: the interface between SM and chip,
// resident blocks and warps and what they occupy, the states of warps and their
// accounting by instruction, sleeping, the instruction log, views for observers,
// counters of traffic, and the detection of endless loops. The models themselves are
// the packages below it.
package core
