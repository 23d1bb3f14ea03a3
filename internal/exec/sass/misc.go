package sass

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: control flow, barriers, special registers and instructions without effect on
// values.

func init() {
	put(decodeNothing, sass.OpNOP, sass.OpMEMBAR, sass.OpERRBAR, sass.OpCCTL, sass.OpDEPBAR, sass.OpLDGDEPBAR, sass.OpFENCE, sass.OpPMTRIG,
		sass.OpCGAERRBAR, sass.OpPREEXIT, sass.OpACQBULK)
	put(decodeBRA, sass.OpBRA)
	put(decodeBRX, sass.OpBRX, sass.OpBRXU, sass.OpJMX)
	put(decodeCALL, sass.OpJMP, sass.OpCALL, sass.OpRET)
	put(decodeConvergence, sass.OpBSSY, sass.OpBSYNC, sass.OpBREAK)
	put(decodeBMOV, sass.OpBMOV)
	put(decodeWARPSYNC, sass.OpWARPSYNC)
	put(decodeEndCollective, sass.OpENDCOLLECTIVE)
	put(decodeEnd, sass.OpEXIT, sass.OpKILL, sass.OpBPT, sass.OpYIELD, sass.OpNANOSLEEP)
	put(decodeBAR, sass.OpBAR)
	put(decodeB2R, sass.OpB2R)
	put(decodeSpecial, sass.OpS2R, sass.OpS2UR, sass.OpCS2R, sass.OpCS2UR)
	put(decodeLEPC, sass.OpLEPC)
}

// decodeNothing: fences and cache operations change no value if memory is coherent; what
// DEPBAR and similar instructions wait for is up to the core model.
func decodeNothing(d *dec) error {
	d.o.kind = kNop
	return nil
}

// flow marks an instruction that acts when it issues, in the lanes in which its predicate
// operand also holds.
func (d *dec) flow(act func(*warp, *inst, uint32)) {
	d.o.kind, d.o.act = kFlow, act
	d.predSource(2, sass.Pp, true)
}

// place returns the index of the instruction that a target names.
func (d *dec) place(o *sass.Operand) (int32, error) {
	if o == nil || o.Kind != sass.Target {
		return 0, errForm
	}
	if o.Imm%instBytes != 0 || o.Imm < 0 || o.Imm >= int64(len(d.k.text.Code))*instBytes {
		return 0, fmt.Errorf("jumps to %#x, which is not an instruction of the kernel", o.Imm)
	}
	return int32(o.Imm / instBytes), nil
}

func (d *dec) target() *sass.Operand {
	for i := range d.in.Operands {
		if d.in.Operands[i].Kind == sass.Target {
			return &d.in.Operands[i]
		}
	}
	return nil
}

// decodeBRA: .U says that the lanes agree, which changes nothing. .DIV jumps if the active
// lanes are not those of a mask, .CONV if they are. Without a mask, the mask is all lanes
// of the warp that have not exited. .ANY jumps with all active lanes if its predicates hold in
// one of them.
func decodeBRA(d *dec) (err error) {
	if err := d.only("U", "DIV", "CONV", "INC", "DEC", "ANY"); err != nil {
		return err
	}
	if d.o.target, err = d.place(d.target()); err != nil {
		return err
	}
	d.flow(actBranch)
	if p := d.in.Find(sass.Extra); p != nil && p.Kind == sass.UPred {
		if d.in.Find(sass.Pp) != nil {
			return errForm
		}
		d.o.ps[2] = predicate{uniformPred + p.Reg, p.Not}
	}
	if d.in.Has("ANY") {
		d.o.act = actBranchAny
	}
	v := d.values()
	if d.in.Has("DIV") || d.in.Has("CONV") {
		d.o.flag = d.in.Has("CONV")
		d.o.act = actBranchDiv
		if len(v) == 1 {
			return d.addBits(v[0])
		}
	}
	if len(v) != 0 {
		return errForm
	}
	return nil
}

// pairOf appends the register pair of a jump.
func (d *dec) pairOf() error {
	v := d.values()
	if len(v) == 0 || v[0].Kind != sass.Reg && v[0].Kind != sass.UReg {
		return errForm
	}
	return d.addWords(v[0], 2)
}

