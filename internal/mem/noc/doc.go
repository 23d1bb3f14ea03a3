// Package noc is the network between the SM clusters and the memory
// partitions: one subnet for requests, one for replies, each a Network.
//
// The local crossbar moves one packet to each output a cycle, whatever its
// size; it is what GPGPU-Sim calls the local interconnect. The other kinds move
// flits through input-queued routers with virtual channels and credits, in the
// steps and with the delays of BookSim: a fly (a butterfly of switches; with one
// stage a single switch, as in GPGPU-Sim's files), a mesh and a torus. Routes are
// fixed by source and destination: the digits of the destination in a fly, one
// dimension after the other in a grid. All have bounded buffers and refuse what
// does not fit, so that a full partition stalls the SMs.
//
// The package does not use addresses: the caller of Push names the destination
// node. It does not model adaptive routes, wire lengths or power.
package noc
