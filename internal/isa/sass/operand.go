package sass

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/num"
)

// arg is an operand as written in the text, not yet matched with a form.
type arg struct {
	Operand
	text  string
	num   string // the digits of a number; their meaning depends on the form
	where numeral
	label string // a name that may be a label
	found bool   // it is a label: Imm is its address
	near  string // the most similar label, if it is not one
	col   int    // column in the line, from one
}

// numeral says where an operand's number is.
type numeral uint8

const (
	noNumber  numeral = iota
	inText            // in arg.num
	anInteger         // in Operand.Imm
	aFloat            // in Operand.Bits, those of a binary32
)

// digits is the number as text.
func (a *arg) digits() string {
	switch a.where {
	case anInteger:
		return hexInt(a.Operand.Imm)
	case aFloat:
		f := math.Float32frombits(uint32(a.Bits))
		switch {
		case f != f && a.Bits>>31 == 0:
			return "+QNAN"
		case f != f:
			return "-QNAN"
		case math.IsInf(float64(f), 0):
			return map[bool]string{true: "+INF", false: "-INF"}[f > 0]
		}
		return strconv.FormatFloat(float64(f), 'g', -1, 32)
	}
	return a.num
}

// integer is the number, if it is one.
func (a *arg) integer() (int64, error) {
	if a.where == anInteger {
		return a.Operand.Imm, nil
	}
	return parseInt(a.digits())
}

// float is the number as the bits of a float of a width.
func (a *arg) float(width int) (uint64, error) {
	if f := math.Float32frombits(uint32(a.Bits)); a.where == aFloat && width == 32 && f == f {
		return a.Bits, nil
	}
	return parseFloat(a.digits(), width)
}

var (
	descPattern = regexp.MustCompile(`^(g?desc)\[UR(\d+|Z)\](?:\.([A-Za-z.]+))?$`)
	numPattern  = regexp.MustCompile(`^[+-]?(0[xX][0-9a-fA-F]+|\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|INF|QNAN|SNAN)$`)
)

// naming is how the registers of a file are named: a prefix, then a number or the letter of the one that
// is always zero or true.
type naming struct {
	prefix string
	always byte // 0 if there is none
	one    bool // one digit, at most 6
}

var (
	regPattern   = naming{"R", 'Z', false}
	uregPattern  = naming{"UR", 'Z', false}
	predPattern  = naming{"P", 'T', true}
	upredPattern = naming{"UP", 'T', true}
	bregPattern  = naming{"B", 0, false}
	sbPattern    = naming{"SB", 0, false}
)

// digits is what follows the prefix in a name; ok says whether it is a register's.
func (n naming) digits(name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, n.prefix)
	if !ok || rest == "" {
		return "", false
	}
	if len(rest) == 1 && n.always != 0 && rest[0] == n.always {
		return rest, true
	}
	if n.one {
		return rest, len(rest) == 1 && rest[0] >= '0' && rest[0] <= '6'
	}
	for i := range len(rest) {
		if rest[i] < '0' || rest[i] > '9' {
			return "", false
		}
	}
	return rest, true
}

// matches reports whether a name is a register's.
func (n naming) matches(name string) bool {
	_, ok := n.digits(name)
	return ok
}

