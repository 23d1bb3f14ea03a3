package compile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: the video instructions on two halves or four bytes. Each is taken out, computed in 32 bits, and put back;
// only sums of differences of unsigned bytes have an instruction of their own.

// videoSteps are the instructions for the halves or bytes x and y, extended to 32 bits.
var videoSteps = map[string]string{
	"vadd": "IADD3 r, x, y, RZ", "vsub": "IADD3 r, x, -y, RZ", "vmin": "IMNMX r, x, y, PT", "vmax": "IMNMX r, x, y, !PT",
	"vabsdiff": "IMNMX t0, x, y, !PT ; IMNMX t1, x, y, PT ; IADD3 r, t0, -t1, RZ",
	"vavrg":    "IADD3 t0, x, y, RZ ; SHF.R.U32.HI t1, RZ, 0x1f, t0 ; IADD3 t2, t0, -t1, 0x1 ; SHF.R.S32.HI r, RZ, 0x1, t2",
	"vset":     "ISETP.%s.AND p0, PT, x, y, PT ; SEL r, t9, RZ, p0",
}

// comparisons are the names of comparisons in PTX and in machine code.
var comparisons = map[string]string{"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}

// comparing puts the instruction's comparison into a body.
func (b *builder) comparing(body string) string {
	for _, m := range b.inst.Mods {
		if c, ok := comparisons[m]; ok {
			return fmt.Sprintf(body, c)
		}
	}
	stop(b.inst.FullName(), notYet)
	return ""
}

// laneSelectors checks the selectors of an instruction on two halves or four bytes: a letter and digits, as many as
// lanes in a source, where they count the parts of both sources, and at most as many in the result.
func (b *builder) laneSelectors(lanes int) {
	for i := range b.inst.Args {
		sel := b.inst.Args[i].Elem
		if sel == "" {
			continue
		}
		letter, limit := map[int]byte{2: 'h', 4: 'b'}[lanes], 2*lanes
		if i == 0 {
			limit = lanes
		}
		digits := sel[1:]
		ok := sel[0] == letter && i < 3 && digits != "" && (len(digits) == lanes || i == 0 && len(digits) < lanes)
		for _, c := range []byte(digits) {
			ok = ok && c >= '0' && int(c-'0') < limit
		}
		if !ok {
			stop(b.inst.FullName(), "with the selector ."+sel+" cannot be compiled")
		}
	}
}

// simdSelection is what an operand of an instruction on two halves or four bytes selects: for each lane the element of
// those of both sources, those from first on if it selects none.
func simdSelection(sel string, lanes, first int) (list [4]int) {
	for n := range lanes {
		if list[n] = first + n; sel != "" {
			list[n] = int(sel[len(sel)-1-n] - '0')
		}
	}
	return list
}

// video is vadd2, vadd4 and their like.
func (b *builder) video() {
	in := b.inst
	lanes := int(in.Op[len(in.Op)-1] - '0')
	op, size, ts := in.Op[:len(in.Op)-1], 32/lanes, in.Types()
	body := videoSteps[op]
	if op == "vset" {
		body = b.comparing(body)
		ts = append(ts[:0:0], "u32", ts[0], ts[len(ts)-1])
	}
	if len(in.Args) != 4 || len(ts) != 3 {
		stop(in.FullName(), notYet)
	}
	for i := range in.Args {
		if in.Args[i].Neg {
			stop(in.FullName(), "with a sign "+notYet)
		}
	}
	b.laneSelectors(lanes)
	var sources [2]ir.Arg
	for i := range sources {
		sources[i] = b.source(whole(&in.Args[1+i]), "b32", 0)
	}
	a, c, sum := sources[0], sources[1], in.Has("add")
	acc, to, selects := b.source(&in.Args[3], "b32", 0), in.Args[0].Elem, in.Args[0].Elem+in.Args[1].Elem+in.Args[2].Elem != ""
	if op == "vabsdiff" && lanes == 4 && sum && !selects && !in.Has("sat") && !ts[1].Signed() && !ts[2].Signed() {
		d := b.f.NewValue(ir.GPR)
		b.emit("VABSDIFF4.U8.ACC", ir.D(d), ir.R(b.value(a)), ir.R(b.value(c)), ir.R(b.value(acc)))
		b.assign(&in.Args[0], 0, d)
		return
	}
	x := b.applying(map[string]*ir.Value{"t9": b.value(ir.I(1))})
	extract := func(from ir.Arg, n int, signed bool) *ir.Value {
		v := b.f.NewValue(ir.GPR)
		b.free("PRMT", ir.D(v), ir.R(b.value(from)), ir.I(selector(size, n*size/8, signed)), ir.RZ())
		return v
	}
	ofA, ofC := simdSelection(in.Args[1].Elem, lanes, 0), simdSelection(in.Args[2].Elem, lanes, lanes)
	var parts []ir.Arg
	for n := range lanes {
		if to != "" && !strings.Contains(to[1:], strconv.Itoa(n)) { // keeps what the last source has
			if !sum {
				parts = append(parts, ir.R(extract(acc, n, false)))
			}
			continue
		}
		x.names["x"] = extract(sources[ofA[n]/lanes], ofA[n]%lanes, ts[1].Signed())
		x.names["y"] = extract(sources[ofC[n]/lanes], ofC[n]%lanes, ts[2].Signed())
		x.text(body)
		if in.Has("sat") && op != "vset" {
			low, high := 0, 1<<size-1
			if ts[0].Signed() {
				low, high = -1<<(size-1), 1<<(size-1)-1
			}
			x.text(fmt.Sprintf("IMNMX t3, r, %#x, PT ; IMNMX r, t3, %#x, !PT", uint32(high), uint32(low)))
		}
		parts = append(parts, ir.R(x.names["r"]))
	}
	b.assign(whole(&in.Args[0]), 0, b.combined(parts, acc, sum))
}

// combined puts halves or bytes into a word, or adds them to one.
func (b *builder) combined(parts []ir.Arg, acc ir.Arg, sum bool) *ir.Value {
	if sum {
		for _, p := range parts {
			v := b.f.NewValue(ir.GPR)
			b.free("IADD3", ir.D(v), acc, p, ir.RZ())
			acc = ir.R(v)
		}
		return b.value(acc)
	}
	if len(parts) == 4 {
		for i := range 2 {
			v := b.f.NewValue(ir.GPR)
			b.free("PRMT", ir.D(v), parts[2*i], ir.I(0x40), parts[2*i+1])
			parts[i] = ir.R(v)
		}
	}
	return b.pack16(parts[0], parts[1])
}
