package main

import (
	"bytes"
	"image/png"
	"testing"
)

// TestDraw: the picture shows what transpose does. Its two buffers of 512 KiB, which
// lie one after the other, are 128 rows each; every row has accesses, those of the
// input before those of the output.
func TestDraw(t *testing.T) {
	var out bytes.Buffer
	if err := draw(&out, "../../transpose/transpose.toml"); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	size := picture.Bounds().Size()
	firstIn := func(row int) int {
		for x := range size.X {
			if y, _, _, _ := picture.At(x, row).RGBA(); y > 0 {
				return x
			}
		}
		return -1
	}
	lit, earliest := 0, [2]int{size.X, size.X}
	for row := range size.Y {
		if x := firstIn(row); x >= 0 {
			lit++
			half := row * 2 / size.Y
			earliest[half] = min(earliest[half], x)
		}
	}
	// A buffer need not begin with a row: one more for each.
	if lit < 2*128 || lit > 2*129 || size.Y > 2*130 {
		t.Errorf("%d of %d rows have accesses, want 256 to 258", lit, size.Y)
	}
	if earliest[0] >= earliest[1] {
		t.Errorf("the input is read from column %d on, the output written from %d on", earliest[0], earliest[1])
	}
}
