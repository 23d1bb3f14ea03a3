// Package kepler_test runs the example programs of the Kepler-style core.
package kepler_test

import (
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/sm/kepler"
)

// run runs a program on warp 0.
func run(t *testing.T, file string, level kepler.Level) *kepler.Core {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := kasm.Assemble(file, string(text), kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(kepler.ConfigFor(level))
	if err := k.Load(prog.Words, 0); err != nil {
		t.Fatal(err)
	}
	if err := k.Start(0, 0, ^uint32(0)); err != nil {
		t.Fatal(err)
	}
	if !k.Run(100_000) {
		t.Fatalf("%s at level %v does not end: %v %v", file, level, k.Fault(), k.Waits())
	}
	return k
}

// Both products of a matrix with twice the identity are right at both levels,
// and the tiled one asks memory for less.
func TestProducts(t *testing.T) {
	for level := range kepler.Datasheet + 1 {
		var asked []uint64
		for _, file := range []string{"matmul.kasm", "tiled.kasm"} {
			k := run(t, file, level)
			for n := range uint32(64) {
				if got, want := k.Memory(0x200+4*n), 2*(n+1); got != want {
					t.Errorf("%s at level %v: C[%d][%d] is %d, want %d", file, level, n/8, n%8, got, want)
				}
			}
			t.Logf("%s at level %v: %d cycles", file, level, k.DoneCycle())
			asked = append(asked, k.Stats().Transactions)
		}
		if asked[1] >= asked[0] {
			t.Errorf("level %v: %d transactions tiled, %d without", level, asked[1], asked[0])
		}
	}
}
