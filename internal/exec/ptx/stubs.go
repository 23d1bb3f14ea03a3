package ptx

import "github.com/heddle-sim/heddle/internal/isa/ptx"


func mixedFloat(in *ptx.Inst) bool                    { return false }
func decodeMixed(d *dec, in *ptx.Inst, o *inst) error { return errUnsupported }
func isHalf(in *ptx.Inst) bool                        { return false }
func decodeHalf(d *dec, in *ptx.Inst, o *inst) error  { return errUnsupported }
func decodeRedux(d *dec, in *ptx.Inst, o *inst) error { return errUnsupported }
