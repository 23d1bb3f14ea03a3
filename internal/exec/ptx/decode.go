package ptx

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// image is a kernel with everything that it can reach, decoded for one machine.
type image struct {
	kernel                    *Kernel
	m                         *Machine // nil in a trial decode, where addresses are zero
	entry                     *fn
	fns                       []*fn
	byAST                     map[*ptx.Func]*fn
	byAddr                    map[uint64]*fn // functions that may be called indirectly
	sharedAt                  map[*ptx.Var]int
	sharedBytes               int    // static
	ordered                   bool   // blocks can communicate through global memory
	hopper                    string // an instruction that only some core models time; "": none
	pairs                     bool   // its blocks work in pairs, and can name the even one: see pairAddress
	rests                     bool   // blocks take over the work of others that have not begun
	resizes                   bool   // warps give back registers and ask for more
	spins                     bool   // it has accesses that may wait for other threads
	globalLoads, globalStores bool   // it has accesses that bypass the L1 cache
	machineCode               func() []exec.Assembled
	workspace                 bool // it reads the address of a cooperative launch's workspace

	probed      bool  // its instructions call the probe of their block
	follows     bool  // and also if it is an exec.FlowProbe
	bounded     bool  // they look whether accesses leave the variable of their address
	pointers    []int // with bounded: offsets of parameters that may be pointers
	covered     *exec.Coverage
	counts      []*exec.FunctionCounts // of each function, with covered
	sites       []countSite            // where they count
	independent bool                   // lanes of a warp make progress independently (sm_70 and later)
}

// decodeImage decodes a kernel and the functions it can reach. Instructions
// that cannot run are collected in fn.err.
func decodeImage(k *Kernel, m *Machine, key imageKey) *image {
	im := &image{kernel: k, m: m, pairs: k.pairs(), probed: key.probed, follows: key.follows, bounded: key.bounded, byAST: map[*ptx.Func]*fn{}, byAddr: map[uint64]*fn{}, sharedAt: map[*ptx.Var]int{}}
	im.machineCode = sync.OnceValue(im.assembled)
	im.independent = k.mod.SM >= 70
	unparsed := k.ast.Load()
	reach := k.prog.reachable(k.ast)
	im.layoutShared(reach)
	for i, ast := range reach {
		f := &fn{ast: ast, name: ast.Name, index: i}
		im.fns = append(im.fns, f)
		im.byAST[ast] = f
		im.byAddr[k.prog.fnAddr[ast]] = f
	}
	for _, f := range im.fns {
		d := &dec{im: im, f: f, mod: k.prog.fnMod[f.ast], ast: f.ast,
			slots: map[slotKey]ref{}, consts: map[constKey]ref{}, sregAt: map[sregKey]ref{}, localAt: map[*ptx.Var]int{}}
		d.function()
		if im.probed {
			f.watchProducts()
		}
	}
	if unparsed != nil {
		im.fns[0].err = append(im.fns[0].err, unparsed)
	}
	if im.globalLoads && (im.globalStores || im.ordered) {
		im.ordered, im.spins = true, true
	}
	im.entry = im.byAST[k.ast]
	at := uint64(0)
	for _, f := range im.fns {
		f.base = at
		at += instBytes * uint64(len(f.code))
	}
	return im
}

// reachable lists a function and all functions that calls from it can reach: direct
// callees and, if there is an indirect call, every function whose address is taken
// anywhere in the program.
func (p *Program) reachable(root *ptx.Func) []*ptx.Func {
	seen := map[*ptx.Func]bool{root: true}
	list := []*ptx.Func{root}
	add := func(f *ptx.Func) {
		if d := p.fnDef[f]; d != nil && !d.Entry && !seen[d] {
			seen[d] = true
			list = append(list, d)
		}
	}
	indirect := false
	for i := 0; i < len(list); i++ {
		for _, in := range list[i].Code {
			for _, f := range calledBy(in) {
				add(f)
			}
			if in.Op == "call" && indirectCall(in) && !indirect {
				indirect = true
				for _, f := range p.addressTaken() {
					add(f)
				}
			}
		}
	}
	return list
}

