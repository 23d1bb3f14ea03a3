package ptx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: branches, calls, barriers and fences.

func init() {
	families["bra"] = decodeBra
	families["brx"] = decodeBrx
	families["call"] = decodeCall
	families["ret"] = func(d *dec, _ *ptx.Inst, o *inst) error {
		o.kind = kRet
		d.info.Flow, d.info.Unit = isa.FlowReturn, isa.UnitBranch
		return nil
	}
	families["exit"] = func(d *dec, _ *ptx.Inst, o *inst) error {
		o.kind = kExit
		d.info.Flow, d.info.Unit = isa.FlowExit, isa.UnitBranch
		return nil
	}
	families["trap"] = func(d *dec, _ *ptx.Inst, o *inst) error {
		o.kind = kMem
		d.info.Unit = isa.UnitBranch
		o.run = func(w *warp, _ *inst, m uint32) { w.failAs(exec.Trap, m, "trap: the program aborted itself") }
		return nil
	}
	for _, op := range []string{"brkpt", "pmevent", "griddepcontrol"} {
		families[op] = decodeNothing
	}
	families["setmaxnreg"] = decodeMaxRegisters
	families["nanosleep"] = func(d *dec, in *ptx.Inst, o *inst) error {
		if len(in.Args) != 1 {
			return errors.New("takes one operand")
		}
		if _, err := d.src32(&in.Args[0], "u32"); err != nil {
			return err
		}
		o.kind = kYield
		o.run = func(*warp, *inst, uint32) {}
		return nil
	}
	families["bar"] = decodeBar
	families["barrier"] = decodeBar
	families["membar"] = decodeFence
	families["fence"] = decodeFence
}

// decodeNothing accepts instructions without an effect on values: breakpoints and
// performance events (nothing listens), and what orders launches: without time, one begins
// when the one before it has ended.
func decodeNothing(d *dec, _ *ptx.Inst, o *inst) error {
	d.info.Unit = isa.UnitNone
	o.run = func(*warp, *inst, uint32) {}
	return nil
}

// decodeMaxRegisters accepts what gives registers back or asks for more (PTX manual, setmaxnreg): it takes time, but
// changes no values. The assembler leaves it out of kernels whose number of registers nothing determines.
func decodeMaxRegisters(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 1 || in.Args[0].Kind != ptx.OpImm {
		return errors.New("takes a constant")
	}
	n := in.Args[0].Imm.Bits
	if n < 24 || n > 256 || n%8 != 0 {
		return fmt.Errorf("has %d registers; want a multiple of 8 from 24 to 256", int64(n))
	}
	if d.im.resizes = d.im.kernel.bounded(); d.im.resizes {
		d.info.Keeps = uint16(n)
	}
	return decodeNothing(d, in, o)
}

// decodeFence accepts fences: a block's accesses are always seen in program order.
// Fences wider than a block make blocks run in turn, and so do those between addresses
// at which the same memory is mapped: an overlay does not know that it is the same.
func decodeFence(d *dec, in *ptx.Inst, o *inst) error {
	d.info.Unit = isa.UnitBar
	for _, m := range in.Mods {
		switch m {
		case "gl", "sys", "gpu", "alias":
			d.im.ordered = true
		}
	}
	o.run = func(*warp, *inst, uint32) {}
	return nil
}

func decodeBra(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 1 || in.Args[0].Kind != ptx.OpLabel {
		return errors.New("needs a label")
	}
	o.kind = kBranch
	o.target = int32(in.Args[0].Target)
	d.info.Flow, d.info.Unit, d.info.Targets = isa.FlowBranch, isa.UnitBranch, []int32{o.target}
	return nil
}

func decodeBrx(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("needs an index and a table of targets")
	}
	t := d.ast.Tables[in.Args[1].Name]
	if t == nil || t.Call {
		return fmt.Errorf("needs a .branchtargets label where it has %q", in.Args[1].Name)
	}
	var err error
	if o.a, err = d.src32(&in.Args[0], "u32"); err != nil {
		return err
	}
	o.kind = kBranchIx
	o.x = &extra{}
	for _, x := range t.Targets {
		o.x.table = append(o.x.table, int32(x))
	}
	d.info.Flow, d.info.Unit, d.info.Targets = isa.FlowIndirect, isa.UnitBranch, o.x.table
	return nil
}

