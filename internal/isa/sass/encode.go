package sass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
)

// lineError is a mistake in a line: its position, length, message, and fix.
type lineError struct {
	col, length int
	what, fix   string
}

func (e *lineError) Error() string { return e.what }

// source is an instruction as written in the text.
type source struct {
	op     Op
	opCol  int
	opText string // mnemonic with modifiers
	mods   []string
	guard  Guard
	args   []arg
	addr   uint32
	// forms are those of the mnemonic if they are known already.
	forms []candidate
	// quiet leaves out why a form does not fit: most instructions fit a later one.
	quiet bool
}

// candidate is a row for a mnemonic: its word with the modifiers.
type candidate struct {
	row  *row
	word word128
}

// attempt is the result of matching the text with a form: how far it got.
type attempt struct {
	depth int
	err   func() *lineError // made only if no form fits
}

// How far an attempt got: modifiers fit, operands fit.
const (
	operandDepth = 1 << 10
	formDepth    = 1 << 20
)

// forms lists the rows that a mnemonic fits, in their order.
func (t *table) forms(op Op, mods []string) []candidate {
	var list []candidate
	for _, r := range t.byOp[op] {
		w := r.value
		if _, ok := r.encodeMods(0, mods, 0, &w); ok {
			list = append(list, candidate{r, w})
		}
	}
	return list
}

// encode finds the form that fits the text, and returns its word with the control bits, and what it is.
func (t *table) encode(s *source, ctl *isa.Control) (word128, Inst, *lineError) {
	if s.forms == nil {
		s.forms = t.forms(s.op, s.mods)
	}
	s.quiet = true
	for i := range s.forms {
		r, w := s.forms[i].row, s.forms[i].word
		if r.guard != s.guard.Uniform && !s.guard.Always() {
			continue
		}
		s.guard.encode(&w)
		if _, err := r.encodeArgs(s, 0, 0, &w); err != nil || w.and(r.mask) != r.value {
			continue
		}
		if in, problem := r.decode(w, s.addr); problem == "" {
			if ctl != nil {
				encodeControl(&w, *ctl)
			}
			return w, r.named(w, in), nil
		}
	}
	s.quiet = false
	return word128{}, Inst{}, t.misfit(s)
}

// encode writes a guard.
func (g Guard) encode(w *word128) {
	guardSpan.set(w, uint64(g.Pred))
	if g.Not {
		w.setBit(guardNot, 1)
	}
}

// misfit says why no form fits: the reason of the one that comes nearest.
func (t *table) misfit(s *source) *lineError {
	best := attempt{depth: -1}
	fail := func(depth int, err func() *lineError) {
		if depth > best.depth {
			best = attempt{depth, err}
		}
	}
	for _, r := range t.byOp[s.op] {
		w := r.value
		if r.guard != s.guard.Uniform && !s.guard.Always() {
			fail(0, func() *lineError {
				return &lineError{s.opCol, len(s.opText), fmt.Sprintf("%s must be guarded by %s", s.op, map[bool]string{true: "a uniform predicate (UP0 to UP6)", false: "a predicate (P0 to P6)"}[r.guard]), ""}
			})
			continue
		}
		s.guard.encode(&w)
		if n, ok := r.encodeMods(0, s.mods, 0, &w); !ok {
			if n < len(s.mods) {
				fail(n+1, func() *lineError {
					return &lineError{s.opCol, len(s.opText), fmt.Sprintf("%s cannot have the modifier .%s here", s.op, s.mods[n]), r.suggest(s.mods[n])}
				})
			} else {
				fail(n+1, func() *lineError {
					return &lineError{s.opCol, len(s.opText), fmt.Sprintf("%s lacks a modifier", s.op), "the form is: " + r.usage()}
				})
			}
			continue
		}
		if depth, err := r.encodeArgs(s, 0, 0, &w); err != nil {
			fail(operandDepth+depth, func() *lineError { return err })
			continue
		}
		if w.and(r.mask) != r.value {
			fail(formDepth, func() *lineError {
				return &lineError{s.opCol, len(s.opText), "the operands do not fit this form", "the form is: " + r.usage()}
			})
			continue
		}
		if _, problem := r.decode(w, s.addr); problem != "" {
			fail(formDepth, func() *lineError { return &lineError{s.opCol, len(s.opText), problem, "the form is: " + r.usage()} })
		}
	}
	if best.err == nil {
		return &lineError{s.opCol, len(s.opText), fmt.Sprintf("%s does not exist on %s", s.op, t.arch), ""}
	}
	return best.err()
}

