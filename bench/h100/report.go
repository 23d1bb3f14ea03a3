package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// summary describes a set of errors.
type summary struct{ n, mean, median, tenth, worst, bias float64 }

// summarise returns statistics of errors, which are fractions: the mean, median,
// 90th percentile (the smallest error that nine tenths of them do not exceed) and
// maximum of their magnitudes, and the mean with its sign.
func summarise(errors []float64) summary {
	if len(errors) == 0 {
		return summary{}
	}
	var s summary
	size := make([]float64, len(errors))
	for i, e := range errors {
		size[i] = math.Abs(e)
		s.mean += size[i] / float64(len(errors))
		s.bias += e / float64(len(errors))
	}
	slices.Sort(size)
	at := func(q float64) float64 { return size[max(0, int(math.Ceil(q*float64(len(size))))-1)] }
	s.n, s.median, s.tenth, s.worst = float64(len(size)), at(.5), at(.9), at(1)
	if n := len(size); n%2 == 0 {
		s.median = (size[n/2-1] + size[n/2]) / 2
	}
	return s
}

func (s summary) String() string {
	if s.n == 0 {
		return "0 | | | | | "
	}
	return fmt.Sprintf("%.0f | %.1f | %.1f | %.1f | %.1f | %+.1f", s.n, 100*s.mean, 100*s.median, 100*s.tenth, 100*s.worst, 100*s.bias)
}

const summaryHead = "| | rows | mean | median | 90th percentile | worst | signed mean |\n| --- | --- | --- | --- | --- | --- | --- |\n"

// document writes the report.
func document(rows []row, kept, code map[string]float64) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("| chase | Heddle | H100 PCIe |\n| --- | --- | --- |\n")
	for _, c := range chases {
		if n, ok := kept["latency "+c.name]; ok {
			fmt.Fprintf(&b, "| %s | %.1f | %g |\n", c.name, n, c.hardware)
		}
	}
	errors := func(kind string, want func(r *row) bool) []float64 {
		var list []float64
		for i := range rows {
			r := &rows[i]
			if n, ok := kept[r.key()]; ok && (kind == "" && r.size > 0 || r.kind == kind) && want(r) {
				list = append(list, n/r.hardware()-1)
			}
		}
		return list
	}
	yes := func(*row) bool { return true }
	forTuning := func(r *row) bool { return r.tuned }
	reported := func(r *row) bool { return !r.tuned }

	b.WriteString(emptyText)
	b.WriteString(summaryHead)
	fmt.Fprintf(&b, "| tuned half | %v |\n| other half | %v |\n", summarise(errors("empty", forTuning)), summarise(errors("empty", reported)))
	within := 0
	list := errors("empty", yes)
	for _, e := range list {
		if math.Abs(e) <= .1 {
			within++
		}
	}
	fmt.Fprintf(&b, "\n%d of all %d rows are within 10 %%.\n", within, len(list))
	table(&b, rows, kept, "empty", "threads", func(r *row) (string, string) { return fmt.Sprint(r.block), fmt.Sprint(r.blocks) }, "blocks")

	b.WriteString(ffmaText)
	b.WriteString(summaryHead)
	few := func(r *row) bool { return r.blocks <= 3 }
	fmt.Fprintf(&b, "| 1 to 3 blocks | %v |\n| more blocks | %v |\n\n", summarise(errors("ffma", few)), summarise(errors("ffma", func(r *row) bool { return !few(r) })))
	b.WriteString(slopes(rows, kept))

	b.WriteString(polyText)
	b.WriteString(summaryHead)
	for _, k := range benchmarks {
		fmt.Fprintf(&b, "| %s | %v |\n", k.name, summarise(errors(k.name, yes)))
	}
	fmt.Fprintf(&b, "| all | %v |\n| all, tuned half | %v |\n| all, other half | %v |\n",
		summarise(errors("", yes)), summarise(errors("", forTuning)), summarise(errors("", reported)))
	b.WriteString(leftOut(rows, kept))
	beside(&b, rows, kept, code)
	for _, k := range benchmarks {
		fmt.Fprintf(&b, "\n### %s\n", k.name)
		table(&b, rows, kept, k.name, "size", func(r *row) (string, string) { return fmt.Sprint(r.size), fmt.Sprint(r.block) }, "width")
	}
	return b.String()
}

