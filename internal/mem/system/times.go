package system

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: the latencies of requests. Only the counters under GPGPU-Sim's names
// show them.

// Times are the latencies of requests, in core cycles.
type Times struct {
	// ToMem is from an SM to the partition, ToSM from there back, All the whole
	// way. The last two do not include instruction fetches.
	ToMem, ToSM, All Journey
	// Windows counts spans of windowCycles by the logarithm to base 2 of the mean
	// latency of the replies in them.
	Windows [32]uint64
	// ClosedSum and Closed are sum and number of the latencies of the spans that
	// have ended, from which GPGPU-Sim computes its averages.
	ClosedSum, Closed uint64

	bank     []bankTime // by channel and bank
	base     uint64     // cycle from which spans are counted: the last Restart
	window   uint64     // the open span
	sum, num uint64     // its latencies
}

// windowCycles is GPGPU-Sim's sampling period in the shipped configurations
// (-gpgpu_runtime_stat).
const windowCycles = 500

// Journey is the time that requests took for a part of their way.
type Journey struct {
	N, Sum, Max uint64
	Log         [32]uint64 // by the logarithm to base 2
}

func (j *Journey) add(d uint64) {
	j.N++
	j.Sum += d
	j.Max = max(j.Max, d)
	j.Log[min(log2(d), len(j.Log)-1)]++
}

type bankTime struct{ sum, max uint64 }

func log2(v uint64) int { return max(0, bits.Len64(v)-1) }

// entered records that a request has reached its partition.
func (t *Times) entered(now uint64, r *mem.Req) { t.ToMem.add(now - min(r.Born, now)) }

// delivered records that a reply has reached its SM; it left its partition at
// r.Ready.
func (t *Times) delivered(now uint64, r *mem.Req, bank int) {
	if r.Kind == mem.InstRead {
		return
	}
	t.ToSM.add(now - min(r.Ready, now))
	d := now - min(r.Born, now)
	t.All.add(d)
	if bank >= 0 && bank < len(t.bank) {
		t.bank[bank].sum += d
		t.bank[bank].max = max(t.bank[bank].max, d)
	}
	if w := (now - t.base) / windowCycles; w != t.window {
		t.close()
		t.window = w
	}
	t.sum += d
	t.num++
}

// close ends the open window.
func (t *Times) close() {
	if t.num > 0 {
		t.Windows[log2(t.sum/t.num)]++
		t.ClosedSum += t.sum
		t.Closed += t.num
		t.sum, t.num = 0, 0
	}
}

// Settle ends the open window if it is over.
func (t *Times) Settle(now uint64) {
	if (now-t.base)/windowCycles != t.window {
		t.close()
	}
}

// Restart starts a new count of spans.
func (t *Times) Restart(now uint64) { t.base, t.window = now, 0 }

// Bank returns sum and maximum of the latencies of the requests to a bank, by its
// number among the banks of all channels.
func (t *Times) Bank(i int) (sum, most uint64) { return t.bank[i].sum, t.bank[i].max }
