package ptx

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: arithmetic that mixes f32 with f16 or bf16. Operations within one format,
// packed or not, are in the generated table.

func init() { families["fma"] = decodeFMA }

// mixedFloat reports whether the instruction is add, sub or fma in f32 with
// f16 or bf16 operands.
func mixedFloat(in *ptx.Inst) bool {
	t := in.Types()
	return len(t) == 2 && t[0] == "f32" && (t[1] == "f16" || t[1] == "bf16")
}

// decodeMixed decodes it: all operands but the last have the second type.
func decodeMixed(d *dec, in *ptx.Inst, o *inst) error {
	e, ok := opTable[key(in)]
	if !ok {
		return errUnsupported
	}
	if len(in.Args) != len(e.sig) {
		return fmt.Errorf("takes %d operands, not %d", len(e.sig), len(in.Args))
	}
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	types := in.Types()
	n := len(in.Args) - 1
	for i, r := range []*ref{&o.a, &o.b, &o.c}[:n] {
		t := types[1]
		if i == n-1 {
			t = types[0]
		}
		if *r, err = d.src32(&in.Args[1+i], t); err != nil {
			return err
		}
	}
	d.info.Unit = e.unit
	o.run = e.run
	return nil
}

func decodeFMA(d *dec, in *ptx.Inst, o *inst) error {
	if in.Has("oob") {
		return fmt.Errorf("%w: the bits of the out-of-bounds NaN are not documented", errUnsupported)
	}
	if mixedFloat(in) {
		return decodeMixed(d, in, o)
	}
	return d.tableOp(in, o)
}