// Assemble turns the text of one instruction at an address, without control code and labels, into
// its words; their control bits are 0.
func Assemble(a Arch, text string, addr uint32) ([2]uint64, error) {
	t := tableOf(a)
	s, e := parseInstruction(text, 1, t)
	if e == nil {
		s.addr = addr
		var w word128
		if w, _, e = t.encode(s, nil); e == nil {
			return w, nil
		}
	}
	return [2]uint64{}, fmt.Errorf("%s: %s (column %d) %s", text, e.what, e.col, e.fix)
}

// encodeMods matches the modifiers with the row's from the i-th on; it returns how many
// fitted.
func (r *row) encodeMods(i int, mods []string, at int, w *word128) (int, bool) {
	if i == len(r.mods) {
		return at, at == len(mods)
	}
	m := &r.mods[i]
	far := at
	try := func(text string, v uint64) bool {
		n := 0
		if text != "" {
			n = strings.Count(text, ".") + 1
			if at+n > len(mods) || strings.Join(mods[at:at+n], ".") != text {
				return false
			}
		}
		saved := *w
		if m.at != nil {
			m.at.set(w, v)
		}
		f, ok := r.encodeMods(i+1, mods, at+n, w)
		far = max(far, f)
		if !ok {
			*w = saved
		}
		return ok
	}
	if m.enum == nil {
		if try(m.text, 1) {
			return far, true
		}
		return far, m.at != nil && try("", 0)
	}
	for _, e := range m.enum.order {
		if try(e.text, e.value) {
			return far, true
		}
	}
	return far, false
}

// suggest names the nearest modifier.
func (r *row) suggest(mod string) string {
	var names []string
	for i := range r.mods {
		m := &r.mods[i]
		if m.enum == nil {
			names = append(names, m.text)
			continue
		}
		for _, e := range m.enum.order {
			if e.text != "" {
				names = append(names, e.text)
			}
		}
	}
	if slices.Contains(names, mod) {
		return "the order of modifiers is: " + r.usage()
	}
	if n := near.Name(mod, names); n != "" {
		return "did you mean ." + n + "?"
	}
	return "the form is: " + r.usage()
}

// usage is the row's line without its numbers.
func (r *row) usage() string {
	body, _, _ := strings.Cut(r.src, ";")
	f := strings.Fields(body)
	if len(f) < 3 {
		return r.op.String()
	}
	for i := range f {
		if name, _, ok := strings.Cut(f[i], "@"); ok && strings.HasPrefix(f[i], ".") {
			f[i] = name
		}
	}
	return strings.Join(f[2:], " ")
}