// callee returns the operand of a call that names the function.
func callee(in *ptx.Inst) *ptx.Operand {
	for i := range in.Args {
		if in.Args[i].Kind != ptx.OpList {
			return &in.Args[i]
		}
	}
	return nil
}

func indirectCall(in *ptx.Inst) bool {
	c := callee(in)
	return c != nil && c.Kind == ptx.OpReg
}

func calledBy(in *ptx.Inst) []*ptx.Func {
	if in.Op != "call" {
		return nil
	}
	if c := callee(in); c != nil && c.Func != nil {
		return []*ptx.Func{c.Func}
	}
	return nil
}

// addressTaken lists the functions whose address is used as a value.
func (p *Program) addressTaken() []*ptx.Func {
	var out []*ptx.Func
	var walk func(o *ptx.Operand)
	walk = func(o *ptx.Operand) {
		if o.Kind == ptx.OpSym && o.Func != nil {
			out = append(out, o.Func)
		}
		for i := range o.List {
			walk(&o.List[i])
		}
	}
	for _, m := range p.mods {
		for _, f := range m.Funcs {
			_ = f.Load() // a kernel that does not parse passes no address on
			for _, in := range f.Code {
				if in.Op == "call" {
					continue
				}
				for i := range in.Args {
					walk(&in.Args[i])
				}
			}
		}
		byName := map[string]*ptx.Func{}
		for _, f := range m.Funcs {
			byName[f.Name] = f
		}
		var init func(in *ptx.Init)
		init = func(in *ptx.Init) {
			if in == nil {
				return
			}
			if in.Expr != nil && byName[in.Expr.Sym] != nil {
				out = append(out, byName[in.Expr.Sym])
			}
			for _, e := range in.List {
				init(e)
			}
		}
		for _, v := range m.Vars {
			init(v.Init)
		}
		for _, f := range m.Funcs {
			for _, v := range f.Vars {
				init(v.Init)
			}
		}
	}
	return out
}

// layoutShared places every shared variable that the functions use: static ones in
// order of first use, then the dynamic ones, which all begin at the same address.
func (im *image) layoutShared(fns []*ptx.Func) {
	var dyn []*ptx.Var
	align := 1
	var walk func(o *ptx.Operand)
	walk = func(o *ptx.Operand) {
		if v := o.Var; v != nil && v.Space == ptx.SpaceShared {
			if _, done := im.sharedAt[v]; !done {
				a := alignOf(v)
				if v.Linkage == ptx.Extern || v.Size() <= 0 {
					dyn = append(dyn, v)
					align = max(align, a)
					im.sharedAt[v] = 0
				} else {
					im.sharedBytes = alignUp(im.sharedBytes, a)
					im.sharedAt[v] = im.sharedBytes
					im.sharedBytes += int(v.Size())
				}
			}
		}
		for i := range o.List {
			walk(&o.List[i])
		}
	}
	for _, f := range fns {
		for _, in := range f.Code {
			for i := range in.Args {
				walk(&in.Args[i])
			}
		}
	}
	if len(dyn) > 0 {
		im.sharedBytes = alignUp(im.sharedBytes, max(align, 16))
		for _, v := range dyn {
			im.sharedAt[v] = im.sharedBytes
		}
	}
}

func (im *image) fileOf(f *fn) string { return im.kernel.prog.fnMod[f.ast].File }

func (im *image) srcFile(f *fn, n int) string {
	if s, ok := im.kernel.prog.fnMod[f.ast].Files[n]; ok {
		return s
	}
	return fmt.Sprintf("file %d", n)
}

