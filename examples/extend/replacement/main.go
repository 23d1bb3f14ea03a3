// Program replacement brings a replacement policy of its own: SRRIP, which gives up
// lines that were used once before lines that were used again (Jaleel and others,
// ISCA 2010). It runs a matrix product with LRU and with SRRIP in the L1 data caches
// and the L2, and prints what that changes.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/heddle-sim/heddle"
)

// far is what a way's number grows to before it is given up: its next use is
// expected farthest in the future. Two bits, as in the paper.
const far = 3

// srrip has a number for every way, low where the next use is near.
type srrip struct {
	ways int
	next []uint8
}

// at are the numbers of a set.
func (p *srrip) at(set int) []uint8 { return p.next[set*p.ways:][:p.ways] }

func (p *srrip) OnHit(set, way int, now uint64) { p.at(set)[way] = 0 }
func (p *srrip) OnInvalidate(set, way int)      { p.at(set)[way] = 0 }
func (p *srrip) Victim(set int, w heddle.Ways) int {
	victim := w.Next(0)
	for i := victim; i >= 0; i = w.Next(i + 1) {
		if p.at(set)[i] > p.at(set)[victim] {
			victim = i
		}
	}
	return victim
}

// OnFill makes the other ways older by as much as the victim lacked to far.
func (p *srrip) OnFill(set, way int, addr, now uint64) {
	lacked := far - p.at(set)[way]
	for i := range p.at(set) {
		p.at(set)[i] = min(p.at(set)[i]+lacked, far)
	}
	p.at(set)[way] = far - 1
}

func main() {
	heddle.RegisterReplacement("srrip", func(sets, ways int) heddle.ReplacementPolicy {
		return &srrip{ways, make([]uint8, sets*ways)}
	})
	// Caches as small for this product as real ones are for real products.
	small := []string{"l1d.adaptive=false", "l1d.ways=16", "l2.index=linear", "l2.sets=1", "l2.ways=8", "run.copies_fill_l2=false"}
	fmt.Println("policy    cycles  L1 misses  L2 misses")
	for _, policy := range []string{"lru", "srrip"} {
		opt := heddle.JobOptions{GPU: "rtx-2060", Timing: true}
		for _, s := range append(small, "l1d.replace="+policy, "l2.replace="+policy) {
			if err := opt.Settings.Set(s); err != nil {
				log.Fatal(err)
			}
		}
		res, err := heddle.RunJob(context.Background(), "examples/polybench/gemm.toml", opt)
		if err != nil {
			log.Fatal(err)
		}
		k := res.Kernels[0]
		fmt.Printf("%-6s %9d  %9d  %9d\n", policy, k.Cycles, k.Memory.L1.Misses, k.Memory.L2.Misses)
	}
}
