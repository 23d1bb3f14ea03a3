// Program prefetcher brings a prefetcher of its own to the L1 data caches: it learns by
// how much the addresses of an instruction grow from one execution to the next, and
// reads ahead by that (Baer and Chen, Supercomputing 1991). It runs a matrix product
// without a prefetcher, with the built-in one and with its own, and prints what they
// change.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"

	"github.com/heddle-sim/heddle"
)

// distance is how many strides ahead it reads.
const distance = 2

// stride has what it knows of the instructions of each warp in a small table. The
// sectors of a line, for which a warp asks one after the other, are kept apart.
type stride struct{ table [1024]entry }

type entry struct {
	key    [3]int // instruction, warp, sector
	last   uint64
	stride uint64
	sure   bool // the stride has been the same twice
}

func (s *stride) Access(a *heddle.MemoryAccess, list []uint64) []uint64 {
	key := [3]int{a.PC, a.Warp, int(a.Addr / 32 % 4)}
	e := &s.table[(key[0]*61+key[1]*4+key[2])%len(s.table)]
	if e.key != key {
		*e = entry{key: key, last: a.Addr}
		return list
	}
	d := a.Addr - e.last
	e.sure = d == e.stride && d != 0
	e.last, e.stride = a.Addr, d
	if e.sure {
		list = append(list, a.Addr+distance*d)
	}
	return list
}

func main() {
	heddle.RegisterPrefetcher("stride", func(line, fetch int) heddle.Prefetcher { return &stride{} })
	fmt.Println("prefetcher     cycles  L1 misses     issued     useful")
	for _, p := range []string{"none", "next-line", "stride"} {
		opt := heddle.JobOptions{GPU: "rtx-2060", Timing: true}
		if err := opt.Settings.Set("l1d.prefetcher=" + p); err != nil {
			log.Fatal(err)
		}
		res, err := heddle.RunJob(context.Background(), "examples/polybench/gemm.toml", opt)
		if err != nil {
			log.Fatal(err)
		}
		k := res.Kernels[0]
		n := cmp.Or(k.Memory.L1Prefetch, &heddle.PrefetchCounts{})
		fmt.Printf("%-10s  %9d  %9d  %9d  %9d\n", p, k.Cycles, k.Memory.L1.Misses, n.Issued, n.Useful)
	}
}