// decodeBRX: to the address after the instruction, plus a register pair, plus a constant.
// JMX jumps to the pair plus the constant. (.DIV and .CONV, which would make the jump depend on the
// active lanes, have not been seen here.)
func decodeBRX(d *dec) error {
	if err := d.only("U", "INC", "DEC"); err != nil {
		return err
	}
	d.flow(actIndirect)
	if err := d.pairOf(); err != nil {
		return err
	}
	if d.in.Op != sass.OpJMX {
		d.o.imm = uint64(d.in.Addr) + instBytes
	}
	for i := range d.in.Operands {
		switch o := &d.in.Operands[i]; {
		case o.Kind == sass.Target:
			d.o.imm = uint64(o.Imm)
		case o.Kind == sass.Imm:
			d.o.imm += uint64(o.Imm)
		}
	}
	return nil
}

// decodeCALL: calls only jump; the program has put the return address into a register
// pair. RET jumps to that pair; RET.REL adds a constant that the text shows as the address
// it is relative to.
func decodeCALL(d *dec) (err error) {
	if err := d.only("REL", "ABS", "NOINC", "NODEC", "INC", "DEC", "U"); err != nil {
		return err
	}
	t := d.target()
	if d.slot >= 0 {
		d.flow(actProvided)
		a := &d.k.prog.text.Addresses[d.slot]
		if a.To != sass.OfFunction {
			return errForm
		}
		d.took, d.o.imm = true, uint64(d.k.prog.function(a.Function))
		return nil
	}
	if len(d.values()) == 0 || d.values()[0].Kind != sass.Reg {
		d.flow(actBranch)
		d.o.target, err = d.place(t)
		return err
	}
	d.flow(actIndirect)
	if err := d.pairOf(); err != nil {
		return err
	}
	for i := range d.in.Operands {
		if o := &d.in.Operands[i]; o.Kind == sass.Imm || o.Kind == sass.Target {
			d.o.imm = uint64(o.Imm)
		}
	}
	return nil
}

// decodeConvergence: BSSY, BSYNC and BREAK. The target of BSSY is after the BSYNC of the
// same register; lanes do not need it.
func decodeConvergence(d *dec) error {
	switch d.in.Op {
	case sass.OpBSSY:
		d.flow(actBSSY)
	case sass.OpBSYNC:
		d.flow(actBSYNC)
	default:
		d.flow(actBREAK)
	}
	return d.bar()
}

// bar finds the B register among the operands.
func (d *dec) bar() error {
	for i := range d.in.Operands {
		if o := &d.in.Operands[i]; o.Kind == sass.BReg {
			d.o.arg = o.Reg
			if o.Reg >= bRegs {
				return fmt.Errorf("register B%d does not exist; want B0 to B%d", o.Reg, bRegs-1)
			}
			return nil
		}
	}
	return errForm
}

// decodeBMOV: between B registers and general ones; .CLEAR clears the one read.
func decodeBMOV(d *dec) error {
	if err := d.only("32", "CLEAR"); err != nil {
		return err
	}
	if err := d.bar(); err != nil {
		return err
	}
	if rd := d.in.Find(sass.Rd); rd != nil && rd.Kind == sass.Reg {
		d.o.flag = d.in.Has("CLEAR")
		d.o.run = opReadB
		return d.result(1)
	}
	v := d.values()
	if len(v) != 1 || d.in.Has("CLEAR") {
		return errForm
	}
	for i := range d.in.Operands {
		if d.in.Operands[i].Kind == sass.Word {
			return errForm
		}
	}
	d.flow(actBMOV)
	return d.addWords(v[0], 1)
}