// leftOut names the rows of PolyBench that have no result.
func leftOut(rows []row, kept map[string]float64) string {
	n := 0
	last := ""
	var list strings.Builder
	for i := range rows {
		r := &rows[i]
		if _, ok := kept[r.key()]; ok || r.size == 0 {
			continue
		}
		at := fmt.Sprintf("%s of size %d", r.kind, r.size)
		switch {
		case n == 0:
			fmt.Fprintf(&list, "%s, width %d", at, r.block)
		case at == last:
			fmt.Fprintf(&list, ", %d", r.block)
		default:
			fmt.Fprintf(&list, "; %s, width %d", at, r.block)
		}
		n, last = n+1, at
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\nNot run for the time that each takes, 5 to 40 minutes (`-steps`): %s.\n", list.String())
}

// beside prints the errors of the PTX under scoreboards and of machine code that is made of it, over the rows that have
// both, and which rows are further off by the latter.
func beside(b *strings.Builder, rows []row, kept, code map[string]float64) {
	b.WriteString(codeText)
	b.WriteString("| | rows | PTX: mean | worst | signed mean | machine code: mean | worst | signed mean | further off, points |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	type pair struct {
		r         *row
		ptx, code float64 // errors
	}
	var worse []pair
	add := func(name string, want func(r *row) bool) {
		var ptx, made []float64
		for i := range rows {
			r := &rows[i]
			n, ok := kept[r.key()]
			m, both := code[r.key()]
			if !ok || !both || !want(r) {
				continue
			}
			p := pair{r, n/r.hardware() - 1, m/r.hardware() - 1}
			ptx, made = append(ptx, p.ptx), append(made, p.code)
			if r.kind == name && math.Abs(p.code)-math.Abs(p.ptx) >= .03 {
				worse = append(worse, p)
			}
		}
		if len(ptx) == 0 {
			return
		}
		x, y := summarise(ptx), summarise(made)
		fmt.Fprintf(b, "| %s | %.0f | %.1f | %.1f | %+.1f | %.1f | %.1f | %+.1f | %+.1f |\n",
			name, x.n, 100*x.mean, 100*x.worst, 100*x.bias, 100*y.mean, 100*y.worst, 100*y.bias, 100*(y.mean-x.mean))
	}
	add("ffma", func(r *row) bool { return r.kind == "ffma" })
	for _, k := range benchmarks {
		add(k.name, func(r *row) bool { return r.kind == k.name })
	}
	poly := func(r *row) bool { return r.size > 0 }
	add("PolyBench-like, all", poly)
	add("PolyBench-like, tuned half", func(r *row) bool { return poly(r) && r.tuned })
	add("PolyBench-like, other half", func(r *row) bool { return poly(r) && !r.tuned })

	fmt.Fprintf(b, "\n%d rows are at least 3 points further off as machine code", len(worse))
	if len(worse) == 0 {
		b.WriteString(".\n")
		return
	}
	slices.SortStableFunc(worse, func(p, q pair) int {
		return cmp.Compare(math.Abs(q.code)-math.Abs(q.ptx), math.Abs(p.code)-math.Abs(p.ptx))
	})
	b.WriteString(", the first of them:\n\n| program | size | width | PTX | machine code |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range worse[:min(len(worse), mostWorse)] {
		name := p.r.kind
		if p.r.size == 0 {
			name = fmt.Sprintf("%s, %d blocks, %d rounds", name, p.r.blocks, p.r.turns)
		}
		fmt.Fprintf(b, "| %s | %d | %d | %+.1f %% | %+.1f %% |\n", name, p.r.size, p.r.block, 100*p.ptx, 100*p.code)
	}
}

// mostWorse is how many rows are listed that are further off as machine code.
const mostWorse = 12

// table prints the ratio of each row of a kind; place returns its line and column.
func table(b *strings.Builder, rows []row, kept map[string]float64, kind, lines string, place func(r *row) (line, column string), columns string) {
	var names, across []string
	cells := map[[2]string]string{}
	for i := range rows {
		r := &rows[i]
		if r.kind != kind {
			continue
		}
		l, c := place(r)
		if !slices.Contains(names, l) {
			names = append(names, l)
		}
		if !slices.Contains(across, c) {
			across = append(across, c)
		}
		text := fmt.Sprintf("%.0f", r.hardware())
		if n, ok := kept[r.key()]; ok {
			text = fmt.Sprintf("%.0f / %.0f, %+.1f %%", n, r.hardware(), 100*(n/r.hardware()-1))
		}
		if r.tuned {
			text += " t"
		}
		cells[[2]string{l, c}] = text
	}
	fmt.Fprintf(b, "\nHeddle / H100, cycles; t: tuned half.\n\n| %s |", lines)
	for _, c := range across {
		fmt.Fprintf(b, " %s %s |", columns, c)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(across)+1) + "\n")
	for _, l := range names {
		fmt.Fprintf(b, "| %s |", l)
		for _, c := range across {
			fmt.Fprintf(b, " %s |", cells[[2]string{l, c}])
		}
		b.WriteString("\n")
	}
}