// encodeArgs matches the operands from the j-th on with the row's fields from the i-th on; it
// returns how many fitted.
func (r *row) encodeArgs(s *source, i, j int, w *word128) (int, *lineError) {
	if i == len(r.operands) {
		if j == len(s.args) {
			return ranks * j, nil
		}
		if s.quiet {
			return 0, unfit
		}
		return ranks * j, &lineError{s.args[j].col, len(s.args[j].text), "too many operands", "the form is: " + r.usage()}
	}
	f := &r.operands[i]
	depth := ranks * j
	var failure *lineError
	if j < len(s.args) {
		a := &s.args[j]
		saved := *w
		used := 1
		err := f.encode(a, s, w)
		if err == nil && f.pair() { // the second half
			used = 2
			if j+1 >= len(s.args) {
				err = fmt.Errorf("the lower half of a packed immediate is missing")
			} else if low, e := parseHalves(s.args[j+1].digits(), f.imm); e != nil {
				err = fmt.Errorf("%s is not a 16-bit number", s.args[j+1].text)
			} else {
				span{{47, 32}}.set(w, low)
			}
		}
		if err == nil && a.Tail != f.tail {
			err = fmt.Errorf("unexpected operand %s", a.text)
		}
		if err == nil && r.shl && f.kind == fImm && !isShift(uint32(f.at.get(*w))) {
			err = fmt.Errorf("%s is not a power of two", a.text)
		}
		if err == nil {
			d, e := r.encodeArgs(s, i+1, j+used, w)
			if e == nil {
				return d, nil
			}
			depth, failure = d, e
		} else if s.quiet {
			failure = unfit
		} else {
			failure = &lineError{a.col, len(a.text), err.Error(), ""}
			depth += rank(err)
		}
		*w = saved
	} else if s.quiet {
		failure = unfit
	} else {
		failure = &lineError{s.opCol, len(s.opText), "an operand is missing", "the form is: " + r.usage()}
	}
	if f.opt == always {
		return depth, failure
	}
	saved := *w
	f.leaveOut(w)
	d, e := r.encodeArgs(s, i+1, j, w)
	if e == nil {
		return d, nil
	}
	*w = saved
	if d >= depth {
		return d, e
	}
	return depth, failure
}

// unfit is the reason that nobody reads.
var unfit = &lineError{what: "does not fit"}

// leaveOut encodes the value of an operand that the text omits.
func (f *operandField) leaveOut(w *word128) {
	switch {
	case f.kind == fImm || f.kind == fPnz || f.kind == fUPnz || f.kind == fMask:
		f.at.set(w, 0)
	default:
		f.at.set(w, PT)
	}
	if f.not >= 0 {
		v := uint64(0)
		if f.opt == unlessNot {
			v = 1
		}
		w.setBit(f.not, v)
	}
}

// misfit says why an operand does not fit a field. The best of all forms' reasons is shown: a
// wrong kind of operand is the least specific, a value out of range the most.
type misfit struct {
	rank int
	text string
}

func (m *misfit) Error() string { return m.text }

// The ranks of misfits.
const (
	wrongKind = iota
	wrongMark // a sign or suffix that the field lacks
	wrongValue
	ranks
)

func rank(err error) int {
	if m, ok := err.(*misfit); ok {
		return m.rank
	}
	return wrongValue
}

func kindError(format string, args ...any) error {
	return &misfit{wrongKind, fmt.Sprintf(format, args...)}
}

func markError(format string, args ...any) error {
	return &misfit{wrongMark, fmt.Sprintf(format, args...)}
}

var fieldNames = map[fieldKind]string{
	fGPR: "a register", fUGPR: "a uniform register", fPred: "a predicate", fUPred: "a uniform predicate", fBReg: "a barrier register (B0 to B15)",
	fSB: "a dependence counter (SB0 to SB5)", fSReg: "a special register", fImm: "a number", fConst: "a constant (c[0x0][0x160])",
	fCX: "a constant (cx[UR4][0x10])", fLDC: "a constant (c[0x0][R2+0x10])", fULDC: "a constant (c[0x0][UR4+0x10])", fLDCU: "a constant (c[0x0][0x10])", fTarget: "a label or an address", fAbs: "a label or an address",
	fMask: "a set of counters ({2,1})", fMem: "an address ([R2+0x10])", fPnz: "a predicate", fUPnz: "a uniform predicate",
	fDesc: "a descriptor (desc[UR4])", fGDesc: "descriptors of matrices (gdesc[UR4])",
}

