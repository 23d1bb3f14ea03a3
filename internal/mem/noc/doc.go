// Package noc is the network between the SM clusters and the memory
// partitions: one subnet for requests, one for replies, each a Network.
//
// Two kinds are modelled. The local crossbar moves one packet to each output a
// cycle, whatever its size; it is what GPGPU-Sim calls the local interconnect.
// The fly is a single switch with flits, which stands for GPGPU-Sim's BookSim
// with `topology = fly; n = 1`. Both have bounded buffers and refuse what does
// not fit, so that a full partition is felt in the SMs.
//
// The package knows nothing of addresses: whoever pushes a request names the
// node that it goes to.
package noc
