// Package bench measures how fast Heddle computes. It holds kernels and Go
// benchmarks over them. run.sh prints all figures in one table, cuda.sh prints what
// calls of the CUDA runtime cost, checkers.sh what checkers cost, and ablations.sh prints what parts of the modern
// core are worth. threads.sh prints what two threads gain over one. outside.sh builds and runs programs that live
// elsewhere and records the outcome of each in a table; same.sh compares everything that two builds
// of heddle compute. gpuverify/run.sh holds checkers against the labels of a verifier's
// test suite. ptxas prints how fast PTX is compiled. profile.sh writes the profile by which Go optimises heddle. Benchmarks
// are not tests: they fail only if a result is wrong.
package bench
