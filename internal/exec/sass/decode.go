package sass

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// decoders maps each opcode to its decoder; the files of the instruction families fill
// it in.
var decoders [sass.Ops]func(*dec) error

// lanewise are the opcodes registered by putLanes.
var lanewise [sass.Ops]bool

// errForm is returned by a decoder for an unknown form.
var errForm = errors.New("this form is not supported")

// dec decodes one kernel.
type dec struct {
	k     *Kernel
	words map[uint32]ref   // rows of literals
	banks map[[2]int64]ref // rows of constants
	in    *sass.Inst
	o     *inst
	// slot is the address that the instruction's immediate gets, by its number in the program,
	// -1 if it gets none.
	slot int
	took bool // it has been used
}

// uniforms is the number of uniform registers: UR0 to UR62, and from sm_100 on to UR79 (the
// highest in public disassemblies of NVIDIA's programs, and what a Mesa driver counts on).
func uniforms(a sass.Arch) int {
	if a >= 100 {
		return 80
	}
	return 63
}

// kernel returns a kernel that is decoded: at once if it comes from text, and when it is first
// needed if it is machine code.
func (p *Program) kernel(t *sass.Kernel) *Kernel {
	k := &Kernel{regs: t.Regs, prog: p, text: t, size: t.Bytes()}
	for _, a := range t.Params {
		at := a.Offset - t.Arch.ParamBase()
		k.params = append(k.params, exec.Param{Name: a.Name, Size: a.Bytes, Offset: at})
		k.bytes = max(k.bytes, at+a.Bytes)
	}
	if t.Binary == nil {
		k.once.Do(k.decode)
	}
	return k
}

// slots returns the addresses that instructions get, by the instructions' numbers. Those that are not
// supported are listed in Kernel.bad, also those in constants and data, which are all kernels'.
func (k *Kernel) slots() map[uint64]int {
	p, name := k.prog, k.Name()
	list := map[uint64]int{}
	for _, n := range append(slices.Clone(p.places[""]), p.places[name]...) {
		a := &p.text.Addresses[n]
		switch {
		case a.Undefined:
			k.bad = append(k.bad, fmt.Errorf("%s: %s: the address of %s, which no file of the program defines: link the one that does", p.file, p.text.At(a), a.Function))
			continue
		case a.Type != 0:
			k.bad = append(k.bad, fmt.Errorf("%s: %s: an address of %s, by a relocation of type %d, is not supported", p.file, p.text.At(a), a.Function, a.Type))
			continue
		case a.To == sass.OfCode && a.Part == sass.Whole:
			continue
		}
		at := a.Offset / instBytes
		if _, twice := list[at]; twice || a.Offset%instBytes != 0 {
			k.bad = append(k.bad, fmt.Errorf("%s: address at offset %#x of kernel %s: an instruction has one, at its beginning", p.file, a.Offset, name))
		}
		list[at] = n
	}
	return list
}

// enter finds the functions that calls through registers may reach.
func (k *Kernel) enter() {
	at := map[string]uint64{}
	for _, l := range k.text.Labels {
		at[l.Name] = uint64(l.Index) * instBytes
	}
	for _, name := range k.prog.pointers {
		k.entries = append(k.entries, at[name])
	}
}