// encode encodes one operand. Its error says why the text does not fit.
func (f *operandField) encode(a *arg, s *source, w *word128) error {
	mismatch := func() error {
		if s.quiet {
			return unfit
		}
		if f.kind == fWord {
			return kindError("unexpected %s; want %s", a.text, f.word)
		}
		if f.kind == fEnum {
			return kindError("%s is not a valid %s", a.text, f.suffix.name)
		}
		return kindError("unexpected %s; want %s", a.text, fieldNames[f.kind])
	}
	switch f.kind {
	case fGPR:
		if err := f.encodeRegister(a, w, mismatch); err != nil {
			return err
		}
	case fUGPR, fDesc, fGDesc:
		want := [...]Kind{fUGPR: UReg, fDesc: Desc, fGDesc: GDesc}[f.kind]
		if a.Kind != want {
			return mismatch()
		}
		v, err := uniformBits(a.Reg, f.at.width())
		if err != nil {
			return err
		}
		f.at.set(w, v)
	case fPred, fUPred, fPnz, fUPnz:
		want, mirrored := Pred, f.kind == fPnz || f.kind == fUPnz
		if f.kind == fUPred || f.kind == fUPnz {
			want = UPred
		}
		if a.Kind != want || a.Not && f.not < 0 && !mirrored {
			return mismatch()
		}
		if mirrored {
			v := uint64(7 - a.Reg)
			if a.Not {
				v |= 8
			}
			f.at.set(w, v)
			return nil
		}
		f.at.set(w, uint64(a.Reg))
	case fBReg, fSB, fSReg:
		want := [...]Kind{fBReg: BReg, fSB: SB, fSReg: SReg}[f.kind]
		if a.Kind != want {
			return mismatch()
		}
		f.at.set(w, uint64(a.Reg))
	case fImm:
		return f.encodeImm(a, w, mismatch)
	case fConst, fCX, fLDC, fULDC, fLDCU:
		if err := f.encodeConst(a, w, mismatch); err != nil {
			return err
		}
	case fTarget, fAbs:
		return f.encodeTarget(a, s.addr, w, mismatch)
	case fMask:
		if a.Kind != Mask {
			return mismatch()
		}
		f.at.set(w, uint64(a.Operand.Imm))
	case fWord:
		if a.Kind != Word || a.Suffix != f.word {
			return mismatch()
		}
		return nil
	case fEnum:
		for _, e := range f.suffix.order {
			if e.text == a.text && a.text != "" {
				f.suffAt.set(w, e.value)
				return nil
			}
		}
		return mismatch()
	case fMem:
		return f.encodeMem(a, w, mismatch)
	}
	return f.encodeMarks(a, w)
}

// encodeRegister writes the number of a general register, and whether it stays in the
// register-file cache.
func (f *operandField) encodeRegister(a *arg, w *word128, mismatch func() error) error {
	switch {
	case a.Kind != Reg, f.literal >= 0 && int(a.Reg) != f.literal:
		return mismatch()
	case a.Reuse && f.reuse < 0:
		return fmt.Errorf("%s cannot have .reuse", a.text)
	case a.Reuse && a.Reg == RZ:
		return fmt.Errorf("RZ cannot have .reuse")
	case a.Reuse:
		w.setBit(f.reuse, 1)
	}
	f.at.set(w, uint64(a.Reg))
	return nil
}

// encodeTarget writes a place in the code: a label or an address.
func (f *operandField) encodeTarget(a *arg, addr uint32, w *word128, mismatch func() error) error {
	switch {
	case a.Kind == Imm && a.where != noNumber:
		v, err := a.integer()
		if err != nil {
			return err
		}
		a.Operand.Imm = v
	case a.Kind != Word:
		return mismatch()
	case !a.found && a.near != "":
		return fmt.Errorf("unknown label %s; did you mean %s?", a.text, a.near)
	case !a.found:
		return fmt.Errorf("unknown label %s", a.text)
	}
	v := a.Operand.Imm
	if f.kind == fTarget {
		v -= int64(addr) + InstBytes
	}
	if v%f.scale != 0 {
		return fmt.Errorf("%s is not a multiple of %d", a.text, f.scale)
	}
	if v /= f.scale; !fits(v, f.at.width(), f.kind == fTarget) {
		return fmt.Errorf("%s is out of range of the branch", a.text)
	}
	f.at.set(w, uint64(v))
	return nil
}

