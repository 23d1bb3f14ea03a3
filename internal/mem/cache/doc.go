// Package cache models the timing of one cache: tags, sectors, the table of
// pending misses, the miss queue and the ports. One type, Cache, serves as L1
// data, constant, instruction and L2 cache, with its policies as data in a Config;
// Texture is the in-order texture cache with its latency FIFO.
//
// A cache here holds no bytes and knows no clock, network or neighbour. Its
// owner calls it: Access for a look-up, PopMiss to send one request a cycle to
// the next level, Tick once a cycle, Fill when a request comes back, PopReady
// for the requests that have been answered. The owner also models the latency of a
// hit, as the length of a queue in front of the cache.
//
// The rules are those of GPGPU-Sim 4.2; where GPGPU-Sim does something that no
// hardware would, a switch in Compat turns it on.
package cache