// inlined returns where the function of instruction pc was inlined.
func (im *image) inlined(f *fn, pc int) string {
	if pc >= len(f.ast.Code) || f.ast.Code[pc].Loc == nil || f.ast.Code[pc].Loc.InLine == 0 {
		return ""
	}
	l := f.ast.Code[pc].Loc
	if l.InName != "" {
		return fmt.Sprintf("%s:%d", l.InName, l.InLine)
	}
	return fmt.Sprintf("%s:%d", im.srcFile(f, l.InFile), l.InLine)
}

type slotKey struct {
	v    *ptx.Var
	i, e int // number within a parameterised declaration, vector element
}

type constKey struct {
	wide bool
	bits uint64
}

type sregKey struct {
	kind sreg
	wide bool
	off  int64
}

// dec decodes one function.
type dec struct {
	im      *image
	f       *fn
	mod     *ptx.Module
	ast     *ptx.Func
	slots   map[slotKey]ref
	consts  map[constKey]ref
	sregAt  map[sregKey]ref
	localAt map[*ptx.Var]int
	in      *ptx.Inst
	info    *isa.Inst
	sums    []sum
	from    *origins // with bounded
}

// errUnsupported says that Heddle does not execute an instruction.
var errUnsupported = errors.New("is not supported")

func (d *dec) function() {
	f, ast := d.f, d.ast
	f.align = 16
	// Parameters and the variables of the body: registers get slots on first use, local
	// and param variables get their place in the frame.
	place := func(v *ptx.Var) paramSlot {
		if v.Space == ptx.SpaceReg {
			cl := classOf(v.Type)
			return paramSlot{off: -1, size: max(1, v.Type.Bytes()), r: d.slot(v, 0, 0), class: cl, vec: v.Vec}
		}
		size := int(max(0, v.Size()))
		f.align = max(f.align, alignOf(v))
		f.local = alignUp(f.local, alignOf(v))
		p := paramSlot{off: f.local, size: size, r: none}
		d.localAt[v] = f.local
		f.local += size
		return p
	}
	if !ast.Entry {
		for _, v := range ast.Params {
			f.params = append(f.params, place(v))
		}
		for _, v := range ast.Rets {
			f.rets = append(f.rets, place(v))
		}
	}
	for _, v := range ast.Vars {
		if v.Space == ptx.SpaceLocal || v.Space == ptx.SpaceParam && d.localAt[v] == 0 && !isParam(ast, v) {
			place(v)
		}
	}
	f.local = alignUp(f.local, 16)
	f.code = make([]inst, len(ast.Code), len(ast.Code)+1)
	f.info = make([]isa.Inst, len(ast.Code), len(ast.Code)+1)
	if d.im.bounded {
		d.from = findOrigins(d)
	}
	errAt := map[int]error{}
	for pc, in := range ast.Code {
		if err := d.one(in, &f.code[pc], &f.info[pc], pc); err != nil {
			errAt[pc] = err
		}
	}
	// Running off the end, or jumping there, returns.
	if n := len(ast.Code); n == 0 || falls(&f.info[n-1]) || targeted(f.info, int32(n)) {
		f.code = append(f.code, inst{kind: kRet, guard: none})
		i := isa.Inst{PC: int32(n), Op: "ret", Flow: isa.FlowReturn, Unit: isa.UnitBranch}
		if n > 0 {
			i.Pos, i.File, i.Line = f.info[n-1].Pos, f.info[n-1].File, f.info[n-1].Line
		}
		f.info = append(f.info, i)
	}
	for i := range f.info {
		in := &f.info[i]
		for _, list := range [][]isa.Reg{in.Dsts, in.Srcs} {
			for k := range list {
				if list[k].File == regWide {
					list[k].File, list[k].Index = isa.RegGPR, uint32(f.n32)+2*list[k].Index
				}
			}
		}
	}
	f.slots = d.slots
	f.registers = sync.OnceValue(f.namedSlots)
	f.graph = flow.Analyze(f.info)
	for pc := range f.code {
		in := &f.code[pc]
		if in.kind == kBranch || in.kind == kBranchIx {
			in.rpc = int32(f.graph.Reconverge(pc))
			if d.im.follows && in.kind == kBranch && in.guard != none {
				in.kind = kCounted
			}
		}
		if err := errAt[pc]; err != nil {
			ast := ast.Code[pc]
			if ast.Bad != nil {
				err = fmt.Errorf("%s:%d: %w", d.mod.File, ast.Pos.Line, err)
			} else {
				err = fmt.Errorf("%s:%d: %s %w", d.mod.File, ast.Pos.Line, ast.FullName(), err)
			}
			in.run = func(w *warp, _ *inst, m uint32) { w.failf(m, "%v", err) }
			in.kind = kMem
			if f.graph.Reachable(f.graph.BlockOf(pc)) {
				f.err = append(f.err, err)
			}
		}
	}
}