// slopes compares the cycles per step of the chain, a least-squares fit over the
// iterations of each shape of launch.
func slopes(rows []row, kept map[string]float64) string {
	type shape struct{ block, blocks int }
	type sums struct{ n, x, xx, h, xh, k, xk float64 }
	var order []shape
	of := map[shape]*sums{}
	for i := range rows {
		r := &rows[i]
		n, ok := kept[r.key()]
		if r.kind != "ffma" || !ok || r.blocks > 3 {
			continue
		}
		at := shape{r.block, r.blocks}
		if of[at] == nil {
			of[at] = &sums{}
			order = append(order, at)
		}
		s, x, h := of[at], float64(128*r.turns), r.hardware()
		s.n, s.x, s.xx, s.h, s.xh, s.k, s.xk = s.n+1, s.x+x, s.xx+x*x, s.h+h, s.xh+x*h, s.k+n, s.xk+x*n
	}
	var b strings.Builder
	b.WriteString("| threads | blocks | Heddle, cycles per step | H100 | error |\n| --- | --- | --- | --- | --- |\n")
	for _, at := range order {
		s := of[at]
		d := s.n*s.xx - s.x*s.x
		if d == 0 {
			continue
		}
		k, h := (s.n*s.xk-s.x*s.k)/d, (s.n*s.xh-s.x*s.h)/d
		fmt.Fprintf(&b, "| %d | %d | %.3f | %.3f | %+.1f %% |\n", at.block, at.blocks, k, h, 100*(k/h-1))
	}
	return b.String()
}

const intro = `# h100-pcie against hardware

Written by ` + "`go run ./bench/h100`" + ` from stored results. ` + "`go run ./bench/h100 -run . -steps 1e9`" + ` simulates everything again, which takes a day, as the largest rows of 2mm, 3mm, gemm and syrk take 2 to 30 minutes each.

All stored results are of the GPU as it is, but for the four longest chains of FFMA, from before ` + "`modern.assembled`" + ` ([hopper.md](hopper.md#ptx-in-place-of-machine-code)), which changes chains not at all. Empty kernels
and chains store nothing, so they were not run again when stores became packets of lines (` + "`modern.store_lines`" + `).

sarchlab/mgpusim (branch nvidia_instruction, MIT) made the measurements on an H100 PCIe; they are in ` + "`bench/h100/testdata`" + ` with their notice. Two tools were used. Nsight Compute reports the cycle
counter, at the profiler's clock of about 1.09 GHz. Nsight Systems reports the time of all kernels of a program. **All figures on this page are from Nsight Systems**: PolyBench was measured only with
it, and its times are those that users see, at the boost clock of 1755 MHz that the GPU file uses too.

The source multiplies the measured time by a clock, for most of PolyBench by that of the idle GPU, 345 MHz. We divide by this clock to get the time back, and multiply by 1755 MHz. That the GPU ran at
1755 MHz in those runs is an assumption: its clock was not recorded. For a program with several kernels, both columns are sums over its kernels.

The rows of each kind are sorted by size, block and number of blocks. Every second one belongs to the *tuned half*, which may be used to set parameters; the other half is only reported. An error is
Heddle's cycles divided by the hardware's, minus one, in percent.

## Tuned parameters

| parameter | source |
| --- | --- |
| ` + "`run.launch_latency`, `run.block_interval`, `run.block_turnaround`, `run.warp_turnaround`" + ` | the tuned half of the empty kernels: least mean square of the relative errors |
| ` + "`partition.rop_latency`" + `, ` + "`partition.far_latency`" + ` | the latencies that gpu-benches (te42kyfo) measured for the two halves of the L2, 265 and 475 cycles |
| ` + "`partition.dram_latency`" + ` | the DRAM latency that gpu-benches measured, 650 cycles |
| ` + "`partition.far_bytes`" + `, ` + "`partition.far_header`" + ` | gemm of sizes 384 and 512, whose stores are the limit, set by hand with rows of both halves: for gemm, and for 2mm and 3mm, which are the same loop, the other half is not untouched at these sizes |
| ` + "`modern.coalescers`" + ` | the tuned half of PolyBench with sizes up to 96: 1 (the RTX A6000 has 4) |
| ` + "`modern.line_cycles`" + ` | gesummv, tuned half |
| ` + "`modern.scheduler`" + ` | 2dconv in blocks of 32 x 8, tuned half |

Before the L2 had halves, the tuned half of PolyBench with sizes up to 96, without 3mm, had these mean errors, by number of coalescers and L2 latency in cycles:

| coalescers | L2 265 | L2 318 | L2 370 |
| --- | --- | --- | --- |
| 1 | 17.4 | 9.3 | 6.2 |
| 4 | | 11.7 | 8.1 |

The FFMA chains set no parameter. All other values of the GPU file have their own source or are
those of the RTX A6000; ` + "`heddle gpus h100-pcie`" + ` prints them. Instruction caches and the line with a kernel's parameters are warm (` + "`run.icache`" + `). With cold ones an empty kernel takes 650 cycles more,
and a kernel with parameters another 650; the measurements show neither.

## Pointer chases

Cycles per dependent load. A chase sees the latency of its SM's half of the L2 up to 25 MB, that of the other half up to 50, then the DRAM.

`

