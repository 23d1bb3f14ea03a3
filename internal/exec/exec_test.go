package exec

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// TestOncePerLine: a warning is reported once for each line of the source, of the text if that is
// unknown, and for each instruction of machine code that has neither.
func TestOncePerLine(t *testing.T) {
	for _, c := range []struct {
		name string
		at   [2]Where
		want int
	}{
		{"one line of the source", [2]Where{{PC: 1, Pos: isa.Pos{Line: 3}, SrcFile: "a.cu", SrcLine: 7}, {PC: 2, Pos: isa.Pos{Line: 4}, SrcFile: "a.cu", SrcLine: 7}}, 1},
		{"two lines of the source", [2]Where{{PC: 1, SrcFile: "a.cu", SrcLine: 7}, {PC: 2, SrcFile: "a.cu", SrcLine: 8}}, 2},
		{"one line of the text", [2]Where{{PC: 1, Pos: isa.Pos{Line: 3}}, {PC: 2, Pos: isa.Pos{Line: 3}}}, 1},
		{"two lines of the text", [2]Where{{PC: 1, Pos: isa.Pos{Line: 3}}, {PC: 2, Pos: isa.Pos{Line: 4}}}, 2},
		{"machine code", [2]Where{{PC: 1}, {PC: 2}}, 2},
		{"machine code, twice", [2]Where{{PC: 2}, {PC: 2}}, 1},
	} {
		n := 0
		tell := OncePerLine(func(*Warning) { n++ })
		for _, at := range c.at {
			tell(&Warning{Fault: Fault{Where: at}})
		}
		if n != c.want {
			t.Errorf("%s: %d warnings; want %d", c.name, n, c.want)
		}
	}
}