// regWide marks a register of the 64-bit slab until all have numbers.
const regWide isa.RegFile = 100

func isParam(f *ptx.Func, v *ptx.Var) bool {
	for _, l := range [][]*ptx.Var{f.Params, f.Rets} {
		for _, p := range l {
			if p == v {
				return true
			}
		}
	}
	return false
}

func falls(in *isa.Inst) bool {
	return in.Guarded || in.Flow == isa.FlowNext || in.Flow == isa.FlowCall
}

// targeted reports whether an instruction branches to pc.
func targeted(code []isa.Inst, pc int32) bool {
	for i := range code {
		if slices.Contains(code[i].Targets, pc) {
			return true
		}
	}
	return false
}

// one decodes an instruction.
func (d *dec) one(in *ptx.Inst, o *inst, info *isa.Inst, pc int) error {
	d.in, d.info = in, info
	*o = inst{d: none, a: none, b: none, c: none, e: none, guard: none, rpc: -1}
	*info = isa.Inst{PC: int32(pc), Op: in.FullName(), Unit: isa.UnitALU, Pos: in.Pos}
	if in.Loc != nil {
		info.File, info.Line = int32(in.Loc.File), int32(in.Loc.Line)
	}
	if in.Guard != nil {
		g, neg, err := d.srcPred(&in.Guard.Reg)
		if err != nil {
			return err
		}
		o.guard = g
		if in.Guard.Neg != neg {
			o.flags |= fNegGuard
		}
		info.Guarded = true
	}
	if in.Bad != nil {
		return in.Bad
	}
	d.sums = nil
	decode := d.tableOp
	if fam := families[in.Op]; fam != nil {
		decode = func(in *ptx.Inst, o *inst) error { return fam(d, in, o) }
	}
	if err := decode(in, o); err != nil {
		return err
	}
	classify(in, info)
	info.Private = private(in, o, info)
	memoryModel(in, info)
	if d.im.probed {
		d.probe(o)
	}
	if d.im.bounded {
		d.bound(in, o)
	}
	if d.im.follows {
		d.follow(o)
	}
	if len(d.sums) > 0 {
		if o.run == nil || o.kind == kWarpSync { // these read their operands before run is called
			return errors.New("needs a plain register here, without a constant and not a clock: move the value to a register first")
		}
		o.run = afterSums(d.sums, o.run)
	}
	return nil
}

// sum is a source operand that is computed into its own slot before the instruction
// runs: a register plus a constant, or a clock.
type sum struct {
	d, a  ref
	wide  bool
	off   uint64
	clock func(w *warp) uint64 // nil for a register plus a constant
}