// number reads the number in a register's name.
func number(digits string, zero uint8, highest int) (uint8, error) {
	if digits == "Z" || digits == "T" {
		return zero, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > highest {
		return 0, fmt.Errorf("the highest is %d", highest)
	}
	return uint8(n), nil
}

// parseArgs splits the operands of an instruction and parses each as far as possible without
// knowing the form. col is the column of the text's first byte.
func parseArgs(text string, col int) ([]arg, *lineError) {
	var args []arg
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	at := 0
	for _, part := range splitOperands(text) {
		lead := len(part) - len(strings.TrimLeft(part, " \t"))
		body := strings.TrimSpace(part)
		c := col + at + lead
		at += len(part) + 1
		if body == "" {
			return nil, &lineError{c, 1, "an operand is missing here", ""}
		}
		// R2 0x0: a second operand after a space.
		tail := false
		for _, piece := range splitSpaces(body) {
			a, err := parseArg(piece.text)
			a.col, a.text, a.Tail = c+piece.at, piece.text, tail
			if err != nil {
				return nil, &lineError{a.col, len(piece.text), err.Error(), ""}
			}
			args = append(args, a)
			tail = true
		}
	}
	return args, nil
}

type piece struct {
	text string
	at   int
}

// splitSpaces splits "R2 0x0" in two; spaces in brackets and between a constant bank and its
// offset stay.
func splitSpaces(s string) []piece {
	var out []piece
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{', '|':
			if s[i] != '|' {
				depth++
			}
		case ']', '}':
			depth--
		case ' ', '\t':
			rest := strings.TrimLeft(s[i:], " \t")
			if depth == 0 && rest != "" && rest[0] != '[' && rest[0] != '.' {
				if i > from {
					out = append(out, piece{s[from:i], from})
				}
				from = i + 1
			}
		}
	}
	return append(out, piece{strings.TrimSpace(s[from:]), from})
}

func parseArg(text string) (arg, error) {
	var a arg
	a.Reg, a.UReg, a.Desc = RZ, URZ, URZ
	s := strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "\t", "")
	if s != "" && strings.IndexByte("0123456789+-.IQS", s[0]) >= 0 && numPattern.MatchString(s) {
		a.Kind, a.num, a.where = Imm, s, inText
		return a, nil
	}
	if strings.HasPrefix(s, "-") {
		a.Neg, s = true, s[1:]
	}
	if strings.HasPrefix(s, "!") || strings.HasPrefix(s, "~") {
		a.Not = true
		s = s[1:]
	}
	if strings.HasPrefix(s, "|") {
		rest := s[1:]
		n := strings.Index(rest, "|")
		if n < 0 {
			return a, fmt.Errorf("%q has no closing bar", text)
		}
		a.Abs = true
		s = rest[:n] + rest[n+1:]
	}
	switch {
	case s == "":
		return a, fmt.Errorf("%q is not an operand", text)
	case s[0] == '{':
		return a, a.parseMask(s)
	case strings.HasPrefix(s, "c[") || strings.HasPrefix(s, "cx["):
		return a, a.parseConst(s)
	case (s[0] == 'd' || s[0] == 'g') && descPattern.MatchString(s):
		return a, a.parseDesc(s)
	case s[0] == '[' || strings.HasPrefix(s, "desc[") || strings.HasPrefix(s, "desc0["):
		return a, a.parseMem(s)
	case strings.HasPrefix(s, "SR"):
		if n, ok := Special(s); ok {
			a.Kind, a.Reg = SReg, n
			return a, nil
		}
	}
	return a, a.parseName(s)
}

// parseName reads registers, and words whose meaning depends on the form.
func (a *arg) parseName(s string) error {
	parts := strings.Split(s, ".")
	name := parts[0]
	var err error
	set := func(k Kind, n naming, zero uint8, highest int) {
		a.Kind = k
		digits, _ := n.digits(name)
		if a.Reg, err = number(digits, zero, highest); err != nil {
			err = fmt.Errorf("%s does not exist: %w", name, err)
		}
	}
	switch {
	case regPattern.matches(name):
		set(Reg, regPattern, RZ, 254)
	case uregPattern.matches(name):
		set(UReg, uregPattern, URZ, 254)
	case predPattern.matches(name):
		set(Pred, predPattern, PT, 6)
	case upredPattern.matches(name):
		set(UPred, upredPattern, PT, 6)
	case bregPattern.matches(name):
		set(BReg, bregPattern, 0, 15)
	case sbPattern.matches(name):
		set(SB, sbPattern, 0, 5)
	default:
		a.Kind, a.Suffix, a.label = Word, s, s
		return nil
	}
	for _, p := range parts[1:] {
		switch {
		case p == "reuse" && a.Kind == Reg:
			a.Reuse = true
		case a.Suffix == "" && p != "":
			a.Suffix = p
		default:
			return fmt.Errorf("%q has too many suffixes", s)
		}
	}
	return err
}