// decodeCall decodes direct and indirect calls: optional list of results,
// function, optional list of arguments, optional prototype.
func decodeCall(d *dec, in *ptx.Inst, o *inst) error {
	o.kind = kCall
	d.info.Flow, d.info.Unit = isa.FlowCall, isa.UnitBranch
	site := &callSite{addr: none}
	o.x = &extra{call: site}
	to := callee(in)
	if to == nil {
		return errors.New("has no function to call")
	}
	site.name = to.Name
	before := true
	for i := range in.Args {
		a := &in.Args[i]
		if a == to {
			before = false
			continue
		}
		if a.Kind != ptx.OpList {
			continue
		}
		for k := range a.List {
			s, err := d.actual(&a.List[k], before)
			if err != nil {
				return err
			}
			if before {
				site.rets = append(site.rets, s)
			} else {
				site.args = append(site.args, s)
			}
		}
	}
	if to.Kind == ptx.OpReg {
		r, c, _, err := d.reg(to, false)
		if err != nil {
			return err
		}
		if c == c32 {
			o.flags |= fAddr32
		}
		site.addr, site.fns = r, d.im.byAddr
		return nil
	}
	if to.Func == nil {
		return fmt.Errorf("calls %q, which is not a function", to.Name)
	}
	if def := d.im.kernel.prog.fnDef[to.Func]; def != nil {
		site.fn = d.im.byAST[def]
		if site.fn == nil {
			return fmt.Errorf("cannot call %s, which is a kernel", to.Name)
		}
		if len(def.Params) != len(site.args) || len(def.Rets) != len(site.rets) {
			return fmt.Errorf("passes %d arguments and expects %d results, but %s has %d and %d", len(site.args), len(site.rets), to.Name, len(def.Params), len(def.Rets))
		}
		return nil
	}
	if site.built = exec.FunctionOf(to.Name); site.built != exec.NoFunction {
		if site.built == exec.Malloc || site.built == exec.Free {
			d.im.ordered = true
		}
		return site.checkBuiltin()
	}
	return fmt.Errorf("calls %s, which %w: add the module that defines it to the program", to.Name, ErrUndefined)
}

// actual decodes an actual argument or result of a call.
func (d *dec) actual(a *ptx.Operand, dst bool) (paramSlot, error) {
	switch a.Kind {
	case ptx.OpImm:
		return paramSlot{off: -1, size: 8, r: d.const64(a.Imm.Bits), class: c64}, nil
	case ptx.OpSink:
		return paramSlot{off: -1, size: 8, r: d.scratch(c64), class: c64}, nil
	case ptx.OpSym:
		if v := a.Var; v != nil && v.Space == ptx.SpaceParam {
			if off, ok := d.localAt[v]; ok {
				return paramSlot{off: off, size: int(max(0, v.Size())), r: none}, nil
			}
		}
		r, err := d.symbol(a, true)
		return paramSlot{off: -1, size: 8, r: r, class: c64}, err
	case ptx.OpSpecial:
		r, err := d.special(a, false)
		return paramSlot{off: -1, size: 4, r: r, class: c32}, err
	}
	r, c, t, err := d.reg(a, dst)
	s := paramSlot{off: -1, size: max(1, t.Bytes()), r: r, class: c}
	if err == nil && a.Elem == "" {
		s.vec = a.Var.Vec
	}
	return s, err
}

// call executes a call for lanes m. Lanes that do not call, or call another function,
// reconverge with them after it.
func (w *warp) call(in *inst, m uint32) {
	site := in.x.call
	if site.built != exec.NoFunction {
		w.callBuiltin(site, m)
		if w.fault == nil {
			w.pc++
		}
		return
	}
	if site.fn != nil && m == w.mask {
		if w.invoke(in, site.fn, m, w.join) {
			w.end()
		}
		return
	}
	j := w.joinAt(w.pc+1, w.mask)
	rest := w.mask &^ m
	for todo := m; todo != 0; {
		f, same := site.fn, todo
		if f == nil {
			first := bits.TrailingZeros32(todo)
			a := w.callAddr(in, first)
			if f = site.fns[a]; f == nil {
				w.failAs(exec.BadCall, 1<<first, "indirect call to %#x, which is not a function", a)
				return
			}
			if len(f.params) != len(site.args) || len(f.rets) != len(site.rets) {
				w.failAs(exec.BadCall, 1<<first, "indirect call passes %d arguments and expects %d results, but %s has %d and %d", len(site.args), len(site.rets), f.name, len(f.params), len(f.rets))
				return
			}
			same = 0
			for k := first; k < 32; k++ {
				if todo>>k&1 != 0 && w.callAddr(in, k) == a {
					same |= 1 << k
				}
			}
		}
		todo &^= same
		if !w.invoke(in, f, same, j) {
			return
		}
	}
	if rest != 0 {
		w.push(w.pc+1, rest, j, w.fr)
	}
	w.end()
}