// decodeWARPSYNC: .COLLECTIVE begins a region that the lanes of the mask execute together, up to
// ENDCOLLECTIVE; its target is where they continue (tests of others on an RTX 5090, and the
// code of NVIDIA's compiler). .EXCLUSIVE stands before instructions that the lanes of the mask
// execute together, as after any WARPSYNC here.
func decodeWARPSYNC(d *dec) error {
	if err := d.only("ALL", "COLLECTIVE", "EXCLUSIVE"); err != nil {
		return err
	}
	d.flow(actWARPSYNC)
	if d.in.Has("COLLECTIVE") {
		var err error
		if d.o.target, err = d.place(d.target()); err != nil {
			return err
		}
		d.o.flag = true
	}
	if d.in.Has("ALL") {
		return d.add(plain(d.literal(full)))
	}
	v := d.values()
	if len(v) != 1 {
		return errForm
	}
	return d.addWords(v[0], 1)
}

// decodeEndCollective: the end of the region that WARPSYNC.COLLECTIVE begins. Lanes that have
// come to it from different places continue at their own.
func decodeEndCollective(d *dec) error {
	d.flow(actEndCollective)
	return nil
}

// decodeEnd: EXIT and KILL end lanes, BPT.TRAP the run; YIELD and NANOSLEEP let
// other parts of the warp run.
func decodeEnd(d *dec) error {
	switch d.in.Op {
	case sass.OpBPT:
		if !d.in.Has("TRAP") {
			return errForm
		}
		d.flow(actTrap)
	case sass.OpYIELD, sass.OpNANOSLEEP:
		d.flow(actYIELD)
	default:
		if err := d.only("KEEPREFCOUNT", "NO_ATEXIT"); err != nil {
			return err
		}
		d.flow(actExit)
	}
	return nil
}

// decodeBAR: .DEFER_BLOCKING changes nothing here.
func decodeBAR(d *dec) error {
	d.flow(actBAR)
	switch {
	case d.in.Has("SYNC"):
		d.o.mode = barSync
	case d.in.Has("SYNCALL"):
		return errForm
	case d.in.Has("ARV"):
		d.o.mode = barArrive
	case d.in.Has("POPC"):
		d.o.mode = barPopc
	case d.in.Has("AND"):
		d.o.mode = barAnd
	case d.in.Has("OR"):
		d.o.mode = barOr
	default:
		return errForm
	}
	if d.o.mode >= barPopc { // the predicate is the operand of the reduction
		d.predSource(0, sass.Pp, true)
		d.o.ps[2] = predicate{at: predTrue}
	}
	v := d.values()
	if len(v) == 0 || len(v) > 2 || d.o.mode == barArrive && len(v) != 2 {
		return errForm
	}
	if len(v) == 2 {
		d.o.arg = 1
	}
	for _, o := range v {
		if err := d.addWords(o, 1); err != nil {
			return err
		}
	}
	return nil
}

func decodeB2R(d *dec) error {
	if err := d.only("RESULT"); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.o.run = opBarResult
	return d.result(1)
}

// Special registers, by number.
const (
	srLaneID    = 0
	srTidX      = 33
	srTidZ      = 35
	srCtaidX    = 37
	srCtaidZ    = 39
	srEqMask    = 56
	srLtMask    = 57
	srLeMask    = 58
	srGtMask    = 59
	srGeMask    = 60
	srZero      = 255
	srVirtID    = 3
	srWindow    = 47 // upper word of the addresses of shared memory
	srVirtualSM = 67
	srClusterID = 136 // the block's number in its cluster
	srCluster   = 138 // the number of blocks of a cluster

	clusterSize = 1 // a block is its own cluster (assumed of SR_CgaSize)
	srPMFirst   = 100
	srPMLast    = 115
	srTid       = 32
	nanosecond  = 1_000_000_000
)

// known reports whether a special register can be read.
func known(a sass.Arch, n uint8) bool {
	switch n {
	case srWindow, srClusterID, srCluster:
		return a >= firstNewLayout
	case srLaneID, sass.SRClock, srVirtID, srVirtualSM, srTid, srEqMask, srLtMask, srLeMask, srGtMask, srGeMask, sass.SRClockLo, sass.SRClockHi, sass.SRTimerLo, sass.SRTimerHi, srZero:
		return true
	}
	return n >= srTidX && n <= srTidZ || n >= srCtaidX && n <= srCtaidZ || n >= srPMFirst && n <= srPMLast
}