func afterSums(sums []sum, run runFunc) runFunc {
	return func(w *warp, in *inst, m uint32) {
		for _, s := range sums {
			if s.clock != nil {
				v := s.clock(w)
				if s.wide {
					for i := range w.r64[s.d] {
						w.r64[s.d][i] = v
					}
				} else {
					for i := range w.r32[s.d] {
						w.r32[s.d][i] = uint32(v)
					}
				}
				continue
			}
			for k := m; k != 0; k &= k - 1 {
				i := bits.TrailingZeros32(k) & 31
				if s.wide {
					w.r64[s.d][i] = w.r64[s.a][i] + s.off
				} else {
					w.r32[s.d][i] = w.r32[s.a][i] + uint32(s.off)
				}
			}
		}
		run(w, in, m)
	}
}

// families holds the decoders of opcodes that are not one expression per lane. Files
// add to it in init.
var families = map[string]func(d *dec, in *ptx.Inst, o *inst) error{}

// opEntry is one row of the generated table: the classes of destination and
// sources, and what to run.
type opEntry struct {
	sig  string // destination class and source classes: w 32 bits, W 64, p predicate
	unit isa.Unit
	run  runFunc
}

// key is an instruction's name in the table of operations: opcode, modifiers other
// than types in alphabetical order, types in source order. Modifiers that do not
// affect the computation are left out.
func key(in *ptx.Inst) string {
	mods := make([]string, 0, 4)
	for _, m := range in.Mods {
		if ptx.Type(m).Known() {
			continue
		}
		switch {
		case m == "rn" && rnIsDefault[in.Op]:
			continue
		}
		mods = append(mods, m)
	}
	for i := range mods {
		for k := i; k > 0 && mods[k] < mods[k-1]; k-- {
			mods[k], mods[k-1] = mods[k-1], mods[k]
		}
	}
	s := in.Op
	for _, m := range mods {
		s += "." + m
	}
	for _, t := range in.Types() {
		s += "." + string(t)
	}
	return s
}

// rnIsDefault names the opcodes that round to nearest by default, or that have no
// other rounding.
var rnIsDefault = map[string]bool{"add": true, "sub": true, "mul": true, "fma": true, "mad": true}

// tableOp decodes an instruction of the generated table.
func (d *dec) tableOp(in *ptx.Inst, o *inst) error {
	e, ok := opTable[key(in)]
	if !ok {
		return errUnsupported
	}
	if len(in.Args) != len(e.sig) {
		return fmt.Errorf("takes %d operands, not %d", len(e.sig), len(in.Args))
	}
	d.info.Unit = e.unit
	var err error
	if o.d, err = d.dstClass(&in.Args[0], e.sig[0]); err != nil {
		return err
	}
	types := in.Types()
	srcs := [...]*ref{&o.a, &o.b, &o.c, &o.e}
	for i := 1; i < len(e.sig); i++ {
		t := ptx.Type("b64")
		if e.sig[i] == 'w' {
			t = "b32"
		}
		if last := types[len(types)-1]; last.Bits() <= t.Bits() && (last.Bits() == t.Bits() || t == "b32") {
			t = last
		}
		if *srcs[i-1], err = d.srcClass(&in.Args[i], e.sig[i], t); err != nil {
			return err
		}
	}
	o.run = e.run
	return nil
}

func (d *dec) dstClass(o *ptx.Operand, c byte) (ref, error) {
	switch c {
	case 'w':
		return d.dst32(o)
	case 'W':
		return d.dst64(o)
	}
	return d.dstPred(o)
}

func (d *dec) srcClass(o *ptx.Operand, c byte, t ptx.Type) (ref, error) {
	switch c {
	case 'w':
		return d.src32(o, t)
	case 'W':
		return d.src64(o, t)
	}
	r, neg, err := d.srcPred(o)
	if err == nil && neg {
		err = errors.New("does not take a negated predicate here")
	}
	return r, err
}

func classOf(t ptx.Type) regClass {
	switch b := t.Bits(); {
	case t.Predicate():
		return cPred
	case b <= 32:
		return c32
	case b <= 64:
		return c64
	}
	return c128
}