func (w *warp) callAddr(in *inst, i int) uint64 {
	if in.flags&fAddr32 != 0 {
		return uint64(w.r32[in.x.call.addr][i])
	}
	return w.r64[in.x.call.addr][i]
}

// invoke makes a frame of f for lanes m and a fragment at its beginning. It reports
// whether there was room.
func (w *warp) invoke(in *inst, f *fn, m uint32, parent int32) bool {
	caller := w.fr
	base := alignUp(caller.top, f.align)
	if caller.depth+1 >= maxDepth || base+f.local > isa.MaxLocal {
		w.failAs(exec.StackOverflow, m, "stack overflow: %d nested calls with %d bytes of local memory; a thread can have %d calls and %d bytes", caller.depth+1, base+f.local, maxDepth, isa.MaxLocal)
		return false
	}
	fr := w.blk.wk.frame(f)
	fr.base, fr.depth, fr.parent, fr.ret, fr.site, fr.refs = base, caller.depth+1, caller, w.pc+1, in, 0
	caller.refs++
	w.openFrame(fr, m)
	w.entered(fr, m)
	if c := w.blk.counts; c != nil {
		c.entered[f.index] += uint64(bits.OnesCount32(m))
	}
	site := in.x.call
	for i := range f.params {
		w.pass(fr, &f.params[i], caller, &site.args[i], m)
	}
	j := w.newJoin(join{pc: -1, parent: parent, want: m, fr: fr})
	w.push(0, m, j, fr)
	return true
}

// copyRets copies the running function's results to its caller for lanes m.
func (w *warp) copyRets(m uint32) {
	fr := w.fr
	site := fr.site.x.call
	for i := range fr.f.rets {
		w.pass(fr.parent, &site.rets[i], fr, &fr.f.rets[i], m)
	}
}

// pass copies an argument or result between two frames for lanes m.
func (w *warp) pass(df *frame, dst *paramSlot, sf *frame, src *paramSlot, m uint32) {
	if n := max(dst.vec, src.vec); n > 1 {
		// A vector register: element by element.
		for k := range n {
			d, s := dst.elem(k), src.elem(k)
			w.pass(df, &d, sf, &s, m)
		}
		return
	}
	n := min(dst.size, src.size)
	w.passed(df, dst, m)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if dst.off >= 0 && src.off >= 0 {
			mem := w.local[i]
			copy(mem[df.base+dst.off:df.base+dst.off+n], mem[sf.base+src.off:])
			continue
		}
		var buf [16]byte
		switch {
		case src.off >= 0:
			copy(buf[:], w.local[i][sf.base+src.off:sf.base+src.off+min(n, 16)])
		case src.class == cPred:
			buf[0] = byte(sf.pr[src.r] >> i & 1)
		case src.class == c32:
			v := sf.f.c32
			if src.r >= 0 {
				le.PutUint32(buf[:], sf.r32[src.r][i])
			} else {
				le.PutUint32(buf[:], v[^src.r][i])
			}
		default:
			if src.r >= 0 {
				le.PutUint64(buf[:], sf.r64[src.r][i])
			} else {
				le.PutUint64(buf[:], sf.f.c64[^src.r][i])
			}
			if src.class == c128 {
				le.PutUint64(buf[8:], sf.r64[src.r+1][i])
			}
		}
		switch {
		case dst.off >= 0:
			copy(w.local[i][df.base+dst.off:df.base+dst.off+min(dst.size, 16)], buf[:])
		case dst.class == cPred:
			df.pr[dst.r] = df.pr[dst.r]&^(1<<i) | uint32(buf[0]&1)<<i
		case dst.class == c32:
			v := le.Uint32(buf[:])
			if dst.size < 4 {
				v &= 1<<(8*dst.size) - 1
			}
			df.r32[dst.r][i] = v
		default:
			df.r64[dst.r][i] = le.Uint64(buf[:])
			if dst.class == c128 {
				df.r64[dst.r+1][i] = le.Uint64(buf[8:])
			}
		}
	}
}

// elem is element k of a vector argument.
func (p *paramSlot) elem(k int) paramSlot {
	e := *p
	e.vec = 0
	switch {
	case p.off >= 0:
		e.off += k * p.size
	case p.class == c128:
		e.r += 2 * ref(k)
	default:
		e.r += ref(k)
	}
	return e
}

// barRed is a reducing barrier, kept in extra.any.
type barRed struct {
	op   string // popc, and, or
	pred ref
	neg  bool
	dst  ref
}

