package blas_test

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// TestTransfer: copies between the host and the device go from one leading dimension to
// another, and leave what lies between columns as it is. A vector is a matrix of one row.
func TestTransfer(t *testing.T) {
	b := start(t, "rtx-2060")
	for _, c := range []struct{ rows, columns, size, from, to int64 }{
		{1, 5, 4, 1, 1}, {1, 5, 4, 3, 2}, {1, 5, 1, 1, 7}, {3, 2, 8, 3, 3}, {3, 2, 16, 5, 3}, {3, 4, 4, 3, 6}, {4, 1, 2, 9, 9},
	} {
		bytes := func(ld int64, first byte) []byte {
			list := make([]byte, ld*c.columns*c.size)
			for i := range list {
				list[i] = first + byte(i)
			}
			return list
		}
		for _, kind := range []cuda.Kind{cuda.HostToDevice, cuda.DeviceToHost} {
			from, to := bytes(c.from, 1), bytes(c.to, 128)
			want := append([]byte{}, to...)
			for j := range c.columns {
				copy(want[j*c.to*c.size:][:c.rows*c.size], from[j*c.from*c.size:])
			}
			fromAt, toAt := libstest.At(b.GPU, &from[0]), libstest.Put(b.GPU, to)
			got := func() []byte { return libstest.Get[byte](b.GPU, toAt, len(to)) }
			if kind == cuda.DeviceToHost {
				fromAt, toAt = libstest.Put(b.GPU, from), libstest.At(b.GPU, &to[0])
				got = func() []byte { return to }
			}
			what := fmt.Sprintf("%+v, kind %d", c, kind)
			b.want(what, blas.Transfer(b.Thread, kind, c.rows, c.columns, c.size, fromAt, c.from, toAt, c.to, 0, false), blas.Success)
			if string(got()) != string(want) {
				t.Errorf("%s: %v, want %v", what, got(), want)
			}
		}
	}
	x := libstest.Put(b.GPU, []float32{1})
	for _, c := range [][5]int64{{-1, 1, 4, 1, 1}, {1, -1, 4, 1, 1}, {1, 1, 0, 1, 1}, {1, 1, 4, 0, 1}, {1, 1, 4, 1, -1}, {1 << 40, 1 << 40, 4, 1 << 40, 1 << 40}} {
		b.want(fmt.Sprint(c), blas.Transfer(b.Thread, cuda.HostToDevice, c[0], c[1], c[2], x, c[3], x, c[4], 0, false), blas.InvalidValue)
	}
}
