package micro

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: enhanced_execution_info.json, an object of benchmark_name and kernels,
// a list of functions. The misspelt keys are those of the files.

type jsonFunction struct {
	Name     string     `json:"kernel_name"`
	Arch     int32      `json:"architecture_version"`
	Captured bool       `json:"is_captured_from_binary"`
	ID       int32      `json:"unique_function_id"`
	Address  uint64     `json:"function_address"`
	Insts    []jsonInst `json:"instructions"`
}

type jsonInst struct {
	PCHex      string        `json:"pc_string_hex"`
	PC         uint32        `json:"pc_num_dec"`
	Op         string        `json:"op_code"`
	Predicated bool          `json:"is_predicated"`
	Uniform    bool          `json:"is_uniform_predicate"`
	Negate     bool          `json:"is_predicate_negate"`
	Predicate  int           `json:"predicate_register"`
	Dsts       int           `json:"num_destination_registers"`
	Words      []string      `json:"encoded_instruction"` // low, high
	Operands   []jsonOperand `json:"operands"`
	Control    jsonControl   `json:"control_bits"`
	Usage      jsonUsage     `json:"register_usage"`
}

type jsonOperand struct {
	Text      string    `json:"operand_string"`
	Type      string    `json:"operand_type"`
	HasReg    bool      `json:"has_reg"`
	Negative  bool      `json:"is_negative_reg"`
	Absolute  bool      `json:"is_absolute_reg"`
	Reg       int       `json:"operand_reg_number"`
	HasImm    bool      `json:"has_inmediate"`
	Imms      []float64 `json:"operand_inmmediates"`
	Reuse     bool      `json:"is_reuse_bit_set"`
	Modifiers []string  `json:"operand_modifiers"`
}

type jsonControl struct {
	Stall    int  `json:"stall_count"`
	Yield    bool `json:"is_yield"`
	NewRead  bool `json:"is_new_read_barrier"`
	NewWrite bool `json:"is_new_write_barrier"`
	Read     int  `json:"id_new_read_barrier"`
	Write    int  `json:"id_new_write_barrier"`
	Wait     int  `json:"wait_barrier_bits"`
}

// jsonUsage counts live registers. They are unknown here and written as zeros.
type jsonUsage struct {
	Regular                int `json:"num_regular"`
	Uniform                int `json:"num_uniform"`
	Predicate              int `json:"num_regular_predicate"`
	UniformPredicate       int `json:"num_uniform_predicate"`
	FutureRegular          int `json:"future_max_num_regular"`
	FutureUniform          int `json:"future_max_num_uniform"`
	FuturePredicate        int `json:"future_max_num_regular_predicate"`
	FutureUniformPredicate int `json:"future_max_num_uniform_predicate"`
}

