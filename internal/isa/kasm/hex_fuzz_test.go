package kasm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Everything that the reader accepts is written again unchanged, and every rejection names a
// line and a column of the text. Nothing panics.
func FuzzParseHex(f *testing.F) {
	f.Add("0100000070000000\nff00000070000000\n")
	f.Add("# encoding: datasheet\r\n2c00000070000000\r\n\n# a comment\n")
	f.Add("# encoding: vax\n 12\nzz00000070000000\n")
	f.Add(strings.Repeat("0000000000000000\n", 257))
	f.Fuzz(func(t *testing.T, text string) {
		words, enc, err := kasm.ParseHex("t.hex", text)
		if err != nil {
			var list kasm.ErrorList
			if !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("%v is not an error list", err)
			}
			lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
			for _, e := range list {
				if e.Pos.Line < 1 || int(e.Pos.Line) > len(lines) || e.Pos.Col < 1 || int(e.Pos.Col) > len(lines[e.Pos.Line-1])+1 {
					t.Fatalf("%v has no place in the text", e)
				}
			}
			return
		}
		if len(words) > kasm.ProgramWords {
			t.Fatalf("%d words", len(words))
		}
		again, enc2, err := kasm.ParseHex("t.hex", kasm.FormatHex(words, enc))
		if err != nil || enc2 != enc || !slices.Equal(again, words) {
			t.Fatalf("%v %v %v, want %v %v", again, enc2, err, words, enc)
		}
		assembles(t, kasm.Disassemble(words, enc), enc, words)
	})
}
