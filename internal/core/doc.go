// Package core holds what the core models share: what an SM sees of the chip, the
// blocks and warps on it and what they take of it, the states of warps and where
// they are charged, sleeping, the records of what passed the pipeline, what is
// shown of a core from outside, the counters of its traffic, and the search for
// warps that go round for ever. What makes a core a SIMT core or a modern one is
// not here: the models are the packages below it.
package core