const emptyText = `
## Empty kernels

The cost of a launch. With small blocks the dispatcher is the limit: one block per 1.14 cycles. With large blocks, of which an SM holds two or three, the limit is how soon a slot is reused.

`

const ffmaText = `
## Chains of FFMA

Chains of dependent FFMA, 128 per loop iteration, in blocks of 32 to 128 threads. The measured program ends with a store that it skips; so does ours. Rows with more than about 6 million warp
instructions are left out.

`

const polyText = `
## PolyBench-like programs

The kernels are our own (` + "`examples/polybench/polybench.cu`" + `). clang compiles them to PTX, which the modern core runs with scoreboards. The measured kernels are PolyBench's, compiled by nvcc. Block
widths are those of the measurements. The measurements do not give block heights; ours are PolyBench's, 8 in two dimensions and 1 in one. PTX runs in program order, so loads precede the arithmetic on
their results, as an assembler for the hardware would place them. The inputs have just been copied to the GPU, so the L2 holds them.

Notable deviations:

- A sub-core needs two cycles for each line of a load whose lanes read separate rows, and the SM one: gesummv has one warp on an SM, syrk of the same width eight. Two lines whose bytes lie in different
  banks of the L1 are one step, as rows of 192 bytes show: the H100 executes syrk of size 48, 32 wide, faster than that of size 32. Before, the two were up to 22 % too fast and 36 % too slow.
- Stores of whole lines are a packet each (` + "`modern.store_lines`" + `). With one for each sector gemm of sizes 384 and 512, 32 wide, takes 8 and 14 % longer than the H100 even if nothing else limits its stores, with this 0 and 3 %.
- gemm, 2mm and 3mm of sizes 384 and 512 are limited by their stores, of 32, 64 or 128 bytes in a line. In Heddle the limit is the way between the halves of the L2, which half of all stores take: 720 bytes a
  cycle in each direction, where each line has a header of 52. That there is such a limit follows from the measurements; where it is, does not. That streams of writes on an H200 have it, too, speaks for the L2
  ([hopper.md](hopper.md#time)).
- A block's place is free when its turnaround has passed and its stores are acknowledged; both begin when its last warp ends. With the oldest warp first, the blocks of an SM end one after the other, as the
  times of 2dconv in blocks of 32 x 8 demand from size 512 on; with the youngest first, as on the RTX A6000, they end at once, and its rows were up to 51 % too slow.
- Which half of the L2 an address and an SM belong to is not known, nor where copies from the host put their data: in Heddle, where the address belongs. First accesses of several lines wait for the farthest
  of them, so that 2dconv of small sizes is some 6 % too slow.
- gemm, 2mm and 3mm are one loop, run once, twice and three times. The H100 takes 215,500, 191,200 and 181,800 cycles for it at size 384, 16 wide, so that one model cannot be nearer than
  9 % to the farthest of them. Heddle is too fast there, by 21, 11 and 7 %, and too slow at size 512, 8 wide, by 14, 15 and 10 %: the last tenth of the blocks, for which there is no place at first, runs almost alone in Heddle, while on the H100 it seems to overlap with the others.

`

const codeText = `
### Machine code beside PTX

The same programs as machine code that [our compiler](compiler.md) makes of the PTX (` + "`go run ./bench/h100 -run . -compiled`" + `): code for sm_89, since Heddle executes none for sm_90, with the core's control bits in
place of scoreboards. Only rows that were run in both forms count: up to size 192 all, beyond it those of the programs that take seconds and some others. 16 of the
largest chains of FFMA, and all rows above size 192, are of an earlier version of the compiler: of 198 rows up to that size none of PolyBench changed by more than 2 % since. Errors in percent; a point is one of these.

Where machine code is further off, the reasons are these:

- 2dconv: the first use of a line of constants costs the core 79 cycles, which PTX does not have. Code before sm_90 has the descriptor of global memory and the parameters in two lines, code for sm_90 in one. With both in one line, 2dconv of size 64 and width 16 takes 3,532 cycles in
  place of 3,611 (PTX: 3,487). The rest is a line for the sizes of a block, which code for sm_90 reads, too.
- gesummv, atax and mvt: machine code has the integer work of a round while its loads are under way, PTX after them; without it they were too fast already. For bicg and the products it is the better.

`
