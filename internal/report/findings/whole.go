package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/report"
)

// This file: rules about whole runs.

// fewLaunches is the number of launches up to which a run does not have many (our choice).
const fewLaunches = 8

// span is a part of the time, in cycles.
type span struct{ from, to uint64 }

// covered is how long at least one of the spans lasts. It sorts them.
func covered(list []span) (cycles uint64) {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	end := uint64(0)
	for _, s := range list {
		if s.to > end {
			cycles += s.to - max(s.from, end)
			end = s.to
		}
	}
	return cycles
}

// apart is the time that spans cover, over their sum: 1 if none overlaps. Where launches run at the
// same time, the run is shorter only if all of them are, so that at most their mean is saved.
func apart(list []span) float64 {
	var sum uint64
	for _, s := range list {
		sum += s.to - s.from
	}
	return float64(covered(list)) / float64(sum)
}

func manyLaunches(r *report.Run) *cost {
	var list []span
	for i := range r.Kernels {
		if k := r.Kernels[i].KernelTiming; k != nil && k.FirstBlockCycle >= k.StartCycle {
			list = append(list, span{k.FirstBlockCycle, k.EndCycle})
		}
	}
	if len(list) <= fewLaunches {
		return nil
	}
	share := 1 - float64(covered(list))/float64(r.Cycles)
	return &cost{share, fmt.Sprintf("%d launches; %s of the time no block runs", len(list), percent(share)), nil}
}

func copies(r *report.Run) *cost {
	var list []span
	var bytes uint64
	for _, s := range r.Steps {
		if s.Kind == "copy" && s.StartCycle != nil && s.EndCycle != nil {
			list = append(list, span{*s.StartCycle, *s.EndCycle})
			bytes += uint64(s.Bytes)
		}
	}
	n := covered(list)
	if n == 0 {
		return nil
	}
	share := float64(n) / float64(r.Cycles)
	return &cost{share, fmt.Sprintf("copies of %s take %s cycles, %s of the time", report.Bytes(bytes), report.Count(n), percent(share)), nil}
}

// uneven returns 1 - mean/most of some counters, the largest, and their mean.
func uneven(list []uint64) (share float64, most uint64, mean float64) {
	var sum uint64
	for _, n := range list {
		sum += n
		most = max(most, n)
	}
	if most == 0 {
		return 0, 0, 0
	}
	mean = float64(sum) / float64(len(list))
	return 1 - mean/float64(most), most, mean
}

// tolerated is the unevenness that is not worth a word (our choice).
const tolerated = 0.25

// crowded is how many requests a cycle a slice of the L2 gets at the least if its requests wait
// for each other (our choice; a slice serves one a cycle).
const crowded = 0.3

// filled reports whether some launch had at least as many blocks as the machine has SMs.
func filled(r *report.Run) bool {
	return slices.ContainsFunc(r.Kernels, func(k report.Kernel) bool { return k.KernelTiming != nil && grid(&k) >= uint64(r.SMs) })
}

func unevenSMs(r *report.Run) *cost {
	if len(r.PerSM) < 2 || !filled(r) {
		return nil
	}
	list := make([]uint64, len(r.PerSM))
	for i := range r.PerSM {
		list[i] = r.PerSM[i].BusyCycles
	}
	share, most, mean := uneven(list)
	if share < tolerated {
		return nil
	}
	return &cost{share * float64(most) / float64(r.Cycles), fmt.Sprintf("SMs are busy for %s cycles on average, one for %s", report.Count(uint64(mean)), report.Count(most)), nil}
}

// memoryTime is the share of a run's time that is lost to memory.
func memoryTime(r *report.Run) float64 {
	sum := 0.0
	for i := range r.Kernels {
		if k := &r.Kernels[i]; k.KernelTiming != nil && k.Cycles > 0 {
			sum += newLaunch(r, k).memory() * float64(k.Cycles)
		}
	}
	return min(sum/float64(r.Cycles), 1)
}

func unevenSlices(r *report.Run) *cost {
	list := make([]uint64, len(r.PerSlice))
	for i := range r.PerSlice {
		list[i] = r.PerSlice[i].Requests
	}
	share, most, mean := uneven(list)
	if share < tolerated || float64(most) < crowded*float64(r.Cycles) {
		return nil
	}
	return &cost{memoryTime(r) * share, fmt.Sprintf("slices of the L2 get %s requests on average, one gets %s", report.Count(uint64(mean)), report.Count(most)), nil}
}

func unevenChannels(r *report.Run) *cost {
	list := make([]uint64, len(r.PerChannel))
	cycles := uint64(0)
	for i := range r.PerChannel {
		list[i] = r.PerChannel[i].BusyCycles
		cycles = max(cycles, r.PerChannel[i].Cycles)
	}
	share, most, mean := uneven(list)
	if share < tolerated || float64(most) < saturated*float64(cycles) {
		return nil
	}
	return &cost{memoryTime(r) * share, fmt.Sprintf("DRAM channels are busy for %s cycles on average, one for %s", report.Count(uint64(mean)), report.Count(most)), nil}
}