// getCode reads the static code of all functions, in ascending order of
// function and pc.
func getCode(r io.Reader) ([]trace.Static, error) {
	d := json.NewDecoder(r)
	var code []trace.Static
	// The file may have gigabytes, so functions are read one at a time.
	if err := open(d, '{'); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		if key != "kernels" {
			var skip json.RawMessage
			if err := d.Decode(&skip); err != nil {
				return nil, err
			}
			continue
		}
		if err := open(d, '['); err != nil {
			return nil, err
		}
		for d.More() {
			var f jsonFunction
			if err := d.Decode(&f); err != nil {
				return nil, err
			}
			for i := range f.Insts {
				s, err := f.Insts[i].static(&f)
				if err != nil {
					return nil, fmt.Errorf("function %d (%s), instruction %d at pc %#x: %w", f.ID, f.Name, i+1, f.Insts[i].PC, err)
				}
				code = append(code, s)
			}
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(code, byPlace)
	for i := 1; i < len(code); i++ {
		if byPlace(code[i-1], code[i]) == 0 {
			return nil, fmt.Errorf("function %d has two instructions at pc %#x", code[i].Func, code[i].PC)
		}
	}
	return code, nil
}

func byPlace(a, b trace.Static) int {
	if c := cmp.Compare(a.Func, b.Func); c != 0 {
		return c
	}
	return cmp.Compare(a.PC, b.PC)
}

// open reads the bracket with which a value must begin.
func open(d *json.Decoder, bracket json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != bracket {
		return fmt.Errorf("found %v, want %v", t, bracket)
	}
	return nil
}

// static returns an instruction of the file. Only functions that were found in the
// binary have control bits; others have zeros.
func (j *jsonInst) static(f *jsonFunction) (trace.Static, error) {
	s := trace.Static{Func: f.ID, PC: j.PC, Op: j.Op}
	if j.Op == "" {
		return s, fmt.Errorf("it has no op_code")
	}
	reuse, err := j.operands(&s)
	if err != nil {
		return s, err
	}
	switch {
	case j.Predicated:
		if j.Predicate < 0 || j.Predicate > 7 {
			return s, fmt.Errorf("its guard is predicate %d; want 0 to 7", j.Predicate)
		}
		s.Guard = trace.Guard{Known: true, Negated: j.Negate, Uniform: j.Uniform, Reg: uint8(j.Predicate)}
	case f.Captured:
		s.Guard = trace.Guard{Known: true, Reg: 7}
	}
	if g := guardText(s.Guard); g != "" {
		s.Text = g + " " + s.Text
	}
	if !f.Captured {
		return s, nil
	}
	return s, j.encoding(&s, reuse)
}

// operands sets the registers, constants and text of an instruction, and returns the
// general sources that are marked for reuse.
func (j *jsonInst) operands(s *trace.Static) (reuse uint8, err error) {
	text := make([]string, len(j.Operands))
	general := 0 // sources of the general file so far
	for i := range j.Operands {
		o := &j.Operands[i]
		text[i] = o.Text
		regs := registers(o.Text)
		if len(regs) == 0 && o.HasReg {
			if file, ok := regFiles[o.Type]; ok && o.Reg >= 0 && o.Reg <= math.MaxUint8 {
				regs = []trace.Reg{{File: file, N: uint16(o.Reg)}}
			}
		}
		if i < j.Dsts && !strings.Contains(o.Text, "[") {
			s.Dsts = append(s.Dsts, regs...)
			continue
		}
		for _, r := range regs {
			if r.File != isa.RegGPR {
				continue
			}
			if (o.Reuse || strings.Contains(o.Text, ".reuse")) && general < 8 {
				reuse |= 1 << general
			}
			general++
		}
		s.Srcs = append(s.Srcs, regs...)
		if o.Type == "IMM_UINT64" {
			v, err := o.integer()
			if err != nil {
				return 0, err
			}
			s.Imms = append(s.Imms, v)
		}
	}
	s.Text = j.Op
	if len(text) > 0 {
		s.Text += " " + strings.Join(text, ", ")
	}
	return reuse, nil
}

// encoding sets the words and the control bits of an instruction.
func (j *jsonInst) encoding(s *trace.Static, reuse uint8) error {
	if len(j.Words) != 2 {
		return fmt.Errorf("its encoded_instruction has %d words; want 2", len(j.Words))
	}
	for i, w := range j.Words {
		v, err := strconv.ParseUint(w, 0, 64)
		if err != nil {
			return fmt.Errorf("its encoded_instruction has %q; want a 64-bit number", w)
		}
		s.Words[i] = v
	}
	c := &j.Control
	read, write := isa.NoCounter, isa.NoCounter
	if c.NewRead {
		read = c.Read
	}
	if c.NewWrite {
		write = c.Write
	}
	if c.Stall < 0 || c.Stall > 15 || c.Wait < 0 || c.Wait > 63 || badCounter(read) || badCounter(write) {
		return fmt.Errorf("its control bits are out of range: stall %d (0 to 15), wait %d (0 to 63), read %d and write %d (0 to 5, 7 for none)",
			c.Stall, c.Wait, read, write)
	}
	s.Control = &isa.Control{Stall: uint8(c.Stall), Yield: c.Yield, Read: uint8(read), Write: uint8(write), Wait: uint8(c.Wait), Reuse: reuse}
	return nil
}

func badCounter(n int) bool { return (n < 0 || n >= isa.Counters) && n != isa.NoCounter }

// integer returns the value of an immediate operand. Its text is exact where a
// floating-point number may not be.
func (o *jsonOperand) integer() (int64, error) {
	if v, err := strconv.ParseInt(o.Text, 0, 64); err == nil {
		return v, nil
	}
	if v, err := strconv.ParseUint(o.Text, 0, 64); err == nil {
		return int64(v), nil
	}
	if len(o.Imms) == 1 && math.Abs(o.Imms[0]) < 1<<63 {
		return int64(o.Imms[0]), nil
	}
	return 0, fmt.Errorf("its operand %q is not a number", o.Text)
}

// regFiles are the operand types that are registers.
var regFiles = map[string]isa.RegFile{"REG": isa.RegGPR, "UREG": isa.RegUGPR, "PRED": isa.RegPred, "UPRED": isa.RegUPred}

// registers returns the registers that a text names, in order: R3, RZ, UR4, URZ,
// P0, PT, UP2, UPT, each as a separate word.
func registers(s string) (list []trace.Reg) {
	for i := 0; i < len(s); {
		if !isWord(s[i]) {
			i++
			continue
		}
		n := i
		for n < len(s) && isWord(s[n]) {
			n++
		}
		if r, ok := register(s[i:n]); ok && (i == 0 || s[i-1] != '.') {
			list = append(list, r)
		}
		i = n
	}
	return list
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

func register(w string) (trace.Reg, bool) {
	r := trace.Reg{}
	rest, uniform := strings.CutPrefix(w, "U")
	zero, none := uint16(255), ""
	switch {
	case strings.HasPrefix(rest, "R"):
		r.File, none = isa.RegGPR, "Z"
		if uniform {
			r.File, zero = isa.RegUGPR, 63
		}
	case strings.HasPrefix(rest, "P"):
		r.File, zero, none = isa.RegPred, 7, "T"
		if uniform {
			r.File = isa.RegUPred
		}
	default:
		return r, false
	}
	if rest = rest[1:]; rest == none {
		r.N = zero
		return r, true
	}
	n, err := strconv.ParseUint(rest, 10, 8)
	r.N = uint16(n)
	return r, err == nil && rest == strconv.FormatUint(n, 10)
}

// registerText returns the name of a register: 255 is RZ, for uniform registers 63
// is URZ, 7 is PT and UPT.
func registerText(r trace.Reg) string {
	switch {
	case r.File == isa.RegGPR && r.N == 255:
		return "RZ"
	case r.File == isa.RegUGPR && r.N == 63:
		return "URZ"
	case r.File == isa.RegPred && r.N == 7:
		return "PT"
	case r.File == isa.RegUPred && r.N == 7:
		return "UPT"
	}
	return r.String()
}

func guardText(g trace.Guard) string {
	if !g.Known || g.Reg == 7 && !g.Negated && !g.Uniform {
		return ""
	}
	s := "@"
	if g.Negated {
		s += "!"
	}
	file := isa.RegPred
	if g.Uniform {
		file = isa.RegUPred
	}
	return s + registerText(trace.Reg{File: file, N: uint16(g.Reg)})
}

// operands returns the operands of an instruction as text, and how many of them are
// destinations. They come from the disassembly if it is known and names the
// registers that the trace has; otherwise they are made from these registers.
func operands(s *trace.Static) (list []string, dsts int) {
	rest := strings.TrimPrefix(s.Text, guardText(s.Guard))
	if rest, ok := strings.CutPrefix(strings.TrimSpace(rest), s.Op); ok && s.Text != "" {
		rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
		if rest = strings.TrimSpace(rest); rest != "" {
			for _, o := range strings.Split(rest, ",") {
				list = append(list, strings.TrimSpace(o))
			}
		}
		// Destinations come first: as many operands as cover their registers.
		var named []trace.Reg
		for dsts < len(list) && len(named) < len(s.Dsts) && !strings.Contains(list[dsts], "[") {
			named = append(named, registers(list[dsts])...)
			dsts++
		}
		var srcs []trace.Reg
		for _, o := range list[dsts:] {
			srcs = append(srcs, registers(o)...)
		}
		if slices.Equal(named, s.Dsts) && slices.Equal(srcs, s.Srcs) {
			return list, dsts
		}
	}
	list = nil
	for _, r := range s.Dsts {
		list = append(list, registerText(r))
	}
	for _, r := range s.Srcs {
		list = append(list, registerText(r))
	}
	for _, v := range s.Imms {
		list = append(list, hex(v))
	}
	return list, len(s.Dsts)
}

// hex formats a number as immediates are written.
func hex(v int64) string {
	if v < 0 {
		return "-0x" + strconv.FormatUint(-uint64(v), 16)
	}
	return "0x" + strconv.FormatInt(v, 16)
}

// operand builds an operand from its text.
func operand(text string) jsonOperand {
	o := jsonOperand{Text: text, Type: "GENERIC", Imms: []float64{}, Modifiers: []string{}}
	bare := strings.Trim(text, "-!~|+")
	word, modifiers, _ := strings.Cut(bare, ".")
	r, isReg := register(word)
	_, notInt := strconv.ParseInt(text, 0, 64)
	_, notUint := strconv.ParseUint(text, 0, 64)
	float, notFloat := strconv.ParseFloat(text, 64)
	switch {
	case isReg:
		for name, file := range regFiles {
			if file == r.File {
				o.Type = name
			}
		}
		o.HasReg, o.Reg = true, int(r.N)
		o.Negative = strings.ContainsAny(text[:1], "-!~")
		o.Absolute = strings.Contains(text, "|")
		if modifiers = strings.Trim(modifiers, "|"); modifiers != "" {
			o.Modifiers = strings.Split(modifiers, ".")
		}
		o.Reuse = slices.Contains(o.Modifiers, "reuse")
	case notInt == nil || notUint == nil:
		v, _ := o.integer()
		o.Type, o.HasImm, o.Imms = "IMM_UINT64", true, []float64{float64(v)}
	case notFloat == nil && !math.IsInf(float, 0) && !math.IsNaN(float):
		o.Type, o.HasImm, o.Imms = "IMM_DOUBLE", true, []float64{float}
	case strings.Contains(text, "desc["):
		o.Type = "DESC"
	case strings.Contains(text, "c["):
		o.Type = "CBANK"
		for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == '[' || c == ']' }) {
			if v, err := strconv.ParseInt(part, 0, 64); err == nil {
				o.HasImm, o.Imms = true, append(o.Imms, float64(v))
			}
		}
	case strings.Contains(text, "["):
		o.Type = "MREF"
	case strings.HasPrefix(word, "SR_"):
		o.Type = "SR"
		if modifiers != "" {
			o.Modifiers = strings.Split(modifiers, ".")
		}
	case strings.HasPrefix(word, "SB") && len(word) == 3:
		o.Type = "SB"
	case strings.HasPrefix(word, "B") && len(word) <= 3 && len(word) > 1:
		o.Type = "BREG"
	case strings.HasPrefix(text, "`("):
		o.Type = "CALL_TARGET"
	}
	return o
}

