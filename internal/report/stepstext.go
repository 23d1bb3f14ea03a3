package report

import (
	"fmt"
	"strings"
)

// This file: the text for steps of the host and blocks on SMs.

// what describes a step.
func (s *Step) what(kernels map[int]string) string {
	size := func(text string) string { return text + ", " + Bytes(uint64(s.Bytes)) }
	var w string
	switch s.Kind {
	case "launch":
		w = s.Kind
		if s.Launch != nil {
			w = fmt.Sprintf("launch %d", *s.Launch)
			if k := kernels[*s.Launch]; k != "" {
				w += ": " + k
			}
		}
	case "copy":
		w = size(fmt.Sprintf("copy %s → %s", s.From, s.To))
	case "fill":
		w = size(fmt.Sprintf("fill %s with %s", s.To, s.From))
	default:
		w = strings.TrimSpace(s.Kind + " " + s.Event)
	}
	if s.Unfinished {
		w += ", unfinished"
	}
	return w
}

// stepTable shows when each step ran.
func (r *Run) stepTable(b *strings.Builder) {
	if len(r.Steps) == 0 {
		return
	}
	kernels := map[int]string{}
	for _, k := range r.Kernels {
		kernels[k.Launch] = k.Name
	}
	t := NewTable("step", "stream", "<what", "start", "end", "cycles")
	for i := range r.Steps {
		if i == mostRows {
			break
		}
		s := &r.Steps[i]
		start, end, cycles := "–", "–", ""
		if s.StartCycle != nil {
			start, end = Count(*s.StartCycle), Count(*s.EndCycle)
			if n := *s.EndCycle - *s.StartCycle; n > 0 {
				cycles = Count(n)
			}
		}
		stream := fmt.Sprint(s.Stream)
		if s.Kind == "sync" {
			stream = "all"
		}
		t.Row(fmt.Sprint(s.Step), stream, s.what(kernels), start, end, cycles)
	}
	b.WriteString("\n")
	t.Write(b)
	moreRows(b, len(r.Steps)-mostRows, "step", "steps")
}

// blockTable summarises where and when blocks ran, if that was recorded.
func (r *Run) blockTable(b *strings.Builder) {
	t := NewTable("launch", "<kernel", "blocks", "SMs", "fewest on one", "most", "first placed", "last ended", "shortest", "mean", "longest")
	more := 0
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if k.KernelTiming == nil || len(k.BlockLog) == 0 {
			continue
		}
		if len(t.rows) == mostRows {
			more++
			continue
		}
		on := map[int]int{}
		first, last := k.BlockLog[0].StartCycle, uint64(0)
		short, long, sum, ended := ^uint64(0), uint64(0), uint64(0), uint64(0)
		for _, x := range k.BlockLog {
			on[x.SM]++
			first = min(first, x.StartCycle)
			if x.EndCycle == nil {
				continue
			}
			n := *x.EndCycle - x.StartCycle
			last = max(last, *x.EndCycle)
			short, long, sum, ended = min(short, n), max(long, n), sum+n, ended+1
		}
		least, most := len(k.BlockLog), 0
		for _, n := range on {
			least, most = min(least, n), max(most, n)
		}
		if len(on) < r.SMs {
			least = 0
		}
		cells := []string{fmt.Sprint(k.Launch), k.Name, Count(uint64(len(k.BlockLog))), fmt.Sprint(len(on)), fmt.Sprint(least), fmt.Sprint(most), Count(first)}
		if ended == 0 {
			t.Row(append(cells, "–", "–", "–", "–")...)
			continue
		}
		t.Row(append(cells, Count(last), Count(short), Count(sum/ended), Count(long))...)
	}
	if len(t.rows) > 0 {
		b.WriteString("\n")
		t.Write(b)
	}
	moreRows(b, more, "launch", "launches")
}

// moreRows prints the number of rows that a table leaves out.
func moreRows(b *strings.Builder, n int, one, many string) {
	if n > 0 {
		fmt.Fprintf(b, "and %s in the JSON result\n", Plural(n, "more "+one, "more "+many))
	}
}