// elemIndex maps a vector element's letter to its number.
func elemIndex(e string) int {
	switch e {
	case "y", "g":
		return 1
	case "z", "b":
		return 2
	case "w", "a":
		return 3
	}
	return 0
}

// slot returns the slot of register number i of v, element e, and allocates it on
// first use. Elements of a vector register and the halves of a 128-bit register are
// consecutive.
func (d *dec) slot(v *ptx.Var, i, e int) ref {
	k := slotKey{v, i, 0}
	s, ok := d.slots[k]
	n := max(1, v.Vec)
	cl := classOf(v.Type)
	if !ok {
		switch cl {
		case cPred:
			s = ref(d.f.np)
			d.f.np += n
		case c32:
			s = ref(d.f.n32)
			d.f.n32 += n
		case c64:
			s = ref(d.f.n64)
			d.f.n64 += n
		case c128:
			s = ref(d.f.n64)
			d.f.n64 += 2 * n
		}
		d.slots[k] = s
	}
	if cl == c128 {
		e *= 2
	}
	return s + ref(e)
}

// note records a register in the instruction's description.
func (d *dec) note(r ref, c regClass, dst bool, number uint16) {
	var reg isa.Reg
	switch c {
	case cPred:
		reg = isa.Reg{File: isa.RegPred, Count: 1, Index: uint32(r)}
	case c32:
		reg = isa.Reg{File: isa.RegGPR, Count: 1, Index: uint32(r)}
	default:
		reg = isa.Reg{File: regWide, Count: 2, Index: uint32(r)}
	}
	reg.Number = number
	if dst {
		d.info.Dsts = append(d.info.Dsts, reg)
	} else {
		d.info.Srcs = append(d.info.Srcs, reg)
	}
	if c == c128 {
		reg.Index++
		if dst {
			d.info.Dsts = append(d.info.Dsts, reg)
		} else {
			d.info.Srcs = append(d.info.Srcs, reg)
		}
	}
}

// numberIn returns one more than the first number in a register's name, 0 if there is
// none or it is very large.
func numberIn(o *ptx.Operand) uint16 {
	n, found := 0, false
	for _, c := range o.Var.Name {
		if c >= '0' && c <= '9' {
			n, found = 10*n+int(c-'0'), true
		} else if found {
			return uint16(n + 1)
		}
		if n > 1<<15 {
			return 0
		}
	}
	if o.Var.Count > 0 { // %r<N>: the name ends with the register's number
		for p := 1; p <= o.Index; p *= 10 {
			n *= 10
		}
		if o.Index == 0 {
			n *= 10
		}
		n, found = n+o.Index, true
	}
	if !found || n > 1<<15 {
		return 0
	}
	return uint16(n + 1)
}

// reg resolves a register operand: its slot, its class and its declared type.
func (d *dec) reg(o *ptx.Operand, dst bool) (ref, regClass, ptx.Type, error) {
	if o.Kind != ptx.OpReg || o.Var == nil {
		return none, 0, "", fmt.Errorf("needs a register instead of %q", o.Name)
	}
	r := d.slot(o.Var, o.Index, elemIndex(o.Elem))
	c := classOf(o.Var.Type)
	d.note(r, c, dst, numberIn(o))
	if o.Imm.Bits != 0 && !dst && (c == c32 || c == c64) {
		s := sum{d: d.scratch(c), a: r, wide: c == c64, off: o.Imm.Bits}
		d.sums = append(d.sums, s)
		r = s.d
	}
	return r, c, o.Var.Type, nil
}

func (d *dec) dst32(o *ptx.Operand) (ref, error) {
	if o.Kind == ptx.OpSink {
		return d.scratch(c32), nil
	}
	r, c, t, err := d.reg(o, true)
	if err == nil && c != c32 {
		err = fmt.Errorf("needs a 32-bit destination, but %s is .%s", o.Name, t)
	}
	return r, err
}