// encodeMarks writes signs, bars and suffix.
func (f *operandField) encodeMarks(a *arg, w *word128) error {
	mark := func(on bool, name string, where ...int) error {
		for _, n := range where {
			if n >= 0 {
				v := uint64(0)
				if on {
					v = 1
				}
				w.setBit(n, v)
				return nil
			}
		}
		if on {
			return markError("%s cannot be %s", a.text, name)
		}
		return nil
	}
	if err := mark(a.Neg, "negated here", f.neg); err != nil {
		return err
	}
	if err := mark(a.Abs, "an absolute value here", f.abs); err != nil {
		return err
	}
	if err := mark(a.Not, "inverted here", f.not, f.inv); err != nil {
		return err
	}
	if f.suffix != nil {
		for _, e := range f.suffix.order {
			if e.text == a.Suffix {
				f.suffAt.set(w, e.value)
				return nil
			}
		}
		return markError("%s cannot have this suffix here", a.text)
	}
	if a.Suffix != "" {
		return markError("%s cannot have a suffix here", a.text)
	}
	return nil
}

func (f *operandField) encodeImm(a *arg, w *word128, mismatch func() error) error {
	if a.Kind != Imm || a.where == noNumber {
		return mismatch()
	}
	if f.pair() {
		v, err := parseHalves(a.digits(), f.imm)
		span{{63, 48}}.set(w, v)
		return err
	}
	width := [...]int{immF16: 16, immF32: 32, immF64: 64, immB2: 0}[f.imm]
	if width > 0 {
		v, err := a.float(width)
		if err != nil {
			return err
		}
		if f.imm == immF64 {
			if v<<32 != 0 {
				return fmt.Errorf("%s does not fit: only the upper 32 bits of a double are encoded", a.text)
			}
			v >>= 32
		}
		f.at.set(w, v)
		return nil
	}
	n := f.at.width()
	if n == 64 {
		if bits, err := strconv.ParseUint(a.digits(), 0, 64); err == nil {
			f.at.set(w, bits)
			return nil
		}
	}
	v, err := a.integer()
	if err != nil {
		return fmt.Errorf("%s is not an integer", a.text)
	}
	if v%f.scale != 0 {
		return fmt.Errorf("%s is not a multiple of %d", a.text, f.scale)
	}
	v /= f.scale
	if !fits(v, n, true) && !fits(v, n, false) || v < 0 && f.imm == immUnsigned && n < 32 || v >= 1<<(n-1) && f.imm == immSigned && n < 32 {
		return fmt.Errorf("%s is out of range: %d bits", a.text, n)
	}
	if v >= 1<<(n-1) && f.imm == immSigned && f.count == "2" {
		return fmt.Errorf("%s is out of range: the instruction extends %d bits by their sign to 64", a.text, n)
	}
	f.at.set(w, uint64(v))
	return nil
}

// parseHalves reads a half of a packed immediate.
func parseHalves(digits string, t immType) (uint64, error) {
	if digits == "" {
		return 0, fmt.Errorf("no number")
	}
	if t == immB2 {
		switch low := strings.ToLower(strings.TrimLeft(digits, "+-")); low {
		case "inf", "qnan":
			v, err := parseFloat(digits, 32)
			return v >> 16, err
		default:
			if !strings.HasPrefix(low, "0x") {
				return parseNarrow(digits, num.F64ToBF16)
			}
		}
	}
	return parseFloat(digits, 16)
}