func (a *arg) parseMask(s string) error {
	a.Kind = Mask
	if !strings.HasSuffix(s, "}") {
		return fmt.Errorf("%q has no closing brace", s)
	}
	if s == "{}" {
		return nil
	}
	for _, p := range strings.Split(s[1:len(s)-1], ",") {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 5 {
			return fmt.Errorf("%q is not a dependence counter; want 0 to 5", p)
		}
		a.Imm |= 1 << n
	}
	return nil
}

// brackets splits x[one][two] into its parts.
func brackets(s string) ([]string, bool) {
	var out []string
	for s != "" {
		if s[0] != '[' {
			return out, false
		}
		n := strings.IndexByte(s, ']')
		if n < 0 {
			return out, false
		}
		out = append(out, s[1:n])
		s = s[n+1:]
		if strings.HasPrefix(s, ".") { // a suffix of the whole operand
			return append(out, s), true
		}
	}
	return out, true
}

func (a *arg) parseConst(s string) error {
	a.Kind = Const
	rest, bindless := strings.CutPrefix(s, "cx")
	if !bindless {
		rest = strings.TrimPrefix(s, "c")
	}
	parts, ok := brackets(rest)
	if ok && len(parts) == 3 && strings.HasPrefix(parts[2], ".") {
		a.Suffix = parts[2][1:]
		parts = parts[:2]
	}
	if !ok || len(parts) != 2 {
		return fmt.Errorf("%q is not a constant; want the form c[0x0][0x160]", s)
	}
	if digits, ok := uregPattern.digits(parts[0]); bindless && ok {
		n, err := number(digits, URZ, 254)
		if err != nil {
			return err
		}
		a.UReg, a.HasU, a.CX = n, true, true
	} else {
		v, err := parseInt(parts[0])
		if bindless || err != nil || v < 0 || v > 31 {
			return fmt.Errorf("%q is not a constant bank; want 0 to 31", parts[0])
		}
		a.Bank = uint8(v)
	}
	for _, term := range terms(parts[1]) {
		if digits, ok := regPattern.digits(term); ok {
			n, err := number(digits, RZ, 254)
			if err != nil {
				return err
			}
			a.Reg = n
			continue
		}
		if digits, ok := uregPattern.digits(term); ok && !bindless {
			n, err := number(digits, URZ, 254)
			if err != nil {
				return err
			}
			a.UReg, a.HasU = n, true
			continue
		}
		v, err := parseInt(term)
		if err != nil {
			return fmt.Errorf("%q is not a valid offset in a constant bank", parts[1])
		}
		a.Imm += v
	}
	return nil
}