func (d *dec) dst64(o *ptx.Operand) (ref, error) {
	if o.Kind == ptx.OpSink {
		return d.scratch(c64), nil
	}
	r, c, t, err := d.reg(o, true)
	if err == nil && c != c64 {
		err = fmt.Errorf("needs a 64-bit destination, but %s is .%s", o.Name, t)
	}
	return r, err
}

// dstPred resolves a predicate destination; `_` gives none.
func (d *dec) dstPred(o *ptx.Operand) (ref, error) {
	if o.Kind == ptx.OpSink {
		return none, nil
	}
	r, c, t, err := d.reg(o, true)
	if err == nil && c != cPred {
		err = fmt.Errorf("needs a predicate destination, but %s is .%s", o.Name, t)
	}
	return r, err
}

// scratch is a slot for values that are never read.
func (d *dec) scratch(c regClass) ref {
	switch c {
	case cPred:
		d.f.np++
		return ref(d.f.np - 1)
	case c32:
		d.f.n32++
		return ref(d.f.n32 - 1)
	case c64:
		d.f.n64++
		return ref(d.f.n64 - 1)
	}
	d.f.n64 += 2
	return ref(d.f.n64 - 2)
}

// const32, const64 return constants of the function.
func (d *dec) const32(v uint32) ref {
	k := constKey{false, uint64(v)}
	r, ok := d.consts[k]
	if !ok {
		var lanes [32]uint32
		for i := range lanes {
			lanes[i] = v
		}
		d.f.c32 = append(d.f.c32, lanes)
		r = ^ref(len(d.f.c32) - 1)
		d.consts[k] = r
	}
	return r
}

func (d *dec) const64(v uint64) ref {
	k := constKey{true, v}
	r, ok := d.consts[k]
	if !ok {
		var lanes [32]uint64
		for i := range lanes {
			lanes[i] = v
		}
		d.f.c64 = append(d.f.c64, lanes)
		r = ^ref(len(d.f.c64) - 1)
		d.consts[k] = r
	}
	return r
}

// src32 resolves a source of up to 32 bits, read as type t. Values in 32-bit
// slots are zero-extended from their register's width.
func (d *dec) src32(o *ptx.Operand, t ptx.Type) (ref, error) {
	switch o.Kind {
	case ptx.OpImm:
		return d.const32(uint32(immBits(o.Imm, t))), nil
	case ptx.OpSpecial:
		return d.special(o, false)
	case ptx.OpSym:
		return d.symbol(o, false)
	}
	if o.Neg {
		return none, errors.New("does not take a negated register")
	}
	r, c, rt, err := d.reg(o, false)
	if err == nil && c != c32 {
		err = fmt.Errorf("needs a 32-bit source, but %s is .%s", o.Name, rt)
	}
	return r, err
}

func (d *dec) src64(o *ptx.Operand, t ptx.Type) (ref, error) {
	switch o.Kind {
	case ptx.OpImm:
		return d.const64(immBits(o.Imm, t)), nil
	case ptx.OpSpecial:
		return d.special(o, true)
	case ptx.OpSym:
		return d.symbol(o, true)
	}
	if o.Neg {
		return none, errors.New("does not take a negated register")
	}
	r, c, rt, err := d.reg(o, false)
	if err == nil && c != c64 {
		err = fmt.Errorf("needs a 64-bit source, but %s is .%s", o.Name, rt)
	}
	return r, err
}

// src resolves a source of up to 64 bits and reports which slab it is in.
func (d *dec) src(o *ptx.Operand, t ptx.Type) (r ref, wide bool, err error) {
	switch o.Kind {
	case ptx.OpImm, ptx.OpSym:
		wide = t.Bits() > 32
	case ptx.OpSpecial:
		s, ok := ptx.LookupSpecial(o.Name)
		wide = ok && s.Type.Bits() > 32
	default:
		if o.Var == nil {
			return none, false, fmt.Errorf("needs a register instead of %q", o.Name)
		}
		wide = classOf(o.Var.Type) == c64
	}
	if wide {
		r, err = d.src64(o, t)
	} else {
		r, err = d.src32(o, t)
	}
	return r, wide, err
}

