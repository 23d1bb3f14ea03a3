package ptx

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestMutations damages real files by one token each: it is dropped, doubled, or
// replaced by another token of the file. Nothing may panic, errors must be located
// in the text, and one mistake must not cause a flood of messages.
func TestMutations(t *testing.T) {
	const perFile = 150
	files := append(ptxFiles(t, "testdata/language"), ptxFiles(t, "testdata/corpus")...)
	many, total := 0, 0
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var toks []token
		lex := lexer{src: string(src), line: 1, fresh: true, report: func(Pos, string, string) {}}
		for tok := lex.next(); tok.kind != tokEOF; tok = lex.next() {
			toks = append(toks, tok)
		}
		rng := rand.New(rand.NewPCG(1, uint64(len(src))))
		for range perFile {
			tok, other := toks[rng.IntN(len(toks))], toks[rng.IntN(len(toks))]
			with := ""
			switch rng.IntN(3) {
			case 1:
				with = " " + string(src[tok.off:tok.end()]) + " " + string(src[tok.off:tok.end()]) + " "
			case 2:
				with = " " + string(src[other.off:other.end()]) + " "
			}
			broken := string(src[:tok.off]) + with + string(src[tok.end():])
			m, err := Parse(filepath.Base(name), []byte(broken))
			total++
			if err == nil {
				continue
			}
			list := err.(ErrorList)
			if len(list) > 10 {
				many++
				t.Logf("%d errors after %q for %q at %v: %v", len(list), with, tok.text, tok.pos, list[0])
			}
			for _, e := range list {
				if e.Pos.Line < 1 || int(e.Pos.Line) > len(m.Lines)+1 {
					t.Fatalf("error outside of the text: %v", e)
				}
			}
		}
	}
	// A renamed register may be an error wherever it is used.
	if many*100 > total {
		t.Errorf("%d of %d slips cause more than ten errors", many, total)
	}
	t.Logf("%d of %d slips cause more than ten errors", many, total)
}