// terms splits R2.64+UR4+-0x10 at its plus signs.
func terms(s string) []string {
	var out []string
	for _, t := range strings.Split(s, "+") {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// descShown and descHidden are the two ways in which a word can say that it uses a
// descriptor: with and without bit 101, which only affects what older disassemblers print.
// descMatrix is for descriptors of matrices in shared memory.
const (
	descShown  = "desc"
	descHidden = "desc0"
	descMatrix = "gdesc"
)

// parseDesc reads a descriptor that no address follows.
func (a *arg) parseDesc(s string) error {
	m := descPattern.FindStringSubmatch(s)
	a.Kind, a.Suffix = Desc, m[3]
	if m[1] == descMatrix {
		a.Kind = GDesc
	}
	var err error
	a.Reg, err = number(m[2], URZ, 254)
	return err
}

func (a *arg) parseMem(s string) error {
	a.Kind = Mem
	rest := s
	for _, prefix := range []string{descHidden, descShown} {
		if r, ok := strings.CutPrefix(s, prefix+"["); ok {
			rest, a.HasD, a.Hidden = "["+r, true, prefix == descHidden
			break
		}
	}
	parts, ok := brackets(rest)
	if !ok || a.HasD && len(parts) != 2 || !a.HasD && len(parts) != 1 {
		return fmt.Errorf("%q is not an address", s)
	}
	if a.HasD {
		digits, ok := uregPattern.digits(parts[0])
		if !ok {
			return fmt.Errorf("%q is not a uniform register for a descriptor", parts[0])
		}
		n, err := number(digits, URZ, 254)
		if err != nil {
			return err
		}
		a.Desc = n
	}
	body := parts[len(parts)-1]
	if body == "" {
		return fmt.Errorf("%q contains no address", s)
	}
	list := terms(body)
	for i, t := range list {
		name, suffix, _ := strings.Cut(t, ".")
		switch {
		case regPattern.matches(name) && i == 0:
			digits, _ := regPattern.digits(name)
			n, err := number(digits, RZ, 254)
			if err != nil {
				return fmt.Errorf("%s does not exist: %w", name, err)
			}
			a.Reg, a.Suffix = n, suffix
		case uregPattern.matches(name) && !a.HasU && suffix == "":
			digits, _ := uregPattern.digits(name)
			n, err := number(digits, URZ, 254)
			if err != nil {
				return fmt.Errorf("%s does not exist: %w", name, err)
			}
			a.UReg, a.HasU = n, true
		default:
			v, err := parseInt(t)
			if err != nil || i != len(list)-1 {
				return fmt.Errorf("%q is not part of an address", t)
			}
			a.Imm = v
		}
	}
	return nil
}

// parseInt reads a decimal or hexadecimal number with a sign.
func parseInt(s string) (int64, error) {
	neg := strings.HasPrefix(s, "-")
	v, err := strconv.ParseUint(strings.TrimLeft(s, "+-"), 0, 64)
	if err != nil || len(s) > 1 && strings.ContainsAny(s[1:], "+-") {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if neg {
		if v > 1<<63 {
			return 0, fmt.Errorf("%q is out of range", s)
		}
		return -int64(v), nil
	}
	if v > math.MaxInt64 {
		return 0, fmt.Errorf("%q is out of range", s)
	}
	return int64(v), nil
}

// parseFloat reads a floating-point immediate of a width as bits: a decimal number, INF,
// QNAN, or the bits themselves in hexadecimal. The lower 32 bits of a double must be zero,
// since they are not encoded.
func parseFloat(s string, width int) (uint64, error) {
	sign := uint64(0)
	body := strings.TrimLeft(s, "+-")
	if strings.HasPrefix(s, "-") {
		sign = 1 << (width - 1)
	}
	low := strings.ToLower(body)
	switch {
	case strings.HasPrefix(low, "0x"):
		v, err := strconv.ParseUint(low[2:], 16, width)
		if err != nil {
			return 0, fmt.Errorf("%s has more than %d bits", s, width)
		}
		return v ^ sign, nil
	case low == "inf":
		switch width {
		case 16:
			return sign | 0x7c00, nil
		case 32:
			return sign | 0x7f800000, nil
		}
		return sign | 0x7ff0000000000000, nil
	case low == "qnan" || low == "snan":
		if low == "snan" {
			return 0, fmt.Errorf("%s: write a signalling NaN as its bits in hexadecimal", s)
		}
		return sign | quietNaN(width), nil
	}
	switch width {
	case 16:
		return parseNarrow(s, num.F64ToF16)
	case 32:
		x, err := strconv.ParseFloat(body, 32)
		if err != nil {
			return 0, fmt.Errorf("%s does not fit into 32 bits", s)
		}
		return sign | uint64(math.Float32bits(float32(x))), nil
	}
	x, err := strconv.ParseFloat(body, 64)
	if err != nil {
		return 0, fmt.Errorf("%s does not fit into 64 bits", s)
	}
	return sign | math.Float64bits(x), nil
}

// parseNarrow reads a decimal number of 16 bits: the nearest double, rounded to nearest even.
func parseNarrow(s string, round func(uint64, num.Round) uint16) (uint64, error) {
	x, err := strconv.ParseFloat(s, 64)
	h := round(math.Float64bits(x), num.RN)
	if err != nil || math.IsInf(x, 0) || h&0x7fff == round(math.Float64bits(math.Inf(1)), num.RN) {
		return 0, fmt.Errorf("%s does not fit into 16 bits", s)
	}
	return uint64(h), nil
}