func decodeSpecial(d *dec) error {
	var sr *sass.Operand
	for i := range d.in.Operands {
		if d.in.Operands[i].Kind == sass.SReg {
			sr = &d.in.Operands[i]
		}
	}
	if sr == nil {
		return errForm
	}
	if !known(d.k.text.Arch, sr.Reg) {
		return fmt.Errorf("special register %s is not supported", sass.SpecialName(sr.Reg))
	}
	d.o.arg, d.o.count = sr.Reg, 1
	if (d.in.Op == sass.OpCS2R || d.in.Op == sass.OpCS2UR) && !d.in.Has("32") {
		d.o.count = 2
	}
	d.o.run = opSpecial
	return d.result(d.o.count)
}

// opSpecial: a pair holds the special register and the next one, the upper half of a
// 64-bit counter; for others the upper half is 0.
func opSpecial(w *warp, in *inst, p *pending, m uint32) {
	w.special(in.arg, p.d[0])
	if in.count == 2 {
		switch in.arg {
		case sass.SRClockLo, sass.SRTimerLo:
			w.special(in.arg+1, p.d[1])
		default:
			*p.d[1] = [32]uint32{}
		}
	}
	if in.toUR { // the first active lane's
		for k := range p.d[:in.count] {
			p.d[k][0] = p.d[k][isa.LaneMask(m).First()&31]
		}
	}
}

// special reads a special register in all lanes. Performance counters and a thread's
// location on the chip are 0.
func (w *warp) special(n uint8, d *[32]uint32) {
	v := uint32(0)
	switch n {
	case srTidX, srTidX + 1, srTidZ:
		*d = w.tid[n-srTidX]
		return
	case srLaneID, srTid, srEqMask, srLtMask, srLeMask, srGtMask, srGeMask:
		for i := range d {
			bit := uint32(1) << i
			switch n {
			case srLaneID:
				d[i] = uint32(i)
			case srTid: // packed: x, y and z in 16, 10 and 6 bits
				d[i] = w.tid[0][i] | w.tid[1][i]<<16 | w.tid[2][i]<<26
			case srEqMask:
				d[i] = bit
			case srLtMask:
				d[i] = bit - 1
			case srLeMask:
				d[i] = bit | (bit - 1)
			case srGtMask:
				d[i] = ^(bit | (bit - 1))
			default:
				d[i] = ^(bit - 1)
			}
		}
		return
	case srCtaidX:
		v = w.blk.Idx.X
	case srCtaidX + 1:
		v = w.blk.Idx.Y
	case srCtaidZ:
		v = w.blk.Idx.Z
	case sass.SRClock, sass.SRClockLo:
		v = uint32(w.clock())
	case sass.SRClockHi:
		v = uint32(w.clock() >> 32)
	case sass.SRTimerLo:
		v = uint32(w.timer())
	case sass.SRTimerHi:
		v = uint32(w.timer() >> 32)
	case srWindow:
		v = farWindow
	case srCluster:
		v = clusterSize
	}
	for i := range d {
		d[i] = v
	}
}

// clock is the time in cycles; in a functional run, the warp's instruction count.
func (w *warp) clock() uint64 {
	w.asked = true
	if k := w.blk.im.work; k != nil && k.Cycles != nil {
		return *k.Cycles
	}
	return w.insts
}

// timer is the time in nanoseconds.
func (w *warp) timer() uint64 {
	t := w.clock()
	if k := w.blk.im.work; k != nil && k.Cycles != nil && k.Hertz > 0 {
		return t/k.Hertz*nanosecond + t%k.Hertz*nanosecond/k.Hertz
	}
	return t
}

// decodeLEPC: the address of the instruction itself: published trap handlers call with
// LEPC R12, CALL.ABS, and return with RET.ABS R12 0x20. From sm_100 on it names a place.
func decodeLEPC(d *dec) error {
	if err := d.result(2); err != nil {
		return err
	}
	d.o.imm = uint64(d.in.Addr)
	if to := d.in.Find(sass.Dest); to != nil {
		d.o.imm = uint64(to.Imm)
	}
	d.o.run = opLEPC
	return nil
}

func opLEPC(_ *warp, in *inst, p *pending, _ uint32) {
	for i := range p.d[0] {
		p.setPair(0, i, in.imm)
	}
}