// decode decodes the code. Instructions that cannot be executed are listed in Kernel.bad.
func (k *Kernel) decode() {
	t, p := k.text, k.prog
	if !t.Arch.Executes() {
		k.bad = append(k.bad, fmt.Errorf("%s: kernel %s cannot run: machine code for %s can only be listed; %s is executed", p.file, t.Name, t.Arch, sass.ExecutedArchs))
		return
	}
	if t.Binary != nil {
		if err := t.SetCode(t.Binary); err != nil {
			k.bad = append(k.bad, err)
			return
		}
	}
	for _, n := range p.places[t.Name] {
		if a := &p.text.Addresses[n]; a.Type == 0 && a.To == sass.OfCode && a.Part == sass.Whole {
			t.SetTarget(a.Offset, a.Addend)
		}
	}
	k.infos = t.Infos()
	k.rows, k.named = k.regs+uniforms(t.Arch), k.regs
	k.code = make([]inst, len(t.Code)+1)
	if t.Refused != nil {
		k.bad = append(k.bad, t.Refused)
	}
	slots := k.slots()
	k.enter()
	functions := k.calls()
	d := &dec{k: k, words: map[uint32]ref{}, banks: map[[2]int64]ref{}}
	for i := range t.Code {
		d.in, d.o = &t.Code[i], &k.code[i]
		d.slot, d.took = -1, false
		if n, ok := slots[uint64(i)]; ok {
			d.slot = n
		}
		*d.o = inst{info: &k.infos[i], pd: [2]uint8{noPredicate, noPredicate}}
		if d.in.Op == sass.OpCALL && (functions && d.in.Find(sass.Dest) == nil || d.slot >= 0) {
			k.guardCall(&k.infos[i])
		}
		err := d.decode()
		if err == nil && d.slot >= 0 && !d.took {
			err = errors.New("an address in this form is not supported")
		}
		if err != nil {
			k.bad = append(k.bad, &UnsupportedError{Where: k.source(d.o), Words: d.in.Words, Why: err.Error()})
		}
	}
	for n, name := range exec.Functions {
		if name != "" && k.calls(name) {
			k.may |= 1 << n
		}
	}
	k.talks = k.talks || k.calls("malloc", "free") // the heap is all blocks'
	if !k.spins && k.polls() {
		k.talks, k.spins = true, true
	}
	end := isa.Inst{PC: int32(len(t.Code)), Op: "(end of the code)", Unit: isa.UnitBranch, Flow: isa.FlowExit, Class: isa.ClassBranch}
	if n := len(t.Code); n > 0 {
		end.Pos = t.Code[n-1].Pos
	}
	k.code[len(t.Code)] = inst{info: &end, kind: kFlow, act: actEnd, guard: predicate{at: predTrue}, ps: [3]predicate{2: {at: predTrue}}}
}

func (d *dec) decode() error {
	in, o := d.in, d.o
	if g := in.Guard; g.Uniform {
		o.guard = predicate{uniformPred + g.Pred, g.Not}
	} else {
		o.guard = predicate{g.Pred, g.Not}
	}
	for i := range o.ps {
		o.ps[i] = predicate{at: predTrue}
	}
	f := decoders[in.Op]
	switch {
	case in.Op == sass.NoOp: // raw words in the text
		_, err := sass.Decode(d.k.text.Arch, in.Words, in.Addr)
		var we *sass.WordError
		if errors.As(err, &we) {
			return errors.New(we.Why)
		}
		return errForm
	case f == nil:
		return fmt.Errorf("%s is not supported", in.Op)
	}
	if err := f(d); err != nil {
		return err
	}
	d.ordering()
	for i := range in.Operands {
		p := &in.Operands[i]
		if !p.Dst || p.Kind != sass.Pred && p.Kind != sass.UPred || p.Reg == sass.PT {
			continue
		}
		n := p.Reg
		if p.Kind == sass.UPred {
			n += uniformPred
		}
		if o.pd[0] != n && o.pd[1] != n {
			return fmt.Errorf("the predicate result %v is not supported", p)
		}
	}
	switch {
	case o.run != nil:
		o.lanes = nil
	case o.lanes != nil:
		o.run = runLanes
	}
	o.late = variable(o.info.Class)
	o.direct = (o.direct || lanewise[in.Op]) && !o.toUR && o.commit == nil
	for k, p := range o.ps {
		if p != (predicate{at: predTrue}) {
			o.nps = uint8(k) + 1
		}
	}
	o.sets = o.pd != [2]uint8{noPredicate, noPredicate}
	for k := range o.src[:o.nsrc] {
		o.rows[k] = o.src[k].row
		o.changed = o.changed || !o.src[k].plain()
	}
	if o.ndst == 0 {
		o.dst[0] = nowhere
	}
	o.quick = o.lanes != nil && o.nsrc <= 4 && o.direct && !o.uniform && !o.toUP
	o.word = o.isWord(in.Op)
	return nil
}

// ordering records whether blocks can communicate through the instruction, and whether
// it may be part of a wait. Scopes up to the SM count as the block's own: a program
// cannot know what else is on its SM.
func (d *dec) ordering() {
	in, wide := d.in, d.in.Has("GPU") || d.in.Has("SYS")
	switch in.Op {
	case sass.OpATOM, sass.OpATOMG, sass.OpRED, sass.OpREDG:
		// In every scope: the bytes are updated in place, which a block's
		// private copy of memory does not offer.
		d.k.talks = true
		d.k.spins = d.k.spins || in.Op != sass.OpRED && in.Op != sass.OpREDG
	case sass.OpLD, sass.OpLDG, sass.OpSULD:
		if strong := in.Has("STRONG") || in.Has("MMIO"); strong && wide {
			d.k.talks, d.k.spins = true, true
		}
	case sass.OpST, sass.OpSTG, sass.OpSUST:
		if strong := in.Has("STRONG") || in.Has("MMIO"); strong && wide {
			d.k.talks = true
		}
	case sass.OpMEMBAR:
		if wide || in.Has("VC") {
			d.k.talks = true
		}
	}
}