// give writes the result of a barrier to the lanes of a fragment that waited.
func (r *barRed) give(f *frag, in *inst, br *exec.Barrier) {
	v, m := br.Pop, f.mask
	if in.guard >= 0 {
		g := f.fr.pr[in.guard]
		if in.flags&fNegGuard != 0 {
			g = ^g
		}
		m &= g
	}
	switch r.op {
	case "popc":
		d := &f.fr.r32[r.dst]
		for ; m != 0; m &= m - 1 {
			d[bits.TrailingZeros32(m)&31] = v
		}
		return
	case "and":
		v = -b2u(br.And)
	case "or":
		v = -b2u(br.Or)
	}
	if r.dst != none {
		f.fr.pr[r.dst] = f.fr.pr[r.dst]&^m | v&m
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// decodeBar decodes bar and barrier in all forms.
func decodeBar(d *dec, in *ptx.Inst, o *inst) error {
	d.info.Unit, d.info.Barrier = isa.UnitBar, true
	if in.Has("warp") {
		return decodeBarWarp(d, in, o)
	}
	o.kind = kSync
	if in.Has("cluster") {
		o.run = clusterWait
		if in.Has("arrive") {
			o.run = func(w *warp, in *inst, m uint32) { w.arriveAt(exec.ClusterBarrier, 0, m, false) }
		}
		return nil
	}
	args := in.Args
	var red *barRed
	var err error
	if in.Has("red") {
		if red, err = d.barReduction(in); err != nil {
			return err
		}
		args = args[1 : len(args)-1]
		o.x = &extra{any: red}
	}
	if len(args) > 2 {
		return errors.New("takes a barrier and a number of threads")
	}
	o.a, o.b = d.const32(0), none
	switch {
	case len(args) == 0:
		d.info.Named = 1
	case args[0].Kind == ptx.OpImm:
		d.info.Named = uint8(min(args[0].Imm.Bits, 254) + 1)
	}
	if len(args) > 0 {
		if o.a, err = d.src32(&args[0], "u32"); err != nil {
			return err
		}
	}
	if len(args) > 1 {
		if o.b, err = d.src32(&args[1], "u32"); err != nil {
			return err
		}
	}
	arrive := in.Has("arrive")
	if arrive && o.b == none {
		return errors.New("needs a number of threads")
	}
	o.run = blockBarrier(red, arrive)
	return nil
}

// clusterWait makes a warp wait for the cluster's phase in which it has arrived.
func clusterWait(w *warp, in *inst, m uint32) {
	if w.blk.Bars[exec.ClusterBarrier].Came[w.id]&m == 0 {
		w.pc++ // the phase it arrived in is complete
		return
	}
	w.waitAt(exec.ClusterBarrier, m)
}

// barReduction decodes what a barrier reduces: the first operand is the destination, the
// last the predicate.
func (d *dec) barReduction(in *ptx.Inst) (*barRed, error) {
	red, args := &barRed{dst: none}, in.Args
	for _, op := range []string{"popc", "and", "or"} {
		if in.Has(op) {
			red.op = op
		}
	}
	if len(args) < 3 {
		return nil, errors.New("needs a destination, a barrier and a predicate")
	}
	var err error
	if red.op == "popc" {
		red.dst, err = d.dst32(&args[0])
	} else {
		red.dst, err = d.dstPred(&args[0])
	}
	if err != nil {
		return nil, err
	}
	red.pred, red.neg, err = d.srcPred(&args[len(args)-1])
	return red, err
}

// blockBarrier executes a barrier of the block, whose number is operand a and whose number
// of threads is operand b. red is nil without a reduction; arrive does not wait.
func blockBarrier(red *barRed, arrive bool) func(w *warp, in *inst, m uint32) {
	return func(w *warp, in *inst, m uint32) {
		first := bits.TrailingZeros32(m)
		id := w.u32(in.a)[first]
		need := uint32(0)
		if in.b != none {
			need = w.u32(in.b)[first]
			if need%32 != 0 || need == 0 {
				w.failf(m, "barrier %d for %d threads: the number must be a positive multiple of the warp size, 32", id, need)
				return
			}
		}
		if id >= exec.MaxBarriers {
			w.failf(m, "barrier %d does not exist: a block has barriers 0 to %d", id, exec.MaxBarriers-1)
			return
		}
		if red != nil {
			br := &w.blk.Bars[id]
			p := w.pr[red.pred]
			if red.neg {
				p = ^p
			}
			br.Reduce(p, m)
		}
		w.arriveAt(int(id), int(need), m, !arrive)
	}
}
