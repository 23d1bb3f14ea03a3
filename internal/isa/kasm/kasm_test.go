package kasm_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// word puts an instruction together from the field widths of the format.
func word(op, rd, rs1, rs2, guard, rs3, imm uint64) uint64 {
	return op<<56 | rd<<48 | rs1<<40 | rs2<<32 | guard<<28 | rs3<<20 | imm&0xfffff
}

func TestAssemble(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
	}{
		{"NOP", word(0, 0, 0, 0, 7, 0, 0)},
		{"ADD R5, R1, R2, R0, 0", word(1, 5, 1, 2, 7, 0, 0)},
		{"ADD R5, R1, -3", word(1, 5, 1, 0, 7, 0, 0xffffd)},
		{"MOV R2, R20, R0, R0, 0x2000", word(7, 2, 20, 0, 7, 0, 8192)},
		{"IMAD R1,R2,R3,R63", word(5, 1, 2, 3, 7, 63, 0)},
		{"@P1 TID R40", word(0x26, 40, 0, 0, 1, 0, 0)},
		{"@!P3 neg r1, r2", word(6, 1, 2, 0, 11, 0, 0)},
		{"@!P7 EXIT", word(0xff, 0, 0, 0, 15, 0, 0)},
		{"LDR R7, [R14 + 0] rs2=15", word(0x10, 7, 14, 15, 7, 0, 0)},
		{"LDS R7, [R14]", word(0x12, 7, 14, 0, 7, 0, 0)},
		{"LDS R7, [R14 - 4]", word(0x12, 7, 14, 0, 7, 0, 0xffffc)},
		{"LDS R7, [R14 + -4]", word(0x12, 7, 14, 0, 7, 0, 0xffffc)},
		{"STR [R5 + 128], R3 rd=50", word(0x11, 50, 5, 3, 7, 0, 128)},
		{"STS [R5+0x10], R3 ; comment", word(0x13, 0, 5, 3, 7, 0, 16)},
		{"BEQ R1, R15, 6", word(0x20, 0, 1, 15, 7, 0, 6)},
		{"BRA -2 # back", word(0x22, 0, 0, 0, 7, 0, 0xffffe)},
		{"ISETP.LT P1, R1, R2 rd=17", word(0x80, 17, 1, 2, 7, 0, 2)},
		{"FSETP.GE P7, R1, R2", word(0x81, 7, 1, 2, 7, 0, 5)},
		{"SELP R9, R2, R3, P6 rs3=255", word(0x82, 9, 2, 3, 7, 255, 6)},
		{"BAR imm=0xfffff rs1=1, rs2=2", word(0x25, 0, 1, 2, 7, 0, 0xfffff)},
		{"ATOM.ADD R1, [R2 + 8], R3", word(0x90, 1, 2, 3, 7, 0, 8)},
		{"@P2 atom.cas R1, [R2], R3, R4", word(0x97, 1, 2, 3, 2, 4, 0)},
		{"ATOMS.EXCH R1, [R2 - 4], R3 rs3=9", word(0x9e, 1, 2, 3, 7, 9, 0xffffc)},
		{"TRI R1, R2, R3, R4", word(0xa0, 1, 2, 3, 7, 4, 0)},
		{"RAST P3, R5", word(0xa1, 3, 5, 0, 7, 0, 0)},
		{"RAST P3, R5 rd=19 rs2=1 imm=2", word(0xa1, 19, 5, 1, 7, 0, 2)},
		{"BARY R1, R5", word(0xa2, 1, 5, 0, 7, 0, 0)},
		{"INTP R1, R2, R3, R4", word(0xa3, 1, 2, 3, 7, 4, 0)},
		{"TEX R1, R2, R3, [R4], 64x32", word(0xa4, 1, 2, 3, 7, 4, 0x56)},
		{"TEX.BILINEAR.CLAMP R1, R2, R3, [R4], 1X32768", word(0xa4, 1, 2, 3, 7, 4, 0x3f0)},
		{"TEX.clamp.nearest R1, R2, R3, [R4], 8x8", word(0xa4, 1, 2, 3, 7, 4, 0x233)},
		{"SMID R7", word(0xa5, 7, 0, 0, 7, 0, 0)},
		{".word 0xdeadbeefcafef00d", 0xdeadbeefcafef00d},
		{"SHL R1, R2, 010", word(0x60, 1, 2, 0, 7, 0, 10)},
	} {
		p, err := kasm.Assemble("t.kasm", c.text, kasm.RTL)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if len(p.Words) != 1 || p.Words[0] != c.want {
			t.Errorf("%s: %016x, want %016x", c.text, p.Words, c.want)
		}
	}
}