// dst resolves a destination of up to 64 bits and reports which slab it is in and how
// many bits its register has.
func (d *dec) dst(o *ptx.Operand) (r ref, wide bool, bits int, err error) {
	if o.Kind == ptx.OpSink {
		return d.scratch(c64), true, 64, nil
	}
	r, c, t, err := d.reg(o, true)
	if err == nil && c != c32 && c != c64 {
		err = fmt.Errorf("cannot write %s, which is .%s", o.Name, t)
	}
	return r, c == c64, t.Bits(), err
}

// srcPred resolves a predicate source and reports whether it is negated.
func (d *dec) srcPred(o *ptx.Operand) (ref, bool, error) {
	switch o.Kind {
	case ptx.OpImm:
		return d.sregSlot(sregTrue, false, 0, cPred), (o.Imm.Bits != 0) == o.Neg, nil
	case ptx.OpSpecial:
		// %is_explicit_cluster is the only one.
		return d.sregSlot(sregExplicit, false, 0, cPred), o.Neg, nil
	}
	r, c, t, err := d.reg(o, false)
	if err == nil && c != cPred {
		err = fmt.Errorf("needs a predicate, but %s is .%s", o.Name, t)
	}
	return r, o.Neg, err
}

// symbol resolves the address of a variable or function as a value.
func (d *dec) symbol(o *ptx.Operand, wide bool) (ref, error) {
	a, local, err := d.address(o)
	if err != nil {
		return none, err
	}
	if local {
		return d.sregSlot(sregLocal, wide, int64(a), c32), nil
	}
	if d.im.pairs && o.Var != nil && o.Var.Space == ptx.SpaceShared {
		a |= isa.SharedWindow
	}
	if wide {
		return d.const64(a), nil
	}
	return d.const32(uint32(a)), nil
}

// address returns the address of a symbol in its own space, offset included; local
// means that it is relative to the frame.
func (d *dec) address(o *ptx.Operand) (a uint64, local bool, err error) {
	off := o.Imm.Bits
	if o.Func != nil {
		def := d.im.kernel.prog.fnDef[o.Func]
		if def == nil {
			return 0, false, fmt.Errorf("uses the address of %s, which %w", o.Name, ErrUndefined)
		}
		return d.im.kernel.prog.fnAddr[def] + off, false, nil
	}
	v := o.Var
	if v == nil {
		return 0, false, fmt.Errorf("uses %q, which is not a variable", o.Name)
	}
	switch v.Space {
	case ptx.SpaceGlobal, ptx.SpaceConst, ptx.SpaceTex:
		if v.Type.Opaque() || v.Space == ptx.SpaceTex {
			return d.im.textureHandle(v), false, nil
		}
		g := d.im.kernel.prog.varDef[v]
		if g == nil {
			return 0, false, fmt.Errorf("uses %s, which %w", v.Name, ErrUndefined)
		}
		if d.im.m == nil {
			return off, false, nil
		}
		return d.im.m.addr[g.index] + off, false, nil
	case ptx.SpaceShared:
		a := uint64(d.im.sharedAt[v]) + off
		if o.Generic {
			a += isa.SharedWindow
		}
		return a, false, nil
	case ptx.SpaceLocal, ptx.SpaceParam:
		if v.Space == ptx.SpaceParam && d.ast.Entry && isParam(d.ast, v) {
			for _, p := range d.im.kernel.params {
				if p.Name == v.Name {
					return uint64(p.Offset) + off, false, nil
				}
			}
		}
		a := uint64(d.localAt[v]) + off
		if o.Generic {
			a += isa.LocalWindow
		}
		return a, true, nil
	}
	return 0, false, fmt.Errorf("cannot take the address of %s", v.Name)
}
