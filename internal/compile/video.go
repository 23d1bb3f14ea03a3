package compile

import (
	"fmt"

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

// video is vadd2, vadd4 and their like, without selectors.
func (b *builder) video() {
	in := b.inst
	lanes := int(in.Op[len(in.Op)-1] - '0')
	op, size, ts := in.Op[:len(in.Op)-1], 32/lanes, in.Types()
	body := videoSteps[op]
	if op == "vset" {
		for _, m := range in.Mods {
			if c, ok := map[string]string{"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}[m]; ok {
				body = fmt.Sprintf(body, c)
			}
		}
		ts = append(ts[:0:0], "u32", ts[0], ts[len(ts)-1])
	}
	for i := range in.Args {
		if in.Args[i].Elem != "" || in.Args[i].Neg || len(in.Args) != 4 || len(ts) != 3 {
			stop(in.FullName(), "with selectors or a sign "+notYet)
		}
	}
	a, c, sum := b.source(&in.Args[1], "b32", 0), b.source(&in.Args[2], "b32", 0), in.Has("add")
	acc := b.source(&in.Args[3], "b32", 0)
	if op == "vabsdiff" && lanes == 4 && sum && !in.Has("sat") && !ts[1].Signed() && !ts[2].Signed() {
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
	var parts []ir.Arg
	for n := range lanes {
		x.names["x"], x.names["y"] = extract(a, n, ts[1].Signed()), extract(c, n, ts[2].Signed())
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
	b.assign(&in.Args[0], 0, b.combined(parts, acc, sum))
}

// combined puts halves or bytes into a word, or adds them to one.
func (b *builder) combined(parts []ir.Arg, acc ir.Arg, sum bool) *ir.Value {
	if sum {
		for _, p := range parts {
			v := b.f.NewValue(ir.GPR)
			b.free("IADD3", ir.D(v), acc, p, ir.RZ())
			acc = ir.R(v)
		}
		return acc.Vals[0]
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