func (f *operandField) encodeConst(a *arg, w *word128, mismatch func() error) error {
	if a.Kind != Const || a.CX != (f.kind == fCX) || a.Reg != RZ && f.kind != fLDC {
		return mismatch()
	}
	v := a.Operand.Imm
	if f.kind == fLDCU {
		if a.HasU != (f.at != nil) {
			return mismatch()
		}
		if !fits(v, ldcuBytes.width(), a.HasU) {
			return fmt.Errorf("%s is beyond the end of a constant bank", a.text)
		}
		constBank.set(w, uint64(a.Bank))
		ldcuBytes.set(w, uint64(v))
		return f.encodeIndex(a, w)
	}
	if f.kind == fULDC {
		if a.HasU != (f.at != nil) {
			return mismatch()
		}
		if !fits(v, 16, a.HasU) {
			return fmt.Errorf("%s is beyond the end of a constant bank", a.text)
		}
		constBank.set(w, uint64(a.Bank))
		ldcBytes.set(w, uint64(v))
		return f.encodeIndex(a, w)
	}
	if a.HasU && !a.CX {
		return mismatch()
	}
	if f.kind == fLDC {
		if !fits(v, 16, a.Reg != RZ) {
			return fmt.Errorf("%s is beyond the end of a constant bank", a.text)
		}
		constBank.set(w, uint64(a.Bank))
		ldcBytes.set(w, uint64(v))
		ldcReg.set(w, uint64(a.Reg))
		return nil
	}
	if v < 0 || v >= 1<<16 {
		return fmt.Errorf("%s is beyond the end of a constant bank (64 KiB)", a.text)
	}
	if v%4 != 0 {
		return fmt.Errorf("%s is not aligned: offsets of constants must be multiples of 4", a.text)
	}
	constWord.set(w, uint64(v/4))
	if f.kind == fCX {
		u, err := uniformBits(a.UReg, cxReg.width())
		cxReg.set(w, u)
		return err
	}
	constBank.set(w, uint64(a.Bank))
	return nil
}

// encodeIndex writes the uniform register that is added to the offset of a constant.
func (f *operandField) encodeIndex(a *arg, w *word128) error {
	if f.at == nil {
		return nil
	}
	v, err := uniformBits(a.UReg, f.at.width())
	f.at.set(w, v)
	return err
}

func (f *operandField) encodeMem(a *arg, w *word128, mismatch func() error) error {
	if a.Kind != Mem {
		return mismatch()
	}
	if a.HasD != (f.desc != nil) || a.HasD && a.Hidden != f.descOld {
		return mismatch()
	}
	if f.desc != nil {
		v, err := uniformBits(a.Desc, f.desc.at.width())
		if err != nil {
			return err
		}
		switch {
		case !f.desc.next:
			f.desc.at.set(w, v)
		case f.desc.at.get(*w)+1 != v:
			return fmt.Errorf("the descriptor of %s must be UR%d, the register after that of the first address", a.text, f.desc.at.get(*w)+1)
		}
	}
	switch {
	case f.ureg == nil && a.HasU:
		return mismatch()
	case f.ureg != nil:
		if !a.HasU && (f.keepURZ || a.Reg == RZ) {
			return mismatch()
		}
		if !f.keepURZ && a.HasU && a.UReg == URZ {
			return mismatch()
		}
		v, err := uniformBits(a.UReg, f.ureg.at.width())
		if err != nil {
			return err
		}
		f.ureg.at.set(w, v)
	}
	switch {
	case f.base == nil && a.Reg != RZ:
		return mismatch()
	case f.base != nil:
		f.base.at.set(w, uint64(a.Reg))
		switch {
		case f.wide && a.Reg == RZ && a.Suffix == "" && f.desc == nil:
			f.base.suffAt.set(w, w.bit(eBit))
		case f.base.suffix != nil:
			found := false
			for _, e := range f.base.suffix.order {
				if e.text == a.Suffix {
					f.base.suffAt.set(w, e.value)
					found = true
					break
				}
			}
			if !found {
				return markError("%s cannot have this suffix here", a.text)
			}
		case a.Suffix != "":
			return markError("%s cannot have a suffix here", a.text)
		}
	}
	v := a.Operand.Imm
	if f.offset == nil {
		if v != 0 {
			return fmt.Errorf("%s cannot have an offset here", a.text)
		}
		return nil
	}
	n := f.offset.at.width()
	if v%f.offset.scale != 0 {
		return fmt.Errorf("the offset of %s must be a multiple of %d", a.text, f.offset.scale)
	}
	v /= f.offset.scale
	if !fits(v, n, true) && !(a.Reg == RZ && !a.HasU && fits(v, n, false)) {
		return fmt.Errorf("the offset of %s is out of range: %d bits", a.text, n)
	}
	f.offset.at.set(w, uint64(v))
	return nil
}
