package kasm

// Op is an opcode, the top byte of an instruction word, in the numbering of
// the core's RTL.
type Op uint8

// The opcodes of the hardware; additional ones are in extra.go. Every other number is an
// operation of the integer unit that yields zero.
const (
	NOP   Op = 0x00
	ADD   Op = 0x01
	SUB   Op = 0x02
	MUL   Op = 0x03
	SLT   Op = 0x04
	IMAD  Op = 0x05
	NEG   Op = 0x06
	MOV   Op = 0x07
	LDR   Op = 0x10
	STR   Op = 0x11
	LDS   Op = 0x12
	STS   Op = 0x13
	BEQ   Op = 0x20
	BNE   Op = 0x21
	BRA   Op = 0x22
	SSY   Op = 0x23
	JOIN  Op = 0x24
	BAR   Op = 0x25
	TID   Op = 0x26
	CALL  Op = 0x27
	RET   Op = 0x28
	FADD  Op = 0x30
	FSUB  Op = 0x31
	FMUL  Op = 0x32
	FDIV  Op = 0x33
	FTOI  Op = 0x34
	FFMA  Op = 0x35
	IDIV  Op = 0x36
	IREM  Op = 0x37
	IABS  Op = 0x38
	IMIN  Op = 0x39
	IMAX  Op = 0x3a
	FMIN  Op = 0x3b
	FMAX  Op = 0x3c
	FABS  Op = 0x3d
	ITOF  Op = 0x3e
	SIN   Op = 0x40
	COS   Op = 0x41
	EX2   Op = 0x42
	LG2   Op = 0x43
	RCP   Op = 0x44
	RSQ   Op = 0x45
	SQRT  Op = 0x46
	TANH  Op = 0x47
	AND   Op = 0x50
	OR    Op = 0x51
	XOR   Op = 0x52
	NOT   Op = 0x53
	FNEG  Op = 0x54
	SHL   Op = 0x60
	SHR   Op = 0x61
	SHA   Op = 0x62
	POPC  Op = 0x68
	CLZ   Op = 0x69
	BREV  Op = 0x6a
	CNOT  Op = 0x6b
	SLE   Op = 0x70
	SEQ   Op = 0x71
	ISETP Op = 0x80
	FSETP Op = 0x81
	SELP  Op = 0x82
	EXIT  Op = 0xff
)

// form is how an operation's operands are written.
type form uint8

const (
	formNone   form = iota // the opcode is unknown
	formPlain              // Rd, Rs1, Rs2, Rs3, imm, any of them left out
	formLoad               // Rd, [Rs1 + imm]
	formStore              // [Rs1 + imm], Rs2
	formBranch             // Rs1, Rs2, label
	formJump               // label
	formSetp               // .cc Pd, Rs1, Rs2
	formSelp               // Rd, Rs1, Rs2, Pn
	formAtomic             // Rd, [Rs1 + imm], Rs2
	formCas                // Rd, [Rs1 + imm], Rs2, Rs3
	formRast               // Pd, Rs1
	formTex                // Rd, Rs1, Rs2, [Rs3], width x height
)

// opInfo is one line of the instruction set.
type opInfo struct {
	name      string
	form      form
	datasheet int // the number in the datasheet's table 3, or -1
}