func TestLabels(t *testing.T) {
	p, err := kasm.Assemble("t.kasm", "start: NOP\n\n# note\na: b:\n  BNE R1, R2, start\n SSY end ; x\r\n CALL a\n BRA a imm=3\nend:\n", kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint64{
		word(0, 0, 0, 0, 7, 0, 0),
		word(0x21, 0, 1, 2, 7, 0, 0xfffff),
		word(0x23, 0, 0, 0, 7, 0, 3),
		word(0x27, 0, 0, 0, 7, 0, 0xffffe),
		word(0x22, 0, 0, 0, 7, 0, 3),
	}
	if fmt.Sprintf("%x", p.Words) != fmt.Sprintf("%x", want) {
		t.Errorf("words %x, want %x", p.Words, want)
	}
	if n, text := p.Line(2); n != 6 || text != "SSY end ; x" {
		t.Errorf("word 2 is of line %d: %q", n, text)
	}
	if n, _ := p.Line(5); n != 0 {
		t.Errorf("a word after the end has line %d", n)
	}
}

func TestMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"  ADDD R1, R2", `t.kasm:1:3: unknown operation "ADDD" (did you mean ADD?)`},
		{"HYPERSPACE R1", `t.kasm:1:1: unknown operation "HYPERSPACE" (an unknown opcode can be written as .word 0x…)`},
		{"ADD R1, R64", "t.kasm:1:9: no such register: R64 (registers are R0 to R63; a raw field can be forced: rs1=64)"},
		{"ADD R1, P1", `t.kasm:1:9: expected a register, found "P1" (want a register, not a predicate; registers are R0 to R63)`},
		{"ADD R1,", "t.kasm:1:8: expected a register, found the end of the line (registers are R0 to R63)"},
		{"ADD R1, 1, 2", "t.kasm:1:12: unexpected second number (an instruction has one immediate)"},
		{"ADD R1, R2, R3, R4, R5", "t.kasm:1:21: ADD has at most four registers (the order is rd, rs1, rs2, rs3, immediate)"},
		{"ADD R1 R2", `t.kasm:1:8: "R2" after the end of the instruction`},
		{"ADD R1, 524288", "t.kasm:1:9: 524288 does not fit an immediate of 20 bits (the range is -524288 to 524287; raw bits can be forced: imm=0xfffff)"},
		{"ADD R1, 12x", `t.kasm:1:9: "12x" is not a number (numbers are decimal or start with 0x)`},
		{"@P8 NOP", "t.kasm:1:2: no such predicate: P8 (predicates are P0 to P6, and P7 is always true)"},
		{"LDR R1, R2", `t.kasm:1:9: expected an address, found "R2" (write [R1 + 4])`},
		{"LDR R1, [R2 + 4", "t.kasm:1:16: expected ], found the end of the line (write [R1 + 4])"},
		{"LDR R1 [R2]", "t.kasm:1:8: expected a comma, found '['"},
		{"ISETP P1, R2, R3", "t.kasm:1:1: ISETP needs a comparison (write ISETP.EQ, .NE, .LT, .LE, .GT, .GE)"},
		{"ADD.LT R1", "t.kasm:1:4: ADD cannot have the ending .lt (only ISETP, FSETP and TEX have endings)"},
		{"BRA there", "t.kasm:1:5: unknown label there (no line starts with there:)"},
		{"There:\nBRA there", "t.kasm:2:5: unknown label there (did you mean There? Labels are case-sensitive)"},
		{"a:\na:", "t.kasm:2:1: label a is already defined"},
		{"1a: NOP", `t.kasm:1:1: "1a" cannot be a label (labels start with a letter or underscore)`},
		{"ATOM R1, [R2], R3", `t.kasm:1:1: unknown operation "ATOM" (write ATOM.ADD, .AND, .CAS, .EXCH, .MAX, .MIN, .OR, .XOR)`},
		{"ATOM.ADD.X R1, [R2], R3", `t.kasm:1:1: unknown operation "ATOM.ADD.X" (write ATOM.ADD, .AND, .CAS, .EXCH, .MAX, .MIN, .OR, .XOR)`},
		{"ATOM.CAS R1, [R2], R3", "t.kasm:1:22: expected a comma, found the end of the line"},
		{"TEX.CUBIC R1, R2, R3, [R4], 8x8", "t.kasm:1:4: TEX cannot have the ending .cubic (the endings are .NEAREST or .BILINEAR and .REPEAT or .CLAMP)"},
		{"TEX R1, R2, R3, R4, 8x8", `t.kasm:1:17: expected an address, found "R4" (write [R4])`},
		{"TEX R1, R2, R3, [R4], 8x9", `t.kasm:1:23: expected a texture's size, found "8x9" (width and height are powers of two up to 32768, for example 64x32)`},
		{"RAST R1, R2", `t.kasm:1:6: expected a predicate, found "R1" (predicates are P0 to P6, and P7 is always true)`},
		{"NOP rs9=1", `t.kasm:1:5: unknown field "rs9" (the fields are rd, rs1, rs2, rs3 and imm)`},
		{"NOP rd=256", "t.kasm:1:8: 256 does not fit rd (the range is 0 to 255)"},
		{"NOP imm=1048576", "t.kasm:1:9: 1048576 does not fit imm (the range is -524288 to 0xfffff)"},
		{".word 1_0", "t.kasm:1:7: .word needs a number of 64 bits (for example .word 0x0100000070000000)"},
		{"@P1 .word 1", "t.kasm:1:5: .word cannot have a guard (the guard is bits 31 to 28 of the word)"},
		{"é", "t.kasm:1:1: expected an operation, found 'é' (an instruction is OP operands; labels end with a colon)"},
		{"BRA", "t.kasm:1:4: expected a label, found the end of the line (the target is a label or a distance in instructions)"},
		{strings.Repeat("NOP\n", 257), "t.kasm:257:1: the program has 257 instructions, but a warp's program memory holds 256 (keep the program within 256 instructions)"},
	} {
		_, err := kasm.Assemble("t.kasm", c.text, kasm.RTL)
		if err == nil || err.Error() != c.want {
			t.Errorf("%.40q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// The numbers that the datasheet's table 3 prints.
func TestDatasheetNumbers(t *testing.T) {
	table := map[string]byte{
		"NOP": 0x00, "ADD": 0x01, "SUB": 0x02, "MUL": 0x03, "AND": 0x10, "OR": 0x11, "XOR": 0x12,
		"LDR R0, [R0]": 0x20, "STR [R0], R0": 0x21, "LDS R0, [R0]": 0x22, "STS [R0], R0": 0x23,
		"BRA 0": 0x24, "BEQ R0, R0, 0": 0x25, "BNE R0, R0, 0": 0x26, "CALL 0": 0x27, "RET": 0x28, "SSY 0": 0x29,
		"JOIN": 0x2a, "BAR": 0x2b, "EXIT": 0x2c,
		"IMAD": 0x05, "FADD": 0x30, "ISETP.EQ P0, R0, R0": 0x80, // left out of the table
	}
	for text, want := range table {
		p, err := kasm.Assemble("t.kasm", text, kasm.Datasheet)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := byte(p.Words[0] >> 56); got != want {
			t.Errorf("%s: opcode %#02x, want %#02x", text, got, want)
		}
	}
	for _, op := range kasm.Ops() { // operations that the table leaves out keep their numbers
		if !op.Extra() {
			continue
		}
		for enc := range kasm.Datasheet + 1 {
			assembles(t, kasm.Disassemble([]uint64{uint64(op) << 56}, enc), enc, []uint64{uint64(op) << 56})
		}
		if text := kasm.Disassemble([]uint64{uint64(op) << 56}, kasm.Datasheet); strings.Contains(text, ".word") {
			t.Errorf("%v has no name in the datasheet's numbering: %s", op, text)
		}
	}
	if _, err := kasm.Assemble("t.kasm", "TID R1", kasm.Datasheet); err == nil ||
		err.Error() != "t.kasm:1:1: TID has no number in the datasheet's table, where 0x26 is BNE (use --encoding rtl)" {
		t.Errorf("TID: %v", err)
	}
}

// assembles checks that a text gives words.
func assembles(t interface{ Fatalf(string, ...any) }, text string, enc kasm.Encoding, want []uint64) {
	p, err := kasm.Assemble("t.kasm", text, enc)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if fmt.Sprintf("%016x", p.Words) != fmt.Sprintf("%016x", want) {
		t.Fatalf("%016x gave\n%s\nwhich gives %016x", want, text, p.Words)
	}
}

// Any words disassemble to text that gives them back, in both numberings.
func TestRoundTrip(t *testing.T) {
	for enc := range kasm.Datasheet + 1 {
		for op := range 256 { // every opcode with fields empty, full, and neither
			words := []uint64{word(uint64(op), 0, 0, 0, 0, 0, 0), word(uint64(op), 255, 255, 255, 15, 255, 0xfffff), word(uint64(op), 63, 64, 5, 7, 3, 4)}
			assembles(t, kasm.Disassemble(words, enc), enc, words)
		}
	}
	known := kasm.Ops()
	rapid.Check(t, func(t *rapid.T) {
		enc := rapid.SampledFrom([]kasm.Encoding{kasm.RTL, kasm.Datasheet}).Draw(t, "encoding")
		words := rapid.SliceOfN(rapid.Uint64(), 0, 256).Draw(t, "words")
		for i := range words {
			if rapid.Bool().Draw(t, "known") { // short jumps and known opcodes get labels
				words[i] = words[i]&0x00ffffff_fff0000f | uint64(rapid.SampledFrom(known).Draw(t, "op"))<<56
			}
		}
		assembles(t, kasm.Disassemble(words, enc), enc, words)
		got, e, err := kasm.ParseHex("t.hex", kasm.FormatHex(words, enc))
		if err != nil || e != enc || fmt.Sprint(got) != fmt.Sprint(words) {
			t.Fatalf("hex: %v %v %v", got, e, err)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Uint64().Draw(t, "word")
		if got := kasm.Decode(w).Word(); got != w {
			t.Fatalf("%016x decodes to %016x", w, got)
		}
		assembles(t, kasm.Decode(w).Text(), kasm.RTL, []uint64{w})
	})
}

func TestHexMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0100000070000000\n 123\n", `t.hex:2:2: expected one word of 16 hex digits, found "123" (for example 0100000070000000)`},
		{"# encoding: vax\n", `t.hex:1:1: unknown encoding "vax" (the numberings are rtl and datasheet)`},
		{strings.Repeat("0000000000000000\n", 257), "t.hex:257:1: a warp's program memory holds 256 words"},
	} {
		if _, _, err := kasm.ParseHex("t.hex", c.text); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Whatever assembles has a disassembly that gives the same words; nothing
// panics.
func FuzzAssemble(f *testing.F) {
	f.Add("start: @P1 ADD R1, R2, R3, R4, -5 rd=77\n BNE R1, R2, start ; x\n.word 0x1234\n")
	f.Add("LDR R1, [R2 + 0x10] rs2=9\nSTS [R3 - 4], R5\nISETP.GE P3, R1, R2 imm=9\nSELP R1, R2, R3, P4\nCALL end\nend:")
	f.Add("ATOM.ADD R1, [R2 + 4], R3\nATOMS.CAS R1, [R2], R3, R4 imm=0xfffff\n@!P1 RAST P2, R5 rd=255\nTEX.BILINEAR R1, R2, R3, [R4], 64x32 imm=-1\nINTP R1, R2, R3, R4\nSMID R9")
	f.Fuzz(func(t *testing.T, text string) {
		for enc := range kasm.Datasheet + 1 {
			if p, err := kasm.Assemble("t.kasm", text, enc); err == nil {
				assembles(t, kasm.Disassemble(p.Words, enc), enc, p.Words)
			}
		}
		if words, enc, err := kasm.ParseHex("t.hex", text); err == nil {
			assembles(t, kasm.Disassemble(words, enc), enc, words)
		}
	})
}