// put returns an instruction as stored in the file.
func put(s *trace.Static, captured bool) jsonInst {
	j := jsonInst{
		PCHex: fmt.Sprintf("%04x", s.PC), PC: s.PC, Op: s.Op,
		Words:    []string{fmt.Sprintf("0x%016x", s.Words[0]), fmt.Sprintf("0x%016x", s.Words[1])},
		Operands: []jsonOperand{},
		Control:  jsonControl{Read: isa.NoCounter, Write: isa.NoCounter},
	}
	if guardText(s.Guard) != "" {
		j.Predicated, j.Negate, j.Uniform, j.Predicate = true, s.Guard.Negated, s.Guard.Uniform, int(s.Guard.Reg)
	}
	texts, dsts := operands(s)
	j.Dsts = dsts
	for _, t := range texts {
		j.Operands = append(j.Operands, operand(t))
	}
	if !captured {
		return j
	}
	c := s.Control
	j.Control = jsonControl{
		Stall: int(c.Stall), Yield: c.Yield, Wait: int(c.Wait),
		Read: int(c.Read), NewRead: c.Read != isa.NoCounter, Write: int(c.Write), NewWrite: c.Write != isa.NoCounter,
	}
	general := 0
	for i := dsts; i < len(j.Operands); i++ {
		for _, r := range registers(j.Operands[i].Text) {
			if r.File == isa.RegGPR {
				j.Operands[i].Reuse = j.Operands[i].Reuse || c.Reuse>>general&1 == 1
				general++
			}
		}
	}
	return j
}