// polls reports whether the code may wait for a word that another block stores although
// its loads do not say so: whether a loop loads from an address that does not change in
// it. Compilers also emit such loops if a store may alias the address; running their
// blocks in turn is correct too.
func (k *Kernel) polls() bool {
	const most = 1 << 22 // limit on the instructions searched
	looked := 0
	for last := range k.infos {
		to := k.infos[last].Targets
		if len(to) == 0 || int(to[0]) > last {
			continue
		}
		body := k.infos[to[0] : last+1]
		if looked += len(body); looked > most {
			return true
		}
		var general, uniform [256]bool // written in the loop
		for i := range body {
			for _, r := range body[i].Dsts {
				for n := r.Index; n < r.Index+uint32(r.Count); n++ {
					switch r.File {
					case isa.RegGPR:
						general[n&255] = true
					case isa.RegUGPR:
						uniform[n&255] = true
					}
				}
			}
		}
		for i := range body {
			if in := &k.text.Code[int(to[0])+i]; in.Op == sass.OpLDG || in.Op == sass.OpLD {
				if !in.Has("CONSTANT") && fixedPlace(in, &general, &uniform) {
					return true
				}
			}
		}
	}
	return false
}

// fixedPlace reports whether the address of a load depends on none of the given
// registers.
func fixedPlace(in *sass.Inst, general, uniform *[256]bool) bool {
	a := in.Find(sass.Addr)
	if a == nil {
		return false
	}
	if a.Reg != sass.RZ {
		for n := range int(a.Count) {
			if general[(int(a.Reg)+n)&255] {
				return false
			}
		}
	}
	if a.HasU && a.UReg != sass.URZ {
		for n := range max(1, int(a.UCount)) {
			if uniform[(int(a.UReg)+n)&255] {
				return false
			}
		}
	}
	return true
}

// variable reports whether instructions of a class have variable latency: they read their
// sources some time after they issue (measured, MICRO'25; the encodings agree).
func variable(c isa.Class) bool {
	switch c {
	case isa.ClassIntSlow, isa.ClassSFU, isa.ClassFP64, isa.ClassDMMA, isa.ClassMio, isa.ClassMiscQ, isa.ClassTexture,
		isa.ClassFence, isa.ClassLoad, isa.ClassStore, isa.ClassAtomic, isa.ClassConstant, isa.ClassCopy:
		return true
	}
	return false
}

// only returns an error if the instruction has a modifier other than the given ones.
func (d *dec) only(names ...string) error {
next:
	for _, m := range d.in.Mods {
		for _, n := range names {
			if m == n {
				continue next
			}
		}
		return d.unsupported(m)
	}
	return nil
}

// unsupported is the error for a modifier.
func (d *dec) unsupported(modifier string) error {
	return fmt.Errorf("%s with .%s is not supported", d.in.Op, modifier)
}

// literal returns the row in which all lanes hold v.
func (d *dec) literal(v uint32) ref {
	r, ok := d.words[v]
	if !ok {
		var row [32]uint32
		for i := range row {
			row[i] = v
		}
		r = ^ref(len(d.k.fixed))
		d.k.fixed = append(d.k.fixed, row)
		d.words[v] = r
	}
	return r
}

// constant returns the row that a launch fills from a constant bank.
func (d *dec) constant(bank int, offset int64) ref {
	key := [2]int64{int64(bank), offset}
	high, low := spaceWords(d.k.text.Arch)
	d.k.workspace = d.k.workspace || bank == 0 && (offset == high || offset == low)
	r, ok := d.banks[key]
	if !ok {
		r = ^ref(len(d.k.fixed))
		d.k.fixed = append(d.k.fixed, [32]uint32{})
		d.k.consts = append(d.k.consts, constant{bank, offset, int(^r)})
		d.banks[key] = r
	}
	return r
}