// ops is the instruction set by opcode: name, text form, and the number in the datasheet, if
// it prints one.
var ops = func() (t [256]opInfo) {
	for i := range t {
		t[i].datasheet = -1
	}
	plain := func(list map[Op]string) {
		for op, name := range list {
			t[op] = opInfo{name, formPlain, -1}
		}
	}
	plain(map[Op]string{
		SLT: "SLT", IMAD: "IMAD", NEG: "NEG", MOV: "MOV", TID: "TID",
		FADD: "FADD", FSUB: "FSUB", FMUL: "FMUL", FDIV: "FDIV", FTOI: "FTOI", FFMA: "FFMA",
		IDIV: "IDIV", IREM: "IREM", IABS: "IABS", IMIN: "IMIN", IMAX: "IMAX",
		FMIN: "FMIN", FMAX: "FMAX", FABS: "FABS", ITOF: "ITOF",
		SIN: "SIN", COS: "COS", EX2: "EX2", LG2: "LG2", RCP: "RCP", RSQ: "RSQ", SQRT: "SQRT", TANH: "TANH",
		NOT: "NOT", FNEG: "FNEG", SHL: "SHL", SHR: "SHR", SHA: "SHA",
		POPC: "POPC", CLZ: "CLZ", BREV: "BREV", CNOT: "CNOT", SLE: "SLE", SEQ: "SEQ",
	})
	t[ISETP] = opInfo{"ISETP", formSetp, -1}
	t[FSETP] = opInfo{"FSETP", formSetp, -1}
	t[SELP] = opInfo{"SELP", formSelp, -1}
	t[NOP] = opInfo{"NOP", formPlain, 0x00}
	t[ADD] = opInfo{"ADD", formPlain, 0x01}
	t[SUB] = opInfo{"SUB", formPlain, 0x02}
	t[MUL] = opInfo{"MUL", formPlain, 0x03}
	t[AND] = opInfo{"AND", formPlain, 0x10}
	t[OR] = opInfo{"OR", formPlain, 0x11}
	t[XOR] = opInfo{"XOR", formPlain, 0x12}
	t[LDR] = opInfo{"LDR", formLoad, 0x20}
	t[STR] = opInfo{"STR", formStore, 0x21}
	t[LDS] = opInfo{"LDS", formLoad, 0x22}
	t[STS] = opInfo{"STS", formStore, 0x23}
	t[BRA] = opInfo{"BRA", formJump, 0x24}
	t[BEQ] = opInfo{"BEQ", formBranch, 0x25}
	t[BNE] = opInfo{"BNE", formBranch, 0x26}
	t[CALL] = opInfo{"CALL", formJump, 0x27}
	t[RET] = opInfo{"RET", formPlain, 0x28}
	t[SSY] = opInfo{"SSY", formJump, 0x29}
	t[JOIN] = opInfo{"JOIN", formPlain, 0x2a}
	t[BAR] = opInfo{"BAR", formPlain, 0x2b}
	t[EXIT] = opInfo{"EXIT", formPlain, 0x2c}
	addExtras(&t)
	return t
}()

// byName finds opcodes by mnemonic.
var byName = func() map[string]Op {
	m := map[string]Op{}
	for i, o := range ops {
		if o.form != formNone {
			m[o.name] = Op(i)
		}
	}
	return m
}()

// Known reports whether the core has an operation with this number.
func (op Op) Known() bool { return ops[op].form != formNone }

// String returns the mnemonic, or the number of an unknown operation.
func (op Op) String() string {
	if op.Known() {
		return ops[op].name
	}
	const digits = "0123456789abcdef"
	return "op 0x" + digits[op>>4:op>>4+1] + digits[op&15:op&15+1]
}

// Ops returns every known opcode, in the order of their numbers.
func Ops() []Op {
	var list []Op
	for i, o := range ops {
		if o.form != formNone {
			list = append(list, Op(i))
		}
	}
	return list
}

// Encoding is a numbering of the operations.
type Encoding uint8

// The two numberings. They differ in the opcode byte only.
const (
	// RTL is the numbering that the core decodes.
	RTL Encoding = iota
	// Datasheet uses the numbers that table 3 of the core's datasheet prints; operations that
	// the table leaves out keep the core's numbers. TID has none there: the table gives its
	// number to BNE.
	Datasheet
)

// EncodingByName finds a numbering: rtl or datasheet.
func EncodingByName(name string) (Encoding, bool) {
	switch name {
	case "rtl":
		return RTL, true
	case "datasheet":
		return Datasheet, true
	}
	return RTL, false
}

func (e Encoding) String() string {
	if e == Datasheet {
		return "datasheet"
	}
	return "rtl"
}

// toDatasheet is the datasheet's number of each operation, -1 if it has none; fromDatasheet
// is the inverse.
var toDatasheet, fromDatasheet = func() (to, from [256]int16) {
	for i := range to {
		to[i], from[i] = -1, -1
	}
	for i, o := range ops {
		if o.datasheet >= 0 {
			to[i] = int16(o.datasheet)
			from[o.datasheet] = int16(i)
		}
	}
	for i, o := range ops {
		if o.form != formNone && o.datasheet < 0 && from[i] < 0 {
			to[i], from[i] = int16(i), int16(i)
		}
	}
	return to, from
}()

// number returns the operation's opcode byte in a numbering; ok is false if it has none.
func (e Encoding) number(op Op) (byte, bool) {
	if e == RTL {
		return byte(op), true
	}
	n := toDatasheet[op]
	return byte(n), n >= 0
}

// op returns the operation of an opcode byte; ok is false if the numbering has none.
func (e Encoding) op(n byte) (Op, bool) {
	if e == RTL {
		return Op(n), Op(n).Known()
	}
	i := fromDatasheet[n]
	return Op(i), i >= 0
}