// general returns the row of a general register.
func (d *dec) general(n int) (ref, error) {
	switch {
	case n >= sass.RZ:
		return d.literal(0), nil
	case n >= d.k.regs:
		return 0, fmt.Errorf("register R%d exceeds the %d registers of .regs", n, d.k.regs)
	}
	return ref(n), nil
}

// uniformRow returns the row of a uniform register.
func (d *dec) uniformRow(n int) (ref, error) {
	switch {
	case n == sass.URZ:
		return d.literal(0), nil
	case n >= d.k.rows-d.k.regs:
		return 0, fmt.Errorf("UR%d does not exist; want UR0 to UR%d", n, d.k.rows-d.k.regs-1)
	}
	d.k.named = max(d.k.named, d.k.regs+n+1)
	return ref(d.k.regs + n), nil
}

// word returns word i of a value: a register, a literal or a constant.
func (d *dec) word(o *sass.Operand, i int) (ref, error) {
	switch o.Kind {
	case sass.Reg:
		if o.Reg == sass.RZ {
			return d.literal(0), nil
		}
		return d.general(int(o.Reg) + i)
	case sass.UReg:
		if o.Reg == sass.URZ {
			return d.literal(0), nil
		}
		return d.uniformRow(int(o.Reg) + i)
	case sass.Imm:
		if d.slot >= 0 && i == 0 && o.Imm == 0 && !d.took {
			d.took = true
			return d.constant(relocated, 4*int64(d.slot)), nil
		}
		return d.literal(uint32(o.Imm >> (32 * i))), nil
	case sass.FImm:
		return d.literal(uint32(o.Bits >> (32 * i))), nil
	case sass.Const:
		if o.HasU || o.Reg != sass.RZ {
			return 0, errors.New("a constant with an index is not supported here")
		}
		return d.constant(int(o.Bank), o.Imm+4*int64(i)), nil
	}
	return 0, fmt.Errorf("operand %v: this kind is not supported here", o)
}

// add appends a source.
func (d *dec) add(s source) error {
	if int(d.o.nsrc) == maxSrc {
		return errForm
	}
	d.o.src[d.o.nsrc] = s
	d.o.nsrc++
	return nil
}

// addWords appends n plain words of an operand.
func (d *dec) addWords(o *sass.Operand, n int) error {
	for i := range n {
		r, err := d.word(o, i)
		if err != nil {
			return err
		}
		if err := d.add(plain(r)); err != nil {
			return err
		}
	}
	return nil
}

// values returns the numeric operands, in text order.
func (d *dec) values() []*sass.Operand {
	var list []*sass.Operand
	for i := range d.in.Operands {
		o := &d.in.Operands[i]
		if o.Dst {
			continue
		}
		switch o.Kind {
		case sass.Reg, sass.UReg, sass.Imm, sass.FImm, sass.Const:
			list = append(list, o)
		}
	}
	return list
}

// addBits appends a value as 32 bits; ~ inverts it.
func (d *dec) addBits(o *sass.Operand) error {
	r, err := d.word(o, 0)
	if err != nil {
		return err
	}
	s := plain(r)
	switch {
	case o.Abs:
		return errForm
	case o.Not:
		s.xor = full
	case o.Neg:
		s.xor, s.add = full, 1
	}
	return d.add(s)
}

// addF32 appends a value as a binary32.
func (d *dec) addF32(o *sass.Operand) error {
	r, err := d.word(o, 0)
	if err != nil {
		return err
	}
	return d.add(floatSource(r, o, 1<<31))
}

// floatSource is an operand whose sign bits are those of sign.
func floatSource(r ref, o *sass.Operand, sign uint32) source {
	s := plain(r)
	if o.Abs {
		s.and = ^sign
	}
	if o.Neg {
		s.xor = sign
	}
	return s
}

// addF64 appends a value as a binary64, in two words.
func (d *dec) addF64(o *sass.Operand) error {
	lo, err := d.word(o, 0)
	if err != nil {
		return err
	}
	hi, err := d.word(o, 1)
	if err != nil {
		return err
	}
	if err := d.add(plain(lo)); err != nil {
		return err
	}
	return d.add(floatSource(hi, o, 1<<31))
}

// addHalves appends a value as two half words; low is the second half of a
// literal.
func (d *dec) addHalves(o, low *sass.Operand) error {
	if o.Kind == sass.FImm && o.Width == 16 {
		v := uint32(o.Bits & 0xffff)
		if o.Neg {
			v ^= 0x8000
		}
		l := v
		if low != nil {
			if l = uint32(low.Bits & 0xffff); low.Neg {
				l ^= 0x8000
			}
		}
		return d.add(plain(d.literal(v<<16 | l)))
	}
	r, err := d.word(o, 0)
	if err != nil {
		return err
	}
	s := floatSource(r, o, 0x80008000)
	switch o.Suffix {
	case "", "H1_H0":
	case "H0_H0":
		s.half = lowHalf
	case "H1_H1":
		s.half = highHalf
	default:
		return fmt.Errorf("an operand with .%s is not supported here", o.Suffix)
	}
	return d.add(s)
}

// result adds n words of the result register.
func (d *dec) result(n int) error {
	o := d.in.Find(sass.Rd)
	if o == nil {
		return errForm
	}
	return d.resultAt(o, n)
}

func (d *dec) resultAt(o *sass.Operand, n int) error {
	for i := range n {
		r, err := d.word(o, i)
		if err != nil {
			return err
		}
		if o.Kind == sass.UReg {
			d.o.toUR = true
		} else if o.Kind != sass.Reg {
			return errForm
		}
		if r < 0 {
			r = nowhere
		}
		d.o.dst[d.o.ndst] = r
		d.o.ndst++
	}
	return nil
}

// predResult sets the target of predicate result i, which the text may omit.
func (d *dec) predResult(i int, role sass.Role) {
	o := d.in.Find(role)
	if o == nil || o.Reg == sass.PT {
		return
	}
	d.o.pd[i] = o.Reg
	if o.Kind == sass.UPred {
		d.o.pd[i] = uniformPred + o.Reg
		d.o.toUP = true
	}
}

// predSource sets predicate source i; absent is its value if the text omits it.
func (d *dec) predSource(i int, role sass.Role, absent bool) {
	d.o.ps[i] = predicate{at: predTrue, not: !absent}
	if o := d.in.Find(role); o != nil {
		d.o.ps[i] = predicate{o.Reg, o.Not}
		if o.Kind == sass.UPred {
			d.o.ps[i].at += uniformPred
		}
	}
}

// rounding is the rounding mode among the modifiers, RN by default.
func (d *dec) rounding() num.Round {
	for _, m := range d.in.Mods {
		switch m {
		case "RM", "FLOOR":
			return num.RM
		case "RP", "CEIL":
			return num.RP
		case "RZ", "TRUNC":
			return num.RZ
		}
	}
	return num.RN
}

// floatFlags sets what floating-point instructions share.
func (d *dec) floatFlags() {
	d.o.ftz, d.o.sat, d.o.round = d.in.Has("FTZ"), d.in.Has("SAT"), d.rounding()
}

// comparisons are the relations of the SETP instructions.
var comparisons = map[string]num.Cmp{
	"F": 0, "LT": num.LT, "EQ": num.EQ, "LE": num.LE, "GT": num.GT, "NE": num.NE, "GE": num.GE, "T": num.NUM | num.NAN,
	"NUM": num.NUM, "NAN": num.NAN, "LTU": num.LTU, "EQU": num.EQU, "LEU": num.LEU, "GTU": num.GTU, "NEU": num.NEU, "GEU": num.GEU,
}

// Combinations of a comparison with a predicate, in inst.mode.
const (
	andPred = iota
	orPred
	xorPred
)

// comparison sets relation and combination of a SETP instruction.
func (d *dec) comparison() error {
	found := false
	d.o.mode = 255
	for _, m := range d.in.Mods {
		if c, ok := comparisons[m]; ok && !found {
			d.o.cmp, found = c, true
			continue
		}
		switch m {
		case "AND":
			d.o.mode = andPred
		case "OR":
			d.o.mode = orPred
		case "XOR":
			d.o.mode = xorPred
		}
	}
	if !found || d.o.mode == 255 {
		return errForm
	}
	return nil
}

// combine combines the lanes in which a relation holds with a predicate.
func combine(mode uint8, r, p uint32) uint32 {
	switch mode {
	case orPred:
		return r | p
	case xorPred:
		return r ^ p
	}
	return r & p
}

// put registers decoders.
func put(f func(*dec) error, ops ...sass.Op) {
	for _, op := range ops {
		decoders[op] = f
	}
}

// putLanes registers decoders of instructions of which each lane depends on its own sources alone, and
// which write only lanes that execute.
func putLanes(f func(*dec) error, ops ...sass.Op) {
	put(f, ops...)
	for _, op := range ops {
		lanewise[op] = true
	}
}
